/*
 * loop: a thread that carries requests to the API server and answers back, over one curl_multi.
 *
 * HTTP/1.1: a connection for each request under way. The program has three loops: reading (all
 * reflectors), writing (bindings, what settles them, the Lease) and, with TLS, reviewing (tokens).
 * So neither a large list nor a flood of tokens delays a binding.
 *
 * A request that gets a 401 waits for a newer credential and is sent once more within its time;
 * only the second 401 is given out. The first one's body, where none came, says whose credential
 * was refused. A time-out (but of what only_asks), a 401 that no newer credential came for (there
 * may be another client certificate in the file), or a request that asks for it (fresh), retires
 * the connections that are open: what is in flight on them may end there, nothing new is sent over
 * them. TCP keepalive and TCP_USER_TIMEOUT find dead peers too.
 */
#ifndef KUBE_LOOP_H
#define KUBE_LOOP_H

#include "base/err.h"
#include "kube/credentials.h"
#include "kube/request.h"
#include "kube/target.h"

struct kube_loop;

struct kube_loop_settings {
    const char *name;        /* "read": for log lines and the thread's name */
    size_t max_answer_bytes; /* of a request that was sent by the sender */
    /* TCP_USER_TIMEOUT: data that the server's host has not acknowledged after so long are not sent
     * again, and the connection ends. So they never arrive later, even while this process is
     * stopped. 0: 30 s. */
    int64_t unacked_ms;
    unsigned max_connections; /* open at once; more requests wait for one. 0: 512 */
};

/* File descriptors that a loop may have open: connections that were retired may end beside as many
 * new ones; the poller's and a proxy's or resolver's few. */
#define KUBE_LOOP_FILES(max_connections) (2 * (max_connections) + 16)

/* Both are borrowed and may be shared by several loops: target for its life, credentials until
 * kube_loop_stop(). */
int kube_loop_new(const struct kube_loop_settings *settings, const struct kube_target *target,
                  struct kube_credentials *credentials, struct kube_loop **ret_loop,
                  struct err *err);

/* Something with a clock of its own, called on the loop's thread: at its start, when its time has
 * come (what had arrived by now_ms has been handed over before: silence is silence), and after
 * anything of it may have changed (an answer, a stream's event, kube_loop_wake()). Returns when it
 * wants to be called again, CLOCK_NEVER if it only waits for events. Add tasks before the start. */
typedef int64_t kube_task(void *context, int64_t now_ms);
void kube_loop_add_task(struct kube_loop *loop, kube_task *run, void *context);

int kube_loop_start(struct kube_loop *loop, struct err *err);
/* How long the loop has not gone round: it does so at least every few seconds unless a task, or the
 * process, is stuck. 0 before the start. From any thread. */
int64_t kube_loop_silence_ms(const struct kube_loop *loop, int64_t now_ms);
/* From any thread. */
void kube_loop_wake(struct kube_loop *loop);
/* Ends the thread; requests in flight are answered KUBE_UNKNOWN (NOT_SENT where that is sure)
 * before it returns, and so is whatever is sent from within these answers. Streams just end,
 * without an event. */
void kube_loop_stop(struct kube_loop *loop);
void kube_loop_free(struct kube_loop *loop);

/* Valid until kube_loop_stop(). */
struct kube_sender kube_loop_sender(struct kube_loop *loop);

/* An answer that is read as it comes: lists and watches. Only on the loop's thread (from a task).
 */
struct kube_stream_handler {
    /* 401, and there is no newer credential yet. Before the head; why is a line for people. NULL:
     * it is not told. */
    void (*on_refused)(void *context, const char *why);
    void (*on_head)(void *context, int64_t now_ms, unsigned status, int64_t retry_after_s);
    void (*on_bytes)(void *context, int64_t now_ms, const char *bytes, size_t len);
    /* The last one. outcome KUBE_ANSWERED: the server ended it well. */
    void (*on_end)(void *context, int64_t now_ms, enum kube_outcome outcome, const char *why);
    /* At now_ms every byte of the answer that had arrived was handed over. Called whenever the loop
     * finds that so, and at least once a second while nothing comes and the loop runs. NULL: nobody
     * asks. */
    void (*on_drained)(void *context, int64_t now_ms);
    void *context;
};
struct kube_stream;
struct kube_stream *kube_stream_open(struct kube_loop *loop, const struct kube_request *request,
                                     const struct kube_stream_handler *handler);
/* No event comes of it any more; allowed in its own handlers. Not after on_end. */
void kube_stream_cancel(struct kube_stream *stream);

#endif
