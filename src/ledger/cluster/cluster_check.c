/*
 * cluster_check: recomputes the ledger's sums from its pods and reservations.
 */
#include "base/mem.h"
#include "dra/devices.h"
#include "ledger/ledger.h"
#include "ledger/shapes/exact_sum.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct check {
    size_t n_differences;
    struct err *err; /* set by the first difference */
};

static void check_differs(struct check *check, const char *where, const char *what, int64_t is,
                          int64_t should_be)
{
    if (check->n_differences++ == 0)
        (void)err_set(check->err, EINVAL, "%s: %s is %" PRId64 ", should be %" PRId64, where, what,
                      is, should_be);
}

static void check_unless_same(struct check *check, const char *what, size_t is, size_t should_be)
{
    if (is != should_be)
        check_differs(check, "cluster", what, (int64_t)is, (int64_t)should_be);
}

static bool uses(const struct pod *pod, const char *node_name)
{
    return !pod->finished && pod->node_name[0] && strcmp(pod->node_name, node_name) == 0;
}

/* One sum per row, and one for GPUs without a row. The caller frees it. */
static struct exact_sum *check_sums_new(const struct node *node)
{
    return MEM_ARRAY(struct exact_sum, node->n_resources + 1);
}

static void add_shape(struct check *check, const struct node *node, const struct pod_shape *shape,
                      struct exact_sum *sums)
{
    for (size_t i = 0; i < shape->n_needs; i++) {
        const struct need *need = &shape->needs[i];
        const struct node_resource *row = node_find_resource(node, need->resource);
        if (row)
            exact_sum_add(&sums[row - node->resources], need->amount);
        else if (need->resource->is_gpu && !need->resource->is_always_kept)
            exact_sum_add(&sums[node->n_resources], need->amount);
        else if (need->resource->is_always_kept && need->amount > 0)
            check_differs(check, node->name, need->resource->name, 0, need->amount);
    }
}

/* Adds the pod to the sums of the node's rows. Returns the work done. */
static size_t check_pod(struct check *check, const struct node *node, const struct pod_entry *pod,
                        struct exact_sum *used)
{
    if (!uses(&pod->pod, node->name) || pod->node != node)
        check_differs(check, node->name, pod->pod.uid, 1, 0);
    add_shape(check, node, pod->pod.shape, used);
    return 1 + pod->pod.shape->n_needs;
}

static void check_row(struct check *check, const struct node *node, size_t i,
                      const struct exact_sum *used, const struct exact_sum *reserved)
{
    const struct node_resource *row = &node->resources[i];
    const bool among_gpus = i < node->n_gpu_resources;
    const bool is_needed = row->resource->is_always_kept && (row->used != 0 || row->reserved != 0);
    if (!exact_sum_equal(&row->used_sum, used) || row->used != exact_sum_shown(used))
        check_differs(check, node->name, row->resource->name, row->used, exact_sum_shown(used));
    if (!exact_sum_equal(&row->reserved_sum, reserved) ||
        row->reserved != exact_sum_shown(reserved))
        check_differs(check, node->name, "what is reserved", row->reserved,
                      exact_sum_shown(reserved));
    if (row->resource->is_gpu != among_gpus)
        check_differs(check, node->name, "a resource among GPUs", among_gpus, !among_gpus);
    if (!row->advertised && !is_needed)
        check_differs(check, node->name, "an unused, unadvertised resource", 1, 0);
}

static size_t check_rows(struct check *check, const struct node *node, const struct exact_sum *used)
{
    size_t n_visited = node->n_resources;
    struct exact_sum *reserved = check_sums_new(node);
    for (const struct reservation_entry *held = node->reservations; held; held = held->next) {
        if (strcmp(held->reservation.node_name, node->name) != 0 || held->node != node)
            check_differs(check, node->name, held->reservation.uid, 1, 0);
        add_shape(check, node, held->reservation.shape, reserved);
        n_visited += 1 + held->reservation.shape->n_needs;
    }
    for (size_t i = 0; i < node->n_resources; i++)
        check_row(check, node, i, &used[i], &reserved[i]);
    exact_sum_join(&reserved[node->n_resources], &used[node->n_resources]);
    if (!exact_sum_equal(&node->unlisted_gpus, &reserved[node->n_resources]))
        check_differs(check, node->name, "GPUs that it does not list", node_unlisted_gpus(node),
                      exact_sum_shown(&reserved[node->n_resources]));
    free(reserved);
    if (node->traits && !node_traits_has_model(node->hot.cluster, &node->traits->traits))
        check_differs(check, node->name, "the model of its devices", 0, 1);
    if (!node_devices_are_right(node->hot.cluster, node))
        check_differs(check, node->name, "its GPUs that claims use", 0, 1);
    if (!node_hot_is_right(node))
        check_differs(check, node->name, "what is seen of it at a glance", 0, 1);
    return n_visited;
}

