/* score_spread: most GPUs left over, of the resources that the pod asks for: small pods far from
 * each other. A pod without GPUs goes anywhere alike. */
#include "score_policy.h"

static double minus_gpus_left(const struct score *score, const struct node *node)
{
    return -score_gpus_left(score, node);
}

const struct score_policy SCORE_SPREAD = {.own = {{"minusGpusLeft", minus_gpus_left}}};
