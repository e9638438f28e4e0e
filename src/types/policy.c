/* policy: built-in defaults and lookups. config/ reads the file. */
#include "types/policy.h"
#include "base/mem.h"
#include "types/selector.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define N_OF(array) (sizeof(array) / sizeof *(array))

/* Device plugins of all vendors, the name of Kubernetes 1.6/1.7, and MIG slices. */
static const char *const GPU_RESOURCES[] = {
    "nvidia.com/gpu",   "alpha.kubernetes.io/nvidia-gpu",
    "amd.com/gpu",      "gpu.intel.com/i915",
    "gpu.intel.com/xe", "nvidia.com/mig-*",
};

/* The cluster's own, and the second one of manifests/overlays/second-scheduler. */
static const char *const SCHEDULERS[] = {POLICY_DEFAULT_SCHEDULER, "gpu-scheduler"};

/* Labels from drivers come before labels from users or clouds. */
static const char *const MODEL_LABELS[] = {
    "nvidia.com/gpu.product",
    "alpha.kubernetes.io/nvidia-gpu-name",
    "accelerator",
    "cloud.google.com/gke-accelerator",
    "k8s.amazonaws.com/accelerator",
    "amd.com/gpu.product-name",
    "beta.amd.com/gpu.product-name",
    "gpu.intel.com/product",
    "gpu.nvidia.com/class",
    "karpenter.k8s.aws/instance-gpu-name",
    "karpenter.k8s.aws/instance-accelerator-name",
    "eks.amazonaws.com/instance-gpu-name",
    "eks.amazonaws.com/instance-accelerator-name",
    "karpenter.azure.com/sku-gpu-name",
    "karpenter.k8s.gcp/instance-gpu-name",
    "karpenter.k8s.alibabacloud/instance-gpu-name",
    "aliyun.accelerator/nvidia_name",
    "doks.digitalocean.com/gpu-model",
    "machine.cluster.vke.volcengine.com/gpu-name",
    "alibabacloud.com/gpu-model-series",
    "node.kubernetes.io/npu.chip.name",
    "enflame.com/gcu.model",
    "hygon.com/dcu.name",
    "metax-tech.com/gpu.product",
    "cloud.google.com/gke-tpu-accelerator",
};

/* Each with the resource of the vendor's device plugin. */
static const struct {
    const char *name, *model_attribute, *resource;
} DEVICE_DRIVERS[] = {
    {"gpu.nvidia.com", "productName", "nvidia.com/gpu"},
    {"gpu.amd.com", "productName", "amd.com/gpu"},
    {"gpu.intel.com", "model", "gpu.intel.com/xe"},
};

static const char *const AVOIDANCE_NAMES[N_AVOIDANCES] = {
    [AVOIDANCE_OBSERVE] = "observe", [AVOIDANCE_AVOID] = "avoid", [AVOIDANCE_OFF] = "off"};
static const char *const MODE_NAMES[N_POLICY_MODES] = {
    [MODE_ENFORCE] = "enforce",
    [MODE_OBSERVE] = "observe",
};

static const char *const GANGS_MODE_NAMES[N_GANGS_MODES] = {
    [GANGS_OFF] = "off", [GANGS_OBSERVE] = "observe", [GANGS_PLAN] = "plan"};
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
        .schedulers = copy_texts(SCHEDULERS, N_OF(SCHEDULERS)),
        .n_schedulers = N_OF(SCHEDULERS),
        .mode = MODE_ENFORCE,
        .default_toleration_seconds = true,
        .placement = PLACEMENT_SLOT_PRICE,
        .soft_preferences = SOFT_PREFERENCES_DEFER,
        .slot_price = {.pressure_weight_milli = 3000,
                       .drain_weight_milli = 200,
                       .prior_gpus_milli = 500000,
                       .prior_confined_milli = 330},
        .quarantine = {.owners = 3,
                       .namespaces = 2,
                       .window_s = 600,
                       .settle_s = 300,
                       .first_min = 10,
                       .longest_min = 60,
                       .cap = {.share_milli = 50, .nodes = 1}},
        .shape_trap = {.cap = {.share_milli = 250, .nodes = 1}},
        .replica_spread_milli = 1000,
        .gangs = {.domain = "", .max_size = 64, .kept_share_milli = 250, .forming_s = 300},
        .object_values = 50000,
        .pod_shape_bytes = (size_t)64 * 1024,
        .pod_shapes_bytes = (size_t)128 * 1024 * 1024,
        .node_slices_bytes = (size_t)2 * 1024 * 1024,
        .driver_slices_bytes = (size_t)176 * 1024 * 1024,
        .slices_bytes = (size_t)192 * 1024 * 1024,
        .arena = arena_new(),
        .enforce_namespaces = {.arena = arena_new()},
    };
    for (size_t i = 0; i < N_GPU_LABELS; i++)
        policy_add_unit(ret_policy, &GPU_LABELS[i]);
    for (size_t i = 0; i < N_OF(DEVICE_DRIVERS); i++)
        policy_add_device_driver(ret_policy, DEVICE_DRIVERS[i].name,
                                 DEVICE_DRIVERS[i].model_attribute, DEVICE_DRIVERS[i].resource);
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
    free_texts(policy->schedulers, policy->n_schedulers);
    free_texts(policy->model_labels, policy->n_model_labels);
    free_texts(policy->topology_levels, policy->n_topology_levels);
    free_texts(policy->gangs.conventions, policy->gangs.n_conventions);
    for (size_t i = 0; i < policy->n_aliases; i++) {
        mem_free_ptr(&policy->aliases[i].from);
        mem_free_ptr(&policy->aliases[i].to);
    }
    free(policy->aliases);
    policy_clear_device_drivers(policy);
    policy_clear_units(policy);
    free(policy->quotas);
    arena_free(policy->arena);
    arena_free(policy->enforce_namespaces.arena);
    *policy = (struct policy){0};
}

