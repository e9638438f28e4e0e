/* live_metrics: how the API server is followed, as Prometheus text. See include/inventory/live.h.
 */
#include "base/clock.h"
#include "base/mem.h"
#include "inventory/live/live_priv.h"
#include "ledger/quarantine.h"

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

static const char *const REFUSALS[N_REFUSALS] = {
    [REFUSAL_OTHER] = "other",
    [REFUSAL_DEVICES] = "unexpected_admission",
    [REFUSAL_GPUS] = "out_of_gpus",
    [REFUSAL_TOPOLOGY] = "topology",
};

/* Counts of sick nodes, copied under the lock. */
struct sick_numbers {
    struct sick_refused *nodes;
    struct sick_model_nodes *models;
    size_t n_nodes, n_models, n_capped;
    uint64_t n_marked[N_REFUSALS];
    uint64_t n_in_quarantine, n_in_trap;
};

static struct sick_numbers read_sick(struct inventory *inventory, struct arena *arena)
{
    struct sick_numbers numbers = {0};
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(inventory);
    const struct sick_nodes *sick = quarantine_nodes(view.cluster);
    numbers.n_nodes = sick_nodes_refused(sick, arena, &numbers.nodes);
    numbers.n_models = sick_nodes_models(sick, arena, &numbers.models);
    numbers.n_capped = sick_nodes_n_capped(sick);
    for (size_t i = 0; i < N_REFUSALS; i++)
        numbers.n_marked[i] = sick_nodes_n_marked(sick, (enum refusal)i);
    numbers.n_in_quarantine = quarantine_n_let_pass(view.cluster, REASON_QUARANTINE);
    numbers.n_in_trap = quarantine_n_let_pass(view.cluster, REASON_SHAPE_TRAP);
    return numbers;
}

static void write_refused(const struct sick_numbers *numbers, struct buf *out)
{
    static const char NAME[] = "gpu_extender_node_pods_refused_total";
    metrics_head(out, NAME, "counter", "Pods bound to the node that its kubelet rejected.");
    for (size_t i = 0; i < numbers->n_nodes; i++) {
        for (size_t cause = 0; cause < N_REFUSALS; cause++) {
            const struct metric_label labels[] = {
                {"node", numbers->nodes[i].node}, {"cause", REFUSALS[cause]}, {0}};
            if (numbers->nodes[i].n[cause] > 0)
                metrics_sample(out, NAME, labels, (double)numbers->nodes[i].n[cause]);
        }
    }
}

static void write_by_cause(struct buf *out, const char *name, const char *cause, uint64_t n)
{
    const struct metric_label labels[] = {{"cause", cause}, {0}};
    metrics_sample(out, name, labels, (double)n);
}

static void write_quarantines(const struct sick_numbers *numbers, struct buf *out)
{
    static const char NODES[] = "gpu_extender_quarantined_nodes";
    static const char TIMES[] = "gpu_extender_quarantine_total";
    static const char PODS[] = "gpu_extender_quarantine_let_pass_total";
    metrics_head(out, NODES, "gauge", "Nodes in quarantine or on probation, by GPU model.");
    for (size_t i = 0; i < numbers->n_models; i++) {
        const char *model = numbers->models[i].model;
        const struct metric_label labels[] = {{"model", model[0] ? model : "unknown"}, {0}};
        metrics_sample(out, NODES, labels, (double)numbers->models[i].n_kept);
    }
    metrics_head(out, TIMES, "counter",
                 "Times that a node was put in quarantine, by the cause of the last evidence; "
                 "topology: that a shape trap was set.");
    for (size_t cause = REFUSAL_OTHER + 1; cause < N_REFUSALS; cause++)
        write_by_cause(out, TIMES, REFUSALS[cause], numbers->n_marked[cause]);
    metrics_gauge(out, "gpu_extender_quarantine_capped",
                  "Nodes that should be in quarantine, but too many of their model are.",
                  (double)numbers->n_capped);
    metrics_head(out, PODS, "counter",
                 "Pods bound to a node that mode avoid would have kept them from.");
    write_by_cause(out, PODS, "quarantine", numbers->n_in_quarantine);
    write_by_cause(out, PODS, "shape_trap", numbers->n_in_trap);
}

static void write_sick(struct inventory *inventory, struct buf *out)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct sick_numbers numbers = read_sick(inventory, arena);
    write_refused(&numbers, out);
    write_quarantines(&numbers, out);
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
    write_sick(inventory, out);
    metrics_counter(out, "gpu_extender_self_checks_total",
                    "Self-checks: times that all sums of the ledger were recomputed.",
                    &live->check.checks);
    metrics_counter(out, "gpu_extender_self_check_differences_total",
                    "Differences that self-checks found; must be 0.", &live->check.differences);
}
