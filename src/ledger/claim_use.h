/*
 * claim_use: what a claim counts in quotas, and whether it floats: it is allocated, but no pod that
 * it is reserved for has a node or a reservation. Private to claim_usage.c and claim_floating.c.
 */
#ifndef LEDGER_CLAIM_USE_H
#define LEDGER_CLAIM_USE_H

#include "ledger.h"

/* A device that a claim uses. Its names are interned. */
struct claimed_gpu {
    const char *driver, *pool, *device;
    uint64_t scopes, models; /* bits of cells */
};

/* A pod whose status names the claim. */
struct extended_claim {
    struct claim_use *use;
    struct pod_entry *pod;
    struct extended_claim *prev, *next;
};

struct holding_pod; /* claim_floating.c */

/* A pod that the claim is reserved for. */
struct claim_holding {
    struct claim_use *use;
    struct holding_pod *holder;
    struct claim_holding *prev, *next; /* of the holder */
};

/* A claim that uses GPUs, or that the status of a pod names, or that bind refused. */
struct claim_use {
    UT_hash_handle hh; /* by namespace and name */
    struct claimed_gpu *gpus;
    size_t n_gpus;
    struct extended_claim *pods;
    struct claim_holding *holdings; /* of a claim that uses GPUs */
    size_t n_holdings;
    bool floats;                                     /* it is in the cluster's list */
    struct claim_use *prev_floating, *next_floating; /* in that list */
    int64_t *refused;        /* cells of an allocation that bind refused; NULL: none */
    const char *refused_uid; /* of the claim then; interned; NULL: none */
    int64_t *of_pod;         /* cells of GPUs that the pod counts itself; NULL: no such pod */
    const char *name;
    char namespace_[]; /* then the name: the key */
};

/* claim_floating.c */
/* Call after a change of the claim. */
void claim_floating_renew(struct cluster *cluster, struct claim_use *use);
/* Call after a change of the pods whose status names the claim. */
void claim_floating_judge(struct cluster *cluster, struct claim_use *use);
/* Call before the claim is freed. */
void claim_floating_forget(struct cluster *cluster, struct claim_use *use);
bool claim_floating_is_right(const struct cluster *cluster, const struct claim_use *use);

#endif
