/* shared: the devices of a node that claims share, with what they take. */
#include "base/mem.h"
#include "devices_priv.h"

static bool is_shared(const struct device *device)
{
    const struct device_use *use = NULL;
    if (!device->is_current)
        return false;
    DL_FOREACH (device->named->uses, use) {
        if (use->is_shared)
            return true;
    }
    return false;
}

static size_t count_capacities(const struct device *device)
{
    size_t n = 0;
    for (size_t i = 0; i < device->n_attributes; i++)
        n += device->attributes[i].value[0] == 'q';
    return n;
}

static void copy_capacities(const struct device *device, struct arena *arena,
                            struct shared_device *shared)
{
    struct device_attribute *copies =
        ARENA_ARRAY(arena, struct device_attribute, count_capacities(device));
    for (size_t i = 0; i < device->n_attributes; i++) {
        const struct device_attribute *attribute = &device->attributes[i];
        if (attribute->value[0] == 'q')
            copies[shared->n_capacities++] = (struct device_attribute){
                arena_strdup(arena, attribute->name), arena_strdup(arena, &attribute->value[1])};
    }
    shared->capacities = copies;
}

/* A whole device has the model of its GPU. */
static const struct device_kind *kind_of(const struct device *device)
{
    return gpus_is_partition(device) ? device->kind : gpus_kind(device->gpu);
}

static struct shared_device shared_of(const struct device *device, struct arena *arena,
                                      size_t *room)
{
    struct shared_device shared = {
        .driver = arena_strdup(arena, device->named->pool->key.first),
        .model_name = arena_strdup(arena, kind_of(device)->name),
        .is_partition = gpus_is_partition(device),
        .status = devices_status_of(device, arena, room),
    };
    copy_capacities(device, arena, &shared);
    shared.status.is_cut |= device->lacks_attributes;
    return shared;
}

static void copy_from(const struct node_slice *node_slice, struct arena *arena, size_t *room,
                      struct shared_devices *shared)
{
    for (size_t i = 0; i < node_slice->slice->n_devices; i++) {
        const struct device *device = &node_slice->slice->devices[i];
        if (device->node_pool == node_slice->node_pool && is_shared(device))
            shared->items[shared->n++] = shared_of(device, arena, room);
    }
}

static size_t count_devices(const struct device_place *place)
{
    const struct node_pool *node_pool = NULL;
    const struct node_slice *node_slice = NULL;
    size_t n = 0;
    DL_FOREACH2 (place->node_pools, node_pool, next_here) {
        DL_FOREACH (node_pool->node_slices, node_slice) {
            for (size_t i = 0; i < node_slice->slice->n_devices; i++) {
                const struct device *device = &node_slice->slice->devices[i];
                n += device->node_pool == node_pool && is_shared(device);
            }
        }
    }
    return n;
}

struct shared_devices devices_shared_on(const struct devices *devices, const char *node_name,
                                        struct arena *arena, size_t *room)
{
    struct shared_devices shared = {.n = 0};
    const struct device_place *place = NULL;
    const struct node_pool *node_pool = NULL;
    const struct node_slice *node_slice = NULL;
    if (devices->n_shared_uses == 0)
        return shared;
    HASH_FIND_STR(devices->places, node_name, place);
    if (!place)
        return shared;
    shared.items = ARENA_ARRAY(arena, struct shared_device, count_devices(place));
    DL_FOREACH2 (place->node_pools, node_pool, next_here) {
        DL_FOREACH (node_pool->node_slices, node_slice) {
            copy_from(node_slice, arena, room, &shared);
        }
    }
    return shared;
}
