/*
 * waits: a filter call that waits for the ledger to catch up with kube-scheduler.
 *
 * src/extender/filter/rules.c decides when a call waits and what it answers then; this file limits
 * the waiting. kube-scheduler schedules no pod meanwhile, so a budget bounds all waits together.
 *
 * No thread blocks: the thread that feeds the ledger answers the exchange later, as with bindings.
 * One call waits at a time, as a kube-scheduler calls for one pod at a time.
 */
#ifndef EXTENDER_WAITS_H
#define EXTENDER_WAITS_H

#include <stdbool.h>
#include <stdint.h>

/* In any WAITS_WINDOW_MS, calls wait for WAITS_TOTAL_MS together. A watch lags by milliseconds, by
 * hundreds on a busy machine. Far below kube-scheduler's httpTimeout (3 s). */
#define WAITS_TOTAL_MS 1000
#define WAITS_WINDOW_MS 20000
/* The least cost of a wait; with less budget left, no call waits. */
#define WAITS_LEAST_MS 10

struct waits;

/* wake() may be called from any thread, and must have waits_tick() called soon. */
struct waits *waits_new(void (*wake)(void *context), void *context);
void waits_free(struct waits *waits);

/* Returns whether it answered the call. If is_over, it must: the time is spent. */
typedef bool waits_look(void *call, bool is_over);
/* Registers a call. From any thread. Each tick, so each change that a watch brings, calls look()
 * until it returns true, possibly before waits_add() returns. Returns false without a call of
 * look() if another call waits or the budget is spent. */
bool waits_add(struct waits *waits, waits_look *look, void *call, int64_t now_ms);

/* Whether waits_add() would accept a call now. NULL: false. */
bool waits_have_time(struct waits *waits, int64_t now_ms);

/* A kube_task, with the waits as context, for the loop that feeds the ledger. Add it after the
 * tasks that feed it. Calls look() without the lock. */
int64_t waits_tick(void *context, int64_t now_ms);
/* Ends the waiting call and rejects later ones. Call it when no tick runs any more. */
void waits_stop(struct waits *waits);

#endif
