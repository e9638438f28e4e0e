/* market: the choice of classes, and what may be asked. See include/ledger/market.h; the counting
 * is in supply.c and wanting.c. */
#include "ledger/market.h"
#include "base/mem.h"
#include "ledger.h"
#include "ledger/admit.h"
#include "ledger/shape_copy.h"

#include <stdlib.h>
#include <string.h>

/* Of the shapes that want most, those that no node is large enough for are passed over; but no more
 * than so many are looked at. */
#define LOOKED_AT_MAX 1024

/* By name, so that sums over markets do not depend on which node came first. */
static int compare_names(const struct market_entry *a, const struct market_entry *b)
{
    return strcmp(a->market.resource->name, b->market.resource->name);
}

struct market *market_hold(struct cluster *cluster, const struct resource *resource)
{
    struct market_entry *entry = NULL;
    LL_SEARCH_SCALAR(cluster->markets, entry, market.resource, resource);
    if (!entry) {
        entry = MEM_NEW(struct market_entry);
        entry->market.resource = resource;
        shapes_hold_resource_again(resource);
        LL_INSERT_INORDER(cluster->markets, entry, compare_names);
    }
    return &entry->market;
}

static void free_supply(struct supply *supply)
{
    mem_free_ptr(&supply->model);
    free(supply);
}

/* A fork's classes hold nothing of its origin. */
static void drop_class(struct cluster *cluster, struct market_class *class)
{
    free(class->admitted);
    if (!cluster->is_fork)
        shapes_drop(cluster->shapes, NULL, class->shape);
}

static void free_market(struct cluster *cluster, struct market_entry *entry)
{
    struct market *market = &entry->market;
    for (size_t i = 0; i < market->n_classes; i++)
        drop_class(cluster, &market->classes[i]);
    for (size_t i = 0; i < market->n_supplies; i++)
        free_supply(market->supplies[i]);
    free(market->supplies);
    shapes_drop_resource(cluster->shapes, market->resource);
    free(entry);
}

void market_free_all(struct cluster *cluster)
{
    struct market_entry *entry = NULL;
    struct market_entry *next = NULL;
    LL_FOREACH_SAFE(cluster->markets, entry, next)
    {
        free_market(cluster, entry);
    }
}

/* Live pods. */

bool pod_is_live(const struct pod *pod)
{
    return !pod->finished && (pod->node_name[0] || (!pod->gated && !pod->refusal));
}

void market_count(struct cluster *cluster, const struct pod *pod, int64_t n)
{
    if (pod_is_live(pod) && shapes_count_live(pod->shape, n) < LOOKED_AT_MAX)
        cluster->settled = false;
}

/* Settling. */

/* Those that no node is in are gone. */
static void sweep_supplies(struct market *market)
{
    size_t n = 0;
    for (size_t i = 0; i < market->n_supplies; i++) {
        struct supply *supply = market->supplies[i];
        if (supply->n_nodes == 0) {
            free_supply(supply);
            continue;
        }
        supply->index = n;
        market->supplies[n++] = supply;
    }
    market->n_supplies = n;
}

static int64_t max_gpus(const struct cluster *cluster, const struct resource *resource)
{
    int64_t max = 0;
    for (const struct node *node = cluster_next_node(cluster, NULL); node;
         node = cluster_next_node(cluster, node)) {
        const struct node_resource *has = node_find_resource(node, resource);
        max = has && has->supply && has->allocatable > max ? has->allocatable : max;
    }
    return max;
}

static void sweep_markets(struct cluster *cluster)
{
    struct market_entry *entry = NULL;
    struct market_entry *next = NULL;
    LL_FOREACH_SAFE(cluster->markets, entry, next)
    {
        sweep_supplies(&entry->market);
        entry->market.max_gpus = max_gpus(cluster, entry->market.resource);
        if (entry->market.n_supplies > 0)
            continue;
        LL_DELETE(cluster->markets, entry);
        free_market(cluster, entry);
    }
}

