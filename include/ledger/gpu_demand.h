/*
 * gpu_demand: demand for GPUs and free GPUs, by resource and model; the basis of prices
 * (decide/score.h).
 *
 * A pure function of the present ledger. Live pods are unfinished pods with a node, and pods that
 * wait for one, neither gated nor rejected. Their shapes are the classes. Of the shapes that fit
 * the largest node, the GPU_DEMAND_CLASSES_MAX count whose pods take most GPUs together; ties break
 * by shape_order(). A shape over a limit makes no class. The models that admit a class do not
 * depend on free room. A class with GPU_DEMAND_COMPARISONS_MAX or more comparisons
 * (shape_comparisons()) counts as admitted everywhere. Cordoned nodes offer nothing. Devices of
 * dynamic resource allocation are in the pools of the resource that stands for them (struct
 * node_device_group), if a device class maps that resource: else no pod that requests it gets them.
 *
 * Each change of the ledger updates the counts. gpu_demand_settle() chooses the classes and their
 * models, once after many changes.
 */
#ifndef LEDGER_GPU_DEMAND_H
#define LEDGER_GPU_DEMAND_H

#include "ledger/cluster.h"

#define GPU_DEMAND_CLASSES_MAX 32
#define GPU_DEMAND_COMPARISONS_MAX 64

/* The GPUs of one model under one resource name. */
struct model_pool {
    const char *model; /* canonical, with "-MIG-1g.5gb" or "-SHARED" for parts; "" if unknown */
    size_t n_nodes;
    int64_t free; /* GPUs; overfull nodes count as 0 */
    size_t index; /* in the demand's list */
};

/* The name of the pool for a node's GPUs; returns name. */
#define MODEL_POOL_NAME_BYTES ((size_t)3 * GPU_MODEL_TEXT_MAX)
const char *model_pool_name(const struct node_traits *traits, const char *resource,
                            char name[MODEL_POOL_NAME_BYTES]);
/* Whether a pool counts the GPUs as long as the node is not cordoned. */
bool model_pool_takes(const struct node_resource *gpus);
/* Without a device class that maps the resource, no pod that requests it gets the devices. */
bool model_pool_takes_devices(const struct node *node, const struct node_device_group *group);
/* The GPUs of a node that its pool counts, of so many free ones: at least 0, at most 2^40. */
int64_t model_pool_offered(int64_t free);

/* Live pods of one shape that request the demand's resource. */
struct demand_class {
    const struct pod_shape *shape; /* in a fork only its facts, or NULL: too many comparisons */
    int64_t n_live;                /* pods, > 0 */
    int64_t gpus;                  /* per pod, > 0 */
    int64_t milli_cores;           /* per pod */
    int64_t memory_bytes;
    bool *admitted;  /* by pool index: whether a node of it admits the class */
    bool unconfined; /* every pool admits it */
};

struct gpu_demand {
    const struct resource *resource;
    struct model_pool **pools;
    size_t n_pools;
    struct demand_class classes[GPU_DEMAND_CLASSES_MAX]; /* those that take most first */
    size_t n_classes;
    int64_t max_gpus; /* the largest allocatable of a node, or its devices of one model */
};

/* Whether the functions below may be called. True for a fork: cluster_fork() settles its origin. */
bool gpu_demand_is_settled(const struct cluster *cluster);
void gpu_demand_settle(struct cluster *cluster);

/* NULL if no node offers the resource. */
const struct gpu_demand *gpu_demand_find(const struct cluster *cluster,
                                         const struct resource *resource);
/* Iterates over all: NULL to NULL. */
const struct gpu_demand *gpu_demand_next(const struct cluster *cluster,
                                         const struct gpu_demand *demand);

/* Counts n more live pods of a shape resolved against the fork: a workload's replicas wait all at
 * once. The shape must live as long as the fork. Other pods of the shape count only if the fork's
 * origin has it as a class. */
void gpu_demand_expect(struct cluster *fork, const struct pod_shape *shape, int64_t n);
/* The classes of a fork as they are now, and back to them. Freed with gpu_demand_drop_saved(). */
struct gpu_demand_entry;
struct gpu_demand_entry *gpu_demand_save(const struct cluster *fork);
void gpu_demand_restore(struct cluster *fork, const struct gpu_demand_entry *saved);
void gpu_demand_drop_saved(struct gpu_demand_entry *saved);

/* Whether kube-scheduler asks about a pod that the watch has not shown yet, so that no class counts
 * it. False for uid NULL, and for a fork. */
bool gpu_demand_lacks(const struct cluster *cluster, const char *uid);
/* The demand with one more live pod of the shape, so that a price is the same before and after the
 * watch shows the pod. In the arena; valid until the cluster changes. */
const struct gpu_demand *gpu_demand_with(const struct cluster *cluster,
                                         const struct gpu_demand *demand,
                                         const struct pod_shape *shape, struct arena *arena);

#endif
