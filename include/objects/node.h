/*
 * node: reads a Kubernetes Node into facts. Source: Kubernetes API v1, Node.
 */
#ifndef OBJECTS_NODE_H
#define OBJECTS_NODE_H

#include "base/arena.h"
#include "base/err.h"
#include "types/facts.h"
#include "types/policy.h"

#include <jansson.h>

/* An annotation of nodes: each new value ends the quarantine and the shape traps of the node. */
#define NODE_QUARANTINE_LIFTED "gpu-extender.io/quarantine-lifted"

/* All that the facts point to is in the arena, nothing in the JSON. -EINVAL: a member of the wrong
 * type, an invalid quantity, GPUs that are not whole; the message names the path. */
int node_from_json(const json_t *object, const struct policy *policy, struct arena *arena,
                   struct node_facts *ret_facts, struct err *err);

#endif
