/*
 * policy: the operator's settings for placement. config/ reads them from
 * config/scheduler-policy.yaml; decisions get them as a constant.
 *
 * A reload replaces the policy in force. Each policy counts its holders; the last one frees it. A
 * replaced policy holds its successor. So the holder of a policy may also read every later one.
 */
#ifndef TYPES_POLICY_H
#define TYPES_POLICY_H

#include "base/arena.h"
#include "base/err.h"
#include "types/facts.h"
#include "types/gpu_label.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum placement_policy {
    PLACEMENT_SLOT_PRICE,
    PLACEMENT_BINPACK,
    PLACEMENT_SPREAD,
    PLACEMENT_FGD,
    N_PLACEMENT_POLICIES
};

/* The ranking among fitting nodes for a pod with soft preferences. */
enum soft_preferences {
    SOFT_PREFERENCES_DEFER,    /* kube-scheduler's, by those preferences */
    SOFT_PREFERENCES_OVERRIDE, /* ours */
    N_SOFT_PREFERENCES
};

/* Whether calls of kube-scheduler are decided, or only judged and recorded. */
enum policy_mode {
    MODE_ENFORCE,
    MODE_OBSERVE, /* nothing keeps or delays a pod: docs/OPERATIONS.md */
    N_POLICY_MODES
};

/* Groups of pods by annotation (ledger/gangs.h). */
enum gangs_mode {
    GANGS_OFF,
    GANGS_OBSERVE, /* their states are shown, and nothing else */
    GANGS_PLAN,    /* only with MODE_ENFORCE */
    N_GANGS_MODES
};

struct gangs_policy {
    enum gangs_mode mode;
    size_t max_size;          /* at most GANG_SIZE_MAX */
    int64_t kept_share_milli; /* of a model's GPUs that plans may keep together */
    const char *domain;       /* of groups that ask for none, as in pod_facts; "": none */
    size_t forming_s;         /* an incomplete group is awaited for so long */
    /* Whose groups count beside ours (objects/annotations.c), the first first: "kueue",
     * "lws/NAMESPACE". */
    char **conventions;
    size_t n_conventions; /* at most GANG_CONVENTIONS_MAX */
};
#define GANG_SIZE_MAX 512
#define GANG_CONVENTIONS_MAX 32

/* Formula: docs/PLACEMENT.md. In thousandths, so that printed values equal parsed ones. */
struct slot_price_policy {
    int64_t pressure_weight_milli; /* lambda */
    int64_t drain_weight_milli;    /* mu */
    /* Assumed demand before any is seen: GPUs, and the part of them confined to one model, spread
     * evenly over the models. */
    int64_t prior_gpus_milli; /* > 0 */
    int64_t prior_confined_milli;
};

#define QUOTAS_MAX 1000
#define QUOTA_MODELS_MAX 63 /* different model names in all quotas together */
/* Bit of policy_quota_models(): the model is unknown. */
#define QUOTA_MODEL_UNKNOWN (UINT64_C(1) << QUOTA_MODELS_MAX)
#define QUOTA_SCOPES_MAX 16 /* different resource names, likewise */
#define QUOTA_GPUS_MAX 1000000
#define QUOTA_PRIORITIES_MAX 4 /* different borrow.max_priority, likewise */

/* GPUs that pods may use beyond the guarantee, while they are idle. */
struct quota_borrow {
    bool is_set;
    int64_t gpus;
    int64_t max_priority; /* pods of at most this priority count here, and not to the guarantee */
    size_t layer;         /* as scope: 1 + index in policy.quota_priorities; 0: not set */
};

/* At most so many GPUs, of one model or of all. */
struct quota_limit {
    const char *resource; /* as in gpu_resources, also with '*'; NULL: all GPU resources together */
    const char *model;    /* as written; NULL: all models together */
    int64_t gpus;
    struct quota_borrow borrow;
    /* Set by policy_add_quota(): the cell that counts its GPUs. */
    size_t scope;  /* in policy.quota_scopes */
    size_t column; /* 0: all models; else 1 + index in policy.quota_models */
};

/* GPUs that a group of namespaces may use together. */
struct quota {
    const char *name;
    /* By name or by label. An unknown namespace has no labels. */
    const char *const *namespaces;
    size_t n_namespaces;
    bool has_selector;
    struct selector_term selector; /* without requirements: every namespace */
    const struct quota_limit *limits;
    size_t n_limits;
    /* Set by policy_add_quota(): messages of rejections (decide/fit.h). */
    const char *refusal_in_total[2]; /* [1]: of pods that may only borrow */
    const char *refusal_of_model[2];
};

/* Whether sick nodes are avoided: docs/PLACEMENT.md. */
enum avoidance {
    AVOIDANCE_OBSERVE, /* only counted and shown */
    AVOIDANCE_AVOID,
    AVOIDANCE_OFF,
    N_AVOIDANCES
};

