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

static void fork_node(struct cluster *fork, const struct node *node)
{
    struct node *copy = node_table_find_or_add(fork, node->name);
    node_traits_ref(node->traits);
    node_table_set_traits(fork, copy, node->traits);
    copy->unlisted_gpus = node->unlisted_gpus;
    copy->n_resources = node->n_resources;
    copy->n_gpu_resources = node->n_gpu_resources;
    copy->resources = MEM_ARRAY(struct node_resource, node->n_resources);
    for (size_t i = 0; i < node->n_resources; i++) {
        copy->resources[i] = node->resources[i];
        copy->resources[i].pool =
            cluster_fork_pool(fork, node->resources[i].resource, node->resources[i].pool);
        shapes_ref_row(node->resources[i].resource);
    }
    node_devices_fork(fork, copy, node);
    nominate_fork_node(fork, copy, node);
    copy->hot = node->hot;
    copy->hot.cluster = fork;
    quarantine_fork_node(fork, copy, node);
    node_hot_renew(copy);
}

static void add_resource(struct cluster *fork, const struct resource *resource)
{
    const size_t n = fork->n_fork_resources;
    if ((n & (n - 1)) == 0)
        fork->fork_resources =
            mem_grow(fork->fork_resources, n > 0 ? 2 * n : 1, sizeof(const struct resource *));
    shapes_ref_resource(resource);
    fork->fork_resources[fork->n_fork_resources++] = resource;
}

/* Copies only resources that nodes have rows or devices for. No node can satisfy other names, and
 * tenants may invent any number of them. */
static void fork_resources(struct cluster *fork, const struct cluster *cluster)
{
    const uint64_t mark = shapes_begin_marks(fork->shapes);
    for (const struct node *node = cluster_next_node(cluster, NULL); node;
         node = cluster_next_node(cluster, node)) {
        for (size_t i = 0; i < node->n_resources; i++) {
            if (shapes_mark(node->resources[i].resource, mark))
                add_resource(fork, node->resources[i].resource);
        }
        for (size_t i = 0; i < node->n_devices; i++) {
            if (node->devices[i].resource && shapes_mark(node->devices[i].resource, mark))
                add_resource(fork, node->devices[i].resource);
        }
    }
}

static void fork_all_of(struct cluster *fork, const struct cluster *cluster, enum cluster_kind kind)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const void *facts = NULL;
    const void *object = NULL;
    while ((object = cluster_next_object(cluster, kind, object, arena, &facts)))
        cluster_upsert(fork, kind, facts);
}

struct cluster *cluster_fork(struct cluster *cluster)
{
    gpu_demand_settle(cluster);
    struct cluster *fork = MEM_NEW(struct cluster);
    fork->policy = policy_hold(cluster->policy);
    fork->shapes = cluster->shapes;
    shapes_ref(fork->shapes);
    fork->is_fork = true;
    fork_resources(fork, cluster);
    cluster_device_classes_fork(fork, cluster); /* before the demands, which it would unsettle */
    gpu_demand_fork_all(fork, cluster);
    domains_fork(fork, cluster);
    for (const struct node *node = cluster_next_node(cluster, NULL); node;
         node = cluster_next_node(cluster, node))
        fork_node(fork, node);
    fork_all_of(fork, cluster, CLUSTER_PRIORITY_CLASSES);
    fork_all_of(fork, cluster, CLUSTER_RUNTIME_CLASSES);
    namespace_usage_fork(fork, cluster);
    fork->version = cluster->version;
    fork->is_unknown[CLUSTER_CLAIMS] = cluster->is_unknown[CLUSTER_CLAIMS];
    fork->has_devices_of_several = cluster->has_devices_of_several;
    fork->minor = cluster->minor;
    return fork;
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
