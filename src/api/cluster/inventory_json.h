/*
 * inventory_json: nodes of the inventory for other answers. Private to api.
 */
#ifndef API_CLUSTER_INVENTORY_JSON_H
#define API_CLUSTER_INVENTORY_JSON_H

#include "inventory/inventory.h"

#include <jansson.h>

/* A list of the nodes (node NULL: of all) as in GET /v1/inventory, with their labels, and without
 * pods. */
json_t *inventory_json_of_nodes(struct inventory *inventory, const char *node, struct arena *arena);

#endif
