/* room: see room.h. */
#include "ledger/room.h"
#include "ledger/node_hot.h"

static int64_t at_least_0(int64_t amount)
{
    return amount > 0 ? amount : 0;
}

struct gpu_offer room_offer(const struct node *node, const struct resource *gpus)
{
    const struct node_hot *hot = node_hot(node);
    if (hot->gpus == gpus && !hot->has_devices)
        return (struct gpu_offer){hot->pool, hot->free_gpus, true};
    const struct node_resource *has = node_find_resource(node, gpus);
    const struct node_device_group *devices =
        hot->has_devices && (!has || has->allocatable <= 0) ? node_find_devices(node, gpus) : NULL;
    if (devices)
        return (struct gpu_offer){devices->pool, devices->free, true};
    return has ? (struct gpu_offer){has->pool, node_resource_free(has), true}
               : (struct gpu_offer){0};
}

struct room room_on(const struct node *node, int64_t free_gpus)
{
    const struct node_hot *hot = node_hot(node);
    return (struct room){at_least_0(free_gpus), at_least_0(hot->milli_cores),
                         at_least_0(hot->memory_bytes)};
}

struct room room_less(const struct room *room, const struct room *taken)
{
    return (struct room){at_least_0(room->gpus - taken->gpus),
                         at_least_0(room->milli_cores - taken->milli_cores),
                         at_least_0(room->memory_bytes - taken->memory_bytes)};
}
