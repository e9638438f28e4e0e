/*
 * leadership: whether this replica may decide: it holds the Lease, and its ledger is as of then.
 *
 * A replica that has taken the Lease asks the API server for the resourceVersion of all pods, and
 * decides once the ledger has caught up with it (versions of a server before 1.35 do not compare:
 * the pods are listed anew), so that it knows every binding that was made before. Meanwhile it has
 * the EndpointSlice name it, which takes others a while to notice.
 *
 * Who cannot decide on its ledger does not take the Lease. A leader that cannot for as long as it
 * may be without a renewal (lease.renew_deadline_ms) stands back: it decides nothing, gives the
 * Lease up when what it began is over, so that another one may do better, and takes it again as
 * soon as it can decide and the Lease is free. So two that cannot decide leave it alone, and one
 * whose ledger comes and goes has it for that long at the least.
 *
 * It may decide as long as nobody else can hold the Lease before what it begins now is over, and
 * while it could renew the Lease (decide_ms). That is a time, which only passing renews: where
 * nothing runs any more it ends by itself. Whoever acts asks again when it has a connection and is
 * about to send (kube_request.may_leave). Nothing here is a fence: who is stopped between that look
 * and the write may come late; what was sent ends by its own ?timeout=.
 *
 * It works on the sender's thread, by its answers and as a kube_task, and has no clock of its own.
 * Where it says "from any thread" so it is.
 */
#ifndef KUBE_LEADERSHIP_H
#define KUBE_LEADERSHIP_H

#include "base/buf.h"
#include "base/err.h"
#include "kube/catch_up.h"
#include "kube/lease.h"
#include "kube/reflector.h"
#include "kube/slice.h"

struct leadership;

struct leadership_settings {
    struct lease_settings lease;
    struct slice_settings slice; /* service NULL: none is kept */
    struct catch_up_watch pods;
    /* From the sending of a renewal on, it may decide for so long: what is begun then is over
     * before another replica can hold the Lease. */
    int64_t decide_ms;
    /* Whether decisions may be made on the ledger; if not, why. On the sender's thread; whoever
     * carries the task must be woken when it turns. */
    bool (*usable)(void *context, struct err *ret_why);
    /* From when on nothing that was begun can take effect any more, where nothing may be begun; at
     * the most now_ms where that is so. On the sender's thread. */
    int64_t (*quiet_ms)(void *context, int64_t now_ms);
    /* People's time, for the Lease. */
    int64_t (*wall_ms)(void *context);
    /* It may decide from now on, or may not any more. On the sender's thread, without a lock. */
    void (*turned)(void *context, bool may_decide);
    /* After leadership_release(): nothing is left to be told. Once. */
    void (*released)(void *context);
    void *context;
};

/* Texts are borrowed for its life. */
struct leadership *leadership_new(const struct leadership_settings *settings,
                                  struct kube_sender sender);
/* After the sender has stopped. */
void leadership_free(struct leadership *leadership);

/* The port of the verbs, for the slice. Before the first tick. */
void leadership_serves(struct leadership *leadership, unsigned port);

/* A kube_task. */
int64_t leadership_tick(void *leadership_context, int64_t now_ms);
/* From any thread; whoever carries the task must be woken then. It decides nothing any more; the
 * others are told as soon as what it began is over. */
void leadership_release(struct leadership *leadership);

/* From any thread; cheap. */
bool leadership_may_decide(const struct leadership *leadership, int64_t now_ms);
/* For people: "leader", "follower", or "becoming the leader". From any thread. */
const char *leadership_role(const struct leadership *leadership, int64_t now_ms);

/* Whom a watch on the one Lease, and one on the one EndpointSlice, tell what they see. On the
 * sender's thread. */
struct reflector_store leadership_lease_store(struct leadership *leadership);
struct reflector_store leadership_slice_store(struct leadership *leadership);

/* Prometheus text. From any thread. */
void leadership_metrics(const struct leadership *leadership, int64_t now_ms, struct buf *out);

#endif
