/*
 * room: what is free on a node, and how many pods of a class have it.
 */
#ifndef LEDGER_ROOM_H
#define LEDGER_ROOM_H

#include "ledger/gpu_demand.h"

/* Free GPUs of a node, with the cores and memory they can be used with. */
struct room {
    int64_t gpus, milli_cores, memory_bytes; /* free, at least 0 */
};

/* A node's GPUs of one resource. */
struct gpu_offer {
    const struct model_pool *pool; /* struct node_resource */
    int64_t free;                  /* node_resource_free() */
    bool there;                    /* else it has none of them, and uses none */
};

struct gpu_offer room_offer(const struct node *node, const struct resource *gpus);
/* The node's free cores and memory, with so many GPUs. */
struct room room_on(const struct node *node, int64_t free_gpus);
/* The rest of it after so much is taken. */
struct room room_less(const struct room *room, const struct room *taken);

/* One word more of a hash, whose upper half is the better mixed. */
static inline uint64_t room_mix(uint64_t hash, uint64_t word)
{
    return (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
}

/* Of a room, and of what was mixed before. Reckoned for every node, so it is not a call. */
static inline uint32_t room_hash(const struct room *room, uint64_t before)
{
    uint64_t hash = room_mix(before, (uint64_t)room->gpus);
    hash = room_mix(hash, (uint64_t)room->milli_cores);
    return (uint32_t)(room_mix(hash, (uint64_t)room->memory_bytes) >> 32);
}

/* How many pods that need so much have it, n at the most. To divide takes far longer than to
 * multiply, and mostly n have it. */
static inline int64_t room_times(int64_t have, int64_t need, int64_t n)
{
    int64_t all = 0;
    if (!__builtin_mul_overflow(need, n, &all) && all <= have)
        return n;
    return have / need;
}

/* How many pods of the class have room; a class that may not go to the pool has none. Asked for
 * every class on every node, so it is not a call. */
static inline int64_t room_slots(const struct room *room, const struct demand_class *class,
                                 const struct model_pool *pool)
{
    if (room->gpus < class->gpus || !class->admitted[pool->index])
        return 0;
    int64_t n = room->gpus / class->gpus;
    n = room_times(room->milli_cores, class->milli_cores, n);
    return room_times(room->memory_bytes, class->memory_bytes, n);
}

#endif
