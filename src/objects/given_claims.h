/*
 * given_claims: the resource claims and their templates in a manifest, which may not be in the
 * cluster yet. Private to objects.
 */
#ifndef OBJECTS_GIVEN_CLAIMS_H
#define OBJECTS_GIVEN_CLAIMS_H

#include "base/arena.h"
#include "base/err.h"
#include "ledger/asked_claims.h"

#include <jansson.h>

/* Appends what the object will want, if it is of such a kind and has a name. All in the arena.
 * -EINVAL: it is unreadable, or GIVEN_CLAIMS_MAX of its kind are there. */
int given_claims_add(const json_t *object, const char *kind, struct arena *arena,
                     struct given_claims *given, struct err *err);

#endif
