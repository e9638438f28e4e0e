/*
 * near_miss: nodes that a pod would fit but for one reason.
 *
 * Judges the question again without the cause of that reason, so it always agrees with
 * decide/fit.h.
 */
#ifndef DECIDE_NEAR_MISS_H
#define DECIDE_NEAR_MISS_H

#include "decide/fit.h"

/* One question, in a variant for each reason. */
struct near_miss;

/* In the arena; borrows the question. */
struct near_miss *near_miss_of(const struct fit_question *question, struct arena *arena);
/* Whether the pod, rejected for that reason (fit_judge()), would fit the node without it. For lack
 * of room: with more of the missing resource. Always false for causes that cannot be changed:
 * another spec.nodeName, an invalid object. */
bool near_miss_is(const struct near_miss *near_miss, const struct node *node, enum reason reason);

#endif
