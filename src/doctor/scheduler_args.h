/*
 * scheduler_args: what kube-scheduler validates of members of plugins' args together.
 *
 * Source: validation_pluginargs.go in Kubernetes' pkg/scheduler/apis/config/validation, 1.36.
 */
#ifndef DOCTOR_SCHEDULER_ARGS_H
#define DOCTOR_SCHEDULER_ARGS_H

#include <jansson.h>

/* NULL, or the fault of an object of this struct (scheduler_fields.h): a literal. */
const char *scheduler_args_fault(const char *of, const json_t *object);

#endif
