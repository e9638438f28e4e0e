/*
 * loop: a thread that carries requests to the API server and answers back, over one curl_multi.
 *
 * HTTP/1.1: a connection for each request in flight. The program has three loops: reading (all
 * reflectors), writing (bindings and their follow-up GETs, the Lease) and, with TLS, reviewing
 * (tokens). So neither a large list nor a flood of tokens delays a binding.
 *
 * A request that gets a 401 waits for a newer credential and is sent once more within its time.
 * Only the second 401 is reported. If no newer credential came, the first 401 is reported, with a
 * body that names the rejected credential.
 *
 * Three events retire the open connections: a time-out (except of only_asks requests), a 401
 * without a newer credential (the file may hold another client certificate), and a request with
 * `fresh`. Requests in flight may end on retired connections; no new request uses them. TCP
 * keepalive and TCP_USER_TIMEOUT find dead peers too.
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
    size_t max_answer_bytes; /* of a request of kube_loop_sender() */
    /* TCP_USER_TIMEOUT: if the server's host has not acknowledged data for so long, the kernel ends
     * the connection and sends nothing again. So the data never arrive later, even while this
     * process is stopped. 0: 30 s. */
    int64_t unacked_ms;
    unsigned max_connections; /* open at once; further requests wait for one. 0: 512 */
};

/* File descriptors that a loop may have open: retired connections beside as many new ones, and a
 * few of the poller, a proxy or the resolver. */
#define KUBE_LOOP_FILES(max_connections) (2 * (max_connections) + 16)

/* target and credentials are borrowed and may be shared by several loops: target until
 * kube_loop_free(), credentials until kube_loop_stop(). */
int kube_loop_new(const struct kube_loop_settings *settings, const struct kube_target *target,
                  struct kube_credentials *credentials, struct kube_loop **ret_loop,
                  struct err *err);

/* A state machine that runs on the loop's thread. The loop calls it at its start, at the time it
 * returned, and after any event: an answer, a stream's event, kube_loop_wake(). Everything that had
 * arrived by now_ms has been delivered before. Returns when to call again; CLOCK_NEVER: only after
 * events. Add tasks before the start. */
typedef int64_t kube_task(void *context, int64_t now_ms);
void kube_loop_add_task(struct kube_loop *loop, kube_task *run, void *context);

int kube_loop_start(struct kube_loop *loop, struct err *err);
/* Milliseconds since the loop's last round began; 0 before the start. A healthy loop begins a round
 * at least every 5 s; a longer time means that a task or the process is stuck. From any thread. */
int64_t kube_loop_silence_ms(const struct kube_loop *loop, int64_t now_ms);
/* From any thread. */
void kube_loop_wake(struct kube_loop *loop);
/* Ends the thread. Before it returns, every request in flight is answered: KUBE_UNKNOWN, or
 * KUBE_NOT_SENT where that is certain. So are requests that these answers send. Streams end without
 * an event. */
void kube_loop_stop(struct kube_loop *loop);
void kube_loop_free(struct kube_loop *loop);

/* Valid until kube_loop_stop(). */
struct kube_sender kube_loop_sender(struct kube_loop *loop);

/* An answer that is delivered as it arrives: lists and watches. All on the loop's thread. */
struct kube_stream_handler {
    /* A 401, and there is no newer credential yet. Precedes the head; why is one line. May be
     * NULL. */
    void (*on_refused)(void *context, const char *why);
    void (*on_head)(void *context, int64_t now_ms, unsigned status, int64_t retry_after_s);
    void (*on_bytes)(void *context, int64_t now_ms, const char *bytes, size_t len);
    /* The last event. KUBE_ANSWERED: the server ended the answer properly. */
    void (*on_end)(void *context, int64_t now_ms, enum kube_outcome outcome, const char *why);
    /* At now_ms every byte that had arrived was delivered. Called whenever the loop finds that, and
     * at least once a second while nothing arrives and the loop runs. May be NULL. */
    void (*on_drained)(void *context, int64_t now_ms);
    void *context;
};
struct kube_stream;
struct kube_stream *kube_stream_open(struct kube_loop *loop, const struct kube_request *request,
                                     const struct kube_stream_handler *handler);
/* No event follows. Allowed within the stream's own handlers, but not after on_end. */
void kube_stream_cancel(struct kube_stream *stream);

#endif
