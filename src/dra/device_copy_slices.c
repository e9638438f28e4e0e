/* device_copy_slices: slices and devices in the allocator's form. */
#include "base/mem.h"
#include "device_copy_priv.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

/* Which pools may concern which nodes.
 *
 * A pool concerns the nodes that reach one of its slices or devices. Slices with shared counters
 * concern all nodes, but matter on nodes without devices of the pool only if the pool is in
 * disorder: only then is such a pool wide. */

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

static void device_copy_add_to_index(struct device_copy *copy, struct copied_slice *slice)
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

static const char *fault_of_device(const struct device_facts *device,
                                   const struct copied_details *details,
                                   const struct device_status *status)
{
    if (device->not_judged)
        return "a device has a member that is not understood";
    if (details && details->details.not_judged)
        return details->details.not_judged;
    return status->is_cut ? "too many claims use a device" : NULL;
}

static const struct allocate_counter *copy_counters(struct arena *arena,
                                                    const struct counter_set *set)
{
    struct allocate_counter *counters =
        ARENA_ARRAY(arena, struct allocate_counter, set->n_counters);
    for (size_t i = 0; i < set->n_counters; i++)
        counters[i] = (struct allocate_counter){arena_strdup(arena, set->counters[i].name),
                                                set->counters[i].amount};
    return counters;
}

static const struct allocate_counter_set *copy_sets(struct arena *arena,
                                                    const struct counter_set *sets, size_t n)
{
    struct allocate_counter_set *copies = ARENA_ARRAY(arena, struct allocate_counter_set, n);
    for (size_t i = 0; i < n; i++)
        copies[i] = (struct allocate_counter_set){.name = arena_strdup(arena, sets[i].name),
                                                  .counters = copy_counters(arena, &sets[i]),
                                                  .n_counters = sets[i].n_counters};
    return copies;
}

/* Sets the shares of the device that claims use. */
static void share(const struct device_copy *copy, const struct device_status *status,
                  struct allocate_device *device)
{
    device->is_shared = status->is_shared;
    device->has_consumed_capacity = status->n_consumed > 0;
    if (status->n_consumed == 0)
        return;
    struct allocate_capacity *capacities =
        arena_copy(copy->arena, device->capacities, device->n_capacities, sizeof *capacities);
    for (size_t i = 0; i < status->n_consumed; i++)
        copy->reader->add_consumed(status->consumed[i], capacities, device->n_capacities);
    device->capacities = capacities;
}

static const char *gpu_name(struct arena *arena, const struct device_facts *facts)
{
    if (facts->physical && facts->physical[0])
        return arena_strdup(arena, facts->physical);
    return arena_strdup(arena, facts->n_consumes > 0 ? facts->consumes[0].name : facts->name);
}

static void copy_device(struct device_copy *copy, struct copied_slice *slice,
                        const struct read_slice *read, size_t i)
{
    struct arena *arena = copy->arena;
    const struct device_facts *facts = &read->facts.devices[i];
    const struct device_status *status = &read->statuses[i];
    struct copied_details *details = device_copy_details_of(copy, facts->details);
    const struct copied_group *before =
        i > 0 ? CONTAINER_OF(slice->devices[i - 1].facts, const struct copied_group, facts) : NULL;
    const struct copied_group *group =
        device_copy_facts_of(copy, read->facts.driver, facts, details, before);
    const char *fault = fault_of_device(facts, details, status);
    struct allocate_device *device = &slice->devices[i];
    *device = (struct allocate_device){
        .name = arena_strdup(arena, facts->name),
        .facts = &group->facts,
        .consumes = copy_sets(arena, facts->consumes, facts->n_consumes),
        .n_consumes = facts->n_consumes,
        .is_allocated = status->is_allocated,
        .binding_conditions = details ? details->details.binding_conditions : NULL,
        .binds_to_node = details && details->details.binds_to_node,
        .capacities = group->capacities,
        .n_capacities = group->n_capacities,
        .not_judged = group->not_judged};
    device_copy_set_taints(copy, slice->drivers, &read->facts, details, device);
    share(copy, status, device);
    slice->gpus[i] = (struct copied_gpu){gpu_name(arena, facts), facts->memory_bytes};
    if (fault && !slice->not_judged)
        slice->not_judged = fault;
}

