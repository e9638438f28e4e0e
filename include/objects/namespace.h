/*
 * namespace: reads a Kubernetes Namespace into facts. Source: Kubernetes API v1, Namespace.
 */
#ifndef OBJECTS_NAMESPACE_H
#define OBJECTS_NAMESPACE_H

#include "base/arena.h"
#include "base/err.h"
#include "types/facts.h"

#include <jansson.h>

/* All that the facts point to is in the arena. -EINVAL: a member of the wrong type; the message
 * names the path. */
int namespace_from_json(const json_t *object, struct arena *arena,
                        struct namespace_facts *ret_facts, struct err *err);

#endif
