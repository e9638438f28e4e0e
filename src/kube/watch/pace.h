/*
 * pace: the delay after a failure, chance, and what of failures is news.
 */
#ifndef KUBE_WATCH_PACE_H
#define KUBE_WATCH_PACE_H

#include <stdbool.h>
#include <stdint.h>

/* ---- backoff ---- */
/* The delay after a failure: 0.8 s doubling to 30 s, plus up to the same again by chance. It
 * starts over after two minutes without a failure (client-go's numbers, PROTOCOL 8.6). */

struct backoff {
    int64_t step_ms; /* 0: no failure yet */
    int64_t last_ms; /* the last failure */
};

/* Call once for each failure. random: state of random_below(). */
int64_t backoff_next_ms(struct backoff *backoff, int64_t now_ms, uint64_t *random);

/* ---- reproducible pseudo-random numbers for jitter and durations, never for secrets ---- */

/* From 0 to n - 1, n > 0. Any initial state will do. */
int64_t random_below(uint64_t *state, int64_t n);

/* ---- logs each failure of a repeated request once ---- */

struct log_dedup {
    char what[512]; /* the part of the last failure that repetitions share; "": no failure */
};

/* Whether this failure, "GET /api/v1/pods: 403: ...", is new and belongs in the log. With an HTTP
 * status the text after it is ignored, as two texts may alternate. Without one digits are ignored,
 * as in "after 3 ms". "": the failure has ended; returns false. */
bool log_dedup_is_news(struct log_dedup *dedup, const char *failure);
void log_dedup_forget(struct log_dedup *dedup);

#endif
