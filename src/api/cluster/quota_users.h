/*
 * quota_users: the namespaces that use most of each limit of a quota. Copied under the inventory's
 * lock. Private to api.
 */
#ifndef API_CLUSTER_QUOTA_USERS_H
#define API_CLUSTER_QUOTA_USERS_H

#include "inventory/inventory.h"

#include <jansson.h>

#define QUOTA_USERS_MAX 10 /* of a limit */

struct quota_users;

/* For the quotas of that policy; NULL if another one is in force by now. In the arena. */
struct quota_users *quota_users_copy(struct inventory *inventory, const struct policy *policy,
                                     struct arena *arena);
/* [{"namespace": "ml", "used": 8}], most first, of a limit of a quota: their indexes in the
 * policy. */
json_t *quota_users_json(const struct quota_users *users, size_t quota, size_t limit);

#endif
