/*
 * election: this replica among others: its names, its leadership on the write loop, and what the
 * verbs' gate asks. live_mode owns it.
 */
#ifndef DAEMON_ELECTION_H
#define DAEMON_ELECTION_H

#include "base/buf.h"
#include "config/settings.h"
#include "http/server.h"
#include "kube/loop.h"
#include "kube/watch.h"

/* NULL where this replica is the only one: then it may decide, and nothing is told. */
struct election;

struct election_parts {
    const struct settings *settings;
    struct kube_loop *loop;  /* the write loop */
    struct kube_watch *pods; /* its store catches up before this replica leads */
    uint64_t seed;
    /* See kube/leadership.h. Whoever turns what usable says wakes the loop. */
    bool (*usable)(void *context, struct err *ret_why);
    int64_t (*quiet_ms)(void *context, int64_t now_ms);
    void *context;
};

/* Before the loop starts. Borrows the settings. -EINVAL: the environment does not say who and where
 * we are. */
int election_new(const struct election_parts *parts, struct election **ret_election,
                 struct err *err);
/* After the loop has stopped. */
void election_free(struct election *election);

/* Where the verbs are served, which the EndpointSlice will say; before the loop starts. */
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
/* Of a gate: open, or closed with a 503 that says nothing and is the connection's last. */
enum gate_verdict election_judge(const struct election *election, struct exchange *exchange);
void election_metrics(const struct election *election, struct buf *out);

/* From now on the gate is closed; what has passed it may be finished. */
void election_withdraw(struct election *election);
/* Nothing is begun any more. When what was is over (at_most_ms, by clock_ms()), the Lease is given
 * up; waits until the others know, a few seconds beyond that at the most. The loop runs. */
void election_leave(struct election *election, int64_t at_most_ms);

#endif
