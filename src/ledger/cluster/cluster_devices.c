/*
 * cluster_devices: devices of dynamic resource allocation, claims and taint rules. dra/ counts
 * them; here each change reaches the nodes that it concerns. See include/ledger/cluster.h.
 */
#include "ledger/ledger.h"

const struct devices *cluster_devices(const struct cluster *cluster)
{
    return cluster->devices;
}

/* Devices may name nodes that do not exist. */
static void renew_changed(struct cluster *cluster)
{
    for (const char *name = devices_take_changed(cluster->devices); name;
         name = devices_take_changed(cluster->devices)) {
        struct node *node = node_index_find(&cluster->node_index, name);
        if (node && node->traits)
            changes_of_devices(cluster, node);
    }
    size_t n_of_several = 0;
    (void)devices_on_node(cluster->devices, "", &n_of_several);
    cluster->has_devices_of_several = n_of_several > 0;
    const struct device_claim *claim = NULL;
    while ((claim = devices_take_changed_claim(cluster->devices)))
        claim_usage_renew(cluster, claim->namespace_, claim->name);
    cluster->n_other_changes++;
}

void cluster_upsert_slice(struct cluster *cluster, const struct slice_facts *facts)
{
    devices_upsert_slice(cluster->devices, facts);
    renew_changed(cluster);
}

void cluster_delete_slice(struct cluster *cluster, const char *name)
{
    devices_delete_slice(cluster->devices, name);
    renew_changed(cluster);
}

void cluster_keep_slice(struct cluster *cluster, const char *name)
{
    devices_keep_slice(cluster->devices, name);
    renew_changed(cluster);
}

void cluster_upsert_resource_claim(struct cluster *cluster, const struct claim_facts *facts)
{
    devices_upsert_claim(cluster->devices, facts);
    renew_changed(cluster);
}

void cluster_delete_resource_claim(struct cluster *cluster, const char *namespace_,
                                   const char *name)
{
    devices_delete_claim(cluster->devices, namespace_, name);
    renew_changed(cluster);
}

void cluster_keep_resource_claim(struct cluster *cluster, const char *namespace_, const char *name)
{
    devices_keep_claim(cluster->devices, namespace_, name);
}

void cluster_upsert_device_taint(struct cluster *cluster, const struct device_taint_facts *facts)
{
    devices_upsert_taint(cluster->devices, facts);
    renew_changed(cluster);
}

void cluster_delete_device_taint(struct cluster *cluster, const char *name)
{
    devices_delete_taint(cluster->devices, name);
    renew_changed(cluster);
}

void cluster_keep_device_taint(struct cluster *cluster, const char *name)
{
    devices_keep_taint(cluster->devices, name);
}

bool cluster_devices_sweep(struct cluster *cluster, enum devices_kind kind, size_t work)
{
    const bool is_complete = devices_relist_sweep(cluster->devices, kind, work);
    renew_changed(cluster);
    return is_complete;
}

void cluster_devices_renew(struct cluster *cluster)
{
    for (struct node *node = cluster->nodes; node; node = node->next) {
        if (node->n_devices > 0)
            changes_of_devices(cluster, node);
    }
}
