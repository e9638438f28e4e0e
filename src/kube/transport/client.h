/*
 * client: HTTP exchanges with one API server, all on the thread that calls client_wait() and
 * client_run(). HTTP/1.1: a connection for each request in flight; connections are kept, and can be
 * retired.
 *
 * Deadlines, credential renewal and threads are the loop's.
 */
#ifndef KUBE_TRANSPORT_CLIENT_H
#define KUBE_TRANSPORT_CLIENT_H

#include "kube/credentials.h"
#include "kube/request.h"
#include "kube/target.h"

struct client;
struct transfer;

/* See struct kube_loop_settings; both are above 0. */
struct client_limits {
    int64_t unacked_ms;
    long max_connections;
};

/* Borrows target until client_free(). */
int client_new(const struct kube_target *target, const struct client_limits *limits,
               struct client **ret_client, struct err *err);
/* Call after every transfer has ended or was dropped. */
void client_free(struct client *client);

/* Waits for work, client_wake(), or the time-out (< 0: unlimited). */
void client_wait(struct client *client, int64_t timeout_ms);
/* From any thread. */
void client_wake(struct client *client);
/* Moves data without waiting, and calls handlers. Returns false if there was nothing to do. */
bool client_run(struct client *client);

/* All called from within client_run(). A handler that returns false ends the transfer; on_end()
 * follows. */
struct transfer_handler {
    /* The transfer has a connection, and none of its bytes have left. */
    bool (*may_leave)(void *context);
    bool (*on_head)(void *context, unsigned status, int64_t retry_after_s);
    bool (*on_bytes)(void *context, const char *bytes, size_t len);
    /* fault: one line; NULL: the answer is complete. The transfer is freed afterwards. */
    void (*on_end)(void *context, const char *fault);
    /* Only if is_long: when this client_run() began, no byte of the answer was unread, neither in
     * the socket nor in libcurl. */
    void (*on_empty)(void *context);
};

struct transfer_request {
    const struct kube_request *request; /* its body must live as long as the transfer */
    const struct kube_identity *identity;
    bool is_long; /* a large answer is expected */
};

/* Not from within a handler. */
struct transfer *client_send(struct client *client, const struct transfer_request *request,
                             const struct transfer_handler *handler, void *context);
/* False: no byte has left, as the transfer never had a connection. */
bool transfer_was_sent(const struct transfer *transfer);
/* No event follows. Bytes that have not arrived when its connection ends are never sent, so a
 * change takes effect by then or never. Not from within a handler. */
void transfer_drop(struct transfer *transfer);

/* New requests no longer use the connections that are open now. Not from within a handler. */
void client_retire(struct client *client);
/* The same for the transfer's connections, unless they are retired already. */
void transfer_retire(struct transfer *transfer);

#endif
