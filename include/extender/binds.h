/*
 * binds: pods on their way to being bound: attempts, who waits for them, and what is left open.
 *
 * One attempt a pod UID. The ledger holds room for it (decide/reserve.h), the Binding is posted
 * with the UID as precondition, and what came of it is settled by GET where the answer does not say
 * (409, a cut connection, no time left): bound to the node asked for under that UID is success,
 * whoever did it; anything else is an error. A second call for the same UID and node joins the
 * first. When the time is up and the outcome still unknown the callers are told an error, the
 * reservation stays, and the attempt goes on asking in the background; so do reservations that
 * nothing has confirmed. A call for such a pod on the same node joins and posts again; on another
 * node it is refused until the first binding can take effect no more: that is bounded by ?timeout=
 * on the POST (post_life_ms), and "unbound" releases room only if it was asked that long after the
 * last POST.
 *
 * It asks nothing itself and has no clock: questions go to the sender, the time comes in, answers
 * to callers go through their function. What to do next about one pod is for bind_attempt to say,
 * which has neither lock nor log. binds is locked inside, before the inventory's lock and never
 * within it; callers' functions and the sender are called without the lock. The end, in this order:
 * the HTTP server drains, binds_stop(), the sender stops, binds_free().
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
    int64_t post_life_ms; /* whole seconds: the API server gives a POST up after it */
    int64_t timeout_ms;   /* a caller is answered within it; below kube-scheduler's httpTimeout */
    int64_t leave_ms;     /* a POST leaves within it after a call; 0: as long as the caller waits */
    int64_t confirm_ms;   /* a reservation older than this is asked about */
    uint64_t seed;        /* of the jitter */
    /* Whether a binding may be posted now: no other replica may bind before it is over. Asked under
     * binds' lock, and once more on the sender's thread when the POST is about to leave. NULL:
     * always. */
    bool (*may_post)(void *context, int64_t now_ms);
    void *may_post_context;
    /* Until when bindings are held, as those of a predecessor may still take effect; now_ms: they
     * are not held. A call waits for that time if its own time allows, else it fails at once.
     * Called under binds' lock. NULL: never held. */
    int64_t (*held_until_ms)(void *context, int64_t now_ms);
    void *held_context;
};

/* All borrowed for its life. */
struct binds *binds_new(const struct binds_settings *settings, struct inventory *inventory,
                        const struct policy *policy, struct kube_sender sender);
/* After the sender has stopped. Every caller has been answered by then. */
void binds_free(struct binds *binds);

struct bind_args {
    const char *uid;
    const char *namespace_;
    const char *name;
    const char *node_name;
    /* Whether the caller, by its context, waits no longer: a binding for nobody is not sent. NULL:
     * unknown. From any thread, under binds' lock, until the caller is answered. */
    bool (*hung_up)(void *context);
};

/* error NULL: the pod is bound to that node, and the API server said so. Called exactly once, maybe
 * from within binds_call(). */
typedef void bind_answer(void *context, const char *error);
void binds_call(struct binds *binds, const struct bind_args *args, int64_t now_ms,
                bind_answer *answer, void *context);

/* What time brings: callers whose time is up, GETs to be asked again, reservations that nobody
 * confirmed. Returns when to be called again. A kube_task. */
int64_t binds_tick(void *binds, int64_t now_ms);
/* No caller is left unanswered, none is taken any more, and nothing more is sent. */
void binds_stop(struct binds *binds);

/* Whether somebody waits for an answer. */
bool binds_has_callers(struct binds *binds);
/* The moment from which on nothing that was posted can take effect any more; now_ms if that is so
 * already. Before the call, may_post must say no. */
int64_t binds_quiet_ms(struct binds *binds, int64_t now_ms);

/* Binds by outcome, ambiguous ones settled, attempts and reservations open: Prometheus text. */
void binds_metrics(struct binds *binds, struct buf *out);

#endif
