/*
 * fragmentation: how many of the free GPUs are useless to the typical pods of this cluster?
 *
 * A node's free GPUs are fragments for a class of pods (ledger/gpu_demand.h) if no pod of it fits
 * there now, by GPUs, CPU, memory and model. The fragmentation is the mean over the resource's
 * classes, each weighted by the GPUs of its live pods (Weng et al., "Beware of Fragmentation",
 * USENIX ATC 2023, for whole GPUs). It is 0 without classes. Sums are exact integers with one
 * division at the end. GPUs of closed nodes are no fragments. Devices of dynamic resource
 * allocation count under the resource that stands for them if a device class maps it, else under
 * their driver, and then nothing is known of what they are wanted for.
 */
#ifndef DECIDE_FRAGMENTATION_H
#define DECIDE_FRAGMENTATION_H

#include "ledger/cluster.h"
#include "ledger/gpu_demand.h"
#include "types/selector.h"

/* ---- free gpus ---- */
/* The free GPUs of a node, by what they are good for: free = usable + stranded + closed.  Every
 * view that has a number of free GPUs has it from here, so that all agree. */

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

/* ---- fragmentation ---- */

/* Pods of 2, 4 and 8 GPUs. */
#define FRAGMENTATION_SIZES 3
extern const int64_t FRAGMENTATION_SIZE[FRAGMENTATION_SIZES];

#define FRAGMENTATION_STRANDED_MAX 3

/* A node whose free GPUs are stranded. */
struct stranded_node {
    const char *node;
    const char *because; /* as in struct free_gpus */
    int64_t gpus;
    int64_t left; /* of what is used up: thousandths of a core, or bytes; else 0 */
};

/* The GPUs of one model under one resource name. */
struct fragmentation {
    const char *resource; /* or driver */
    const char *model;    /* as in struct model_pool */
    const char *unit;     /* gpu_unit_word() */
    size_t n_nodes;       /* that are not cordoned */
    struct free_gpus free;
    double fragmented;                  /* of those on open nodes */
    int64_t largest_block;              /* most free GPUs on one open node */
    size_t n_whole;                     /* such nodes with all of their GPUs free */
    int64_t rooms[FRAGMENTATION_SIZES]; /* pods of each size, by their usable GPUs */
    struct stranded_node stranded[FRAGMENTATION_STRANDED_MAX]; /* most GPUs first */
    size_t n_stranded;                                         /* all of them */
};

struct fragmentations {
    struct fragmentation *items; /* sorted by resource, then model */
    size_t n;
};

/* The share of one node in an item. */
struct node_fragmentation {
    const char *node;
    const char *resource;
    const char *model;
    int64_t free;
    double fragmented; /* > 0 */
};

struct node_fragmentations {
    struct node_fragmentation *items; /* in the cluster's order of nodes */
    size_t n;
};

/* The present state; the cluster must be settled. In the arena, except some names, which are the
 * cluster's. */
struct fragmentations fragmentation_of(const struct cluster *cluster, struct arena *arena);
/* The same of the nodes that have such labels. */
struct fragmentations fragmentation_of_labelled(const struct cluster *cluster,
                                                const struct selector_term *labels,
                                                struct arena *arena);
/* Those with free GPUs that some class cannot use; the same holds. */
struct node_fragmentations fragmentation_of_nodes(const struct cluster *cluster,
                                                  const struct selector_term *labels,
                                                  struct arena *arena);

#endif
