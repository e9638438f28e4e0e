/*
 * cluster_check: the ledger's sums, made again the slow way from its pods and reservations.
 */
#include "base/mem.h"
#include "ledger.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct check {
    size_t n_differences;
    struct err *err;
};

static void differs(struct check *check, const char *where, const char *what, int64_t is,
                    int64_t should_be)
{
    if (check->n_differences++ == 0)
        (void)err_set(check->err, EINVAL, "%s: %s is %" PRId64 ", should be %" PRId64, where, what,
                      is, should_be);
}

static void differs_unless(struct check *check, const char *what, size_t is, size_t should_be)
{
    if (is != should_be)
        differs(check, "cluster", what, (int64_t)is, (int64_t)should_be);
}

static bool uses(const struct pod *pod, const char *node_name)
{
    return !pod->finished && pod->node_name[0] && strcmp(pod->node_name, node_name) == 0;
}

static int64_t sum_of_pods(const struct node *node, const char *resource)
{
    int64_t sum = 0;
    for (const struct pod_entry *pod = node->pods; pod; pod = pod->next)
        sum = ledger_add(sum, shape_demand(&pod->pod.shape->facts, resource));
    return sum;
}

static int64_t sum_of_reservations(const struct node *node, const char *resource)
{
    int64_t sum = 0;
    for (const struct reservation_entry *held = node->reservations; held; held = held->next)
        sum = ledger_add(sum, shape_demand(&held->reservation.shape->facts, resource));
    return sum;
}

static void check_sums(struct check *check, const struct node *node)
{
    for (size_t i = 0; i < node->n_resources; i++) {
        const struct node_resource *resource = &node->resources[i];
        const char *name = resource->resource->name;
        const int64_t used = sum_of_pods(node, name);
        const int64_t reserved = sum_of_reservations(node, name);
        if (resource->used != used)
            differs(check, node->name, name, resource->used, used);
        if (resource->reserved != reserved)
            differs(check, node->name, "what is reserved", resource->reserved, reserved);
        if (!resource->advertised && resource->used == 0 && resource->reserved == 0)
            differs(check, node->name, "an unused, unadvertised resource", 1, 0);
    }
}

static void check_needs(struct check *check, const struct node *node, const struct pod_shape *shape)
{
    for (size_t i = 0; i < shape->n_needs; i++) {
        const struct resource *resource = shape->needs[i].resource;
        if (!node_find_resource(node, resource))
            differs(check, node->name, resource->name, 0, shape->needs[i].amount);
    }
}

static size_t n_replicas(const struct node *node, const struct owner *owner)
{
    size_t n = 0;
    for (const struct pod_entry *pod = node->pods; pod; pod = pod->next)
        n += pod->pod.owner == owner && pod_is_placed_replica(&pod->pod);
    for (const struct reservation_entry *held = node->reservations; held; held = held->next)
        n += held->reservation.owner == owner;
    return n;
}

static void check_replicas(struct check *check, const struct node *node, const struct owner *owner)
{
    const size_t is = owner_n_on(owner, node);
    const size_t should_be = owner ? n_replicas(node, owner) : 0;
    if (is != should_be)
        differs(check, node->name, "replicas of one owner", (int64_t)is, (int64_t)should_be);
}

static void check_node(struct check *check, const struct node *node)
{
    check_sums(check, node);
    for (const struct pod_entry *pod = node->pods; pod; pod = pod->next) {
        if (!uses(&pod->pod, node->name) || pod->node != node)
            differs(check, node->name, pod->pod.uid, 1, 0);
        check_needs(check, node, pod->pod.shape);
        check_replicas(check, node, pod->pod.owner);
    }
    for (const struct reservation_entry *held = node->reservations; held; held = held->next) {
        if (strcmp(held->reservation.node_name, node->name) != 0 || held->node != node)
            differs(check, node->name, held->reservation.uid, 1, 0);
        check_needs(check, node, held->reservation.shape);
        check_replicas(check, node, held->reservation.owner);
    }
    for (const struct nomination_entry *held = node->nominations; held; held = held->next) {
        if (held->node != node)
            differs(check, node->name, held->nomination.uid, 1, 0);
    }
    if (!node->traits && !node->pods && !node->reservations && !node->nominations)
        differs(check, node->name, "a node that is neither there nor used", 1, 0);
}

size_t cluster_check_node(const struct node *node, struct err *err)
{
    struct check check = {.err = err};
    check_node(&check, node);
    return check.n_differences;
}

