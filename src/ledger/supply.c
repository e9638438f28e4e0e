/* supply: see supply.h. */
#include "supply.h"
#include "base/mem.h"
#include "gpu_parts.h"
#include "ledger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* So that no sum passes INT64_MAX, whatever nodes say they have. */
#define OFFERED_MAX (INT64_C(1) << 40)

#define SUPPLY_NAME_BYTES ((size_t)3 * GPU_MODEL_TEXT_MAX)

int64_t supply_offered(const struct node_resource *entry)
{
    const int64_t free = node_resource_free(entry);
    if (free < 0)
        return 0;
    return free < OFFERED_MAX ? free : OFFERED_MAX;
}

void supply_take(struct node_resource *entry)
{
    if (entry->supply)
        entry->supply->free -= supply_offered(entry);
}

void supply_give(struct node_resource *entry)
{
    if (entry->supply)
        entry->supply->free += supply_offered(entry);
}

static struct supply *find_or_make(struct market *market, const char *model)
{
    for (size_t i = 0; i < market->n_supplies; i++) {
        if (strcmp(market->supplies[i]->model, model) == 0)
            return market->supplies[i];
    }
    struct supply *supply = MEM_NEW(struct supply);
    supply->model = mem_strdup(model);
    supply->index = market->n_supplies++;
    market->supplies = mem_grow(market->supplies, market->n_supplies, sizeof(struct supply *));
    market->supplies[supply->index] = supply;
    return supply;
}

bool supply_is_offered(const struct node *node, const struct node_resource *entry)
{
    return node->traits && !node->traits->traits.unschedulable && entry->resource->is_gpu &&
           entry->advertised && entry->allocatable > 0;
}

/* Parts are counted apart from whole GPUs of their model: a slice is of no use to who needs a whole
 * one. */
static const char *supply_name(const struct node_traits *traits, const struct resource *resource,
                               char name[SUPPLY_NAME_BYTES])
{
    char model[2 * GPU_MODEL_TEXT_MAX];
    const bool may_be_parts = gpu_parts_concern(resource->name);
    const bool slices = may_be_parts && traits->slices_gpus;
    const bool shares = may_be_parts && traits->shares_gpus;
    (void)snprintf(name, SUPPLY_NAME_BYTES, "%s%s%s%s", gpu_model_text(&traits->model, model),
                   slices ? "-MIG-" : "", slices ? traits->model.mig_profile : "",
                   shares ? "-SHARED" : "");
    return name;
}

void supply_enter(struct cluster *cluster, struct node *node)
{
    char name[SUPPLY_NAME_BYTES];
    for (size_t i = 0; i < node->n_resources; i++) {
        struct node_resource *entry = &node->resources[i];
        if (!supply_is_offered(node, entry))
            continue;
        struct market *market = market_hold(cluster, entry->resource);
        entry->supply =
            find_or_make(market, supply_name(&node->traits->traits, entry->resource, name));
        entry->supply->n_nodes++;
        supply_give(entry);
    }
}

void supply_leave(struct node *node)
{
    for (size_t i = 0; i < node->n_resources; i++) {
        struct node_resource *entry = &node->resources[i];
        if (!entry->supply)
            continue;
        supply_take(entry);
        entry->supply->n_nodes--;
        entry->supply = NULL;
    }
}
