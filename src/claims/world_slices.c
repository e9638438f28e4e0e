/* world_slices: slices and devices in the allocator's form. */
#include "world_priv.h"

#include <string.h>

static const char *fault_of_device(const struct device_facts *device,
                                   const struct world_details *details,
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
static void share(struct arena *arena, const struct device_status *status,
                  struct allocate_device *device)
{
    device->is_shared = status->is_shared;
    device->has_consumed_capacity = status->n_consumed > 0;
    if (status->n_consumed == 0)
        return;
    struct allocate_capacity *capacities =
        arena_copy(arena, device->capacities, device->n_capacities, sizeof *capacities);
    for (size_t i = 0; i < status->n_consumed; i++)
        consumed_capacity_add(status->consumed[i], capacities, device->n_capacities);
    device->capacities = capacities;
}

static void copy_device(struct claims_world *world, struct world_slice *slice,
                        const struct read_slice *read, size_t i)
{
    struct arena *arena = world->arena;
    const struct device_facts *facts = &read->facts.devices[i];
    const struct device_status *status = &read->statuses[i];
    struct world_details *details = world_details_of(world, facts->details);
    const struct world_group *group = world_facts_of(world, read->facts.driver, facts, details);
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
    world_set_taints(world, slice->side, &read->facts, details, device);
    share(arena, status, device);
    if (fault && !slice->not_judged)
        slice->not_judged = fault;
}

static void copy_devices(struct claims_world *world, struct world_slice *slice,
                         const struct read_slice *read)
{
    const struct slice_facts *facts = &read->facts;
    struct world_reach *reach = NULL;
    slice->devices = ARENA_ARRAY(world->arena, struct allocate_device, facts->n_devices);
    slice->shown.devices = slice->devices;
    slice->shown.n_devices = facts->n_devices;
    if (facts->per_device)
        slice->device_reach = reach =
            ARENA_ARRAY(world->arena, struct world_reach, facts->n_devices);
    for (size_t i = 0; i < facts->n_devices; i++) {
        copy_device(world, slice, read, i);
        if (reach)
            reach[i] = (struct world_reach){arena_strdup(world->arena, facts->devices[i].node_name),
                                            world_details_of(world, facts->devices[i].details)};
    }
}

/* Details without a selector are those of all nodes. */
static struct world_reach reach_of(struct claims_world *world, const struct slice_facts *facts)
{
    return (struct world_reach){arena_strdup(world->arena, facts->node_name),
                                world_details_of(world, facts->details)};
}

static const char *fault_of(const struct slice_facts *facts, const struct world_reach *reach)
{
    if (facts->is_unreadable)
        return "a slice cannot be read";
    return reach->nodes ? reach->nodes->details.not_judged : NULL;
}

static struct world_side *side_of(struct claims_world *world, const char *driver)
{
    const bool is_other = world->policy && !policy_device_driver(world->policy, driver);
    return is_other ? &world->others : &world->named;
}

/* Returns whether the slice is read. After the first one of other drivers that is not, all later
 * ones of other drivers are left out. */
static bool wants(struct claims_world *world, struct world_side *side,
                  const struct slice_facts *facts)
{
    const bool is_other = side == &world->others;
    if (side->not_judged || (is_other && !world->has_others))
        return false;
    side->n_devices += facts->n_devices;
    if (is_other && facts->is_unreadable)
        side->not_judged = arena_printf(
            world->arena, "ResourceSlices of the driver %s cannot be read, or are left out",
            facts->driver);
    else if (side->n_devices > CLAIMS_WORLD_DEVICES_MAX)
        side->not_judged = "there are too many devices";
    return !side->not_judged;
}

/* If a slice is replaced between two holds of the lock, its first version stays, as its devices may
 * be taken. A slice that is not read also hides later versions of itself. */
void world_add_slice(struct claims_world *world, const struct read_slice *read)
{
    const struct slice_facts *facts = &read->facts;
    struct arena *arena = world->arena;
    struct world_slice *slice = NULL;
    struct world_side *side = side_of(world, facts->driver);
    HASH_FIND_STR(world->slices, facts->name, slice);
    if (slice || world->named.not_judged)
        return;
    slice = ARENA_NEW(arena, struct world_slice);
    const char *name = arena_strdup(arena, facts->name);
    HASH_ADD_KEYPTR(hh, world->slices, name, strlen(name), slice);
    if (!wants(world, side, facts))
        return;
    slice->side = side;
    slice->reach = reach_of(world, facts);
    slice->not_judged = fault_of(facts, &slice->reach);
    slice->shown = (struct allocate_slice){
        .name = name,
        .driver = arena_strdup(arena, facts->driver),
        .pool = arena_strdup(arena, facts->pool),
        .generation = facts->generation,
        .n_slices = facts->n_slices,
        .shared_counters = copy_sets(arena, facts->counter_sets, facts->n_counter_sets),
        .n_shared_counters = facts->n_counter_sets};
    copy_devices(world, slice, read);
    world_add_to_index(world, slice);
}
