/* service: see service.h. */
#include "service.h"
#include "base/clock.h"
#include "base/log.h"
#include "exchange_priv.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <utlist.h>

/* Rejects requests that a web page of another site may have sent through a browser. Every page in
 * a laptop's browser can reach the laptop's loopback address. */

#define LOCALHOST "localhost"
#define SCHEME "http://"

static bool is_ip_address(const char *name)
{
    struct in6_addr address;
    return inet_pton(AF_INET, name, &address) == 1 || inet_pton(AF_INET6, name, &address) == 1;
}

static bool is_localhost(const char *name, size_t len)
{
    const size_t suffix = strlen(LOCALHOST);
    return len >= suffix && strcasecmp(name + len - suffix, LOCALHOST) == 0 &&
           (len == suffix || name[len - suffix - 1] == '.');
}

/* host: "NAME", "NAME:PORT", "[IPV6]" or "[IPV6]:PORT". */
static bool is_local(const char *host, struct arena *arena)
{
    const bool is_bracketed = host[0] == '[';
    const char *name = host + is_bracketed;
    const size_t len = strcspn(name, is_bracketed ? "]" : ":");
    const char *copy = arena_strndup(arena, name, len);
    const char *rest = name + len + (is_bracketed && name[len]);
    return (*rest == '\0' || *rest == ':') && (is_ip_address(copy) || is_localhost(copy, len));
}

static bool is_own(const char *origin, const char *host)
{
    const size_t len = strlen(SCHEME);
    return host && strncmp(origin, SCHEME, len) == 0 && strcasecmp(origin + len, host) == 0;
}

static bool is_header(const struct exchange *exchange, const char *name, const char *value)
{
    const char *given = exchange_header(exchange, name);
    return given && strcmp(given, value) == 0;
}

/* Browsers send these headers to loopback addresses, and pages cannot change them. A link from
 * another site opens a document that this site cannot read. Source: W3C, Fetch Metadata Request
 * Headers. */
static bool is_of_other_site(const struct exchange *exchange)
{
    const bool is_link = strcmp(exchange->method, "GET") == 0 &&
                         is_header(exchange, "Sec-Fetch-Mode", "navigate") &&
                         is_header(exchange, "Sec-Fetch-Dest", "document");
    return exchange_header(exchange, "Sec-Fetch-Site") && !is_link &&
           !is_header(exchange, "Sec-Fetch-Site", "same-origin") &&
           !is_header(exchange, "Sec-Fetch-Site", "none");
}

/* Returns NULL, or a message for a 403. The exchange's route must be set.
 *
 * * Verbs reject every request with an Origin: browsers add it to each POST, kube-scheduler never.
 * * Without TLS an Origin must be the service's own: "http://" and the Host.
 * * On a loopback address without TLS the Host must be an IP address, localhost or a name below it.
 *   Any other name may belong to the page's site, whose DNS server can change it to the loopback
 *   address (DNS rebinding).
 *
 * Source: RFC 6454 (Origin), RFC 6761, 6.3 (localhost), Fetch Standard (when browsers send
 * Origin). */
static const char *foreign_fault(const struct exchange *exchange)
{
    const char *origin = exchange_header(exchange, "Origin");
    const char *host = exchange_header(exchange, "Host");
    if (origin && exchange->route->listeners & LISTEN_VERBS)
        return "a web page may not call kube-scheduler's paths: the request has an Origin";
    if (exchange->has_tls)
        return NULL;
    if (origin && !is_own(origin, host))
        return "web pages of other sites may not send requests: the Origin is not this service's";
    if (is_of_other_site(exchange))
        return "web pages of other sites may not send requests: the Sec-Fetch-Site is neither "
               "same-origin nor none";
    if (exchange->is_loopback && host && !is_local(host, exchange->arena))
        return "on a loopback address without TLS the Host must be an IP address or localhost";
    return NULL;
}

/* Requests in flight: a counter and a list of parked exchanges, under one lock. */

static void in_flight_init(struct in_flight *flight)
{
    *flight = (struct in_flight){0};
    clock_condition_init(&flight->changed);
    mutex_init(&flight->lock);
}

static void in_flight_fini(struct in_flight *flight)
{
    (void)pthread_cond_destroy(&flight->changed);
    mutex_fini(&flight->lock);
}

static void in_flight_add(struct in_flight *flight, struct exchange *exchange)
{
    exchange->under_way = true;
    mutex_lock(&flight->lock);
    flight->n++;
    mutex_unlock(&flight->lock);
}

static void unlist(struct in_flight *flight, struct exchange *exchange)
{
    if (exchange->listed)
        DL_DELETE(flight->parked, exchange);
    exchange->listed = false;
}

