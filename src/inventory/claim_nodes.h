/*
 * claim_nodes: the devices of the nodes that are ranked; of nodes that are alike, those of the
 * first alone. Private to inventory.
 */
#ifndef INVENTORY_CLAIM_NODES_H
#define INVENTORY_CLAIM_NODES_H

#include "inventory/claim_lookup.h"

/* reads NULL: no node stands for another. Sets which node stands for each of the sources' nodes.
 * False: it is too much, and some are missing. Takes the inventory's lock in short holds. */
bool claim_nodes_read(const struct claim_sources *sources, const struct claims_reads *reads,
                      struct device_copy *copy, size_t *ret_stands_for);

#endif
