/*
 * free_gpus: the free GPUs of a node, by what they are good for: free = usable + stranded + closed.
 *
 * Every view that has a number of free GPUs has it from here, so that all agree.
 */
#ifndef DECIDE_FREE_GPUS_H
#define DECIDE_FREE_GPUS_H

#include "ledger/cluster.h"

struct free_gpus {
    int64_t usable;   /* some pods can use them now */
    int64_t stranded; /* no class of pods (ledger/gpu_demand.h) fits the node */
    int64_t closed;   /* the node is not ready, cordoned, or, of a resource, in quarantine */
    /* If they are stranded: "memory", or "cpu", of which each class needs more than is left; "":
     * each needs more GPUs, or another model. NULL: they are not. Not of a sum. */
    const char *because;
};

/* An over-full node has none. The node's cluster must be settled. */
struct free_gpus free_gpus_of(const struct node *node, const struct node_resource *gpus);
struct free_gpus free_gpus_of_devices(const struct node *node,
                                      const struct node_device_group *devices);
int64_t free_gpus_sum(const struct free_gpus *gpus);
void free_gpus_add(struct free_gpus *sum, const struct free_gpus *gpus);

#endif