/* Does nothing if already removed. */
static void in_flight_remove(struct in_flight *flight, struct exchange *exchange)
{
    if (!exchange->under_way)
        return;
    exchange->under_way = false;
    mutex_lock(&flight->lock);
    unlist(flight, exchange);
    flight->n--;
    if (flight->n == 0)
        (void)pthread_cond_broadcast(&flight->changed);
    mutex_unlock(&flight->lock);
}

/* Suspends the connection until the answer or the gate's pass. Returns false if either is there.
 * After in_flight_close() an answer always is: 503 without another. */
static bool in_flight_park(struct in_flight *flight, struct exchange *exchange,
                           const struct parking *parking)
{
    mutex_lock(&flight->lock);
    bool parked = false;
    if (flight->closed)
        (void)exchange_take_back(exchange);
    else
        parked = exchange_park(exchange, parking);
    if (parked) {
        DL_APPEND(flight->parked, exchange);
        exchange->listed = true;
    }
    mutex_unlock(&flight->lock);
    return parked;
}

static void in_flight_unpark(struct in_flight *flight, struct exchange *exchange)
{
    if (!exchange->listed)
        return;
    mutex_lock(&flight->lock);
    unlist(flight, exchange);
    mutex_unlock(&flight->lock);
}

static struct timespec deadline_after(unsigned timeout_ms)
{
    struct timespec deadline;
    (void)clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += (time_t)(timeout_ms / 1000);
    deadline.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
    if (deadline.tv_nsec >= 1000000000) {
        deadline.tv_sec++;
        deadline.tv_nsec -= 1000000000;
    }
    return deadline;
}

size_t in_flight_wait(struct in_flight *flight, unsigned timeout_ms)
{
    struct timespec deadline = deadline_after(timeout_ms);
    mutex_lock(&flight->lock);
    while (flight->n > 0) {
        if (pthread_cond_timedwait(&flight->changed, &flight->lock.native, &deadline) == ETIMEDOUT)
            break;
    }
    size_t n = flight->n;
    mutex_unlock(&flight->lock);
    return n;
}

size_t in_flight_close(struct in_flight *flight)
{
    size_t n = 0;
    mutex_lock(&flight->lock);
    flight->closed = true;
    struct exchange *exchange = NULL;
    DL_FOREACH (flight->parked, exchange) {
        if (exchange_take_back(exchange))
            n++;
    }
    mutex_unlock(&flight->lock);
    return n;
}

#define WARN_EVERY_NS 1000000000U
/* Smaller answers are bounded by the number of connections. */
#define LARGE_ANSWER_BYTES ((size_t)1024 * 1024)

static uint64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

void service_init(struct service *service, const struct route *routes,
                  const struct server_settings *settings)
{
    service->routes = routes;
    service->max_body_bytes = settings->max_body_bytes;
    service->max_user_body_bytes = settings->max_user_body_bytes;
    bodies_init(&service->bodies, settings->max_bodies_bytes);
    service->traffic = traffic_new(routes);
    in_flight_init(&service->in_flight);
    atomic_init(&service->draining, false);
    atomic_init(&service->next_warning_ns, 0);
}

void service_fini(struct service *service)
{
    traffic_free(service->traffic);
    bodies_fini(&service->bodies);
    in_flight_fini(&service->in_flight);
}

/* Lends the exchange to the gate while it judges, so it may answer like a handler. */
static void judge(struct exchange *exchange)
{
    const struct gate *gate = exchange->route->gate;
    const char *fault = foreign_fault(exchange);
    if (fault) {
        if (gate && gate->note_foreign)
            gate->note_foreign(gate->context, exchange, fault);
        exchange_refuse(exchange, 403, fault, NULL, 0);
        return;
    }
    if (!gate)
        return;
    exchange_lend(exchange);
    exchange->verdict = gate->judge(gate->context, exchange);
    assert((exchange->verdict == GATE_CLOSED) == exchange_is_answered(exchange));
    if (exchange->verdict != GATE_CLOSED)
        exchange_return(exchange);
}

/* curl -T FILE sends a PUT. */
static void refuse_method(struct exchange *exchange, const char *allow)
{
    const bool is_upload = strcmp(exchange->method, "PUT") == 0 && strcmp(allow, "POST") == 0;
    const char *hint = is_upload ? "; send a file with curl --data-binary @FILE, not with -T" : "";
    exchange_refuse(exchange, 405,
                    arena_printf(exchange->arena, "the method must be one of: %s%s", allow, hint),
                    allow, 0);
}