static int compare_owners(const void *a, const void *b)
{
    const uintptr_t left = (uintptr_t) * (const struct owner *const *)a;
    const uintptr_t right = (uintptr_t) * (const struct owner *const *)b;
    return (left > right) - (left < right);
}

/* The owner of each replica on the node. The caller frees the array. */
static const struct owner **collect_owners(const struct node *node, size_t *ret_n)
{
    size_t n = 0;
    for (const struct pod_entry *pod = node->pods; pod; pod = pod->next)
        n += pod_is_placed_replica(&pod->pod);
    for (const struct reservation_entry *held = node->reservations; held; held = held->next)
        n += held->reservation.owner != NULL;
    const struct owner **owners = MEM_ARRAY(const struct owner *, n);
    *ret_n = n;
    n = 0;
    for (const struct pod_entry *pod = node->pods; pod; pod = pod->next) {
        if (pod_is_placed_replica(&pod->pod))
            owners[n++] = pod->pod.owner;
    }
    for (const struct reservation_entry *held = node->reservations; held; held = held->next) {
        if (held->reservation.owner)
            owners[n++] = held->reservation.owner;
    }
    return owners;
}

/* check_owners() finds owners that count replicas which do not exist. */
static void check_replicas(struct check *check, const struct node *node)
{
    size_t n = 0;
    const struct owner **owners = collect_owners(node, &n);
    qsort(owners, n, sizeof(const struct owner *), compare_owners);
    for (size_t begin = 0, end = 0; begin < n; begin = end) {
        while (end < n && owners[end] == owners[begin])
            end++;
        const size_t is = owners_n_on(owners[begin], node);
        if (is != end - begin)
            check_differs(check, node->name, "replicas of one owner", (int64_t)is,
                          (int64_t)(end - begin));
    }
    free(owners);
}

/* Checks the node and everything on it. Returns the work done: pods, reservations and their
 * needs. */
static size_t check_node(struct check *check, const struct node *node)
{
    size_t n_pods = 0;
    size_t n_visited = 0;
    struct exact_sum *used = check_sums_new(node);
    for (const struct pod_entry *pod = node->pods; pod; pod = pod->next, n_pods++)
        n_visited += check_pod(check, node, pod, used);
    n_visited += check_rows(check, node, used);
    free(used);
    check_replicas(check, node);
    for (const struct nomination_entry *held = node->nominations; held; held = held->next) {
        if (held->node != node)
            check_differs(check, node->name, held->nomination.uid, 1, 0);
    }
    if (node->n_pods != n_pods)
        check_differs(check, node->name, "pods", (int64_t)node->n_pods, (int64_t)n_pods);
    if (!node->traits && !node->pods && !node->reservations && !node->nominations)
        check_differs(check, node->name, "a node that is neither there nor used", 1, 0);
    return n_visited;
}

/* Totals over a list of nodes. */
struct nodes_seen {
    size_t n, n_using, n_holding;
};

static void check_list(struct check *check, const struct node *first, bool is_there,
                       struct nodes_seen *seen)
{
    for (const struct node *node = first; node; node = node->next) {
        for (const struct pod_entry *pod = node->pods; pod; pod = pod->next)
            seen->n_using++;
        for (const struct reservation_entry *held = node->reservations; held; held = held->next)
            seen->n_holding++;
        seen->n++;
        if ((node->traits != NULL) != is_there)
            check_differs(check, node->name, "being there", !is_there, is_there);
        (void)check_node(check, node);
    }
}

static void check_nodes(struct check *check, const struct cluster *cluster)
{
    struct nodes_seen seen = {0};
    check_list(check, cluster->nodes, true, &seen);
    check_unless_same(check, "nodes", cluster->n_present_nodes, seen.n);
    check_list(check, cluster->missing_nodes, false, &seen);
    check_unless_same(check, "names of nodes", cluster->node_index.n, seen.n);
    size_t n_should_use = 0;
    for (const struct pod_entry *pod = cluster->pods; pod; pod = pod->hh.next)
        n_should_use += !pod->pod.finished && pod->pod.node_name[0] != '\0';
    check_unless_same(check, "pods that use a node", seen.n_using, n_should_use);
    check_unless_same(check, "reservations of nodes", seen.n_holding,
                      cluster_n_reservations(cluster));
}

