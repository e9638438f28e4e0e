/*
 * transport_mhd: the transport over libmicrohttpd (epoll, or poll with TLS; a thread pool); the
 * only file that knows libmicrohttpd.
 *
 * The library itself answers malformed request lines and headers (400, 414, 431, 505). Those
 * answers have its own text, never get here and are not counted.
 *
 * The library cannot answer while a body arrives, and closes with unread input, which can destroy
 * the answer in flight. So a body that is over the limit or rejected by the gate is answered
 * directly on the socket, past the library. Some more of the body is then read and dropped before
 * the connection closes.
 */
#include "base/base64.h"
#include "base/log.h"
#include "base/mem.h"
#include "connections.h"
#include "tls_set.h"
#include "transport.h"

#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Limit of the request line and all headers together. */
#define HEADER_MAX_BYTES ((size_t)32 * 1024)
/* Paths know fewer. */
#define QUERY_MAX_PARAMETERS 64U
/* After a rejection: least number of bytes a client may still send, and its longest pause. */
#define LINGER_MIN_BYTES ((size_t)1024 * 1024)
#define LINGER_TIMEOUT_S 5U
/* For a request whose client ended its input before the server has read all of it. */
#define ENDED_TIMEOUT_S 1U

struct transport {
    struct MHD_Daemon *daemon;
    struct service *service;
    struct connections *connections;
    unsigned listeners;
    unsigned idle_timeout_s;
    bool is_loopback;
    bool tls;
};

static void suspend_connection(void *connection)
{
    MHD_suspend_connection(connection);
}

static void resume_connection(void *connection)
{
    MHD_resume_connection(connection);
}

static enum MHD_Result add_header(void *cls, enum MHD_ValueKind kind, const char *key,
                                  const char *value)
{
    (void)kind;
    exchange_add_header(cls, key, value ? value : "");
    return MHD_YES;
}

static enum MHD_Result add_query(void *cls, enum MHD_ValueKind kind, const char *key,
                                 const char *value)
{
    (void)kind;
    exchange_add_query(cls, key, value ? value : "");
    return MHD_YES;
}

static int fd_of(struct MHD_Connection *connection)
{
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

static uint64_t network_of(struct MHD_Connection *connection)
{
    return address_network(
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr);
}

/* The library does not check a suspended connection. */
static bool has_left(void *connection)
{
    return connections_has_left(fd_of(connection));
}

/* NULL on plain HTTP. */
static void *session_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    return info ? info->tls_session : NULL;
}

static struct connection *entry_of(struct MHD_Connection *connection)
{
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

/* With epoll, the library misses an end of input that arrives with the last bytes, and would keep
 * the connection for the whole idle time. The rest of the request may still be in its buffer. With
 * TLS it reads until nothing is left, and needs no help. connection_table.h handles an end within a
 * header. */
static bool has_input_ended(struct MHD_Connection *connection)
{
    return !session_of(connection) && connections_has_no_more(fd_of(connection));
}

static enum MHD_Result set_timeout(struct MHD_Connection *connection, unsigned timeout_s)
{
    return MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, timeout_s);
}

/* A page loads, and calls, only its own origin, lies in no frame, and makes no markup or script out
 * of text. Source: Content Security Policy Level 3, Trusted Types. */
