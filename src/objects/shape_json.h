/*
 * shape_json: writes a shape as the Pod members that it is read from. Private to objects.
 */
#ifndef OBJECTS_SHAPE_JSON_H
#define OBJECTS_SHAPE_JSON_H

#include "types/facts.h"
#include "types/policy.h"

#include <jansson.h>

/* {"matchExpressions": [...], "matchFields": [...]}, empty lists omitted. */
json_t *term_to_json(const struct selector_term *term);
/* Sets nodeSelector, affinity, tolerations and containers. */
void shape_to_spec(const struct shape_facts *shape, const struct policy *policy, json_t *spec);
/* metadata.annotations; NULL: none. */
json_t *shape_to_annotations(const struct shape_facts *shape, const struct policy *policy);

#endif
