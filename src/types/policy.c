/* policy: the built-in defaults and the questions about them. Reading a file is config/'s work. */
#include "types/policy.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define N_OF(array) (sizeof(array) / sizeof *(array))

/* Every vendor's device plugin, the name of Kubernetes 1.6/1.7, and MIG slices. */
static const char *const GPU_RESOURCES[] = {
    "nvidia.com/gpu",   "alpha.kubernetes.io/nvidia-gpu",
    "amd.com/gpu",      "gpu.intel.com/i915",
    "gpu.intel.com/xe", "nvidia.com/mig-*",
};

/* What a driver measured comes before what a person or a cloud wrote. */
static const char *const MODEL_LABELS[] = {
    "nvidia.com/gpu.product",
    "alpha.kubernetes.io/nvidia-gpu-name",
    "accelerator",
    "cloud.google.com/gke-accelerator",
    "k8s.amazonaws.com/accelerator",
    "amd.com/gpu.product-name",
    "beta.amd.com/gpu.product-name",
    "gpu.intel.com/product",
};

static const char *const PLACEMENT_NAMES[N_PLACEMENT_POLICIES] = {
    [PLACEMENT_SLOT_PRICE] = "slot-price",
    [PLACEMENT_BINPACK] = "binpack",
    [PLACEMENT_SPREAD] = "spread",
    [PLACEMENT_FGD] = "fgd",
};

static const char *const SOFT_PREFERENCES_NAMES[N_SOFT_PREFERENCES] = {
    [SOFT_PREFERENCES_DEFER] = "defer",
    [SOFT_PREFERENCES_OVERRIDE] = "override",
};

static char **copy_texts(const char *const *texts, size_t n)
{
    char **copy = MEM_ARRAY(char *, n);
    for (size_t i = 0; i < n; i++)
        copy[i] = mem_strdup(texts[i]);
    return copy;
}

void policy_init(struct policy *ret_policy)
{
    *ret_policy = (struct policy){
        .gpu_resources = copy_texts(GPU_RESOURCES, N_OF(GPU_RESOURCES)),
        .n_gpu_resources = N_OF(GPU_RESOURCES),
        .model_labels = copy_texts(MODEL_LABELS, N_OF(MODEL_LABELS)),
        .n_model_labels = N_OF(MODEL_LABELS),
        .placement = PLACEMENT_SLOT_PRICE,
        .soft_preferences = SOFT_PREFERENCES_DEFER,
        .slot_price = {.pressure_weight_milli = 3000,
                       .drain_weight_milli = 200,
                       .prior_gpus_milli = 500000,
                       .prior_confined_milli = 330},
        .replica_spread_milli = 1000,
        .pod_shape_bytes = (size_t)64 * 1024,
        .pod_shapes_bytes = (size_t)128 * 1024 * 1024,
        .arena = arena_new(),
    };
}

static void free_texts(char **texts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(texts[i]);
    free(texts);
}

void policy_fini(struct policy *policy)
{
    free_texts(policy->gpu_resources, policy->n_gpu_resources);
    free_texts(policy->model_labels, policy->n_model_labels);
    for (size_t i = 0; i < policy->n_aliases; i++) {
        mem_free_ptr(&policy->aliases[i].from);
        mem_free_ptr(&policy->aliases[i].to);
    }
    free(policy->aliases);
    free(policy->quotas);
    arena_free(policy->arena);
    *policy = (struct policy){0};
}

bool policy_resource_matches(const char *pattern, const char *resource)
{
    size_t len = strlen(pattern);
    if (len > 0 && pattern[len - 1] == '*')
        return strncmp(pattern, resource, len - 1) == 0;
    return strcmp(pattern, resource) == 0;
}

bool policy_is_gpu_resource(const struct policy *policy, const char *resource)
{
    for (size_t i = 0; i < policy->n_gpu_resources; i++) {
        if (policy_resource_matches(policy->gpu_resources[i], resource))
            return true;
    }
    return false;
}

bool policy_is_common_resource(const struct policy *policy, const char *resource)
{
    static const char *const EVERYWHERE[] = {"cpu", "memory", "pods", "ephemeral-storage"};
    for (size_t i = 0; i < N_OF(EVERYWHERE); i++) {
        if (strcmp(resource, EVERYWHERE[i]) == 0)
            return true;
    }
    for (size_t i = 0; i < policy->n_gpu_resources; i++) {
        if (strcmp(resource, policy->gpu_resources[i]) == 0)
            return true;
    }
    return false;
}

bool policy_is_model_label(const struct policy *policy, const char *key)
{
    for (size_t i = 0; i < policy->n_model_labels; i++) {
        if (strcmp(policy->model_labels[i], key) == 0)
            return true;
    }
    return false;
}

const char *placement_policy_name(enum placement_policy placement)
{
    return placement < N_PLACEMENT_POLICIES ? PLACEMENT_NAMES[placement] : NULL;
}

const char *soft_preferences_name(enum soft_preferences soft_preferences)
{
    return soft_preferences < N_SOFT_PREFERENCES ? SOFT_PREFERENCES_NAMES[soft_preferences] : NULL;
}
