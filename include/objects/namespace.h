/*
 * namespace: a Kubernetes Namespace, read into facts. Source: Kubernetes API v1, Namespace.
 */
#ifndef OBJECTS_NAMESPACE_H
#define OBJECTS_NAMESPACE_H

#include "base/arena.h"
#include "base/err.h"
#include "types/facts.h"

#include <jansson.h>

/* Everything the facts point to lives in the arena. -EINVAL: a member of the wrong type; the
 * message names the path. */
int namespace_from_json(const json_t *object, struct arena *arena,
                        struct namespace_facts *ret_facts, struct err *err);

#endif
