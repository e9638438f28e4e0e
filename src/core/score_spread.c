/* score_spread: most GPUs left over, of the resources that the pod asks for: small pods far from
 * each other. A pod without GPUs goes anywhere alike. */
#include "score_policy.h"

static double own(const struct score *score, const struct node *node)
{
    double left = 0;
    for (size_t i = 0; i < score->shape->n_gpu_needs; i++) {
        const struct need *need = &score->shape->needs[i];
        const struct node_resource *has = node_find_resource(node, need->resource);
        left += has ? (double)node_resource_free(has) - (double)need->amount : 0;
    }
    return -left;
}

const struct score_policy SCORE_SPREAD = {own, NULL, NULL};
