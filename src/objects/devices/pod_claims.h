/*
 * pod_claims: the claims of a pod, and those that a manifest gives.
 */
#ifndef OBJECTS_DEVICES_POD_CLAIMS_H
#define OBJECTS_DEVICES_POD_CLAIMS_H

#include "base/arena.h"
#include "base/err.h"
#include "ledger/asked_claims.h"
#include "types/device_facts.h"
#include "types/policy.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- pod claims ---- */

/* The resource claims that a pod asks for by spec.resourceClaims.
 * Source: Kubernetes API v1, PodResourceClaim and PodResourceClaimStatus. */

/* As in pod_facts, with made_claims and templates. Only the pod's status names a claim that is made
 * from a template; a status without a name means that the pod needs none. Of more than
 * POD_CLAIMS_MAX entries the rest is left out. Ignores members of a wrong type. */
const char *pod_claims_read(const json_t *spec, const json_t *status, struct arena *arena,
                            uint32_t *ret_made, const char **ret_templates);
/* Whether it left out some. */
bool pod_claims_are_many(const json_t *spec);

/* Why the API server rejects the entries: two have one name. NULL: it does not. In the arena. */
const char *pod_claims_fault(const json_t *spec, struct arena *arena);

/* ---- given claims ---- */

/* The resource claims, their templates, slices and taint rules in a manifest, which
 * may not be in the cluster yet. */

struct given_object {
    const json_t *json;
    const char *kind;
    const char *refusal; /* why no API server takes it; NULL: one may */
};

/* Appends the object, if it is of such a kind and has a name. All in the arena. 1: it was added; 0:
 * it is of another kind or has no name. -EINVAL: it is unreadable, one of its name is there, or
 * GIVEN_CLAIMS_MAX of its kind are. */
int given_claims_add(const struct given_object *object, struct arena *arena,
                     struct given_claims *given, struct err *err);
/* The same of a ResourceSlice or DeviceTaintRule. */
int given_devices_add(const struct given_object *object, const struct policy *policy,
                      struct arena *arena, struct given_devices *given, struct err *err);

#endif
