/*
 * requirement: decodes a term of a node selector (core/v1 NodeSelectorTerm) and its requirements.
 *
 * Errors as in affinity.h.
 */
#ifndef OBJECTS_REQUIREMENT_H
#define OBJECTS_REQUIREMENT_H

#include "base/arena.h"
#include "base/err.h"
#include "types/facts.h"
#include "types/policy.h"

#include <jansson.h>

/* Combines the term's matchExpressions and matchFields. models_of: see affinity.h. */
int requirement_read_term(const json_t *term, const struct policy *models_of, struct arena *arena,
                          struct selector_term *ret_term, struct err *err);

/* "NotIn" */
const char *requirement_operator_name(enum selector_operator op);

#endif
