/* alike: see alike.h. */
#include "alike.h"
#include "ledger/room.h"

#define N_ALIKE ((size_t)256)
/* The kinds of devices that are judged (inventory/claim_nodes.c), with a few of rooms each. */
#define N_ALIKE_BY_TAKES ((size_t)1024)

struct alikes alikes_begin(const struct score *score, struct arena *arena)
{
    struct alikes alikes = {.score = score};
    const bool by_takes = rank_needs_takes_only(score);
    if (!by_takes && !rank_needs_hot_only(score))
        return alikes;
    alikes.wanted = by_takes ? NULL : score_shape(score)->needs[0].resource;
    alikes.n = by_takes ? N_ALIKE_BY_TAKES : N_ALIKE;
    alikes.entries = ARENA_ARRAY_UNSET(arena, struct alike, alikes.n);
    for (size_t i = 0; i < alikes.n; i++)
        alikes.entries[i].ranked.node = NULL;
    return alikes;
}

static size_t hash_of(const struct node_hot *hot, const struct claim_takes *takes)
{
    const struct room room = {hot->free_gpus, hot->milli_cores, hot->memory_bytes};
    const uint64_t kind =
        room_mix((uint64_t)(uintptr_t)hot->pool, (uint64_t)(uintptr_t)hot->model_word);
    return room_hash(&room, room_mix(kind, (uint64_t)(uintptr_t)takes));
}

static bool is_cached(const struct alikes *alikes, const struct ranked_node *ranked)
{
    const struct node_hot *hot = node_hot(ranked->node);
    if (!alikes->entries || hot->has_soft_taints)
        return false;
    if (!alikes->wanted)
        return ranked->takes && !hot->is_mixed;
    return hot->gpus == alikes->wanted && !hot->has_devices;
}

struct alike *alikes_find(const struct alikes *alikes, const struct ranked_node *ranked)
{
    const struct node_hot *hot = node_hot(ranked->node);
    if (!is_cached(alikes, ranked))
        return NULL;
    struct alike *alike = &alikes->entries[hash_of(hot, ranked->takes) & (alikes->n - 1)];
    if (!alike->ranked.node || alike->ranked.takes != ranked->takes ||
        !node_hot_is_alike(&alike->hot, hot)) {
        *alike = (struct alike){.hot = *hot, .ranked = *ranked};
        rank_weigh(alikes->score, &alike->ranked);
    }
    return alike;
}

void alikes_weigh(const struct alikes *alikes, const struct alike *alike,
                  struct ranked_node *ranked)
{
    const struct node *node = ranked->node;
    const size_t position = ranked->position;
    if (!alike) {
        rank_weigh(alikes->score, ranked);
        return;
    }
    *ranked = alike->ranked;
    ranked->node = node;
    ranked->position = position;
}
