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

static double fragments_added(const struct score *score, const struct node *node,
                              const struct market *market)
{
    const struct node_resource *gpus = node_find_resource(node, market->resource);
    if (!gpus || !gpus->supply)
        return 0;
    const struct room before = room_on(score, node, gpus);
    const struct room after = room_left(score, gpus, &before);
    double added = 0;
    double n_live = 0;
    for (size_t i = 0; i < market->n_classes; i++) {
        const struct market_class *class = &market->classes[i];
        added += (double)class->n_live *
                 (fragments(&after, class, gpus->supply) - fragments(&before, class, gpus->supply));
        n_live += (double)class->n_live;
    }
    return n_live > 0 ? added / n_live : 0;
}

static double own(const struct score *score, const struct node *node)
{
    double sum = 0;
    for (const struct market *market = cluster_next_market(score->cluster, NULL); market;
         market = cluster_next_market(score->cluster, market))
        sum += fragments_added(score, node, market);
    return sum;
}

const struct score_policy SCORE_FGD = {own, NULL, NULL};