static void check_nodes(struct check *check, const struct cluster *cluster)
{
    size_t n_present = 0;
    size_t n_using = 0;
    size_t n_holding = 0;
    for (const struct node *node = cluster->nodes; node; node = node->hh.next) {
        n_present += node->traits != NULL;
        for (const struct pod_entry *pod = node->pods; pod; pod = pod->next)
            n_using++;
        for (const struct reservation_entry *held = node->reservations; held; held = held->next)
            n_holding++;
        check_node(check, node);
    }
    size_t n_should_use = 0;
    for (const struct pod_entry *pod = cluster->pods; pod; pod = pod->hh.next)
        n_should_use += !pod->pod.finished && pod->pod.node_name[0] != '\0';
    differs_unless(check, "nodes", cluster->n_present_nodes, n_present);
    differs_unless(check, "pods that use a node", n_using, n_should_use);
    differs_unless(check, "reservations of nodes", n_holding, cluster_n_reservations(cluster));
}

/* A reservation whose pod is on a node would count twice; one whose pod can be bound no more would
 * never end. */
static void check_reservations(struct check *check, const struct cluster *cluster)
{
    for (const struct reservation *held = cluster_next_reservation(cluster, NULL); held;
         held = cluster_next_reservation(cluster, held)) {
        const struct pod *pod = cluster_find_pod(cluster, held->uid);
        if (pod && (pod->node_name[0] || pod->finished || pod->terminating))
            differs(check, held->uid, "a reservation of a pod that is settled", 1, 0);
    }
}

static void check_nomination(struct check *check, const struct cluster *cluster,
                             const struct pod_entry *pod)
{
    const struct nomination_entry *held = pod->nomination;
    const bool is_due = nominate_is_due(cluster, &pod->pod);
    if (is_due != (held != NULL))
        differs(check, pod->pod.uid, "a nomination", held != NULL, is_due);
    if (!held)
        return;
    if (strcmp(held->node->name, pod->pod.nominated_node) != 0)
        differs(check, pod->pod.uid, held->node->name, 1, 0);
    if (held->nomination.uid != pod->pod.uid || held->nomination.needs != pod->pod.shape->needs)
        differs(check, pod->pod.uid, "a nomination of its own", 0, 1);
    if (held->nomination.priority != pod->pod.priority)
        differs(check, pod->pod.uid, "the nomination's priority", held->nomination.priority,
                pod->pod.priority);
}

static void check_nominations(struct check *check, const struct cluster *cluster)
{
    size_t n_held = 0;
    size_t n_should_be = 0;
    for (const struct pod_entry *pod = cluster->pods; pod; pod = pod->hh.next) {
        check_nomination(check, cluster, pod);
        n_should_be += pod->nomination != NULL;
    }
    for (const struct node *node = cluster->nodes; node; node = node->hh.next) {
        for (const struct nomination_entry *held = node->nominations; held; held = held->next)
            n_held++;
    }
    differs_unless(check, "nominations on nodes", n_held, n_should_be);
}

static void check_names(struct check *check, const struct cluster *cluster)
{
    for (const struct pod_entry *pod = cluster->pods; pod; pod = pod->hh.next) {
        if (pod_names_find(&cluster->pod_names, pod->pod.namespace_, pod->pod.name) != pod)
            differs(check, pod->pod.uid, "being found by its name", 0, 1);
    }
    differs_unless(check, "names of pods", cluster->pod_names.n, cluster_n_pods(cluster));
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
    differs_unless(check, "placed replicas", n_placed, n_should_be_placed);
    differs_unless(check, "users of owners", n_naming, n_should_name);
}

static void check_supply(struct check *check, const struct cluster *cluster,
                         const struct supply *supply)
{
    int64_t free = 0;
    size_t n_nodes = 0;
    for (const struct node *node = cluster->nodes; node; node = node->hh.next) {
        for (size_t i = 0; i < node->n_resources; i++) {
            if (node->resources[i].supply != supply)
                continue;
            free += supply_offered(&node->resources[i]);
            n_nodes++;
        }
    }
    if (supply->free != free)
        differs(check, supply->model, "what is free", supply->free, free);
    differs_unless(check, "nodes of a model", supply->n_nodes, n_nodes);
}

static void check_offers(struct check *check, const struct node *node)
{
    for (size_t i = 0; i < node->n_resources; i++) {
        const struct node_resource *has = &node->resources[i];
        if ((has->supply != NULL) != supply_is_offered(node, has))
            differs(check, node->name, "GPUs on offer", has->supply != NULL, has->supply == NULL);
    }
}

