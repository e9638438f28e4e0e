/*
 * claim_usage: see include/ledger/claim_usage.h.
 *
 * A claim remembers what it was counted as, so a change subtracts that and adds the new values. A
 * device that is no longer published keeps its last known models. The pod's status, which tenants
 * cannot write, says for whose extended resources a claim was made. Tenants can write the claim's
 * metadata, so it must only agree.
 */
#include "ledger/claim_usage.h"
#include "base/mem.h"
#include "claim_use.h"
#include "dra/devices.h"
#include "ledger.h"

#include <stdlib.h>
#include <string.h>

/* The table. */

static char *key_of(const char *namespace_, const char *name, size_t *ret_len)
{
    const size_t size = strlen(namespace_) + 1;
    *ret_len = size + strlen(name);
    char *key = mem_new(*ret_len + 1);
    memcpy(key, namespace_, size);
    memcpy(key + size, name, strlen(name) + 1);
    return key;
}

static struct claim_use *find(const struct cluster *cluster, const char *namespace_,
                              const char *name)
{
    size_t len = 0;
    char *key CLEANUP(mem_free_ptr) = key_of(namespace_, name, &len);
    struct claim_use *use = NULL;
    HASH_FIND(hh, cluster->claim_uses, key, len, use);
    return use;
}

static struct claim_use *find_or_add(struct cluster *cluster, const char *namespace_,
                                     const char *name)
{
    struct claim_use *use = find(cluster, namespace_, name);
    if (use)
        return use;
    size_t len = 0;
    char *key CLEANUP(mem_free_ptr) = key_of(namespace_, name, &len);
    use = mem_new(sizeof *use + len + 1);
    memcpy(use->namespace_, key, len + 1);
    use->name = use->namespace_ + strlen(namespace_) + 1;
    HASH_ADD(hh, cluster->claim_uses, namespace_, len, use);
    return use;
}

static void drop_gpus(struct cluster *cluster, struct claimed_gpu *gpus, size_t n)
{
    struct string_table *strings = &cluster->shapes->strings;
    for (size_t i = 0; i < n; i++) {
        string_table_unref(strings, gpus[i].driver);
        string_table_unref(strings, gpus[i].pool);
        string_table_unref(strings, gpus[i].device);
    }
    free(gpus);
}

static void drop_refusal(struct cluster *cluster, struct claim_use *use)
{
    if (use->refused_uid)
        string_table_unref(&cluster->shapes->strings, use->refused_uid);
    free(use->refused);
    use->refused_uid = NULL;
    use->refused = NULL;
}

static void free_use(struct cluster *cluster, struct claim_use *use)
{
    HASH_DEL(cluster->claim_uses, use);
    claim_floating_forget(cluster, use);
    drop_refusal(cluster, use);
    drop_gpus(cluster, use->gpus, use->n_gpus);
    free(use->of_pod);
    free(use);
}

void claim_usage_free_all(struct cluster *cluster)
{
    struct claim_use *use = NULL;
    struct claim_use *next = NULL;
    HASH_ITER (hh, cluster->claim_uses, use, next) {
        free_use(cluster, use);
    }
}

/* Devices. */

uint64_t claim_usage_scopes(const struct policy *policy, const char *driver)
{
    const struct device_driver *known = policy_device_driver(policy, driver);
    if (!known)
        return 0;
    uint64_t scopes = policy_quota_scopes(policy, known->resource);
    for (size_t i = 0; i < policy->n_quota_scopes; i++)
        scopes |= policy->quota_scopes[i] ? 0 : UINT64_C(1) << i;
    return scopes;
}

static struct claimed_gpu *find_gpu(struct claimed_gpu *gpus, size_t n,
                                    const struct claimed_device *device)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(gpus[i].device, device->device) == 0 &&
            strcmp(gpus[i].pool, device->pool) == 0 && strcmp(gpus[i].driver, device->driver) == 0)
            return &gpus[i];
    }
    return NULL;
}

static uint64_t models_of(const struct policy *policy, const struct claim_use *use,
                          const struct claimed_device *device)
{
    if (device->model_name)
        return policy_quota_models(policy, device->model, device->memory_bytes);
    const struct claimed_gpu *known = find_gpu(use->gpus, use->n_gpus, device);
    return known ? known->models : QUOTA_MODEL_UNKNOWN;
}

static struct claimed_gpu gpu_of(struct cluster *cluster, const struct claim_use *use,
                                 const struct claimed_device *device)
{
    struct string_table *strings = &cluster->shapes->strings;
    return (struct claimed_gpu){.driver = string_table_intern(strings, device->driver),
                                .pool = string_table_intern(strings, device->pool),
                                .device = string_table_intern(strings, device->device),
                                .scopes = claim_usage_scopes(cluster->policy, device->driver),
                                .models = models_of(cluster->policy, use, device)};
}