/* If its pod is on a node, a reservation counts twice; if its pod cannot be bound, it never
 * ends. */
static void check_reservations(struct check *check, const struct cluster *cluster)
{
    for (const struct reservation *held = cluster_next_reservation(cluster, NULL); held;
         held = cluster_next_reservation(cluster, held)) {
        const struct pod *pod = cluster_find_pod(cluster, held->uid);
        if (pod && (pod->node_name[0] || pod->finished || pod->terminating))
            check_differs(check, held->uid, "a reservation of a pod that is settled", 1, 0);
    }
}

static void check_nomination(struct check *check, const struct cluster *cluster,
                             const struct pod_entry *pod)
{
    const struct nomination_entry *held = pod->nomination;
    const bool is_due = nominate_is_due(cluster, &pod->pod);
    if (is_due != (held != NULL))
        check_differs(check, pod->pod.uid, "a nomination", held != NULL, is_due);
    if (!held)
        return;
    if (strcmp(held->node->name, nominate_place(&pod->pod)) != 0)
        check_differs(check, pod->pod.uid, held->node->name, 1, 0);
    if (held->nomination.uid != pod->pod.uid || held->nomination.needs != pod->pod.shape->needs)
        check_differs(check, pod->pod.uid, "a nomination of its own", 0, 1);
    if (held->nomination.priority != pod->pod.priority)
        check_differs(check, pod->pod.uid, "the nomination's priority", held->nomination.priority,
                      pod->pod.priority);
}

/* A pod counts once. */
static void check_claim(struct check *check, const struct cluster *cluster,
                        const struct claim_entry *claim)
{
    const struct pod_entry *pod = NULL;
    HASH_FIND_STR(cluster->pods, claim->claim.uid, pod);
    const bool is_nominated = pod && pod->nomination;
    if (cluster_find_reservation(cluster, claim->claim.uid) ||
        (is_nominated && !claims_has_by_claims(cluster, &claim->claim)) ||
        (pod && (pod->node || pod->pod.finished || pod->pod.terminating)))
        check_differs(check, claim->claim.uid, "a claim of a pod that counts otherwise", 1, 0);
}

static size_t n_nominations(const struct node *node)
{
    size_t n = 0;
    for (const struct nomination_entry *held = node->nominations; held; held = held->next)
        n++;
    return n;
}

static void check_nominations(struct check *check, const struct cluster *cluster)
{
    size_t n_held = 0;
    size_t n_should_be = 0;
    for (const struct pod_entry *pod = cluster->pods; pod; pod = pod->hh.next) {
        check_nomination(check, cluster, pod);
        n_should_be += pod->nomination != NULL;
    }
    for (const struct node *node = cluster->nodes; node; node = node->next)
        n_held += n_nominations(node);
    for (const struct node *node = cluster->missing_nodes; node; node = node->next)
        n_held += n_nominations(node);
    check_unless_same(check, "nominations on nodes", n_held, n_should_be);
    size_t n_listed = 0;
    size_t n_should_be_listed = 0;
    for (const struct nomination_entry *held = cluster->nominations; held; held = held->all_next)
        n_listed++;
    for (const struct pod_entry *pod = cluster->pods; pod; pod = pod->hh.next)
        n_should_be_listed += pod->nomination && pod->nomination->counts_for_quotas;
    check_unless_same(check, "nominations that quotas count", n_listed, n_should_be_listed);
    for (const struct claim_entry *claim = cluster->claims; claim; claim = claim->hh.next)
        check_claim(check, cluster, claim);
}

static void check_names_of_nodes(struct check *check, const struct cluster *cluster,
                                 const struct node *first)
{
    for (const struct node *node = first; node; node = node->next) {
        if (node_index_find(&cluster->node_index, node->name) != node)
            check_differs(check, node->name, "being found by its name", 0, 1);
    }
}

