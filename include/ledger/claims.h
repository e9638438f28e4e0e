/*
 * claim: GPUs of quotas that a pod is about to use, between filter and bind.
 *
 * kube-scheduler assumes a pod when it has chosen a node, and binds it later: it may wait at Permit
 * for the rest of its gang, or in PreBind for volumes. Meanwhile no object says so. So filter
 * claims the pod's share of its quotas, under the model of the node that it ranks first. Claims
 * count against other pods in filter only; a binding is judged by what is used, so a claim that was
 * wrong, missing or lost costs a retry and never a quota.
 *
 * A pod counts once: as bound, else reserved, else nominated (ledger/nominate.h), else claimed. So
 * its claim ends when it is bound, reserved, nominated, finished or deleted; and at the time that
 * the caller says, as the ledger has no clock. Claims are of this ledger alone: another replica has
 * none.
 */
#ifndef LEDGER_CLAIMS_H
#define LEDGER_CLAIMS_H

#include "ledger/cluster.h"

/* The oldest makes room for one more. A claim needs room in its quotas, so no tenant can have more
 * than its quotas allow; and a claim that is pushed out is harmless, as above. */
#define CLAIMS_MAX 4096

struct claim {
    const char *uid;
    const char *namespace_;
    uint64_t models; /* namespace_usage_models() of the node */
    int64_t until_ms;
    int64_t gpus[QUOTA_SCOPES_MAX];
};

struct claim_question {
    const struct pod_facts *pod; /* its identity, and what it asks for */
    const char *node_name;       /* whose model counts */
    uint64_t claims_version;     /* claims_version() when the quotas were judged */
    int64_t now_ms, until_ms;    /* of one clock */
};

/* Ends the pod's claim, if it has one, and those that have lapsed. Then makes a new one, for the
 * shape, but none for a pod that counts otherwise, or on a node that is not there. shape NULL: no
 * quota covers the pod, none is made. */
void claims_renew(struct cluster *cluster, const struct claim_question *question,
                  const struct pod_shape *shape);
/* Nothing happens where the pod has none. */
void claims_end(struct cluster *cluster, const char *uid);
bool claims_has(const struct cluster *cluster, const char *uid);
/* Grows with each claim that is made. */
uint64_t claims_version(const struct cluster *cluster);
/* All, from NULL to NULL, the oldest first. */
const struct claim *claims_next(const struct cluster *cluster, const struct claim *claim);

#endif
