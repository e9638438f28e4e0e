/*
 * scheduler_plugins: which plugins a profile of kube-scheduler runs.
 *
 * Sources, all of 1.36: mergePlugins() in Kubernetes' pkg/scheduler/apis/config/v1, NewFramework()
 * in pkg/scheduler/framework/runtime, validateCommonQueueSort() and validatePluginConfig() in
 * pkg/scheduler/apis/config/validation.
 */
#ifndef DOCTOR_SCHEDULER_PLUGINS_H
#define DOCTOR_SCHEDULER_PLUGINS_H

#include "scheduler_report.h"

#include <stdint.h>

/* A fail for what keeps kube-scheduler from starting, a warn for plugins that 1.36 does not have.
 * at: the profile. first: the first profile of the file. */
void scheduler_plugins_check(const struct scheduler_checks *checks, const struct yaml_value *at,
                             const json_t *first);
/* The sum of the weights of all plugins of the profile that score. One of multiPoint that is
 * unknown may not score: then it is more. */
int64_t scheduler_plugins_weight(const json_t *profile);

#endif
