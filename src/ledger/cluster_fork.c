/* cluster_fork: a copy of nodes and sums to think on. See include/ledger/cluster.h. */
#include "base/mem.h"
#include "ledger.h"

#include <stdlib.h>
#include <string.h>

static struct supply *supply_of_fork(const struct cluster *fork, const struct node_resource *origin)
{
    return origin->supply ? cluster_market(fork, origin->resource)->supplies[origin->supply->index]
                          : NULL;
}

static void fork_node(struct cluster *fork, const struct node *node)
{
    struct node *copy = node_table_hold(fork, node->name);
    traits_hold(node->traits);
    node_table_set_traits(fork, copy, node->traits);
    copy->unlisted_gpus = node->unlisted_gpus;
    copy->n_resources = node->n_resources;
    copy->n_gpu_resources = node->n_gpu_resources;
    copy->resources = MEM_ARRAY(struct node_resource, node->n_resources);
    for (size_t i = 0; i < node->n_resources; i++) {
        copy->resources[i] = node->resources[i];
        copy->resources[i].supply = supply_of_fork(fork, &node->resources[i]);
        shapes_hold_row(node->resources[i].resource);
    }
    nominate_fork_node(fork, copy, node);
    glance_renew(copy);
}

static void add_resource(struct cluster *fork, const struct resource *resource)
{
    const size_t n = fork->n_fork_resources;
    if ((n & (n - 1)) == 0)
        fork->fork_resources =
            mem_grow(fork->fork_resources, n > 0 ? 2 * n : 1, sizeof(const struct resource *));
    shapes_hold_resource_again(resource);
    fork->fork_resources[fork->n_fork_resources++] = resource;
}

/* The names that its nodes have rows for. Others are in no need of an address: nothing of them is
 * anywhere, and tenants may invent any number. */
static void fork_resources(struct cluster *fork, const struct cluster *cluster)
{
    const uint64_t mark = shapes_begin_marks(fork->shapes);
    for (const struct node *node = cluster_next_node(cluster, NULL); node;
         node = cluster_next_node(cluster, node)) {
        for (size_t i = 0; i < node->n_resources; i++) {
            if (shapes_mark(node->resources[i].resource, mark))
                add_resource(fork, node->resources[i].resource);
        }
    }
}

struct cluster *cluster_fork(struct cluster *cluster)
{
    cluster_settle(cluster);
    struct cluster *fork = MEM_NEW(struct cluster);
    fork->policy = cluster->policy;
    fork->shapes = cluster->shapes;
    shapes_ref(fork->shapes);
    fork->is_fork = true;
    fork_resources(fork, cluster);
    market_fork_all(fork, cluster);
    for (const struct node *node = cluster_next_node(cluster, NULL); node;
         node = cluster_next_node(cluster, node))
        fork_node(fork, node);
    const struct named_entry *entry = NULL;
    for (entry = cluster->priority_classes; entry; entry = entry->hh.next)
        cluster_upsert_priority_class(fork, entry->name, entry->value, entry->is_default,
                                      entry->never_preempts);
    tenants_fork(fork, cluster);
    device_classes_fork(fork, cluster);
    fork->version = cluster->version;
    return fork;
}

void cluster_fork_free(struct cluster *fork)
{
    cluster_free(fork);
}

void cluster_place(struct cluster *fork, const struct node *node, const struct pod_shape *shape,
                   int64_t n)
{
    struct node *mine = node_index_find(&fork->node_index, node->name);
    for (size_t i = 0; i < shape->n_needs; i++) {
        const struct need *need = &shape->needs[i];
        struct node_resource *entry = node_table_resource(mine, need->resource);
        if (!entry)
            continue;
        supply_take(entry);
        entry->used = amount_add(entry->used, amount_times(need->amount, n));
        supply_give(entry);
    }
    glance_renew(mine);
    fork->version++;
}
