/* policy_quota: quotas as the policy has them. Who uses what of them is in namespace_usage.c and
 * quota.c.
 */
#include "base/mem.h"
#include "types/policy.h"
#include "types/selector.h"

#include <assert.h>
#include <string.h>

static bool text_equal(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Its place, or n where it is not there. */
static size_t find_text(const char *const *texts, size_t n, const char *text)
{
    size_t i = 0;
    while (i < n && !text_equal(texts[i], text))
        i++;
    return i;
}

static int place_scope(struct policy *policy, struct quota_limit *limit, struct err *err)
{
    limit->scope = find_text(policy->quota_scopes, policy->n_quota_scopes, limit->resource);
    if (limit->scope < policy->n_quota_scopes)
        return 0;
    if (policy->n_quota_scopes == QUOTA_SCOPES_MAX)
        return err_set(err, E2BIG,
                       "resource %s is one more than the %d different ones that all quotas "
                       "together may name",
                       limit->resource ? limit->resource : "(all)", QUOTA_SCOPES_MAX);
    policy->quota_scopes[policy->n_quota_scopes++] = limit->resource;
    return 0;
}

static int place_model(struct policy *policy, struct quota_limit *limit, struct err *err)
{
    if (!limit->model)
        return 0;
    const size_t i = find_text(policy->quota_model_names, policy->n_quota_models, limit->model);
    limit->column = 1 + i;
    if (i < policy->n_quota_models)
        return 0;
    if (i == QUOTA_MODELS_MAX)
        return err_set(err, E2BIG,
                       "model %s is one more than the %d different ones that all quotas together "
                       "may name",
                       limit->model, QUOTA_MODELS_MAX);
    (void)gpu_model_parse(limit->model, policy->aliases, policy->n_aliases,
                          &policy->quota_models[i]);
    policy->quota_model_names[policy->n_quota_models++] = limit->model;
    return 0;
}

int policy_add_quota(struct policy *policy, const struct quota *quota, struct err *err)
{
    if (policy->n_quotas == QUOTAS_MAX)
        return err_set(err, E2BIG, "is one more than the %d quotas that there may be", QUOTAS_MAX);
    struct quota added = *quota;
    struct quota_limit *limits =
        arena_copy(policy->arena, quota->limits, quota->n_limits, sizeof *limits);
    for (size_t i = 0; i < quota->n_limits; i++) {
        limits[i].scope = limits[i].column = 0;
        int r = place_scope(policy, &limits[i], err);
        if (r == 0)
            r = place_model(policy, &limits[i], err);
        if (r < 0)
            return r;
    }
    added.limits = limits;
    added.refusal_in_total = arena_printf(
        policy->arena, "gpu-extender: quota %s leaves too few GPUs in total", quota->name);
    added.refusal_of_model =
        arena_printf(policy->arena,
                     "gpu-extender: quota %s leaves too few GPUs of the node's model", quota->name);
    policy->quotas = mem_grow(policy->quotas, policy->n_quotas + 1, sizeof *policy->quotas);
    policy->quotas[policy->n_quotas++] = added;
    policy->quotas_select |= added.has_selector && added.selector.n_requirements > 0;
    return 0;
}

void policy_clear_quotas(struct policy *policy)
{
    policy->n_quotas = policy->n_quota_models = policy->n_quota_scopes = 0;
    policy->quotas_select = false;
    arena_free(policy->arena);
    policy->arena = arena_new();
}

bool quota_covers(const struct quota *quota, const char *namespace_, const struct label *labels,
                  size_t n_labels)
{
    const struct label_view view = {
        .node_name = namespace_, .labels = labels, .n_labels = n_labels};
    return find_text(quota->namespaces, quota->n_namespaces, namespace_) < quota->n_namespaces ||
           (quota->has_selector && selector_term_holds(&quota->selector, &view));
}

uint64_t policy_quota_models(const struct policy *policy, const struct gpu_model *have,
                             int64_t memory_bytes)
{
    uint64_t bits = have->chip[0] ? 0 : QUOTA_MODEL_UNKNOWN;
    for (size_t i = 0; i < policy->n_quota_models; i++) {
        if (gpu_model_satisfies(have, memory_bytes, &policy->quota_models[i]))
            bits |= UINT64_C(1) << i;
    }
    return bits;
}

uint64_t policy_quota_scopes(const struct policy *policy, const char *resource)
{
    uint64_t bits = 0;
    if (!policy_is_gpu_resource(policy, resource))
        return 0;
    for (size_t i = 0; i < policy->n_quota_scopes; i++) {
        if (!policy->quota_scopes[i] || policy_resource_matches(policy->quota_scopes[i], resource))
            bits |= UINT64_C(1) << i;
    }
    return bits;
}
