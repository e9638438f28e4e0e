/* quota_metrics: see gpu_metrics.h. The policy file bounds the number of series. */
#include "base/metrics.h"
#include "decide/quota.h"
#include "gpu_metrics.h"

enum quota_gauge { LIMIT, USED, BORROW_LIMIT, BORROWED, N_GAUGES };

static const struct {
    const char *name, *help;
    bool of_borrow; /* only limits that have it */
} GAUGES[N_GAUGES] = {
    [LIMIT] = {"gpu_extender_quota_limit_gpus", "GPUs that the quota allows.", false},
    [USED] = {"gpu_extender_quota_used_gpus",
              "GPUs of the quota that pods and bindings in progress use.", false},
    [BORROW_LIMIT] = {"gpu_extender_quota_borrow_limit_gpus",
                      "GPUs that the quota's pods may borrow.", true},
    [BORROWED] = {"gpu_extender_quota_borrowed_gpus", "GPUs that the quota's pods borrow.", true},
};

static int64_t value_of(const struct cluster *fork, const struct quota *quota,
                        const struct quota_limit *limit, enum quota_gauge gauge)
{
    switch (gauge) {
    case LIMIT:
        return limit->gpus;
    case USED:
        return quota_used(fork, quota, limit);
    case BORROW_LIMIT:
        return limit->borrow.gpus;
    case BORROWED:
    case N_GAUGES:
        break;
    }
    return quota_borrowed(fork, quota, limit);
}

static void write_gauge(const struct cluster *fork, enum quota_gauge gauge, struct buf *out)
{
    metrics_head(out, GAUGES[gauge].name, "gauge", GAUGES[gauge].help);
    const struct policy *policy = cluster_policy(fork);
    for (size_t q = 0; q < policy->n_quotas; q++) {
        const struct quota *quota = &policy->quotas[q];
        for (size_t i = 0; i < quota->n_limits; i++) {
            const struct quota_limit *limit = &quota->limits[i];
            const struct metric_label labels[] = {
                {"quota", quota->name},
                {"resource", limit->resource ? limit->resource : ""},
                {"model", limit->model ? limit->model : ""},
                {0}};
            if (limit->borrow.is_set || !GAUGES[gauge].of_borrow)
                metrics_sample(out, GAUGES[gauge].name, labels,
                               (double)value_of(fork, quota, limit, gauge));
        }
    }
}

static bool is_first_of_scope(const struct quota *quota, size_t i)
{
    for (size_t k = 0; k < i; k++) {
        if (quota->limits[k].scope == quota->limits[i].scope)
            return false;
    }
    return true;
}

static void write_unknown(const struct cluster *fork, struct buf *out)
{
    static const char UNKNOWN[] = "gpu_extender_quota_unknown_gpus";
    const struct policy *policy = cluster_policy(fork);
    metrics_head(out, UNKNOWN, "gauge",
                 "GPUs used on nodes whose model is unknown: no limit of a model counts them.");
    for (size_t q = 0; q < policy->n_quotas; q++) {
        const struct quota *quota = &policy->quotas[q];
        for (size_t i = 0; i < quota->n_limits; i++) {
            const struct quota_limit *limit = &quota->limits[i];
            const struct metric_label labels[] = {
                {"quota", quota->name}, {"resource", limit->resource ? limit->resource : ""}, {0}};
            if (is_first_of_scope(quota, i))
                metrics_sample(out, UNKNOWN, labels, (double)quota_unknown(fork, quota, limit));
        }
    }
}

static void write_nodes(const struct cluster *fork, struct buf *out)
{
    static const char NODES[] = "gpu_extender_quota_model_nodes";
    const struct policy *policy = cluster_policy(fork);
    size_t counts[QUOTA_MODELS_MAX];
    quota_count_nodes(fork, counts);
    metrics_head(out, NODES, "gauge", "Nodes of each model that quotas limit.");
    for (size_t i = 0; i < policy->n_quota_models; i++) {
        const struct metric_label labels[] = {{"model", policy->quota_model_names[i]}, {0}};
        metrics_sample(out, NODES, labels, (double)counts[i]);
    }
}

void quota_metrics(const struct cluster *fork, struct buf *out)
{
    for (enum quota_gauge gauge = 0; gauge < N_GAUGES; gauge++)
        write_gauge(fork, gauge, out);
    write_unknown(fork, out);
    write_nodes(fork, out);
}
