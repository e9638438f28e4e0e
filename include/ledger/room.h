/*
 * room: free resources of a node, and how many pods of a class fit into them.
 */
#ifndef LEDGER_ROOM_H
#define LEDGER_ROOM_H

#include "ledger/gpu_demand.h"

/* Free GPUs of a node, with free cores and memory. */
struct room {
    int64_t gpus, milli_cores, memory_bytes; /* free, at least 0 */
};

/* A node's GPUs of one resource; if none is allocatable, the devices that stand for it. */
struct gpu_offer {
    const struct model_pool *pool; /* struct node_resource, struct node_device_group */
    int64_t free;                  /* node_resource_free(), or free devices */
    bool there;                    /* the node has a row or devices; else all is 0 */
};

struct gpu_offer room_offer(const struct node *node, const struct resource *gpus);
/* Takes the node's free cores and memory, and the given GPUs. */
struct room room_on(const struct node *node, int64_t free_gpus);
/* Subtracts taken; each at least 0. */
struct room room_less(const struct room *room, const struct room *taken);

/* Mixes one more number into the hash, whose upper half is mixed better. */
static inline uint64_t room_mix(uint64_t hash, uint64_t word)
{
    return (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
}

/* Hashes a room after earlier input. Runs for every node, so it is inline. */
static inline uint32_t room_hash(const struct room *room, uint64_t before)
{
    uint64_t hash = room_mix(before, (uint64_t)room->gpus);
    hash = room_mix(hash, (uint64_t)room->milli_cores);
    return (uint32_t)(room_mix(hash, (uint64_t)room->memory_bytes) >> 32);
}

/* How many pods fit, at most n. A multiplication is much faster than a division, and usually n
 * fit. */
static inline int64_t room_times(int64_t have, int64_t need, int64_t n)
{
    int64_t all = 0;
    if (!__builtin_mul_overflow(need, n, &all) && all <= have)
        return n;
    return have / need;
}

/* How many pods of the class fit; 0 if the pool does not admit it. Runs for every class on every
 * node, so it is inline. */
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
