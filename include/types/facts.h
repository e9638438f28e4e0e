/*
 * facts: the parts of Kubernetes objects that the ledger uses, as plain values.
 *
 * objects/ reads them from JSON into a request's arena; the ledger copies what it keeps. The
 * structs own nothing that they point to. Arrays are in any order unless stated.
 */
#ifndef TYPES_FACTS_H
#define TYPES_FACTS_H

#include "types/gpu_model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct label {
    const char *key;
    const char *value;
};

/* An amount of one resource. Units: cpu in thousandths of a core, memory and ephemeral-storage in
 * bytes, all others in whole units. Every pod also needs 1 of "pods". A list has each resource
 * once. */
struct amount {
    const char *resource;
    int64_t amount;
};

enum taint_effect { TAINT_NO_SCHEDULE, TAINT_PREFER_NO_SCHEDULE, TAINT_NO_EXECUTE };

struct taint {
    const char *key;
    const char *value; /* "" if it has none */
    enum taint_effect effect;
};

enum toleration_operator { TOLERATION_EQUAL, TOLERATION_EXISTS };

struct toleration {
    const char *key; /* NULL: every key (only with TOLERATION_EXISTS) */
    const char *value;
    enum toleration_operator op;
    bool any_effect; /* effect is ignored then */
    enum taint_effect effect;
};

enum selector_operator {
    SELECTOR_IN,
    SELECTOR_NOT_IN,
    SELECTOR_EXISTS,
    SELECTOR_DOES_NOT_EXIST,
    SELECTOR_GREATER,
    SELECTOR_LESS
};

/* An expression over a node's labels, or (is_field) over metadata.name. */
struct requirement {
    const char *key;
    enum selector_operator op;
    const char *const *values;
    size_t n_values;
    bool is_field;
    /* Not NULL: In/NotIn compare model names, n_values of them, in parallel to values; one without
     * a chip is compared as text. Only for model labels in the legacy annotation. */
    const struct gpu_model *models;
};

/* All requirements must hold. */
struct selector_term {
    const struct requirement *requirements;
    size_t n_requirements;
};

/* Required node affinity: one of the terms must hold. A term without requirements matches no node
 * (Kubernetes API, NodeSelectorTerm). A selector that is present without terms matches none
 * either. */
struct node_selector {
    bool present;
    const struct selector_term *terms;
    size_t n_terms;
};

/* A term without requirements matches no node. (By PreferredSchedulingTerm it matches all, but
 * Kubernetes' validation and scoring skip it; the order is the same.) */
struct preferred_term {
    int64_t weight; /* 1..100 */
    struct selector_term term;
};

/* A pod's wishes for the GPU model (annotations gpu-extender.io/...). */
struct model_wants {
    const struct gpu_model *accept; /* one of them, in order of preference; none: any */
    size_t n_accept;
    const struct gpu_model *exclude;
    size_t n_exclude;
    int64_t min_memory_bytes; /* 0: no minimum */
};

/* The domains of topology that a job's pods should share (annotation gpu-extender.io/domain). */
enum domain_rule { DOMAIN_ANY, DOMAIN_REQUIRE, DOMAIN_PREFER };
struct domain_wish {
    enum domain_rule rule;
    size_t level; /* index in policy.topology_levels */
};

/* Whether a part of a GPU may replace a whole one (annotation gpu-extender.io/allow-shared). */
enum allow_shared { ALLOW_SHARED_BY_POLICY, ALLOW_SHARED_YES, ALLOW_SHARED_NO };

/* The policy's limit that a shape exceeds: ledger/shape_limits.h. */
enum shape_limit { SHAPE_LIMIT_NONE, SHAPE_LIMIT_POD, SHAPE_LIMIT_SUM, N_SHAPE_LIMITS };

/* The part of a pod that decides where it may go: equal pods share a shape. */
struct shape_facts {
    /* Not SHAPE_LIMIT_NONE: some fields below were dropped, so the pod cannot be judged
     * completely. */
    enum shape_limit over;
    bool demand_only; /* only demand is kept; only if over a limit */
    /* Effective requests, each > 0, sorted by resource, including "pods". */
    const struct amount *demand;
    size_t n_demand;
    struct selector_term node_selector;     /* spec.nodeSelector; no requirements: every node */
    struct node_selector affinity;          /* spec.affinity.nodeAffinity, required */
    struct node_selector legacy_affinity;   /* scheduler.alpha.kubernetes.io/affinity, required */
    const struct preferred_term *preferred; /* of both */
    size_t n_preferred;
    const struct toleration *tolerations;
    size_t n_tolerations;
    struct model_wants wants;
    enum allow_shared allow_shared;
};

