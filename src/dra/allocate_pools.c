/*
 * allocate_pools: which pools of devices a node has (pool_slices.h), and in which order they are
 * tried (structured/internal/incubating/pools_incubating.go).
 *
 * Pools come by driver and name, those with binding conditions last; slices by name; devices as
 * listed.
 */
#include "allocate_priv.h"
#include "pool_slices.h"

#include <stdlib.h>
#include <string.h>

static int compare_slices(const void *a, const void *b)
{
    const struct allocate_slice *one = *(const struct allocate_slice *const *)a;
    const struct allocate_slice *other = *(const struct allocate_slice *const *)b;
    int order = strcmp(one->driver, other->driver);
    if (!order)
        order = strcmp(one->pool, other->pool);
    return order ? order : strcmp(one->name, other->name);
}

static bool is_same_pool(const struct allocate_slice *a, const struct allocate_slice *b)
{
    return strcmp(a->driver, b->driver) == 0 && strcmp(a->pool, b->pool) == 0;
}

/* Upstream takes those with shared counters wherever they are. */
static bool concerns_node(const struct allocate_slice *slice)
{
    if (slice->n_shared_counters || !slice->devices_reach)
        return slice->n_shared_counters || slice->reaches_node;
    for (size_t i = 0; i < slice->n_devices; i++) {
        if (slice->devices_reach[i])
            return true;
    }
    return false;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool allocate_repeats(const char **names, size_t n)
{
    qsort(names, n, sizeof *names, compare_texts);
    for (size_t i = 1; i < n; i++) {
        if (strcmp(names[i - 1], names[i]) == 0)
            return true;
    }
    return false;
}

static bool repeats_devices(const struct run *run, const struct source_pool *pool)
{
    const char **names = ARENA_ARRAY(run->arena, const char *, pool->n_offers + 1);
    for (size_t i = 0; i < pool->n_offers; i++)
        names[i] = pool->offers[i].device->name;
    return allocate_repeats(names, pool->n_offers);
}

static bool repeats_counter_sets(const struct run *run, const struct source_pool *pool)
{
    size_t n = 0;
    for (size_t i = 0; i < pool->n_slices; i++)
        n += pool->slices[i]->n_shared_counters;
    const char **names = ARENA_ARRAY(run->arena, const char *, n + 1);
    n = 0;
    for (size_t i = 0; i < pool->n_slices; i++) {
        for (size_t j = 0; j < pool->slices[i]->n_shared_counters; j++)
            names[n++] = pool->slices[i]->shared_counters[j].name;
    }
    return allocate_repeats(names, n);
}

static const struct allocate_counter_set *find_set(const struct source_pool *pool, const char *name)
{
    for (size_t i = 0; i < pool->n_slices; i++) {
        const struct allocate_slice *slice = pool->slices[i];
        for (size_t j = 0; j < slice->n_shared_counters; j++) {
            if (strcmp(slice->shared_counters[j].name, name) == 0)
                return &slice->shared_counters[j];
        }
    }
    return NULL;
}

static bool has_counter(const struct allocate_counter_set *set, const char *name)
{
    for (size_t i = 0; i < set->n_counters; i++) {
        if (strcmp(set->counters[i].name, name) == 0)
            return true;
    }
    return false;
}

/* Whether all counters that it consumes are published. */
static bool consumes_published(const struct source_pool *pool, const struct allocate_device *device)
{
    for (size_t i = 0; i < device->n_consumes; i++) {
        const struct allocate_counter_set *part = &device->consumes[i];
        const struct allocate_counter_set *set = find_set(pool, part->name);
        if (!set)
            return false;
        for (size_t j = 0; j < part->n_counters; j++) {
            if (!has_counter(set, part->counters[j].name))
                return false;
        }
    }
    return true;
}

static uint64_t n_published(const struct source_pool *pool)
{
    uint64_t n = 1;
    for (size_t i = 0; i < pool->n_slices; i++) {
        for (size_t j = 0; j < pool->slices[i]->n_shared_counters; j++)
            n += 1 + pool->slices[i]->shared_counters[j].n_counters;
    }
    return n;
}

/* Also checks slices that do not concern the node. */
static enum attempt check_consumptions(struct run *run, struct source_pool *pool)
{
    uint64_t cost = n_published(pool);
    for (size_t i = 0; i < pool->n_slices; i++) {
        const struct allocate_slice *slice = pool->slices[i];
        for (size_t j = 0; j < slice->n_devices; j++) {
            if (!allocate_spend(run, 1 + slice->devices[j].n_consumes * cost))
                return STOPPED;
            if (!consumes_published(pool, &slice->devices[j]))
                return NO;
        }
    }
    return YES;
}

static void add_offers(const struct run *run, struct source_pool *pool)
{
    size_t n = 0;
    for (size_t i = 0; i < pool->n_slices; i++)
        n += pool->slices[i]->n_devices;
    pool->offers = ARENA_ARRAY(run->arena, struct offer, n + 1);
    for (size_t i = 0; i < pool->n_slices; i++) {
        const struct allocate_slice *slice = pool->slices[i];
        for (size_t j = 0; pool->is_here[i] && !slice->n_shared_counters && j < slice->n_devices;
             j++) {
            struct offer *offer = &pool->offers[pool->n_offers++];
            offer->slice = slice;
            offer->device = &slice->devices[j];
            offer->pool = pool;
            offer->reaches_node = !slice->devices_reach || slice->devices_reach[j];
            pool->has_binding_conditions |= offer->device->binding_conditions != NULL;
        }
    }
}

/* buildPool(). YES or STOPPED. */
static enum attempt build(struct run *run, struct source_pool *pool)
{
    add_offers(run, pool);
    enum attempt outcome = NO;
    if (!repeats_devices(run, pool) && !repeats_counter_sets(run, pool))
        outcome = check_consumptions(run, pool);
    if (outcome == NO) {
        pool->state = POOL_INVALID;
        pool->has_binding_conditions = false;
        pool->n_offers = 0;
    }
    return outcome == STOPPED ? STOPPED : YES;
}

static void keep_slices(const struct run *run, const struct allocate_slice *const *all, size_t n,
                        int64_t generation, struct source_pool *pool)
{
    const struct allocate_slice **slices =
        ARENA_ARRAY(run->arena, const struct allocate_slice *, n);
    bool *is_here = ARENA_ARRAY(run->arena, bool, n);
    for (size_t i = 0; i < n; i++) {
        if (all[i]->generation != generation)
            continue;
        slices[pool->n_slices] = all[i];
        is_here[pool->n_slices++] = concerns_node(all[i]);
    }
    pool->slices = slices;
    pool->is_here = is_here;
}

/* Adds the pool of the slices, if the node has it. YES or STOPPED. */
static enum attempt add_pool(struct run *run, const struct allocate_slice *const *slices, size_t n)
{
    struct pool_slices here = {0};
    struct pool_slices all = {0};
    for (size_t i = 0; i < n; i++) {
        pool_slices_add(&all, slices[i]->generation, slices[i]->n_slices);
        if (concerns_node(slices[i]))
            pool_slices_add(&here, slices[i]->generation, slices[i]->n_slices);
    }
    const enum pool_slices_state state = pool_slices_state(&here, &all);
    if (state == POOL_SLICES_NONE)
        return YES;
    struct source_pool *pool = &run->pools[run->n_pools++];
    pool->driver = slices[0]->driver;
    pool->name = slices[0]->pool;
    pool->state = state == POOL_SLICES_DISAGREE ? POOL_UNORDERED : POOL_INCOMPLETE;
    if (state != POOL_SLICES_COMPLETE)
        return YES;
    pool->state = POOL_USABLE;
    keep_slices(run, slices, n, here.generation, pool);
    pool->sees_all = (int64_t)here.n != here.n_slices || pool->n_slices == here.n;
    return build(run, pool);
}

/* Those with binding conditions come last. */
static void order(struct run *run)
{
    struct source_pool *pools = ARENA_ARRAY(run->arena, struct source_pool, run->n_pools + 1);
    size_t n = 0;
    for (int last = 0; last < 2; last++) {
        for (size_t i = 0; i < run->n_pools; i++) {
            if (run->pools[i].has_binding_conditions == (last == 1))
                pools[n++] = run->pools[i];
        }
    }
    run->pools = pools;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < pools[i].n_offers; j++) {
            pools[i].offers[j].pool = &pools[i];
            pools[i].offers[j].index = run->n_offers++;
        }
    }
}

bool allocate_is_in_order(const struct allocate_slice *slices, size_t n, uint64_t max_steps,
                          struct arena *arena)
{
    const struct allocate_question question = {
        .slices = slices, .n_slices = n, .max_steps = max_steps};
    struct run run = {.question = &question, .arena = arena};
    return allocate_pools_gather(&run) == YES && run.n_pools == 1 &&
           run.pools[0].state == POOL_USABLE && run.pools[0].n_slices == n;
}

enum attempt allocate_pools_gather(struct run *run)
{
    size_t n = run->question->n_slices;
    const struct allocate_slice **slices =
        ARENA_ARRAY(run->arena, const struct allocate_slice *, n + 1);
    for (size_t i = 0; i < n; i++) {
        slices[i] = &run->question->slices[i];
        if (!allocate_spend(run, 1 + slices[i]->n_devices))
            return STOPPED;
    }
    qsort(slices, n, sizeof(const struct allocate_slice *), compare_slices);
    run->pools = ARENA_ARRAY(run->arena, struct source_pool, n + 1);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && is_same_pool(slices[i], slices[end]);)
            end++;
        if (add_pool(run, slices + i, end - i) == STOPPED)
            return STOPPED;
    }
    order(run);
    return YES;
}