/* At most so many nodes of a model: the larger of the two. */
struct avoidance_cap {
    int64_t share_milli; /* of the model's nodes, in thousandths */
    size_t nodes;
};

/* Nodes whose kubelets reject pods of several tenants. */
struct quarantine_policy {
    enum avoidance mode;
    size_t owners, namespaces; /* that many must have lost pods within window_s */
    size_t window_s;
    size_t settle_s;               /* no evidence counts so long after a change of the node */
    size_t first_min, longest_min; /* minutes; each further time is twice as long */
    struct avoidance_cap cap;
};

/* Nodes whose NUMA layout does not fit pods of some shape now. */
struct shape_trap_policy {
    enum avoidance mode;
    struct avoidance_cap cap;
};

#define DEVICE_DRIVERS_MAX 64
#define TOPOLOGY_LEVELS_MAX 4

/* A driver of dynamic resource allocation (DRA) whose devices are GPUs. */
struct device_driver {
    char *name;            /* "gpu.nvidia.com" */
    char *model_attribute; /* of its devices, in the driver's own domain: "productName" */
    char *resource;        /* extended resource of the same GPUs: "nvidia.com/gpu"; "": none */
};

/* All strings are owned by the policy. */
struct policy {
    enum policy_mode mode;
    /* With MODE_OBSERVE: the namespaces whose pods are treated as with MODE_ENFORCE. */
    struct namespace_choice {
        bool is_set; /* false: none */
        struct selector_term selector;
        struct arena *arena; /* of the selector */
    } enforce_namespaces;
    /* Resource names that count GPUs; a trailing '*' makes a prefix ("nvidia.com/mig-*"). */
    char **gpu_resources;
    size_t n_gpu_resources;
    /* schedulerName of the profiles whose kube-scheduler calls this extender; at least one. */
    char **schedulers;
    size_t n_schedulers;
    /* Node labels with the model; the first whose value names one decides. */
    char **model_labels;
    size_t n_model_labels;
    struct gpu_model_alias *aliases;
    size_t n_aliases;
    /* Keys of node labels that name domains, such as racks, outer to inner: ledger/pod_groups.h. */
    char **topology_levels;
    size_t n_topology_levels; /* at most TOPOLOGY_LEVELS_MAX */
    /* The policy's models.units. */
    struct gpu_label *units;
    size_t n_units; /* at most GPU_LABELS_MAX */
    /* Devices of other drivers do not count as GPUs. */
    struct device_driver *device_drivers;
    size_t n_device_drivers; /* at most DEVICE_DRIVERS_MAX */
    /* Adds to every GPU pod the toleration that Kubernetes' admission plugin
     * ExtendedResourceToleration would add: key = resource name, operator Exists. */
    bool extended_resource_toleration;
    /* Adds to every pod of a manifest the tolerations that Kubernetes' admission plugin
     * DefaultTolerationSeconds would add. */
    bool default_toleration_seconds;
    /* kube-scheduler calls this extender about every pod: it has no managedResources. Else only
     * about pods that name one of gpu_resources. */
    bool all_pods;
    /* Default for pods without the annotation: shared or sliced GPUs count as whole ones. */
    bool allow_shared;
    bool quotas_select; /* a quota selects namespaces by label */
    enum placement_policy placement;
    enum soft_preferences soft_preferences;
    struct slot_price_policy slot_price;
    struct quarantine_policy quarantine;
    struct shape_trap_policy shape_trap;
    int64_t replica_spread_milli; /* cost, in GPUs, of all replicas on one node */
    size_t object_values;         /* most values of one object that is decoded */
    size_t pod_shape_bytes;       /* most bytes kept of one pod's shape: ledger/shape_limits.h */
    size_t pod_shapes_bytes;      /* the same for all shapes together */
    /* Of slices of the drivers above, as devices_slice_bytes() counts: of one node, of one driver,
     * and of all. */
    size_t node_slices_bytes, driver_slices_bytes, slices_bytes;
    struct quota *quotas;
    size_t n_quotas;
    /* Models and resources in the limits, each once. Scope NULL: all GPU resources. */
    struct gpu_model quota_models[QUOTA_MODELS_MAX];
    const char *quota_model_names[QUOTA_MODELS_MAX];
    size_t n_quota_models;
    const char *quota_scopes[QUOTA_SCOPES_MAX];
    size_t n_quota_scopes;
    int64_t quota_priorities[QUOTA_PRIORITIES_MAX]; /* of borrow.max_priority, each once */
    size_t n_quota_priorities;
    struct arena
        *arena; /* memory of the quotas; callers of policy_add_quota() allocate parts here */
    struct gangs_policy gangs;
    size_t shortlist;     /* most nodes that filter returns; 0: all that fit, the default */
    size_t quota_claim_s; /* lifetime of filter's claims on quotas; 0: no claims, the default */

