/* quota_use: how much of the quotas is used, and what there is. See include/decide/quota.h. */
#include "decide/quota.h"
#include "types/quantity.h"

#include <string.h>

static int64_t *cells_of(const struct cluster *cluster, const struct quota *quota)
{
    return namespace_usage_quota_cells(cluster, (size_t)(quota - cluster_policy(cluster)->quotas));
}

static int64_t used_of(const struct cluster *cluster, const struct quota *quota,
                       const struct quota_limit *limit, enum quota_count count)
{
    return namespace_usage_of(cluster_policy(cluster), cells_of(cluster, quota), limit, count);
}

int64_t quota_used(const struct cluster *cluster, const struct quota *quota,
                   const struct quota_limit *limit)
{
    return used_of(cluster, quota, limit, QUOTA_GUARANTEED);
}

int64_t quota_borrowed(const struct cluster *cluster, const struct quota *quota,
                       const struct quota_limit *limit)
{
    return used_of(cluster, quota, limit, QUOTA_BORROWED);
}

int64_t quota_need(const struct pod_shape *shape, const struct quota_limit *limit)
{
    return namespace_usage_need(shape, limit->scope);
}

int64_t quota_unknown(const struct cluster *cluster, const struct quota *quota,
                      const struct quota_limit *limit)
{
    return *namespace_usage_unknown_cell(cluster_policy(cluster), cells_of(cluster, quota),
                                         limit->scope);
}

static bool covers_resource(const struct quota_limit *limit, const struct quota_limit *other)
{
    return !limit->resource ||
           (other->resource && policy_resource_matches(limit->resource, other->resource));
}

static bool covers_model(const struct policy *policy, const struct quota_limit *limit,
                         const struct quota_limit *other)
{
    return limit->column == 0 ||
           (other->column > 0 && gpu_model_satisfies(&policy->quota_models[other->column - 1], 0,
                                                     &policy->quota_models[limit->column - 1]));
}

/* Makes the limit count only what the other counts, too. False: that is nothing. */
static bool narrow(const struct policy *policy, struct quota_limit *limit,
                   const struct quota_limit *other)
{
    if (!(covers_resource(limit, other) || covers_resource(other, limit)) ||
        !(covers_model(policy, limit, other) || covers_model(policy, other, limit)))
        return false;
    limit->scope = covers_resource(limit, other) ? other->scope : limit->scope;
    limit->column = covers_model(policy, limit, other) ? other->column : limit->column;
    return true;
}

int64_t quota_borrowed_of(const struct cluster *cluster, const struct quota_limit *limit,
                          const struct quota *borrower)
{
    int64_t most = 0;
    for (size_t i = 0; i < borrower->n_limits; i++) {
        struct quota_limit both = borrower->limits[i];
        const int64_t borrowed = narrow(cluster_policy(cluster), &both, limit)
                                     ? used_of(cluster, borrower, &both, QUOTA_BORROWED)
                                     : 0;
        most = borrowed > most ? borrowed : most;
    }
    return most;
}

static int64_t add(int64_t gpus, const struct node *node, const struct quota_limit *limit,
                   const struct resource *resource, int64_t amount)
{
    const struct need there = {resource, amount};
    return amount > 0 ? amount_add(gpus, namespace_usage_need_on(node, &there, 1, limit)) : gpus;
}

/* Of devices of several models a limit of a model counts none: which are used is open. */
static int64_t gpus_on(const struct node *node, const struct quota_limit *limit, bool only_free)
{
    size_t n = 0;
    int64_t gpus = 0;
    const struct node_resource *resources = node_resources(node, &n);
    for (size_t i = 0; i < n; i++) {
        const int64_t free = node_resource_free(&resources[i]);
        if (resources[i].resource->is_gpu)
            gpus = add(gpus, node, limit, resources[i].resource,
                       only_free ? free : resources[i].allocatable);
    }
    const struct node_device_group *groups = node_device_groups(node, &n);
    for (size_t i = 0; i < n; i++) {
        if (groups[i].resource && !groups[i].is_shadowed)
            gpus = add(gpus, node, limit, groups[i].resource,
                       only_free ? groups[i].free : groups[i].total);
    }
    return gpus;
}

int64_t quota_gpus_there(const struct cluster *cluster, const struct quota_limit *limit,
                         bool only_free)
{
    int64_t gpus = 0;
    for (const struct node *node = NULL; (node = cluster_next_node(cluster, node));)
        gpus = amount_add(gpus, gpus_on(node, limit, only_free));
    return gpus;
}

void quota_count_nodes(const struct cluster *cluster, size_t ret_counts[QUOTA_MODELS_MAX])
{
    memset(ret_counts, 0, QUOTA_MODELS_MAX * sizeof *ret_counts);
    for (const struct node *node = cluster_next_node(cluster, NULL); node;
         node = cluster_next_node(cluster, node)) {
        uint64_t models = 0;
        for (const struct gpu_kind *kind = NULL;
             (kind = node_traits_next_kind(node_traits(node), kind));)
            models |= kind->quota_models;
        for (size_t i = 0; i < cluster_policy(cluster)->n_quota_models; i++)
            ret_counts[i] += models >> i & 1;
    }
}
