/*
 * hold: after a start without a Lease, when bindings may be sent.
 *
 * The process that was there before may have died a moment ago, and what it sent may still take
 * effect. So for a time that outlasts that (hold_ms) nothing is bound, and then the ledger comes to
 * the pods as they are (as a new leader's does: leadership.h), so that it has all that the
 * predecessor bound. With a Lease this is not needed: who takes one waits longer.
 *
 * It works on the sender's thread, by its answers and as a kube_task, and has no clock of its own.
 * Where it says "from any thread" so it is.
 */
#ifndef KUBE_HOLD_H
#define KUBE_HOLD_H

#include "kube/request.h"

struct hold;

struct hold_settings {
    int64_t until_ms;      /* from then on nothing of a predecessor can take effect */
    const char *pods_path; /* "/api/v1/pods" */
    /* The ledger is to come to that resourceVersion of the pods; NULL: to list them anew. Then
     * hold_reached() with the number. */
    void (*reach)(void *context, uint64_t number, const char *version);
    void *context;
};

/* Texts are borrowed for its life. */
struct hold *hold_new(const struct hold_settings *settings, struct kube_sender sender);
/* After the sender has stopped. */
void hold_free(struct hold *hold);

/* A kube_task. */
int64_t hold_tick(void *hold_context, int64_t now_ms);
/* From any thread; whoever carries the task must be woken then. */
void hold_reached(struct hold *hold, uint64_t number);

/* Nothing may be bound before; now_ms: it may. While the ledger is catching up, a little later than
 * now_ms. From any thread. */
int64_t hold_until_ms(const struct hold *hold, int64_t now_ms);

#endif
