/*
 * pod_claims: the resource claims that a pod asks for by spec.resourceClaims. Private to objects.
 * Source: Kubernetes API v1, PodResourceClaim and PodResourceClaimStatus.
 */
#ifndef OBJECTS_POD_CLAIMS_H
#define OBJECTS_POD_CLAIMS_H

#include "base/arena.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* As in pod_facts, with made_claims. Only the pod's status names a claim that is made from a
 * template; a status without a name means that the pod needs none. Of more than POD_CLAIMS_MAX
 * entries the rest is left out. Ignores members of a wrong type. */
const char *pod_claims_read(const json_t *spec, const json_t *status, struct arena *arena,
                            uint32_t *ret_made);
/* Whether it left out some. */
bool pod_claims_are_many(const json_t *spec);

/* Why the API server rejects the entries: two have one name. NULL: it does not. In the arena. */
const char *pod_claims_fault(const json_t *spec, struct arena *arena);

#endif
