/* room: see room.h. */
#include "room.h"

static int64_t at_least_0(int64_t amount)
{
    return amount > 0 ? amount : 0;
}

static int64_t free_of(const struct node *node, const struct resource *resource)
{
    const struct node_resource *has = node_find_resource(node, resource);
    return has ? at_least_0(node_resource_free(has)) : 0;
}

struct room_resources room_resources_of(const struct cluster *cluster)
{
    return (struct room_resources){cluster_find_resource(cluster, "cpu"),
                                   cluster_find_resource(cluster, "memory")};
}

struct room room_on(const struct node *node, const struct node_resource *gpus,
                    const struct room_resources *resources)
{
    return (struct room){at_least_0(node_resource_free(gpus)), free_of(node, resources->cpu),
                         free_of(node, resources->memory)};
}

struct room room_less(const struct room *room, const struct room *taken)
{
    return (struct room){at_least_0(room->gpus - taken->gpus),
                         at_least_0(room->milli_cores - taken->milli_cores),
                         at_least_0(room->memory_bytes - taken->memory_bytes)};
}