bool service_is_ambiguous(const struct exchange *exchange)
{
    size_t n = 0;
    const struct exchange_pair *pair = NULL;
    LL_FOREACH (exchange->headers, pair) {
        if (strcasecmp(pair->name, "Content-Length") == 0 ||
            strcasecmp(pair->name, "Transfer-Encoding") == 0)
            n++;
    }
    return n > 1;
}

void service_open(struct service *service, unsigned listeners, struct exchange *exchange)
{
    exchange->started_ns = now_ns();
    exchange->worker = &service->worker;
    in_flight_add(&service->in_flight, exchange);
    const struct route_match match =
        routes_find(service->routes, listeners, exchange->method, exchange->path, exchange->arena);
    exchange->route = match.route;
    const char *encoding = exchange_header(exchange, "Transfer-Encoding");
    if (atomic_load(&service->draining))
        exchange_refuse(exchange, 503, "the server is stopping", NULL, EXCHANGE_CLOSE);
    else if (service_is_ambiguous(exchange))
        exchange_refuse(exchange, 400,
                        "the length of the body is ambiguous, should be stated by one "
                        "Content-Length or one Transfer-Encoding",
                        NULL, EXCHANGE_CLOSE);
    else if (encoding && strcasecmp(encoding, "chunked") != 0)
        exchange_refuse(exchange, 501, "the Transfer-Encoding must be chunked", NULL,
                        EXCHANGE_CLOSE);
    else if (exchange->max_parameters > 0)
        exchange_refuse(exchange, 400,
                        arena_printf(exchange->arena,
                                     "the query must not have more than %zu parameters",
                                     exchange->max_parameters),
                        NULL, 0);
    else if (!match.route)
        exchange_refuse(exchange, 404,
                        arena_printf(exchange->arena, "no such path, should be one of: %s",
                                     routes_text(service->routes, listeners, exchange->arena)),
                        NULL, 0);
    else if (match.allow)
        refuse_method(exchange, match.allow);
    else
        judge(exchange);
}

static enum body_owner owner_of(const struct exchange *exchange)
{
    return exchange->route->listeners & LISTEN_VERBS ? BODY_OF_VERBS : BODY_OF_OTHERS;
}

size_t service_max_body(const struct service *service, const struct exchange *exchange)
{
    return exchange->route && owner_of(exchange) == BODY_OF_VERBS ? service->max_body_bytes
                                                                  : service->max_user_body_bytes;
}

static void let_go_body(struct service *service, struct exchange *exchange)
{
    if (exchange->held_bytes > 0)
        bodies_give_back(&service->bodies, owner_of(exchange), exchange->held_bytes);
    exchange->held_bytes = 0;
}

static void hold_body(struct service *service, struct exchange *exchange, const void *bytes,
                      size_t len)
{
    if (bodies_take(&service->bodies, owner_of(exchange), len)) {
        exchange->held_bytes += len;
        buf_add(&exchange->body, bytes, len); /* the caller has checked the maximum */
        return;
    }
    exchange_refuse(exchange, 503, "requests in progress fill limits.bodiesBytes: try again", NULL,
                    EXCHANGE_RETRY);
    buf_fini(&exchange->body);
    let_go_body(service, exchange);
}

static bool wants_body(const struct exchange *exchange)
{
    return strcmp(exchange->route->method, "GET") != 0;
}

/* Nobody gets more for a promise alone. */
#define EXPECTED_MAX_BYTES ((size_t)256 * 1024)

void service_expect_body(struct exchange *exchange, size_t n_bytes)
{
    const size_t n = n_bytes < EXPECTED_MAX_BYTES ? n_bytes : EXPECTED_MAX_BYTES;
    if (n > 0 && !exchange_is_answered(exchange) && wants_body(exchange))
        (void)buf_make_room(&exchange->body, n);
}

void service_add_body(struct service *service, struct exchange *exchange, const void *bytes,
                      size_t len)
{
    exchange->received_bytes += len;
    if (exchange->received_bytes > service_max_body(service, exchange))
        service_refuse_body(service, exchange);
    if (!exchange_is_answered(exchange) && wants_body(exchange))
        hold_body(service, exchange, bytes, len);
}

void service_refuse_body(struct service *service, struct exchange *exchange)
{
    if (exchange_is_answered(exchange))
        return;
    exchange_refuse(exchange, 413,
                    arena_printf(exchange->arena, "the body must not be larger than %zu bytes",
                                 service_max_body(service, exchange)),
                    NULL, EXCHANGE_CLOSE);
}

