/*
 * budget: reads a PodDisruptionBudget into facts. Source: Kubernetes API policy/v1.
 */
#ifndef OBJECTS_BUDGET_H
#define OBJECTS_BUDGET_H

#include "base/arena.h"
#include "base/err.h"
#include "types/facts.h"

#include <jansson.h>

/* All that the facts point to is in the arena. -EINVAL: a member of the wrong type; the message
 * names the path. */
int budget_from_json(const json_t *object, struct arena *arena, struct budget_facts *ret_facts,
                     struct err *err);

#endif
