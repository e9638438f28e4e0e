/*
 * quota_json: quotas and their use. Private to api.
 */
#ifndef API_CLUSTER_QUOTA_JSON_H
#define API_CLUSTER_QUOTA_JSON_H

#include "decide/quota.h"

#include <jansson.h>

struct inventory;

/* {quota, resource, model, limit, used} for each limit of the policy. */
json_t *quota_json_all(const struct cluster *fork);
/* {quota, resource, model, limit, used, wouldUse} for each limit that the asking pods count
 * against, from the present state of the fork. */
json_t *quota_json_of_workload(const struct cluster *fork, const char *namespace_,
                               const struct quota_view *asked, struct arena *arena);
/* Sets wouldUse to the present use on the fork. */
void quota_json_update(json_t *list, const struct cluster *fork, const char *namespace_,
                       const struct quota_view *asked, struct arena *arena);
/* Adds `users` to each entry of a verdict's `quotas`: the namespaces that use most of the limit. */
void quota_json_add_users(struct inventory *inventory, json_t *quotas);

#endif
