/* quota_warnings: limits that match nothing, and what lending needs. See
 * include/inventory/inventory.h. */
#include "inventory/inventory.h"
#include "inventory_priv.h"

/* kube-scheduler's minCandidateNodesAbsolute: of so many nodes it sees all. */
#define NODES_SEEN 100

/* ret_lends: quotas lend, and preempt may be shown a sample of the nodes. */
static size_t find_missing(struct inventory *inventory, struct arena *arena,
                           struct policy_name **ret_names, bool *ret_lends)
{
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(inventory);
    *ret_lends = cluster_policy(view.cluster)->n_quota_priorities > 0 &&
                 cluster_n_nodes(view.cluster) > NODES_SEEN;
    return policy_names_missing(view.cluster, arena, ret_names);
}

void inventory_warn_of_quotas(struct inventory *inventory, void (*warn)(const char *text))
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct policy_name *names = NULL;
    bool lends = false;
    const size_t n = find_missing(inventory, arena, &names, &lends);
    for (size_t i = 0; i < n; i++)
        warn(arena_printf(arena, "%s; %s", names[i].seen, names[i].advice));
    if (lends)
        warn("quotas lend GPUs, and kube-scheduler looks for pods to evict on a sample of the "
             "nodes; give pods of a model a nodeSelector, or set minCandidateNodesPercentage: 100 "
             "for DefaultPreemption (docs/QUOTA.md)");
}
