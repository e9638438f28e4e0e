/*
 * changes: applies a change of a node, pod or reservation to all derived sums, in this order:
 *
 *   1. rows of the node (node_rows), its devices (node_devices), and with each the pool of its GPUs
 *      (model_pool)
 *   2. the domains of the node (domains), and its hot part (node_hot)
 *   3. use by namespaces and quotas (namespace_usage)
 *   4. replicas on the node (owners)
 *   5. live pods (gpu_demand)
 *   6. the time for which pods have GPUs (gpu_time)
 *   7. nominations (nominate), claims (claims), claims of devices (claim_usage), members of groups
 *      (pod_groups)
 */
#include "ledger/ledger.h"

#include <string.h>

static void usage_change(struct cluster *cluster, struct node *node, const struct usage *usage,
                         bool is_added)
{
    node_rows_change(cluster, node, usage, is_added);
    node_hot_renew(node);
    namespace_usage_count(cluster, usage->namespace_, usage->pod, namespace_usage_traits(node),
                          is_added ? 1 : -1);
    if (is_added)
        owners_add(usage->owner, node);
    else
        owners_remove(usage->owner, node);
}

static void usage_add(struct cluster *cluster, struct node *node, const struct usage *usage)
{
    usage_change(cluster, node, usage, true);
}

/* Undoes usage_add(), and frees the node if nothing refers to it. */
static void usage_remove(struct cluster *cluster, struct node *node, const struct usage *usage)
{
    usage_change(cluster, node, usage, false);
    node_table_release(cluster, node);
}

/* Nodes. */

static void count_change_of_supply(struct cluster *cluster)
{
    cluster->version++;
    cluster->nodes_version++;
    cluster->settled = false;
}

static void count_change_of_nodes(struct cluster *cluster, struct node *node)
{
    count_change_of_supply(cluster);
    cluster->nodes_changed_ms = cluster->now_ms;
    node->changed_ms = cluster->now_ms;
}

/* Claims come and go with pods, so their use of devices changes no node. Whether a node fits
 * depends on the devices' model only (renew_model()), so no other change of them makes a verdict
 * late (node_changed_ms()). Quotas depend on claims: claim_usage.c. */
static void renew_devices(struct cluster *cluster, struct node *node)
{
    switch (node_devices_renew(cluster, node)) {
    case DEVICES_SAME:
        break;
    case DEVICES_IN_USE:
        cluster->version++;
        break;
    case DEVICES_OTHER:
        count_change_of_supply(cluster);
        break;
    }
}

/* The state of the node before a change: end_change() frees it. */
struct change_of_node {
    struct traits_entry *held; /* NULL: there was no Node object */
    const struct node_traits *traits;
};

static struct change_of_node begin_change(struct node *node)
{
    if (node->traits)
        node_traits_ref(node->traits);
    model_pool_leave(node);
    return (struct change_of_node){node->traits, namespace_usage_traits(node)};
}

static void end_change(struct cluster *cluster, struct node *node,
                       const struct change_of_node *before)
{
    model_pool_enter(cluster, node);
    node_hot_renew(node);
    namespace_usage_move(cluster, node, before->traits);
    if (before->traits != namespace_usage_traits(node))
        gpu_time_renew_node(cluster, node);
    node_traits_unref(cluster, before->held);
}

void changes_of_node(struct cluster *cluster, struct node *node, struct traits_entry *traits,
                     const struct node_facts *facts)
{
    const struct change_of_node before = begin_change(node);
    const bool is_other = traits != node->traits;
    if (is_other) {
        node_table_set_traits(cluster, node, traits);
        domains_move(cluster, node);
    }
    if (node_rows_advertise(cluster, node, facts) || is_other)
        count_change_of_nodes(cluster, node);
    renew_devices(cluster, node);
    end_change(cluster, node, &before);
}

/* A node without a label of its model has that of its devices. */
static void renew_model(struct cluster *cluster, struct node *node)
{
    struct traits_entry *traits = node_traits_by_devices(cluster, node->traits);
    if (!traits)
        return;
    node_table_set_traits(cluster, node, traits);
    count_change_of_nodes(cluster, node);
}

