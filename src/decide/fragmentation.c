/* fragmentation: see include/decide/fragmentation.h. */
#include "decide/fragmentation.h"
#include "ledger/node_hot.h"
#include "ledger/room.h"

#include <stdlib.h>
#include <string.h>

const int64_t FRAGMENTATION_SIZE[FRAGMENTATION_SIZES] = {2, 4, 8};

/* GPUs of a node. */
struct offered_gpus {
    const struct node *node;
    const char *resource;            /* or driver */
    const struct gpu_demand *demand; /* this and the next: NULL if the node is cordoned, or no pod
                                        gets the devices by a resource */
    const struct model_pool *pool;
    const char *model; /* as in struct model_pool; valid while it is seen */
    const char *unit;
    struct free_gpus free;
    bool in_use;
};

typedef void see_gpus(void *context, const struct offered_gpus *gpus);

static const struct gpu_demand *demand_of(const struct node *node, const struct model_pool *pool,
                                          const struct resource *resource)
{
    return pool ? gpu_demand_find(node_hot(node)->cluster, resource) : NULL;
}

static void see_resource(const struct node *node, const struct node_resource *row, see_gpus *see,
                         void *context)
{
    char name[MODEL_POOL_NAME_BYTES];
    const struct node_traits *traits = node_traits(node);
    const char *resource = row->resource->name;
    see(context,
        &(struct offered_gpus){
            .node = node,
            .resource = resource,
            .demand = demand_of(node, row->pool, row->resource),
            .pool = row->pool,
            .model = row->pool ? row->pool->model : model_pool_name(traits, resource, name),
            .unit = gpu_unit_word(node_traits_unit(traits, resource)),
            .free = free_gpus_of(node, row),
            .in_use = row->used > 0 || row->reserved > 0,
        });
}

static void see_devices(const struct node *node, const struct node_device_group *group,
                        see_gpus *see, void *context)
{
    const bool stands = model_pool_takes_devices(node, group);
    see(context, &(struct offered_gpus){
                     .node = node,
                     .resource = stands ? group->resource->name : group->driver,
                     .demand = demand_of(node, group->pool, group->resource),
                     .pool = group->pool,
                     .model = group->model,
                     .unit = gpu_unit_word(NULL),
                     .free = free_gpus_of_devices(node, group),
                     .in_use = group->allocated > 0,
                 });
}

static void see_node(const struct node *node, see_gpus *see, void *context)
{
    size_t n = 0;
    const struct node_resource *rows = node_resources(node, &n);
    for (size_t i = 0; i < n; i++) {
        if (model_pool_takes(&rows[i]))
            see_resource(node, &rows[i], see, context);
    }
    const struct node_device_group *groups = node_device_groups(node, &n);
    for (size_t i = 0; i < n; i++) {
        if (!groups[i].is_shadowed)
            see_devices(node, &groups[i], see, context);
    }
}

static void see_nodes(const struct cluster *cluster, const struct selector_term *labels,
                      see_gpus *see, void *context)
{
    for (const struct node *node = NULL; (node = cluster_next_node(cluster, node));) {
        if (selector_term_holds(labels, &node_traits(node)->view))
            see_node(node, see, context);
    }
}

/* ---- what they are good for ---- */

