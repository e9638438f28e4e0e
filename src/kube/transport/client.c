/*
 * client: see client.h. Over libcurl; the only file that knows libcurl.
 *
 * HTTP/1.1, a connection for each request in flight. Over HTTP/2, libcurl 7.88 (Debian 12) loses
 * the rest of an answer about once in a thousand times that a watch on the same connection is
 * cancelled: it waits until something else arrives there.
 *
 * A generation is a curl_multi with its connections. A retired one ends with its last transfer.
 */
#include "client.h"
#include "base/log.h"
#include "base/mem.h"
#include "socket.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

/* ---- the URL and the header lines of a request, as text ---- */

#define HEAD_MAX_LINES 5

struct head {
    char *url;
    char *lines[HEAD_MAX_LINES]; /* "Accept: application/json"; "Expect:" removes that header */
    size_t n_lines;
};

static char *joined(const char *a, const char *b)
{
    char *text = NULL;
    if (asprintf(&text, "%s%s", a, b) < 0)
        abort();
    return text;
}

static void add(struct head *head, const char *name, const char *value)
{
    head->lines[head->n_lines++] = joined(name, value);
}

static void head_init(struct head *head, const struct endpoint *endpoint,
                      const struct transfer_request *request)
{
    *head = (struct head){.url = joined(endpoint->base_url, request->request->path)};
    add(head, "Accept: ", "application/json");
    add(head, "Expect:", ""); /* saves a round trip */
    if (request->request->body)
        add(head, "Content-Type: ",
            strcmp(request->request->method, "PATCH") == 0 ? "application/merge-patch+json"
                                                           : "application/json");
    if (request->identity->authorization)
        add(head, "Authorization: ", request->identity->authorization);
    if (endpoint->host)
        add(head, "Host: ", endpoint->host);
}

static void head_fini(struct head *head)
{
    for (size_t i = 0; i < head->n_lines; i++)
        free(head->lines[i]);
    free(head->url);
}

/* Reads Retry-After, in seconds; -1: a date, or not a number. */
static int64_t head_retry_after_s(const char *value)
{
    char *end = NULL;
    errno = 0;
    long long seconds = strtoll(value, &end, 10);
    return end == value || *end || errno || seconds < 0 ? -1 : seconds;
}

/* ---- client ---- */

/* Reuse idle connections for this time only: kube-apiserver closes them after 90 s, and a request
 * that is being sent then gets no answer. */
#define IDLE_S 60L
#define BUFFER_BYTES (16L * 1024)
#define LONG_BUFFER_BYTES (128L * 1024)
#define EVENTS_AT_ONCE 64
/* Limit of requests that have begun and have no connection yet. A handshake costs both sides
 * milliseconds of processor time. If hundreds of bindings began theirs at once, all would time out
 * before the first is through. The others wait for these, or for a free connection. */
#define CONNECTING_MAX 8
#define TRAILER_BYTES_MAX ((size_t)64 * 1024)

struct generation {
    CURLM *multi;
    int sockets; /* the poller's epoll set */
    bool used;   /* a request was sent over it */
    bool aborts; /* closes with a reset, so data of abandoned requests never arrive later */
    struct transfer *transfers;
    struct client *client;
    struct generation *prev, *next;
};

struct client {
    const struct kube_target *target;
    struct client_limits limits;
    struct endpoint endpoint;
    struct curl_slist *connect_to;
    struct generation *generations; /* new requests use the first */
    struct transfer *waiting;       /* not begun yet, the oldest first */
    size_t n_connecting;            /* at most CONNECTING_MAX */
    struct poller poller;
};

struct transfer {
    CURL *easy;
    struct curl_slist *headers;
    char fault[CURL_ERROR_SIZE];
    CURLcode unfit; /* an option could not be set: the transfer is not begun */
    bool changes;   /* not a GET, and not only_asks */
    bool is_connecting;
    bool sent, cut, has_head, is_long;
    bool heard;           /* bytes arrived in this round */
    size_t trailer_bytes; /* after the body */
    const struct transfer_handler *handler;
    void *context;
    struct client *client;
    struct generation *generation; /* NULL: not begun */
    struct transfer *prev, *next;  /* in the generation's list or in the waiting list */
};

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *context, void *unused)
{
    const struct generation *generation = context;
    (void)easy, (void)unused;
    poller_watch(generation->sockets, fd, what & CURL_POLL_IN, what & CURL_POLL_OUT);
    return 0;
}

