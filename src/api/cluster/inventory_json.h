/*
 * inventory_json: nodes of the inventory for other answers. Private to api.
 */
#ifndef API_CLUSTER_INVENTORY_JSON_H
#define API_CLUSTER_INVENTORY_JSON_H

#include "inventory/inventory.h"

#include <jansson.h>

struct nodes_page {
    /* Under the inventory's lock. */
    bool (*admits)(const void *context, const struct node *node);
    const void *context;
    const char *after_name; /* only later ones; "": all */
    size_t limit;           /* > 0 */
};
/* A page of the nodes with GPUs, by name, as in GET /v1/inventory, with their labels, and without
 * pods. */
json_t *inventory_json_of_nodes(struct inventory *inventory, const struct nodes_page *page,
                                struct arena *arena, bool *ret_has_more);

#endif
