/*
 * world_pools: which pools may concern which nodes.
 *
 * A pool concerns the nodes that reach one of its slices or devices. Slices with shared counters
 * concern all nodes, but matter on nodes without devices of the pool only if the pool is in
 * disorder: only then is such a pool wide.
 */
#include "base/mem.h"
#include "world_priv.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

/* Slices and devices for several nodes, which every node must look at; of others, as many more. */
#define WIDE_REACHES_MAX ((size_t)4000)
/* A pool that takes more steps is not looked through. */
#define ORDER_STEPS_MAX 10000000
#define HOSTNAME "kubernetes.io/hostname"

static struct world_pool *pool_of(struct claims_world *world, const struct allocate_slice *slice)
{
    struct world_pool *pool = NULL;
    const char *key = arena_printf(world->arena, "%s/%s", slice->driver, slice->pool);
    HASH_FIND_STR(world->pools, key, pool);
    if (pool)
        return pool;
    pool = ARENA_NEW(world->arena, struct world_pool);
    pool->driver = slice->driver;
    pool->name = slice->pool;
    HASH_ADD_KEYPTR(hh, world->pools, key, strlen(key), pool);
    return pool;
}

static void add_to_node(struct arena *arena, struct world_node **nodes, const char *name,
                        struct world_pool *pool)
{
    struct world_node *node = NULL;
    HASH_FIND_STR(*nodes, name, node);
    if (!node) {
        node = ARENA_NEW(arena, struct world_node);
        HASH_ADD_KEYPTR(hh, *nodes, name, strlen(name), node);
    }
    for (size_t i = 0; i < node->n; i++) {
        if (node->pools[i] == pool)
            return;
    }
    node->pools = arena_grow(arena, node->pools, node->n, &node->room, sizeof(void *));
    node->pools[node->n++] = pool;
}

static void widen(struct claims_world *world, struct world_pool *pool)
{
    if (pool->is_wide)
        return;
    pool->is_wide = true;
    world->wide =
        arena_grow(world->arena, world->wide, world->n_wide, &world->wide_room, sizeof(void *));
    world->wide[world->n_wide++] = pool;
}

/* NULL: the term allows any. */
static const struct requirement *hosts_of(const struct selector_term *term)
{
    for (size_t i = 0; i < term->n_requirements; i++) {
        const struct requirement *requirement = &term->requirements[i];
        if (!requirement->is_field && requirement->op == SELECTOR_IN &&
            strcmp(requirement->key, HOSTNAME) == 0)
            return requirement;
    }
    return NULL;
}

/* Files the pool under the hosts that the selector names; false: it names none. */
static bool add_to_hosts(struct claims_world *world, struct world_pool *pool,
                         const struct node_selector *selector)
{
    for (size_t i = 0; selector && i < selector->n_terms; i++) {
        if (!hosts_of(&selector->terms[i]))
            return false;
    }
    for (size_t i = 0; selector && i < selector->n_terms; i++) {
        const struct requirement *hosts = hosts_of(&selector->terms[i]);
        for (size_t j = 0; hosts && j < hosts->n_values; j++)
            add_to_node(world->arena, &world->hosts, hosts->values[j], pool);
    }
    pool->has_hosts |= selector != NULL;
    return selector != NULL;
}

static void add_reach(struct claims_world *world, struct world_pool *pool,
                      const struct world_reach *reach, struct world_side *side)
{
    if (reach->node_name[0]) {
        add_to_node(world->arena, &world->nodes, reach->node_name, pool);
        return;
    }
    if (add_to_hosts(world, pool, reach->nodes ? reach->nodes->details.nodes : NULL))
        return;
    widen(world, pool);
    if (++side->n_wide_reaches > WIDE_REACHES_MAX)
        side->not_judged = "there are too many devices for several nodes";
}

void world_add_to_index(struct claims_world *world, struct world_slice *slice)
{
    struct world_pool *pool = pool_of(world, &slice->shown);
    slice->pool = pool;
    pool->is_other = slice->side == &world->others;
    LL_PREPEND2(pool->slices, slice, next_of_pool);
    pool->has_counters |= slice->shown.n_shared_counters > 0;
    if (!slice->device_reach && (slice->shown.n_shared_counters == 0 || slice->reach.node_name[0]))
        add_reach(world, pool, &slice->reach, slice->side);
    for (size_t i = 0; slice->device_reach && i < slice->shown.n_devices; i++)
        add_reach(world, pool, &slice->device_reach[i], slice->side);
}

/* ---- order ---- */

static size_t n_devices_of(const struct world_pool *pool)
{
    const struct world_slice *slice = NULL;
    size_t n = 0;
    LL_FOREACH2(pool->slices, slice, next_of_pool)
    {
        n += slice->shown.n_devices;
    }
    return n;
}

static bool repeats_names(const struct world_pool *pool, struct arena *arena)
{
    const char **names = ARENA_ARRAY(arena, const char *, n_devices_of(pool));
    const struct world_slice *slice = NULL;
    size_t n = 0;
    LL_FOREACH2(pool->slices, slice, next_of_pool)
    {
        for (size_t i = 0; i < slice->shown.n_devices; i++)
            names[n++] = slice->devices[i].name;
    }
    return allocate_repeats(names, n);
}

static bool is_in_order(const struct world_pool *pool)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct world_slice *slice = NULL;
    struct allocate_slice *slices = NULL;
    size_t n = 0;
    size_t room = 0;
    LL_FOREACH2(pool->slices, slice, next_of_pool)
    {
        if (slice->not_judged)
            return false;
        slices = arena_grow(arena, slices, n, &room, sizeof *slices);
        slices[n] = slice->shown;
        slices[n++].reaches_node = true;
    }
    return !pool->repeats_names && allocate_is_in_order(slices, n, ORDER_STEPS_MAX, arena);
}

static int compare_pools(const void *a, const void *b)
{
    const struct world_pool *one = *(struct world_pool *const *)a;
    const struct world_pool *other = *(struct world_pool *const *)b;
    return strcmp(one->name, other->name);
}

/* Two drivers' pools of one name that have counters: the allocator must see both. */
static void widen_namesakes(struct claims_world *world, struct world_pool **pools, size_t n)
{
    if (n > 1)
        qsort(pools, n, sizeof(struct world_pool *), compare_pools);
    for (size_t i = 1; i < n; i++) {
        if (compare_pools(&pools[i - 1], &pools[i]) != 0)
            continue;
        widen(world, pools[i - 1]);
        widen(world, pools[i]);
    }
}

void world_finish_pools(struct claims_world *world)
{
    struct world_pool **with_counters =
        ARENA_ARRAY(world->arena, struct world_pool *, HASH_COUNT(world->pools));
    size_t n = 0;
    for (struct world_pool *pool = world->pools; pool; pool = pool->hh.next) {
        pool->repeats_names = repeats_names(pool, world->arena);
        if (!pool->has_counters)
            continue;
        with_counters[n++] = pool;
        if (!is_in_order(pool))
            widen(world, pool);
    }
    widen_namesakes(world, with_counters, n);
}
