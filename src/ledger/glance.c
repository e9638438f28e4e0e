/* glance: see glance.h. */
#include "ledger/glance.h"
#include "ledger.h"
#include "ledger/room.h"

#include <stddef.h>
#include <string.h>

_Static_assert(offsetof(struct node, glance) == 0, "node_glance() takes it for the node");

/* Only of resources that the node advertises: other names that its pods ask for must not make
 * decisions slower. */
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

static void see_gpus(struct node_glance *glance, const struct node *node)
{
    const struct node_resource *gpus = only_gpus(node);
    if (!gpus)
        return;
    glance->gpus = gpus->resource;
    glance->supply = gpus->supply;
    glance->free_gpus = node_resource_free(gpus);
}

static void see_others(struct node_glance *glance, const struct node *node)
{
    for (size_t i = node->n_gpu_resources; i < node->n_resources; i++) {
        const struct node_resource *has = &node->resources[i];
        if (strcmp(has->resource->name, "cpu") == 0)
            glance->milli_cores = node_resource_free(has);
        if (strcmp(has->resource->name, "memory") == 0)
            glance->memory_bytes = node_resource_free(has);
    }
}

static struct node_glance glance_of(const struct node *node)
{
    const struct node_traits *traits = node->traits ? &node->traits->traits : NULL;
    struct node_glance glance = {
        .cluster = node->glance.cluster,
        .model_word = traits ? traits->model_word : NULL,
        .has_parts = traits && (traits->shares_gpus || traits->slices_gpus),
        .has_taints = traits && traits->n_taints > 0,
        .has_nominations = node->nominations != NULL,
    };
    see_gpus(&glance, node);
    see_others(&glance, node);
    return glance;
}

void glance_renew(struct node *node)
{
    node->glance = glance_of(node);
}

bool glance_is_alike(const struct node_glance *a, const struct node_glance *b)
{
    return a->supply == b->supply && a->model_word == b->model_word && a->gpus == b->gpus &&
           a->free_gpus == b->free_gpus && a->milli_cores == b->milli_cores &&
           a->memory_bytes == b->memory_bytes && a->has_parts == b->has_parts &&
           a->has_taints == b->has_taints && a->has_nominations == b->has_nominations;
}

uint32_t glance_hash(const struct node_glance *glance)
{
    const struct room seen = {glance->free_gpus, glance->milli_cores, glance->memory_bytes};
    const uint64_t model = room_mix(0, (uint64_t)(uintptr_t)glance->model_word);
    return room_hash(&seen, room_mix(model, (uint64_t)(uintptr_t)glance->supply));
}

bool glance_is_right(const struct node *node)
{
    const struct node_glance should_be = glance_of(node);
    return glance_is_alike(&node->glance, &should_be);
}
