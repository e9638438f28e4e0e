/* free_gpus: see include/decide/fragmentation.h. */
#include "decide/fragmentation.h"
#include "ledger/node_hot.h"
#include "ledger/quarantine.h"
#include "ledger/room.h"

static bool fits_one(const struct room *room, const struct gpu_demand *demand,
                     const struct model_pool *pool)
{
    for (size_t i = 0; i < demand->n_classes; i++) {
        if (room_slots(room, &demand->classes[i], pool) > 0)
            return true;
    }
    return demand->n_classes == 0;
}

/* NULL: some class fits. */
static const char *stranded_because(const struct room *room, const struct gpu_demand *demand,
                                    const struct model_pool *pool)
{
    struct room more = *room;
    if (fits_one(room, demand, pool))
        return NULL;
    more.memory_bytes = INT64_MAX;
    if (fits_one(&more, demand, pool))
        return "memory";
    more.milli_cores = INT64_MAX;
    return fits_one(&more, demand, pool) ? "cpu" : "";
}

/* pool NULL: no pod that requests the resource gets the devices, so their use is unknown. */
static struct free_gpus split(const struct node *node, const struct resource *resource,
                              const struct model_pool *pool, int64_t n_free)
{
    const struct node_traits *traits = node_traits(node);
    const int64_t n = model_pool_offered(n_free);
    if (traits->unschedulable || !traits->ready)
        return (struct free_gpus){.closed = n};
    if (!pool)
        return (struct free_gpus){.usable = n};
    const struct room room = room_on(node, n);
    const char *because =
        stranded_because(&room, gpu_demand_find(node_hot(node)->cluster, resource), pool);
    if (n > 0 && because)
        return (struct free_gpus){.stranded = n, .because = because};
    return (struct free_gpus){.usable = n};
}

struct free_gpus free_gpus_of(const struct node *node, const struct node_resource *gpus)
{
    if (node_mark_closes(node))
        return (struct free_gpus){.closed = model_pool_offered(node_resource_free(gpus))};
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
