/*
 * forward: answers a request of the page by asking the same of kubectl, or of a service by its URL,
 * as the user of kubectl gpu.
 */
#ifndef KUBECTL_FORWARD_H
#define KUBECTL_FORWARD_H

#include "arguments.h"
#include "base/mutex.h"
#include "child.h"
#include "http/exchange.h"

/* Questions at a time; others wait. */
#define FORWARD_THREADS 8

struct forward {
    const struct arguments *arguments;
    struct child_bound bound; /* of each question */
    pthread_t threads[FORWARD_THREADS];
    size_t n_threads;
    struct mutex lock; /* guards the rest */
    pthread_cond_t changed;
    bool is_stopping;
    struct forward_question *waiting; /* the oldest first */
};

/* limit_ms: of each question. The threads inherit the caller's signal mask. forward_stop() in any
 * case. */
int forward_start(struct forward *forward, const struct arguments *arguments, int limit_ms,
                  struct err *err);
/* After the server's stop. The questions under way are given up. */
void forward_stop(struct forward *forward);

/* A route below /v1/: context is the struct forward. Errors of the API are passed on, but a 401 is
 * a 502: it is not the browser that lacks credentials. The answer has an ETag; answers that differ
 * only in the time have the same. Does not block: the answer comes from another thread. */
void forward_handle(void *context, struct exchange *exchange);

#endif
