/* alike: see alike.h. */
#include "alike.h"
#include "ledger/room.h"

struct alikes alikes_begin(const struct score *score, struct arena *arena)
{
    struct alikes alikes = {.score = score};
    if (!rank_needs_hot_only(score))
        return alikes;
    alikes.wanted = score_shape(score)->needs[0].resource;
    alikes.entries = ARENA_ARRAY_UNSET(arena, struct alike, N_ALIKE);
    for (size_t i = 0; i < N_ALIKE; i++)
        alikes.entries[i].hot.gpus = NULL;
    return alikes;
}

static size_t hash_of(const struct node_hot *hot)
{
    const struct room room = {hot->free_gpus, hot->milli_cores, hot->memory_bytes};
    const uint64_t kind =
        room_mix((uint64_t)(uintptr_t)hot->pool, (uint64_t)(uintptr_t)hot->model_word);
    return room_hash(&room, kind) % N_ALIKE;
}

struct alike *alikes_find(const struct alikes *alikes, const struct node *node)
{
    const struct node_hot *hot = node_hot(node);
    if (!alikes->entries || hot->gpus != alikes->wanted || hot->has_soft_taints || hot->has_devices)
        return NULL;
    struct alike *alike = &alikes->entries[hash_of(hot)];
    if (!alike->hot.gpus || !node_hot_is_alike(&alike->hot, hot)) {
        *alike = (struct alike){.hot = *hot, .ranked = {.node = node}};
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