static void check_names(struct check *check, const struct cluster *cluster)
{
    for (const struct pod_entry *pod = cluster->pods; pod; pod = pod->hh.next) {
        if (pod_names_find(&cluster->pod_names, pod->pod.namespace_, pod->pod.name) != pod)
            check_differs(check, pod->pod.uid, "being found by its name", 0, 1);
    }
    check_unless_same(check, "names of pods", cluster->pod_names.n, cluster_n_pods(cluster));
    check_names_of_nodes(check, cluster, cluster->nodes);
    check_names_of_nodes(check, cluster, cluster->missing_nodes);
}

/* Compares the sums over all owners with the pods and reservations. */
static void check_owners(struct check *check, const struct cluster *cluster)
{
    size_t n_placed = 0;
    size_t n_naming = 0;
    for (const struct owner *owner = cluster->owners.table; owner; owner = owner->hh.next) {
        n_naming += owner->refs;
        for (size_t i = 0; i < owner->n_nodes; i++)
            n_placed += owner->nodes[i].n;
    }
    size_t n_should_be_placed = 0;
    size_t n_should_name = 0;
    for (const struct pod_entry *pod = cluster->pods; pod; pod = pod->hh.next) {
        n_should_be_placed += pod_is_placed_replica(&pod->pod);
        n_should_name += pod->pod.owner != NULL;
    }
    for (const struct reservation_entry *held = cluster->reservations; held; held = held->hh.next) {
        n_should_be_placed += held->reservation.owner != NULL;
        n_should_name += held->reservation.owner != NULL;
    }
    check_unless_same(check, "placed replicas", n_placed, n_should_be_placed);
    check_unless_same(check, "users of owners", n_naming, n_should_name);
}

/* Recomputed pool of one resource, at the same index as the pool it is compared with. */
struct offered {
    int64_t free;
    size_t n_nodes;
};

static void add_offer(struct offered *offered, const struct model_pool *pool, int64_t free)
{
    if (!pool)
        return;
    offered[pool->index].free += model_pool_offered(free);
    offered[pool->index].n_nodes++;
}

static void add_offered(const struct cluster *cluster, const struct gpu_demand *demand,
                        struct offered *offered)
{
    for (const struct node *node = cluster->nodes; node; node = node->next) {
        const struct node_resource *row = node_find_resource(node, demand->resource);
        if (row)
            add_offer(offered, row->pool, node_resource_free(row));
        for (size_t i = 0; i < node->n_devices; i++) {
            if (node->devices[i].resource == demand->resource)
                add_offer(offered, node->devices[i].pool, node->devices[i].free);
        }
    }
}

static void check_demand(struct check *check, const struct cluster *cluster,
                         const struct gpu_demand *demand)
{
    struct offered *offered = MEM_ARRAY(struct offered, demand->n_pools);
    add_offered(cluster, demand, offered);
    for (size_t i = 0; i < demand->n_pools; i++) {
        const struct model_pool *pool = demand->pools[i];
        if (pool->free != offered[i].free)
            check_differs(check, pool->model, "what is free", pool->free, offered[i].free);
        check_unless_same(check, "nodes of a model", pool->n_nodes, offered[i].n_nodes);
    }
    free(offered);
}

static void check_offers(struct check *check, const struct node *node)
{
    for (size_t i = 0; i < node->n_resources; i++) {
        const struct node_resource *has = &node->resources[i];
        if ((has->pool != NULL) != model_pool_is_offered(node, has))
            check_differs(check, node->name, "GPUs on offer", has->pool != NULL, has->pool == NULL);
    }
    for (size_t i = 0; i < node->n_devices; i++) {
        const struct node_device_group *group = &node->devices[i];
        const struct model_pool *pool = group->pool;
        if ((pool != NULL) != model_pool_has_devices(node, group))
            check_differs(check, node->name, "devices on offer", pool != NULL, pool == NULL);
        else if (pool && strcmp(pool->model, group->model) != 0)
            check_differs(check, node->name, "devices of a pool's model", 0, 1);
    }
}

/* Recomputes the free GPUs per model from the rows of the nodes. */
static void check_pools(struct check *check, const struct cluster *cluster)
{
    for (const struct gpu_demand *demand = gpu_demand_next(cluster, NULL); demand;
         demand = gpu_demand_next(cluster, demand))
        check_demand(check, cluster, demand);
    for (const struct node *node = cluster->nodes; node; node = node->next)
        check_offers(check, node);
}

