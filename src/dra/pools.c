/* pools: the slices of each pool, and the names of devices in it; which slices count on a node. */
#include "base/mem.h"
#include "devices_priv.h"
#include "pool_slices.h"

#include <stdlib.h>
#include <string.h>

void pool_slices_add(struct pool_slices *slices, int64_t generation, int64_t n_slices)
{
    if (slices->n > 0 && generation < slices->generation)
        return;
    if (slices->n == 0 || generation > slices->generation)
        *slices = (struct pool_slices){.generation = generation, .n_slices = n_slices};
    slices->n++;
    slices->disagree |= n_slices != slices->n_slices;
}

enum pool_slices_state pool_slices_state(const struct pool_slices *here,
                                         const struct pool_slices *all)
{
    if (here->n == 0)
        return POOL_SLICES_NONE;
    if (here->disagree)
        return POOL_SLICES_DISAGREE;
    if ((int64_t)here->n == here->n_slices)
        return POOL_SLICES_COMPLETE;
    if (all->generation > here->generation)
        return POOL_SLICES_NONE;
    return (int64_t)all->n == here->n_slices ? POOL_SLICES_COMPLETE : POOL_SLICES_INCOMPLETE;
}

struct pool *pools_ref(struct devices *devices, const char *driver, const char *name)
{
    struct string_table *strings = &devices->strings;
    const struct pair key = {string_table_intern(strings, driver),
                             string_table_intern(strings, name)};
    struct pool *pool = NULL;
    HASH_FIND(hh, devices->pools, &key, sizeof key, pool);
    if (pool) {
        string_table_unref(strings, key.first);
        string_table_unref(strings, key.second);
    } else {
        pool = MEM_NEW(struct pool);
        pool->key = key;
        pool->driver = policy_device_driver(devices->policy, driver);
        HASH_ADD(hh, devices->pools, key, sizeof pool->key, pool);
    }
    pool->refs++;
    return pool;
}

void pools_unref(struct devices *devices, struct pool *pool)
{
    if (--pool->refs > 0)
        return;
    HASH_DEL(devices->pools, pool);
    string_table_unref(&devices->strings, pool->key.first);
    string_table_unref(&devices->strings, pool->key.second);
    free(pool);
}

struct device_name *pools_ref_name(struct devices *devices, struct pool *pool, const char *name)
{
    const struct pair key = {pool, string_table_intern(&devices->strings, name)};
    struct device_name *named = NULL;
    HASH_FIND(hh, devices->names, &key, sizeof key, named);
    if (named) {
        string_table_unref(&devices->strings, key.second);
    } else {
        named = MEM_NEW(struct device_name);
        named->key = key;
        named->pool = pool;
        pool->refs++;
        HASH_ADD(hh, devices->names, key, sizeof named->key, named);
    }
    named->refs++;
    return named;
}

void pools_unref_name(struct devices *devices, struct device_name *named)
{
    if (--named->refs > 0)
        return;
    HASH_DEL(devices->names, named);
    string_table_unref(&devices->strings, named->key.second);
    pools_unref(devices, named->pool);
    free(named);
}

void pools_mark(struct devices *devices, struct pool *pool)
{
    if (pool->is_dirty)
        return;
    pool->is_dirty = true;
    pool->refs++;
    LL_PREPEND2(devices->dirty_pools, pool, next_dirty);
}

void pools_add(struct devices *devices, struct kept_slice *slice)
{
    DL_APPEND(slice->pool->slices, slice);
    pools_mark(devices, slice->pool);
}

void pools_remove(struct devices *devices, struct kept_slice *slice)
{
    for (size_t i = 0; i < slice->n_publications; i++)
        counters_publish(devices, &slice->publications[i], false);
    DL_DELETE(slice->pool->slices, slice);
    pools_mark(devices, slice->pool);
}

static struct pool_view view_of(const struct pool *pool)
{
    struct pool_view view = {.is_faulty = pool->n_faults > 0,
                             .is_overdrawn = pool->n_overdrawn > 0};
    const struct kept_slice *slice = NULL;
    DL_FOREACH (pool->slices, slice) {
        pool_slices_add(&view.all, slice->generation, slice->n_slices);
        if (slice->n_publications > 0)
            pool_slices_add(&view.with_sets, slice->generation, slice->n_slices);
        view.is_unreadable |= slice->is_unreadable;
    }
    return view;
}

/* Only sets of the highest generation are current. */
static void publish(struct devices *devices, const struct pool *pool)
{
    struct kept_slice *slice = NULL;
    DL_FOREACH (pool->slices, slice) {
        for (size_t i = 0; i < slice->n_publications; i++)
            counters_publish(devices, &slice->publications[i],
                             slice->generation == pool->view.with_sets.generation);
    }
}

static bool are_whole(const struct pool_slices *slices)
{
    return (int64_t)slices->n == slices->n_slices;
}

/* Whether they say the same; of those that agree, the number matters only if it is reached. */
static bool are_same(const struct pool_slices *a, const struct pool_slices *b)
{
    return a->generation == b->generation && a->n_slices == b->n_slices &&
           a->disagree == b->disagree &&
           (a->n == b->n || (!a->disagree && are_whole(a) == are_whole(b)));
}

