/*
 * refused_pods: counts pods that each node's kubelet refused. Private to inventory.
 *
 * Not part of the ledger, which keeps no history; guarded by the inventory's lock too. Counts of
 * deleted nodes are dropped, which bounds their number.
 */
#ifndef INVENTORY_REFUSED_PODS_H
#define INVENTORY_REFUSED_PODS_H

#include "base/arena.h"
#include "ledger/cluster.h"

struct refused_pods;

struct refused_pods *refused_pods_new(void);
void refused_pods_free(struct refused_pods *refused);

/* Counts one pod; ignored if the ledger does not have the node. */
void refused_pods_add(struct refused_pods *refused, const struct cluster *cluster,
                      const char *node);

struct refused_count {
    const char *node;
    uint64_t n;
};
/* Nonzero counts, in the arena. Returns how many. */
size_t refused_pods_copy(const struct refused_pods *refused, const struct cluster *cluster,
                         struct arena *arena, struct refused_count **ret_counts);

#endif
