/*
 * old_claims: objects of dynamic resource allocation in forms that the API server does not serve
 * any more, or that have no effect. Private to objects.
 */
#ifndef OBJECTS_OLD_CLAIMS_H
#define OBJECTS_OLD_CLAIMS_H

#include "warned.h"

/* Warns of what the API server says to the object, and of what the same means in v1. */
void old_claims_warn(const struct warned *object, const char *api_version);
/* Why no API server takes such an object, which then does not count; NULL: one may. */
const char *old_claims_refusal(const char *kind, const char *api_version);

#endif