static void renew_gpus(struct cluster *cluster, struct claim_use *use)
{
    const struct device_claim *claim =
        devices_find_claim(cluster->devices, use->namespace_, use->name);
    const size_t n_results = claim ? claim->n_results : 0;
    struct claimed_gpu *gpus = n_results > 0 ? MEM_ARRAY(struct claimed_gpu, n_results) : NULL;
    size_t n = 0;
    for (size_t i = 0; i < n_results; i++) {
        const struct claimed_device device = devices_of_claim(claim, i);
        if (device.is_gpu && !device.is_admin && !find_gpu(gpus, n, &device))
            gpus[n++] = gpu_of(cluster, use, &device);
    }
    drop_gpus(cluster, use->gpus, use->n_gpus);
    use->gpus = gpus;
    use->n_gpus = n;
}

/* The pod for whose extended resources kube-scheduler made the claim. */

static const struct pod_entry *pod_of(const struct cluster *cluster, const struct claim_use *use)
{
    const struct device_claim *claim =
        devices_find_claim(cluster->devices, use->namespace_, use->name);
    if (!claim || !use->pods || use->pods->next)
        return NULL;
    const struct pod_entry *pod = use->pods->pod;
    return strcmp(claim->extended_for_uid, pod->pod.uid) == 0 ? pod : NULL;
}

struct pod_use {
    struct quota_pod pod; /* shape NULL: it counts nowhere */
    const struct node *node;
};

static struct pod_use use_of_pod(const struct cluster *cluster, const struct pod_entry *pod)
{
    if (!pod)
        return (struct pod_use){0};
    if (pod->node)
        return (struct pod_use){{pod->pod.shape, pod->pod.priority}, pod->node};
    const struct reservation *held = cluster_find_reservation(cluster, pod->pod.uid);
    if (!held)
        return (struct pod_use){0};
    return (struct pod_use){{held->shape, held->priority}, reservation_node(held)};
}

/* The caller frees them. NULL: there is no such pod. */
static int64_t *cells_of_pod(const struct cluster *cluster, const struct claim_use *use)
{
    const struct pod_use of_pod = use_of_pod(cluster, pod_of(cluster, use));
    if (!of_pod.pod.shape)
        return NULL;
    int64_t *cells = MEM_ARRAY(int64_t, namespace_usage_n_cells(cluster->policy));
    namespace_usage_add(cluster->policy, cells, of_pod.pod, namespace_usage_traits(of_pod.node), 1);
    return cells;
}

static void renew_pod(struct cluster *cluster, struct claim_use *use)
{
    free(use->of_pod);
    use->of_pod = cells_of_pod(cluster, use);
}

/* Cells. */

static int64_t count(const struct policy *policy, const struct claim_use *use, size_t scope,
                     size_t column)
{
    int64_t n = 0;
    for (size_t i = 0; i < use->n_gpus; i++) {
        n += (use->gpus[i].scopes >> scope & 1) &&
             namespace_usage_has_column(policy, use->gpus[i].models, column);
    }
    const int64_t of_pod =
        use->of_pod ? *namespace_usage_cell(policy, use->of_pod, scope, column) : 0;
    return n > of_pod ? n - of_pod : 0;
}

void claim_usage_add(const struct policy *policy, int64_t *cells, const struct claim_use *use)
{
    for (size_t scope = 0; scope < policy->n_quota_scopes; scope++) {
        for (size_t column = 0; column < 1 + policy->n_quota_models + 1; column++)
            *namespace_usage_cell(policy, cells, scope, column) +=
                count(policy, use, scope, column);
    }
}

/* The caller frees them. */
static int64_t *cells_of(const struct cluster *cluster, const struct claim_use *use)
{
    int64_t *cells = MEM_ARRAY(int64_t, namespace_usage_n_cells(cluster->policy));
    claim_usage_add(cluster->policy, cells, use);
    return cells;
}

/* n: 1 or -1. */
static void count_use(struct cluster *cluster, const struct claim_use *use, int64_t n)
{
    if (use->n_gpus == 0)
        return;
    int64_t *cells CLEANUP(mem_free_ptr) = cells_of(cluster, use);
    namespace_usage_count_cells(cluster, use->namespace_, cells, n);
}

