/* fragmentation: see include/decide/fragmentation.h. */
#include "decide/fragmentation.h"
#include "ledger/room.h"

#include <stdlib.h>
#include <string.h>

/* GPUs of a node that its pool counts. */
struct pooled_gpus {
    const struct node *node;
    const struct model_pool *pool;
    int64_t free_gpus;
    bool in_use;
};

/* Sees the GPUs of one demand. */
typedef void see_gpus(void *context, const struct gpu_demand *demand,
                      const struct pooled_gpus *gpus);

/* Adds to useless, by class, the free GPUs that it cannot use. */
static void add_useless(const struct gpu_demand *demand, const struct pooled_gpus *gpus,
                        int64_t *useless)
{
    const struct room room = room_on(gpus->node, gpus->free_gpus);
    for (size_t i = 0; i < demand->n_classes; i++) {
        if (room_slots(&room, &demand->classes[i], gpus->pool) == 0)
            useless[i] += model_pool_offered(gpus->free_gpus);
    }
}

static void see_node(const struct gpu_demand *demand, const struct node *node, see_gpus *see,
                     void *context)
{
    const struct node_resource *gpus = node_find_resource(node, demand->resource);
    size_t n = 0;
    const struct node_device_group *groups = node_device_groups(node, &n);
    if (gpus && gpus->pool)
        see(context, demand,
            &(struct pooled_gpus){node, gpus->pool, node_resource_free(gpus),
                                  gpus->used > 0 || gpus->reserved > 0});
    for (size_t i = 0; i < n; i++) {
        if (groups[i].resource == demand->resource && groups[i].pool)
            see(context, demand,
                &(struct pooled_gpus){node, groups[i].pool, groups[i].free,
                                      groups[i].allocated > 0});
    }
}

/* The nodes that count. */
struct node_choice {
    const struct cluster *cluster;
    const struct selector_term *labels;
};

static void see_nodes(const struct node_choice *choice, const struct gpu_demand *demand,
                      see_gpus *see, void *context)
{
    const struct cluster *cluster = choice->cluster;
    for (const struct node *node = cluster_next_node(cluster, NULL); node;
         node = cluster_next_node(cluster, node)) {
        if (selector_term_holds(choice->labels, &node_traits(node)->view))
            see_node(demand, node, see, context);
    }
}

/* State for one demand: one item per pool, and per class the free GPUs that it cannot use. */
struct pool_sums {
    struct fragmentation *items;
    int64_t *useless; /* by pool, then class */
};

static void add_gpus(void *context, const struct gpu_demand *demand, const struct pooled_gpus *gpus)
{
    struct pool_sums *sums = context;
    const int64_t free = model_pool_offered(gpus->free_gpus);
    const bool is_ready = node_traits(gpus->node)->ready;
    struct fragmentation *item = &sums->items[gpus->pool->index];
    item->n_nodes++;
    item->free += free;
    item->n_whole += is_ready && free > 0 && !gpus->in_use;
    item->largest_block = is_ready && free > item->largest_block ? free : item->largest_block;
    add_useless(demand, gpus, &sums->useless[gpus->pool->index * demand->n_classes]);
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

static void compute(const struct node_choice *choice, const struct gpu_demand *demand,
                    struct fragmentation *items, struct arena *arena)
{
    struct pool_sums sums = {
        .items = items,
        .useless = ARENA_ARRAY(arena, int64_t, demand->n_pools * demand->n_classes),
    };
    for (size_t i = 0; i < demand->n_pools; i++) {
        items[i].resource = demand->resource;
        items[i].model = demand->pools[i]->model;
    }
    see_nodes(choice, demand, add_gpus, &sums);
    for (size_t i = 0; i < demand->n_pools; i++)
        items[i].fragmented = mean_of(demand, &sums.useless[i * demand->n_classes]);
    qsort(items, demand->n_pools, sizeof *items, compare_models);
}

struct fragmentations fragmentation_of(const struct cluster *cluster, struct arena *arena)
{
    const struct selector_term all = {0};
    return fragmentation_of_labelled(cluster, &all, arena);
}

struct fragmentations fragmentation_of_labelled(const struct cluster *cluster,
                                                const struct selector_term *labels,
                                                struct arena *arena)
{
    const struct node_choice choice = {cluster, labels};
    struct fragmentations all = {0};
    const struct gpu_demand *demand = NULL;
    size_t n = 0;
    while ((demand = gpu_demand_next(cluster, demand)))
        n += demand->n_pools;
    all.items = ARENA_ARRAY(arena, struct fragmentation, n);
    while ((demand = gpu_demand_next(cluster, demand))) {
        compute(&choice, demand, &all.items[all.n], arena);
        all.n += demand->n_pools;
    }
    return all;
}

static void count(void *context, const struct gpu_demand *demand, const struct pooled_gpus *gpus)
{
    size_t *n = context;
    (void)demand;
    (void)gpus;
    (*n)++;
}

static void add_row(void *context, const struct gpu_demand *demand, const struct pooled_gpus *gpus)
{
    struct node_fragmentations *rows = context;
    int64_t useless[GPU_DEMAND_CLASSES_MAX] = {0};
    add_useless(demand, gpus, useless);
    const double fragmented = mean_of(demand, useless);
    if (fragmented > 0)
        rows->items[rows->n++] = (struct node_fragmentation){
            .node = node_name(gpus->node),
            .resource = demand->resource,
            .model = gpus->pool->model,
            .free = model_pool_offered(gpus->free_gpus),
            .fragmented = fragmented,
        };
}

struct node_fragmentations fragmentation_of_nodes(const struct cluster *cluster,
                                                  const struct selector_term *labels,
                                                  struct arena *arena)
{
    const struct node_choice choice = {cluster, labels};
    struct node_fragmentations rows = {0};
    const struct gpu_demand *demand = NULL;
    size_t n = 0;
    while ((demand = gpu_demand_next(cluster, demand)))
        see_nodes(&choice, demand, count, &n);
    rows.items = ARENA_ARRAY(arena, struct node_fragmentation, n);
    while ((demand = gpu_demand_next(cluster, demand)))
        see_nodes(&choice, demand, add_row, &rows);
    return rows;
}
