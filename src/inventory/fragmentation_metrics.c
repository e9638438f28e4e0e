/* fragmentation_metrics: see fragmentation_metrics.h. */
#include "fragmentation_metrics.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "decide/fragmentation.h"
#include "gpu_metrics.h"

static double fragmented_of(const struct fragmentation *item)
{
    return item->fragmented;
}

static double usable_of(const struct fragmentation *item)
{
    return (double)item->free.usable;
}

static double stranded_of(const struct fragmentation *item)
{
    return (double)item->free.stranded;
}

static double largest_block_of(const struct fragmentation *item)
{
    return (double)item->largest_block;
}

static double whole_nodes_of(const struct fragmentation *item)
{
    return (double)item->n_whole;
}

static const struct gauge {
    const char *name;
    const char *help;
    double (*value)(const struct fragmentation *item);
} GAUGES[] = {
    {"gpu_extender_fragmented_gpus",
     "Free GPUs that the typical pod cannot use (docs/PLACEMENT.md).", fragmented_of},
    {"gpu_extender_usable_gpus", "Free GPUs that some pods can use now.", usable_of},
    {"gpu_extender_stranded_gpus", "Free GPUs of open nodes that no class of pods fits.",
     stranded_of},
    {"gpu_extender_largest_block_gpus", "Free GPUs on the node that has most of them.",
     largest_block_of},
    {"gpu_extender_whole_nodes", "Nodes that have all of their GPUs free.", whole_nodes_of},
};

void fragmentation_metrics(const struct cluster *fork, struct buf *out)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct fragmentations all = fragmentation_of(fork, arena);
    for (size_t i = 0; i < sizeof GAUGES / sizeof *GAUGES; i++) {
        metrics_head(out, GAUGES[i].name, "gauge", GAUGES[i].help);
        for (size_t j = 0; j < all.n && j < METRIC_MODELS_MAX; j++) {
            const struct fragmentation *item = &all.items[j];
            const struct metric_label labels[] = {
                {"model", item->model}, {"resource", item->resource}, {0}};
            metrics_sample(out, GAUGES[i].name, labels, GAUGES[i].value(item));
        }
    }
}