int64_t claim_usage_for(const struct cluster *cluster, const char *namespace_,
                        const struct asker *asker, size_t scope, size_t column)
{
    if (!asker->uid || !asker->extended_claim || !cluster->claim_uses)
        return 0;
    const struct claim_use *use = find(cluster, namespace_, asker->extended_claim);
    const struct device_claim *claim =
        devices_find_claim(cluster->devices, namespace_, asker->extended_claim);
    if (!use || !claim || use->of_pod || strcmp(claim->extended_for_uid, asker->uid) != 0)
        return 0;
    const struct extended_claim *named = use->pods;
    const bool is_of_others =
        named && (named->next || strcmp(named->pod->pod.uid, asker->uid) != 0);
    return is_of_others ? 0 : count(cluster->policy, use, scope, column);
}

bool claim_usage_any(const struct cluster *cluster)
{
    return cluster->claim_uses;
}

const struct claim_use *claim_usage_next(const struct cluster *cluster, const struct claim_use *use)
{
    return use ? use->hh.next : cluster->claim_uses;
}

const char *claim_usage_namespace(const struct claim_use *use)
{
    return use->namespace_;
}

const char *claim_usage_name(const struct claim_use *use)
{
    return use->name;
}

bool claim_usage_counts(const struct claim_use *use)
{
    return use->n_gpus > 0;
}

const struct claim_use *claim_usage_find(const struct cluster *cluster, const char *namespace_,
                                         const char *name)
{
    return find(cluster, namespace_, name);
}

const int64_t *claim_usage_refused(const struct claim_use *use)
{
    return use->refused;
}

/* Changes. */

static void release(struct cluster *cluster, struct claim_use *use)
{
    if (use->n_gpus == 0 && !use->pods && !use->refused)
        free_use(cluster, use);
}

void claim_usage_refuse(struct cluster *cluster, const char *namespace_, const char *name)
{
    struct claim_use *use = find(cluster, namespace_, name);
    const struct device_claim *claim =
        use ? devices_find_claim(cluster->devices, namespace_, name) : NULL;
    if (!claim || use->n_gpus == 0)
        return;
    drop_refusal(cluster, use);
    use->refused = cells_of(cluster, use);
    use->refused_uid = string_table_intern(&cluster->shapes->strings, claim->uid);
}

static bool is_same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Whether cells of one policy mean the same in the other. */
static bool has_same_cells(const struct policy *a, const struct policy *b)
{
    if (a->n_quota_models != b->n_quota_models || a->n_quota_scopes != b->n_quota_scopes ||
        a->n_quota_priorities != b->n_quota_priorities)
        return false;
    for (size_t i = 0; i < a->n_quota_models; i++) {
        if (!is_same_text(a->quota_model_names[i], b->quota_model_names[i]))
            return false;
    }
    for (size_t i = 0; i < a->n_quota_scopes; i++) {
        if (!is_same_text(a->quota_scopes[i], b->quota_scopes[i]))
            return false;
    }
    return true;
}

static void copy_refused(struct cluster *to, const struct claim_use *from, bool has_same)
{
    const struct device_claim *claim =
        devices_find_claim(to->devices, from->namespace_, from->name);
    if (!claim || strcmp(claim->uid, from->refused_uid) != 0)
        return;
    const struct claim_use *counted = find(to, from->namespace_, from->name);
    if (counted && counted->n_gpus > 0) {
        claim_usage_refuse(to, from->namespace_, from->name);
    } else if (has_same) {
        const size_t n = namespace_usage_n_cells(to->policy);
        struct claim_use *use = find_or_add(to, from->namespace_, from->name);
        use->refused = MEM_ARRAY(int64_t, n);
        memcpy(use->refused, from->refused, n * sizeof *use->refused);
        use->refused_uid = string_table_intern(&to->shapes->strings, claim->uid);
    }
}

void claim_usage_copy_refused(struct cluster *to, const struct cluster *from)
{
    const bool has_same = has_same_cells(to->policy, from->policy);
    for (const struct claim_use *use = from->claim_uses; use; use = use->hh.next) {
        if (use->refused)
            copy_refused(to, use, has_same);
    }
}

static void forget_refusal(struct cluster *cluster, struct claim_use *use)
{
    const struct device_claim *claim =
        devices_find_claim(cluster->devices, use->namespace_, use->name);
    if (use->refused && !(claim && strcmp(claim->uid, use->refused_uid) == 0))
        drop_refusal(cluster, use);
}

/* Whether verdicts by quotas may change although no node's numbers do. */
static bool is_other_use(const struct policy *policy, int64_t *a, int64_t *b)
{
    for (size_t scope = 0; scope < policy->n_quota_scopes; scope++) {
        if (*namespace_usage_cell(policy, a, scope, 0) !=
            *namespace_usage_cell(policy, b, scope, 0))
            return true;
    }
    return false;
}