    size_t n_holders;         /* changed by atomic builtins only */
    struct policy *successor; /* held; NULL: not replaced */
    /* Frees the policy once no one holds it; NULL: its owner calls policy_fini(). */
    void (*unheld)(struct policy *policy);
};

/* Sets the built-in defaults. config/scheduler-policy.yaml has the same; a test compares them. */
void policy_init(struct policy *ret_policy);
void policy_fini(struct policy *policy);

/* From any thread. Each hold needs one drop, possibly on another thread. */
const struct policy *policy_hold(const struct policy *policy);
void policy_drop(const struct policy *policy);
/* policy_drop() for CLEANUP; of NULL nothing. */
void policy_drop_ptr(const struct policy **policy);
/* policy is replaced by the successor, and holds it from now on. Call it once for a policy; with
 * the policy itself it does nothing. */
void policy_succeed(const struct policy *policy, const struct policy *successor);

/* Equal, or matched by a pattern with a trailing '*'. */
bool policy_resource_matches(const char *pattern, const char *resource);
bool policy_is_gpu_resource(const struct policy *policy, const char *resource);
/* The name by which kube-scheduler sends pods with resource claims: they ask for none of it. */
#define POLICY_CLAIMS_MARKER "gpu-extender.io/claims"
/* A resource that every node has, or a GPU resource that the policy names exactly, not by a
 * pattern. Tenants cannot invent such names. So a node has a row for it once one of its pods
 * requests it; for other resources only while the node reports them. */
bool policy_is_common_resource(const struct policy *policy, const char *resource);
/* schedulerName of a pod that names none. Source: DefaultSchedulerName in k8s.io/api/core/v1. */
#define POLICY_DEFAULT_SCHEDULER "default-scheduler"
/* Whether pods with this schedulerName come here. */
bool policy_is_asked_by(const struct policy *policy, const char *scheduler);
/* The part after the '/' of the level's label key, for people: "gce-topology-block". */
const char *policy_level_name(const struct policy *policy, size_t level);
/* "require LEVEL" or "prefer LEVEL": a key of topology.levels, or the part after its '/'; of
 * several, the innermost. False: another text. */
bool policy_read_domain(const struct policy *policy, const char *text,
                        struct domain_wish *ret_wish);
bool policy_is_model_label(const struct policy *policy, const char *key);
/* The driver of that name; NULL: its devices are no GPUs. */
const struct device_driver *policy_device_driver(const struct policy *policy, const char *name);
/* The strings are copied. The name must be new, and DEVICE_DRIVERS_MAX not reached. */
void policy_add_device_driver(struct policy *policy, const char *name, const char *model_attribute,
                              const char *resource);
void policy_clear_device_drivers(struct policy *policy);
/* The strings are copied. GPU_LABELS_MAX must not be reached. */
void policy_add_unit(struct policy *policy, const struct gpu_label *row);
void policy_clear_units(struct policy *policy);

/* Its parts must be in policy->arena. Model names are parsed with the policy's aliases, so set
 * these first. -E2BIG: above one of the maximums. */
int policy_add_quota(struct policy *policy, const struct quota *quota, struct err *err);
/* Removes all quotas and frees their memory in the arena. */
void policy_clear_quotas(struct policy *policy);
/* Whether the quota covers the namespace; labels must be sorted by key. */
bool policy_quota_covers(const struct quota *quota, const char *namespace_,
                         const struct label *labels, size_t n_labels);
/* The GPU's matches in policy.quota_models, as bits; QUOTA_MODEL_UNKNOWN without a model. */
uint64_t policy_quota_models(const struct policy *policy, const struct gpu_model *have,
                             int64_t memory_bytes);
/* The policy.quota_scopes that count the resource, as bits; 0 for other than GPU resources. */
uint64_t policy_quota_scopes(const struct policy *policy, const char *resource);

/* Whether enforce_namespaces selects an existing namespace; labels must be sorted by key. */
bool policy_enforces(const struct policy *policy, const struct label *labels, size_t n_labels);

/* "observe"; NULL past the end. */
const char *policy_mode_name(enum policy_mode mode);
/* "avoid"; NULL past the end. */
const char *avoidance_name(enum avoidance avoidance);
/* "plan"; NULL past the end. */
const char *gangs_mode_name(enum gangs_mode mode);
/* "binpack"; NULL past the end. */
const char *placement_policy_name(enum placement_policy placement);
/* "defer"; NULL past the end. */
const char *soft_preferences_name(enum soft_preferences soft_preferences);

/* ---- accelerator ---- */
/* Resource names of accelerators that are known, whether the policy counts them as GPUs or not.
 * Extended resources have no type, so only a list tells an accelerator from a network function.
 * docs/MODELS.md has the sources. */

/* Whether the resource counts accelerators, or shares or slices of them, and the policy does not
 * list it. Names that nobody knows, and amounts of memory or percentages, are none. */
bool accelerator_is_unlisted(const struct policy *policy, const char *resource);

#endif
