/* unread_budgets: see unread_budgets.h. */
#include "api/what_if/unread_budgets.h"

#include <string.h>

const char *unread_budgets_why(struct inventory *inventory, struct arena *arena)
{
    struct inventory_freshness kinds[N_CLUSTER_KINDS];
    if (inventory_freshness(inventory, kinds) == 0) {
        const struct inventory_view view CLEANUP(inventory_done) = inventory_read(inventory);
        return cluster_knows(view.cluster, CLUSTER_BUDGETS)
                   ? NULL
                   : "the cluster file has none; save it with pdb";
    }
    const struct inventory_freshness *kind = &kinds[CLUSTER_BUDGETS];
    if (kind->synced && !kind->stale && !kind->behind && !kind->too_many)
        return NULL;
    if (strcmp(kind->trouble, "refused") == 0)
        return "this service has no right to list and watch them";
    return arena_printf(arena, "they are %s%s%s", kind->synced ? "not current" : "not listed",
                        kind->trouble[0] ? ": " : "", kind->trouble);
}

void unread_budgets_add(struct inventory *inventory, struct met_budgets *budgets)
{
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(inventory);
    for (size_t i = 0; i < view.n_problems; i++) {
        if (strcmp(view.problems[i].kind, "PodDisruptionBudget") == 0)
            met_budgets_add_unread(budgets, view.problems[i].name, view.problems[i].what);
    }
    if (view.n_all_problems > view.n_problems)
        met_budgets_add_unread(budgets, "(unknown)",
                               "more objects cannot be read than /v1/inventory lists");
}
