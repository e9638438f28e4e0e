/* quota_warnings: limits that match nothing. See include/inventory/inventory.h. */
#include "decide/quota.h"
#include "inventory_priv.h"

/* The first quota with a limit for the model. */
static const struct quota *find_quota(const struct policy *policy, size_t column)
{
    for (size_t q = 0; q < policy->n_quotas; q++) {
        const struct quota *quota = &policy->quotas[q];
        for (size_t i = 0; i < quota->n_limits; i++) {
            if (quota->limits[i].column == column)
                return quota;
        }
    }
    return NULL;
}

/* Returns the ledger's policy, held. */
static const struct policy *count_nodes(struct inventory *inventory,
                                        size_t ret_counts[QUOTA_MODELS_MAX])
{
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(inventory);
    quota_count_nodes(view.cluster, ret_counts);
    return policy_hold(cluster_policy(view.cluster));
}

void inventory_warn_of_quotas(struct inventory *inventory, void (*warn)(const char *text))
{
    size_t counts[QUOTA_MODELS_MAX];
    const struct policy *policy CLEANUP(policy_drop_ptr) = count_nodes(inventory, counts);
    for (size_t i = 0; i < policy->n_quota_models; i++) {
        const struct quota *quota = find_quota(policy, 1 + i);
        struct err text;
        if (counts[i] > 0 || !quota)
            continue;
        (void)err_set(&text, EINVAL,
                      "quotas: no node has the model %s, which the quota %s limits: the limit has "
                      "no effect; should be the model of a node (GET /v1/inventory)",
                      policy->quota_model_names[i], quota->name);
        warn(text.text);
    }
}