void changes_of_devices(struct cluster *cluster, struct node *node)
{
    const struct change_of_node before = begin_change(node);
    renew_devices(cluster, node);
    renew_model(cluster, node);
    end_change(cluster, node, &before);
}

void changes_of_device_classes(struct cluster *cluster)
{
    for (struct node *node = cluster->nodes; node; node = node->next) {
        if (node->n_devices == 0)
            continue;
        model_pool_leave(node);
        model_pool_enter(cluster, node);
        node_hot_renew(node);
    }
    count_change_of_supply(cluster);
}

/* Pods. */

/* A pod being deleted is about to be replaced. */
bool pod_is_placed_replica(const struct pod *pod)
{
    return pod->owner && pod->node_name[0] && !pod->finished && !pod->terminating;
}

static struct usage usage_of_pod(const struct pod *pod)
{
    return (struct usage){USE_BY_PODS,
                          pod->namespace_,
                          {pod->shape, pod->priority},
                          pod_is_placed_replica(pod) ? pod->owner : NULL};
}

void changes_pod_added(struct cluster *cluster, struct pod_entry *entry)
{
    const struct pod *pod = &entry->pod;
    if (pod->node_name[0] && !pod->finished) {
        const struct usage usage = usage_of_pod(pod);
        entry->node = node_table_find_or_add(cluster, pod->node_name);
        DL_APPEND(entry->node->pods, entry);
        entry->node->n_pods++;
        usage_add(cluster, entry->node, &usage);
        claim_floating_moved(cluster, pod->uid);
    }
    gpu_demand_count(cluster, pod, 1);
    gpu_time_add_pod(cluster, entry);
    nominate_renew(cluster, entry);
    claim_usage_add_pod(cluster, entry);
    pod_groups_add_pod(cluster, entry);
}

void changes_pod_removed(struct cluster *cluster, struct pod_entry *entry)
{
    struct node *node = entry->node;
    gpu_time_remove_pod(cluster, entry);
    if (node) {
        const struct usage usage = usage_of_pod(&entry->pod);
        DL_DELETE(node->pods, entry);
        node->n_pods--;
        entry->node = NULL;
        usage_remove(cluster, node, &usage);
        claim_floating_moved(cluster, entry->pod.uid);
    }
    gpu_demand_count(cluster, &entry->pod, -1);
    nominate_end(cluster, entry);
    claim_usage_remove_pod(cluster, entry);
    pod_groups_remove_pod(cluster, entry);
}

/* Reservations. */

static struct usage usage_of_reservation(const struct reservation *reservation)
{
    return (struct usage){USE_BY_RESERVATIONS,
                          reservation->namespace_,
                          {reservation->shape, reservation->priority},
                          reservation->owner};
}

/* A nomination counts only while its pod has no reservation. */
static void renew_pod(struct cluster *cluster, const char *uid)
{
    struct pod_entry *pod = NULL;
    HASH_FIND_STR(cluster->pods, uid, pod);
    if (pod) {
        nominate_renew(cluster, pod);
        pod_groups_renew_pod(cluster, pod);
    }
    claim_usage_renew_pod(cluster, pod);
    claim_floating_moved(cluster, uid);
}

void changes_reservation_added(struct cluster *cluster, struct node *node,
                               struct reservation_entry *entry)
{
    const struct usage usage = usage_of_reservation(&entry->reservation);
    DL_APPEND(node->reservations, entry);
    entry->node = node;
    usage_add(cluster, node, &usage);
    renew_pod(cluster, entry->reservation.uid);
    claims_end(cluster, entry->reservation.uid);
    cluster->version++;
}

void changes_reservation_removed(struct cluster *cluster, struct reservation_entry *entry)
{
    const struct usage usage = usage_of_reservation(&entry->reservation);
    DL_DELETE(entry->node->reservations, entry);
    usage_remove(cluster, entry->node, &usage);
    renew_pod(cluster, entry->reservation.uid);
    cluster->version++;
}
