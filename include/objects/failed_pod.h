/*
 * failed_pod: reads why a kubelet rejected a pod. Source: pkg/kubelet (lifecycle/predicate.go,
 * cm/admission/errors.go) of Kubernetes: PROTOCOL 8.7.
 */
#ifndef OBJECTS_FAILED_POD_H
#define OBJECTS_FAILED_POD_H

#include "base/arena.h"
#include "base/err.h"
#include "types/facts.h"
#include "types/policy.h"

#include <jansson.h>

/* A Pod in phase Failed. Members of a wrong type count as absent. All that the facts point to is in
 * the arena. -EINVAL: it has no usable UID. */
int failed_pod_from_json(const json_t *object, const struct policy *policy, struct arena *arena,
                         struct failed_pod_facts *ret_facts, struct err *err);

#endif