/* A term of required affinity or anti-affinity between pods (core/v1 PodAffinityTerm), with
 * matchLabelKeys and mismatchLabelKeys merged into the selector. */
struct peer_term {
    const char *topology_key;
    bool selects_none; /* has no labelSelector */
    struct selector_term selector;
    const char *const *namespaces; /* none, and no namespace_selector: the pod's own */
    size_t n_namespaces;
    bool selects_namespaces;
    struct selector_term namespace_selector; /* no requirements: every namespace */
};

/* A topology spread constraint with whenUnsatisfiable DoNotSchedule, with matchLabelKeys merged. */
struct spread_constraint {
    const char *topology_key;
    bool selects_none; /* has no labelSelector */
    struct selector_term selector;
    int64_t max_skew;
    int64_t min_domains;
    bool ignores_affinity; /* nodeAffinityPolicy Ignore */
    bool honors_taints;    /* nodeTaintsPolicy Honor */
};

/* The part of a pod that decides which pods may be near each other. The verbs judge none of it. */
struct peer_facts {
    const struct label *labels; /* sorted by key */
    size_t n_labels;
    const struct peer_term *affinity; /* required; a node must satisfy all */
    size_t n_affinity;
    const struct peer_term *anti_affinity; /* required */
    size_t n_anti_affinity;
    const struct spread_constraint *spread;
    size_t n_spread;
};

#define POD_CLAIMS_MAX 32

/* status.qosClass. */
enum pod_qos { QOS_UNKNOWN, QOS_GUARANTEED, QOS_BURSTABLE, QOS_BEST_EFFORT };

/* Why a kubelet rejected a pod. */
enum refusal {
    REFUSAL_OTHER,    /* CPU, memory, the pod's own requirements */
    REFUSAL_DEVICES,  /* UnexpectedAdmissionError: devices could not be allocated */
    REFUSAL_GPUS,     /* OutOf a GPU resource: the kubelet has fewer than the Node reports */
    REFUSAL_TOPOLOGY, /* TopologyAffinityError: the shape does not fit the NUMA layout now */
    N_REFUSALS
};

/* A pod in phase Failed. No ledger keeps it. */
struct failed_pod_facts {
    const char *uid;
    enum refusal refusal;
    bool has_run;        /* a kubelet had accepted it: it has reported containers */
    bool is_bound_by_us; /* it has the annotation of our bindings */
};

