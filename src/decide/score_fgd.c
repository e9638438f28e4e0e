/*
 * score_fgd: fragmentation gradient descent for whole GPUs (Weng et al., "Beware of Fragmentation",
 * USENIX ATC 2023): a node's free GPUs are fragments to the typical pod that cannot run there, and
 * a pod goes where it adds fewest of them. For comparison: score_slot_price.c does better.
 */
#include "score_policy.h"

static double fragments(const struct room *room, const struct market_class *class,
                        const struct supply *supply)
{
    return room_slots(room, class, supply) > 0 ? 0 : (double)room->gpus;
}

static double fragments_added(const struct market_class *class, const struct room *before,
                              const struct room *after, const struct supply *supply)
{
    return fragments(after, class, supply) - fragments(before, class, supply);
}

static double all_fragments_added(const struct score *score, const struct node *node)
{
    return score_typical_loss(score, node, fragments_added);
}

const struct score_policy SCORE_FGD = {.own = {{"fragmentsAdded", all_fragments_added}}};
