/*
 * affinity: a pod's selection of nodes, and its terms.
 */
#ifndef OBJECTS_AFFINITY_H
#define OBJECTS_AFFINITY_H

#include "base/arena.h"
#include "base/err.h"
#include "types/facts.h"
#include "types/policy.h"

#include <jansson.h>

/* ---- requirement ---- */

/* Decodes a term of a node selector (core/v1 NodeSelectorTerm) and its requirements.
 *
 * Errors as in affinity.h. */

/* Combines the term's matchExpressions and matchFields. models_of: see affinity.h. */
int requirement_read_term(const json_t *term, const struct policy *models_of, struct arena *arena,
                          struct selector_term *ret_term, struct err *err);

/* "NotIn" */
const char *requirement_operator_name(enum selector_operator op);

/* ---- affinity ---- */

/* Decodes a pod's selection of nodes: spec.nodeSelector, and node affinity of the spec or
 * the legacy annotation.
 *
 * -EINVAL: a member has the wrong type. -ENOTSUP: Kubernetes' validation rejects the object
 * (unknown operator, In without values); the pod is rejected, but its demand counts. Messages begin
 * with the path below the given object. */

/* One In requirement for each key of spec.nodeSelector. -EINVAL. */
int affinity_read_node_selector(const json_t *spec, struct arena *arena,
                                struct selector_term *ret_term, struct err *err);

struct node_affinity {
    struct node_selector required;
    const struct preferred_term *preferred;
    size_t n_preferred;
};

/* Decodes the member nodeAffinity of an affinity object; nothing if absent. With a policy, In and
 * NotIn over its model labels compare models (the legacy annotation); NULL: text only. */
int affinity_read_node_affinity(const json_t *affinity, const struct policy *models_of,
                                struct arena *arena, struct node_affinity *ret_affinity,
                                struct err *err);

/* The selector without requirements on node fields, as if those were met. */
struct node_selector affinity_without_fields(const struct node_selector *selector,
                                             struct arena *arena);

#endif
