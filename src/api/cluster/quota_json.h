/*
 * quota_json: quotas, and what of them is used. Private to api.
 */
#ifndef API_CLUSTER_QUOTA_JSON_H
#define API_CLUSTER_QUOTA_JSON_H

#include "decide/quota.h"

#include <jansson.h>

/* {quota, resource, model, limit, used, wouldUse} of the limits that pods of the shape count
 * against, as it is on the fork now. */
json_t *quota_json_of_workload(const struct cluster *fork, const char *namespace_,
                               const struct pod_shape *shape, struct arena *arena);
/* Their wouldUse is what is used on the fork by now. */
void quota_json_update(json_t *list, const struct cluster *fork, const char *namespace_,
                       const struct pod_shape *shape, struct arena *arena);

#endif
