/* quota_checks: see cluster_checks.h. */
#include "cluster_checks.h"
#include "decide/quota.h"
#include "inventory/policy_names.h"
#include "ledger/cluster.h"
#include "types/policy.h"

#include <inttypes.h>
#include <stdbool.h>

#define MATCHES "quotas.matches"
#define USE "quotas.use"

struct quota_check {
    const struct cluster *cluster;
    struct findings *findings;
    size_t n_bad;
};

static bool covers_any(const struct cluster *cluster, const struct quota *quota)
{
    for (const struct namespace *one = NULL; (one = cluster_next_namespace(cluster, one));) {
        if (policy_quota_covers(quota, one->name, one->labels, one->n_labels))
            return true;
    }
    return false;
}

static void check_limit(struct quota_check *check, const struct quota *quota,
                        const struct quota_limit *limit)
{
    const int64_t used = quota_used(check->cluster, quota, limit);
    const char *model = limit->model ? limit->model : "all models";
    const char *resource = limit->resource ? limit->resource : "all GPU resources";
    if (used > limit->gpus) {
        check->n_bad++;
        findings_add(check->findings, FINDING_WARN, USE,
                     "raise the limit, or end pods: until then new ones are rejected",
                     "quota %s: its pods use %" PRId64 " GPUs of %s, %s; the limit is %" PRId64,
                     quota->name, used, resource, model, limit->gpus);
    }
}

static void check_quota(struct quota_check *check, const struct quota *quota)
{
    if (cluster_n_namespaces(check->cluster) > 0 && !covers_any(check->cluster, quota)) {
        check->n_bad++;
        findings_add(check->findings, FINDING_WARN, MATCHES,
                     "correct its namespaces or namespaceSelector",
                     "quota %s: it covers no namespace that exists", quota->name);
    }
    for (size_t i = 0; i < quota->n_limits; i++)
        check_limit(check, quota, &quota->limits[i]);
}

static void check_names(struct quota_check *check)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct policy_name *names = NULL;
    const size_t n = policy_names_missing(check->cluster, arena, &names);
    check->n_bad += n;
    for (size_t i = 0; i < n; i++)
        findings_add(check->findings, FINDING_WARN, MATCHES, names[i].advice, "%s", names[i].seen);
}

void quota_checks_run(const struct cluster *cluster, struct findings *findings)
{
    const struct policy *policy = cluster_policy(cluster);
    struct quota_check check = {.cluster = cluster, .findings = findings};
    check_names(&check);
    for (size_t i = 0; i < policy->n_quotas; i++)
        check_quota(&check, &policy->quotas[i]);
    if (policy->n_quotas > 0 && cluster_n_namespaces(cluster) == 0)
        findings_not_checked(findings, MATCHES, "save the namespaces, too",
                             "the cluster has no namespaces, so none of the quotas is compared "
                             "with them");
    else if (policy->n_quotas == 0)
        findings_add(findings, FINDING_OK, "quotas", "", "the policy has none");
    else if (check.n_bad == 0)
        findings_add(findings, FINDING_OK, "quotas", "",
                     "%zu checked: all match something that exists, and none is exceeded",
                     policy->n_quotas);
}
