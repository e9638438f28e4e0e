/*
 * policy: what the operator decides about placement. Read from config/scheduler-policy.yaml by
 * config/, given to every decision as a constant.
 */
#ifndef TYPES_POLICY_H
#define TYPES_POLICY_H

#include "base/arena.h"
#include "base/err.h"
#include "types/facts.h"

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

/* Who decides among the nodes that a pod with soft preferences fits. */
enum soft_preferences {
    SOFT_PREFERENCES_DEFER,    /* kube-scheduler, by them */
    SOFT_PREFERENCES_OVERRIDE, /* we do */
    N_SOFT_PREFERENCES
};

/* docs/PLACEMENT.md has the formula. In thousandths, so that what is printed is what is read. */
struct slot_price_policy {
    int64_t pressure_weight_milli; /* lambda */
    int64_t drain_weight_milli;    /* mu */
    /* Demand that is assumed before any is seen: GPUs, and the part of them that may go to one
     * model only, every model alike. */
    int64_t prior_gpus_milli; /* > 0 */
    int64_t prior_confined_milli;
};

#define QUOTAS_MAX 1000
#define QUOTA_MODELS_MAX 63 /* different names of models, in all quotas together */
/* Among the bits of policy_quota_models(): the model is unknown. */
#define QUOTA_MODEL_UNKNOWN (UINT64_C(1) << QUOTA_MODELS_MAX)
#define QUOTA_SCOPES_MAX 16 /* different names of resources, likewise */
#define QUOTA_GPUS_MAX 1000000

/* So many GPUs at the most, of one model or of all. */
struct quota_limit {
    const char *resource; /* as in gpu_resources, '*' too; NULL: all GPU resources together */
    const char *model;    /* as written; NULL: all models together */
    int64_t gpus;
    /* Set by policy_add_quota(): where its GPUs are counted. */
    size_t scope;  /* in policy.quota_scopes */
    size_t column; /* 0: all models; else 1 + its place in policy.quota_models */
};

/* What a group of namespaces may use together. */
struct quota {
    const char *name;
    /* By name, or by label. A namespace that is not known has no labels. */
    const char *const *namespaces;
    size_t n_namespaces;
    bool has_selector;
    struct selector_term selector; /* without requirements: every namespace */
    const struct quota_limit *limits;
    size_t n_limits;
    /* Set by policy_add_quota(): the messages of those it refuses (decide/fit.h). */
    const char *refusal_in_total;
    const char *refusal_of_model;
};

/* All strings are owned by the policy. */
struct policy {
    /* Resource names that count GPUs; one that ends in '*' is a prefix ("nvidia.com/mig-*"). */
    char **gpu_resources;
    size_t n_gpu_resources;
    /* Node labels that tell the model; the first whose value names one decides. */
    char **model_labels;
    size_t n_model_labels;
    struct gpu_model_alias *aliases;
    size_t n_aliases;
    /* Add to every GPU pod the toleration that Kubernetes' admission plugin
     * ExtendedResourceToleration would add: key = resource name, operator Exists. */
    bool extended_resource_toleration;
    /* Whole GPUs may come from nodes that share or slice theirs, where the pod does not say. */
    bool allow_shared;
    enum placement_policy placement;
    enum soft_preferences soft_preferences;
    struct slot_price_policy slot_price;
    int64_t replica_spread_milli; /* GPUs that it costs to have all replicas on one node */
    size_t pod_shape_bytes;       /* kept of one pod's shape, at most: ledger/shape_limits.h */
    size_t pod_shapes_bytes;      /* of all together */
    struct quota *quotas;
    size_t n_quotas;
    /* What their limits speak of, each once. A scope that is NULL is all GPU resources. */
    struct gpu_model quota_models[QUOTA_MODELS_MAX];
    const char *quota_model_names[QUOTA_MODELS_MAX];
    size_t n_quota_models;
    const char *quota_scopes[QUOTA_SCOPES_MAX];
    size_t n_quota_scopes;
    bool quotas_select;  /* one of them chooses namespaces by their labels */
    struct arena *arena; /* of the quotas: whoever adds one makes its parts here */
};

/* The built-in defaults. config/scheduler-policy.yaml says the same (a test holds them together).
 */
void policy_init(struct policy *ret_policy);
void policy_fini(struct policy *policy);

/* Equal, or what a pattern that ends in '*' stands for. */
bool policy_resource_matches(const char *pattern, const char *resource);
bool policy_is_gpu_resource(const struct policy *policy, const char *resource);
/* A resource that every node has, or a GPU resource that the policy names exactly and not by a
 * pattern. Tenants cannot invent such names. So a node has a row for it as soon as one of its pods
 * asks for it; for other resources only while it advertises them. */
bool policy_is_common_resource(const struct policy *policy, const char *resource);
bool policy_is_model_label(const struct policy *policy, const char *key);

/* Its parts are in policy->arena; the models' names are read by the policy's aliases, so these come
 * before. -E2BIG: more than one of the maximums above. */
int policy_add_quota(struct policy *policy, const struct quota *quota, struct err *err);
/* Takes all quotas away; what was made in the arena is gone too. */
void policy_clear_quotas(struct policy *policy);
/* Whether the namespace is one of the quota's; labels sorted by key. */
bool policy_quota_covers(const struct quota *quota, const char *namespace_,
                         const struct label *labels, size_t n_labels);
/* Which of policy.quota_models the GPU is, as bits; of no model, QUOTA_MODEL_UNKNOWN. */
uint64_t policy_quota_models(const struct policy *policy, const struct gpu_model *have,
                             int64_t memory_bytes);
/* Which of policy.quota_scopes count the resource, as bits; none where it is no GPU resource. */
uint64_t policy_quota_scopes(const struct policy *policy, const char *resource);

/* "binpack"; NULL past the end. */
const char *placement_policy_name(enum placement_policy placement);
/* "defer"; NULL past the end. */
const char *soft_preferences_name(enum soft_preferences soft_preferences);

#endif
