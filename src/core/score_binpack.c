/* score_binpack: fewest GPUs left over. See include/core/score.h. */
#include "core/score.h"

static double left_over(const struct node *node, const struct need *need)
{
    const struct node_resource *has = node_find_resource(node, need->resource);
    return has ? (double)node_resource_free(has) - (double)need->amount : 0;
}

/* Summed as integers: rounding would make it depend on the order of the node's resources. */
static double all_free_gpus(const struct node *node)
{
    int64_t sum = 0;
    size_t n = 0;
    const struct node_resource *resources = node_resources(node, &n);
    for (size_t i = 0; i < n; i++) {
        int64_t free = node_resource_free(&resources[i]);
        if (!resources[i].resource->is_gpu || free <= 0)
            continue;
        if (__builtin_add_overflow(sum, free, &sum))
            return (double)INT64_MAX;
    }
    return (double)sum;
}

double score_binpack(const struct cluster *cluster, const struct node *node,
                     const struct pod_shape *shape)
{
    (void)cluster;
    if (shape->n_gpu_needs == 0)
        return all_free_gpus(node);
    double sum = 0;
    for (size_t i = 0; i < shape->n_gpu_needs; i++)
        sum += left_over(node, &shape->needs[i]);
    return sum;
}
