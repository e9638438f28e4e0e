/* live_metrics: how the API server is followed, as Prometheus text. See include/inventory/live.h.
 */
#include "base/clock.h"
#include "base/mem.h"
#include "live_priv.h"

/* No value, so no sample. */
#define NO_VALUE (-1.0)

/* Current status of one kind. */
struct kind_row_now {
    const char *name;
    struct kind_status status;
    uint64_t n_unreadable;
};

static void sample(struct buf *out, const char *metric, const struct kind_row_now *kind,
                   double value)
{
    const struct metric_label labels[] = {{"kind", kind->name}, {0}};
    if (value < 0)
        return;
    metrics_sample(out, metric, labels, value);
}

static void write_relists(const struct kind_row_now *kinds, struct buf *out)
{
    static const char NAME[] = "gpu_extender_watch_relists_total";
    metrics_head(out, NAME, "counter", "Lists started, by cause.");
    for (size_t i = 0; i < N_CLUSTER_KINDS; i++) {
        for (int cause = 0; cause < N_RELIST_CAUSES; cause++) {
            const struct metric_label labels[] = {
                {"kind", kinds[i].name},
                {"cause", reflector_cause_name((enum relist_cause)cause)},
                {0}};
            metrics_sample(out, NAME, labels, (double)kinds[i].status.reflector.relists[cause]);
        }
    }
}

static void write_events(const struct kind_row_now *kinds, struct buf *out)
{
    static const char NAME[] = "gpu_extender_watch_events_total";
    metrics_head(out, NAME, "counter", "Watch events received, by type.");
    for (size_t i = 0; i < N_CLUSTER_KINDS; i++) {
        for (int type = 0; type < N_WATCH_EVENTS; type++) {
            const struct metric_label labels[] = {
                {"kind", kinds[i].name},
                {"type", reflector_event_name((enum watch_event)type)},
                {0}};
            metrics_sample(out, NAME, labels, (double)kinds[i].status.reflector.events[type]);
        }
    }
}

static double watches_of(const struct kind_row_now *kind)
{
    return (double)kind->status.reflector.watches;
}

static double probes_of(const struct kind_row_now *kind)
{
    return (double)kind->status.reflector.probes;
}

static double unreadable_of(const struct kind_row_now *kind)
{
    return (double)kind->n_unreadable;
}

static double stale_of(const struct kind_row_now *kind)
{
    return kind->status.reflector.stale;
}

static double age_s_of(const struct kind_row_now *kind)
{
    const int64_t fresh_ms = kind->status.reflector.fresh_ms;
    return fresh_ms == 0 ? NO_VALUE : (double)(clock_ms() - fresh_ms) / 1000;
}

static double lag_s_of(const struct kind_row_now *kind)
{
    return (double)kind->status.lag_ms / 1000;
}

static const struct {
    const char *name;
    const char *type;
    const char *help;
    double (*value)(const struct kind_row_now *kind);
} ROWS[] = {
    {"gpu_extender_watches_total", "counter", "Watches opened.", watches_of},
    {"gpu_extender_watch_probes_total", "counter",
     "Watches that were silent for so long that the API server was asked for missed events.",
     probes_of},
    {"gpu_extender_objects_unreadable_total", "counter", "Times that an object was unreadable.",
     unreadable_of},
    {"gpu_extender_data_age_seconds", "gauge",
     "Seconds since the data was last known to be complete.", age_s_of},
    {"gpu_extender_watch_lag_seconds", "gauge",
     "Seconds for which events of the API server may have waited unread. Up to 1 s is normal; "
     "above kubernetes.watchLagSeconds no decisions are made.",
     lag_s_of},
    {"gpu_extender_data_stale", "gauge",
     "1 while the data are stale: no decisions are made, or claims are not counted.", stale_of},
};

static void write_claims(struct live *live, struct buf *out)
{
    struct err why;
    metrics_gauge(out, "gpu_extender_claims_counted",
                  "1 while claims of dynamic resource allocation are counted, else 0.",
                  live_status_counts_claims(&live->status, &why));
}

/* Copies the names under the lock, and writes them after it. */
static void write_refused(struct inventory *inventory, struct buf *out)
{
    static const char NAME[] = "gpu_extender_node_pods_refused_total";
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct refused_count *counts = NULL;
    inventory_lock_to_read(inventory);
    const size_t n =
        refused_pods_copy(inventory->live->refused, inventory->state.cluster, arena, &counts);
    inventory_unlock(inventory);
    metrics_head(out, NAME, "counter", "Pods bound to the node that its kubelet rejected.");
    for (size_t i = 0; i < n; i++) {
        const struct metric_label labels[] = {{"node", counts[i].node}, {0}};
        metrics_sample(out, NAME, labels, (double)counts[i].n);
    }
}

void inventory_live_metrics(struct inventory *inventory, struct buf *out)
{
    struct kind_row_now kinds[N_CLUSTER_KINDS];
    struct live *live = inventory->live;
    if (!live)
        return;
    for (size_t i = 0; i < N_CLUSTER_KINDS; i++) {
        kinds[i].name = INVENTORY_KINDS[i].listed.name;
        kinds[i].n_unreadable = counter_value(&live->feeds[i].unreadable);
        live_status_get(&live->status, (enum cluster_kind)i, &kinds[i].status);
    }
    write_relists(kinds, out);
    write_events(kinds, out);
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        metrics_head(out, ROWS[i].name, ROWS[i].type, ROWS[i].help);
        for (size_t j = 0; j < N_CLUSTER_KINDS; j++)
            sample(out, ROWS[i].name, &kinds[j], ROWS[i].value(&kinds[j]));
    }
    write_claims(live, out);
    write_refused(inventory, out);
    metrics_counter(out, "gpu_extender_self_checks_total",
                    "Self-checks: times that all sums of the ledger were recomputed.",
                    &live->check.checks);
    metrics_counter(out, "gpu_extender_self_check_differences_total",
                    "Differences that self-checks found; must be 0.", &live->check.differences);
}