/* Adds to useless, by class, the free GPUs that it cannot use. Closed nodes have none. */
static void add_useless(const struct offered_gpus *gpus, int64_t *useless)
{
    const struct gpu_demand *demand = gpus->demand;
    const int64_t n_free = gpus->free.usable + gpus->free.stranded;
    const struct room room = room_on(gpus->node, n_free);
    for (size_t i = 0; demand && n_free > 0 && i < demand->n_classes; i++) {
        if (room_slots(&room, &demand->classes[i], gpus->pool) == 0)
            useless[i] += n_free;
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
    for (size_t i = 0; demand && i < demand->n_classes; i++) {
        sum += weight_of(&demand->classes[i]) * (double)useless[i];
        weights += weight_of(&demand->classes[i]);
    }
    return weights > 0 ? sum / weights : 0;
}

/* ---- by model ---- */

struct model_sums {
    struct fragmentation sum;
    const struct gpu_demand *demand;         /* NULL: of no open node */
    int64_t useless[GPU_DEMAND_CLASSES_MAX]; /* by class: free GPUs that it cannot use */
};

struct all_sums {
    struct arena *arena;
    struct model_sums *items;
    size_t n, room;
};

static struct model_sums *find_or_add(struct all_sums *all, const struct offered_gpus *gpus)
{
    for (size_t i = 0; i < all->n; i++) {
        const struct fragmentation *sum = &all->items[i].sum;
        if (strcmp(sum->resource, gpus->resource) == 0 && strcmp(sum->model, gpus->model) == 0)
            return &all->items[i];
    }
    all->items = arena_grow(all->arena, all->items, all->n, &all->room, sizeof *all->items);
    all->items[all->n].sum = (struct fragmentation){
        .resource = gpus->resource,
        .model = arena_strdup(all->arena, gpus->model),
        .unit = gpus->unit,
    };
    return &all->items[all->n++];
}

static bool comes_before(const struct stranded_node *a, const struct stranded_node *b)
{
    return a->gpus != b->gpus ? a->gpus > b->gpus : strcmp(a->node, b->node) < 0;
}

static void add_stranded(struct fragmentation *sum, const struct offered_gpus *gpus)
{
    const struct node_hot *hot = node_hot(gpus->node);
    const bool lacks_memory = strcmp(gpus->free.because, "memory") == 0;
    const struct stranded_node node = {
        .node = node_name(gpus->node),
        .because = gpus->free.because,
        .gpus = gpus->free.stranded,
        .left = lacks_memory          ? hot->memory_bytes
                : *gpus->free.because ? hot->milli_cores
                                      : 0,
    };
    const size_t n = sum->n_stranded++;
    size_t at = n < FRAGMENTATION_STRANDED_MAX ? n : FRAGMENTATION_STRANDED_MAX;
    for (; at > 0 && comes_before(&node, &sum->stranded[at - 1]); at--) {
        if (at < FRAGMENTATION_STRANDED_MAX)
            sum->stranded[at] = sum->stranded[at - 1];
    }
    if (at < FRAGMENTATION_STRANDED_MAX)
        sum->stranded[at] = node;
}

static void add_gpus(void *context, const struct offered_gpus *gpus)
{
    struct all_sums *all = context;
    struct model_sums *item = find_or_add(all, gpus);
    struct fragmentation *sum = &item->sum;
    const int64_t n_open = gpus->free.usable + gpus->free.stranded;
    if (gpus->demand)
        item->demand = gpus->demand;
    sum->n_nodes += !node_traits(gpus->node)->unschedulable;
    free_gpus_add(&sum->free, &gpus->free);
    sum->n_whole += n_open > 0 && !gpus->in_use;
    sum->largest_block = n_open > sum->largest_block ? n_open : sum->largest_block;
    for (size_t i = 0; i < FRAGMENTATION_SIZES; i++)
        sum->rooms[i] += gpus->free.usable / FRAGMENTATION_SIZE[i];
    if (gpus->free.stranded > 0)
        add_stranded(sum, gpus);
    add_useless(gpus, item->useless);
}

static int compare(const void *a, const void *b)
{
    const struct fragmentation *one = a;
    const struct fragmentation *other = b;
    const int order = strcmp(one->resource, other->resource);
    return order != 0 ? order : strcmp(one->model, other->model);
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
    struct all_sums sums = {.arena = arena};
    see_nodes(cluster, labels, add_gpus, &sums);
    struct fragmentations all = {ARENA_ARRAY(arena, struct fragmentation, sums.n), sums.n};
    for (size_t i = 0; i < sums.n; i++) {
        all.items[i] = sums.items[i].sum;
        all.items[i].fragmented = mean_of(sums.items[i].demand, sums.items[i].useless);
    }
    if (all.n > 1)
        qsort(all.items, all.n, sizeof *all.items, compare);
    return all;
}

/* ---- by node ---- */

struct node_rows {
    struct arena *arena;
    struct node_fragmentations all;
    size_t room;
};

static void add_row(void *context, const struct offered_gpus *gpus)
{
    struct node_rows *rows = context;
    struct node_fragmentations *all = &rows->all;
    int64_t useless[GPU_DEMAND_CLASSES_MAX] = {0};
    add_useless(gpus, useless);
    const double fragmented = mean_of(gpus->demand, useless);
    if (!gpus->pool || fragmented <= 0)
        return;
    all->items = arena_grow(rows->arena, all->items, all->n, &rows->room, sizeof *all->items);
    all->items[all->n++] = (struct node_fragmentation){
        .node = node_name(gpus->node),
        .resource = gpus->resource,
        .model = gpus->pool->model,
        .free = free_gpus_sum(&gpus->free),
        .fragmented = fragmented,
    };
}

struct node_fragmentations fragmentation_of_nodes(const struct cluster *cluster,
                                                  const struct selector_term *labels,
                                                  struct arena *arena)
{
    struct node_rows rows = {.arena = arena};
    see_nodes(cluster, labels, add_row, &rows);
    return rows.all;
}
