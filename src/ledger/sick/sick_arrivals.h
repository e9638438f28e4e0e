/*
 * sick_arrivals: the pods that were bound lately and have not started. Private to sick_nodes.
 *
 * A pod may be gone from the API server before its failure is seen, so it is kept for SICK_FAILS_MS
 * after its binding; of more than SICK_ARRIVALS_MAX the oldest are dropped.
 */
#ifndef LEDGER_SICK_SICK_ARRIVALS_H
#define LEDGER_SICK_SICK_ARRIVALS_H

#include "base/table.h"
#include "ledger/sick_nodes.h"

struct sick_node;

struct sick_bound {
    uint64_t uid; /* its hash */
    struct sick_node *node;
    struct sick_shape shape;
    bool was_waiting, had_room;
    int64_t at_ms;
    UT_hash_handle hh; /* oldest first */
};

struct sick_arrivals {
    struct sick_bound *first;
};

/* The pod is not there yet. Takes a reference to the node. */
void sick_arrivals_add(struct sick_arrivals *arrivals, const struct sick_bound *bound);
/* NULL: it is not there. */
struct sick_bound *sick_arrivals_find(const struct sick_arrivals *arrivals, uint64_t uid);
void sick_arrivals_remove(struct sick_arrivals *arrivals, struct sick_bound *bound);
/* Drops those that were bound before since_ms. */
void sick_arrivals_forget(struct sick_arrivals *arrivals, int64_t since_ms);

/* sick_nodes.c: an arrival refers to the node, even if it is gone. */
void sick_node_ref(struct sick_node *node);
void sick_node_unref(struct sick_node *node);

#endif