static void node_pools_mark(struct devices *devices, struct node_pool *node_pool)
{
    if (node_pool->is_dirty)
        return;
    node_pool->is_dirty = true;
    node_pool->refs++;
    LL_PREPEND2(devices->dirty_node_pools, node_pool, next_dirty);
}

/* Only the first of its nodes may be, come to be or cease to be the only one. */
static void queue_alike(struct devices *devices, const struct pool *pool)
{
    if (pool->node_pools)
        places_queue(devices, pool->node_pools->place);
}

static void look_again(struct devices *devices, struct pool *pool)
{
    const struct pool_view seen = pool->view;
    struct node_pool *node_pool = NULL;
    queue_alike(devices, pool);
    pool->view = view_of(pool);
    publish(devices, pool);
    if (are_same(&seen.all, &pool->view.all) && are_same(&seen.with_sets, &pool->view.with_sets) &&
        seen.with_sets.n == pool->view.with_sets.n &&
        seen.is_unreadable == pool->view.is_unreadable && seen.is_faulty == pool->view.is_faulty &&
        seen.is_overdrawn == pool->view.is_overdrawn)
        return;
    DL_FOREACH (pool->node_pools, node_pool) {
        node_pools_mark(devices, node_pool);
    }
}

void pools_settle(struct devices *devices)
{
    while (devices->dirty_pools) {
        struct pool *pool = devices->dirty_pools;
        LL_DELETE2(devices->dirty_pools, pool, next_dirty);
        pool->is_dirty = false;
        look_again(devices, pool);
        pools_unref(devices, pool);
    }
}

/* A pool as one node sees it (types/pool_slices.h). The slices that concern the node are those
 * with its devices, and those with counter sets. */

struct node_pool *node_pools_ref(struct devices *devices, struct pool *pool, const char *node_name)
{
    struct device_place *place = places_ref(devices, node_name);
    const struct pair key = {pool, place};
    struct node_pool *node_pool = NULL;
    HASH_FIND(hh, devices->node_pools, &key, sizeof key, node_pool);
    if (node_pool) {
        places_unref(devices, place);
    } else {
        node_pool = MEM_NEW(struct node_pool);
        node_pool->key = key;
        node_pool->pool = pool;
        node_pool->place = place;
        pool->refs++;
        HASH_ADD(hh, devices->node_pools, key, sizeof node_pool->key, node_pool);
        DL_APPEND(pool->node_pools, node_pool);
        DL_APPEND2(place->node_pools, node_pool, prev_here, next_here);
    }
    node_pool->refs++;
    return node_pool;
}

void node_pools_unref(struct devices *devices, struct node_pool *node_pool)
{
    if (--node_pool->refs > 0)
        return;
    HASH_DEL(devices->node_pools, node_pool);
    DL_DELETE(node_pool->pool->node_pools, node_pool);
    queue_alike(devices, node_pool->pool);
    DL_DELETE2(node_pool->place->node_pools, node_pool, prev_here, next_here);
    pools_unref(devices, node_pool->pool);
    places_unref(devices, node_pool->place);
    free(node_pool);
}

void node_pools_add(struct devices *devices, struct node_slice *node_slice)
{
    struct node_pool *node_pool = node_slice->node_pool;
    DL_APPEND(node_pool->node_slices, node_slice);
    node_slice->is_fresh = true;
    LL_PREPEND2(node_pool->fresh, node_slice, next_fresh);
    node_pools_mark(devices, node_pool);
}

void node_pools_remove(struct devices *devices, struct node_slice *node_slice)
{
    struct node_pool *node_pool = node_slice->node_pool;
    DL_DELETE(node_pool->node_slices, node_slice);
    if (node_slice->is_fresh)
        LL_DELETE2(node_pool->fresh, node_slice, next_fresh);
    node_pools_mark(devices, node_pool);
}

/* The slices that concern the node. */
static struct pool_slices slices_of(const struct node_pool *node_pool)
{
    const struct pool_slices *sets = &node_pool->pool->view.with_sets;
    struct pool_slices here = *sets;
    const struct node_slice *node_slice = NULL;
    DL_FOREACH (node_pool->node_slices, node_slice) {
        if (node_slice->slice->n_publications == 0)
            pool_slices_add(&here, node_slice->slice->generation, node_slice->slice->n_slices);
    }
    return here;
}

static bool sees_sets(const struct node_pool *node_pool)
{
    const struct pool_slices *sets = &node_pool->pool->view.with_sets;
    return sets->n > 0 && sets->generation == node_pool->generation;
}

static void relink_device(struct devices *devices, struct device *device)
{
    const struct node_pool *node_pool = device->node_pool;
    const bool is_current =
        node_pool->has_generation && device->slice->generation == node_pool->generation;
    const bool was_current = device->is_current;
    if (is_current && !was_current)
        gpus_link(devices, device);
    else if (!is_current && was_current)
        gpus_unlink(devices, device);
    for (size_t i = 0; i < device->n_consumptions; i++)
        counters_consume(devices, &device->consumptions[i], is_current && node_pool->sees_sets);
    if (is_current)
        gpus_regroup(devices, device);
}

