/* inventory_metrics: the ledger as Prometheus gauges. See include/inventory/inventory.h. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "decide/fragmentation.h"
#include "dra/devices.h"
#include "gpu_metrics.h"
#include "inventory/inventory.h"
#include "inventory_priv.h"
#include "ledger/cluster.h"
#include "ledger/gpu_time.h"
#include "ledger/shape_limits.h"

/* ---- usefulness of free GPUs as Prometheus gauges ---- */

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

static void fragmentation_metrics(const struct cluster *fork, struct buf *out)
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

/* ---- inventory metrics ---- */

static void shape_metrics(const struct shape_use *use, struct buf *out)
{
    static const char NAME[] = "gpu_extender_pods_over_shape_limits";
    metrics_gauge(out, "gpu_extender_pod_shapes",
                  "Different shapes of pods (requests, selectors, tolerations).",
                  (double)use->n_shapes);
    metrics_gauge(out, "gpu_extender_pod_shapes_bytes", "Memory of the shapes of pods, in bytes.",
                  (double)use->bytes);
    metrics_head(out, NAME, "gauge",
                 "Pods whose shape the ledger keeps only in part, by the limit exceeded.");
    for (enum shape_limit over = SHAPE_LIMIT_NONE + 1; over < N_SHAPE_LIMITS; over++)
        metrics_sample(out, NAME,
                       (struct metric_label[]){{"limit", shape_limit_name(over)}, {NULL, NULL}},
                       (double)use->n_pods_over[over]);
}

static const struct {
    enum claim_state state;
    const char *name;
} CLAIM_STATES[] = {
    {CLAIM_USED, "allocated"}, {CLAIM_UNUSED, "unused"}, {CLAIM_UNALLOCATED, "unallocated"}};

static void claim_metrics(const size_t counts[N_CLAIM_STATES], struct buf *out)
{
    static const char NAME[] = "gpu_extender_device_claims";
    metrics_head(out, NAME, "gauge",
                 "Resource claims: allocated ones that hold GPUs (unused: no pod uses them), and "
                 "all that are unallocated.");
    for (size_t i = 0; i < sizeof CLAIM_STATES / sizeof *CLAIM_STATES; i++)
        metrics_sample(out, NAME,
                       (struct metric_label[]){{"state", CLAIM_STATES[i].name}, {NULL, NULL}},
                       (double)counts[CLAIM_STATES[i].state]);
}

struct totals {
    size_t n_pods, n_problems;
    size_t n_claims[N_CLAIM_STATES];
    int64_t as_of_s;
    struct shape_use shapes;
    struct gpu_time *times;
    size_t n_times;
};

static void time_metrics(const struct totals *totals, struct buf *out)
{
    static const char NAME[] = "gpu_extender_gpu_seconds_total";
    metrics_head(out, NAME, "counter",
                 "Time for which pods have had GPUs since this process knows of them, in "
                 "GPU-seconds.");
    for (size_t i = 0; i < totals->n_times; i++) {
        const struct gpu_time *time = &totals->times[i];
        const struct metric_label labels[] = {
            {"namespace", time->namespace_}, {"model", time->model}, {"kind", time->kind}, {0}};
        metrics_sample(out, NAME, labels, (double)time->gpu_ms / 1000);
    }
}

static struct totals totals_of(struct inventory *inventory, struct arena *arena)
{
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(inventory);
    struct totals totals = {.n_pods = cluster_n_pods(view.cluster),
                            .n_problems = view.n_all_problems,
                            .as_of_s = view.as_of_s,
                            .shapes = cluster_shape_use(view.cluster)};
    for (enum claim_state state = 0; state < N_CLAIM_STATES; state++)
        totals.n_claims[state] = devices_count_claims(cluster_devices(view.cluster), state);
    totals.n_times = gpu_time_copy(view.cluster, clock_ms(), arena, &totals.times);
    return totals;
}

void inventory_metrics(struct inventory *inventory, struct buf *out)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct totals totals = totals_of(inventory, arena);
    struct cluster *fork =
        inventory_fork(inventory, PEERS_NONE); /* all text is written without the lock */
    gpu_metrics(fork, out);
    fragmentation_metrics(fork, out);
    quota_metrics(fork, out);
    time_metrics(&totals, out);
    metrics_gauge(out, "gpu_extender_nodes", "Nodes in the inventory.",
                  (double)cluster_n_nodes(fork));
    metrics_gauge(out, "gpu_extender_pods", "Pods in the inventory.", (double)totals.n_pods);
    claim_metrics(totals.n_claims, out);
    shape_metrics(&totals.shapes, out);
    metrics_gauge(out, "gpu_extender_inventory_problems", "Objects that were left out as invalid.",
                  (double)totals.n_problems);
    metrics_gauge(out, "gpu_extender_inventory_timestamp_seconds",
                  "When the data was last known to be complete, in seconds since 1970.",
                  (double)totals.as_of_s);
    inventory_fork_free(inventory, fork);
    inventory_lock_metrics(&inventory->lock, out);
}
