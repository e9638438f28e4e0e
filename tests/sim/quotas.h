/*
 * quotas: one quota that lends, with other limits in each replica and after each reload. Pods of
 * priority 0 borrow.
 */
#ifndef SIM_QUOTAS_H
#define SIM_QUOTAS_H

#include "scheduler.h"
#include "service.h"

/* Random limits, at most as large as the cluster. */
void quotas_add(struct policy *policy, struct world *world);
/* The service has posted this binding. All that it has posted must be within its limits. */
void quotas_posted(struct service *service, const char *body);
/* Whether the leader's limits leave room for the pod, by the pods that the API server has. */
bool quotas_allow(struct world *world, const struct sight *sight);

#endif
