/* inventory_problems: see inventory_parts.h. */
#include "api/cluster/inventory_parts.h"

#include <utlist.h>

void problem_list_add(struct problem_list *list, const struct inventory_problem *problem)
{
    list->n_all++;
    (void)json_array_append_new(list->items,
                                json_pack("{s:s, s:s, s:s}", "kind", problem->kind, "name",
                                          problem->name, "what", problem->what));
}

static void add_of_devices(struct problem_list *list, const struct inventory_problem *problem)
{
    if (list->n_of_devices++ < DEVICE_PROBLEMS_MAX)
        problem_list_add(list, problem);
    else
        list->n_all++;
}

void problem_list_add_devices(struct problem_list *list, const char *node_name,
                              const struct driver_list *rows, struct arena *arena)
{
    for (size_t i = 0; i < rows->n; i++) {
        if (!rows->items[i].is_shadowed)
            continue;
        const char *what = arena_printf(arena,
                                        "publishes GPUs twice: by a device plugin, and as devices "
                                        "of %s, which are not counted",
                                        rows->items[i].group.driver);
        add_of_devices(list, &(struct inventory_problem){"Node", node_name, what});
    }
}

static void add_unused(struct problem_list *list, const struct claim_copy *claim,
                       struct arena *arena)
{
    const struct inventory_problem problem = {
        "ResourceClaim", arena_printf(arena, "%s/%s", claim->namespace_, claim->name),
        arena_printf(arena, "holds %zu device%s, but no pod uses it", claim->n_held,
                     claim->n_held == 1 ? "" : "s")};
    add_of_devices(list, &problem);
}

void problem_list_add_claims(struct problem_list *list, const struct claims_copy *claims)
{
    const struct claim_copy *claim = NULL;
    for (size_t i = 0; i < claims->n_pools; i++)
        add_of_devices(list, &claims->pools[i]);
    list->n_all += claims->n_all_pools - claims->n_pools + claims->n_unused_omitted;
    LL_FOREACH (claims->claims, claim) {
        if (claim->is_unused)
            add_unused(list, claim, claims->arena);
    }
}