/* One node is enough for its model. */
static bool *find_admitted(const struct cluster *cluster, const struct market *market,
                           const struct pod_shape *shape)
{
    bool *admitted = MEM_ARRAY(bool, market->n_supplies);
    for (const struct node *node = cluster_next_node(cluster, NULL); node;
         node = cluster_next_node(cluster, node)) {
        const struct node_resource *has = node_find_resource(node, market->resource);
        if (has && has->supply && !admitted[has->supply->index])
            admitted[has->supply->index] = admit_gpus(node, shape);
    }
    return admitted;
}

static bool all_of(const bool *flags, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!flags[i])
            return false;
    }
    return true;
}

static struct market_class class_of(const struct pod_shape *shape, int64_t gpus, int64_t n_live)
{
    return (struct market_class){
        .shape = shape,
        .n_live = n_live,
        .gpus = gpus,
        .milli_cores = shape_demand(&shape->facts, "cpu"),
        .memory_bytes = shape_demand(&shape->facts, "memory"),
    };
}

/* A tenant may write hundreds of thousands of values into an affinity, and all nodes would be asked
 * about each, again and again. */
static bool is_dear(const struct shape_facts *facts)
{
    return shape_comparisons(facts) >= MARKET_COMPARISONS_MAX;
}

static void admit_everywhere(const struct market *market, struct market_class *class)
{
    class->admitted = MEM_ARRAY(bool, market->n_supplies);
    memset(class->admitted, true, market->n_supplies * sizeof(bool));
    class->unconfined = true;
}

static void admit(const struct cluster *cluster, const struct market *market,
                  struct market_class *class)
{
    if (is_dear(&class->shape->facts)) {
        admit_everywhere(market, class);
        return;
    }
    class->admitted = find_admitted(cluster, market, class->shape);
    class->unconfined = all_of(class->admitted, market->n_supplies);
}

/* What was found out before stays true as long as the nodes do. */
static bool admit_as_before(struct market *market, struct market_class *class)
{
    for (size_t i = 0; i < market->n_classes; i++) {
        struct market_class *old = &market->classes[i];
        if (old->shape != class->shape || !old->admitted)
            continue;
        class->admitted = old->admitted;
        class->unconfined = old->unconfined;
        old->admitted = NULL;
        return true;
    }
    return false;
}

static void choose_classes(struct cluster *cluster, struct market *market, bool same_nodes)
{
    struct market_class classes[MARKET_CLASSES_MAX];
    const struct wanting *wanting = shapes_wanting(market->resource);
    size_t n = 0;
    for (size_t i = 0; i < wanting->n && i < LOOKED_AT_MAX && n < MARKET_CLASSES_MAX; i++) {
        const struct wanting_item *item = &wanting->items[i];
        if (item->amount > market->max_gpus)
            continue;
        struct market_class *class = &classes[n++];
        *class = class_of(&item->shape->shape, item->amount, item->shape->n_live);
        if (!same_nodes || !admit_as_before(market, class))
            admit(cluster, market, class);
        shapes_hold_again(cluster->shapes, NULL, class->shape);
    }
    for (size_t i = 0; i < market->n_classes; i++)
        drop_class(cluster, &market->classes[i]);
    memcpy(market->classes, classes, n * sizeof *classes);
    market->n_classes = n;
}

bool cluster_is_settled(const struct cluster *cluster)
{
    return cluster->settled;
}

void cluster_settle(struct cluster *cluster)
{
    if (cluster->settled)
        return;
    const bool same_nodes = cluster->settled_nodes == cluster->nodes_version;
    struct market_entry *entry = NULL;
    if (!same_nodes)
        sweep_markets(cluster);
    LL_FOREACH (cluster->markets, entry) {
        choose_classes(cluster, &entry->market, same_nodes);
    }
    cluster->settled_nodes = cluster->nodes_version;
    cluster->settled = true;
}

/* Forks. */

