/* quota_metrics: see quota_metrics.h. The policy file bounds the number of series. */
#include "quota_metrics.h"
#include "base/metrics.h"
#include "decide/quota.h"

static void write_gauge(const struct cluster *fork, const char *name, bool is_use, struct buf *out)
{
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
            const int64_t gpus = is_use ? quota_used(fork, quota, limit) : limit->gpus;
            metrics_sample(out, name, labels, (double)gpus);
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
    static const char LIMIT[] = "gpu_extender_quota_limit_gpus";
    static const char USED[] = "gpu_extender_quota_used_gpus";
    metrics_head(out, LIMIT, "gauge", "GPUs that the quota allows.");
    write_gauge(fork, LIMIT, false, out);
    metrics_head(out, USED, "gauge", "GPUs of the quota that pods and bindings in progress use.");
    write_gauge(fork, USED, true, out);
    write_unknown(fork, out);
    write_nodes(fork, out);
}
