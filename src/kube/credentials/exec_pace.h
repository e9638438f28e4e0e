/*
 * exec_pace: when to run a credential plugin again. No clock, no thread.
 */
#ifndef KUBE_CREDENTIALS_EXEC_PACE_H
#define KUBE_CREDENTIALS_EXEC_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define EXEC_PACE_LEAST_MS 5000 /* between successful runs, unless requested */
#define EXEC_PACE_FIRST_MS 1000 /* after a failed or requested run, doubling up to: */
#define EXEC_PACE_LAST_MS 60000

/* Initialize with zeros. */
struct exec_pace {
    int64_t due_ms; /* CLOCK_NEVER: only on request */
    int64_t ran_ms;
    int64_t gap_ms; /* the current doubling delay; 0: none yet */
    bool asked;
};

/* A run has ended, successfully or not. lasts_ms: lifetime of the credential; CLOCK_NEVER:
 * unknown. */
void exec_pace_succeeded(struct exec_pace *pace, int64_t now_ms, int64_t lasts_ms);
void exec_pace_failed(struct exec_pace *pace, int64_t now_ms);
/* The API server has rejected the last credential. */
void exec_pace_ask(struct exec_pace *pace, int64_t now_ms);

#endif
