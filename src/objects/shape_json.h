/*
 * shape_json: facts of a pod back to JSON.
 */
#ifndef OBJECTS_SHAPE_JSON_H
#define OBJECTS_SHAPE_JSON_H

#include "types/facts.h"
#include "types/policy.h"

#include <jansson.h>

/* ---- shape json ---- */

/* Writes a shape as the Pod members that it is read from. */

/* {"matchExpressions": [...], "matchFields": [...]}, empty lists omitted. */
json_t *term_to_json(const struct selector_term *term);
/* Sets nodeSelector, affinity, tolerations and containers. */
void shape_to_spec(const struct shape_facts *shape, const struct policy *policy, json_t *spec);
/* metadata.annotations; NULL: none. */
json_t *shape_to_annotations(const struct shape_facts *shape, const struct policy *policy);

/* ---- peer terms json ---- */

/* Writes a pod's terms about other pods as the spec that they are read from.
 * Private to objects. */

/* Adds to affinity, and sets topologySpreadConstraints. */
void peer_terms_to_spec(const struct peer_facts *facts, json_t *spec);

#endif
