/*
 * near_miss: of the nodes that a pod does not fit, those that only one thing keeps it from.
 *
 * The question is asked again without that thing: where the answer is then yes, that was all. So it
 * cannot disagree with decide/fit.h.
 */
#ifndef DECIDE_NEAR_MISS_H
#define DECIDE_NEAR_MISS_H

#include "decide/fit.h"

/* One question, without each of the things that keep pods from nodes. */
struct near_miss;

/* In the arena; the question is borrowed. */
struct near_miss *near_miss_of(const struct fit_question *question, struct arena *arena);
/* Whether the pod, which that reason keeps from the node (fit_judge()), would fit there but for it.
 * Of room: whether it would with more of what is lacking. Of what cannot be changed (another
 * resource's node, an object that is broken) never. */
bool near_miss_is(const struct near_miss *near_miss, const struct node *node, enum reason reason);

#endif