static void check_demands(struct check *check, const struct cluster *cluster)
{
    check_pools(check, cluster);
    int64_t n_live = 0;
    for (const struct shape_entry *shape = cluster->shapes->shapes; shape; shape = shape->hh.next)
        n_live += shape->n_live;
    size_t n_should_live = 0;
    for (const struct pod_entry *pod = cluster->pods; pod; pod = pod->hh.next)
        n_should_live += gpu_demand_counts(&pod->pod);
    check_unless_same(check, "live pods", (size_t)n_live, n_should_live);
}

struct peer_sums {
    size_t n_refs, bytes;
};

static struct peer_sums sums_of(const struct peers *peers)
{
    struct peer_sums sums = {0};
    for (const struct peer_entry *entry = peers->entries; entry; entry = entry->hh.next) {
        sums.n_refs += entry->refs;
        sums.bytes += entry->bytes;
    }
    return sums;
}

/* Checks the terms of pods with a node, which forks do not have. */
static void check_own_terms(struct check *check, const struct cluster *cluster)
{
    const struct peers *peers = &cluster->shapes->own_terms;
    const struct peer_sums sums = sums_of(peers);
    size_t n_should_refs = 0;
    for (const struct pod_entry *entry = cluster->pods; entry; entry = entry->hh.next)
        n_should_refs += entry->pod.own_terms != NULL;
    check_unless_same(check, "own terms in use", sums.n_refs, n_should_refs);
    check_unless_same(check, "bytes of own terms", peers->bytes, sums.bytes);
}

/* Recomputes the references to labels and terms of pods, and their bytes. Not for a ledger with
 * forks, which hold references, too. */
static void check_peers(struct check *check, const struct cluster *cluster)
{
    const struct peers *peers = &cluster->shapes->peers;
    const struct peer_sums sums = sums_of(peers);
    size_t n_should_refs = 0;
    size_t n_should_repel = 0;
    for (const struct pod_entry *entry = cluster->pods; entry; entry = entry->hh.next) {
        const struct pod *pod = &entry->pod;
        n_should_refs += (size_t)(pod->labels != NULL) + (size_t)(pod->terms != NULL);
        n_should_repel += !pod->finished && pod->terms && pod->terms->n_anti_affinity > 0;
    }
    if (cluster->shapes->refs == 1)
        check_unless_same(check, "labels and terms in use", sums.n_refs, n_should_refs);
    check_unless_same(check, "bytes of labels and terms", peers->bytes, sums.bytes);
    check_unless_same(check, "pods with anti-affinity", cluster->n_repelling, n_should_repel);
}

static size_t n_classes(const struct cluster *cluster)
{
    size_t n = 0;
    for (const struct gpu_demand *demand = gpu_demand_next(cluster, NULL); demand;
         demand = gpu_demand_next(cluster, demand))
        n += demand->n_classes;
    return n;
}

/* Use by namespaces and quotas, recomputed in one pass over pods, reservations and claims. */

struct uses {
    const char *namespace_;
    size_t n; /* pods, reservations and claims */
    int64_t *cells;
    UT_hash_handle hh;
};

static struct uses *find_or_add_uses(struct uses **table, const struct policy *policy,
                                     const char *namespace_)
{
    struct uses *uses = NULL;
    HASH_FIND_STR(*table, namespace_, uses);
    if (!uses) {
        uses = MEM_NEW(struct uses);
        *uses = (struct uses){.namespace_ = namespace_,
                              .cells = MEM_ARRAY(int64_t, namespace_usage_n_cells(policy))};
        HASH_ADD_KEYPTR(hh, *table, namespace_, strlen(namespace_), uses);
    }
    return uses;
}

static void add_use(struct uses **table, const struct policy *policy, const char *namespace_,
                    struct quota_pod pod, const struct node_traits *traits)
{
    if (pod.shape->n_gpu_needs == 0)
        return;
    struct uses *uses = find_or_add_uses(table, policy, namespace_);
    namespace_usage_add(policy, uses->cells, pod, traits, 1);
    uses->n++;
}

static void add_claim(struct uses **table, const struct policy *policy, const struct claim_use *use)
{
    struct uses *uses = find_or_add_uses(table, policy, claim_usage_namespace(use));
    claim_usage_add(policy, uses->cells, use);
    uses->n++;
}

