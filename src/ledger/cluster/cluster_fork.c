/* cluster_fork: a copy of nodes and sums for simulated placements. See include/ledger/cluster.h. */
#include "base/mem.h"
#include "ledger/ledger.h"
#include "ledger/sick/sick_priv.h"

#include <stdlib.h>
#include <string.h>

struct model_pool *cluster_fork_pool(const struct cluster *fork, const struct resource *resource,
                                     const struct model_pool *origin)
{
    return origin ? gpu_demand_find(fork, resource)->pools[origin->index] : NULL;
}

#define ROWS_SEEN 8

/* State of a fork that is being copied. */
struct forking {
    enum peers_wanted wanted;
    size_t n_slots;                         /* of the origin's index, when it began */
    const struct node *last;                /* of the origin, copied last; NULL: none */
    uint64_t n_renewed, edition;            /* of the origin, when it began */
    const struct resource *seen[ROWS_SEEN]; /* in the rows of the node before: mostly the same */
};

/* Copies only resources that nodes have rows or devices for. No node can satisfy other names, and
 * tenants may invent any number of them. */
static void know(struct cluster *fork, const struct resource *resource, size_t row)
{
    const struct resource **seen = &fork->forking->seen[row % ROWS_SEEN];
    if (*seen == resource)
        return;
    *seen = resource;
    struct fork_resource *known = NULL;
    HASH_FIND_STR(fork->fork_resources, resource->name, known);
    if (known)
        return;
    shapes_ref_resource(resource);
    known = MEM_NEW(struct fork_resource);
    known->resource = resource;
    HASH_ADD_KEYPTR(hh, fork->fork_resources, resource->name, strlen(resource->name), known);
}

static void fork_node(struct cluster *fork, const struct node *node)
{
    struct node *copy = node_table_find_or_add(fork, node->name);
    node_traits_ref(node->traits);
    node_table_set_traits(fork, copy, node->traits);
    copy->order = node->order;
    copy->unlisted_gpus = node->unlisted_gpus;
    copy->n_resources = node->n_resources;
    copy->n_gpu_resources = node->n_gpu_resources;
    copy->resources = MEM_ARRAY(struct node_resource, node->n_resources);
    for (size_t i = 0; i < node->n_resources; i++) {
        copy->resources[i] = node->resources[i];
        copy->resources[i].pool =
            cluster_fork_pool(fork, node->resources[i].resource, node->resources[i].pool);
        shapes_ref_row(node->resources[i].resource);
        know(fork, node->resources[i].resource, i);
    }
    node_devices_fork(fork, copy, node);
    for (size_t i = 0; i < copy->n_devices; i++)
        if (copy->devices[i].resource)
            know(fork, copy->devices[i].resource, node->n_resources + i);
    nominate_fork_node(fork, copy, node);
    copy->hot = node->hot;
    copy->hot.cluster = fork;
    copy->hot.pool = cluster_fork_pool(fork, node->hot.gpus, node->hot.pool);
    quarantine_fork_node(fork, copy, node);
}

/* After a change of the original. */
static void fork_node_again(struct cluster *fork, const struct node *node)
{
    struct node *copy = node_index_find(&fork->node_index, node->name);
    node_rows_free(fork, copy);
    node_devices_free(fork, copy);
    nominate_fork_drop(fork, copy);
    fork_node(fork, node);
}

struct cluster *cluster_fork_begin(struct cluster *cluster, enum peers_wanted wanted)
{
    gpu_demand_settle(cluster);
    struct cluster *fork = MEM_NEW(struct cluster);
    fork->policy = policy_hold(cluster->policy);
    fork->shapes = cluster->shapes;
    shapes_ref(fork->shapes);
    fork->is_fork = true;
    cluster_device_classes_fork(fork, cluster); /* before the demands, which it would unsettle */
    gpu_demand_fork_all(fork, cluster);
    fork->forking = MEM_NEW(struct forking);
    *fork->forking = (struct forking){.wanted = wanted,
                                      .n_slots = cluster->node_index.n_slots,
                                      .n_renewed = cluster->n_renewed,
                                      .edition = cluster_edition(cluster)};
    return fork;
}

void cluster_fork_make_room(struct cluster *fork)
{
    if (!fork->forking)
        return;
    if (fork->forking->n_slots > 0)
        fork->node_index = node_index_of(fork->forking->n_slots);
    fork->quota_used = namespace_usage_room(fork->policy);
}

static void fork_all_of(struct cluster *fork, const struct cluster *cluster, enum cluster_kind kind)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const void *facts = NULL;
    const void *object = NULL;
    while ((object = cluster_next_object(cluster, kind, object, arena, &facts)))
        cluster_upsert(fork, kind, facts);
}

