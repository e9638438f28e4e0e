/* free_gpus: see include/decide/free_gpus.h. */
#include "decide/free_gpus.h"
#include "ledger/node_hot.h"
#include "ledger/room.h"

static bool is_stranded(const struct node *node, const struct gpu_demand *demand,
                        const struct model_pool *pool, int64_t n_free)
{
    const struct room room = room_on(node, n_free);
    for (size_t i = 0; i < demand->n_classes; i++) {
        if (room_slots(&room, &demand->classes[i], pool) > 0)
            return false;
    }
    return demand->n_classes > 0;
}

/* pool NULL: no pod that requests the resource gets the devices, so their use is unknown. */
static struct free_gpus split(const struct node *node, const struct resource *resource,
                              const struct model_pool *pool, int64_t n_free)
{
    const struct node_traits *traits = node_traits(node);
    const int64_t n = model_pool_offered(n_free);
    if (traits->unschedulable || !traits->ready)
        return (struct free_gpus){.closed = n};
    if (pool && is_stranded(node, gpu_demand_find(node_hot(node)->cluster, resource), pool, n))
        return (struct free_gpus){.stranded = n};
    return (struct free_gpus){.usable = n};
}

struct free_gpus free_gpus_of(const struct node *node, const struct node_resource *gpus)
{
    return split(node, gpus->resource, gpus->pool, node_resource_free(gpus));
}

struct free_gpus free_gpus_of_devices(const struct node *node,
                                      const struct node_device_group *devices)
{
    return split(node, devices->resource, devices->pool, devices->free);
}

int64_t free_gpus_sum(const struct free_gpus *gpus)
{
    return gpus->usable + gpus->stranded + gpus->closed;
}

void free_gpus_add(struct free_gpus *sum, const struct free_gpus *gpus)
{
    sum->usable += gpus->usable;
    sum->stranded += gpus->stranded;
    sum->closed += gpus->closed;
}
