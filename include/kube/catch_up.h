/*
 * catch_up: brings the pods of the ledger up to date with the API server.
 *
 * A new leader (leadership.h), a start without a Lease (catch_up.h) and the end of a pause
 * (regain.h) need a ledger that has every earlier binding. Each reads the current resourceVersion
 * of all pods, then asks the watch that feeds the ledger to reach it. kube_watch_to_catch_up()
 * returns the real watch; tests and the simulator supply their own.
 */
#ifndef KUBE_CATCH_UP_H
#define KUBE_CATCH_UP_H

#include "kube/request.h"

#include <stdint.h>

struct catch_up {
    uint64_t number;     /* greater than every earlier one; 0: none */
    const char *version; /* the resourceVersion to reach; NULL: list anew */
    /* The store has caught up. Called on the watch's thread. */
    void (*done)(void *context, uint64_t number);
    void *context;
};

struct catch_up_watch {
    const char *path; /* of the watched collection: "/api/v1/pods"; borrowed */
    /* From any thread; copies what it needs. A newer catch-up replaces an unfinished one. */
    void (*begin)(void *watch, const struct catch_up *catch_up);
    void *watch;
};

/* ---- hold ---- */
/* Delays the first bindings of a process that starts without a Lease.  The previous process may
 * have died a moment ago, and its last bindings may still take effect. So hold allows no binding
 * until that time is over (timing.hold_ms). Then the ledger catches up with the pods as a new
 * leader's does (leadership.h), so it has every binding of the predecessor. With a Lease this is
 * unnecessary: a replica waits longer than that before it takes the Lease.  Runs on the sender's
 * thread, driven by answers and as a kube_task. It has no clock of its own. Functions marked
 * "from any thread" are the exception. */

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