/* Returns true if it needs no peers. */
static bool end_nodes(struct cluster *fork, struct cluster *cluster)
{
    const struct forking forking = *fork->forking;
    if (cluster_edition(cluster) != forking.edition) {
        gpu_demand_settle(cluster);
        gpu_demand_fork_again(fork, cluster);
    }
    for (uint64_t i = forking.n_renewed; i < cluster->n_renewed; i++)
        fork_node_again(fork, cluster->renewed[i % CLUSTER_RENEWED_MAX]);
    free(fork->forking);
    fork->forking = NULL;
    domains_fork(fork, cluster);
    fork_all_of(fork, cluster, CLUSTER_PRIORITY_CLASSES);
    fork_all_of(fork, cluster, CLUSTER_RUNTIME_CLASSES);
    namespace_usage_fork(fork, cluster);
    fork->n_ordered = cluster->n_ordered;
    fork->has_unordered = false;
    fork->version = cluster->version;
    fork->is_unknown[CLUSTER_CLAIMS] = cluster->is_unknown[CLUSTER_CLAIMS];
    fork->has_devices_of_several = cluster->has_devices_of_several;
    fork->minor = cluster->minor;
    return cluster_peers_fork(fork, cluster, forking.wanted);
}

void cluster_fork_free_resources(struct cluster *fork)
{
    struct fork_resource *known = NULL;
    struct fork_resource *next = NULL;
    HASH_ITER (hh, fork->fork_resources, known, next) {
        HASH_DEL(fork->fork_resources, known);
        shapes_unref_resource(fork->shapes, known->resource);
        free(known);
    }
}

enum fork_step cluster_fork_some(struct cluster *fork, struct cluster *cluster, size_t n)
{
    struct forking *forking = fork->forking;
    if (!forking)
        return cluster_peers_fork_some(fork, cluster, n) ? FORK_IS_COMPLETE : FORK_GOES_ON;
    if (fork->nodes_version != cluster->nodes_version ||
        cluster->n_renewed - forking->n_renewed > CLUSTER_RENEWED_MAX)
        return FORK_IS_OUTDATED;
    for (; n > 0; n--) {
        const struct node *next = cluster_next_node(cluster, forking->last);
        if (!next)
            return end_nodes(fork, cluster) ? FORK_IS_COMPLETE : FORK_GOES_ON;
        fork_node(fork, next);
        forking->last = next;
    }
    return FORK_GOES_ON;
}

struct cluster *cluster_fork_with(struct cluster *cluster, enum peers_wanted wanted)
{
    struct cluster *fork = cluster_fork_begin(cluster, wanted);
    while (cluster_fork_some(fork, cluster, SIZE_MAX) != FORK_IS_COMPLETE)
        ;
    return fork;
}

struct cluster *cluster_fork(struct cluster *cluster)
{
    return cluster_fork_with(cluster, PEERS_NONE);
}

bool cluster_fork_free_some(struct cluster *fork, size_t n)
{
    for (; n > 0 && fork->nodes; n--)
        node_table_free(fork, fork->nodes);
    return !fork->nodes;
}

void cluster_fork_free(struct cluster *fork)
{
    cluster_free(fork);
}

static void use(struct cluster *fork, struct node *node, struct node_resource *entry,
                int64_t amount)
{
    if (!entry)
        return;
    fork_log_row(fork, node, entry);
    model_pool_take(entry);
    entry->used = amount_add(entry->used, amount);
    model_pool_give(entry);
}

void cluster_vacate(struct cluster *fork, const struct node *node, const struct need *needs,
                    size_t n_needs)
{
    struct node *mine = node_index_find(&fork->node_index, node->name);
    for (size_t i = 0; i < n_needs; i++) {
        struct node_resource *entry = node_rows_find(mine, needs[i].resource);
        if (entry && entry->used < INT64_MAX)
            use(fork, mine, entry, -needs[i].amount);
    }
    node_hot_renew(mine);
    fork->version++;
}

void cluster_place_devices(struct cluster *fork, const struct node *node, const char *resource,
                           int64_t n)
{
    const struct resource *found = cluster_find_resource(fork, resource);
    struct node *mine = node_index_find(&fork->node_index, node->name);
    if (!found)
        return;
    fork_log_devices(fork, mine);
    node_devices_place(mine, found, n);
    node_hot_renew(mine);
    fork->version++;
}

void cluster_place(struct cluster *fork, const struct node *node, const struct pod_shape *shape,
                   int64_t n)
{
    struct node *mine = node_index_find(&fork->node_index, node->name);
    fork_log_devices(fork, mine);
    for (size_t i = 0; i < shape->n_needs; i++) {
        const struct need *need = &shape->needs[i];
        const int64_t amount = amount_times(need->amount, n);
        node_devices_place(mine, need->resource, amount);
        use(fork, mine, node_rows_find(mine, need->resource), amount);
    }
    node_hot_renew(mine);
    fork->version++;
}
