/* node_hot: see include/ledger/node_hot.h. */
#include "ledger/node_hot.h"
#include "ledger.h"
#include "ledger/room.h"

#include <stddef.h>
#include <string.h>

_Static_assert(offsetof(struct node, hot) == NODE_HOT_OFFSET, "node_hot() looks there");

/* Ignores names that only pods use: tenants must not make decisions slower. */
static const struct node_resource *only_gpus(const struct node *node)
{
    const struct node_resource *only = NULL;
    for (size_t i = 0; i < node->n_gpu_resources; i++) {
        if (!node->resources[i].advertised)
            continue;
        if (only)
            return NULL;
        only = &node->resources[i];
    }
    return only;
}

static void see_gpus(struct node_hot *hot, const struct node *node)
{
    const struct node_resource *gpus = only_gpus(node);
    if (!gpus)
        return;
    hot->gpus = gpus->resource;
    hot->pool = gpus->pool;
    hot->free_gpus = node_resource_free(gpus);
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

static struct node_hot hot_of(const struct node *node)
{
    const struct node_traits *traits = node->traits ? &node->traits->traits : NULL;
    struct node_hot hot = {
        .cluster = node->hot.cluster,
        .model_word = traits ? traits->model_word : NULL,
        .has_parts = traits && traits->has_parts,
        .has_taints = traits && traits->n_taints > 0,
        .has_nominations = node->nominations != NULL,
        .has_devices = has_devices(node),
    };
    see_gpus(&hot, node);
    see_others(&hot, node);
    return hot;
}

void node_hot_renew(struct node *node)
{
    node->hot = hot_of(node);
}

bool node_hot_is_alike(const struct node_hot *a, const struct node_hot *b)
{
    return a->pool == b->pool && a->model_word == b->model_word && a->gpus == b->gpus &&
           a->free_gpus == b->free_gpus && a->milli_cores == b->milli_cores &&
           a->memory_bytes == b->memory_bytes && a->has_parts == b->has_parts &&
           a->has_taints == b->has_taints && a->has_nominations == b->has_nominations &&
           a->has_devices == b->has_devices;
}

uint32_t node_hot_hash(const struct node_hot *hot)
{
    const struct room seen = {hot->free_gpus, hot->milli_cores, hot->memory_bytes};
    const uint64_t model = room_mix(0, (uint64_t)(uintptr_t)hot->model_word);
    return room_hash(&seen, room_mix(model, (uint64_t)(uintptr_t)hot->pool));
}

bool node_hot_is_right(const struct node *node)
{
    const struct node_hot should_be = hot_of(node);
    return node_hot_is_alike(&node->hot, &should_be);
}
