/*
 * client: HTTP exchanges with one API server, all carried by the one thread that waits and runs
 * here. HTTP/1.1: a connection for each request under way; they are kept, and can be retired.
 *
 * Knows no deadlines, no renewal of credentials, no threads: those are the loop's.
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

/* target is borrowed for its life. */
int client_new(const struct kube_target *target, const struct client_limits *limits,
               struct client **ret_client, struct err *err);
/* Every transfer has ended or was dropped. */
void client_free(struct client *client);

/* Waits until there is something to run, client_wake(), or the time is over (< 0: never). */
void client_wait(struct client *client, int64_t timeout_ms);
/* From any thread. */
void client_wake(struct client *client);
/* Moves what can be moved without waiting, and calls handlers. False: there was nothing to do. */
bool client_run(struct client *client);

/* All called from within client_run(). False: the transfer is to end; its end follows. */
struct transfer_handler {
    /* It has a connection, and nothing of it has left. */
    bool (*may_leave)(void *context);
    bool (*on_head)(void *context, unsigned status, int64_t retry_after_s);
    bool (*on_bytes)(void *context, const char *bytes, size_t len);
    /* fault: one line; NULL: the answer is complete. The transfer is gone after it. */
    void (*on_end)(void *context, const char *fault);
    /* Of a transfer that is_long: when this client_run() began, nothing of the answer was unread,
     * neither in the socket nor in libcurl. */
    void (*on_empty)(void *context);
};

struct transfer_request {
    const struct kube_request *request; /* its body must live as long as the transfer */
    const struct kube_identity *identity;
    bool is_long; /* much will come */
};

/* Not from within a handler. */
struct transfer *client_send(struct client *client, const struct transfer_request *request,
                             const struct transfer_handler *handler, void *context);
/* False: nothing of it has left, it never had a connection to itself. */
bool transfer_was_sent(const struct transfer *transfer);
/* No event comes of it any more. What it changes can only come about by what has arrived by the
 * time its connection ends: nothing of it is sent after that. Not from within a handler. */
void transfer_drop(struct transfer *transfer);

/* Nothing that is sent from now on goes over connections that are open now. Not from within a
 * handler. */
void client_retire(struct client *client);
/* The same for those the transfer may use, if newer ones have not taken over before. */
void transfer_retire(struct transfer *transfer);

#endif
