/*
 * alike: nodes that a question ranks alike but for their names. Private to decide.
 *
 * In a large cluster many nodes are alike, empty ones above all. So their weights are cached by the
 * hot part.
 */
#ifndef DECIDE_ALIKE_H
#define DECIDE_ALIKE_H

#include "decide/rank.h"
#include "ledger/node_hot.h"

struct alike {
    struct node_hot hot;
    struct ranked_node ranked; /* weighed; the node is the first of them. NULL: empty */
    /* The caller's, 0 or NULL in a new entry. */
    size_t seen;
    int order;
    struct open_kind *kind; /* of what_if.c */
};

struct alikes {
    const struct score *score;
    struct alike *entries; /* by hash of the hot part and the takes; NULL: the cost needs more */
    size_t n;              /* a power of two */
    const struct resource *wanted; /* the pod's only GPU resource; NULL: it has claims */
};

struct alikes alikes_begin(const struct score *score, struct arena *arena);
/* The entry for nodes like this one, which exists and is not weighed. It may replace another; NULL:
 * the node is not cached. */
struct alike *alikes_find(const struct alikes *alikes, const struct ranked_node *ranked);
/* rank_weigh(), or a copy of what it gave for the entry. */
void alikes_weigh(const struct alikes *alikes, const struct alike *alike,
                  struct ranked_node *ranked);

#endif
