/* score_spread: most GPUs left over, of the resources that the pod asks for: small pods far from
 * each other. To a pod without GPUs all GPU nodes are alike. */
#include "score_policy.h"

static double minus_gpus_left(const struct score *score, const struct node *node)
{
    return -score_loss_gpus_left(score, node);
}

const struct score_policy SCORE_SPREAD = {.own = {{"minusGpusLeft", minus_gpus_left}}};
