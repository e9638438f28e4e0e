/*
 * refused_pods: how many pods each node's kubelet would not have. Private to inventory.
 *
 * No part of the ledger, which knows nothing of what was; guarded by the inventory's lock like it.
 * A node that is gone from the ledger is forgotten: there are never more than nodes.
 */
#ifndef INVENTORY_REFUSED_PODS_H
#define INVENTORY_REFUSED_PODS_H

#include "base/arena.h"
#include "ledger/cluster.h"

struct refused_pods;

struct refused_pods *refused_pods_new(void);
void refused_pods_free(struct refused_pods *refused);

/* One more; of a node that the ledger does not have, nothing is kept. */
void refused_pods_add(struct refused_pods *refused, const struct cluster *cluster,
                      const char *node);

struct refused_count {
    const char *node;
    uint64_t n;
};
/* Those that have any, in the arena; how many. */
size_t refused_pods_copy(const struct refused_pods *refused, const struct cluster *cluster,
                         struct arena *arena, struct refused_count **ret_counts);

#endif
