/*
 * pool_slices: which slices of a pool count on a node, and whether these are all. Source:
 * GatherPools() of kube-scheduler 1.36 (structured/internal/incubating/pools_incubating.go).
 *
 * Of the slices that concern the node only the highest generation counts. If their number is that
 * of the pool, the pool is complete. Otherwise all slices of the pool must be there, and a higher
 * generation elsewhere makes the node's slices obsolete.
 */
#ifndef DRA_POOL_SLICES_H
#define DRA_POOL_SLICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Those of the highest generation among some slices of a pool. Begin with zeros. */
struct pool_slices {
    size_t n;
    int64_t generation;
    int64_t n_slices; /* so many there should be (resourceSliceCount), as the first says */
    bool disagree;    /* another says otherwise */
};

enum pool_slices_state {
    POOL_SLICES_NONE, /* none concerns the node, or these are obsolete */
    POOL_SLICES_COMPLETE,
    POOL_SLICES_INCOMPLETE,
    POOL_SLICES_DISAGREE /* upstream's verdict depends on the order of a map */
};

void pool_slices_add(struct pool_slices *slices, int64_t generation, int64_t n_slices);
/* here: the slices that concern the node, and those with shared counters, wherever they are; all:
 * the pool's. */
enum pool_slices_state pool_slices_state(const struct pool_slices *here,
                                         const struct pool_slices *all);

#endif
