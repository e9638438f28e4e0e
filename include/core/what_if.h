/*
 * what_if: where would these pods go, on a copy of the ledger?
 */
#ifndef CORE_WHAT_IF_H
#define CORE_WHAT_IF_H

#include "core/cluster.h"
#include "core/fit.h"

struct what_if_placement {
    const struct node *node; /* NULL: nowhere */
    int score;               /* of that node, 0..10 */
};

/* Judges every node of the fork for one pod, as it is now; verdicts has cluster_n_nodes() places,
 * in the order of cluster_next_node(). */
void what_if_judge(const struct cluster *fork, const struct pod_shape *shape,
                   enum reason *verdicts);

/* Places n pods one after another, each on its best node, and uses the room on the fork. placements
 * has n places. Returns how many were placed. */
size_t what_if_place(struct cluster *fork, const struct pod_shape *shape, size_t n,
                     struct what_if_placement *placements);

/* How many more would fit. */
int64_t what_if_more(const struct cluster *fork, const struct pod_shape *shape);

#endif
