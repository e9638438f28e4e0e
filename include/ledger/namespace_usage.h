/*
 * namespace_usage: the GPUs that each namespace uses, and the quotas that cover it.
 *
 * GPUs are counted in cells. Each scope of the policy's quotas has one cell for all models (column
 * 0), one for each of policy.quota_models, and one for GPUs of unknown model. These cells, for all
 * users, are layer 0. Each of policy.quota_priorities has a layer of its own after it: only of pods
 * of at most this priority. Resource claims have no priority, so they are in layer 0 alone.
 */
#ifndef LEDGER_NAMESPACE_USAGE_H
#define LEDGER_NAMESPACE_USAGE_H

#include "ledger/cluster.h"

/* A pod as quotas count it. */
struct quota_pod {
    const struct pod_shape *shape;
    int64_t priority;
};
/* The pods that a sum counts for a limit with `borrow`. */
enum quota_count {
    QUOTA_GUARANTEED, /* above borrow.max_priority; also claims */
    QUOTA_BORROWED,
    QUOTA_ALL, /* whether or not the limit has it */
    N_QUOTA_COUNTS
};

size_t namespace_usage_n_cells(const struct policy *policy);
/* A cell within such an array, in layer 0. */
size_t namespace_usage_cell_index(const struct policy *policy, size_t scope, size_t column);
int64_t *namespace_usage_cell(const struct policy *policy, int64_t *cells, size_t scope,
                              size_t column);
int64_t *namespace_usage_unknown_cell(const struct policy *policy, int64_t *cells, size_t scope);
/* The sums over a quota's namespaces; quota: its index in the policy's list. */
int64_t *namespace_usage_quota_cells(const struct cluster *cluster, size_t quota);

/* Whether a pod of the priority is one of those. */
bool namespace_usage_counts(const struct quota_limit *limit, enum quota_count count,
                            int64_t priority);
/* The GPUs that the cells count for the limit. */
int64_t namespace_usage_of(const struct policy *policy, const int64_t *cells,
                           const struct quota_limit *limit, enum quota_count count);
/* The GPUs that the namespace itself uses; 0 in a fork. */
int64_t namespace_usage_in(const struct cluster *cluster, const char *namespace_,
                           const struct quota_limit *limit, enum quota_count count);

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

/* How quotas count a pod. */
struct quota_standing {
    const struct quota *quota;
    const struct quota_limit *limit; /* that counts it; NULL: none does */
    bool borrows;                    /* to its `borrow` */
};
/* Of several limits the first to which it borrows, else the first. node NULL: wherever it goes. */
struct quota_standing namespace_usage_standing(const struct cluster *cluster,
                                               const char *namespace_, struct quota_pod pod,
                                               const struct node *node);

/* Adds the use of n such pods on that node to these quotas of a fork. */
void namespace_usage_place(struct cluster *fork, const size_t *quotas, size_t n_quotas,
                           struct quota_pod pod, const struct node *node, int64_t n);

#endif
