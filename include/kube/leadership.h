/*
 * leadership: whether this replica may decide: it holds the Lease, and its ledger has caught up.
 *
 * A replica that has taken the Lease reads the resourceVersion of all pods. It decides once its
 * ledger has reached that version, so it knows every earlier binding. (API servers before 1.35 do
 * not promise comparable versions; there the pods are listed anew.) Meanwhile it writes its address
 * into the EndpointSlice, as clients need a while to notice.
 *
 * A replica with an unusable ledger never acquires the Lease. A leader whose ledger stays unusable
 * for lease.renew_deadline_ms steps down: it stops deciding, and releases the Lease once none of
 * its earlier actions can take effect. It takes the Lease again once its ledger is usable and the
 * Lease is free. So the Lease does not change hands each time a ledger is unusable for a moment.
 *
 * A leader may decide until decide_ms after it sent its last successful renewal. Actions begun
 * until then end before another replica can hold the Lease. The permission expires by time alone,
 * so a stopped process loses it. A sender asks again right before a request leaves
 * (kube_request.may_leave). This is no fence: a process that is stopped between that check and the
 * write may write late; the request's ?timeout= bounds it.
 *
 * Runs on the sender's thread, driven by answers and as a kube_task. It has no clock of its own.
 * Functions marked "from any thread" are the exception.
 */
#ifndef KUBE_LEADERSHIP_H
#define KUBE_LEADERSHIP_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "kube/catch_up.h"
#include "kube/lease.h"
#include "kube/reflector.h"
#include "kube/slice.h"

struct leadership;

struct leadership_settings {
    struct lease_settings lease;
    struct slice_settings slice; /* service NULL: no slice is kept */
    struct catch_up_watch pods;
    /* How long a leader may decide after it sent a renewal. An action begun in that time ends
     * before another replica can hold the Lease. */
    int64_t decide_ms;
    /* Whether the ledger can be decided on; if not, why. Called on the sender's thread. The owner
     * must wake the sender when the answer changes. */
    bool (*usable)(void *context, struct err *ret_why);
    /* From then on no earlier action can take effect, if none begins any more. At most now_ms if
     * that holds now. Called on the sender's thread. */
    int64_t (*quiet_ms)(void *context, int64_t now_ms);
    /* Milliseconds since 1970, for the times in the Lease. */
    int64_t (*wall_ms)(void *context);
    /* may_decide has changed. Called on the sender's thread, without a lock. */
    void (*turned)(void *context, bool may_decide);
    /* Called once after leadership_release(), when the Lease is given up. */
    void (*released)(void *context);
    void *context;
};

/* Borrows the texts in settings until leadership_free(). */
struct leadership *leadership_new(const struct leadership_settings *settings,
                                  struct kube_sender sender);
/* Call after the sender has stopped. */
void leadership_free(struct leadership *leadership);

/* Sets the ports of the verbs and of the users (0: none), for the slice. Call before the first
 * tick. */
void leadership_serves(struct leadership *leadership, unsigned port, unsigned users_port);

/* A kube_task. */
int64_t leadership_tick(void *leadership_context, int64_t now_ms);
/* From the next tick on it never decides again. It gives the Lease up once no earlier action can
 * take effect. From any thread; the caller must wake the sender then. */
void leadership_release(struct leadership *leadership);

/* From any thread; reads one atomic. */
bool leadership_may_decide(const struct leadership *leadership, int64_t now_ms);
/* For logs and status: "leader", "follower", or "becoming the leader". From any thread. */
const char *leadership_role(const struct leadership *leadership, int64_t now_ms);

/* The holder of the Lease as last seen, in the arena; "": nobody. From any thread. */
const char *leadership_holder(struct leadership *leadership, struct arena *arena);

/* The stores of the watches on the one Lease and on the one EndpointSlice. Call them on the
 * sender's thread. */
struct reflector_store leadership_lease_store(struct leadership *leadership);
struct reflector_store leadership_slice_store(struct leadership *leadership);

/* Writes Prometheus text. From any thread. */
void leadership_metrics(const struct leadership *leadership, int64_t now_ms, struct buf *out);

#endif
