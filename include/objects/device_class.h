/*
 * device_class: reads the extended resource, the selectors and the driver of a DeviceClass. Source:
 * Kubernetes API resource.k8s.io/v1, DeviceClass.
 */
#ifndef OBJECTS_DEVICE_CLASS_H
#define OBJECTS_DEVICE_CLASS_H

#include "base/arena.h"
#include "base/err.h"
#include "types/selector_texts.h"

#include <jansson.h>

/* All that the facts point to is in the arena. -EINVAL: the name or spec.extendedResourceName is
 * not a string. */
int device_class_from_json(const json_t *object, struct arena *arena,
                           struct device_class_facts *ret_facts, struct err *err);
/* The driver that all devices of the class have, as cel_driver() of one of its selectors. Ignores
 * members of a wrong type. */
const char *device_class_driver(const json_t *object, struct arena *arena);
/* In the arena. */
struct selector_texts device_class_selectors(const json_t *object, struct arena *arena);

#endif
