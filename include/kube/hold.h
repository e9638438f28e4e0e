/*
 * hold: delays the first bindings of a process that starts without a Lease.
 *
 * The previous process may have died a moment ago, and its last bindings may still take effect. So
 * hold allows no binding until that time is over (timing.hold_ms). Then the ledger catches up with
 * the pods as a new leader's does (leadership.h), so it has every binding of the predecessor. With
 * a Lease this is unnecessary: a replica waits longer than that before it takes the Lease.
 *
 * Runs on the sender's thread, driven by answers and as a kube_task. It has no clock of its own.
 * Functions marked "from any thread" are the exception.
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

/* Borrows the texts in settings until hold_free(). */
struct hold *hold_new(const struct hold_settings *settings, struct kube_sender sender);
/* Call after the sender has stopped. */
void hold_free(struct hold *hold);

/* A kube_task. */
int64_t hold_tick(void *hold_context, int64_t now_ms);

/* Returns when bindings may be sent: now_ms if they may now; a later time if the caller must ask
 * again then. From any thread. */
int64_t hold_until_ms(const struct hold *hold, int64_t now_ms);

#endif
