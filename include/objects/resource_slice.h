/*
 * resource_slice: reads the GPUs of a ResourceSlice. Source: Kubernetes API resource.k8s.io/v1,
 * v1beta2 and v1beta1 (there a device's content is in its member `basic`).
 */
#ifndef OBJECTS_RESOURCE_SLICE_H
#define OBJECTS_RESOURCE_SLICE_H

#include "base/arena.h"
#include "base/err.h"
#include "types/device_facts.h"
#include "types/policy.h"

#include <jansson.h>

/* All in the arena. Devices are read if the policy names the driver. A device with a member that
 * must be understood and is not is not_judged. -EINVAL: not even its pool or the names of its
 * devices are readable, its counter sets are not, or it has too many devices. */
int resource_slice_from_json(const json_t *object, const struct policy *policy, struct arena *arena,
                             struct slice_facts *ret_facts, struct err *err);

#endif
