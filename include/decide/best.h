/*
 * best: the best few of many nodes, in the order of decide/rank.h, without sorting all of them.
 */
#ifndef DECIDE_BEST_H
#define DECIDE_BEST_H

#include "decide/rank.h"

struct best;

/* The n_most best are kept, n_most > 0. The cluster must be settled, and not change. All in the
 * arena. */
struct best *best_begin(const struct cluster *cluster, const struct fit_question *question,
                        size_t n_most, struct arena *arena);
/* The position is kept, as in a struct ranked_node. A node that is added twice counts once. */
void best_add(struct best *best, const struct node *node, size_t position);
/* Those that were kept, best first, without scores; of a node that was added twice, the first
 * position. */
const struct ranked_node *best_end(struct best *best, size_t *ret_n);
/* Whether a node was added twice while it was kept. If not, each node of best_end() was added
 * once. */
bool best_saw_twins(const struct best *best);

#endif
