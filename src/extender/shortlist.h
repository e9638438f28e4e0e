/*
 * shortlist: which of the nodes that fit filter hands on. Private to extender.
 *
 * kube-scheduler scores every node that it is handed, and asks prioritize about each; of thousands
 * that fit one is taken. Where our first choice wins whatever kube-scheduler's own scores are, it
 * is enough to hand on the best.
 */
#ifndef EXTENDER_SHORTLIST_H
#define EXTENDER_SHORTLIST_H

#include "args.h"
#include "core/fit.h"

/* What was found of each of the names that were asked about, in their order. */
struct judged {
    const struct node **nodes; /* NULL: unknown. Under the inventory's lock only */
    enum reason *verdicts;
};

/* By name: true where the node fits, but n_most others that fit are better. NULL: all that fit are
 * handed on (they are no more than n_most, n_most is 0, the pod has a nominated node, which
 * kube-scheduler must find in the answer, or kube-scheduler decides among them). In the arena.
 * Under the inventory's lock. */
const bool *shortlist_left_out(const struct cluster *cluster, const struct args *args,
                               const struct fit_question *question, const struct judged *judged,
                               size_t n_most, struct arena *arena);

#endif