static int on_new_socket(void *context, curl_socket_t fd, curlsocktype purpose)
{
    const struct client *client = context;
    socket_prepare(fd, purpose == CURLSOCKTYPE_IPCXN, client->limits.unacked_ms);
    return CURL_SOCKOPT_OK;
}

static int on_close(void *context, curl_socket_t fd)
{
    const struct generation *generation = context;
    return socket_close(fd, generation->aborts);
}

static void end_connecting(struct transfer *transfer)
{
    transfer->client->n_connecting -= transfer->is_connecting;
    transfer->is_connecting = false;
}

/* The connection exists, and the request has not begun to leave. libcurl calls this again to resend
 * over another connection when a reused one was closed without an answer. A request that changes
 * something may have taken effect by then, so it is not resent. */
static int on_connection(void *context, char *ip, char *local_ip, int port, int local_port)
{
    (void)ip, (void)local_ip, (void)port, (void)local_port;
    struct transfer *transfer = context;
    end_connecting(transfer);
    if (transfer->sent && transfer->changes) {
        transfer->cut = true;
        return CURL_PREREQFUNC_ABORT;
    }
    if (!transfer->handler->may_leave(transfer->context))
        return CURL_PREREQFUNC_ABORT;
    transfer->sent = true;
    return CURL_PREREQFUNC_OK;
}

static int64_t retry_after_s(struct transfer *transfer)
{
    struct curl_header *header = NULL;
    if (curl_easy_header(transfer->easy, "Retry-After", 0, CURLH_HEADER, -1, &header) != CURLHE_OK)
        return -1;
    return head_retry_after_s(header->value);
}

static size_t on_header(char *line, size_t size, size_t n, void *context)
{
    struct transfer *transfer = context;
    size_t len = size * n;
    transfer->heard = true;
    if (transfer->has_head) { /* a trailer: libcurl keeps it, but limits only the header */
        transfer->trailer_bytes += len;
        return transfer->trailer_bytes <= TRAILER_BYTES_MAX ? len : 0;
    }
    const bool is_end = len <= 2 && (line[0] == '\r' || line[0] == '\n');
    long status = 0;
    (void)curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    if (!is_end || status < 200)
        return len;
    transfer->has_head = true;
    bool go_on =
        transfer->handler->on_head(transfer->context, (unsigned)status, retry_after_s(transfer));
    return go_on ? len : 0;
}

static size_t on_body(char *bytes, size_t size, size_t n, void *context)
{
    struct transfer *transfer = context;
    transfer->heard = true;
    return transfer->handler->on_bytes(transfer->context, bytes, size * n) ? size * n : 0;
}

/* Keeps the first error. The parentheses select the function, not the type-checking macro. */
#define SET(transfer, option, value)                                                               \
    do {                                                                                           \
        CURLcode code_ = (curl_easy_setopt)((transfer)->easy, (option), (value));                  \
        if (!(transfer)->unfit)                                                                    \
            (transfer)->unfit = code_;                                                             \
    } while (0)

static void set_blob(struct transfer *transfer, CURLoption option, char *pem)
{
    struct curl_blob blob = {.data = pem, .len = strlen(pem), .flags = CURL_BLOB_COPY};
    SET(transfer, option, &blob);
}

