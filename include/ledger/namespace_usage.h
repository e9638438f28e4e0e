/*
 * namespace_usage: the GPUs that each namespace uses, and the quotas that cover it.
 *
 * GPUs are counted in cells. Each scope of the policy's quotas has one cell for all models (column
 * 0), one for each of policy.quota_models, and one for GPUs of unknown model.
 */
#ifndef LEDGER_NAMESPACE_USAGE_H
#define LEDGER_NAMESPACE_USAGE_H

#include "ledger/cluster.h"

size_t namespace_usage_n_cells(const struct policy *policy);
/* A cell within such an array. */
size_t namespace_usage_cell_index(const struct policy *policy, size_t scope, size_t column);
int64_t *namespace_usage_cell(const struct policy *policy, int64_t *cells, size_t scope,
                              size_t column);
int64_t *namespace_usage_unknown_cell(const struct policy *policy, int64_t *cells, size_t scope);
/* The sums over a quota's namespaces; quota: its index in the policy's list. */
int64_t *namespace_usage_quota_cells(const struct cluster *cluster, size_t quota);

/* The GPUs that the namespace itself uses in that cell; 0 in a fork. */
int64_t namespace_usage_in(const struct cluster *cluster, const char *namespace_, size_t scope,
                           size_t column);

/* The GPUs of the scope that a pod of the shape uses. */
int64_t namespace_usage_need(const struct pod_shape *shape, size_t scope);
/* The amount that the limit counts of such needs on the node. */
int64_t namespace_usage_need_on(const struct node *node, const struct need *needs, size_t n_needs,
                                const struct quota_limit *limit);
/* policy_quota_models() of all GPUs that a pod of the shape gets on the node. */
uint64_t namespace_usage_models(const struct node *node, const struct pod_shape *shape);
/* Whether GPUs of these models count in the column. */
bool namespace_usage_has_column(const struct policy *policy, uint64_t models, size_t column);

/* The quotas that cover a namespace that exists or uses GPUs; NULL for any other. */
const size_t *namespace_usage_covering(const struct cluster *cluster, const char *namespace_,
                                       size_t *ret_n);
/* The quotas that cover any namespace: indexes in policy.quotas, ascending. Returns their number;
 * the array is the ledger's or in the arena. */
size_t namespace_usage_find_quotas(const struct cluster *cluster, const char *namespace_,
                                   struct arena *arena, const size_t **ret_quotas);

/* A namespace that uses GPUs or has used some. It may not exist. */
struct namespace_user {
    const char *name;
    const size_t *quotas; /* as namespace_usage_covering() */
    size_t n_quotas;
    const int64_t *cells;
};
/* Iterates: NULL to NULL, with the name of the one before. None without quotas, and in a fork. */
bool namespace_usage_next_user(const struct cluster *cluster, const char *before,
                               struct namespace_user *ret_user);

/* Adds the use of n pods of the shape on that node to these quotas of a fork. */
void namespace_usage_place(struct cluster *fork, const size_t *quotas, size_t n_quotas,
                           const struct pod_shape *shape, const struct node *node, int64_t n);

#endif
