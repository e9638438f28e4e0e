/*
 * managed: whether kube-scheduler calls this extender about a pod.
 */
#ifndef OBJECTS_MANAGED_H
#define OBJECTS_MANAGED_H

#include "types/policy.h"

#include <jansson.h>
#include <stdbool.h>

/* Whether a container or init container names one of the policy's GPU resources in its requests or
 * limits, whatever the amount; always true with all_pods. Assumes that managedResources lists the
 * policy's gpuResources. Source: HTTPExtender.IsInterested() in kube-scheduler. */
bool managed_by_policy(const json_t *spec, const struct policy *policy);

#endif
