/*
 * binds: pods that are being bound: attempts, waiting callers, and open outcomes.
 *
 * One attempt per pod UID. The ledger holds room for it (decide/reserve.h), and the Binding is
 * posted with the UID as precondition. If the answer leaves the outcome open (409, a cut
 * connection, a time-out), a GET settles it. Bound to the requested node under that UID is success,
 * whichever client did it; anything else is an error. A second call for the same UID and node joins
 * the first. If the outcome is still unknown at a caller's deadline, the caller gets an error, the
 * reservation stays, and the attempt keeps asking in the background; so do reservations that
 * nothing has confirmed. A later call for the same node joins and posts again. A call for another
 * node is rejected until the first binding can no longer take effect: ?timeout= on the POST
 * (post_life_ms) bounds that. "Unbound" releases room only in an answer that long after the last
 * POST.
 *
 * No I/O and no clock: requests go to the sender, the time comes in, and callers are answered
 * through their function. bind_attempt decides the next step for a pod; it has neither lock nor
 * log. binds.lock is taken before the inventory's lock, never within it. Callers' functions and the
 * sender are called without it. Shutdown order: the HTTP server drains, binds_stop(), the sender
 * stops, binds_free().
 *
 * Source: PROTOCOL 3.2 to 3.5.
 */
#ifndef EXTENDER_BINDS_H
#define EXTENDER_BINDS_H

#include "base/buf.h"
#include "inventory/inventory.h"
#include "kube/request.h"

struct binds;

struct binds_settings {
    const char *bound_by; /* value of the annotation gpu-extender.io/bound-by: VERSION/INSTANCE */
    int64_t post_life_ms; /* whole seconds, at least 1: the API server abandons a POST after it */
    int64_t timeout_ms;   /* a caller is answered within it; below kube-scheduler's httpTimeout */
    int64_t leave_ms;   /* a POST must leave within it after a call; 0: within the caller's time */
    int64_t confirm_ms; /* an older reservation is checked with a GET */
    uint64_t seed;      /* of the jitter */
    /* Whether a binding may be posted now: no other replica may bind before it is over. Called
     * under binds.lock, and again on the sender's thread, without it, when the POST is about to
     * leave. NULL: always. */
    bool (*may_post)(void *context, int64_t now_ms);
    void *may_post_context;
    /* Until when bindings are held, as a predecessor's may still take effect; now_ms: not held. A
     * call waits for that if its time allows, else it fails at once. Called under binds.lock. NULL:
     * never held. */
    int64_t (*held_until_ms)(void *context, int64_t now_ms);
    void *held_context;
};

/* Borrows all but settings->bound_by until binds_free(). */
struct binds *binds_new(const struct binds_settings *settings, struct inventory *inventory,
                        struct kube_sender sender);
/* Call after the sender has stopped; every caller has been answered by then. */
void binds_free(struct binds *binds);

struct bind_args {
    const char *uid;
    const char *namespace_;
    const char *name;
    const char *node_name;
    /* Whether the caller, given its context, has stopped waiting: no binding is sent for it then.
     * NULL: unknown. Called on any thread, under binds.lock, until the caller is answered. */
    bool (*hung_up)(void *context);
};

/* error NULL: the API server has confirmed the binding. Called exactly once, without a lock,
 * possibly within binds_call(). From any thread; args are copied. */
typedef void bind_answer(void *context, const char *error);
void binds_call(struct binds *binds, const struct bind_args *args, int64_t now_ms,
                bind_answer *answer, void *context);

/* mode: observe. Posts the binding at once, and once: no judgement, no reservation, no hold, and
 * may_post is not asked. As with kube-scheduler's own binding, an open outcome is an error. error
 * and args as above. */
void binds_post(struct binds *binds, const struct bind_args *args, int64_t now_ms,
                bind_answer *answer, void *context);

/* Handles time-outs of callers, repeated GETs and unconfirmed reservations. Returns when to call
 * again. A kube_task. */
int64_t binds_tick(void *binds, int64_t now_ms);
/* Answers every caller; takes no more calls, and sends nothing more. */
void binds_stop(struct binds *binds);

/* Whether a caller waits for an answer. */
bool binds_has_callers(struct binds *binds);
/* The time from which no earlier POST can take effect; now_ms if that holds now. may_post must
 * return false before the call. */
int64_t binds_quiet_ms(struct binds *binds, int64_t now_ms);

/* Binds by outcome, settled ambiguous ones, open attempts and reservations: Prometheus text. */
void binds_metrics(struct binds *binds, struct buf *out);

#endif
