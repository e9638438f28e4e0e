/*
 * backoff: how long to wait after a failure: 0.8 s doubling to 30 s, and up to as much again by
 * chance; from the beginning again after two minutes without a failure (client-go's numbers).
 */
#ifndef KUBE_WATCH_BACKOFF_H
#define KUBE_WATCH_BACKOFF_H

#include <stdint.h>

struct backoff {
    int64_t step_ms; /* 0: the first failure is still to come */
    int64_t last_ms; /* when it was last asked */
};

/* For one failure, at now_ms; random is the state of random_below(). */
int64_t backoff_next_ms(struct backoff *backoff, int64_t now_ms, uint64_t *random);

#endif
