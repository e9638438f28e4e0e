/*
 * reserve: may this pod be bound to that node, by the ledger as it is now? If so, room is held for
 * it.
 *
 * There is at most one reservation for a pod's UID: of two bindings of one pod the API server lets
 * one through, so while the first may still take effect no other is begun.
 */
#ifndef DECIDE_RESERVE_H
#define DECIDE_RESERVE_H

#include "ledger/reservation.h"
#include "types/reason.h"

enum reserve_verdict {
    RESERVE_HELD,       /* room is held (newly, or still from before, on this node) */
    RESERVE_BOUND_HERE, /* the ledger shows the pod on this node already: nothing to do */
    RESERVE_BOUND_ELSEWHERE,
    RESERVE_POD_UNKNOWN,    /* no facts were given, and the ledger has no such UID or keeps only
                               the pod's demand (ledger/shape_limits.h) */
    RESERVE_POD_GONE,       /* finished, or being deleted */
    RESERVE_HELD_ELSEWHERE, /* a reservation of its own on another node is still open */
    RESERVE_REFUSED,        /* does not fit: the reason says why */
};

struct reserve_question {
    const char *uid;
    const char *node_name;
    /* The pod as a GET showed it, used if the ledger has not seen it yet or keeps only its demand;
     * NULL: none. If the ledger knows better, the ledger wins. Facts of another UID are ignored. */
    const struct pod_facts *facts;
    int64_t now_ms; /* when the reservation was made, for people and for looking after old ones */
};

/* Details of a verdict; 0 and NULL if it has none. */
struct reserve_result {
    uint64_t serial;    /* RESERVE_HELD: new with every call, also where room was held before */
    enum reason reason; /* RESERVE_REFUSED */
    const char *why;    /* the same: fit_text() */
    const char
        *node_name; /* ..._ELSEWHERE: of the pod or the reservation; until the ledger changes */
};

/* The first verdict that holds, in this order: bound here or elsewhere, gone, unknown, held
 * elsewhere, held already, its shape unknown, refused (FIT_OURS; the node must be there), held
 * anew. Room that is held already stays held, whatever became of the node: whether that binding
 * takes effect is not ours to say any more. */
enum reserve_verdict reserve_room(struct cluster *cluster, const struct reserve_question *question,
                                  struct reserve_result *ret_result);

#endif
