/*
 * request: one request to the API server and its result, independent of any HTTP library.
 *
 * State machines (bind attempts, follow-up GETs) hand requests to a sender and receive the answers.
 * kube/loop.h has the real sender; tests and the simulator have theirs.
 */
#ifndef KUBE_REQUEST_H
#define KUBE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kube_request {
    const char *method; /* "GET", "POST": a literal. "PATCH": the body is a JSON merge patch */
    const char *path;   /* from "/api" on, with the query, encoded */
    const char *body;   /* JSON, or NULL */
    size_t body_len;
    /* Counts from send(), including the wait for a connection: for the complete answer; of a
     * stream: until its head. */
    int64_t timeout_ms;
    int64_t idle_ms; /* of a stream: between two pieces; 0: unlimited (a watch) */
    /* The sender calls it on its thread when there is a connection and the request is about to
     * leave. That may be long after send(), or after the process was stopped. False: it is not
     * sent, and answered KUBE_NOT_SENT. NULL: always allowed. */
    bool (*may_leave)(void *context, int64_t now_ms);
    void *may_leave_context;
    /* The open connections may be dead: neither this request nor any later one uses them. */
    bool fresh;
    /* A request that changes nothing, though it is no GET (a review): it may be sent twice. The
     * server may call other services before it answers, so a time-out retires no connections. */
    bool only_asks;
    /* The body, and perhaps the answer's, contains a secret: the sender overwrites its copies
     * before it frees them. */
    bool secret;
};

enum kube_outcome {
    KUBE_ANSWERED,
    KUBE_NOT_SENT, /* certain: it had no connection, or may_leave() forbade it */
    KUBE_UNKNOWN,  /* cut off or timed out after sending began: it may have taken effect */
};

struct kube_answer {
    enum kube_outcome outcome;
    int64_t at_ms;         /* clock_ms() */
    unsigned status;       /* KUBE_ANSWERED: of HTTP */
    int64_t retry_after_s; /* -1: the server gave none */
    const char *body;      /* borrowed for the call; never NULL, NUL-terminated */
    size_t body_len;
    const char *why; /* for the other outcomes: one line; never NULL */
};

/* Called exactly once for every request, on the sender's thread or on the thread that stops the
 * sender, never from within send(). */
typedef void kube_done(void *context, const struct kube_answer *answer);

struct kube_sender {
    /* From any thread; copies the request. */
    void (*send)(void *sender, const struct kube_request *request, kube_done *done, void *context);
    /* From any thread: runs the tasks on the sender's thread again. */
    void (*wake)(void *sender);
    void *sender;
};

#endif
