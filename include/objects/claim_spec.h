/*
 * claim_spec: what a ResourceClaim asks for, as the allocator (allocate/) reads it. Source:
 * Kubernetes API resource.k8s.io/v1, ResourceClaimSpec; v1beta2; and v1beta1, where a request's
 * members are beside its name.
 */
#ifndef OBJECTS_CLAIM_SPEC_H
#define OBJECTS_CLAIM_SPEC_H

#include "allocate/allocate.h"
#include "base/arena.h"

#include <jansson.h>

struct claim_spec {
    const struct allocate_request *requests;
    size_t n_requests;
    const struct allocate_constraint *constraints;
    size_t n_constraints;
};

/* find() returns the class of that name; NULL: there is none. */
struct claim_classes {
    const struct allocate_class *(*find)(void *context, const char *name);
    void *context;
};

/* Reads the spec of a claim; of a template, spec.spec. All in the arena, and linear in the JSON.
 * Members have the API server's defaults; those of a wrong type count as absent. What the API knows
 * and this does not makes a request not judged. */
struct claim_spec claim_spec_from_json(const json_t *spec, const struct claim_classes *classes,
                                       struct arena *arena);
/* Compiles each selector of the list. An entry is NULL: it is not CEL. */
struct allocate_selectors claim_spec_selectors(const json_t *list, struct arena *arena);

#endif
