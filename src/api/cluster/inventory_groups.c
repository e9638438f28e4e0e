/* inventory_groups: see inventory_parts.h. */
#include "api/cluster/inventory_parts.h"

#include <string.h>

struct group_list inventory_groups_copy(const struct cluster *cluster, struct arena *arena)
{
    struct group_list groups = {.n_all = pod_groups_count(cluster)};
    const size_t n = groups.n_all < INVENTORY_GROUPS_MAX ? groups.n_all : INVENTORY_GROUPS_MAX;
    const char *key = NULL;
    groups.items = ARENA_ARRAY(arena, struct group_row, n);
    while (groups.n < n) {
        struct group_row *row = &groups.items[groups.n++];
        key = pod_groups_next(cluster, key, &row->group);
        row->key = arena_strdup(arena, key);
    }
    return groups;
}

json_t *inventory_groups_json(const struct group_list *groups)
{
    json_t *list = json_array();
    for (size_t i = 0; i < groups->n; i++) {
        const struct group_row *row = &groups->items[i];
        const size_t len = strcspn(row->key, "/");
        (void)json_array_append_new(list, json_pack("{s:s%, s:s, s:b, s:I, s:I, s:I}", "namespace",
                                                    row->key, len, "name", &row->key[len + 1],
                                                    "known", row->group.is_known, "minCount",
                                                    (json_int_t)row->group.min_count, "members",
                                                    (json_int_t)row->group.n_members, "bound",
                                                    (json_int_t)row->group.n_bound));
    }
    return list;
}
