/*
 * pools: which pools of devices a node has, and in which order they are tried
 * (structured/internal/incubating/pools_incubating.go).
 *
 * Of the slices that concern a node, those of the highest generation count. Pools come by driver
 * and name, those with binding conditions last; slices by name; devices as listed.
 */
#include "allocate_priv.h"

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

static bool has_duplicates(const char **names, size_t n)
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
    return has_duplicates(names, pool->n_offers);
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
    return has_duplicates(names, n);
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

/* The slices of one pool, by name. */
struct slice_group {
    const struct allocate_slice **slices;
    size_t n;
    int64_t generation; /* the highest that concerns the node */
    size_t n_here;      /* of that generation, those that concern the node */
    size_t n_current;   /* of that generation */
    bool is_obsolete;   /* there is a newer one */
    bool disagrees;     /* on how many slices there are */
    int64_t n_slices;
};

static void find_generation(struct slice_group *group)
{
    for (size_t i = 0; i < group->n; i++) {
        const struct allocate_slice *slice = group->slices[i];
        if (concerns_node(slice) && (!group->n_here || slice->generation > group->generation)) {
            group->generation = slice->generation;
            group->n_here = 1;
        }
    }
}

static void count(struct slice_group *group)
{
    group->n_here = 0;
    for (size_t i = 0; i < group->n; i++) {
        const struct allocate_slice *slice = group->slices[i];
        group->is_obsolete |= slice->generation > group->generation;
        group->n_current += slice->generation == group->generation;
        if (slice->generation != group->generation || !concerns_node(slice))
            continue;
        group->disagrees |= group->n_here && slice->n_slices != group->n_slices;
        group->n_slices = slice->n_slices;
        group->n_here++;
    }
}

static void keep_slices(const struct run *run, const struct slice_group *group,
                        struct source_pool *pool)
{
    const struct allocate_slice **slices =
        ARENA_ARRAY(run->arena, const struct allocate_slice *, group->n_current);
    bool *is_here = ARENA_ARRAY(run->arena, bool, group->n_current);
    for (size_t i = 0; i < group->n; i++) {
        if (group->slices[i]->generation != group->generation)
            continue;
        slices[pool->n_slices] = group->slices[i];
        is_here[pool->n_slices++] = concerns_node(group->slices[i]);
    }
    pool->slices = slices;
    pool->is_here = is_here;
}

/* Adds the pool if the node has it. YES or STOPPED. */
static enum attempt add_pool(struct run *run, struct slice_group *group)
{
    find_generation(group);
    if (!group->n_here)
        return YES;
    count(group);
    bool is_complete_here = (int64_t)group->n_here == group->n_slices;
    if (!group->disagrees && !is_complete_here && group->is_obsolete)
        return YES;
    struct source_pool *pool = &run->pools[run->n_pools++];
    pool->driver = group->slices[0]->driver;
    pool->name = group->slices[0]->pool;
    if (group->disagrees) {
        pool->state = POOL_UNORDERED;
        return YES;
    }
    if (!is_complete_here && (int64_t)group->n_current != group->n_slices) {
        pool->state = POOL_INCOMPLETE;
        return YES;
    }
    keep_slices(run, group, pool);
    pool->sees_all = !is_complete_here || group->n_current == group->n_here;
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

enum attempt pools_gather(struct run *run)
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
        struct slice_group group = {.slices = slices + i, .n = end - i};
        if (add_pool(run, &group) == STOPPED)
            return STOPPED;
    }
    order(run);
    return YES;
}
