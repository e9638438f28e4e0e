/*
 * random: numbers that look random and follow from a seed alone: jitter and lengths, never secrets.
 */
#ifndef KUBE_WATCH_RANDOM_H
#define KUBE_WATCH_RANDOM_H

#include <stdint.h>

/* From 0 to n - 1; n is not 0. The state may begin as any number. */
int64_t random_below(uint64_t *state, int64_t n);

#endif