struct pod_facts {
    const char *uid; /* the key of the pod */
    const char *namespace_;
    const char *name;
    const char *node_name;      /* "" while it has none */
    const char *nominated_node; /* status.nominatedNodeName, "" if none */
    const char *priority_class; /* "" if none */
    bool finished;              /* phase Succeeded or Failed: uses nothing */
    bool terminating;           /* being deleted: uses its resources until it is gone */
    bool gated;                 /* has scheduling gates */
    /* For disruption budgets, if the pod has a node: condition Ready is True; phase Pending. */
    bool ready, unstarted;
    enum pod_qos qos;
    bool never_preempts;   /* preemptionPolicy Never; no ledger keeps it */
    bool soft_preferences; /* its spec has preferences that kube-scheduler scores by */
    /* Hash of its resourceVersion: the same object. 0: none, or a verb may read the object
     * otherwise. */
    uint64_t version;
    bool lacks_peers;     /* a ledger had no room for its labels or terms, or could not read them */
    bool lacks_own_terms; /* the same of own_terms in struct pod */
    uint32_t made_claims; /* bit I: the pod's status names the claim of line I of claims */
    /* UID of the ReplicaSet, StatefulSet or ReplicationController that it is a replica of; NULL or
     * "": none, as for pods of Jobs. */
    const char *replica_of;
    int64_t priority;
    int64_t created_s; /* seconds since 1970; 0 if unknown */
    int64_t started_s; /* status.startTime, which the kubelet sets; the same unit; 0: not yet */
    /* Not NULL: the pod is invalid and can run nowhere (a GPU request that differs from its limit,
     * an unreadable annotation). Its resources still count as used. */
    const char *refusal;
    /* status.extendedResourceClaimStatus.resourceClaimName: the claim that kube-scheduler made for
     * extended resources that the pod requests (KEP-5004). NULL: none. */
    const char *extended_claim;
    /* Names of the claims that spec.resourceClaims asks for, each once and ended by a newline.
     * "/TEMPLATE": a claim that is not made from this template yet, so a line may be repeated. An
     * empty line: claims whose names are not known. At most POD_CLAIMS_MAX lines. NULL: none.
     */
    const char *claims;
    /* The same lines, with "/TEMPLATE" in place of each of made_claims. No ledger keeps it. */
    const char *templates;
    /* Condition PodScheduled of a pod without a node, if it is False. Both NULL: no such condition,
     * or the pod has a node or is finished. */
    const char *unscheduled_reason;  /* "Unschedulable" */
    const char *unscheduled_message; /* "0/4 nodes are available: ..." */
    /* The controlling owner: "Job/train". NULL: none, or the pod is finished. */
    const char *controller;
    const char *group; /* spec.schedulingGroup.podGroupName; NULL: none */
    /* Annotations gpu-extender.io/gang and gang-size, of a pod without such a group. NULL and 0:
     * none, or the policy has no gangs. */
    const char *gang;
    int64_t gang_size;
    const char *domain;    /* annotation gpu-extender.io/domain of such a pod; NULL: none */
    const char *scheduler; /* of such a pod, unless it is the default one; else NULL */
    /* Features of a pod without a node that are not judged, each line ended by a newline. NULL:
     * none, or the pod has a node or is finished. */
    const char *not_evaluated;
    struct shape_facts shape;
    struct peer_facts peers;
};

struct node_facts {
    const char *name;
    const char *uid; /* NULL or "" if not given, as in many files */
    const struct label *labels;
    size_t n_labels;
    const struct taint *taints;
    size_t n_taints;
    const struct amount *capacity;
    size_t n_capacity;
    const struct amount *allocatable;
    size_t n_allocatable;
    bool unschedulable; /* spec.unschedulable: cordoned */
    bool ready;         /* condition Ready is True */
    /* Other conditions that tell of a problem (objects/node.h), each line ended by a
     * newline. NULL or "": none. */
    const char *conditions;
    /* Hashes, 0 if absent: status.nodeInfo.bootID, and the annotation by which an operator ends a
     * quarantine. The ledger only notices their changes. */
    uint64_t boot_id, lifted;
};

/* A PodDisruptionBudget (policy/v1). */
struct budget_facts {
    const char *namespace_, *name;
    bool selects_none; /* it has no selector */
    bool is_cut;       /* a ledger had no room for its selector */
    struct selector_term selector;
    bool frees_unready;       /* unhealthyPodEvictionPolicy is AlwaysAllow */
    bool is_outdated;         /* its status is older than its spec, or missing */
    int64_t allowed;          /* status.disruptionsAllowed */
    int64_t healthy, desired; /* status.currentHealthy, status.desiredHealthy */
};

/* A PodGroup of scheduling.k8s.io. */
struct pod_group_facts {
    const char *namespace_, *name;
    int64_t min_count; /* of the policy gang: so many members at once, or none; 0: policy basic */
};

/* scheduling.k8s.io/v1 PriorityClass. */
struct priority_class_facts {
    const char *name;
    int64_t value;
    bool is_default;     /* globalDefault: for pods without a class */
    bool never_preempts; /* preemptionPolicy Never */
};

/* An object of which only the name is read; "namespace/name" if it has a namespace. */
struct name_facts {
    const char *name;
};

struct namespace_facts {
    const char *name;
    const struct label *labels;
    size_t n_labels;
};

/* Whether it restricts where the pod may go, given other pods. */
bool peer_facts_have_terms(const struct peer_facts *facts);
/* The demand for one resource; 0 without one. */
int64_t shape_demand(const struct shape_facts *shape, const char *resource);
/* Most comparisons that a node may cost: requirements and their values. */
size_t term_comparisons(const struct selector_term *term);
/* The same for all required terms of a pod; preferred ones do not count. */
size_t shape_comparisons(const struct shape_facts *shape);

#endif
