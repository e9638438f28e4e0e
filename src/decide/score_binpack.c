/* score_binpack: fewest free GPUs left on the node, of the resources that the pod requests. A pod
 * without GPUs counts all GPU resources, so full GPU nodes come first. */
#include "score_policy.h"

static double gpus_left(const struct score *score, const struct node *node)
{
    return score->shape->n_gpu_needs == 0 ? (double)node_free_gpus(node)
                                          : score_loss_gpus_left(score, node);
}

const struct score_policy SCORE_BINPACK = {.own = {{"gpusLeft", gpus_left}}};
