/*
 * server: the listeners' sockets, a transport for each, and the order of the stop. service.c
 * handles the requests.
 */
#include "http/server.h"
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "transport.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* File descriptors for the permitted connections. Private to http.
 *
 * Without a free descriptor, every thread of libmicrohttpd retries accept in a busy loop. So
 * excess connections must stay in the backlog. */

/* Fewer connections cannot serve a cluster. */
#define LEAST_CONNECTIONS 16U

static rlim_t allowed(rlim_t needed)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return needed;
    if (limit.rlim_cur >= needed)
        return limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max < needed ? limit.rlim_max : needed;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    return getrlimit(RLIMIT_NOFILE, &limit) < 0 ? needed : limit.rlim_cur;
}

/* Raises the process's soft limit (RLIMIT_NOFILE) as needed and permitted, for the connections and
 * `others`, all other files that may be open. Returns the possible number of connections: `wanted`,
 * or fewer, which is logged. -EMFILE: too few; do not start. */
static int fd_limit_for(unsigned wanted, unsigned others, unsigned *ret_connections,
                        struct err *err)
{
    const rlim_t files = allowed((rlim_t)wanted + others);
    const unsigned least = wanted < LEAST_CONNECTIONS ? wanted : LEAST_CONNECTIONS;
    *ret_connections = wanted;
    if (files >= (rlim_t)wanted + others)
        return 0;
    if (files < (rlim_t)least + others)
        return err_set(err, EMFILE,
                       "only %llu files may be open (ulimit -n), should be at least %u: %u for "
                       "clients (limits.connections wants %u), and %u for all other files",
                       (unsigned long long)files, least + others, least, wanted, others);
    *ret_connections = (unsigned)files - others;
    LOG(LOG_WARN, "http",
        LOG_MSG("fewer connections than limits.connections: too few files may be "
                "open (ulimit -n)"),
        LOG_NUM("connections", *ret_connections), LOG_NUM("files", files));
    return 0;
}

#define N_LISTENERS 3
/* Threads of a socket without the verbs. */
#define N_SIDE_THREADS 2
/* Two for waiting, and connections being accepted. */
#define FILES_OF_A_THREAD 4
/* Standard streams, listening sockets, certificate and cluster files, /proc for the metrics. */
#define OTHER_FILES 64
/* kube-scheduler opens more connections than it uses and keeps them for 90 s. A call fails if the
 * server closes first (PROTOCOL 2.2). */
#define SILENCE_TIMEOUT_S 120U
/* Time to send the 503 of requests that were unanswered after the drain. */
#define LAST_ANSWERS_MS 2000

/* A socket, serving one listener or several with the same address. */
struct outlet {
    unsigned listeners;
    const char *text; /* as configured; valid during server_start only */
    struct address address;
    int fd;
    char *bound; /* the actual address */
    struct transport *transport;
};

struct server {
    struct service service;
    size_t n_outlets;
    struct outlet outlets[N_LISTENERS];
};

static int add_listener(struct server *server, unsigned listener, const char *text, struct err *err)
{
    struct address address = {0};
    if (!text)
        return 0;
    int r = address_parse(text, &address, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < server->n_outlets; i++) {
        if (address_equal(&server->outlets[i].address, &address)) {
            server->outlets[i].listeners |= listener;
            return 0;
        }
    }
    server->outlets[server->n_outlets++] =
        (struct outlet){.listeners = listener, .text = text, .address = address, .fd = -1};
    return 0;
}

static int add_listeners(struct server *server, const struct server_settings *settings,
                         struct err *err)
{
    int r = add_listener(server, LISTEN_VERBS, settings->verbs, err);
    if (r == 0)
        r = add_listener(server, LISTEN_PEOPLE, settings->people, err);
    if (r == 0)
        r = add_listener(server, LISTEN_PROBES, settings->probes, err);
    if (r == 0 && server->n_outlets == 0)
        r = err_set(err, EINVAL, "there is no address to listen on");
    return r;
}

static int open_outlets(struct server *server, struct err *err)
{
    for (size_t i = 0; i < server->n_outlets; i++) {
        struct outlet *outlet = &server->outlets[i];
        int r = address_listen(&outlet->address, outlet->text, &outlet->fd, err);
        if (r < 0)
            return r;
        outlet->bound = address_of_socket(outlet->fd);
    }
    return 0;
}

static unsigned silence_timeout_s(const struct outlet *outlet,
                                  const struct server_settings *settings)
{
    const unsigned request_s = settings->request_timeout_s;
    const bool for_kube_scheduler = outlet->listeners & LISTEN_VERBS;
    return for_kube_scheduler && request_s < SILENCE_TIMEOUT_S ? SILENCE_TIMEOUT_S : request_s;
}

