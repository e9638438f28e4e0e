/*
 * election: this replica among others: its identity and address, its leadership on the write loop,
 * and the decision of the verbs' gate. live_mode owns it.
 */
#ifndef DAEMON_ELECTION_H
#define DAEMON_ELECTION_H

#include "base/buf.h"
#include "config/settings.h"
#include "extender/binds.h"
#include "http/server.h"
#include "inventory/inventory.h"
#include "kube/loop.h"
#include "kube/watch.h"

/* NULL for the only replica: then it may decide, and functions without a result do nothing. */
struct election;

struct election_parts {
    const struct settings *settings;
    struct kube_loop *loop;      /* the write loop */
    struct kube_watch *pods;     /* its store catches up before this replica leads */
    struct inventory *inventory; /* a replica leads only while it is usable */
    struct binds *binds;         /* a leader keeps the Lease while they may take effect */
    uint64_t seed;
};

/* Call before the loop starts. Borrows the parts until election_free(). -EINVAL: the environment
 * lacks the namespace or the address of this replica. */
int election_new(const struct election_parts *parts, struct election **ret_election,
                 struct err *err);
/* Call after the loop has stopped. */
void election_free(struct election *election);

/* Sets the addresses of the verbs and of the users (NULL: none), for the EndpointSlice. Call before
 * the loop starts. */
void election_listens(struct election *election, const char *verbs, const char *people);
/* turned() is called when this replica begins or stops deciding, on the loop's thread, without a
 * lock; NULL: no more calls. When this returns, no call of the previous function is in progress,
 * except a call from which this was called. */
void election_on_turn(struct election *election, void (*turned)(void *context, bool may_decide),
                      void *context);

/* From any thread. */
bool election_may_decide(const struct election *election);
/* "leader", ...; NULL without an election. */
const char *election_role(const struct election *election);
/* Why only another replica knows what kube-scheduler was answered, naming the leader; in the arena.
 * NULL: this one decides. From any thread. */
const char *election_elsewhere(const struct election *election, struct arena *arena);
/* A gate's judge(): opens it, or answers 503 without a body and closes the connection. */
enum gate_verdict election_judge(const struct election *election, struct exchange *exchange);
void election_metrics(const struct election *election, struct buf *out);

/* Closes the gate for new requests; those that passed it go on. */
void election_withdraw(struct election *election);
/* Stops deciding, and gives the Lease up once no binding can take effect any more
 * (binds_quiet_ms()). Returns when the Lease is given up, or a few seconds after that time. The
 * loop must run. */
void election_leave(struct election *election);

#define ELECTION_NAMESPACE_BYTES ((size_t)256)

/* The namespace of the objects that we write: leaderElection.namespace, else POD_NAMESPACE in the
 * environment, else the ServiceAccount's. */
int election_namespace(const struct settings *settings, char ret_name[ELECTION_NAMESPACE_BYTES],
                       struct err *err);

#endif
