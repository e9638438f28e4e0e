/*
 * cluster_checks: nodes, quotas and running pods against the policy.
 */
#ifndef DOCTOR_CLUSTER_CHECKS_H
#define DOCTOR_CLUSTER_CHECKS_H

#include "doctor/findings.h"
#include "inventory/inventory.h"
#include "scheduler_file.h"

/* Nodes whose GPU model is unknown, and labels that name different models; resources of nodes that
 * managedResources does not list. file: NULL if it is not given. */
void node_checks_run(const struct cluster *cluster, const struct scheduler_file *file,
                     struct findings *findings);
/* Quotas that match nothing or are exceeded. */
void quota_checks_run(const struct cluster *cluster, struct findings *findings);
/* Running pods that would not be admitted to their nodes now, by reason. Room and quotas do not
 * count, as the pods have theirs. */
void pod_checks_run(const struct cluster *cluster, struct findings *findings);

/* All of them, and objects that were left out. */
void cluster_checks_run(struct inventory *inventory, const struct scheduler_file *file,
                        struct findings *findings);

#endif
