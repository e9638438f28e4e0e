/*
 * backoff: the delay after a failure: 0.8 s doubling to 30 s, plus up to the same again by chance.
 * It starts over after two minutes without a failure (client-go's numbers,
 * PROTOCOL 8.6).
 */
#ifndef KUBE_WATCH_BACKOFF_H
#define KUBE_WATCH_BACKOFF_H

#include <stdint.h>

struct backoff {
    int64_t step_ms; /* 0: no failure yet */
    int64_t last_ms; /* the last failure */
};

/* Call once for each failure. random: state of random_below(). */
int64_t backoff_next_ms(struct backoff *backoff, int64_t now_ms, uint64_t *random);

#endif
