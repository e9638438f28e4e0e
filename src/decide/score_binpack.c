/* score_binpack: GPUs that stay free on the node, of the resources that the pod asks for; for a pod
 * without GPUs, of all GPU resources, so that among GPU nodes those without room come first. Fewest
 * first. */
#include "score_policy.h"

static double gpus_left(const struct score *score, const struct node *node)
{
    return score->shape->n_gpu_needs == 0 ? (double)node_free_gpus(node)
                                          : score_loss_gpus_left(score, node);
}

const struct score_policy SCORE_BINPACK = {.own = {{"gpusLeft", gpus_left}}};
