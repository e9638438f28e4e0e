/*
 * device_class: a Kubernetes DeviceClass: which extended resource it maps. Source: Kubernetes API
 * resource.k8s.io/v1, DeviceClass.
 */
#ifndef OBJECTS_DEVICE_CLASS_H
#define OBJECTS_DEVICE_CLASS_H

#include "base/arena.h"
#include "base/err.h"

#include <jansson.h>

/* spec.extendedResourceName, in the arena; "" if there is none. -EINVAL: it is no text. */
int device_class_from_json(const json_t *object, struct arena *arena, const char **ret_resource,
                           struct err *err);

#endif
