/* alike: see alike.h. */
#include "alike.h"
#include "ledger/room.h"

/* A power of two. The kinds of devices that are judged (inventory/claim_nodes.c), with a few of
 * rooms each. */
#define N_TAKEN ((size_t)1024)

struct alikes alikes_begin(const struct score *score, struct arena *arena)
{
    struct alikes alikes = {.entries = NULL};
    if (rank_needs_takes_only(score)) {
        alikes.taken = ARENA_ARRAY_UNSET(arena, struct alike, N_TAKEN);
        for (size_t i = 0; i < N_TAKEN; i++)
            alikes.taken[i].takes = NULL;
    } else if (rank_needs_hot_only(score)) {
        alikes.wanted = score_shape(score)->needs[0].resource;
        alikes.entries = ARENA_ARRAY_UNSET(arena, struct alike, N_ALIKE);
        for (size_t i = 0; i < N_ALIKE; i++)
            alikes.entries[i].hot.gpus = NULL;
    }
    return alikes;
}

static size_t hash_of(const struct node_hot *hot, const struct claim_takes *takes)
{
    const struct room room = {hot->free_gpus, hot->milli_cores, hot->memory_bytes};
    const uint64_t kind =
        room_mix((uint64_t)(uintptr_t)hot->pool, (uint64_t)(uintptr_t)hot->model_word);
    return room_hash(&room, room_mix(kind, (uint64_t)(uintptr_t)takes));
}

struct alike *alikes_find_taken(const struct alikes *alikes, const struct node *node,
                                const struct claim_takes *takes)
{
    const struct node_hot *hot = node_hot(node);
    if (!takes || hot->has_soft_taints || hot->is_mixed)
        return NULL;
    struct alike *alike = &alikes->taken[hash_of(hot, takes) & (N_TAKEN - 1)];
    if (alike->takes != takes || !node_hot_is_alike(&alike->hot, hot))
        *alike = (struct alike){.hot = *hot, .takes = takes};
    return alike;
}
