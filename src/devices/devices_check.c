/*
 * devices_check: whether the published numbers are those of the slices, claims and rules.
 *
 * The whole check puts everything into a second struct devices and compares. The check in pieces
 * computes the states of GPUs and partitions, and the rows of nodes, where they are.
 */
#include "base/arena.h"
#include "base/mem.h"
#include "devices_priv.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct numbers_check {
    size_t n_differences;
    struct err *err; /* set by the first difference */
};

static void differs(struct numbers_check *check, const char *node_name, const char *what)
{
    if (check->n_differences++ == 0)
        (void)err_set(check->err, EINVAL, "devices of node '%s': %s", node_name, what);
}

/* Everything again. */

static void copy_slice(struct devices *copy, const struct kept_slice *slice)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct slice_facts facts = devices_facts_for_counting(slice, arena);
    devices_upsert_slice(copy, &facts);
    if (slice->is_unreadable)
        devices_keep_slice(copy, slice->name);
}

static void copy_slices(struct devices *copy, const struct devices *devices)
{
    const struct object *object = devices->objects[DEVICES_SLICES];
    for (; object; object = object->hh.next)
        copy_slice(copy, CONTAINER_OF(object, struct kept_slice, object));
}

static void copy_claims(struct devices *copy, const struct devices *devices)
{
    const struct device_claim *claim = NULL;
    while ((claim = devices_next_claim(devices, claim)) != NULL) {
        struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
        const struct claim_facts facts = devices_claim_facts(claim, arena);
        devices_upsert_claim(copy, &facts);
    }
}

static void copy_rules(struct devices *copy, const struct devices *devices)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct device_taint_facts facts;
    const char *name = NULL;
    while ((name = devices_next_taint(devices, name, arena, &facts)) != NULL)
        devices_upsert_taint(copy, &facts);
}

/* In another order than the events came: rules and claims first. */
static struct devices *copy_of(const struct devices *devices)
{
    struct devices *copy = devices_new(devices->policy);
    copy_rules(copy, devices);
    copy_claims(copy, devices);
    copy_slices(copy, devices);
    while (devices_take_changed(copy)) {
    }
    return copy;
}

static void compare_places(struct numbers_check *check, const struct devices *devices,
                           const struct devices *copy)
{
    static const struct published NOTHING;
    for (const struct device_place *place = devices->places; place; place = place->hh.next) {
        const struct device_place *other = NULL;
        HASH_FIND_STR(copy->places, place->name, other);
        if (!places_equal(&place->published, other ? &other->published : &NOTHING))
            differs(check, place->name, "the numbers differ from those of all slices and claims");
    }
    for (const struct device_place *place = copy->places; place; place = place->hh.next) {
        const struct device_place *other = NULL;
        HASH_FIND_STR(devices->places, place->name, other);
        if (!other)
            differs(check, place->name, "the node has devices, but no numbers");
    }
}

static void compare_counts(struct numbers_check *check, const char *what, size_t is,
                           size_t should_be)
{
    if (is != should_be && check->n_differences++ == 0)
        (void)err_set(check->err, EINVAL, "devices: there are %zu %s, should be %zu", is, what,
                      should_be);
}

size_t devices_check(const struct devices *devices, struct err *err)
{
    struct numbers_check check = {0, err};
    struct devices *copy = copy_of(devices);
    compare_places(&check, devices, copy);
    compare_counts(&check, "pools", HASH_COUNT(devices->pools), HASH_COUNT(copy->pools));
    compare_counts(&check, "pools on nodes", HASH_COUNT(devices->node_pools),
                   HASH_COUNT(copy->node_pools));
    compare_counts(&check, "names of devices", HASH_COUNT(devices->names), HASH_COUNT(copy->names));
    compare_counts(&check, "counter sets", HASH_COUNT(devices->sets), HASH_COUNT(copy->sets));
    compare_counts(&check, "GPUs", HASH_COUNT(devices->gpus), HASH_COUNT(copy->gpus));
    for (enum claim_state state = 0; state < N_CLAIM_STATES; state++)
        compare_counts(&check, "claims", devices->n_claims[state], copy->n_claims[state]);
    compare_counts(&check, "models", HASH_COUNT(devices->kinds), HASH_COUNT(copy->kinds));
    devices_free(copy);
    return check.n_differences;
}

/* Node by node. */

/* Checks the device, and adds what counts in the row to n. */
static void check_device(struct numbers_check *check, const struct device *device,
                         const struct device_row *row, int64_t *n)
{
    const struct gpu *gpu = device->gpu;
    if (device->state != gpus_state_of_device(device))
        differs(check, row->place->name, device->named->key.second);
    if (device->counted.row == row)
        n[device->counted.state]++;
    if (gpu->devices != device) /* each GPU once */
        return;
    if (gpu->counted.state != gpus_state(gpu) || gpu->counted.row->kind != gpus_kind(gpu))
        differs(check, row->place->name, device->named->key.second);
    if (gpu->counted.row == row)
        n[gpu->counted.state]++;
}

static size_t check_slice(struct numbers_check *check, const struct node_slice *node_slice,
                          const struct device_row *row, int64_t *n)
{
    for (size_t i = 0; i < node_slice->slice->n_devices; i++) {
        const struct device *device = &node_slice->slice->devices[i];
        if (device->node_pool == node_slice->node_pool && device->is_current)
            check_device(check, device, row, n);
    }
    return node_slice->slice->n_devices;
}

static size_t check_row(struct numbers_check *check, const struct device_row *row)
{
    int64_t n[N_DEVICE_STATES] = {0};
    const struct node_pool *node_pool = NULL;
    const struct node_slice *node_slice = NULL;
    size_t work = 1;
    DL_FOREACH2 (row->place->node_pools, node_pool, next_here) {
        DL_FOREACH (node_pool->node_slices, node_slice) {
            work += check_slice(check, node_slice, row, n);
        }
    }
    if (memcmp(n, row->n, sizeof n) != 0)
        differs(check, row->place->name, row->kind->name);
    return work;
}

static size_t check_place(struct numbers_check *check, struct devices *devices,
                          const struct device_place *place)
{
    const struct device_row *row = NULL;
    size_t work = 1;
    LL_FOREACH (place->rows, row) {
        work += check_row(check, row);
    }
    if (!places_is_published(devices, place))
        differs(check, place->name, "the published numbers are not those of the devices");
    return work;
}

bool devices_check_some(struct devices *devices, size_t work, size_t *ret_n_differences,
                        struct err *err)
{
    struct numbers_check check = {0, err};
    struct device_place *place = devices->checked_to ? devices->checked_to : devices->places;
    for (size_t done = 0; place && done < work; place = place->hh.next)
        done += check_place(&check, devices, place);
    devices->checked_to = place;
    *ret_n_differences += check.n_differences;
    return !place;
}
