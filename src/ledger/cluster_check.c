/*
 * cluster_check: the ledger's sums, made again the slow way from its pods and reservations.
 */
#include "cluster_check.h"
#include "base/mem.h"
#include "exact_sum.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void check_differs(struct check *check, const char *where, const char *what, int64_t is,
                   int64_t should_be)
{
    if (check->n_differences++ == 0)
        (void)err_set(check->err, EINVAL, "%s: %s is %" PRId64 ", should be %" PRId64, where, what,
                      is, should_be);
}

void check_unless_same(struct check *check, const char *what, size_t is, size_t should_be)
{
    if (is != should_be)
        check_differs(check, "cluster", what, (int64_t)is, (int64_t)should_be);
}

static bool uses(const struct pod *pod, const char *node_name)
{
    return !pod->finished && pod->node_name[0] && strcmp(pod->node_name, node_name) == 0;
}

struct exact_sum *check_sums_new(const struct node *node)
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

size_t check_pod(struct check *check, const struct node *node, const struct pod_entry *pod,
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

size_t check_rows(struct check *check, const struct node *node, const struct exact_sum *used)
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
    if (!glance_is_right(node))
        check_differs(check, node->name, "what is seen of it at a glance", 0, 1);
    return n_visited;
}

static int compare_owners(const void *a, const void *b)
{
    const uintptr_t left = (uintptr_t) * (const struct owner *const *)a;
    const uintptr_t right = (uintptr_t) * (const struct owner *const *)b;
    return (left > right) - (left < right);
}

/* Of each replica on the node, whose it is. For the caller to free. */
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

/* That no owner counts replicas which are not there, its sum tells: check_owners(). */
static void check_replicas(struct check *check, const struct node *node)
{
    size_t n = 0;
    const struct owner **owners = collect_owners(node, &n);
    qsort(owners, n, sizeof(const struct owner *), compare_owners);
    for (size_t begin = 0, end = 0; begin < n; begin = end) {
        while (end < n && owners[end] == owners[begin])
            end++;
        const size_t is = owner_n_on(owners[begin], node);
        if (is != end - begin)
            check_differs(check, node->name, "replicas of one owner", (int64_t)is,
                          (int64_t)(end - begin));
    }
    free(owners);
}

size_t check_node(struct check *check, const struct node *node)
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

/* Nodes of one list, and what is on them. */
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

/* A reservation whose pod is on a node would count twice; one whose pod can be bound no more would
 * never end. */
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
    if (strcmp(held->node->name, pod->pod.nominated_node) != 0)
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
    if (cluster_find_reservation(cluster, claim->claim.uid) ||
        (pod && (pod->node || pod->nomination || pod->pod.finished || pod->pod.terminating)))
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

/* What the nodes say of their replicas is all there is, and so are those who name an owner. */
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

/* The recomputed supply of one resource, at the index of the supply that it is compared with. */
struct offered {
    int64_t free;
    size_t n_nodes;
};

static void add_offered(const struct cluster *cluster, const struct market *market,
                        struct offered *offered)
{
    for (const struct node *node = cluster->nodes; node; node = node->next) {
        const struct node_resource *row = node_find_resource(node, market->resource);
        if (!row || !row->supply)
            continue;
        offered[row->supply->index].free += supply_offered(row);
        offered[row->supply->index].n_nodes++;
    }
}

static void check_market(struct check *check, const struct cluster *cluster,
                         const struct market *market)
{
    struct offered *offered = MEM_ARRAY(struct offered, market->n_supplies);
    add_offered(cluster, market, offered);
    for (size_t i = 0; i < market->n_supplies; i++) {
        const struct supply *supply = market->supplies[i];
        if (supply->free != offered[i].free)
            check_differs(check, supply->model, "what is free", supply->free, offered[i].free);
        check_unless_same(check, "nodes of a model", supply->n_nodes, offered[i].n_nodes);
    }
    free(offered);
}

static void check_offers(struct check *check, const struct node *node)
{
    for (size_t i = 0; i < node->n_resources; i++) {
        const struct node_resource *has = &node->resources[i];
        if ((has->supply != NULL) != supply_is_offered(node, has))
            check_differs(check, node->name, "GPUs on offer", has->supply != NULL,
                          has->supply == NULL);
    }
}

void check_supplies(struct check *check, const struct cluster *cluster)
{
    for (const struct market *market = cluster_next_market(cluster, NULL); market;
         market = cluster_next_market(cluster, market))
        check_market(check, cluster, market);
    for (const struct node *node = cluster->nodes; node; node = node->next)
        check_offers(check, node);
}

static void check_markets(struct check *check, const struct cluster *cluster)
{
    check_supplies(check, cluster);
    int64_t n_live = 0;
    for (const struct shape_entry *shape = cluster->shapes->shapes; shape; shape = shape->hh.next)
        n_live += shape->n_live;
    size_t n_should_live = 0;
    for (const struct pod_entry *pod = cluster->pods; pod; pod = pod->hh.next)
        n_should_live += pod_is_live(&pod->pod);
    check_unless_same(check, "live pods", (size_t)n_live, n_should_live);
}

static size_t n_classes(const struct cluster *cluster)
{
    size_t n = 0;
    for (const struct market *market = cluster_next_market(cluster, NULL); market;
         market = cluster_next_market(cluster, market))
        n += market->n_classes;
    return n;
}

size_t cluster_check(const struct cluster *cluster, struct err *err)
{
    struct check check = {.err = err};
    check_nodes(&check, cluster);
    check_reservations(&check, cluster);
    check_nominations(&check, cluster);
    check_names(&check, cluster);
    check_owners(&check, cluster);
    check_markets(&check, cluster);
    check_tenants(&check, cluster);
    check_unless_same(&check, "wrong counts of device classes", device_classes_check(cluster), 0);
    size_t n_shape_refs = 0;
    size_t n_shape_bytes = 0;
    for (const struct shape_entry *shape = cluster->shapes->shapes; shape; shape = shape->hh.next) {
        n_shape_refs += shape->refs;
        n_shape_bytes += shape->bytes;
    }
    check_unless_same(&check, "bytes of shapes", n_shape_bytes,
                      cluster->shapes->limited_bytes + cluster->shapes->demand_bytes);
    check_unless_same(&check, "users of shapes", n_shape_refs,
                      cluster_n_pods(cluster) + cluster_n_reservations(cluster) +
                          n_classes(cluster));
    return check.n_differences;
}
