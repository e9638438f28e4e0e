/*
 * devices_check: whether the published numbers are those of the devices. Computes the states of
 * GPUs and partitions, and the rows of nodes, where they are.
 */
#include "devices_priv.h"

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
