/*
 * worker: the thread for long answers, and the requests that wait for it. There is one thread, so
 * that long answers use one core and one copy of the ledger at a time. The bodies of waiting
 * requests count in bodies.h.
 *
 * Callers (exchange_set_caller()) take turns: each request has a round, one more than the caller's
 * last, and the oldest request of the lowest round is next. If all places are taken, one of the
 * highest round makes room for one of a lower round. An unknown caller is always in the current
 * round.
 */
#ifndef HTTP_WORKER_H
#define HTTP_WORKER_H

#include "base/buf.h"
#include "base/err.h"
#include "base/mutex.h"
#include "http/exchange.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* With the longest answers the last one is ready within a minute. */
#define WORKER_PLACES 16
/* Of one caller. */
#define WORKER_CALLER_PLACES 8

struct waiting_place {
    struct exchange *exchange;
    uint64_t round;
};

struct worker {
    pthread_t thread;
    pthread_cond_t changed;
    struct mutex lock; /* guards the rest */
    bool is_stopping;
    uint64_t round;  /* of the answer in progress, or of the last one */
    uint64_t caller; /* of the answer in progress; 0: unknown, or there is none */
    size_t n;
    struct waiting_place waiting[WORKER_PLACES]; /* the oldest first */
};

int worker_start(struct worker *worker, struct err *err);
/* Ends the thread after the answer in progress. Nothing may be added any more, and the server has
 * answered those that wait (in_flight_close()). */
void worker_stop(struct worker *worker);

/* The thread will call the handler of the exchange's route. Or it answers 503: if there is no room
 * or no more, or if the client has left by then and others wait. */
void worker_add(struct worker *worker, struct exchange *exchange);

/* Writes the metric. */
void worker_write(struct worker *worker, struct buf *out);

#endif