static void check_markets(struct check *check, const struct cluster *cluster)
{
    for (const struct market *market = cluster_next_market(cluster, NULL); market;
         market = cluster_next_market(cluster, market)) {
        for (size_t i = 0; i < market->n_supplies; i++)
            check_supply(check, cluster, market->supplies[i]);
    }
    for (const struct node *node = cluster->nodes; node; node = node->hh.next)
        check_offers(check, node);
    int64_t n_live = 0;
    for (const struct shape_entry *shape = cluster->shapes->shapes; shape; shape = shape->hh.next)
        n_live += shape->n_live;
    size_t n_should_live = 0;
    for (const struct pod_entry *pod = cluster->pods; pod; pod = pod->hh.next)
        n_should_live += pod_is_live(&pod->pod);
    differs_unless(check, "live pods", (size_t)n_live, n_should_live);
}

/* Quotas: how much each namespace uses, and of these each quota. */

static void check_cells(struct check *check, const char *where, const int64_t *is,
                        const int64_t *should_be, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (is[i] != should_be[i])
            differs(check, where, "what quotas count", is[i], should_be[i]);
    }
}

/* Adds what the namespace uses, made anew, to cells. How many pods and reservations that is. */
static size_t add_uses(const struct cluster *cluster, const char *namespace_, int64_t *cells)
{
    size_t n = 0;
    for (const struct node *node = cluster->nodes; node; node = node->hh.next) {
        const uint64_t models = tenants_models(node);
        for (const struct pod_entry *pod = node->pods; pod; pod = pod->next) {
            if (strcmp(pod->pod.namespace_, namespace_) != 0)
                continue;
            tenants_add(cluster->policy, cells, pod->pod.shape, models, 1);
            n += pod->pod.shape->n_gpu_needs > 0;
        }
        for (const struct reservation_entry *held = node->reservations; held; held = held->next) {
            if (strcmp(held->reservation.namespace_, namespace_) != 0)
                continue;
            tenants_add(cluster->policy, cells, held->reservation.shape, models, 1);
            n += held->reservation.shape->n_gpu_needs > 0;
        }
    }
    return n;
}

static void check_tenant(struct check *check, const struct cluster *cluster,
                         const struct tenant *tenant, int64_t *quota_cells)
{
    const struct policy *policy = cluster->policy;
    const struct namespace *is = &tenant->namespace_;
    const size_t n_cells = tenants_n_cells(policy);
    int64_t *cells = MEM_ARRAY(int64_t, n_cells);
    size_t n_quotas = 0;
    const size_t n_users = add_uses(cluster, is->name, cells);
    if (tenant->used)
        check_cells(check, is->name, tenant->used, cells, n_cells);
    if (policy->n_quotas > 0 && tenant->n_users != n_users)
        differs(check, is->name, "users of GPUs", (int64_t)tenant->n_users, (int64_t)n_users);
    if (!tenant->there && tenant->n_users == 0)
        differs(check, is->name, "a namespace that is neither there nor used", 1, 0);
    for (size_t q = 0; q < policy->n_quotas; q++) {
        if (!quota_covers(&policy->quotas[q], is->name, is->labels, is->n_labels))
            continue;
        if (n_quotas >= tenant->n_quotas || tenant->quotas[n_quotas++] != q)
            differs(check, is->name, "covered by a quota", 0, 1);
        for (size_t c = 0; c < n_cells; c++)
            quota_cells[q * n_cells + c] += cells[c];
    }
    if (n_quotas != tenant->n_quotas)
        differs(check, is->name, "quotas", (int64_t)tenant->n_quotas, (int64_t)n_quotas);
    free(cells);
}

static void check_quotas(struct check *check, const struct cluster *cluster)
{
    const size_t n_cells = cluster->policy->n_quotas * tenants_n_cells(cluster->policy);
    int64_t *cells = MEM_ARRAY(int64_t, n_cells);
    size_t n_there = 0;
    for (const struct tenant *tenant = cluster->tenants; tenant; tenant = tenant->hh.next) {
        check_tenant(check, cluster, tenant, cells);
        n_there += tenant->there;
    }
    check_cells(check, "quotas", cluster->quota_used, cells, n_cells);
    differs_unless(check, "namespaces", cluster->n_present_namespaces, n_there);
    free(cells);
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
    check_quotas(&check, cluster);
    differs_unless(&check, "wrong counts of device classes", device_classes_check(cluster), 0);
    size_t n_shape_refs = 0;
    for (const struct shape_entry *shape = cluster->shapes->shapes; shape; shape = shape->hh.next)
        n_shape_refs += shape->refs;
    differs_unless(&check, "users of shapes", n_shape_refs,
                   cluster_n_pods(cluster) + cluster_n_reservations(cluster) + n_classes(cluster));
    return check.n_differences;
}
