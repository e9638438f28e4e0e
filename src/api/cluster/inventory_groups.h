/*
 * inventory_groups: the groups of pods of GET /v1/inventory. Private to api.
 */
#ifndef API_CLUSTER_INVENTORY_GROUPS_H
#define API_CLUSTER_INVENTORY_GROUPS_H

#include "ledger/pod_groups.h"

#include <jansson.h>

#define INVENTORY_GROUPS_MAX ((size_t)1000)

struct group_list {
    struct group_row {
        const char *key; /* "namespace/name" */
        struct pod_group group;
    } * items;
    size_t n, n_all; /* before the limit */
};

/* Those that have members; in the arena. Under the inventory's lock. */
struct group_list inventory_groups_copy(const struct cluster *cluster, struct arena *arena);
json_t *inventory_groups_json(const struct group_list *groups);

#endif
