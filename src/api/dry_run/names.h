/*
 * names: names in a workload that nothing in the cluster has, each with the nearest that exists.
 * Private to api.
 *
 * A name without a near one gives no warning: the verdicts of the nodes say what is missing, and
 * an autoscaler may still bring it. Nothing is said about kinds that were never listed.
 */
#ifndef API_DRY_RUN_NAMES_H
#define API_DRY_RUN_NAMES_H

#include "api/dry_run/placement_run.h"
#include "api/verdicts/candidates.h"

/* Appends warnings to dry_run->name_warnings: labels of nodeSelector and node affinity,
 * resources, models, the namespace, the priority class and the runtime class. The candidates must
 * be judged. */
void names_warn(struct dry_run *dry_run, const struct workload *workload,
                const struct pod_shape *shape, const struct candidates *candidates);

/* The existing object that was probably meant by the name of a missing one: the kind is
 * MISSING_NAMESPACE, MISSING_PRIORITY_CLASS or MISSING_RUNTIME_CLASS. NULL: none is near. */
const char *names_near_object(const struct dry_run *dry_run, enum missing_kind kind,
                              const char *asked);

#endif
