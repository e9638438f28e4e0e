/*
 * hold: after a start without a Lease, when bindings may be sent.
 *
 * The previous process may have died a moment ago, and its last bindings may still take effect. So
 * nothing is bound until that is over (hold_ms). Then the ledger catches up with the pods as a new
 * leader's does (leadership.h), so that it has every binding of the predecessor. With a Lease this
 * is not needed: a replica waits longer than that before it takes the Lease.
 *
 * It works on the sender's thread, by its answers and as a kube_task, and has no clock of its own.
 * Where it says "from any thread" so it is.
 */
#ifndef KUBE_HOLD_H
#define KUBE_HOLD_H

#include "kube/catch_up.h"
#include "kube/request.h"

struct hold;

struct hold_settings {
    int64_t until_ms; /* from then on no binding of a predecessor can take effect */
    struct catch_up_watch pods;
};

/* Texts are borrowed for its life. */
struct hold *hold_new(const struct hold_settings *settings, struct kube_sender sender);
/* After the sender has stopped. */
void hold_free(struct hold *hold);

/* A kube_task. */
int64_t hold_tick(void *hold_context, int64_t now_ms);

/* When bindings may be sent: now_ms, if they may now; a little later than now_ms, while the ledger
 * is catching up. From any thread. */
int64_t hold_until_ms(const struct hold *hold, int64_t now_ms);

#endif
