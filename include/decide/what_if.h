/*
 * what_if: where would these pods go, on a copy of the ledger?
 */
#ifndef DECIDE_WHAT_IF_H
#define DECIDE_WHAT_IF_H

#include "decide/fit.h"
#include "ledger/cluster.h"

/* Places n pods one after another, each on its best node, and uses the room on the fork.
 * ret_nodes has n places: where each went, NULL for nowhere. Returns how many were placed. The best
 * node is the one that rank_nodes() gives RANK_BEST_SCORE. */
size_t what_if_place(struct cluster *fork, const struct fit_question *question, size_t n,
                     const struct node **ret_nodes);

/* Places up to n pods wherever there is room, without asking where is best: for more than anybody
 * wants to see one by one. Returns how many were placed. */
int64_t what_if_fill(struct cluster *fork, const struct fit_question *question, int64_t n);

/* A DaemonSet: one pod on each node that admits such pods (admit_node()). ret_nodes and
 * ret_verdicts have cluster_n_nodes() places: the admitting nodes, and whether the pod fits there.
 * Returns how many nodes admit it; rooms are used where it fits. */
size_t what_if_place_each(struct cluster *fork, const struct fit_question *question,
                          const struct node **ret_nodes, enum reason *ret_verdicts);

/* How many more would fit. */
int64_t what_if_more(const struct cluster *fork, const struct fit_question *question);

#endif
