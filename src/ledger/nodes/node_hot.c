/* node_hot: see include/ledger/node_hot.h. */
#include "ledger/node_hot.h"
#include "ledger/ledger.h"
#include "ledger/room.h"

#include <stddef.h>
#include <string.h>

_Static_assert(offsetof(struct node, hot) == NODE_HOT_OFFSET, "node_hot() looks there");

static bool has_soft_taints(const struct node_traits *traits)
{
    for (size_t i = 0; i < traits->n_taints; i++) {
        if (traits->taints[i].effect == TAINT_PREFER_NO_SCHEDULE)
            return true;
    }
    return false;
}

/* Ignores names that only pods use: tenants must not make decisions slower. */
static void see_gpus(struct node_hot *hot, const struct node *node)
{
    const struct node_resource *only = NULL;
    size_t n = 0;
    for (size_t i = 0; i < node->n_gpu_resources; i++) {
        only = node->resources[i].advertised ? &node->resources[i] : only;
        n += node->resources[i].advertised;
    }
    hot->is_mixed = n > 1 || (node->traits && node->traits->traits.has_parts);
    if (n != 1)
        return;
    hot->gpus = only->resource;
    hot->pool = only->pool;
    hot->free_gpus = node_resource_free(only);
    const bool is_counted = only->allocatable > 0 && only->allocatable <= UINT16_MAX;
    hot->n_gpus = is_counted ? (uint16_t)only->allocatable : 0;
    hot->is_mixed |= !is_counted;
}

static void see_others(struct node_hot *hot, const struct node *node)
{
    for (size_t i = node->n_gpu_resources; i < node->n_resources; i++) {
        const struct node_resource *has = &node->resources[i];
        if (strcmp(has->resource->name, "cpu") == 0)
            hot->milli_cores = node_resource_free(has);
        if (strcmp(has->resource->name, "memory") == 0)
            hot->memory_bytes = node_resource_free(has);
    }
}

static bool has_devices(const struct node *node)
{
    for (size_t i = 0; i < node->n_devices; i++) {
        if (!node->devices[i].is_shadowed)
            return true;
    }
    return false;
}

/* Parts of GPUs count as GPUs do. */
static void see_whole(struct node_hot *hot, const struct node *node)
{
    bool is_whole = true;
    for (size_t i = 0; i < node->n_gpu_resources; i++) {
        const struct node_resource *has = &node->resources[i];
        if (!model_pool_takes(has))
            continue;
        hot->has_open_gpus = true;
        is_whole &= node_resource_free(has) == has->allocatable;
    }
    for (size_t i = 0; i < node->n_devices; i++) {
        const struct node_device_group *group = &node->devices[i];
        if (group->is_shadowed || group->total == 0)
            continue;
        hot->has_open_gpus = true;
        is_whole &= group->free == group->total;
    }
    hot->is_whole = hot->has_open_gpus && is_whole;
}

/* Of no pointers, so that it is the same in each run. */
static unsigned kind_of(const struct node_hot *hot)
{
    const struct room room = {hot->free_gpus, hot->milli_cores, hot->memory_bytes};
    uint64_t model = hot->n_gpus;
    for (const char *at = hot->model_word; at && *at; at++)
        model = room_mix(model, (unsigned char)*at);
    return room_hash(&room, model);
}

static struct node_hot hot_of(const struct node *node)
{
    const struct node_traits *traits = node->traits ? &node->traits->traits : NULL;
    struct node_hot hot = {
        .cluster = node->hot.cluster,
        .model_word = traits ? traits->model_word : NULL,
        .has_soft_taints = traits && has_soft_taints(traits),
        .has_nominations = node->nominations != NULL,
        .has_mark = node->mark != NULL,
        .has_devices = has_devices(node),
        .domain = node->hot.domain,
    };
    see_gpus(&hot, node);
    see_others(&hot, node);
    if (hot.domain && traits && traits->ready && !traits->unschedulable)
        see_whole(&hot, node);
    hot.kind = kind_of(&hot) & ((1U << NODE_HOT_KIND_BITS) - 1);
    return hot;
}

static void note_renewed(struct cluster *cluster, const struct node *node)
{
    if (node->traits)
        cluster->renewed[cluster->n_renewed++ % CLUSTER_RENEWED_MAX] = node;
}

void node_hot_renew(struct node *node)
{
    note_renewed((struct cluster *)(uintptr_t)node->hot.cluster, node);
    const struct node_hot now = hot_of(node);
    domains_recount(node, &now);
    node->hot = now;
}

bool node_hot_is_right(const struct node *node)
{
    const struct node_hot should_be = hot_of(node);
    const size_t begin = offsetof(struct node_hot, gpus);
    return memcmp(&node->hot.gpus, &should_be.gpus, sizeof should_be - begin) == 0;
}
