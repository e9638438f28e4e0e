/*
 * shortlist: which of the nodes that fit filter hands on. Private to extender.
 *
 * kube-scheduler scores every node that it is handed, and asks prioritize about each; of thousands
 * that fit one is taken. Where our first choice wins whatever kube-scheduler's own scores are, it
 * is enough to hand on the best.
 */
#ifndef EXTENDER_FILTER_SHORTLIST_H
#define EXTENDER_FILTER_SHORTLIST_H

#include "decide/fit.h"
#include "extender/args.h"

struct shortlist;

/* Of n_most nodes. NULL: all that fit are handed on (n_most is 0, or no less than were asked about;
 * the pod has a nominated node, which kube-scheduler must find in the answer; or kube-scheduler
 * decides among them). In the arena. All of this is under the inventory's lock. */
struct shortlist *shortlist_begin(const struct cluster *cluster, const struct args *args,
                                  const struct fit_question *question, size_t n_most,
                                  struct arena *arena);
/* The node of that name fits. */
void shortlist_add(struct shortlist *list, const struct node *node, size_t name);
/* By name: true where the node fits, but n_most others that fit are better; nodes are those of the
 * names. NULL: all that fit are handed on, as they are no more than n_most, or list is NULL. */
const bool *shortlist_left_out(struct shortlist *list, const struct node *const *nodes);

#endif
