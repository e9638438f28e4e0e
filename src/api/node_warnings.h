/*
 * node_warnings: what labels and resources of nodes leave open (inventory/inventory.h), in answers
 * to users. Private to api.
 */
#ifndef API_NODE_WARNINGS_H
#define API_NODE_WARNINGS_H

#include "api/api.h"
#include "inventory/inventory.h"

/* Appends a {path, message} for each accelerator that the policy does not count. */
void node_warnings_add(const struct api *api, struct exchange *exchange, json_t *warnings);

#endif
