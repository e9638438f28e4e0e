/* device_copy: reads rules and slices from the ledger. See include/dra/device_copy.h. */
#include "base/mem.h"
#include "device_copy_priv.h"

#include <string.h>
#include <utlist.h>

/* How many devices there are of each kind. */

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

/* Devices and attributes in one hold of the ledger's lock: about a millisecond. */
#define STEP_WORK ((size_t)10000)
#define STEP_RULES ((size_t)1000)
#define STEP_SLICES ((size_t)20)

static void on_slice(void *context, const struct slice_facts *facts,
                     const struct device_status *statuses)
{
    struct device_copy *copy = context;
    struct read_slice *read = ARENA_NEW(copy->walk.arena, struct read_slice);
    *read = (struct read_slice){.facts = *facts, .statuses = statuses, .next = copy->read};
    copy->read = read;
}

static void begin(struct device_copy *copy, const struct device_copy *as)
{
    *copy = (struct device_copy){.arena = as->arena,
                                 .reads = as->reads,
                                 .n_reads = as->n_reads,
                                 .reader = as->reader,
                                 .given = as->given,
                                 .policy = as->policy,
                                 .has_others = as->has_others,
                                 .n_questions = ARENA_NEW(as->arena, uint64_t)};
}

struct device_copy *device_copy_new(const struct cel_read *reads, size_t n_reads,
                                    const struct device_details_reader *reader, struct arena *arena)
{
    struct device_copy *copy = ARENA_NEW(arena, struct device_copy);
    const struct device_copy as = {
        .arena = arena, .reads = reads, .n_reads = n_reads, .reader = reader};
    begin(copy, &as);
    return copy;
}

void device_copy_give(struct device_copy *copy, const struct given_devices *given)
{
    copy->given = given;
}

void device_copy_name_drivers(struct device_copy *copy, const struct policy *policy,
                              bool has_others)
{
    copy->policy = policy;
    copy->has_others = has_others;
}

static void clear(struct device_copy *copy)
{
    const struct device_copy as = *copy;
    HASH_CLEAR(hh, copy->slices);
    HASH_CLEAR(hh, copy->pools);
    HASH_CLEAR(hh, copy->nodes);
    HASH_CLEAR(hh, copy->hosts);
    device_copy_facts_free(copy);
    device_copy_taints_free(copy);
    if (copy->walk.arena)
        arena_free(copy->walk.arena);
    begin(copy, &as);
}

void device_copy_free(struct device_copy *copy)
{
    clear(copy);
}

/* They hide the ledger's: the first of a name stays. */
static void give_rules(struct device_copy *copy)
{
    for (size_t i = 0; copy->given && i < copy->given->n_rules; i++)
        device_copy_add_rule(copy, &copy->given->rules[i]);
}

static void read_rules(struct device_copy *copy, const struct devices *devices)
{
    copy->read_rules = ARENA_ARRAY(copy->walk.arena, struct device_taint_facts, STEP_RULES);
    copy->n_read_rules = devices_some_taints(devices, &copy->rules_at, copy->walk.arena,
                                             copy->read_rules, STEP_RULES);
    copy->has_rules = copy->n_read_rules < STEP_RULES;
}

/* The claims in the cluster may use their devices. */
static void read_given(struct device_copy *copy, const struct devices *devices)
{
    for (size_t n = 0; n < STEP_SLICES && copy->n_given < copy->given->n_slices; n++) {
        const struct slice_facts *facts = &copy->given->slices[copy->n_given++];
        struct device_status *statuses =
            ARENA_ARRAY(copy->walk.arena, struct device_status, facts->n_devices);
        size_t room = SLICE_CONSUMED_BYTES_MAX;
        for (size_t i = 0; i < facts->n_devices; i++)
            statuses[i] = devices_status(devices, facts->driver, facts->pool,
                                         facts->devices[i].name, copy->walk.arena, &room);
        on_slice(copy, facts, statuses);
    }
}

static void begin_step(struct device_copy *copy, const struct devices *devices, bool knows_claims)
{
    if (copy->devices != devices) {
        clear(copy);
        give_rules(copy);
    }
    copy->devices = devices;
    if (!knows_claims)
        copy->named.not_judged = "the claims in the cluster are unknown";
    copy->walk.arena = arena_new();
    copy->walk.work = STEP_WORK;
    copy->walk.has_others = copy->has_others;
    copy->walk.visit = on_slice;
    copy->walk.context = copy;
}

void device_copy_read_some(struct device_copy *copy, const struct devices *devices,
                           bool knows_claims)
{
    begin_step(copy, devices, knows_claims);
    if (!copy->has_rules) /* they taint the given slices, too */
        read_rules(copy, devices);
    else if (copy->given && copy->n_given < copy->given->n_slices)
        read_given(copy, devices);
    else
        copy->is_done = devices_each_slice_some(devices, &copy->walk);
}

/* Where they reach is not kept by node. False: not all of them. */
static bool read_others(struct device_copy *copy, const struct devices *devices,
                        struct device_copy_nodes *nodes, size_t least)
{
    copy->walk.has_only_others = true;
    copy->walk.work = nodes->work - least;
    const bool is_all = copy->walk.work > 0 && devices_each_slice_some(devices, &copy->walk);
    if (!is_all)
        nodes->work = least;
    return is_all;
}

bool device_copy_read_nodes(struct device_copy *copy, const struct devices *devices,
                            bool knows_claims, struct device_copy_nodes *nodes)
{
    if (copy->devices != devices)
        nodes->n_read = 0;
    begin_step(copy, devices, knows_claims);
    if (!copy->has_rules)
        read_rules(copy, devices);
    if (!copy->has_rules)
        nodes->work = 0;
    const size_t step = nodes->work < STEP_WORK ? nodes->work : STEP_WORK;
    const size_t least = nodes->work - step;
    while (nodes->n_read < nodes->n && nodes->work > least) {
        copy->walk.work = nodes->work;
        nodes->work = devices_each_slice_on(devices, nodes->names[nodes->n_read++], &copy->walk);
    }
    bool is_all = nodes->n_read == nodes->n;
    if (is_all && copy->has_others)
        is_all = read_others(copy, devices, nodes, least);
    copy->is_done = is_all || nodes->work == 0;
    return nodes->work > 0;
}

bool device_copy_end_step(struct device_copy *copy)
{
    for (size_t i = 0; i < copy->n_read_rules; i++)
        device_copy_add_rule(copy, &copy->read_rules[i]);
    for (const struct read_slice *read = copy->read; read; read = read->next)
        device_copy_add_slice(copy, read);
    copy->n_read_rules = 0;
    copy->read = NULL;
    arena_free(copy->walk.arena);
    copy->walk.arena = NULL;
    if (copy->is_done)
        device_copy_finish_pools(copy);
    return copy->is_done;
}
