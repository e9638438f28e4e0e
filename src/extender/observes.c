/* observes: which pods are only observed. See include/extender/extender.h. */
#include "extender/extender.h"

static enum observing observing_of(const struct policy *policy)
{
    if (policy->mode != MODE_OBSERVE)
        return OBSERVES_NONE;
    return policy->enforce_namespaces.is_set ? OBSERVES_SOME : OBSERVES_ALL;
}

enum observing extender_observing(const struct extender *extender)
{
    const struct policy *policy CLEANUP(policy_drop_ptr) =
        inventory_hold_policy(extender->inventory);
    return observing_of(policy);
}

bool extender_observes(const struct extender *extender, const char *namespace_)
{
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(extender->inventory);
    const struct policy *policy = cluster_policy(view.cluster);
    const enum observing observing = observing_of(policy);
    if (observing != OBSERVES_SOME || !namespace_)
        return observing != OBSERVES_NONE;
    const struct namespace *seen = cluster_find_namespace(view.cluster, namespace_);
    return !seen || !policy_enforces(policy, seen->labels, seen->n_labels);
}
