/* score_spread: most free GPUs left on the node, of the resources that the pod requests. This
 * spreads small pods. For a pod without GPUs all GPU nodes are equal. */
#include "score_policy.h"

static double minus_gpus_left(const struct score *score, const struct node *node)
{
    return -score_loss_gpus_left(score, node);
}

const struct score_policy SCORE_SPREAD = {.own = {{"minusGpusLeft", minus_gpus_left}}};
