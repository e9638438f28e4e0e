/* quota_warnings: limits that match nothing. See include/inventory/inventory.h. */
#include "inventory/policy_names.h"
#include "inventory_priv.h"

static size_t find_missing(struct inventory *inventory, struct arena *arena,
                           struct policy_name **ret_names)
{
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(inventory);
    return policy_names_missing(view.cluster, arena, ret_names);
}

void inventory_warn_of_quotas(struct inventory *inventory, void (*warn)(const char *text))
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct policy_name *names = NULL;
    const size_t n = find_missing(inventory, arena, &names);
    for (size_t i = 0; i < n; i++)
        warn(arena_printf(arena, "%s; %s", names[i].seen, names[i].advice));
}
