/*
 * request: one question to the API server and what came of it, without any HTTP library in sight.
 *
 * Who asks (bind attempts, a settling GET) is a state machine that hands questions to a sender and
 * is told the answers: kube/loop.h has the real one, tests and the simulator have theirs.
 */
#ifndef KUBE_REQUEST_H
#define KUBE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kube_request {
    const char *method; /* "GET", "POST": a literal */
    const char *path;   /* from "/api" on, with the query, encoded */
    const char *body;   /* JSON, or NULL */
    size_t body_len;
    /* From being sent on, waiting for a connection included: for the whole of it; of a stream:
     * until its head. */
    int64_t timeout_ms;
    int64_t idle_ms; /* of a stream: between two pieces of it; 0: any time (a watch) */
    /* Asked by the sender, on its thread, when there is a connection and it is about to leave: that
     * may be long after it was sent on, or after the process was stopped. False: it does not, and
     * is KUBE_NOT_SENT. NULL: it may. */
    bool (*may_leave)(void *context, int64_t now_ms);
    void *may_leave_context;
    /* The connections that are open may be dead without knowing it: neither this request nor any
     * later one goes over them. */
    bool fresh;
    /* It changes nothing, though it is no GET (a review): it may be sent twice. The server may ask
     * others before it answers, so a time-out says nothing of the connections. */
    bool only_asks;
    /* A secret is in the body, and may be in the answer's: what is copied of them by the sender is
     * overwritten before it is freed. */
    bool secret;
};

enum kube_outcome {
    KUBE_ANSWERED,
    KUBE_NOT_SENT, /* surely: it never had a connection, or might not leave */
    KUBE_UNKNOWN,  /* cut off or out of time after it began to be sent: it may have taken effect */
};

struct kube_answer {
    enum kube_outcome outcome;
    int64_t at_ms;         /* clock_ms() */
    unsigned status;       /* KUBE_ANSWERED: of HTTP */
    int64_t retry_after_s; /* -1: the server did not say */
    const char *body;      /* borrowed for the call; never NULL, NUL-terminated */
    size_t body_len;
    const char *why; /* of the other outcomes: one line; never NULL */
};

/* Called exactly once for every request that was sent, on the sender's thread or by who stops
 * it, never from within send(). */
typedef void kube_done(void *context, const struct kube_answer *answer);

struct kube_sender {
    /* From any thread; copies what it needs of the request. */
    void (*send)(void *sender, const struct kube_request *request, kube_done *done, void *context);
    /* From any thread: the tasks on the sender's thread run again. */
    void (*wake)(void *sender);
    void *sender;
};

#endif