void claim_usage_renew(struct cluster *cluster, const char *namespace_, const char *name)
{
    if (cluster->policy->n_quotas == 0)
        return;
    struct claim_use *use = find_or_add(cluster, namespace_, name);
    int64_t *before CLEANUP(mem_free_ptr) = cells_of(cluster, use);
    count_use(cluster, use, -1);
    renew_gpus(cluster, use);
    renew_pod(cluster, use);
    claim_floating_renew(cluster, use);
    count_use(cluster, use, 1);
    int64_t *after CLEANUP(mem_free_ptr) = cells_of(cluster, use);
    cluster->version += is_other_use(cluster->policy, before, after);
    forget_refusal(cluster, use);
    release(cluster, use);
}

static void count_pod_again(struct cluster *cluster, struct claim_use *use)
{
    count_use(cluster, use, -1);
    renew_pod(cluster, use);
    count_use(cluster, use, 1);
    claim_floating_judge(cluster, use);
}

void claim_usage_renew_pod(struct cluster *cluster, const struct pod_entry *pod)
{
    if (!pod || !pod->extended)
        return;
    count_pod_again(cluster, pod->extended->use);
}

void claim_usage_add_pod(struct cluster *cluster, struct pod_entry *pod)
{
    if (!pod->pod.extended_claim || cluster->policy->n_quotas == 0)
        return;
    pod->extended = MEM_NEW(struct extended_claim);
    pod->extended->pod = pod;
    pod->extended->use = find_or_add(cluster, pod->pod.namespace_, pod->pod.extended_claim);
    DL_APPEND(pod->extended->use->pods, pod->extended);
    claim_usage_renew_pod(cluster, pod);
}

void claim_usage_remove_pod(struct cluster *cluster, struct pod_entry *pod)
{
    if (!pod->extended)
        return;
    struct claim_use *use = pod->extended->use;
    DL_DELETE(use->pods, pod->extended);
    free(pod->extended);
    pod->extended = NULL;
    count_pod_again(cluster, use);
    release(cluster, use);
}

/* The check. */

static bool are_gpus_right(const struct cluster *cluster, const struct claim_use *use)
{
    const struct device_claim *claim =
        devices_find_claim(cluster->devices, use->namespace_, use->name);
    size_t n = 0;
    for (size_t i = 0; claim && i < claim->n_results; i++) {
        const struct claimed_device device = devices_of_claim(claim, i);
        if (!device.is_gpu || device.is_admin || find_gpu(use->gpus, n, &device))
            continue;
        const struct claimed_gpu *gpu = find_gpu(use->gpus, use->n_gpus, &device);
        if (!gpu || gpu != &use->gpus[n] || gpu->models != models_of(cluster->policy, use, &device))
            return false;
        n++;
    }
    return n == use->n_gpus;
}

static bool is_pod_right(const struct cluster *cluster, const struct claim_use *use)
{
    int64_t *of_pod CLEANUP(mem_free_ptr) = cells_of_pod(cluster, use);
    const size_t size = namespace_usage_n_cells(cluster->policy) * sizeof *of_pod;
    if (!of_pod || !use->of_pod)
        return !of_pod && !use->of_pod;
    return memcmp(of_pod, use->of_pod, size) == 0;
}

static bool is_named_right(const struct cluster *cluster, const struct pod_entry *pod)
{
    const bool is_named = pod->pod.extended_claim && cluster->policy->n_quotas > 0;
    if (!is_named || !pod->extended)
        return !is_named && !pod->extended;
    return pod->extended->pod == pod &&
           pod->extended->use == find(cluster, pod->pod.namespace_, pod->pod.extended_claim);
}

static bool counts_gpus(const struct device_claim *claim)
{
    for (size_t i = 0; i < claim->n_results; i++) {
        const struct claimed_device device = devices_of_claim(claim, i);
        if (device.is_gpu && !device.is_admin)
            return true;
    }
    return false;
}

size_t claim_usage_check(const struct cluster *cluster)
{
    size_t n_wrong = 0;
    for (const struct claim_use *use = cluster->claim_uses; use; use = use->hh.next)
        n_wrong += !are_gpus_right(cluster, use) || !is_pod_right(cluster, use) ||
                   !claim_floating_is_right(cluster, use) ||
                   (use->n_gpus == 0 && !use->pods && !use->refused);
    for (const struct pod_entry *pod = cluster->pods; pod; pod = pod->hh.next)
        n_wrong += !is_named_right(cluster, pod);
    for (const struct device_claim *claim = devices_next_claim(cluster->devices, NULL);
         claim && cluster->policy->n_quotas > 0;
         claim = devices_next_claim(cluster->devices, claim))
        n_wrong += counts_gpus(claim) && !find(cluster, claim->namespace_, claim->name);
    return n_wrong;
}
