/*
 * namespace_usage: how many GPUs each namespace uses, by what quotas speak of, and which quotas
 * cover it.
 *
 * GPUs are counted in cells: each scope of the policy's quotas has a cell for all models (column
 * 0), one for each of policy.quota_models, and one for GPUs on nodes whose model is unknown.
 */
#ifndef LEDGER_NAMESPACE_USAGE_H
#define LEDGER_NAMESPACE_USAGE_H

#include "ledger/cluster.h"

size_t namespace_usage_n_cells(const struct policy *policy);
/* Of such cells. */
int64_t *namespace_usage_cell(const struct policy *policy, int64_t *cells, size_t scope,
                              size_t column);
int64_t *namespace_usage_unknown_cell(const struct policy *policy, int64_t *cells, size_t scope);
/* The sums of a quota's namespaces; the quota by its place in the policy's list. */
int64_t *namespace_usage_quota_cells(const struct cluster *cluster, size_t quota);

/* How many GPUs of the scope a pod of the shape uses. */
int64_t namespace_usage_need(const struct pod_shape *shape, size_t scope);
/* The same of needs; those of other resources count for no scope. */
int64_t namespace_usage_need_of(const struct need *needs, size_t n_needs, size_t scope);
/* The models that the node's GPUs are counted under: policy_quota_models(). */
uint64_t namespace_usage_models(const struct node *node);

/* Which quotas cover a namespace that is there or uses GPUs; NULL: it is neither. */
const size_t *namespace_usage_covering(const struct cluster *cluster, const char *namespace_,
                                       size_t *ret_n);
/* Which quotas cover the namespace: their places in policy.quotas, ascending; how many is returned.
 */
size_t namespace_usage_find_quotas(const struct cluster *cluster, const char *namespace_,
                                   struct arena *arena, const size_t **ret_quotas);

/* n pods of the shape more use GPUs of these quotas on a node of a fork. */
void namespace_usage_place(struct cluster *fork, const size_t *quotas, size_t n_quotas,
                           const struct pod_shape *shape, const struct node *node, int64_t n);

#endif
