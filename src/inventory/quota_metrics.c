/* quota_metrics: see quota_metrics.h. The policy file bounds the labels. */
#include "quota_metrics.h"
#include "base/metrics.h"
#include "core/quota.h"

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

void quota_metrics(const struct cluster *fork, struct buf *out)
{
    static const char LIMIT[] = "gpu_extender_quota_limit_gpus";
    static const char USED[] = "gpu_extender_quota_used_gpus";
    metrics_head(out, LIMIT, "gauge", "GPUs that the quota allows.");
    write_gauge(fork, LIMIT, false, out);
    metrics_head(out, USED, "gauge", "GPUs of the quota that pods and bindings on their way use.");
    write_gauge(fork, USED, true, out);
}