/* Holders see a constant; the count is the policy's own. */
static struct policy *own(const struct policy *policy)
{
    return (struct policy *)(uintptr_t)policy;
}

const struct policy *policy_hold(const struct policy *policy)
{
    (void)__atomic_fetch_add(&own(policy)->n_holders, 1, __ATOMIC_RELAXED);
    return policy;
}

void policy_drop(const struct policy *policy)
{
    struct policy *dropped = own(policy);
    while (dropped && __atomic_fetch_sub(&dropped->n_holders, 1, __ATOMIC_ACQ_REL) == 1) {
        struct policy *successor = dropped->successor;
        if (dropped->unheld)
            dropped->unheld(dropped);
        else
            dropped->successor = NULL;
        dropped = successor;
    }
}

void policy_drop_ptr(const struct policy **policy)
{
    if (*policy)
        policy_drop(*policy);
}

void policy_succeed(const struct policy *policy, const struct policy *successor)
{
    if (policy != successor)
        own(policy)->successor = own(policy_hold(successor));
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

static bool is_among(const char *text, const char *const *texts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(text, texts[i]) == 0)
            return true;
    }
    return false;
}

bool policy_is_common_resource(const struct policy *policy, const char *resource)
{
    static const char *const EVERYWHERE[] = {"cpu", "memory", "pods", "ephemeral-storage"};
    return is_among(resource, EVERYWHERE, N_OF(EVERYWHERE)) ||
           is_among(resource, (const char *const *)policy->gpu_resources, policy->n_gpu_resources);
}

bool policy_is_asked_by(const struct policy *policy, const char *scheduler)
{
    return is_among(scheduler, (const char *const *)policy->schedulers, policy->n_schedulers);
}

const char *policy_level_name(const struct policy *policy, size_t level)
{
    const char *slash = strchr(policy->topology_levels[level], '/');
    return slash ? slash + 1 : policy->topology_levels[level];
}

static const struct {
    const char *word;
    enum domain_rule rule;
} RULES[] = {{"require ", DOMAIN_REQUIRE}, {"prefer ", DOMAIN_PREFER}};

static bool find_level(const char *name, const struct policy *policy, size_t *ret_level)
{
    for (size_t i = policy->n_topology_levels; i > 0; i--) {
        const char *key = policy->topology_levels[i - 1];
        *ret_level = i - 1;
        if (strcmp(name, key) == 0 || strcmp(name, policy_level_name(policy, i - 1)) == 0)
            return true;
    }
    return false;
}

