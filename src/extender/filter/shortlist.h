/*
 * shortlist: limits how many fitting nodes filter returns. Private to extender.
 *
 * kube-scheduler scores every node it receives and asks prioritize about each, though it takes one
 * of thousands. If our first choice wins against any other scores, the best nodes suffice.
 */
#ifndef EXTENDER_FILTER_SHORTLIST_H
#define EXTENDER_FILTER_SHORTLIST_H

#include "decide/fit.h"
#include "extender/args.h"

struct shortlist;

/* Keeps at most n_most nodes. In the arena; use under the inventory's lock. NULL: all fitting nodes
 * are returned. That is so if n_most is 0 or not below the number of names, or if kube-scheduler
 * decides among the nodes. It is also so if the pod has a nominated node, which kube-scheduler must
 * find in the answer. */
struct shortlist *shortlist_begin(const struct cluster *cluster, const struct args *args,
                                  const struct fit_question *question, size_t n_most,
                                  struct arena *arena);
/* The node at index `name` fits. */
void shortlist_add(struct shortlist *list, const struct node *node, size_t name);
/* By index: true if the node fits but n_most better ones do too. nodes: same order as the names.
 * NULL: all fitting nodes are returned, because they are few or list is NULL. */
const bool *shortlist_left_out(struct shortlist *list, const struct node *const *nodes);

#endif
