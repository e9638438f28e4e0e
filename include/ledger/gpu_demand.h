/*
 * gpu_demand: who wants GPUs and what of them is free, by resource and model: what a price is made
 * of (decide/score.h).
 *
 * A pure function of the present ledger. Live pods are those that have a node and are not finished,
 * and those that wait for one: not gated, not refused. Their shapes are the classes; of those that
 * some node is large enough for, the GPU_DEMAND_CLASSES_MAX whose pods take most GPUs together
 * count, of equal ones the one that shape_order() puts first. A shape over a limit is no class.
 * Which models a class may go to does not ask for free room; one of GPU_DEMAND_COMPARISONS_MAX or
 * more (shape_comparisons()) is taken to go everywhere. Nodes that are cordoned offer nothing.
 *
 * Counting is part of each change of the ledger; the choice of classes and their models is made by
 * gpu_demand_settle(), once after many changes.
 */
#ifndef LEDGER_GPU_DEMAND_H
#define LEDGER_GPU_DEMAND_H

#include "ledger/cluster.h"

#define GPU_DEMAND_CLASSES_MAX 32
#define GPU_DEMAND_EXPECTED_MAX 32 /* of a fork, besides */
#define GPU_DEMAND_COMPARISONS_MAX 64

/* The GPUs of one model, by one resource name. */
struct model_pool {
    const char *model; /* canonical, with "-MIG-1g.5gb" or "-SHARED" of parts; "" if not said */
    size_t n_nodes;
    int64_t free; /* GPUs, over-full nodes counted as full */
    size_t index; /* in the demand's list */
};

/* How many of a node's GPUs its pool counts: those that are free, and no more than a bound. */
int64_t model_pool_offered(const struct node_resource *entry);

/* Pods of one shape that want the demand's resource. */
struct demand_class {
    const struct pod_shape *shape; /* of a fork's, the facts alone, or NULL: too many */
    int64_t n_live;                /* pods, > 0 */
    int64_t gpus;                  /* a pod, > 0 */
    int64_t milli_cores;           /* a pod */
    int64_t memory_bytes;
    bool *admitted;  /* by pool: may it go to a node of it? */
    bool unconfined; /* to every one */
};

struct gpu_demand {
    const struct resource *resource;
    struct model_pool **pools;
    size_t n_pools;
    struct demand_class classes[GPU_DEMAND_CLASSES_MAX + GPU_DEMAND_EXPECTED_MAX];
    size_t n_classes;
    int64_t max_gpus; /* allocatable on one node, the most */
};

/* Whether what follows may be read. A fork always is: cluster_fork() settles its origin first. */
bool gpu_demand_is_settled(const struct cluster *cluster);
void gpu_demand_settle(struct cluster *cluster);

/* NULL where no node offers the resource. */
const struct gpu_demand *gpu_demand_find(const struct cluster *cluster,
                                         const struct resource *resource);
/* All, from NULL to NULL. */
const struct gpu_demand *gpu_demand_next(const struct cluster *cluster,
                                         const struct gpu_demand *demand);

/* n more pods of the shape, resolved against that fork, count as live there: a workload's replicas
 * wait all at once. The shape must live as long as the fork. Of more different ones than
 * GPU_DEMAND_EXPECTED_MAX the first count. */
void gpu_demand_expect(struct cluster *fork, const struct pod_shape *shape, int64_t n);

#endif