static unsigned threads_of(const struct server_settings *settings)
{
    const long n_cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (settings->n_threads > 0)
        return settings->n_threads;
    return n_cores > 0 ? (unsigned)n_cores : 1;
}

/* All files except clients' connections. */
static unsigned other_files(const struct server_settings *settings)
{
    return settings->other_files + FILES_OF_A_THREAD * (threads_of(settings) + 2 * N_SIDE_THREADS) +
           OTHER_FILES;
}

static int start_outlet(struct server *server, struct outlet *outlet,
                        const struct server_settings *settings, unsigned max_connections,
                        struct err *err)
{
    unsigned share = max_connections / (unsigned)server->n_outlets;
    const struct transport_settings transport = {
        .listeners = outlet->listeners,
        .max_connections = share > 0 ? share : 1,
        .idle_timeout_s = settings->idle_timeout_s,
        .request_timeout_s = settings->request_timeout_s,
        .silence_timeout_s = silence_timeout_s(outlet, settings),
        .n_threads = outlet->listeners & LISTEN_VERBS ? threads_of(settings) : N_SIDE_THREADS,
        .is_loopback = address_is_loopback(&outlet->address),
        .tls = settings->tls && (outlet->listeners & (LISTEN_VERBS | LISTEN_PEOPLE))};
    int fd = outlet->fd;
    outlet->fd = -1;
    return transport_start(fd, &transport, &server->service, &outlet->transport, err);
}

static void server_free(struct server *server)
{
    for (size_t i = 0; i < server->n_outlets; i++) {
        if (server->outlets[i].fd >= 0)
            (void)close(server->outlets[i].fd);
        free(server->outlets[i].bound);
    }
    service_fini(&server->service);
    free(server);
}

int server_start(const struct server_settings *settings, const struct route *routes,
                 struct server **ret_server, struct err *err)
{
    struct server *server = MEM_NEW(struct server);
    service_init(&server->service, routes, settings);
    unsigned max_connections = 0;
    int r = add_listeners(server, settings, err);
    if (r == 0)
        r = open_outlets(server, err);
    if (r == 0)
        r = fd_limit_for(settings->max_connections, other_files(settings), &max_connections, err);
    if (r == 0)
        r = worker_start(&server->service.worker, err);
    if (r < 0) {
        server_free(server);
        return r;
    }
    *ret_server = server; /* before the first thread, whose handlers may use it */
    for (size_t i = 0; r == 0 && i < server->n_outlets; i++)
        r = start_outlet(server, &server->outlets[i], settings, max_connections, err);
    if (r < 0) {
        server_stop(server, 0);
        *ret_server = NULL;
    }
    return r;
}

void server_stop(struct server *server, unsigned drain_ms)
{
    struct in_flight *flight = &server->service.in_flight;
    atomic_store(&server->service.draining, true);
    LOG(LOG_INFO, "http", LOG_MSG("draining"));
    (void)in_flight_wait(flight, drain_ms);
    size_t n_unanswered = in_flight_close(flight);
    if (n_unanswered > 0)
        LOG(LOG_WARN, "http", LOG_MSG("requests were still unanswered at the end of the drain"),
            LOG_NUM("n", n_unanswered));
    (void)in_flight_wait(flight, LAST_ANSWERS_MS);
    for (size_t i = 0; i < server->n_outlets; i++) {
        if (server->outlets[i].transport)
            transport_stop(server->outlets[i].transport);
    }
    worker_stop(&server->service.worker);
    server_free(server);
}

bool server_is_loopback(const char *address)
{
    struct address parsed = {0};
    return address_parse(address, &parsed, NULL) == 0 && address_is_loopback(&parsed);
}

void server_close_idle(struct server *server, unsigned listeners)
{
    for (size_t i = 0; i < server->n_outlets; i++) {
        if (server->outlets[i].listeners & listeners)
            transport_close_idle(server->outlets[i].transport);
    }
}

const char *server_address(const struct server *server, enum listener listener)
{
    for (size_t i = 0; i < server->n_outlets; i++) {
        if (server->outlets[i].listeners & (unsigned)listener)
            return server->outlets[i].bound;
    }
    return NULL;
}

void server_metrics(struct server *server, struct buf *out)
{
    traffic_write(server->service.traffic, out);
    bodies_write(&server->service.bodies, out);
    worker_write(&server->service.worker, out);
}
