/* cluster_read: what can be asked of a ledger about its nodes and pods. */
#include "ledger.h"

size_t cluster_n_nodes(const struct cluster *cluster)
{
    return cluster->n_present_nodes;
}

size_t cluster_n_pods(const struct cluster *cluster)
{
    return HASH_COUNT(cluster->pods);
}

const struct node *cluster_find_node(const struct cluster *cluster, const char *name)
{
    struct node *node = NULL;
    HASH_FIND_STR(cluster->nodes, name, node);
    return node && node->traits ? node : NULL;
}

/* How many names are looked up side by side. */
#define ABREAST 16

/* Names come in no order, and each would wait for memory several times: for its bucket, for the
 * nodes in it, for what the node has. */
static void find_abreast(const UT_hash_table *table, const char *const *names, size_t n,
                         const struct node **ret_nodes)
{
    unsigned hashes[ABREAST];
    const UT_hash_bucket *buckets[ABREAST];
    for (size_t i = 0; i < n; i++) {
        HASH_VALUE(names[i], strlen(names[i]), hashes[i]);
        buckets[i] = &table->buckets[hashes[i] & (table->num_buckets - 1)];
        __builtin_prefetch(buckets[i]);
    }
    for (size_t i = 0; i < n; i++)
        __builtin_prefetch(buckets[i]->hh_head);
    for (size_t i = 0; i < n; i++) {
        if (buckets[i]->hh_head)
            __builtin_prefetch(buckets[i]->hh_head->hh_next);
    }
    for (size_t i = 0; i < n; i++) {
        struct node *node = NULL;
        HASH_FIND_IN_BKT(table, hh, *buckets[i], names[i], strlen(names[i]), hashes[i], node);
        ret_nodes[i] = node && node->traits ? node : NULL;
        if (ret_nodes[i]) {
            __builtin_prefetch(node->resources);
            __builtin_prefetch(node->traits);
            __builtin_prefetch(&node->traits->traits.model);
        }
    }
}

void cluster_find_nodes(const struct cluster *cluster, const char *const *names, size_t n,
                        const struct node **ret_nodes)
{
    for (size_t i = 0; i < n; i += ABREAST) {
        const size_t n_abreast = n - i < ABREAST ? n - i : ABREAST;
        if (cluster->nodes)
            find_abreast(cluster->nodes->hh.tbl, &names[i], n_abreast, &ret_nodes[i]);
        else
            for (size_t j = 0; j < n_abreast; j++)
                ret_nodes[i + j] = NULL;
    }
}

const struct node *cluster_next_node(const struct cluster *cluster, const struct node *node)
{
    const struct node *next = node ? node->hh.next : cluster->nodes;
    while (next && !next->traits)
        next = next->hh.next;
    return next;
}

const struct pod *cluster_find_pod(const struct cluster *cluster, const char *uid)
{
    struct pod_entry *entry = NULL;
    HASH_FIND_STR(cluster->pods, uid, entry);
    return entry ? &entry->pod : NULL;
}

const struct pod *cluster_find_pod_named(const struct cluster *cluster, const char *namespace_,
                                         const char *name)
{
    const struct pod_entry *entry = pod_names_find(&cluster->pod_names, namespace_, name);
    return entry ? &entry->pod : NULL;
}

const struct pod *cluster_next_pod(const struct cluster *cluster, const struct pod *pod)
{
    const struct pod_entry *next = pod ? ((const struct pod_entry *)pod)->hh.next : cluster->pods;
    return next ? &next->pod : NULL;
}

const struct resource *cluster_find_resource(const struct cluster *cluster, const char *name)
{
    if (!cluster->is_fork)
        return shapes_find_resource(cluster->shapes, name);
    for (size_t i = 0; i < cluster->n_fork_resources; i++) {
        if (strcmp(cluster->fork_resources[i]->name, name) == 0)
            return cluster->fork_resources[i];
    }
    return NULL;
}

/* A resource that no node of this ledger has: one of its own, equal to none by address. */
static const struct resource *unknown_resource(const struct policy *policy, const char *name,
                                               struct arena *arena)
{
    struct resource *resource = ARENA_NEW(arena, struct resource);
    resource->name = name;
    resource->is_gpu = policy_is_gpu_resource(policy, name);
    resource->quota_scopes = policy_quota_scopes(policy, name);
    return resource;
}

const struct pod_shape *cluster_resolve(const struct cluster *cluster,
                                        const struct shape_facts *facts, struct arena *arena)
{
    struct pod_shape *shape = ARENA_NEW(arena, struct pod_shape);
    struct need *needs = ARENA_ARRAY(arena, struct need, facts->n_demand);
    for (size_t i = 0; i < facts->n_demand; i++) {
        const char *name = facts->demand[i].resource;
        const struct resource *resource = cluster_find_resource(cluster, name);
        if (!resource)
            resource = unknown_resource(cluster->policy, name, arena);
        needs[i] = (struct need){resource, facts->demand[i].amount};
    }
    shape->facts = *facts;
    shape->needs = needs;
    shape->n_needs = facts->n_demand;
    shape->n_gpu_needs = needs_put_gpus_first(needs, shape->n_needs);
    return shape;
}
