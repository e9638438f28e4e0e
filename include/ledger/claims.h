/*
 * claim: GPUs of quotas that a pod is about to use, between filter and bind. Not a ResourceClaim:
 * those are in dra/ and claim_usage.h.
 *
 * kube-scheduler assumes a pod on a node first and binds it later. Meanwhile the pod may wait at
 * Permit for the rest of its gang, or in PreBind for volumes, and no API object shows the choice.
 * So filter claims the pod's share of its quotas, under the model of the node that it ranks first.
 * Claims count against other pods in filter only. bind counts actual use, so a wrong, missing or
 * lost claim costs a retry but never exceeds a quota.
 *
 * When the first member of a group (ledger/pod_groups.h) is bound, the claims of those that must
 * follow become firm for a while: these count in bind, too, so that no other pod takes their quota
 * between two bindings of a group.
 *
 * A pod counts once: as bound, else reserved, else nominated (ledger/nominate.h), else claimed. So
 * its claim ends when it is bound, reserved, nominated, finished, terminating or deleted, and at
 * until_ms by the caller's clock. Claims belong to this ledger alone: another replica has none.
 */
#ifndef LEDGER_CLAIMS_H
#define LEDGER_CLAIMS_H

#include "ledger/cluster.h"

/* When full, a new claim replaces the oldest. A claim needs room in its quotas, so no tenant can
 * claim more than its quotas allow; and losing a claim is harmless, as above. */
#define CLAIMS_MAX 4096

struct claim {
    const char *uid;
    const char *namespace_;
    const char *node_name;
    uint64_t models; /* namespace_usage_models() */
    int64_t until_ms;
    int64_t firm_until_ms; /* at most until_ms; 0: never firm */
    uint64_t version;      /* claims_version() when it was made */
    int64_t gpus[QUOTA_SCOPES_MAX];
    /* GPUs that resource claims will get for it at least, until these count themselves. */
    int64_t by_claims[QUOTA_SCOPES_MAX];
    bool names_claims; /* the pod names resource claims */
    int64_t priority;  /* of the pod */
};

struct claim_question {
    const struct pod_facts *pod; /* its identity and demand */
    const char *node_name;       /* its model counts */
    uint64_t claims_version;     /* claims_version() from when the quotas were judged */
    int64_t now_ms, until_ms;    /* on one clock */
};

/* Ends the pod's claim, and every expired one. Then makes a new one, as firm as that one, unless
 * the pod counts otherwise, its group may make none, or the node does not exist. shape: the pod's,
 * resolved against the ledger; NULL: no quota covers the pod, so no new claim. */
void claims_renew(struct cluster *cluster, const struct claim_question *question,
                  const struct pod_shape *shape);
/* Makes the claim of an unbound pod firm until then. A pod without one gets one, under the models
 * of the node; NULL: under none, so that only totals count it. Makes none for a pod that needs no
 * GPUs, or is nominated. A claim of another node keeps that node's models. */
void claims_hold(struct cluster *cluster, const struct pod *pod, const struct node *node,
                 int64_t now_ms, int64_t firm_until_ms);
/* Does nothing without a claim. */
void claims_end(struct cluster *cluster, const char *uid);
bool claims_has(const struct cluster *cluster, const char *uid);
/* NULL: none. It may have expired. */
const struct claim *claims_find(const struct cluster *cluster, const char *uid);
/* Grows with each new claim that counts. */
uint64_t claims_version(const struct cluster *cluster);
/* Iterates over all, the oldest first: NULL to NULL. */
const struct claim *claims_next(const struct cluster *cluster, const struct claim *claim);

#endif
