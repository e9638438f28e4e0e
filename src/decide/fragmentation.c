/* fragmentation: see include/decide/fragmentation.h. */
#include "decide/fragmentation.h"
#include "ledger/room.h"

#include <stdlib.h>
#include <string.h>

/* One market on its way: an item a supply, and what of its free GPUs each class cannot use. */
struct reckoning {
    const struct market *market;
    struct fragmentation *items;
    int64_t *useless; /* by supply, then class */
};

static void add_node(struct reckoning *reckoning, const struct node *node)
{
    const struct market *market = reckoning->market;
    const struct node_resource *gpus = node_find_resource(node, market->resource);
    if (!gpus || !gpus->supply)
        return;
    const struct supply *supply = gpus->supply;
    const struct room room = room_on(node, node_resource_free(gpus));
    const int64_t free = supply_offered(gpus);
    struct fragmentation *item = &reckoning->items[supply->index];
    item->n_nodes++;
    item->free += free;
    item->n_whole += free > 0 && gpus->used <= 0 && gpus->reserved <= 0;
    item->largest_block = free > item->largest_block ? free : item->largest_block;
    for (size_t i = 0; i < market->n_classes; i++) {
        if (room_slots(&room, &market->classes[i], supply) == 0)
            reckoning->useless[supply->index * market->n_classes + i] += free;
    }
}

static double weight_of(const struct market_class *class)
{
    return (double)class->n_live * (double)class->gpus;
}

/* What is summed are whole numbers, in an order that does not depend on the nodes'. */
static double mean_of(const struct market *market, const int64_t *useless)
{
    double sum = 0;
    double weights = 0;
    for (size_t i = 0; i < market->n_classes; i++) {
        sum += weight_of(&market->classes[i]) * (double)useless[i];
        weights += weight_of(&market->classes[i]);
    }
    return weights > 0 ? sum / weights : 0;
}

static int compare_models(const void *a, const void *b)
{
    return strcmp(((const struct fragmentation *)a)->model,
                  ((const struct fragmentation *)b)->model);
}

static void reckon(const struct cluster *cluster, const struct market *market,
                   struct fragmentation *items, struct arena *arena)
{
    struct reckoning reckoning = {
        .market = market,
        .items = items,
        .useless = ARENA_ARRAY(arena, int64_t, market->n_supplies * market->n_classes),
    };
    for (size_t i = 0; i < market->n_supplies; i++) {
        items[i].resource = market->resource;
        items[i].model = market->supplies[i]->model;
    }
    for (const struct node *node = cluster_next_node(cluster, NULL); node;
         node = cluster_next_node(cluster, node))
        add_node(&reckoning, node);
    for (size_t i = 0; i < market->n_supplies; i++)
        items[i].fragmented = mean_of(market, &reckoning.useless[i * market->n_classes]);
    qsort(items, market->n_supplies, sizeof *items, compare_models);
}

struct fragmentations fragmentation_of(const struct cluster *cluster, struct arena *arena)
{
    struct fragmentations all = {0};
    const struct market *market = NULL;
    size_t n = 0;
    while ((market = cluster_next_market(cluster, market)))
        n += market->n_supplies;
    all.items = ARENA_ARRAY(arena, struct fragmentation, n);
    while ((market = cluster_next_market(cluster, market))) {
        reckon(cluster, market, &all.items[all.n], arena);
        all.n += market->n_supplies;
    }
    return all;
}
