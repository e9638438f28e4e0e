/* pools: the slices of each pool, and the names of devices in it. */
#include "base/mem.h"
#include "devices_priv.h"

#include <stdlib.h>
#include <string.h>

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

static void look_again(struct devices *devices, struct pool *pool)
{
    const struct pool_view seen = pool->view;
    struct node_pool *node_pool = NULL;
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
