/*
 * question: what filter and prioritize ask core about a pod. Private to extender.
 */
#ifndef EXTENDER_QUESTION_H
#define EXTENDER_QUESTION_H

#include "args.h"
#include "core/fit.h"

/* In the arena; valid while the cluster does not change. */
struct fit_question question_of(const struct cluster *cluster, const struct args *args,
                                struct arena *arena);

#endif
