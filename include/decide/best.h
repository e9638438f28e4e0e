/*
 * best: the n best of many nodes, in the order of decide/rank.h, without sorting all of them.
 */
#ifndef DECIDE_BEST_H
#define DECIDE_BEST_H

#include "decide/rank.h"

struct best;

/* Keeps the n_most best, n_most > 0. The cluster must be settled, and must not change. All is in
 * the arena. */
struct best *best_begin(const struct cluster *cluster, const struct fit_question *question,
                        size_t n_most, struct arena *arena);
/* position: returned in struct ranked_node; ascending from call to call. A node that is added twice
 * counts once. */
void best_add(struct best *best, const struct node *node, size_t position);
/* fit_judge_next(), and best_add() if the node fits. NULL: no such node. */
enum reason best_judge(struct best *best, struct fit_round *round, const struct node *node,
                       size_t position);
/* The kept nodes, best first, without scores. A node that was added twice has its first
 * position. */
const struct ranked_node *const *best_end(const struct best *best, size_t *ret_n);
/* Whether a kept node was added twice. If not, each node of best_end() was added once. */
bool best_saw_twins(const struct best *best);

#endif
