/* node: read access to a node. See include/ledger/cluster.h. */
#include "base/mem.h"
#include "ledger/ledger.h"
#include "ledger/shapes/exact_sum.h"

const char *node_name(const struct node *node)
{
    return node->name;
}

size_t node_order(const struct node *node)
{
    return node->order;
}

const struct node_traits *node_traits(const struct node *node)
{
    return &node->traits->traits;
}

const char *node_zone(const struct node *node)
{
    return node->traits ? node->traits->traits.zone : NULL;
}

const struct node_resource *node_resources(const struct node *node, size_t *ret_n)
{
    *ret_n = node->n_resources;
    return node->resources;
}

const struct node_resource *node_find_resource(const struct node *node,
                                               const struct resource *resource)
{
    for (size_t i = 0; i < node->n_resources; i++) {
        if (node->resources[i].resource == resource)
            return &node->resources[i];
    }
    return NULL;
}

int64_t node_resource_free(const struct node_resource *resource)
{
    int64_t free = 0;
    bool too_low = __builtin_sub_overflow(resource->allocatable, resource->used, &free) ||
                   __builtin_sub_overflow(free, resource->reserved, &free);
    return too_low ? INT64_MIN : free;
}

int64_t node_unlisted_gpus(const struct node *node)
{
    return exact_sum_shown(&node->unlisted_gpus);
}

int64_t node_free_gpus(const struct node *node)
{
    int64_t sum = 0;
    if (node->hot.gpus && !node->hot.has_devices)
        return node->hot.free_gpus > 0 ? node->hot.free_gpus : 0;
    for (size_t i = 0; i < node->n_gpu_resources; i++) {
        const int64_t free = node_resource_free(&node->resources[i]);
        if (free > 0)
            sum = amount_add(sum, free);
    }
    for (size_t i = 0; i < node->n_devices; i++)
        sum = amount_add(sum, node->devices[i].is_shadowed ? 0 : node->devices[i].free);
    return sum;
}

const struct pod *node_next_pod(const struct node *node, const struct pod *pod)
{
    const struct pod_entry *next = node->pods;
    if (pod)
        next = CONTAINER_OF(pod, const struct pod_entry, pod)->next;
    return next ? &next->pod : NULL;
}

int64_t node_changed_ms(const struct node *node)
{
    return node->changed_ms;
}

/* Shortcut: most clusters have no device class, and every node is checked. */
bool node_gives_by_claim(const struct node *node, const struct resource *resource)
{
    const struct cluster *cluster = node->hot.cluster;
    if (!cluster->kept[CLUSTER_DEVICE_CLASSES].first)
        return false;
    const struct node_resource *has = node_find_resource(node, resource);
    return (!has || has->allocatable <= 0) && cluster_device_classes_map(cluster, resource->name);
}
