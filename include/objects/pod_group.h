/*
 * pod_group: reads a PodGroup into facts. Source: Kubernetes API scheduling.k8s.io/v1alpha2 (1.36)
 * and its later versions (KEP-4671).
 */
#ifndef OBJECTS_POD_GROUP_H
#define OBJECTS_POD_GROUP_H

#include "base/arena.h"
#include "base/err.h"
#include "types/facts.h"

#include <jansson.h>

/* All that the facts point to is in the arena. -EINVAL: a member of the wrong type; the message
 * names the path. */
int pod_group_from_json(const json_t *object, struct arena *arena,
                        struct pod_group_facts *ret_facts, struct err *err);

#endif
