/*
 * resource_claim: reads what a ResourceClaim wants, which devices it has, and which pods use it;
 * and what claims from a ResourceClaimTemplate will want. Source: Kubernetes API
 * resource.k8s.io/v1, v1beta2 and v1beta1 (there a request's members are beside its name, not in
 * `exactly`).
 */
#ifndef OBJECTS_RESOURCE_CLAIM_H
#define OBJECTS_RESOURCE_CLAIM_H

#include "base/arena.h"
#include "base/err.h"
#include "types/device_facts.h"

#include <jansson.h>

/* All in the arena. -EINVAL: a member of another type, a name that is too long, or more than
 * CLAIM_RESULTS_MAX requests or devices. */
int resource_claim_from_json(const json_t *object, struct arena *arena,
                             struct claim_facts *ret_facts, struct err *err);
/* The same for a ResourceClaimTemplate, of which spec.spec is read. */
int claim_template_from_json(const json_t *object, struct arena *arena,
                             struct claim_template_facts *ret_facts, struct err *err);

#endif
