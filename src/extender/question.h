/*
 * question: what filter, prioritize and preempt ask core about a pod. Private to extender.
 */
#ifndef EXTENDER_QUESTION_H
#define EXTENDER_QUESTION_H

#include "decide/fit.h"

/* In the arena; valid while the cluster does not change. */
struct fit_question question_of(const struct cluster *cluster, const struct pod_facts *pod,
                                struct arena *arena);

#endif