/* Returns a table by namespace; NULL without quotas. */
static struct uses *add_up(const struct cluster *cluster)
{
    const struct policy *policy = cluster->policy;
    struct uses *table = NULL;
    if (policy->n_quotas == 0)
        return NULL;
    for (const struct pod_entry *pod = cluster->pods; pod; pod = pod->hh.next) {
        if (pod->node)
            add_use(&table, policy, pod->pod.namespace_,
                    (struct quota_pod){pod->pod.shape, pod->pod.priority},
                    namespace_usage_traits(pod->node));
    }
    for (const struct reservation_entry *held = cluster->reservations; held; held = held->hh.next)
        add_use(&table, policy, held->reservation.namespace_,
                (struct quota_pod){held->reservation.shape, held->reservation.priority},
                namespace_usage_traits(held->node));
    for (const struct claim_use *use = claim_usage_next(cluster, NULL); use;
         use = claim_usage_next(cluster, use)) {
        if (claim_usage_counts(use))
            add_claim(&table, policy, use);
    }
    return table;
}

static void free_uses(struct uses *table)
{
    struct uses *uses = NULL;
    struct uses *next = NULL;
    HASH_ITER (hh, table, uses, next) {
        HASH_DEL(table, uses);
        free(uses->cells);
        free(uses);
    }
}

static void check_cells(struct check *check, const char *where, const int64_t *is,
                        const int64_t *should_be, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (is[i] != should_be[i])
            check_differs(check, where, "what quotas count", is[i], should_be[i]);
    }
}

/* uses NULL: the namespace should use nothing. */
static void check_uses(struct check *check, const struct namespace_entry *entry,
                       const struct uses *uses, size_t n_cells)
{
    const char *name = entry->namespace_.name;
    const size_t n_users = uses ? uses->n : 0;
    if (entry->n_users != n_users)
        check_differs(check, name, "users of GPUs", (int64_t)entry->n_users, (int64_t)n_users);
    if (uses && !entry->used)
        check_differs(check, name, "what quotas count", 0, 1);
    for (size_t i = 0; entry->used && i < n_cells; i++) {
        const int64_t should_be = uses ? uses->cells[i] : 0;
        if (entry->used[i] != should_be)
            check_differs(check, name, "what quotas count", entry->used[i], should_be);
    }
    if (!entry->there && n_users == 0)
        check_differs(check, name, "a namespace that is neither there nor used", 1, 0);
}

/* Adds the namespace's use to the cells of the quotas that cover it. */
static void check_quotas_of(struct check *check, const struct policy *policy,
                            const struct namespace_entry *entry, const struct uses *uses,
                            int64_t *quota_cells)
{
    const struct namespace *is = &entry->namespace_;
    const size_t n_cells = namespace_usage_n_cells(policy);
    size_t n_quotas = 0;
    for (size_t q = 0; q < policy->n_quotas; q++) {
        if (!policy_quota_covers(&policy->quotas[q], is->name, is->labels, is->n_labels))
            continue;
        if (n_quotas >= entry->n_quotas || entry->quotas[n_quotas++] != q)
            check_differs(check, is->name, "covered by a quota", 0, 1);
        for (size_t c = 0; uses && c < n_cells; c++)
            quota_cells[q * n_cells + c] += uses->cells[c];
    }
    if (n_quotas != entry->n_quotas)
        check_differs(check, is->name, "quotas", (int64_t)entry->n_quotas, (int64_t)n_quotas);
}

static void check_namespaces(struct check *check, const struct cluster *cluster)
{
    const struct policy *policy = cluster->policy;
    const size_t n_cells = namespace_usage_n_cells(policy);
    int64_t *quota_cells = MEM_ARRAY(int64_t, policy->n_quotas * n_cells);
    struct uses *table = add_up(cluster);
    check_unless_same(check, "claims that quotas count otherwise", claim_usage_check(cluster), 0);
    size_t n_there = 0;
    size_t n_using = 0;
    for (const struct namespace_entry *entry = cluster->namespaces; entry; entry = entry->hh.next) {
        struct uses *uses = NULL;
        HASH_FIND_STR(table, entry->namespace_.name, uses);
        check_uses(check, entry, uses, n_cells);
        check_quotas_of(check, policy, entry, uses, quota_cells);
        n_there += entry->there;
        n_using += uses != NULL;
    }
    check_cells(check, "quotas", cluster->quota_used, quota_cells, policy->n_quotas * n_cells);
    check_unless_same(check, "namespaces", cluster->n_present_namespaces, n_there);
    check_unless_same(check, "GPUs whose time is summed", gpu_time_is_right(cluster), true);
    check_unless_same(check, "namespaces that use GPUs", n_using, HASH_COUNT(table));
    free_uses(table);
    free(quota_cells);
}