static void set_tls(struct transfer *transfer, const struct kube_target *target)
{
    SET(transfer, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    SET(transfer, CURLOPT_SSL_VERIFYPEER, target->insecure ? 0L : 1L);
    SET(transfer, CURLOPT_SSL_VERIFYHOST, target->insecure ? 0L : 2L);
    /* Files are read again for every connection, and a resumed session would keep the old
     * certificate. */
    SET(transfer, CURLOPT_CA_CACHE_TIMEOUT, 0L);
    SET(transfer, CURLOPT_SSL_SESSIONID_CACHE, 0L);
    if (target->ca_pem)
        set_blob(transfer, CURLOPT_CAINFO_BLOB, target->ca_pem);
    else if (target->ca_file)
        SET(transfer, CURLOPT_CAINFO, target->ca_file);
    if (target->ca_pem || target->ca_file)
        SET(transfer, CURLOPT_CAPATH, NULL); /* do not also trust the system's */
}

static void set_certificate(struct transfer *transfer, const struct kube_identity *identity)
{
    if (identity->cert_pem)
        set_blob(transfer, CURLOPT_SSLCERT_BLOB, identity->cert_pem);
    else if (identity->cert_file)
        SET(transfer, CURLOPT_SSLCERT, identity->cert_file);
    if (identity->key_pem)
        set_blob(transfer, CURLOPT_SSLKEY_BLOB, identity->key_pem);
    else if (identity->key_file)
        SET(transfer, CURLOPT_SSLKEY, identity->key_file);
}

static void set_proxy(struct transfer *transfer, const struct client *client)
{
    if (client->endpoint.proxy) {
        SET(transfer, CURLOPT_PROXY, client->endpoint.proxy);
        SET(transfer, CURLOPT_NOPROXY, "");
        SET(transfer, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    } else if (client->endpoint.loopback) {
        SET(transfer, CURLOPT_PROXY, ""); /* ignores the environment's */
    }
}

static void set_connection(struct transfer *transfer, const struct client *client)
{
    SET(transfer, CURLOPT_PROTOCOLS_STR, "http,https");
    SET(transfer, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET(transfer, CURLOPT_MAXAGE_CONN, IDLE_S);
    SET(transfer, CURLOPT_NOSIGNAL, 1L);
    /* Otherwise dropping a transfer during its name lookup waits for the resolver. */
    SET(transfer, CURLOPT_QUICK_EXIT, 1L);
    SET(transfer, CURLOPT_SOCKOPTFUNCTION, on_new_socket);
    SET(transfer, CURLOPT_SOCKOPTDATA, client);
    SET(transfer, CURLOPT_CLOSESOCKETFUNCTION, on_close);
    SET(transfer, CURLOPT_CONNECT_TO, client->connect_to);
    set_proxy(transfer, client);
    if (client->endpoint.tls)
        set_tls(transfer, client->target);
}

static void set_head(struct transfer *transfer, const struct client *client,
                     const struct transfer_request *request)
{
    struct head head CLEANUP(head_fini);
    head_init(&head, &client->endpoint, request);
    for (size_t i = 0; i < head.n_lines; i++) {
        struct curl_slist *longer = curl_slist_append(transfer->headers, head.lines[i]);
        if (!longer)
            abort();
        transfer->headers = longer;
    }
    SET(transfer, CURLOPT_URL, head.url);
    SET(transfer, CURLOPT_HTTPHEADER, transfer->headers);
    SET(transfer, CURLOPT_USERAGENT, "gpu-extender/" GPU_EXTENDER_VERSION);
}

static void set_request(struct transfer *transfer, const struct transfer_request *request)
{
    const struct kube_request *what = request->request;
    if (what->body) {
        SET(transfer, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)what->body_len);
        SET(transfer, CURLOPT_POSTFIELDS, what->body);
    }
    if (strcmp(what->method, what->body ? "POST" : "GET") != 0)
        SET(transfer, CURLOPT_CUSTOMREQUEST, what->method);
    transfer->changes = strcmp(what->method, "GET") != 0 && !what->only_asks;
    SET(transfer, CURLOPT_BUFFERSIZE, request->is_long ? LONG_BUFFER_BYTES : BUFFER_BYTES);
}

static void set_events(struct transfer *transfer)
{
    SET(transfer, CURLOPT_PRIVATE, transfer);
    SET(transfer, CURLOPT_ERRORBUFFER, transfer->fault);
    SET(transfer, CURLOPT_PREREQFUNCTION, on_connection);
    SET(transfer, CURLOPT_PREREQDATA, transfer);
    SET(transfer, CURLOPT_HEADERFUNCTION, on_header);
    SET(transfer, CURLOPT_HEADERDATA, transfer);
    SET(transfer, CURLOPT_WRITEFUNCTION, on_body);
    SET(transfer, CURLOPT_WRITEDATA, transfer);
}

/* 0, or a negative errno if no descriptor is left. */
static int begin_generation(struct client *client)
{
    int sockets = poller_new_set(&client->poller);
    if (sockets < 0)
        return sockets;
    struct generation *generation = MEM_NEW(struct generation);
    generation->client = client;
    generation->sockets = sockets;
    generation->multi = curl_multi_init();
    const long most = client->limits.max_connections;
    if (!generation->multi)
        abort();
    (void)curl_multi_setopt(generation->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    (void)curl_multi_setopt(generation->multi, CURLMOPT_SOCKETDATA, generation);
    (void)curl_multi_setopt(generation->multi, CURLMOPT_MAX_HOST_CONNECTIONS, most);
    (void)curl_multi_setopt(generation->multi, CURLMOPT_MAXCONNECTS, most);
    DL_PREPEND(client->generations, generation);
    return 0;
}

static void generation_free(struct generation *generation)
{
    DL_DELETE(generation->client->generations, generation);
    (void)curl_multi_cleanup(generation->multi);
    (void)close(generation->sockets);
    free(generation);
}

static void retire(struct generation *generation)
{
    int code = begin_generation(generation->client);
    if (code < 0)
        LOG(LOG_WARN, "kube", LOG_MSG("outdated connections could not be closed"),
            LOG_STR("err", strerror(-code)));
    else if (!generation->transfers)
        generation_free(generation);
}

void client_retire(struct client *client)
{
    if (client->generations->used)
        retire(client->generations);
}

void transfer_retire(struct transfer *transfer)
{
    if (transfer->generation == transfer->client->generations)
        retire(transfer->generation);
}

static void begin_transfer(struct transfer *transfer)
{
    struct client *client = transfer->client;
    struct generation *generation = client->generations;
    DL_DELETE(client->waiting, transfer);
    DL_APPEND(generation->transfers, transfer);
    transfer->generation = generation;
    generation->used = true;
    SET(transfer, CURLOPT_CLOSESOCKETDATA, generation);
    if (transfer->unfit)
        return;
    transfer->is_connecting = true;
    client->n_connecting++;
    (void)curl_multi_add_handle(generation->multi, transfer->easy);
}

/* Returns whether any transfer began. */
static bool begin_waiting(struct client *client)
{
    bool any = false;
    struct transfer *transfer = NULL, *next = NULL;
    DL_FOREACH_SAFE (client->waiting, transfer, next) {
        if (client->n_connecting == CONNECTING_MAX)
            break;
        begin_transfer(transfer);
        any = true;
    }
    return any;
}

struct transfer *client_send(struct client *client, const struct transfer_request *request,
                             const struct transfer_handler *handler, void *context)
{
    struct transfer *transfer = MEM_NEW(struct transfer);
    transfer->handler = handler;
    transfer->context = context;
    transfer->client = client;
    transfer->is_long = request->is_long;
    transfer->easy = curl_easy_init();
    if (!transfer->easy)
        abort();
    set_connection(transfer, client);
    set_certificate(transfer, request->identity);
    set_head(transfer, client, request);
    set_request(transfer, request);
    set_events(transfer);
    DL_APPEND(client->waiting, transfer);
    (void)begin_waiting(client);
    return transfer;
}

bool transfer_was_sent(const struct transfer *transfer)
{
    return transfer->sent;
}

static void free_transfer(struct transfer *transfer)
{
    struct generation *generation = transfer->generation;
    end_connecting(transfer);
    if (generation) {
        DL_DELETE(generation->transfers, transfer);
        (void)curl_multi_remove_handle(generation->multi, transfer->easy);
    } else {
        DL_DELETE(transfer->client->waiting, transfer);
    }
    curl_easy_cleanup(transfer->easy);
    curl_slist_free_all(transfer->headers);
    free(transfer);
}

void transfer_drop(struct transfer *transfer)
{
    struct client *client = transfer->client;
    if (transfer->sent && transfer->changes)
        transfer->generation->aborts = true;
    free_transfer(transfer);
    (void)begin_waiting(client);
}

/* Cuts curl's message to one line, in place. NULL: empty, or not to be shown, as an address in it
 * may contain a password. */
static const char *first_line(char *text)
{
    text[strcspn(text, "\r\n")] = '\0';
    return text[0] && !strchr(text, '@') ? text : NULL;
}

static void end_transfer(struct transfer *transfer, CURLcode code)
{
    const char *fault = NULL;
    if (transfer->cut)
        fault = "the connection was closed before the answer";
    else if (transfer->trailer_bytes > TRAILER_BYTES_MAX)
        fault = "the trailer after the body is over 64 KiB";
    else if (code != CURLE_OK)
        fault = first_line(transfer->fault);
    if (code != CURLE_OK && !fault) /* libcurl may have quoted a proxy's address */
        fault = curl_easy_strerror(code);
    transfer->handler->on_end(transfer->context, fault);
    free_transfer(transfer);
}

static bool end_unfit(struct generation *generation)
{
    bool any = false;
    struct transfer *transfer = NULL, *next = NULL;
    DL_FOREACH_SAFE (generation->transfers, transfer, next) {
        if (transfer->unfit) {
            end_transfer(transfer, transfer->unfit);
            any = true;
        }
    }
    return any;
}

static void end_done(struct generation *generation)
{
    int n = 0;
    for (CURLMsg *message = NULL; (message = curl_multi_info_read(generation->multi, &n));) {
        char *transfer = NULL;
        CURLcode code = message->data.result;
        (void)curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
        end_transfer((struct transfer *)(void *)transfer, code);
    }
}

static long timer_ms(const struct generation *generation)
{
    long timeout_ms = -1;
    (void)curl_multi_timeout(generation->multi, &timeout_ms);
    return timeout_ms;
}

static int selected(const struct poller_event *event)
{
    return (event->in ? CURL_CSELECT_IN : 0) | (event->out ? CURL_CSELECT_OUT : 0) |
           (event->broken ? CURL_CSELECT_ERR : 0);
}

/* Call after a round. If the round served every readable socket and libcurl's timer for bytes it
 * keeps back, a transfer that got nothing had nothing. */
static void report_empty(struct generation *generation, bool served_all)
{
    struct transfer *transfer = NULL;
    DL_FOREACH (generation->transfers, transfer) {
        if (served_all && transfer->is_long && transfer->has_head && !transfer->heard)
            transfer->handler->on_empty(transfer->context);
        transfer->heard = false;
    }
}

static bool run_generation(struct generation *generation)
{
    int running = 0;
    struct poller_event events[EVENTS_AT_ONCE];
    int n = poller_ready(generation->sockets, events, EVENTS_AT_ONCE);
    for (int i = 0; i < n; i++)
        (void)curl_multi_socket_action(generation->multi, events[i].fd, selected(&events[i]),
                                       &running);
    bool is_due = timer_ms(generation) == 0;
    if (is_due)
        (void)curl_multi_socket_action(generation->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    end_done(generation);
    report_empty(generation, n < EVENTS_AT_ONCE);
    return end_unfit(generation) || is_due || n > 0;
}

bool client_run(struct client *client)
{
    bool any = false;
    struct generation *generation = NULL, *next = NULL;
    DL_FOREACH_SAFE (client->generations, generation, next) {
        any = run_generation(generation) || any;
        if (!generation->transfers && generation != client->generations)
            generation_free(generation);
    }
    return begin_waiting(client) || any;
}

void client_wait(struct client *client, int64_t timeout_ms)
{
    const struct generation *generation = NULL;
    int64_t least_ms = timeout_ms;
    DL_FOREACH (client->generations, generation) {
        long due_ms = timer_ms(generation);
        if (due_ms >= 0 && (due_ms < least_ms || least_ms < 0))
            least_ms = due_ms;
    }
    poller_wait(&client->poller, least_ms);
}

void client_wake(struct client *client)
{
    poller_ring(&client->poller);
}

static void free_client(struct client *client)
{
    curl_slist_free_all(client->connect_to);
    endpoint_fini(&client->endpoint);
    free(client);
    curl_global_cleanup();
}

int client_new(const struct kube_target *target, const struct client_limits *limits,
               struct client **ret_client, struct err *err)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return err_set(err, EIO, "libcurl could not be initialized");
    struct client *client = MEM_NEW(struct client);
    client->target = target;
    client->limits = *limits;
    endpoint_init(&client->endpoint, target);
    if (client->endpoint.connect_to)
        client->connect_to = curl_slist_append(NULL, client->endpoint.connect_to);
    int code = poller_init(&client->poller);
    if (code == 0 && (code = begin_generation(client)) < 0)
        poller_fini(&client->poller);
    if (code < 0) {
        free_client(client);
        return err_set(err, -code, "no descriptor to wait for the API server with: %s",
                       strerror(-code));
    }
    *ret_client = client;
    return 0;
}

void client_free(struct client *client)
{
    struct generation *generation = NULL, *next = NULL;
    DL_FOREACH_SAFE (client->generations, generation, next)
        generation_free(generation);
    poller_fini(&client->poller);
    free_client(client);
}
