/*
 * reserve: may this pod be bound to that node, by the present ledger? If so, holds room for it.
 *
 * A UID has at most one reservation. The API server accepts one of two bindings of a pod, so no
 * other begins while the first may still take effect.
 */
#ifndef DECIDE_RESERVE_H
#define DECIDE_RESERVE_H

#include "ledger/reservation.h"
#include "types/reason.h"

enum reserve_verdict {
    RESERVE_HELD,         /* room is held on this node, newly or from before */
    RESERVE_HELD_REFUSED, /* held from before, and refused now, by quota or group: see why */
    RESERVE_BOUND_HERE,   /* the ledger shows the pod on this node */
    RESERVE_BOUND_ELSEWHERE,
    RESERVE_POD_UNKNOWN,    /* no facts were given, and the ledger has no such UID, keeps only its
                               demand (ledger/shape_limits.h), or may count it twice: by its
                               request, and by a claim that only its status can name */
    RESERVE_POD_GONE,       /* finished or terminating */
    RESERVE_HELD_ELSEWHERE, /* its reservation on another node is still open */
    RESERVE_CLAIMS_UNSEEN,  /* a quota must judge its resource claims, and the ledger does not show
                               yet that they are allocated and reserved for it */
    RESERVE_AWAITS_FIRST,   /* the first binding of its group (ledger/gangs.h) is under way */
    RESERVE_REFUSED,        /* does not fit: see reason */
};

struct reserve_question {
    const char *uid;
    const char *node_name;
    /* The pod as a GET returned it, after RESERVE_POD_UNKNOWN; NULL: none. The ledger wins, but for
     * what it lacks. Facts of another UID are ignored. */
    const struct pod_facts *facts;
    /* Judge resource claims by what the ledger shows: one without an allocation counts what its
     * spec asks for. So no binding waits for ever if their watch fails. */
    bool has_waited_for_claims;
    int64_t now_ms; /* of the reservation, to log and find old ones */
};

/* Details of a verdict; 0 or NULL without one. */
struct reserve_result {
    uint64_t serial;       /* RESERVE_HELD, _HELD_REFUSED: new with every call */
    enum reason reason;    /* RESERVE_REFUSED */
    const char *why;       /* RESERVE_REFUSED, _HELD_REFUSED: fit_text() */
    const char *node_name; /* RESERVE_..._ELSEWHERE: of the pod or reservation; valid until the
                              ledger changes */
};

/* Returns the first that applies: unknown, bound here or elsewhere, gone, held elsewhere or
 * already, unknown shape, claims unseen, awaits first, refused (FIT_OURS; the node must exist),
 * newly held. Room held already stays held, even if the node is gone or it is refused now, as that
 * binding may still take effect. Needs the write lock. */
enum reserve_verdict reserve_room(struct cluster *cluster, const struct reserve_question *question,
                                  struct reserve_result *ret_result);

#endif
