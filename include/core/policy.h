/*
 * policy: what the operator decides about placement. Read from config/scheduler-policy.yaml by
 * config/, given to every decision as a constant.
 */
#ifndef CORE_POLICY_H
#define CORE_POLICY_H

#include "core/gpu_model.h"

#include <stdbool.h>
#include <stddef.h>

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
};

/* The built-in defaults. config/scheduler-policy.yaml says the same (a test holds them together).
 */
void policy_init(struct policy *ret_policy);
void policy_fini(struct policy *policy);

bool policy_is_gpu_resource(const struct policy *policy, const char *resource);
bool policy_is_model_label(const struct policy *policy, const char *key);
/* "binpack"; NULL past the end. */
const char *placement_policy_name(enum placement_policy placement);
/* "defer"; NULL past the end. */
const char *soft_preferences_name(enum soft_preferences soft_preferences);
/* 0, or -EINVAL (ret_placement untouched). */
int placement_policy_from_name(const char *name, enum placement_policy *ret_placement);

#endif
