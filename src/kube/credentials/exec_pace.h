/*
 * exec_pace: when a credential plugin is run again. No clock, no thread.
 */
#ifndef KUBE_CREDENTIALS_EXEC_PACE_H
#define KUBE_CREDENTIALS_EXEC_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define EXEC_PACE_LEAST_MS 5000 /* between a good run and the next, unless it was asked for */
#define EXEC_PACE_FIRST_MS 1000 /* after a run that failed or was asked for, doubling up to: */
#define EXEC_PACE_LAST_MS 60000

/* Zeroed at its birth. */
struct exec_pace {
    int64_t due_ms; /* CLOCK_NEVER: only when asked */
    int64_t ran_ms;
    int64_t gap_ms; /* the last one of those that double; 0: none yet */
    bool asked;
};

/* A run has ended, well (lasts_ms: how long what it gave is valid; CLOCK_NEVER: it did not say) or
 * not. */
void exec_pace_succeeded(struct exec_pace *pace, int64_t now_ms, int64_t lasts_ms);
void exec_pace_failed(struct exec_pace *pace, int64_t now_ms);
/* The server has refused what the last good run gave. */
void exec_pace_ask(struct exec_pace *pace, int64_t now_ms);

#endif
