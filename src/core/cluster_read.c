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

/* How many names go from one step of a look-up to the next side by side. */
#define ABREAST ((size_t)16)

/* Some of the names, on their way. */
struct abreast {
    const char *const *names;
    size_t n; /* ABREAST at the most */
    unsigned hashes[ABREAST];
    const UT_hash_bucket *buckets[ABREAST];
};

static void fetch_buckets(const UT_hash_table *table, struct abreast *some)
{
    for (size_t i = 0; i < some->n; i++) {
        HASH_VALUE(some->names[i], strlen(some->names[i]), some->hashes[i]);
        some->buckets[i] = &table->buckets[some->hashes[i] & (table->num_buckets - 1)];
        __builtin_prefetch(some->buckets[i]);
    }
}

/* All that a decision reads of the first node of each; mostly it is the one that is wanted. */
static void fetch_nodes(const UT_hash_table *table, const struct abreast *some)
{
    for (size_t i = 0; i < some->n; i++) {
        if (!some->buckets[i]->hh_head)
            continue;
        const struct node *node = ELMT_FROM_HH(table, some->buckets[i]->hh_head);
        __builtin_prefetch(&node->glance);
        __builtin_prefetch(&node->hh);
        __builtin_prefetch(&node->traits);
        __builtin_prefetch(&node->name[8]); /* the next line begins there */
    }
}

static void find_nodes(const UT_hash_table *table, const struct abreast *some,
                       const struct node **ret_nodes)
{
    for (size_t i = 0; i < some->n; i++) {
        const char *name = some->names[i];
        struct node *node = NULL;
        HASH_FIND_IN_BKT(table, hh, *some->buckets[i], name, strlen(name), some->hashes[i], node);
        ret_nodes[i] = node && node->traits ? node : NULL;
    }
}

/* Names come in no order, and each would wait for memory twice: for its bucket, and for the node.
 * So while some are looked at, the nodes of the next are on their way, and the buckets of those
 * after them. */
static void find_in(const UT_hash_table *table, const char *const *names, size_t n,
                    const struct node **ret_nodes)
{
    struct abreast ways[3];
    for (size_t begin = 0, way = 0; begin < n + 2 * ABREAST; begin += ABREAST, way++) {
        struct abreast *first = &ways[way % 3];
        const size_t from = begin < n ? begin : n;
        *first = (struct abreast){.names = &names[from], .n = n - from};
        if (first->n > ABREAST)
            first->n = ABREAST;
        fetch_buckets(table, first);
        if (way >= 1)
            fetch_nodes(table, &ways[(way - 1) % 3]);
        if (way >= 2)
            find_nodes(table, &ways[(way - 2) % 3], &ret_nodes[begin - 2 * ABREAST]);
    }
}

void cluster_find_nodes(const struct cluster *cluster, const char *const *names, size_t n,
                        const struct node **ret_nodes)
{
    if (cluster->nodes)
        find_in(cluster->nodes->hh.tbl, names, n, ret_nodes);
    for (size_t i = 0; !cluster->nodes && i < n; i++)
        ret_nodes[i] = NULL;
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
