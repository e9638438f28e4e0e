/*
 * facts: what the ledger knows of Kubernetes' objects, as plain values.
 *
 * objects/ reads them out of JSON into a request's arena; the ledger copies what it keeps. Nothing
 * here is owned by the struct that points to it. Arrays may be in any order unless said.
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

/* How much of one resource. Units: cpu in thousandths of a core, memory and ephemeral-storage in
 * bytes, all others in whole units. Every pod also needs 1 of "pods". A list names a resource once.
 */
struct amount {
    const char *resource;
    int64_t amount;
};

enum taint_effect { TAINT_NO_SCHEDULE, TAINT_PREFER_NO_SCHEDULE, TAINT_NO_EXECUTE };

struct taint {
    const char *key;
    const char *value; /* "" where there is none */
    enum taint_effect effect;
};

enum toleration_operator { TOLERATION_EQUAL, TOLERATION_EXISTS };

struct toleration {
    const char *key; /* NULL: every key (only with TOLERATION_EXISTS) */
    const char *value;
    enum toleration_operator op;
    bool any_effect; /* then effect says nothing */
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

/* One expression over a node's labels, or (is_field) over metadata.name. */
struct requirement {
    const char *key;
    enum selector_operator op;
    const char *const *values;
    size_t n_values;
    bool is_field;
    /* Not NULL: In/NotIn compare model names, n_values of them, beside values; one without a chip
     * is compared as text. Only the legacy annotation's requirements on a model label have it. */
    const struct gpu_model *models;
};

/* All requirements must hold. */
struct selector_term {
    const struct requirement *requirements;
    size_t n_requirements;
};

/* Node affinity, required: one of the terms must hold. A term without requirements matches no node
 * (Kubernetes API, NodeSelectorTerm), and neither does a selector that is present without terms. */
struct node_selector {
    bool present;
    const struct selector_term *terms;
    size_t n_terms;
};

/* A term without requirements matches no node here too (PreferredSchedulingTerm: every
 * node, but Kubernetes' validation and scoring skip it; it changes no order). */
struct preferred_term {
    int64_t weight; /* 1..100 */
    struct selector_term term;
};

/* What a pod asks of the GPU model (annotations gpu-extender.io/...). */
struct model_wants {
    const struct gpu_model *accept; /* one of them, in order of preference; none: any */
    size_t n_accept;
    const struct gpu_model *exclude;
    size_t n_exclude;
    int64_t min_memory_bytes; /* 0: no minimum */
};

/* Whether a part of a GPU will do where a whole one is asked for (annotation
 * gpu-extender.io/allow-shared). */
enum allow_shared { ALLOW_SHARED_BY_POLICY, ALLOW_SHARED_YES, ALLOW_SHARED_NO };

/* Which limit of the policy a shape is over: ledger/shape_limits.h. */
enum shape_limit { SHAPE_LIMIT_NONE, SHAPE_LIMIT_POD, SHAPE_LIMIT_SUM, N_SHAPE_LIMITS };

/* What of a pod decides where it may go: pods that are equal in all of this share a shape. */
struct shape_facts {
    /* Not SHAPE_LIMIT_NONE: some of what follows was left out, and the pod cannot be judged whole.
     */
    enum shape_limit over;
    bool demand_only; /* nothing but demand is kept of it; only where it is over a limit */
    /* Effective requests, > 0 each, sorted by resource; "pods" among them. */
    const struct amount *demand;
    size_t n_demand;
    struct selector_term node_selector;     /* spec.nodeSelector: all, none = every node */
    struct node_selector affinity;          /* spec.affinity.nodeAffinity, required */
    struct node_selector legacy_affinity;   /* scheduler.alpha.kubernetes.io/affinity, required */
    const struct preferred_term *preferred; /* of both */
    size_t n_preferred;
    const struct toleration *tolerations;
    size_t n_tolerations;
    struct model_wants wants;
    enum allow_shared allow_shared;
};

struct pod_facts {
    const char *uid; /* the key of everything about a pod */
    const char *namespace_;
    const char *name;
    const char *node_name;      /* "" while it has none */
    const char *nominated_node; /* status.nominatedNodeName, "" if none */
    const char *priority_class; /* "" if none */
    bool finished;              /* phase Succeeded or Failed: uses nothing */
    bool terminating;           /* being deleted: uses what it has until it is gone */
    bool gated;                 /* has scheduling gates */
    bool never_preempts;        /* preemptionPolicy Never; no ledger keeps it */
    /* Its spec says where it would rather be, in words that kube-scheduler scores by. The ledger
     * does not keep it. */
    bool soft_preferences;
    /* The UID of the ReplicaSet, StatefulSet or ReplicationController whose replica it is; NULL or
     * "": of none (pods of Jobs are none). */
    const char *replica_of;
    int64_t priority;
    int64_t created_s; /* seconds since 1970; 0 if unknown */
    /* Not NULL: it can run nowhere, and why (a GPU request that is not its limit, an annotation
     * that can't be read). It still uses what it uses. */
    const char *refusal;
    /* What kube-scheduler says of a pod without a node: its condition PodScheduled, where that is
     * False. NULL, both of them: it says nothing, or the pod has a node, or is finished. */
    const char *unscheduled_reason;  /* "Unschedulable" */
    const char *unscheduled_message; /* "0/4 nodes are available: ..." */
    /* What a pod without a node uses that is not judged, a '\n' behind each line. NULL: nothing, or
     * the pod has a node, or is finished. */
    const char *not_evaluated;
    struct shape_facts shape;
};

struct node_facts {
    const char *name;
    const char *uid; /* NULL or "" where it is not said, as in many files */
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
};

struct namespace_facts {
    const char *name;
    const struct label *labels;
    size_t n_labels;
};

/* The demand for one resource, 0 if there is none. */
int64_t shape_demand(const struct shape_facts *shape, const char *resource);
/* How many comparisons a node may cost at the most: requirements and their values. */
size_t term_comparisons(const struct selector_term *term);
/* The same of all that a pod requires of a node; what it prefers is not counted. */
size_t shape_comparisons(const struct shape_facts *shape);

#endif
