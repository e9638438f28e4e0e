/*
 * reason: why a pod cannot go to a node; a closed list.
 *
 * The messages are constant, as kube-scheduler wakes a pod whose message changes (PROTOCOL 6.2),
 * and counts equal ones together (PROTOCOL 5.3).
 */
#ifndef TYPES_REASON_H
#define TYPES_REASON_H

#include <stdbool.h>

enum reason {
    REASON_FITS,
    REASON_POD_INVALID, /* its message is the pod's refusal */
    REASON_NODE_UNKNOWN,
    REASON_GANG_FORMING, /* of its group: ledger/gangs.h */
    REASON_GANG_WAITING,
    REASON_GANG_PLACE, /* its group has a place for it on another node */
    REASON_NODE_NAME,
    REASON_UNSCHEDULABLE,
    REASON_TAINT,
    REASON_NODE_SELECTOR,
    REASON_NODE_AFFINITY,
    REASON_LEGACY_AFFINITY,
    REASON_QUARANTINE, /* both: ledger/quarantine.h */
    REASON_SHAPE_TRAP,
    REASON_GPU_ABSENT,
    REASON_GPU_SHARED, /* the node's GPUs are not whole, and the pod requires whole ones */
    REASON_GPU_MIG,
    REASON_MODEL_UNKNOWN,
    REASON_MODEL_EXCLUDED,
    REASON_MODEL_NOT_WANTED,
    REASON_GPU_MEMORY,
    REASON_GPU_MEMORY_UNKNOWN,
    REASON_GPU_TOTAL,         /* even the empty node has too few */
    REASON_NAMESPACE_UNKNOWN, /* so its quotas are unknown, too: decide/quota.h */
    REASON_QUOTA,             /* of the pod's namespace: decide/quota.h */
    REASON_GPU_FREE,          /* too few are free now */
    REASON_GPU_NOMINATED,     /* free, but promised to another pod */
    REASON_GPU_KEPT,          /* free, but kept for a group by a plan: ledger/gangs.h */
    REASON_QUOTA_CLAIMED,     /* the rest of the quota is claimed by other pods: ledger/claims.h */
    REASON_CPU,
    REASON_MEMORY,
    REASON_PODS,
    REASON_RESOURCE, /* any other resource */
    /* In the order of kube-scheduler's plugins; of other pods: decide/peer_rules.h. */
    REASON_TOPOLOGY_SPREAD,
    REASON_POD_AFFINITY,
    REASON_POD_ANTI_AFFINITY,
    REASON_POD_REPELLED, /* by the anti-affinity of a pod there */
    /* Reasons of the pod's resource claims: decide/claim_rules.h. */
    REASON_CLAIM_MISSING,
    REASON_CLAIM_CLASS,     /* there is no such DeviceClass */
    REASON_CLAIM_ERROR,     /* kube-scheduler gives up the pod on all nodes */
    REASON_CLAIM_HOLDERS,   /* as many pods use it as may */
    REASON_CLAIM_ELSEWHERE, /* it is allocated, and its devices do not reach the node */
    REASON_CLAIM_TOTAL,     /* too few devices match, even if all were free */
    REASON_CLAIM_TAINTED,
    REASON_CLAIM_FREE, /* too few of those that match are free */
    REASON_CLAIM_NOT_JUDGED,
    N_REASONS
};

/* Every message starts with it. */
#define REASON_PREFIX "gpu-extender: "

/* Whether other pods on the nodes are the cause: affinity between pods, topology spread. */
static inline bool reason_is_of_peers(enum reason reason)
{
    return reason >= REASON_TOPOLOGY_SPREAD && reason <= REASON_POD_REPELLED;
}

/* Whether the pod's resource claims are the cause. */
static inline bool reason_is_of_claims(enum reason reason)
{
    return reason >= REASON_CLAIM_MISSING && reason <= REASON_CLAIM_NOT_JUDGED;
}

/* "gpu_free": for metrics and answers. */
const char *reason_name(enum reason reason);
/* The message on the wire, with REASON_PREFIX. */
const char *reason_message(enum reason reason);
/* The same for users, without the prefix. */
const char *reason_text(enum reason reason);
/* A sentence for users about what would help; "" for REASON_FITS. */
const char *reason_help(enum reason reason);

#endif
