/*
 * device_class: reads the extended resource of a DeviceClass. Source: Kubernetes API
 * resource.k8s.io/v1, DeviceClass.
 */
#ifndef OBJECTS_DEVICE_CLASS_H
#define OBJECTS_DEVICE_CLASS_H

#include "base/arena.h"
#include "base/err.h"

#include <jansson.h>

/* spec.extendedResourceName, in the arena; "" if absent. -EINVAL: not a string. */
int device_class_from_json(const json_t *object, struct arena *arena, const char **ret_resource,
                           struct err *err);

#endif
