/*
 * waits: a call of filter that waits for the ledger to catch up with kube-scheduler.
 *
 * When it waits, and what is answered then, is in src/extender/filter/rules.c. Here is how, and for
 * how long: kube-scheduler schedules no pod meanwhile, so all waiting together is bounded by a
 * budget.
 *
 * No thread waits: the exchange is answered later, as those of bindings are, on the thread that
 * feeds the ledger. One call waits at a time, as a kube-scheduler asks one thing at a time.
 */
#ifndef EXTENDER_WAITS_H
#define EXTENDER_WAITS_H

#include <stdbool.h>
#include <stdint.h>

/* The budget: in any WAITS_WINDOW_MS calls wait for WAITS_TOTAL_MS together. A watch is behind by
 * milliseconds, on a busy machine by hundreds. Far below kube-scheduler's httpTimeout (3 s). */
#define WAITS_TOTAL_MS 1000
#define WAITS_WINDOW_MS 20000
/* What a wait costs of the budget at least; where less is left, no call waits. */
#define WAITS_LEAST_MS 10

struct waits;

/* wake (from any thread) has waits_tick() called soon. */
struct waits *waits_new(void (*wake)(void *context), void *context);
void waits_free(struct waits *waits);

/* Returns whether the call was answered. It must be if is_over: its time is spent. */
typedef bool waits_look(void *call, bool is_over);
/* From any thread. look is called by each tick, so after each change that a watch brings, until it
 * says that the call is over: perhaps before this returns. False: another call waits, or the budget
 * is spent; nothing is called. */
bool waits_add(struct waits *waits, waits_look *look, void *call, int64_t now_ms);

/* Whether waits_add() would take a call now. NULL: never. */
bool waits_have_time(struct waits *waits, int64_t now_ms);

/* A kube_task whose context is the waits, for the loop that feeds the ledger, behind whatever feeds
 * it. */
int64_t waits_tick(void *context, int64_t now_ms);
/* Ends the call that waits, and those that will. When nobody ticks any more. */
void waits_stop(struct waits *waits);

#endif
