/*
 * role: what this replica is among others.
 */
#ifndef API_ROLE_H
#define API_ROLE_H

#include "api/api.h"

/* NULL: it is the only one. */
static inline const char *api_role(const struct api *api)
{
    return api->role ? api->role(api->role_context) : NULL;
}

#endif
