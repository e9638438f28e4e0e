/*
 * counters: what devices that overlap share, such as a GPU and its partitions
 * (checkAvailableCounters() upstream).
 *
 * A device can be taken if then no counter of its pool is overdrawn, its own or not: as upstream.
 */
#include "allocate_priv.h"

#include <string.h>

/* Upstream remembers what is available by the name of the pool alone, for all nodes. */
static bool shares_name(const struct run *run, const struct source_pool *pool)
{
    for (size_t i = 0; i < run->question->n_slices; i++) {
        const struct allocate_slice *slice = &run->question->slices[i];
        if (slice->n_shared_counters && strcmp(slice->pool, pool->name) == 0 &&
            strcmp(slice->driver, pool->driver) != 0)
            return true;
    }
    return false;
}

/* So that no sum overflows: no more are added than there are steps. */
static bool is_known(const struct allocate_counter *counter)
{
    return counter->amount >= 0 && counter->amount <= ALLOCATE_COUNTER_MAX;
}

static void add_set(struct source_pool *pool, const struct allocate_counter_set *set,
                    bool *is_exact)
{
    for (size_t i = 0; i < set->n_counters; i++) {
        const struct allocate_counter *counter = &set->counters[i];
        *is_exact &= is_known(counter);
        pool->counters[pool->n_counters++] = (struct counter_left){
            .set = set->name, .name = counter->name, .available = counter->amount};
    }
}

static size_t count_counters(const struct source_pool *pool)
{
    size_t n = 0;
    for (size_t i = 0; i < pool->n_slices; i++) {
        for (size_t j = 0; j < pool->slices[i]->n_shared_counters; j++)
            n += pool->slices[i]->shared_counters[j].n_counters;
    }
    return n;
}

static struct counter_left *find(const struct source_pool *pool, const char *set, const char *name)
{
    for (size_t i = 0; i < pool->n_counters; i++) {
        struct counter_left *left = &pool->counters[i];
        if (strcmp(left->name, name) == 0 && strcmp(left->set, set) == 0)
            return left;
    }
    return NULL;
}

static void add_consumed(const struct source_pool *pool, const struct allocate_device *device,
                         int64_t sign)
{
    for (size_t i = 0; i < device->n_consumes; i++) {
        const struct allocate_counter_set *part = &device->consumes[i];
        for (size_t j = 0; j < part->n_counters; j++) {
            struct counter_left *left = find(pool, part->name, part->counters[j].name);
            if (left)
                left->consumed += sign * part->counters[j].amount;
        }
    }
}

static bool is_exact(const struct allocate_device *device)
{
    for (size_t i = 0; i < device->n_consumes; i++) {
        for (size_t j = 0; j < device->consumes[i].n_counters; j++) {
            if (!is_known(&device->consumes[i].counters[j]))
                return false;
        }
    }
    return true;
}

static uint64_t cost_of(const struct source_pool *pool, const struct allocate_device *device)
{
    uint64_t n = 1;
    for (size_t i = 0; i < device->n_consumes; i++)
        n += device->consumes[i].n_counters;
    return n * (1 + pool->n_counters);
}

/* Subtracts what allocated devices of all nodes consume. YES or STOPPED. */
static enum attempt subtract_allocated(struct run *run, struct source_pool *pool)
{
    for (size_t i = 0; i < pool->n_slices; i++) {
        for (size_t j = 0; j < pool->slices[i]->n_devices; j++) {
            const struct allocate_device *device = &pool->slices[i]->devices[j];
            if (!device->is_allocated && !device->is_shared)
                continue;
            if (!allocate_spend(run, cost_of(pool, device)))
                return STOPPED;
            if (!is_exact(device))
                return allocate_do_not_judge(run, "device %s: the size of its counters",
                                             device->name);
            add_consumed(pool, device, 1);
        }
    }
    for (size_t i = 0; i < pool->n_counters; i++) {
        pool->counters[i].available -= pool->counters[i].consumed;
        pool->counters[i].consumed = 0;
    }
    return YES;
}

static enum attempt prepare(struct run *run, struct source_pool *pool)
{
    if (!pool->sees_all)
        return allocate_do_not_judge(run, "pool %s/%s has more slices than it says", pool->driver,
                                     pool->name);
    if (!allocate_spend(run, run->question->n_slices))
        return STOPPED;
    if (shares_name(run, pool))
        return allocate_do_not_judge(run, "pools of several drivers are named %s and have counters",
                                     pool->name);
    bool is_known = true;
    pool->counters = ARENA_ARRAY(run->arena, struct counter_left, count_counters(pool) + 1);
    for (size_t i = 0; i < pool->n_slices; i++) {
        for (size_t j = 0; j < pool->slices[i]->n_shared_counters; j++)
            add_set(pool, &pool->slices[i]->shared_counters[j], &is_known);
    }
    if (!is_known)
        return allocate_do_not_judge(run, "pool %s/%s: the size of its counters", pool->driver,
                                     pool->name);
    return subtract_allocated(run, pool);
}

static bool is_overdrawn(const struct source_pool *pool)
{
    for (size_t i = 0; i < pool->n_counters; i++) {
        if (pool->counters[i].available < pool->counters[i].consumed)
            return true;
    }
    return false;
}

enum attempt counters_take(struct run *run, const struct offer *offer)
{
    struct source_pool *pool = offer->pool;
    if (!pool->counters && prepare(run, pool) == STOPPED)
        return STOPPED;
    if (!allocate_spend(run, cost_of(pool, offer->device)))
        return STOPPED;
    if (!is_exact(offer->device))
        return allocate_do_not_judge(run, "device %s: the size of its counters",
                                     offer->device->name);
    add_consumed(pool, offer->device, 1);
    if (!is_overdrawn(pool))
        return YES;
    add_consumed(pool, offer->device, -1);
    return NO;
}

void counters_give_back(const struct offer *offer)
{
    add_consumed(offer->pool, offer->device, -1);
}