/* Its own, in its arena: the origin may forget the shape. */
static const struct pod_shape *shape_of_fork(struct cluster *fork, const struct pod_shape *shape)
{
    struct pod_shape *copy = ARENA_NEW(fork->fork_arena, struct pod_shape);
    copy->facts = shape_copy(&shape->facts, fork->fork_arena);
    return copy;
}

static struct market copy_of(struct cluster *fork, const struct market *market)
{
    struct market copy = *market;
    copy.supplies = MEM_ARRAY(struct supply *, market->n_supplies);
    for (size_t i = 0; i < market->n_supplies; i++) {
        copy.supplies[i] = MEM_NEW(struct supply);
        *copy.supplies[i] = *market->supplies[i];
        copy.supplies[i]->model = mem_strdup(market->supplies[i]->model);
    }
    for (size_t i = 0; i < market->n_classes; i++) {
        copy.classes[i].admitted = MEM_ARRAY(bool, market->n_supplies);
        memcpy(copy.classes[i].admitted, market->classes[i].admitted,
               market->n_supplies * sizeof(bool));
        copy.classes[i].shape = is_dear(&market->classes[i].shape->facts)
                                    ? NULL
                                    : shape_of_fork(fork, market->classes[i].shape);
    }
    shapes_hold_resource_again(copy.resource);
    return copy;
}

void market_fork_all(struct cluster *fork, const struct cluster *cluster)
{
    const struct market_entry *entry = NULL;
    fork->fork_arena = arena_new();
    LL_FOREACH (cluster->markets, entry) {
        struct market_entry *copy = MEM_NEW(struct market_entry);
        copy->market = copy_of(fork, &entry->market);
        LL_APPEND(fork->markets, copy);
    }
    fork->settled = true;
    fork->settled_nodes = fork->nodes_version = cluster->nodes_version;
}

static bool same_shape(const struct pod_shape *a, const struct pod_shape *b)
{
    const struct siphash128 digest_a = shape_digest(&a->facts);
    const struct siphash128 digest_b = shape_digest(&b->facts);
    return digest_a.low == digest_b.low && digest_a.high == digest_b.high;
}

static struct market_class *find_class(struct market *market, const struct pod_shape *shape)
{
    for (size_t i = 0; i < market->n_classes; i++) {
        if (market->classes[i].shape && same_shape(market->classes[i].shape, shape))
            return &market->classes[i];
    }
    return NULL;
}

static void expect(struct cluster *fork, struct market *market, struct market_class *class)
{
    struct market_class *known = find_class(market, class->shape);
    if (known) {
        known->n_live = amount_add(known->n_live, class->n_live);
        return;
    }
    if (market->n_classes >= MARKET_CLASSES_MAX + MARKET_EXPECTED_MAX)
        return;
    admit(fork, market, class);
    market->classes[market->n_classes++] = *class;
}

void market_expect(struct cluster *fork, const struct pod_shape *shape, int64_t n)
{
    const size_t n_needs = shape->facts.over ? 0 : shape->n_gpu_needs;
    for (size_t i = 0; i < n_needs && n > 0; i++) {
        struct market_entry *entry = NULL;
        LL_SEARCH_SCALAR(fork->markets, entry, market.resource, shape->needs[i].resource);
        if (!entry)
            continue;
        struct market_class class = class_of(shape, shape->needs[i].amount, n);
        expect(fork, &entry->market, &class);
    }
}

/* Reading. */

const struct market *cluster_market(const struct cluster *cluster, const struct resource *resource)
{
    const struct market_entry *entry = NULL;
    LL_SEARCH_SCALAR(cluster->markets, entry, market.resource, resource);
    return entry ? &entry->market : NULL;
}

const struct market *cluster_next_market(const struct cluster *cluster, const struct market *market)
{
    const struct market_entry *next =
        market ? CONTAINER_OF(market, const struct market_entry, market)->next : cluster->markets;
    return next ? &next->market : NULL;
}
