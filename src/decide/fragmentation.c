/* fragmentation: see include/decide/fragmentation.h. */
#include "decide/fragmentation.h"
#include "ledger/room.h"

#include <stdlib.h>
#include <string.h>

/* State for one demand: one item per pool, and per class the free GPUs that it cannot use. */
struct pool_sums {
    const struct gpu_demand *demand;
    struct fragmentation *items;
    int64_t *useless; /* by pool, then class */
};

static void add_gpus(struct pool_sums *sums, const struct node *node, const struct model_pool *pool,
                     int64_t free_gpus, bool in_use)
{
    const struct gpu_demand *demand = sums->demand;
    if (!pool)
        return;
    const struct room room = room_on(node, free_gpus);
    const int64_t free = model_pool_offered(free_gpus);
    struct fragmentation *item = &sums->items[pool->index];
    item->n_nodes++;
    item->free += free;
    item->n_whole += free > 0 && !in_use;
    item->largest_block = free > item->largest_block ? free : item->largest_block;
    for (size_t i = 0; i < demand->n_classes; i++) {
        if (room_slots(&room, &demand->classes[i], pool) == 0)
            sums->useless[pool->index * demand->n_classes + i] += free;
    }
}

static void add_node(struct pool_sums *sums, const struct node *node)
{
    const struct resource *resource = sums->demand->resource;
    const struct node_resource *gpus = node_find_resource(node, resource);
    size_t n = 0;
    const struct node_device_group *groups = node_device_groups(node, &n);
    if (gpus)
        add_gpus(sums, node, gpus->pool, node_resource_free(gpus),
                 gpus->used > 0 || gpus->reserved > 0);
    for (size_t i = 0; i < n; i++) {
        if (groups[i].resource == resource)
            add_gpus(sums, node, groups[i].pool, groups[i].free, groups[i].allocated > 0);
    }
}

static double weight_of(const struct demand_class *class)
{
    return (double)class->n_live * (double)class->gpus;
}

/* The sums are of whole numbers, so the order of nodes does not matter. */
static double mean_of(const struct gpu_demand *demand, const int64_t *useless)
{
    double sum = 0;
    double weights = 0;
    for (size_t i = 0; i < demand->n_classes; i++) {
        sum += weight_of(&demand->classes[i]) * (double)useless[i];
        weights += weight_of(&demand->classes[i]);
    }
    return weights > 0 ? sum / weights : 0;
}

static int compare_models(const void *a, const void *b)
{
    return strcmp(((const struct fragmentation *)a)->model,
                  ((const struct fragmentation *)b)->model);
}

static void compute(const struct cluster *cluster, const struct gpu_demand *demand,
                    struct fragmentation *items, struct arena *arena)
{
    struct pool_sums sums = {
        .demand = demand,
        .items = items,
        .useless = ARENA_ARRAY(arena, int64_t, demand->n_pools * demand->n_classes),
    };
    for (size_t i = 0; i < demand->n_pools; i++) {
        items[i].resource = demand->resource;
        items[i].model = demand->pools[i]->model;
    }
    for (const struct node *node = cluster_next_node(cluster, NULL); node;
         node = cluster_next_node(cluster, node))
        add_node(&sums, node);
    for (size_t i = 0; i < demand->n_pools; i++)
        items[i].fragmented = mean_of(demand, &sums.useless[i * demand->n_classes]);
    qsort(items, demand->n_pools, sizeof *items, compare_models);
}

struct fragmentations fragmentation_of(const struct cluster *cluster, struct arena *arena)
{
    struct fragmentations all = {0};
    const struct gpu_demand *demand = NULL;
    size_t n = 0;
    while ((demand = gpu_demand_next(cluster, demand)))
        n += demand->n_pools;
    all.items = ARENA_ARRAY(arena, struct fragmentation, n);
    while ((demand = gpu_demand_next(cluster, demand))) {
        compute(cluster, demand, &all.items[all.n], arena);
        all.n += demand->n_pools;
    }
    return all;
}
