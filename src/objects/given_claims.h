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

/* Appends the object, if it is of such a kind and has a name. All in the arena. -EINVAL: it is
 * unreadable, one of its name is there, or GIVEN_CLAIMS_MAX of its kind are. */
int given_claims_add(const json_t *object, const char *kind, struct arena *arena,
                     struct given_claims *given, struct err *err);
/* The same of a ResourceSlice or DeviceTaintRule. *ret_is_added: it is of such a kind. */
int given_devices_add(const json_t *object, const char *kind, const struct policy *policy,
                      struct arena *arena, struct given_devices *given, bool *ret_is_added,
                      struct err *err);

#endif
