/*
 * election: this replica among others: its identity and address, its leadership on the write loop,
 * and the judgement of the verbs' gate. live_mode owns it.
 */
#ifndef DAEMON_ELECTION_H
#define DAEMON_ELECTION_H

#include "base/buf.h"
#include "config/settings.h"
#include "http/server.h"
#include "inventory/inventory.h"
#include "kube/loop.h"
#include "kube/watch.h"

/* NULL where this replica is the only one: then it may decide, and nothing is told. */
struct election;

struct election_parts {
    const struct settings *settings;
    struct kube_loop *loop;      /* the write loop */
    struct kube_watch *pods;     /* its store catches up before this replica leads */
    struct inventory *inventory; /* a replica leads while it is usable */
    uint64_t seed;
    int64_t (*quiet_ms)(void *context, int64_t now_ms); /* see kube/leadership.h */
    void *context;
};

/* Before the loop starts. Borrows the parts. -EINVAL: the environment lacks the namespace or the
 * address of this replica. */
int election_new(const struct election_parts *parts, struct election **ret_election,
                 struct err *err);
/* After the loop has stopped. */
void election_free(struct election *election);

/* The address of the verbs, for the EndpointSlice. Before the loop starts. */
void election_listens(struct election *election, const char *address);
/* Called when this replica begins or ceases to decide, on the loop's thread, without a lock. NULL:
 * no call any more. No call of the former function is under way when this returns, except one that
 * calls this itself. */
void election_on_turn(struct election *election, void (*turned)(void *context, bool may_decide),
                      void *context);

/* From any thread. */
bool election_may_decide(const struct election *election);
/* "leader", ...; NULL without an election. */
const char *election_role(const struct election *election);
/* A gate's judge(): open, or closed by a 503 without a body, the last answer of its connection. */
enum gate_verdict election_judge(const struct election *election, struct exchange *exchange);
void election_metrics(const struct election *election, struct buf *out);

/* Closes the gate. Requests that have passed it may be finished. */
void election_withdraw(struct election *election);
/* Stops deciding, and gives the Lease up when everything that was begun is over (at_most_ms, by
 * clock_ms()). Returns when the Lease is given up, or a few seconds after at_most_ms. The loop must
 * run. */
void election_leave(struct election *election, int64_t at_most_ms);

#endif
