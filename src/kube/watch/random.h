/*
 * random: reproducible pseudo-random numbers for jitter and durations, never for secrets.
 */
#ifndef KUBE_WATCH_RANDOM_H
#define KUBE_WATCH_RANDOM_H

#include <stdint.h>

/* From 0 to n - 1, n > 0. Any initial state will do. */
int64_t random_below(uint64_t *state, int64_t n);

#endif