bool policy_read_domain(const struct policy *policy, const char *text, struct domain_wish *ret_wish)
{
    size_t level = 0;
    for (size_t i = 0; i < sizeof RULES / sizeof *RULES; i++) {
        const size_t len = strlen(RULES[i].word);
        if (strncmp(text, RULES[i].word, len) != 0 || !find_level(text + len, policy, &level))
            continue;
        *ret_wish = (struct domain_wish){RULES[i].rule, level};
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

const struct device_driver *policy_device_driver(const struct policy *policy, const char *name)
{
    for (size_t i = 0; i < policy->n_device_drivers; i++) {
        if (strcmp(policy->device_drivers[i].name, name) == 0)
            return &policy->device_drivers[i];
    }
    return NULL;
}

void policy_add_device_driver(struct policy *policy, const char *name, const char *model_attribute,
                              const char *resource)
{
    assert(policy->n_device_drivers < DEVICE_DRIVERS_MAX);
    policy->device_drivers = mem_grow(policy->device_drivers, policy->n_device_drivers + 1,
                                      sizeof *policy->device_drivers);
    policy->device_drivers[policy->n_device_drivers++] =
        (struct device_driver){mem_strdup(name), mem_strdup(model_attribute), mem_strdup(resource)};
}

void policy_clear_device_drivers(struct policy *policy)
{
    for (size_t i = 0; i < policy->n_device_drivers; i++) {
        mem_free_ptr(&policy->device_drivers[i].name);
        mem_free_ptr(&policy->device_drivers[i].model_attribute);
        mem_free_ptr(&policy->device_drivers[i].resource);
    }
    free(policy->device_drivers);
    policy->device_drivers = NULL;
    policy->n_device_drivers = 0;
}

void policy_add_unit(struct policy *policy, const struct gpu_label *row)
{
    assert(policy->n_units < GPU_LABELS_MAX);
    policy->units = mem_grow(policy->units, policy->n_units + 1, sizeof *policy->units);
    policy->units[policy->n_units++] = (struct gpu_label){
        .resource = mem_strdup(row->resource),
        .label = mem_strdup(row->label),
        .says = row->says,
        .whole = mem_strdup(row->whole),
        .replicas = mem_strdup(row->replicas),
        .unit = mem_strdup(row->unit),
    };
}

void policy_clear_units(struct policy *policy)
{
    for (size_t i = 0; i < policy->n_units; i++) {
        struct gpu_label *row = &policy->units[i];
        mem_free_ptr(&row->resource);
        mem_free_ptr(&row->label);
        mem_free_ptr(&row->whole);
        mem_free_ptr(&row->replicas);
        mem_free_ptr(&row->unit);
    }
    free(policy->units);
    policy->units = NULL;
    policy->n_units = 0;
}

const char *policy_mode_name(enum policy_mode mode)
{
    return mode < N_POLICY_MODES ? MODE_NAMES[mode] : NULL;
}

const char *avoidance_name(enum avoidance avoidance)
{
    return avoidance < N_AVOIDANCES ? AVOIDANCE_NAMES[avoidance] : NULL;
}

const char *gangs_mode_name(enum gangs_mode mode)
{
    return mode < N_GANGS_MODES ? GANGS_MODE_NAMES[mode] : NULL;
}

const char *placement_policy_name(enum placement_policy placement)
{
    return placement < N_PLACEMENT_POLICIES ? PLACEMENT_NAMES[placement] : NULL;
}

const char *soft_preferences_name(enum soft_preferences soft_preferences)
{
    return soft_preferences < N_SOFT_PREFERENCES ? SOFT_PREFERENCES_NAMES[soft_preferences] : NULL;
}

/* Quotas of the policy. Their use is in ledger/namespace_usage.h. */

static bool text_equal(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Index of text; n if absent. */
static size_t find_text(const char *const *texts, size_t n, const char *text)
{
    size_t i = 0;
    while (i < n && !text_equal(texts[i], text))
        i++;
    return i;
}

static int place_scope(struct policy *policy, struct quota_limit *limit, struct err *err)
{
    limit->scope = find_text(policy->quota_scopes, policy->n_quota_scopes, limit->resource);
    if (limit->scope < policy->n_quota_scopes)
        return 0;
    if (policy->n_quota_scopes == QUOTA_SCOPES_MAX)
        return err_set(
            err, E2BIG,
            "resource %s is over the limit of %d different resources in all quotas together",
            limit->resource ? limit->resource : "(all)", QUOTA_SCOPES_MAX);
    policy->quota_scopes[policy->n_quota_scopes++] = limit->resource;
    return 0;
}

static int place_model(struct policy *policy, struct quota_limit *limit, struct err *err)
{
    if (!limit->model)
        return 0;
    const size_t i = find_text(policy->quota_model_names, policy->n_quota_models, limit->model);
    limit->column = 1 + i;
    if (i < policy->n_quota_models)
        return 0;
    if (i == QUOTA_MODELS_MAX)
        return err_set(err, E2BIG,
                       "model %s is over the limit of %d different models in all quotas together",
                       limit->model, QUOTA_MODELS_MAX);
    (void)gpu_model_parse(limit->model, policy->aliases, policy->n_aliases,
                          &policy->quota_models[i]);
    policy->quota_model_names[policy->n_quota_models++] = limit->model;
    return 0;
}

static int place_priority(struct policy *policy, struct quota_limit *limit, struct err *err)
{
    size_t i = 0;
    if (!limit->borrow.is_set)
        return 0;
    while (i < policy->n_quota_priorities &&
           policy->quota_priorities[i] != limit->borrow.max_priority)
        i++;
    limit->borrow.layer = 1 + i;
    if (i < policy->n_quota_priorities)
        return 0;
    if (i == QUOTA_PRIORITIES_MAX)
        return err_set(err, E2BIG,
                       "maxPriority %lld is over the limit of %d different ones in all quotas "
                       "together",
                       (long long)limit->borrow.max_priority, QUOTA_PRIORITIES_MAX);
    policy->quota_priorities[policy->n_quota_priorities++] = limit->borrow.max_priority;
    return 0;
}

static void set_refusals(struct policy *policy, struct quota *quota)
{
    static const char *const ENDS[] = {"", " to borrow"};
    for (size_t i = 0; i < 2; i++) {
        quota->refusal_in_total[i] =
            arena_printf(policy->arena, "gpu-extender: quota %s leaves too few GPUs in total%s",
                         quota->name, ENDS[i]);
        quota->refusal_of_model[i] = arena_printf(
            policy->arena, "gpu-extender: quota %s leaves too few GPUs of the node's model%s",
            quota->name, ENDS[i]);
    }
}

int policy_add_quota(struct policy *policy, const struct quota *quota, struct err *err)
{
    if (policy->n_quotas == QUOTAS_MAX)
        return err_set(err, E2BIG, "is over the limit of %d quotas", QUOTAS_MAX);
    struct quota added = *quota;
    struct quota_limit *limits =
        arena_copy(policy->arena, quota->limits, quota->n_limits, sizeof *limits);
    for (size_t i = 0; i < quota->n_limits; i++) {
        limits[i].scope = limits[i].column = limits[i].borrow.layer = 0;
        int r = place_scope(policy, &limits[i], err);
        if (r == 0)
            r = place_model(policy, &limits[i], err);
        if (r == 0)
            r = place_priority(policy, &limits[i], err);
        if (r < 0)
            return r;
    }
    added.limits = limits;
    set_refusals(policy, &added);
    policy->quotas = mem_grow(policy->quotas, policy->n_quotas + 1, sizeof *policy->quotas);
    policy->quotas[policy->n_quotas++] = added;
    policy->quotas_select |= added.has_selector && added.selector.n_requirements > 0;
    return 0;
}

void policy_clear_quotas(struct policy *policy)
{
    policy->n_quotas = policy->n_quota_models = policy->n_quota_scopes = 0;
    policy->n_quota_priorities = 0;
    policy->quotas_select = false;
    arena_free(policy->arena);
    policy->arena = arena_new();
}

bool policy_quota_covers(const struct quota *quota, const char *namespace_,
                         const struct label *labels, size_t n_labels)
{
    const struct label_view view = {
        .node_name = namespace_, .labels = labels, .n_labels = n_labels};
    return find_text(quota->namespaces, quota->n_namespaces, namespace_) < quota->n_namespaces ||
           (quota->has_selector && selector_term_holds(&quota->selector, &view));
}

bool policy_enforces(const struct policy *policy, const struct label *labels, size_t n_labels)
{
    const struct label_view view = {.node_name = "", .labels = labels, .n_labels = n_labels};
    const struct namespace_choice *choice = &policy->enforce_namespaces;
    return choice->is_set && selector_term_holds(&choice->selector, &view);
}

uint64_t policy_quota_models(const struct policy *policy, const struct gpu_model *have,
                             int64_t memory_bytes)
{
    uint64_t bits = have->chip[0] ? 0 : QUOTA_MODEL_UNKNOWN;
    for (size_t i = 0; i < policy->n_quota_models; i++) {
        if (gpu_model_satisfies(have, memory_bytes, &policy->quota_models[i]))
            bits |= UINT64_C(1) << i;
    }
    return bits;
}

uint64_t policy_quota_scopes(const struct policy *policy, const char *resource)
{
    uint64_t bits = 0;
    if (!policy_is_gpu_resource(policy, resource))
        return 0;
    for (size_t i = 0; i < policy->n_quota_scopes; i++) {
        if (!policy->quota_scopes[i] || policy_resource_matches(policy->quota_scopes[i], resource))
            bits |= UINT64_C(1) << i;
    }
    return bits;
}
