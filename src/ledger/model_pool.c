/* model_pool: counts free GPUs by resource and model, updated with each change of a node. */
#include "base/mem.h"
#include "ledger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Keeps sums below INT64_MAX, whatever nodes report. */
#define OFFERED_MAX (INT64_C(1) << 40)

int64_t model_pool_offered(int64_t free)
{
    if (free < 0)
        return 0;
    return free < OFFERED_MAX ? free : OFFERED_MAX;
}

void model_pool_take(struct node_resource *entry)
{
    if (entry->pool)
        entry->pool->free -= model_pool_offered(node_resource_free(entry));
}

void model_pool_give(struct node_resource *entry)
{
    if (entry->pool)
        entry->pool->free += model_pool_offered(node_resource_free(entry));
}

static struct model_pool *find_or_make(struct gpu_demand *demand, const char *model)
{
    for (size_t i = 0; i < demand->n_pools; i++) {
        if (strcmp(demand->pools[i]->model, model) == 0)
            return demand->pools[i];
    }
    struct model_pool *pool = MEM_NEW(struct model_pool);
    pool->model = mem_strdup(model);
    pool->index = demand->n_pools++;
    demand->pools = mem_grow(demand->pools, demand->n_pools, sizeof(struct model_pool *));
    demand->pools[pool->index] = pool;
    return pool;
}

bool model_pool_takes(const struct node_resource *gpus)
{
    return gpus->resource->is_gpu && gpus->advertised && gpus->allocatable > 0;
}

bool model_pool_takes_devices(const struct node *node, const struct node_device_group *group)
{
    return group->resource && !group->is_shadowed && node_gives_by_claim(node, group->resource);
}

static bool is_open(const struct node *node)
{
    return node->traits && !node->traits->traits.unschedulable;
}

bool model_pool_is_offered(const struct node *node, const struct node_resource *entry)
{
    return is_open(node) && model_pool_takes(entry);
}

/* Parts have pools of their own: a slice is useless to a pod that needs a whole GPU. */
const char *model_pool_name(const struct node_traits *traits, const char *resource,
                            char name[MODEL_POOL_NAME_BYTES])
{
    char model[2 * GPU_MODEL_TEXT_MAX];
    const struct gpu_unit *unit = node_traits_unit(traits, resource);
    const bool slices = unit && unit->is_slice;
    (void)snprintf(name, MODEL_POOL_NAME_BYTES, "%s%s%s%s",
                   gpu_model_text(&node_traits_gpus(traits, resource)->model, model),
                   slices ? "-MIG-" : "", slices ? unit->partition : "",
                   unit && unit->is_shared ? "-SHARED" : "");
    return name;
}

bool model_pool_has_devices(const struct node *node, const struct node_device_group *group)
{
    return is_open(node) && model_pool_takes_devices(node, group);
}

static void enter_devices(struct cluster *cluster, struct node *node)
{
    for (size_t i = 0; i < node->n_devices; i++) {
        struct node_device_group *group = &node->devices[i];
        if (!model_pool_has_devices(node, group))
            continue;
        group->pool = find_or_make(gpu_demand_find_or_add(cluster, group->resource), group->model);
        group->pool->n_nodes++;
        group->pool->free += model_pool_offered(group->free);
    }
}

static void leave_devices(struct node *node)
{
    for (size_t i = 0; i < node->n_devices; i++) {
        struct node_device_group *group = &node->devices[i];
        if (!group->pool)
            continue;
        group->pool->free -= model_pool_offered(group->free);
        group->pool->n_nodes--;
        group->pool = NULL;
    }
}

void model_pool_enter(struct cluster *cluster, struct node *node)
{
    char name[MODEL_POOL_NAME_BYTES];
    for (size_t i = 0; i < node->n_resources; i++) {
        struct node_resource *entry = &node->resources[i];
        if (!model_pool_is_offered(node, entry))
            continue;
        struct gpu_demand *demand = gpu_demand_find_or_add(cluster, entry->resource);
        entry->pool = find_or_make(
            demand, model_pool_name(&node->traits->traits, entry->resource->name, name));
        entry->pool->n_nodes++;
        model_pool_give(entry);
    }
    enter_devices(cluster, node);
}

void model_pool_leave(struct node *node)
{
    for (size_t i = 0; i < node->n_resources; i++) {
        struct node_resource *entry = &node->resources[i];
        if (!entry->pool)
            continue;
        model_pool_take(entry);
        entry->pool->n_nodes--;
        entry->pool = NULL;
    }
    leave_devices(node);
}
