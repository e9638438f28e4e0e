/* device_copy_slices: slices and devices in the allocator's form. */
#include "device_copy_priv.h"

#include <string.h>

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

static void copy_device(struct device_copy *copy, struct copied_slice *slice,
                        const struct read_slice *read, size_t i)
{
    struct arena *arena = copy->arena;
    const struct device_facts *facts = &read->facts.devices[i];
    const struct device_status *status = &read->statuses[i];
    struct copied_details *details = device_copy_details_of(copy, facts->details);
    const struct copied_group *group =
        device_copy_facts_of(copy, read->facts.driver, facts, details);
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
    share(arena, status, device);
    if (fault && !slice->not_judged)
        slice->not_judged = fault;
}

static void copy_devices(struct device_copy *copy, struct copied_slice *slice,
                         const struct read_slice *read)
{
    const struct slice_facts *facts = &read->facts;
    struct copied_reach *reach = NULL;
    slice->devices = ARENA_ARRAY(copy->arena, struct allocate_device, facts->n_devices);
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
