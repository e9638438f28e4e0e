/*
 * fragmentation: of the GPUs that are free, how many are of no use to the pods that are typical
 * here?
 *
 * To a class of pods (ledger/gpu_demand.h) the free GPUs of a node are fragments if not one pod of
 * it fits there now: by GPUs, CPU, memory and model. The mean over the resource's classes, each
 * weighed by the GPUs that its live pods take together, is what is fragmented of a node (Weng et
 * al., "Beware of Fragmentation", USENIX ATC 2023, for whole GPUs). 0 where there are no classes.
 * All is reckoned in whole numbers, but for one division; nodes that are cordoned offer nothing.
 */
#ifndef DECIDE_FRAGMENTATION_H
#define DECIDE_FRAGMENTATION_H

#include "ledger/gpu_demand.h"

/* The GPUs of one model, by one resource name. */
struct fragmentation {
    const struct resource *resource;
    const char *model; /* canonical; "" where the nodes do not say */
    size_t n_nodes;
    int64_t free;
    double fragmented;     /* of these */
    int64_t largest_block; /* free on one node, the most */
    size_t n_whole;        /* nodes that have all of their GPUs free */
};

struct fragmentations {
    struct fragmentation *items; /* by resource, then model */
    size_t n;
};

/* Of the present state; the cluster must be settled. In the arena, but for names, which are the
 * cluster's. */
struct fragmentations fragmentation_of(const struct cluster *cluster, struct arena *arena);

#endif
