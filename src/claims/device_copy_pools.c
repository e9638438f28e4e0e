/*
 * device_copy_pools: which pools may concern which nodes.
 *
 * A pool concerns the nodes that reach one of its slices or devices. Slices with shared counters
 * concern all nodes, but matter on nodes without devices of the pool only if the pool is in
 * disorder: only then is such a pool wide.
 */
#include "base/mem.h"
#include "device_copy_priv.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

/* Slices and devices for several nodes, which every node must look at; of others, as many more. */
#define WIDE_REACHES_MAX ((size_t)4000)
/* A pool that takes more steps is not looked through. */
#define ORDER_STEPS_MAX 10000000
#define HOSTNAME "kubernetes.io/hostname"

static struct copied_pool *pool_of(struct device_copy *copy, const struct allocate_slice *slice)
{
    struct copied_pool *pool = NULL;
    const char *key = arena_printf(copy->arena, "%s/%s", slice->driver, slice->pool);
    HASH_FIND_STR(copy->pools, key, pool);
    if (pool)
        return pool;
    pool = ARENA_NEW(copy->arena, struct copied_pool);
    pool->driver = slice->driver;
    pool->name = slice->pool;
    HASH_ADD_KEYPTR(hh, copy->pools, key, strlen(key), pool);
    return pool;
}

static void add_to_node(struct arena *arena, struct copied_node **nodes, const char *name,
                        struct copied_pool *pool)
{
    struct copied_node *node = NULL;
    HASH_FIND_STR(*nodes, name, node);
    if (!node) {
        node = ARENA_NEW(arena, struct copied_node);
        HASH_ADD_KEYPTR(hh, *nodes, name, strlen(name), node);
    }
    for (size_t i = 0; i < node->n; i++) {
        if (node->pools[i] == pool)
            return;
    }
    node->pools = arena_grow(arena, node->pools, node->n, &node->room, sizeof(void *));
    node->pools[node->n++] = pool;
}

static void widen(struct device_copy *copy, struct copied_pool *pool)
{
    if (pool->is_wide)
        return;
    pool->is_wide = true;
    copy->wide =
        arena_grow(copy->arena, copy->wide, copy->n_wide, &copy->wide_room, sizeof(void *));
    copy->wide[copy->n_wide++] = pool;
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
static bool add_to_hosts(struct device_copy *copy, struct copied_pool *pool,
                         const struct node_selector *selector)
{
    for (size_t i = 0; selector && i < selector->n_terms; i++) {
        if (!hosts_of(&selector->terms[i]))
            return false;
    }
    for (size_t i = 0; selector && i < selector->n_terms; i++) {
        const struct requirement *hosts = hosts_of(&selector->terms[i]);
        for (size_t j = 0; hosts && j < hosts->n_values; j++)
            add_to_node(copy->arena, &copy->hosts, hosts->values[j], pool);
    }
    pool->has_hosts |= selector != NULL;
    return selector != NULL;
}

static void add_reach(struct device_copy *copy, struct copied_pool *pool,
                      const struct copied_reach *reach, struct copied_drivers *drivers)
{
    if (reach->node_name[0]) {
        add_to_node(copy->arena, &copy->nodes, reach->node_name, pool);
        return;
    }
    if (add_to_hosts(copy, pool, reach->nodes ? reach->nodes->details.nodes : NULL))
        return;
    widen(copy, pool);
    if (++drivers->n_wide_reaches > WIDE_REACHES_MAX)
        drivers->not_judged = "there are too many devices for several nodes";
}

void device_copy_add_to_index(struct device_copy *copy, struct copied_slice *slice)
{
    struct copied_pool *pool = pool_of(copy, &slice->shown);
    slice->pool = pool;
    pool->is_other = slice->drivers == &copy->others;
    LL_PREPEND2(pool->slices, slice, next_of_pool);
    pool->has_counters |= slice->shown.n_shared_counters > 0;
    if (!slice->device_reach && (slice->shown.n_shared_counters == 0 || slice->reach.node_name[0]))
        add_reach(copy, pool, &slice->reach, slice->drivers);
    for (size_t i = 0; slice->device_reach && i < slice->shown.n_devices; i++)
        add_reach(copy, pool, &slice->device_reach[i], slice->drivers);
}

/* ---- order ---- */

static size_t n_devices_of(const struct copied_pool *pool)
{
    const struct copied_slice *slice = NULL;
    size_t n = 0;
    LL_FOREACH2(pool->slices, slice, next_of_pool)
    {
        n += slice->shown.n_devices;
    }
    return n;
}

static bool repeats_names(const struct copied_pool *pool, struct arena *arena)
{
    const char **names = ARENA_ARRAY(arena, const char *, n_devices_of(pool));
    const struct copied_slice *slice = NULL;
    size_t n = 0;
    LL_FOREACH2(pool->slices, slice, next_of_pool)
    {
        for (size_t i = 0; i < slice->shown.n_devices; i++)
            names[n++] = slice->devices[i].name;
    }
    return allocate_repeats(names, n);
}

static bool is_in_order(const struct copied_pool *pool)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct copied_slice *slice = NULL;
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
    const struct copied_pool *one = *(struct copied_pool *const *)a;
    const struct copied_pool *other = *(struct copied_pool *const *)b;
    return strcmp(one->name, other->name);
}

/* Two drivers' pools of one name that have counters: the allocator must see both. */
static void widen_namesakes(struct device_copy *copy, struct copied_pool **pools, size_t n)
{
    if (n > 1)
        qsort(pools, n, sizeof(struct copied_pool *), compare_pools);
    for (size_t i = 1; i < n; i++) {
        if (compare_pools(&pools[i - 1], &pools[i]) != 0)
            continue;
        widen(copy, pools[i - 1]);
        widen(copy, pools[i]);
    }
}

void device_copy_finish_pools(struct device_copy *copy)
{
    struct copied_pool **with_counters =
        ARENA_ARRAY(copy->arena, struct copied_pool *, HASH_COUNT(copy->pools));
    size_t n = 0;
    for (struct copied_pool *pool = copy->pools; pool; pool = pool->hh.next) {
        pool->repeats_names = repeats_names(pool, copy->arena);
        if (!pool->has_counters)
            continue;
        with_counters[n++] = pool;
        if (!is_in_order(pool))
            widen(copy, pool);
    }
    widen_namesakes(copy, with_counters, n);
}
