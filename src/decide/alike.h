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
    struct node_hot hot;       /* gpus NULL: the entry is empty */
    struct ranked_node ranked; /* weighed; the node is the first of them */
    /* The caller's, 0 in a new entry. */
    size_t seen;
    int order;
};

/* A power of two. */
#define N_ALIKE ((size_t)256)

struct alikes {
    const struct score *score;
    struct alike *entries;         /* by hash of the hot part; NULL: the cost needs more than it */
    const struct resource *wanted; /* the pod's only GPU resource */
};

struct alikes alikes_begin(const struct score *score, struct arena *arena);
/* The entry for nodes like this one, which may replace another; NULL: the node is not cached. */
struct alike *alikes_find(const struct alikes *alikes, const struct node *node);
/* rank_weigh(), or a copy of what it gave for the entry. */
void alikes_weigh(const struct alikes *alikes, const struct alike *alike,
                  struct ranked_node *ranked);

#endif
