/*
 * score_fgd: fragmentation gradient descent for whole GPUs (Weng et al., "Beware of Fragmentation",
 * USENIX ATC 2023). Free GPUs of a node are fragments to a typical pod that cannot run there; a pod
 * goes where it adds fewest. For comparison: score_slot_price.c does better.
 */
#include "score_policy.h"

static double fragments(const struct room *room, const struct demand_class *class,
                        const struct model_pool *pool)
{
    return room_slots(room, class, pool) > 0 ? 0 : (double)room->gpus;
}

static double fragments_added(const struct demand_class *class, const struct room *before,
                              const struct room *after, const struct model_pool *pool)
{
    return fragments(after, class, pool) - fragments(before, class, pool);
}

static double all_fragments_added(const struct score *score, const struct node *node)
{
    return score_loss_typical(score, node, fragments_added);
}

const struct score_policy SCORE_FGD = {.own = {{"fragmentsAdded", all_fragments_added}}};
