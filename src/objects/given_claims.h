/*
 * given_claims: the resource claims, their templates, slices and taint rules in a manifest, which
 * may not be in the cluster yet. Private to objects.
 */
#ifndef OBJECTS_GIVEN_CLAIMS_H
#define OBJECTS_GIVEN_CLAIMS_H

#include "base/arena.h"
#include "base/err.h"
#include "ledger/asked_claims.h"
#include "types/device_facts.h"
#include "types/policy.h"

#include <jansson.h>

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
