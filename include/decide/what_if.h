/*
 * what_if: where would these pods go, on a fork of the ledger?
 */
#ifndef DECIDE_WHAT_IF_H
#define DECIDE_WHAT_IF_H

#include "decide/fit.h"
#include "decide/topology.h"
#include "ledger/cluster.h"

/* Places n pods one after another, each on its best node by rank_nodes(), and uses the room on the
 * fork. ret_nodes has n entries: each pod's node, or NULL. Returns how many were placed. */
size_t what_if_place(struct cluster *fork, const struct fit_question *question, size_t n,
                     const struct node **ret_nodes);

/* Places one more pod on that node of the fork, where it fits. */
void what_if_put(struct cluster *fork, const struct fit_question *question,
                 const struct node *node);

struct what_if_count {
    int64_t n;
    bool is_cut; /* counting would have taken too long: there may be more */
};

/* Places up to n pods in any free room, not the best: for numbers too large to show one by one.
 * Returns how many were placed. */
struct what_if_count what_if_fill(struct cluster *fork, const struct fit_question *question,
                                  int64_t n);

/* Places a DaemonSet's pods: one on each node that admits it (admit_node()). ret_nodes and
 * ret_verdicts have cluster_n_nodes() entries: the admitting nodes, and whether the pod fits.
 * Returns their number; room is used where it fits. */
size_t what_if_place_each(struct cluster *fork, const struct fit_question *question,
                          const struct node **ret_nodes, enum reason *ret_verdicts);

/* Most pods that are placed one by one to count how many more would fit. */
#define WHAT_IF_MORE_BY_RULES_MAX ((int64_t)100000)

/* How many more pods would fit; at most WHAT_IF_MORE_BY_RULES_MAX if each changes what other pods
 * allow. Changes nothing. */
struct what_if_count what_if_more(struct cluster *fork, const struct fit_question *question);

/* Room for such pods in each domain of the level that has nodes, without quotas, and the free GPUs
 * of its ready and uncordoned nodes. If each pod changes what others allow, at most
 * WHAT_IF_ROOMS_BY_RULES_MAX domains are counted by that. In the arena. */
#define WHAT_IF_ROOMS_BY_RULES_MAX 200
struct topology_room *what_if_rooms(const struct cluster *fork, const struct fit_question *question,
                                    size_t level, struct arena *arena, size_t *ret_n);

#endif