static void handle(struct exchange *exchange)
{
    const struct route *route = exchange->route;
    const char *fault =
        route->parameters ? exchange_query_fault(exchange, route->parameters) : NULL;
    if (fault)
        exchange_answer_error(exchange, 400, fault);
    else
        route->handle(route->context, exchange);
}

/* Hands the complete request to its gate or its handler. */
static void hand_on(struct exchange *exchange)
{
    const struct route *route = exchange->route;
    bool passed = exchange_take_pass(exchange);
    if (passed)
        exchange->verdict = GATE_OPEN;
    if (exchange->lent || exchange_is_answered(exchange))
        return;
    if (!passed) /* the gate's time is part of the answer's */
        exchange->started_ns = now_ns();
    exchange_lend(exchange);
    if (exchange->verdict == GATE_ASK)
        route->gate->ask(route->gate->context, exchange);
    else
        handle(exchange);
}

bool service_run(struct service *service, struct exchange *exchange, const struct parking *parking)
{
    bool parked = false;
    in_flight_unpark(&service->in_flight, exchange);
    do { /* twice if the gate passes it at once */
        hand_on(exchange);
        parked = in_flight_park(&service->in_flight, exchange, parking);
    } while (!parked && !exchange_is_answered(exchange));
    return !parked;
}

/* Without TLS only the address is known. Never 0. */
static uint64_t client_of(const struct exchange *exchange)
{
    const uint64_t client = exchange->caller > 0 ? exchange->caller : exchange->network;
    return client > 0 ? client : 1;
}

/* Unread answers stay in memory, so large ones count against a limit. Answers of verbs are exempt:
 * kube-scheduler makes one call at a time. */
static void hold_answer(struct service *service, struct exchange *exchange, struct answer *answer)
{
    if (answer->len < LARGE_ANSWER_BYTES || owner_of(exchange) == BODY_OF_VERBS)
        return;
    if (bodies_take_answer(&service->bodies, client_of(exchange), answer->len)) {
        exchange->answer_bytes = answer->len;
        return;
    }
    free(answer->body);
    *answer = exchange_error(
        exchange, 503, "unread answers fill limits.bodiesBytes, or your eighth of it: try again",
        EXCHANGE_RETRY);
}

/* Unauthorized clients can cause failures at will, and must not fill the log. */
static enum log_level level_of(struct service *service, unsigned status)
{
    const uint_fast64_t now = now_ns();
    uint_fast64_t next = atomic_load(&service->next_warning_ns);
    if (status < 500 || now < next ||
        !atomic_compare_exchange_strong(&service->next_warning_ns, &next, now + WARN_EVERY_NS))
        return LOG_DEBUG;
    return LOG_WARN;
}

bool service_record(struct service *service, struct exchange *exchange, struct answer *answer)
{
    assert(!exchange->recorded);
    hold_answer(service, exchange, answer);
    exchange->recorded = true;
    let_go_body(service, exchange); /* its memory was freed when the answer was taken */
    uint64_t ns = now_ns() - exchange->started_ns;
    traffic_add_request(service->traffic, exchange->route, answer->status, ns);
    LOG(level_of(service, answer->status), "http", LOG_MSG("request"), LOG_NUM("id", exchange->id),
        LOG_STR("method", exchange->method), LOG_STR("path", exchange->path),
        LOG_NUM("status", answer->status), LOG_NUM("us", ns / 1000));
    return answer->close || atomic_load(&service->draining);
}

static bool is_welcome(unsigned listeners, struct exchange *exchange)
{
    const unsigned dearest = listeners & (0U - listeners); /* enum listener is in this order */
    if (dearest == LISTEN_PROBES || !exchange->route || !(exchange->route->listeners & dearest) ||
        exchange->verdict == GATE_OPEN_TO_ALL)
        return false;
    if (exchange_is_answered(exchange))
        return exchange->answer.status < 400;
    return exchange->verdict == GATE_OPEN;
}

uint64_t service_welcome(unsigned listeners, struct exchange *exchange)
{
    return is_welcome(listeners, exchange) ? client_of(exchange) : 0;
}

void service_close(struct service *service, struct exchange *exchange, bool sent)
{
    if (exchange->under_way && !sent)
        LOG(LOG_DEBUG, "http", LOG_MSG("the client left"), LOG_NUM("id", exchange->id),
            LOG_STR("method", exchange->method), LOG_STR("path", exchange->path));
    let_go_body(service, exchange);
    if (exchange->answer_bytes > 0)
        bodies_give_back_answer(&service->bodies, client_of(exchange), exchange->answer_bytes);
    exchange->answer_bytes = 0;
    in_flight_remove(&service->in_flight, exchange);
}
