/*
 * kinds: reads the small kinds into facts: PodDisruptionBudget, Namespace, PodGroup.
 */
#ifndef OBJECTS_KINDS_H
#define OBJECTS_KINDS_H

#include "base/arena.h"
#include "base/err.h"
#include "types/facts.h"

#include <jansson.h>

/* ---- budget ---- */
/* Reads a PodDisruptionBudget into facts. Source: Kubernetes API policy/v1. */

/* All that the facts point to is in the arena. -EINVAL: a member of the wrong type; the message
 * names the path. */
int budget_from_json(const json_t *object, struct arena *arena, struct budget_facts *ret_facts,
                     struct err *err);

/* ---- namespace ---- */
/* Reads a Kubernetes Namespace into facts. Source: Kubernetes API v1, Namespace. */

/* All that the facts point to is in the arena. -EINVAL: a member of the wrong type; the message
 * names the path. */
int namespace_from_json(const json_t *object, struct arena *arena,
                        struct namespace_facts *ret_facts, struct err *err);

/* ---- pod group ---- */
/* Reads a PodGroup into facts. Source: Kubernetes API scheduling.k8s.io/v1alpha2 (1.36) and its
 * later versions (KEP-4671). */

/* All that the facts point to is in the arena. -EINVAL: a member of the wrong type; the message
 * names the path. */
int pod_group_from_json(const json_t *object, struct arena *arena,
                        struct pod_group_facts *ret_facts, struct err *err);

#endif