static void list_confinement(void (*add)(void *context, const char *name, const char *value),
                             void *context)
{
    add(context, "Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'");
    add(context, "Referrer-Policy", "no-referrer");
    add(context, "Cross-Origin-Opener-Policy", "same-origin");
    add(context, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache");
}

/* Headers that depend on the answer, except its length. */
static void list_headers(const struct answer *answer,
                         void (*add)(void *context, const char *name, const char *value),
                         void *context)
{
    add(context, MHD_HTTP_HEADER_CONTENT_TYPE, answer->content_type);
    /* No page of another site can take an answer for its own script, style or image. */
    add(context, "X-Content-Type-Options", "nosniff");
    add(context, "Cross-Origin-Resource-Policy", "same-origin");
    if (answer->allow)
        add(context, MHD_HTTP_HEADER_ALLOW, answer->allow);
    if (answer->tag)
        add(context, MHD_HTTP_HEADER_ETAG, answer->tag);
    if (answer->location)
        add(context, MHD_HTTP_HEADER_LOCATION, answer->location);
    if (answer->status == MHD_HTTP_UNAUTHORIZED)
        add(context, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
    if (answer->retry)
        add(context, MHD_HTTP_HEADER_RETRY_AFTER, "1");
    if (answer->is_page)
        list_confinement(add, context);
}

static void add_to_response(void *response, const char *name, const char *value)
{
    (void)MHD_add_response_header(response, name, value);
}

static void add_to_text(void *text, const char *name, const char *value)
{
    buf_printf(text, "%s: %s\r\n", name, value);
}

static enum MHD_Result queue_answer(struct transport *transport, struct exchange *exchange,
                                    struct MHD_Connection *connection)
{
    static char empty[] = "";
    struct answer answer = exchange_take_answer(exchange);
    bool close = service_record(transport->service, exchange, &answer);
    if (connections_answer(transport->connections, entry_of(connection)))
        close = true;
    if (has_input_ended(connection)) {
        (void)set_timeout(connection, transport->idle_timeout_s); /* time to read the answer */
        close = true;
    }
    struct MHD_Response *response = MHD_create_response_from_buffer(
        answer.len, answer.body ? answer.body : empty,
        answer.body ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
    if (!response)
        abort(); /* out of memory */
    list_headers(&answer, add_to_response, response);
    if (close)
        (void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    enum MHD_Result result = MHD_queue_response(connection, answer.status, response);
    MHD_destroy_response(response);
    if (result != MHD_YES)
        LOG(LOG_WARN, "http", LOG_MSG("the answer could not be sent"), LOG_NUM("id", exchange->id));
    return result;
}

static void send_answer(struct exchange *exchange, const struct answer *answer,
                        struct MHD_Connection *connection)
{
    const int fd = fd_of(connection);
    void *session = session_of(connection);
    struct buf text;
    buf_init(&text, BUF_UNBOUNDED);
    buf_printf(&text, "HTTP/1.1 %u %s\r\n", answer->status,
               MHD_get_reason_phrase_for(answer->status));
    list_headers(answer, add_to_text, &text);
    buf_printf(&text, "Content-Length: %zu\r\nConnection: close\r\n\r\n", answer->len);
    if (strcmp(exchange->method, "HEAD") != 0)
        buf_add(&text, answer->body, answer->len);
    /* The socket's queue is empty now, so it has room for these few hundred bytes. */
    if (session)
        tls_set_send_last(session, text.data, text.len);
    else
        (void)!send(fd, text.data, text.len, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)shutdown(fd, SHUT_WR);
    buf_fini(&text);
}

/* The rest of the body is not processed; the answer exists. (If the client expects 100 Continue,
 * the library now fails to send that, and closes.) */
static enum MHD_Result cut_off(struct transport *transport, struct exchange *exchange,
                               struct MHD_Connection *connection)
{
    struct answer answer = exchange_take_answer(exchange);
    (void)service_record(transport->service, exchange, &answer);
    send_answer(exchange, &answer, connection);
    free(answer.body);
    service_close(transport->service, exchange, true);
    exchange->cut_off = true;
    exchange->linger_bytes = service_max_body(transport->service, exchange) + LINGER_MIN_BYTES;
    return set_timeout(connection, LINGER_TIMEOUT_S);
}

static enum MHD_Result wait_for_more(struct MHD_Connection *connection, bool has_body)
{
    if (has_body && has_input_ended(connection))
        return set_timeout(connection, ENDED_TIMEOUT_S);
    return MHD_YES;
}

static enum MHD_Result begin(struct transport *transport, struct exchange *exchange,
                             struct MHD_Connection *connection)
{
    (void)MHD_get_connection_values(connection, MHD_HEADER_KIND, add_header, exchange);
    (void)MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, add_query, exchange);
    exchange->has_tls = transport->tls;
    exchange->is_loopback = transport->is_loopback;
    exchange->network = network_of(connection);
    if (transport->tls)
        exchange->peer = tls_peer(session_of(connection), exchange->arena, &exchange->peer_fault);
    exchange->front = transport->tls ? tls_front : NULL;
    exchange->session = session_of(connection);
    service_open(transport->service, transport->listeners, exchange);
    exchange->front = NULL;
    connections_begin(transport->connections, entry_of(connection),
                      service_welcome(transport->listeners, exchange));
    const char *length = exchange_header(exchange, MHD_HTTP_HEADER_CONTENT_LENGTH);
    const char *encoding = exchange_header(exchange, MHD_HTTP_HEADER_TRANSFER_ENCODING);
    bool is_sized = length && !encoding; /* the library's rule, too */
    unsigned long long n_bytes = is_sized ? strtoull(length, NULL, 10) : 0;
    bool is_large = n_bytes > service_max_body(transport->service, exchange);
    bool is_endless = encoding && strcasecmp(encoding, "chunked") != 0;
    bool is_unwanted = exchange->verdict == GATE_CLOSED && (n_bytes > 0 || encoding);
    if (!is_large && !is_endless && !is_unwanted && !service_is_ambiguous(exchange)) {
        service_expect_body(exchange, (size_t)n_bytes);
        return wait_for_more(connection, length || encoding);
    }
    service_refuse_body(transport->service, exchange);
    return cut_off(transport, exchange, connection);
}

static enum MHD_Result take_body(struct transport *transport, struct exchange *exchange,
                                 struct MHD_Connection *connection, const char *bytes, size_t len)
{
    if (exchange->cut_off) {
        if (len > exchange->linger_bytes)
            return MHD_NO;
        exchange->linger_bytes -= len;
        return wait_for_more(connection, true);
    }
    service_add_body(transport->service, exchange, bytes, len);
    if (exchange->received_bytes > service_max_body(transport->service, exchange))
        return cut_off(transport, exchange, connection);
    return wait_for_more(connection, true);
}

static enum MHD_Result finish(struct transport *transport, struct exchange *exchange,
                              struct MHD_Connection *connection)
{
    if (exchange->cut_off || !connections_complete(transport->connections, entry_of(connection)))
        return MHD_NO;
    const struct parking parking = {suspend_connection, resume_connection, connection};
    exchange_watch(exchange, has_left, connection);
    if (!service_run(transport->service, exchange, &parking))
        return MHD_YES;
    return queue_answer(transport, exchange, connection);
}

/* What the library keeps for a request with too many parameters, until it has an exchange. */
static char long_query;

/* The library calls this with the request line, before it splits the query. It keeps the parameters
 * in the connection's memory, and never answers if that is full (0.9.75), so it must not see them.
 */
static void *on_uri(void *cls, const char *uri, struct MHD_Connection *connection)
{
    (void)cls;
    (void)connection;
    const char *query = uri ? strchr(uri, '?') : NULL;
    size_t n = 1;
    for (const char *at = query; at && (at = strchr(at, '&')); at++)
        n++;
    if (n <= QUERY_MAX_PARAMETERS)
        return NULL;
    ((char *)(uintptr_t)query)[1] = '\0'; /* in the library's buffer */
    return &long_query;
}

/* The library calls this with the header, with each piece of the body, at its end, and after a
 * resume. */
// NOLINTNEXTLINE(readability-function-size): the library's signature
static enum MHD_Result on_request(void *cls, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_len, void **con_cls)
{
    (void)version;
    struct transport *transport = cls;
    const bool has_long_query = *con_cls == &long_query;
    struct exchange *exchange = has_long_query ? NULL : *con_cls;
    if (!exchange) {
        *con_cls = exchange = exchange_new(method, url, transport->service->max_body_bytes);
        exchange->max_parameters = has_long_query ? QUERY_MAX_PARAMETERS : 0;
        return begin(transport, exchange, connection);
    }
    if (*upload_len > 0) {
        size_t len = *upload_len;
        *upload_len = 0;
        return take_body(transport, exchange, connection, upload, len);
    }
    return finish(transport, exchange, connection);
}

static void on_request_end(void *cls, struct MHD_Connection *connection, void **con_cls,
                           enum MHD_RequestTerminationCode how)
{
    struct transport *transport = cls;
    struct exchange *exchange = *con_cls == &long_query ? NULL : *con_cls;
    *con_cls = NULL;
    if (!exchange)
        return;
    exchange_watch(exchange, NULL, NULL);
    connections_rest(transport->connections, entry_of(connection),
                     service_welcome(transport->listeners, exchange));
    service_close(transport->service, exchange, how == MHD_REQUEST_TERMINATED_COMPLETED_OK);
    exchange_drop(exchange);
}

/* The library always reports a closed connection before it closes the socket (0.9.75, and 1.0.1:
 * MHD_cleanup_connections(), new_connection_process_()). */
static void on_connection(void *cls, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode what)
{
    struct transport *transport = cls;
    if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
        connections_remove(transport->connections, *context);
        return;
    }
    *context = connections_add(transport->connections, fd_of(connection), network_of(connection));
    if (transport->tls)
        tls_set_watch_handshake(session_of(connection));
}

/* MHD_quiesce_daemon() should stop accepting, but with a pool and epoll it can abort in 0.9.75: it
 * and a worker may both remove the socket from the worker's epoll set. */
static enum MHD_Result on_accept(void *cls, const struct sockaddr *address, socklen_t len)
{
    (void)address;
    (void)len;
    struct transport *transport = cls;
    return atomic_load(&transport->service->draining) ? MHD_NO : MHD_YES;
}

/* Decodes %XX in place, in the path and in the query. %00 stays encoded: it would end the
 * string. */
static size_t on_unescape(void *cls, struct MHD_Connection *connection, char *text)
{
    (void)cls;
    (void)connection;
    char *out = text;
    for (const char *in = text; *in; in++) {
        int high = *in == '%' ? hex_digit(in[1]) : -1;
        int low = high >= 0 ? hex_digit(in[2]) : -1;
        if (low >= 0 && high + low > 0) {
            *out++ = (char)(high * 16 + low);
            in += 2;
        } else {
            *out++ = *in;
        }
    }
    *out = '\0';
    return (size_t)(out - text);
}

__attribute__((format(printf, 2, 0))) static void on_library_log(void *cls, const char *format,
                                                                 va_list args)
{
    (void)cls;
    char text[256];
    (void)vsnprintf(text, sizeof text, format, args);
    text[strcspn(text, "\n")] = '\0';
    LOG(LOG_DEBUG, "http", LOG_MSG(text));
}

static int start_connections(const struct transport_settings *settings, struct transport *transport,
                             struct err *err)
{
    const struct connection_limits limits = {
        .places = settings->max_connections,
        .share = settings->listeners & LISTEN_VERBS ? 0 : settings->max_connections / 4,
        .request_ms = (int64_t)settings->request_timeout_s * 1000,
        .silence_ms = (int64_t)settings->silence_timeout_s * 1000,
        .has_handshake = settings->tls,
    };
    return connections_start(&limits, transport->service->traffic, &transport->connections, err);
}

int transport_start(int fd, const struct transport_settings *settings, struct service *service,
                    struct transport **ret_transport, struct err *err)
{
    struct transport *transport = MEM_NEW(struct transport);
    transport->service = service;
    transport->listeners = settings->listeners;
    transport->idle_timeout_s = settings->idle_timeout_s;
    transport->is_loopback = settings->is_loopback;
    transport->tls = settings->tls;
    int r = start_connections(settings, transport, err);
    if (r < 0) {
        (void)close(fd);
        free(transport);
        return r;
    }
    unsigned n_threads = settings->n_threads;
    if (n_threads > settings->max_connections)
        n_threads = settings->max_connections; /* each needs a share of at least one */
    const struct MHD_OptionItem options[] = {
        {MHD_OPTION_LISTEN_SOCKET, fd, NULL},
        {MHD_OPTION_CONNECTION_LIMIT, (intptr_t)settings->max_connections, NULL},
        {MHD_OPTION_CONNECTION_TIMEOUT, (intptr_t)settings->idle_timeout_s, NULL},
        {MHD_OPTION_CONNECTION_MEMORY_LIMIT, (intptr_t)HEADER_MAX_BYTES, NULL},
        /* The library treats a pool of one as no pool. */
        {n_threads > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_END, (intptr_t)n_threads, NULL},
        {MHD_OPTION_END, 0, NULL}};
    /* With epoll and TLS the library (0.9.75) polls an unfinished handshake in a busy loop; poll
     * blocks. */
    const unsigned kind =
        settings->tls ? MHD_USE_POLL_INTERNAL_THREAD | MHD_USE_TLS : MHD_USE_EPOLL_INTERNAL_THREAD;
    transport->daemon = MHD_start_daemon(
        kind | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, on_accept, transport, on_request,
        transport, MHD_OPTION_EXTERNAL_LOGGER, on_library_log, NULL, MHD_OPTION_UNESCAPE_CALLBACK,
        on_unescape, NULL, MHD_OPTION_URI_LOG_CALLBACK, on_uri, NULL, MHD_OPTION_NOTIFY_COMPLETED,
        on_request_end, transport, MHD_OPTION_NOTIFY_CONNECTION, on_connection, transport,
        MHD_OPTION_ARRAY, options, settings->tls ? MHD_OPTION_HTTPS_PRIORITIES : MHD_OPTION_END,
        TLS_PRIORITIES, MHD_OPTION_HTTPS_CERT_CALLBACK2, TLS_RETRIEVE_CERTIFICATE, MHD_OPTION_END);
    if (!transport->daemon) {
        connections_stop(transport->connections);
        free(transport);
        return err_set(err, EAGAIN, "libmicrohttpd could not start %u threads", n_threads);
    }
    *ret_transport = transport;
    return 0;
}

void transport_greeted(void *connection)
{
    connections_greet(entry_of(connection));
}

void transport_close_idle(struct transport *transport)
{
    connections_close_quiet(transport->connections);
}

void transport_stop(struct transport *transport)
{
    MHD_stop_daemon(transport->daemon);
    connections_stop(transport->connections);
    free(transport);
}
