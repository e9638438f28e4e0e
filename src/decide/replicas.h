/*
 * replicas: locations of the other replicas of the pod's owner, for one decision. Private to
 * decide.
 */
#ifndef DECIDE_REPLICAS_H
#define DECIDE_REPLICAS_H

#include "decide/score.h"

struct replicas;

/* NULL if the pod has no owner with replicas, or the policy gives the term no weight. A reservation
 * of the pod itself does not count. */
struct replicas *replicas_begin(const struct cluster *cluster, const struct fit_question *question,
                                struct arena *arena);
struct replicas_near replicas_near(struct replicas *replicas, const struct node *node);
double replicas_cost(const struct replicas *replicas, const struct replicas_near *near);
/* Counts one more replica at this location. */
void replicas_place(struct replicas *replicas, struct replicas_near *near);

#endif
