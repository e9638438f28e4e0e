/* score_binpack: GPUs that stay free on the node, of the resources that the pod asks for; for a pod
 * without GPUs, of all GPU resources, so that such pods stay off GPU nodes with room. Fewest first.
 */
#include "score_policy.h"

static double left_over(const struct node *node, const struct need *need)
{
    const struct node_resource *has = node_find_resource(node, need->resource);
    return has ? (double)node_resource_free(has) - (double)need->amount : 0;
}

static double own(const struct score *score, const struct node *node)
{
    const struct pod_shape *shape = score->shape;
    if (shape->n_gpu_needs == 0)
        return (double)node_free_gpus(node);
    double sum = 0;
    for (size_t i = 0; i < shape->n_gpu_needs; i++)
        sum += left_over(node, &shape->needs[i]);
    return sum;
}

const struct score_policy SCORE_BINPACK = {own, NULL, NULL};