static void check_sums(struct check *check, const struct cluster *cluster)
{
    check_nodes(check, cluster);
    check_reservations(check, cluster);
    check_nominations(check, cluster);
    check_names(check, cluster);
    check_owners(check, cluster);
    check_demands(check, cluster);
    check_peers(check, cluster);
    check_own_terms(check, cluster);
    check_namespaces(check, cluster);
    check_unless_same(check, "wrong domains", domains_check(cluster), 0);
    check_unless_same(check, "wrong counts of device classes",
                      cluster_device_classes_check(cluster), 0);
    size_t n_shape_refs = 0;
    size_t n_shape_bytes = 0;
    for (const struct shape_entry *shape = cluster->shapes->shapes; shape; shape = shape->hh.next) {
        n_shape_refs += shape->refs;
        n_shape_bytes += shape->bytes;
    }
    check_unless_same(check, "bytes of shapes", n_shape_bytes,
                      cluster->shapes->limited_bytes + cluster->shapes->demand_bytes);
    check_unless_same(check, "users of shapes", n_shape_refs,
                      cluster_n_pods(cluster) + cluster_n_reservations(cluster) +
                          n_classes(cluster));
}

size_t cluster_check(const struct cluster *cluster, struct err *err)
{
    struct check check = {.err = err};
    check_sums(&check, cluster);
    return check.n_differences;
}

/* Returns true after the last one. */
static bool check_some_devices(struct check *check, const struct cluster *cluster, size_t work)
{
    struct err *err = check->n_differences == 0 ? check->err : NULL;
    return devices_check_some(cluster->devices, work, &check->n_differences, err);
}

size_t cluster_check_in_place(const struct cluster *cluster, struct err *err)
{
    struct check check = {.err = err};
    check_sums(&check, cluster);
    while (!check_some_devices(&check, cluster, SIZE_MAX)) {
    }
    return check.n_differences;
}

/*
 * Checking in steps, while the ledger is in use.
 *
 * The caller bounds the work of a step. A kubelet runs a few hundred pods, but any number of pods
 * may name one node. So a node with more than PODS_AT_ONCE pods is summed in several steps. They
 * count only if the node did not change in between, and leave out replicas and nominations.
 */

#define PODS_AT_ONCE 512
/* After so many restarts a changing node waits for the next round. */
#define TRIES 3

static void begin_node(struct check_walk *walk)
{
    free(walk->used);
    walk->used = check_sums_new(walk->node);
    walk->pod = walk->node->pods;
    walk->n_changes = walk->node->n_changes;
    walk->n_tries++;
}

/* Returns the work done. */
static size_t check_part(struct check *check, struct check_walk *walk, size_t work)
{
    size_t n_visited = 1;
    if (!walk->used || walk->n_changes != walk->node->n_changes) {
        if (walk->n_tries == TRIES) {
            node_table_walk_to(walk, walk->node->next);
            return n_visited;
        }
        begin_node(walk);
    }
    for (; walk->pod && n_visited < work; walk->pod = walk->pod->next)
        n_visited += check_pod(check, walk->node, walk->pod, walk->used);
    if (walk->pod)
        return n_visited;
    n_visited += check_rows(check, walk->node, walk->used);
    node_table_walk_to(walk, walk->node->next);
    return n_visited;
}

static size_t check_next(struct check *check, struct check_walk *walk, size_t work)
{
    struct node *node = walk->node;
    if (node->n_pods > PODS_AT_ONCE)
        return check_part(check, walk, work);
    node_table_walk_to(walk, node->next);
    return 1 + check_node(check, node);
}

bool cluster_check_some(struct cluster *cluster, size_t work, size_t *ret_n_differences,
                        struct err *err)
{
    struct check_walk *walk = &cluster->check_walk;
    struct check check = {.err = *ret_n_differences == 0 ? err : NULL};
    size_t n_visited = 0;
    if (!walk->node && !walk->at_devices)
        node_table_walk_to(walk, cluster->nodes);
    while (walk->node && n_visited < work)
        n_visited += check_next(&check, walk, work - n_visited);
    walk->at_devices = !walk->node;
    const bool is_complete = walk->at_devices && n_visited < work &&
                             check_some_devices(&check, cluster, work - n_visited);
    if (is_complete) {
        walk->at_devices = false;
        check_pools(&check, cluster);
    }
    *ret_n_differences += check.n_differences;
    return is_complete;
}
