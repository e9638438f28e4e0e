/* device_copy_kinds: how many devices there are of each kind. */
#include "base/mem.h"
#include "device_copy_priv.h"

#include <string.h>
#include <utlist.h>

struct kind_entry {
    UT_hash_handle hh;
    struct kind_key {
        const struct cel_device *facts;
        const struct allocate_taint *taints;
        size_t n_taints;
        size_t is_free; /* no padding */
    } key;
    size_t place;
};

struct kind_list {
    struct arena *arena;
    struct kind_entry *entries;
    struct device_copy_kind *kinds;
    size_t n, room;
};

static void add(struct kind_list *list, const struct allocate_device *device)
{
    const struct kind_key key = {device->facts, device->taints, device->n_taints,
                                 !device->is_allocated && !device->is_shared};
    struct kind_entry *entry = NULL;
    HASH_FIND(hh, list->entries, &key, sizeof key, entry);
    if (!entry) {
        entry = ARENA_NEW(list->arena, struct kind_entry);
        entry->key = key;
        entry->place = list->n;
        HASH_ADD(hh, list->entries, key, sizeof entry->key, entry);
        list->kinds =
            arena_grow(list->arena, list->kinds, list->n, &list->room, sizeof *list->kinds);
        const struct copied_group *group =
            CONTAINER_OF(key.facts, const struct copied_group, facts);
        list->kinds[list->n++] = (struct device_copy_kind){.facts = key.facts,
                                                           .unread = group->unread,
                                                           .n_unread = group->n_unread,
                                                           .not_judged = device->not_judged,
                                                           .taints = key.taints,
                                                           .n_taints = key.n_taints,
                                                           .is_free = key.is_free};
    }
    list->kinds[entry->place].n++;
}

static int64_t newest_of(const struct copied_pool *pool)
{
    const struct copied_slice *slice = NULL;
    int64_t newest = pool->slices->shown.generation;
    LL_FOREACH2(pool->slices, slice, next_of_pool)
    {
        if (slice->shown.generation > newest)
            newest = slice->shown.generation;
    }
    return newest;
}

static void add_pool(struct kind_list *list, const struct copied_pool *pool)
{
    const int64_t newest = newest_of(pool);
    const struct copied_slice *slice = NULL;
    LL_FOREACH2(pool->slices, slice, next_of_pool)
    {
        if (slice->shown.generation != newest)
            continue;
        for (size_t i = 0; i < slice->shown.n_devices; i++)
            add(list, &slice->devices[i]);
    }
}

/* Returns how many kinds there are then. */
static size_t add_pools(struct kind_list *list, const struct device_copy *copy, bool is_other)
{
    const struct copied_pool *pool = copy->named.not_judged ? NULL : copy->pools;
    for (; pool; pool = pool->hh.next) {
        if (pool->is_other == is_other)
            add_pool(list, pool);
    }
    return list->n;
}

struct device_copy_kinds device_copy_kinds(const struct device_copy *copy, struct arena *arena)
{
    struct kind_list list = {.arena = arena};
    struct device_copy_kinds kinds = {.not_judged = copy->named.not_judged,
                                      .others_not_judged = copy->others.not_judged};
    kinds.n = add_pools(&list, copy, false);
    kinds.n_with_others = add_pools(&list, copy, true);
    kinds.items = list.kinds;
    HASH_CLEAR(hh, list.entries);
    return kinds;
}