static void copy_devices(struct device_copy *copy, struct copied_slice *slice,
                         const struct read_slice *read)
{
    const struct slice_facts *facts = &read->facts;
    struct copied_reach *reach = NULL;
    slice->devices = ARENA_ARRAY(copy->arena, struct allocate_device, facts->n_devices);
    slice->gpus = ARENA_ARRAY(copy->arena, struct copied_gpu, facts->n_devices);
    slice->shown.devices = slice->devices;
    slice->shown.n_devices = facts->n_devices;
    if (facts->per_device)
        slice->device_reach = reach =
            ARENA_ARRAY(copy->arena, struct copied_reach, facts->n_devices);
    for (size_t i = 0; i < facts->n_devices; i++) {
        copy_device(copy, slice, read, i);
        if (reach)
            reach[i] =
                (struct copied_reach){arena_strdup(copy->arena, facts->devices[i].node_name),
                                      device_copy_details_of(copy, facts->devices[i].details)};
    }
}

/* Details without a selector are those of all nodes. */
static struct copied_reach reach_of(struct device_copy *copy, const struct slice_facts *facts)
{
    return (struct copied_reach){arena_strdup(copy->arena, facts->node_name),
                                 device_copy_details_of(copy, facts->details)};
}

static const char *fault_of(const struct slice_facts *facts, const struct copied_reach *reach)
{
    if (facts->is_unreadable)
        return "a slice cannot be read";
    return reach->nodes ? reach->nodes->details.not_judged : NULL;
}

static struct copied_drivers *drivers_of(struct device_copy *copy, const char *driver)
{
    const bool is_other = copy->policy && !policy_device_driver(copy->policy, driver);
    return is_other ? &copy->others : &copy->named;
}

/* Returns whether the slice is read. After the first one of other drivers that is not, all later
 * ones of other drivers are left out. */
static bool wants(struct device_copy *copy, struct copied_drivers *drivers,
                  const struct slice_facts *facts)
{
    const bool is_other = drivers == &copy->others;
    if (drivers->not_judged || (is_other && !copy->has_others))
        return false;
    drivers->n_devices += facts->n_devices;
    if (is_other && facts->is_unreadable)
        drivers->not_judged = arena_printf(
            copy->arena, "ResourceSlices of the driver %s cannot be read, or are left out",
            facts->driver);
    else if (drivers->n_devices > DEVICE_COPY_DEVICES_MAX)
        drivers->not_judged = "there are too many devices";
    return !drivers->not_judged;
}

/* If a slice is replaced between two holds of the lock, its first version stays, as its devices may
 * be taken. A slice that is not read also hides later versions of itself. */
void device_copy_add_slice(struct device_copy *copy, const struct read_slice *read)
{
    const struct slice_facts *facts = &read->facts;
    struct arena *arena = copy->arena;
    struct copied_slice *slice = NULL;
    struct copied_drivers *drivers = drivers_of(copy, facts->driver);
    HASH_FIND_STR(copy->slices, facts->name, slice);
    if (slice || copy->named.not_judged)
        return;
    slice = ARENA_NEW(arena, struct copied_slice);
    const char *name = arena_strdup(arena, facts->name);
    HASH_ADD_KEYPTR(hh, copy->slices, name, strlen(name), slice);
    if (!wants(copy, drivers, facts))
        return;
    slice->drivers = drivers;
    slice->reach = reach_of(copy, facts);
    slice->not_judged = fault_of(facts, &slice->reach);
    slice->shown = (struct allocate_slice){
        .name = name,
        .driver = arena_strdup(arena, facts->driver),
        .pool = arena_strdup(arena, facts->pool),
        .generation = facts->generation,
        .n_slices = facts->n_slices,
        .shared_counters = copy_sets(arena, facts->counter_sets, facts->n_counter_sets),
        .n_shared_counters = facts->n_counter_sets};
    copy_devices(copy, slice, read);
    device_copy_add_to_index(copy, slice);
}
