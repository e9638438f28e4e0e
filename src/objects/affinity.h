/*
 * affinity: which nodes a pod selects: spec.nodeSelector, and node affinity, of the spec or of the
 * legacy annotation.
 *
 * Two kinds of fault: -EINVAL is a member of the wrong type; -ENOTSUP is what Kubernetes' own
 * validation refuses (an operator that is none, In without values). The pod is then refused, but
 * its demand is known. Messages begin with the path below the object that was handed in.
 */
#ifndef OBJECTS_AFFINITY_H
#define OBJECTS_AFFINITY_H

#include "base/arena.h"
#include "base/err.h"
#include "types/facts.h"
#include "types/policy.h"

#include <jansson.h>

/* One In requirement for each key of spec.nodeSelector. -EINVAL. */
int affinity_read_node_selector(const json_t *spec, struct arena *arena,
                                struct selector_term *ret_term, struct err *err);

struct node_affinity {
    struct node_selector required;
    const struct preferred_term *preferred;
    size_t n_preferred;
};

/* The member nodeAffinity of an affinity object; nothing where it is missing. With a policy, In and
 * NotIn over its model labels compare models (the legacy annotation); NULL: text only. */
int affinity_read_node_affinity(const json_t *affinity, const struct policy *models_of,
                                struct arena *arena, struct node_affinity *ret_affinity,
                                struct err *err);

/* The selector without what it asks of the node's fields, as if that held. */
struct node_selector affinity_without_fields(const struct node_selector *selector,
                                             struct arena *arena);

#endif
