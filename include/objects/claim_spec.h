/*
 * claim_spec: what a ResourceClaim asks for, as the allocator (dra/allocate.h) reads it. Source:
 * Kubernetes API resource.k8s.io/v1, ResourceClaimSpec; v1beta2; and v1beta1, where a request's
 * members are beside its name.
 */
#ifndef OBJECTS_CLAIM_SPEC_H
#define OBJECTS_CLAIM_SPEC_H

#include "base/arena.h"
#include "base/err.h"
#include "dra/allocate.h"
#include "types/facts.h"

#include <jansson.h>
#include <stdbool.h>

struct claim_spec {
    const struct allocate_request *requests;
    size_t n_requests;
    const struct allocate_constraint *constraints;
    size_t n_constraints;
    bool is_covered;        /* as classes->covers() says of each request's class */
    const char *not_judged; /* why it is not; NULL: each request says it of itself */
};

/* find() returns the class of that name; NULL: there is none. covers(): whether all devices are
 * known that a request of the class may match. driver: the one that the request's first selector
 * demands; "": not known. */
struct claim_classes {
    const struct allocate_class *(*find)(void *context, const char *name);
    bool (*covers)(void *context, const char *name, const char *driver);
    void *context;
};

/* Reads the spec of a claim; of a template, spec.spec. All in the arena, and linear in the JSON.
 * Members have the API server's defaults; those of a wrong type count as absent. What the API knows
 * and this does not makes a request not judged. */
struct claim_spec claim_spec_from_json(const json_t *spec, const struct claim_classes *classes,
                                       struct arena *arena);
/* JSON of the spec, as claim_facts.spec keeps it, in the arena. NULL: it is too long, or a snapshot
 * says that it was. */
const char *claim_spec_text(const json_t *spec, struct arena *arena);
/* The same as claim_spec_from_json() of such a text. */
struct claim_spec claim_spec_from_text(const char *text, const struct claim_classes *classes,
                                       struct arena *arena);
/* The same for the nodeSelector of an allocation; "" for none, in either direction. */
const char *claim_nodes_text(const json_t *selector, struct arena *arena);
/* -EINVAL, -ENOTSUP: as affinity.h; then the selector is not known. */
int claim_nodes_from_text(const char *text, struct arena *arena, struct node_selector *ret_nodes,
                          struct err *err);
/* Compiles each selector of the list. An entry is NULL: it is not CEL. */
struct allocate_selectors claim_spec_selectors(const json_t *list, struct arena *arena);

#endif
