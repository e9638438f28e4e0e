/*
 * pod_shape: what of a pod decides where it may go, resolved against one ledger.
 *
 * A ledger keeps each distinct shape once, reference-counted; shapes are the classes of
 * statistics and the key of anything remembered. A request's pod gets a shape of its own in the
 * request's arena (cluster_resolve()), which reads the same and lives as long as the arena.
 */
#ifndef LEDGER_POD_SHAPE_H
#define LEDGER_POD_SHAPE_H

#include "types/facts.h"

/* A resource name that a ledger knows: kept once, compared by address. */
struct resource {
    const char *name;
    bool is_gpu;           /* by the policy */
    bool is_always_kept;   /* policy_is_common_resource() */
    uint64_t quota_scopes; /* that count it, as bits: policy_quota_scopes() */
};

struct need {
    const struct resource
        *resource; /* equal to no node's where the ledger does not know the name */
    int64_t amount;
};

struct pod_shape {
    struct shape_facts facts;
    /* facts.demand, GPU resources first. */
    const struct need *needs;
    size_t n_needs;
    size_t n_gpu_needs;
};

/* How much of the resource they are; 0 where none is of it. */
int64_t needs_find(const struct need *needs, size_t n, const struct resource *resource);
/* How much of the resource a pod needs; 0 where it needs none. */
int64_t shape_need(const struct pod_shape *shape, const struct resource *resource);
/* Sorts needs of GPU resources to the front, else keeping their order. How many they are. */
size_t needs_put_gpus_first(struct need *needs, size_t n_needs);

#endif
