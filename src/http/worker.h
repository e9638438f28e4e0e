/*
 * worker: the thread for long answers, and the requests that wait for it, the oldest first. There
 * is one thread, so that long answers use one core and one copy of the ledger at a time. The bodies
 * of waiting requests count in bodies.h.
 */
#ifndef HTTP_WORKER_H
#define HTTP_WORKER_H

#include "base/buf.h"
#include "base/err.h"
#include "base/mutex.h"
#include "http/exchange.h"

#include <stdbool.h>
#include <stddef.h>

/* With the longest answers the last one is ready within a minute. */
#define WORKER_PLACES 16
/* Of one caller (exchange_set_caller()), so that it does not keep all others out. */
#define WORKER_CALLER_PLACES 8

struct worker {
    pthread_t thread;
    pthread_cond_t changed;
    struct mutex lock; /* guards the rest */
    bool is_stopping;
    size_t n;
    struct exchange *waiting[WORKER_PLACES];
};

int worker_start(struct worker *worker, struct err *err);
/* Ends the thread after the answer in progress. Nothing may be added any more, and the server has
 * answered those that wait (in_flight_close()). */
void worker_stop(struct worker *worker);

/* The thread will call the handler of the exchange's route. Or it answers 503: if there is no room,
 * or if the client has left by then and others wait. */
void worker_add(struct worker *worker, struct exchange *exchange);

/* Writes the metric. */
void worker_write(struct worker *worker, struct buf *out);

#endif
