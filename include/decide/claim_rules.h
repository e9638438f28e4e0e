/*
 * claim_rules: which nodes have the devices that the resource claims of a pod ask for.
 *
 * It judges as kube-scheduler's plugin DynamicResources does, with the allocator (dra/allocate.h),
 * over a copy of the cluster's devices (dra/device_copy.h). Placed pods take devices there.
 * kube-scheduler evicts no pod for claims. Each search is bounded, and so are all searches of an
 * answer together: beyond that, nodes are not judged. It takes milliseconds a node: never call it
 * with the ledger's lock.
 */
#ifndef DECIDE_CLAIM_RULES_H
#define DECIDE_CLAIM_RULES_H

#include "dra/device_copy.h"
#include "ledger/cluster.h"
#include "types/reason.h"

/* ---- claim takes ---- */
/* The takes of a pod's claims on a node, for ranking: the alternatives of firstAvailable, and
 * the GPUs that the allocator would give them there. */

/* GPUs of which no part was in use before: parts of a GPU that is broken up count as all of it. */
struct claim_take {
    const char *resource; /* that stands for them by the policy */
    int64_t gpus;         /* > 0 */
};
#define CLAIM_TAKES_MAX 4

struct claim_takes {
    /* The indices of the alternatives, summed: kube-scheduler prefers less. Source: computeScore()
     * in framework/plugins/dynamicresources/dynamicresources.go, 1.36. */
    size_t order;
    int64_t memory_bytes; /* of all devices, as far as known */
    struct claim_take items[CLAIM_TAKES_MAX];
    size_t n;
};

/* answer fits, and is about these claims. In the arena. */
const struct claim_takes *claim_takes_of(const struct device_copy *copy,
                                         const struct allocate_question *asked,
                                         const struct allocate_answer *answer, struct arena *arena);
/* Whether they take the same GPUs. */
bool claim_takes_are_alike(const struct claim_takes *a, const struct claim_takes *b);

/* ---- claim rules ---- */

struct claim_rules;

/* A claim that pods name, shared by all of them; or the claims that are made from a template. */
struct pod_claim {
    struct allocate_claim asked; /* without is_allocated and reaches_node */
    bool is_template;            /* each pod gets its own claim */
    bool needs_others;           /* devices of others (dra/device_copy.h) may change the verdict */
    enum reason fault;           /* why no node is judged; REASON_FITS: none */
    const char *cause;           /* of the fault, for users */
    bool is_allocated;
    struct node_selector nodes; /* of an allocation in the cluster */
    /* By a placed pod. NULL: none. */
    const struct claims_place *place;
    const char *waits; /* as claim_rules_waits() */
    size_t n_holders;  /* pods that use it */
    /* UIDs of some of them. */
    const char *const *known_holders;
    size_t n_known_holders;
};

/* The claims that a pod names, in its order. */
struct claims_of_pod {
    struct pod_claim *const *claims;
    size_t n;
    const char *uid; /* "": a new pod */
    int minor;       /* cluster_minor() */
    bool only_takes; /* are wanted: each refusal is REASON_CLAIM_TOTAL, without its cause */
};

/* Pods that may use a claim: resourceapi.ResourceClaimReservedForMaxSize. */
#define CLAIM_RULES_HOLDERS_MAX ((size_t)256)
/* Steps of an answer: about three quarters of a second. */
#define CLAIM_RULES_STEPS_MAX UINT64_C(150000000)

/* Borrows all but the list. copy NULL: all claims are allocated. steps_left: of the answer;
 * lowered, but a part is left to others. In the arena. NULL: the pod names no claims. */
struct claim_rules *claim_rules_of(const struct claims_of_pod *pod, struct device_copy *copy,
                                   uint64_t *steps_left, struct arena *arena);

/* REASON_FITS, or one of the reasons from REASON_CLAIM_MISSING on. rules NULL: fits. Remembers the
 * verdict. One thread at a time. */
enum reason claim_rules_judge(struct claim_rules *rules, const struct node *node);
/* Judges each node, so that claim_rules_judge() only looks up. */
void claim_rules_judge_all(struct claim_rules *rules, const struct cluster *cluster);
/* The cause of the last verdict of the node, for users; "": its reason says all. */
const char *claim_rules_cause(const struct claim_rules *rules, const struct node *node);
/* The cause that keeps the pod off all nodes, for users; "": there is none. */
const char *claim_rules_fault(const struct claim_rules *rules);

/* The pod's claims; rules NULL: 0. */
size_t claim_rules_n(const struct claim_rules *rules);
const struct pod_claim *claim_rules_claim(const struct claim_rules *rules, size_t i);
/* The want that a request gets on the node by the last verdict; SIZE_MAX: unknown. */
size_t claim_rules_alternative(const struct claim_rules *rules, const struct node *node,
                               size_t claim, size_t request);
/* The devices that they take on the node by the last verdict; NULL: unknown, or the pod does not
 * fit. */
const struct claim_takes *claim_rules_takes(const struct claim_rules *rules,
                                            const struct node *node);
/* Binding conditions of the devices that the claim gets on the node by the last verdict, for users:
 * kube-scheduler waits before it binds the pod until the driver has set them. NULL: none, or the
 * pod does not fit. */
const char *claim_rules_waits(const struct claim_rules *rules, const struct node *node,
                              size_t claim);
/* The choice in a request with alternatives; all are indices. */
struct claim_alternative {
    size_t claim, request, want;
};
/* As claim_rules_judge(), if the request had only that alternative. *ret_cause: for users; "": the
 * reason says all. */
enum reason claim_rules_judge_alternative(struct claim_rules *rules, const struct node *node,
                                          const struct claim_alternative *alternative,
                                          const char **ret_cause);

/* A further such pod runs on the node, if its devices are free there. */
void claim_rules_place(struct claim_rules *rules, const struct node *node);
/* The verdict of the node is REASON_CLAIM_ERROR, and the pod passed all that kube-scheduler asks
 * before: it gives up the pod, so no node fits any more. */
void claim_rules_abort(struct claim_rules *rules, const struct node *node);
/* Whether they hold for another pod that names the same claims, too: it is not given up, and no
 * claim has as many users as may be. */
bool claim_rules_are_reusable(const struct claim_rules *rules);
/* Whether a node was not judged because too much work was done. */
bool claim_rules_are_cut(const struct claim_rules *rules);

/* For a trial: a copy that pods are placed by, while the origin is not used. It spends at most a
 * quarter of the steps left. claim_rules_end_trial() gives back the devices. NULL: NULL. */
struct claim_rules *claim_rules_try(struct claim_rules *rules, struct arena *arena);
void claim_rules_end_trial(struct claim_rules *trial);
/* Whether each pod has claims of its own only. rules NULL: true. */
bool claim_rules_are_own(const struct claim_rules *rules);
/* Before a trial that begins anew: devices that were taken since the rules were made are free
 * again. Verdicts that they caused stay. The claims must be the pods' own. NULL: none. */
void claim_rules_give_back(struct claim_rules *rules);
/* The most devices that a request asks for; allocated claims and allocationMode All do not count.
 * rules NULL: 0. *ret_request: the name of the only request for several; NULL: there are others. */
int64_t claim_rules_most_devices(const struct claim_rules *rules, const char **ret_request);
/* In the trial, which has judged no node, each of these requests asks for at most so many. */
void claim_rules_limit_devices(struct claim_rules *trial, int64_t most);

#endif
