/*
 * waits: calls of filter that wait for the ledger to catch up with kube-scheduler.
 *
 * A pod for which pods were evicted (status.nominatedNodeName) loses its nomination by an error:
 * kube-scheduler clears it in every failure that is no refusal (clearNominatedNode in
 * pkg/scheduler/schedule_one.go), and what was made free for the pod is anybody's. kube-scheduler
 * often asks in the moment in which the last victim has ended, and our watch is a little later. So
 * instead of the error the call is kept until the ledger has changed enough, or time is up.
 *
 * No thread waits: the exchange is answered later, as those of bindings are, on the thread that
 * feeds the ledger.
 */
#ifndef EXTENDER_WAITS_H
#define EXTENDER_WAITS_H

#include <stdbool.h>
#include <stdint.h>

/* A watch is behind by milliseconds, on a busy machine by hundreds. Meanwhile kube-scheduler places
 * nobody, as its one thread waits for the answer: twice at the most, for the nominated node alone
 * and for all nodes, and then the nomination is gone. Far below its httpTimeout (3 s). */
#define WAITS_MAX_MS 1000
/* A kube-scheduler asks one thing at a time, and there are seldom several; each call is held in
 * memory. Those beyond get the error at once. */
#define WAITS_MAX_CALLS 4

struct waits;

/* wake (from any thread) has waits_tick() called soon. */
struct waits *waits_new(void (*wake)(void *context), void *context);
void waits_free(struct waits *waits);

/* Whether a call is over, which it is by is_over at the latest. */
typedef bool waits_look(void *call, bool is_over);
/* From any thread. look is called by each tick, so after each change that a watch brings, until it
 * says that the call is over: perhaps before this returns. False: there are too many; nothing is
 * called.
 */
bool waits_add(struct waits *waits, waits_look *look, void *call, int64_t now_ms);

/* A kube_task whose context is the waits, for the loop that feeds the ledger, behind whatever feeds
 * it. */
int64_t waits_tick(void *context, int64_t now_ms);
/* Ends all calls that wait, and those that will. When nobody ticks any more. */
void waits_stop(struct waits *waits);

#endif
