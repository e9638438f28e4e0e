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

struct device_slot *pools_ref_slot(struct devices *devices, struct pool *pool, const char *name)
{
    const struct pair key = {pool, string_table_intern(&devices->strings, name)};
    struct device_slot *slot = NULL;
    HASH_FIND(hh, devices->slots, &key, sizeof key, slot);
    if (slot) {
        string_table_unref(&devices->strings, key.second);
    } else {
        slot = MEM_NEW(struct device_slot);
        slot->key = key;
        slot->pool = pool;
        pool->refs++;
        HASH_ADD(hh, devices->slots, key, sizeof slot->key, slot);
    }
    slot->refs++;
    return slot;
}

void pools_unref_slot(struct devices *devices, struct device_slot *slot)
{
    if (--slot->refs > 0)
        return;
    HASH_DEL(devices->slots, slot);
    string_table_unref(&devices->strings, slot->key.second);
    pools_unref(devices, slot->pool);
    free(slot);
}

void pools_mark(struct devices *devices, struct pool *pool)
{
    if (pool->is_dirty)
        return;
    pool->is_dirty = true;
    pool->refs++;
    LL_PREPEND2(devices->dirty_pools, pool, next_dirty);
}

/* Only sets of the highest generation are current. */
static void publish(struct devices *devices, struct kept_slice *slice)
{
    const bool is_current = slice->generation == slice->pool->with_sets.generation;
    for (size_t i = 0; i < slice->n_publications; i++)
        counters_publish(devices, &slice->publications[i], is_current);
}

static void publish_all(struct devices *devices, struct pool *pool)
{
    struct kept_slice *slice = NULL;
    DL_FOREACH (pool->slices, slice) {
        publish(devices, slice);
    }
}

void pools_add(struct devices *devices, struct kept_slice *slice)
{
    struct pool *pool = slice->pool;
    const struct tally before = pool->with_sets;
    DL_APPEND(pool->slices, slice);
    tally_add(&pool->all, slice);
    if (slice->n_publications > 0) {
        tally_add(&pool->with_sets, slice);
        if (before.generation != pool->with_sets.generation)
            publish_all(devices, pool);
        else
            publish(devices, slice);
    }
    pool->n_unreadable += slice->is_unreadable;
    pools_mark(devices, pool);
}

static void count_again(const struct pool *pool, struct tally *tally, bool only_with_sets)
{
    const struct kept_slice *slice = NULL;
    *tally = (struct tally){0};
    DL_FOREACH (pool->slices, slice) {
        if (!only_with_sets || slice->n_publications > 0)
            tally_add(tally, slice);
    }
}

void pools_remove(struct devices *devices, struct kept_slice *slice)
{
    struct pool *pool = slice->pool;
    const struct tally before = pool->with_sets;
    for (size_t i = 0; i < slice->n_publications; i++)
        counters_publish(devices, &slice->publications[i], false);
    DL_DELETE(pool->slices, slice);
    if (tally_remove(&pool->all, slice))
        count_again(pool, &pool->all, false);
    if (slice->n_publications > 0 && tally_remove(&pool->with_sets, slice)) {
        count_again(pool, &pool->with_sets, true);
        if (before.generation != pool->with_sets.generation)
            publish_all(devices, pool);
    }
    pool->n_unreadable -= slice->is_unreadable;
    pools_mark(devices, pool);
}

static bool same_tally(const struct tally *a, const struct tally *b)
{
    return a->n == b->n && a->generation == b->generation && a->n_slices == b->n_slices &&
           a->n_agreeing == b->n_agreeing;
}

/* Whether seats see no difference in the number of slices. */
static bool same_pool_of_slices(const struct tally *a, const struct tally *b)
{
    return a->generation == b->generation && tally_is_complete(a) == tally_is_complete(b);
}

static void look_again(struct devices *devices, struct pool *pool)
{
    const struct pool_view now = {.all = pool->all,
                                  .with_sets = pool->with_sets,
                                  .is_unreadable = pool->n_unreadable > 0,
                                  .is_faulty = pool->n_faults > 0,
                                  .is_overdrawn = pool->n_overdrawn > 0};
    const struct pool_view *seen = &pool->seen;
    const bool is_same = same_pool_of_slices(&seen->all, &now.all) &&
                         same_tally(&seen->with_sets, &now.with_sets) &&
                         seen->is_unreadable == now.is_unreadable &&
                         seen->is_faulty == now.is_faulty && seen->is_overdrawn == now.is_overdrawn;
    struct seat *seat = NULL;
    pool->seen = now;
    if (is_same)
        return;
    DL_FOREACH (pool->seats, seat) {
        seats_mark(devices, seat);
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
