/*
 * quota_json: quotas, and what of them is used. Private to api.
 */
#ifndef API_CLUSTER_QUOTA_JSON_H
#define API_CLUSTER_QUOTA_JSON_H

#include "core/quota.h"

#include <jansson.h>

/* {resource, model, limit, used} each; "" is all resources, all models. */
json_t *quota_limits_json(const struct cluster *cluster, const struct quota *quota);
/* The same, with unknown (quota_unknown()) and nodes: those that count for the limit's model, by
 * quota_count_nodes(). */
json_t *quota_limits_json_of_nodes(const struct cluster *cluster, const struct quota *quota,
                                   const size_t n_nodes[QUOTA_MODELS_MAX]);
/* {quota, resource, model, limit, used, wouldUse} of the limits that pods of the shape count
 * against, as it is on the fork now. */
json_t *quota_of_workload(const struct cluster *fork, const char *namespace_,
                          const struct pod_shape *shape, struct arena *arena);
/* Their wouldUse is what is used on the fork by now. */
void quota_of_workload_after(json_t *list, const struct cluster *fork, const char *namespace_,
                             const struct pod_shape *shape, struct arena *arena);

#endif
