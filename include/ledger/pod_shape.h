/*
 * pod_shape: the part of a pod that decides where it may go, resolved against one ledger.
 *
 * A ledger keeps each distinct shape once, reference-counted; shapes are the classes of statistics
 * and the key of caches. The pod of a request gets a shape of its own in the request's arena
 * (cluster_resolve()), which reads the same and lives as long as the arena.
 */
#ifndef LEDGER_POD_SHAPE_H
#define LEDGER_POD_SHAPE_H

#include "types/facts.h"

/* A resource name known to a ledger: interned, compared by address. */
struct resource {
    const char *name;
    bool is_gpu;           /* by the policy */
    bool is_unlisted;      /* accelerator_is_unlisted() */
    bool is_always_kept;   /* policy_is_common_resource() */
    uint64_t quota_scopes; /* bit set of the scopes that count it: policy_quota_scopes() */
};

struct need {
    const struct resource
        *resource; /* differs from every node's if the ledger does not know the name */
    int64_t amount;
};

struct pod_shape {
    struct shape_facts facts;
    /* facts.demand, GPU resources first. */
    const struct need *needs;
    size_t n_needs;
    size_t n_gpu_needs;
};

/* The amount of the resource; 0 without such a need. */
int64_t needs_find(const struct need *needs, size_t n, const struct resource *resource);
/* The amount of the resource that a pod needs; 0 without such a need. */
int64_t shape_need(const struct pod_shape *shape, const struct resource *resource);
/* Moves needs of GPU resources to the front, otherwise stable. Returns their number. */
size_t needs_put_gpus_first(struct need *needs, size_t n_needs);

#endif