typedef void device_function(struct devices *devices, struct device *device);

/* Calls act for the devices of the pool on the node in the slice. */
static void for_devices(struct devices *devices, const struct node_slice *node_slice,
                        device_function *act)
{
    for (size_t i = 0; i < node_slice->slice->n_devices; i++) {
        if (node_slice->slice->devices[i].node_pool == node_slice->node_pool)
            act(devices, &node_slice->slice->devices[i]);
    }
}

static void freshen_all(struct node_pool *node_pool)
{
    struct node_slice *node_slice = NULL;
    DL_FOREACH (node_pool->node_slices, node_slice) {
        if (node_slice->is_fresh)
            continue;
        node_slice->is_fresh = true;
        LL_PREPEND2(node_pool->fresh, node_slice, next_fresh);
    }
}

void node_pools_relink(struct devices *devices)
{
    struct node_pool *node_pool = NULL;
    const struct node_slice *node_slice = NULL;
    LL_FOREACH2(devices->dirty_node_pools, node_pool, next_dirty)
    {
        const struct pool_slices slices = slices_of(node_pool);
        const struct pool_slices *all = &node_pool->pool->view.all;
        const enum pool_slices_state state = pool_slices_state(&slices, all);
        const bool saw_sets = node_pool->sees_sets;
        const bool has_generation =
            state == POOL_SLICES_COMPLETE ||
            (state != POOL_SLICES_NONE && slices.generation == all->generation);
        const bool is_same = has_generation == node_pool->has_generation &&
                             slices.generation == node_pool->generation;
        node_pool->has_generation = has_generation;
        node_pool->generation = slices.generation;
        node_pool->is_complete = state == POOL_SLICES_COMPLETE;
        node_pool->sees_sets = sees_sets(node_pool);
        if (!is_same || saw_sets != node_pool->sees_sets)
            freshen_all(node_pool);
        LL_FOREACH2(node_pool->fresh, node_slice, next_fresh)
        {
            for_devices(devices, node_slice, relink_device);
        }
    }
}

static const char *fault_of(const struct node_pool *node_pool)
{
    const struct pool *pool = node_pool->pool;
    if (pool->view.is_unreadable)
        return "a slice cannot be read";
    if (node_pool->n_repeated > 0)
        return "devices share a name";
    if ((node_pool->n_consumers > 0 && !node_pool->sees_sets) ||
        (node_pool->sees_sets && pool->n_faults > 0))
        return "a counter set is missing or repeated, or lacks a counter";
    return NULL;
}

static enum node_pool_state state_of(const struct node_pool *node_pool)
{
    if (node_pool->has_generation && !node_pool->is_complete)
        return NODE_POOL_INCOMPLETE;
    return fault_of(node_pool) ? NODE_POOL_INVALID : NODE_POOL_USABLE;
}

static void refresh_device(struct devices *devices, struct device *device)
{
    if (device->is_current)
        gpus_refresh(devices, device);
}

static void judge(struct devices *devices, struct node_pool *node_pool)
{
    const enum node_pool_state state = state_of(node_pool);
    /* For devices with counters, other sets of the pool may decide. */
    if (state != node_pool->state || node_pool->n_consumers > 0)
        freshen_all(node_pool);
    node_pool->state = state;
    while (node_pool->fresh) {
        struct node_slice *node_slice = node_pool->fresh;
        LL_DELETE2(node_pool->fresh, node_slice, next_fresh);
        node_slice->is_fresh = false;
        for_devices(devices, node_slice, refresh_device);
    }
}

void node_pools_judge(struct devices *devices)
{
    while (devices->dirty_node_pools) {
        struct node_pool *node_pool = devices->dirty_node_pools;
        LL_DELETE2(devices->dirty_node_pools, node_pool, next_dirty);
        node_pool->is_dirty = false;
        judge(devices, node_pool);
        places_queue(devices, node_pool->place);
        node_pools_unref(devices, node_pool);
    }
}

bool devices_next_unusable(const struct devices *devices, struct device_pool *pool)
{
    const struct node_pool *node_pool =
        pool->node_pool ? pool->node_pool->hh.next : devices->node_pools;
    while (node_pool && (!node_pool->has_generation || node_pool->state == NODE_POOL_USABLE))
        node_pool = node_pool->hh.next;
    *pool = (struct device_pool){.node_pool = node_pool};
    if (!node_pool)
        return false;
    pool->driver = node_pool->pool->key.first;
    pool->pool = node_pool->pool->key.second;
    pool->node_name = node_pool->place->name;
    pool->generation = node_pool->generation;
    pool->n_there = node_pool->pool->view.all.n;
    pool->n_slices = node_pool->pool->view.all.n_slices;
    pool->why =
        node_pool->state == NODE_POOL_INCOMPLETE ? "slices are missing" : fault_of(node_pool);
    return true;
}
