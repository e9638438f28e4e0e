/* binds_metrics: see include/extender/binds.h. */
#include "binds_priv.h"

static const char *const OUTCOMES[N_BIND_OUTCOMES] = {
    [BIND_OUTCOME_BOUND] = "bound",     [BIND_OUTCOME_ALREADY_BOUND] = "already_bound",
    [BIND_OUTCOME_REFUSED] = "refused", [BIND_OUTCOME_CONFLICT] = "conflict",
    [BIND_OUTCOME_GONE] = "gone",       [BIND_OUTCOME_FAILED] = "failed",
    [BIND_OUTCOME_UNKNOWN] = "unknown", [BIND_OUTCOME_BUSY] = "busy",
};

const char *binds_outcome_name(enum bind_outcome outcome)
{
    return OUTCOMES[outcome];
}

static const char *const FINDINGS[N_BIND_FINDINGS] = {
    [FOUND_BOUND] = "bound",     [FOUND_ELSEWHERE] = "elsewhere", [FOUND_GONE] = "gone",
    [FOUND_UNBOUND] = "unbound", [FOUND_NOTHING] = NULL, /* that settles nothing */
};

static void add_counter(struct buf *out, const char *name, const char *label, const char *value,
                        const struct counter *counter)
{
    const struct metric_label labels[] = {{label, value}, {0}};
    metrics_sample(out, name, labels, (double)counter_value(counter));
}

static void add_counters(const struct binds *binds, struct buf *out)
{
    metrics_head(out, "gpu_extender_binds_total", "counter", "Calls of bind that were answered.");
    for (size_t i = 0; i < N_BIND_OUTCOMES; i++)
        add_counter(out, "gpu_extender_binds_total", "outcome", OUTCOMES[i], &binds->outcomes[i]);
    metrics_head(out, "gpu_extender_bind_settled_total", "counter",
                 "Bindings whose outcome the answer did not say, by what was found.");
    for (size_t i = 0; i < N_BIND_FINDINGS; i++) {
        if (FINDINGS[i])
            add_counter(out, "gpu_extender_bind_settled_total", "how", FINDINGS[i],
                        &binds->settled[i]);
    }
    add_counter(out, "gpu_extender_bind_settled_total", "how", "ledger", &binds->settled_by_ledger);
    metrics_counter(out, "gpu_extender_reservations_unconfirmed_total",
                    "Times a reservation was asked about because nothing had confirmed it.",
                    &binds->unconfirmed);
}

void binds_metrics(struct binds *binds, struct buf *out)
{
    (void)pthread_mutex_lock(&binds->lock);
    const size_t n_open = HASH_COUNT(binds->entries) - binds->n_resting;
    (void)pthread_mutex_unlock(&binds->lock);
    const struct inventory_view view = inventory_read(binds->inventory);
    const size_t n_reservations = cluster_n_reservations(view.cluster);
    inventory_done(binds->inventory);
    add_counters(binds, out);
    metrics_gauge(out, "gpu_extender_bind_attempts_open", "Pods whose binding is not settled.",
                  (double)n_open);
    metrics_gauge(out, "gpu_extender_reservations_open",
                  "Pods for which room is held until the ledger sees them.",
                  (double)n_reservations);
    metrics_head(out, "gpu_extender_bind_duration_seconds", "histogram",
                 "From a call of bind to its answer.");
    metrics_histogram(out, "gpu_extender_bind_duration_seconds", NULL, &binds->duration);
}
