/* gpus: the current devices, which of them are one GPU, and their states. */
#include "base/mem.h"
#include "devices_priv.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The models that devices publish, each parsed and kept once. */

/* The canonical name, with the profile of a partition. */
static struct device_kind *new_kind(const struct policy *policy, const char *text,
                                    const char *profile)
{
    struct gpu_model model;
    char canonical[2 * GPU_MODEL_TEXT_MAX];
    (void)gpu_model_parse(text, policy->aliases, policy->n_aliases, &model);
    (void)gpu_model_text(&model, canonical);
    const size_t size = strlen(canonical) + sizeof "-PARTITION-" + strlen(profile);
    struct device_kind *kind = mem_new(sizeof *kind + size);
    const bool is_mig = isdigit((unsigned char)profile[0]);
    const char *between = is_mig ? "-MIG-" : "-PARTITION-";
    (void)snprintf(kind->name, size, "%s%s%s", canonical, profile[0] ? between + !canonical[0] : "",
                   profile);
    if (profile[0]) {
        model.sharing = is_mig ? GPU_MIG_SLICED : GPU_PARTITIONED;
        const bool fits = strlen(profile) < sizeof model.mig_profile;
        (void)snprintf(model.mig_profile, sizeof model.mig_profile, "%s",
                       fits ? profile : "invalid");
    }
    kind->model = model;
    return kind;
}

struct device_kind *models_ref(struct devices *devices, const char *text, const char *profile,
                               int64_t memory_bytes)
{
    struct device_kind *kind = NULL;
    const struct kind_key key = {string_table_intern(&devices->strings, text),
                                 string_table_intern(&devices->strings, profile), memory_bytes};
    HASH_FIND(hh, devices->kinds, &key, sizeof key, kind);
    if (kind) {
        string_table_unref(&devices->strings, key.text);
        string_table_unref(&devices->strings, key.profile);
    } else {
        kind = new_kind(devices->policy, text, profile);
        kind->key = key;
        HASH_ADD(hh, devices->kinds, key, sizeof kind->key, kind);
        if (profile[0])
            kind->whole = models_ref(devices, text, "", 0);
    }
    kind->refs++;
    return kind;
}

void models_unref(struct devices *devices, struct device_kind *kind)
{
    while (kind && --kind->refs == 0) {
        struct device_kind *whole = kind->whole;
        HASH_DEL(devices->kinds, kind);
        string_table_unref(&devices->strings, kind->key.text);
        string_table_unref(&devices->strings, kind->key.profile);
        free(kind);
        kind = whole;
    }
}

struct device_kind *models_of(const struct device_model *model)
{
    return CONTAINER_OF(model->model, struct device_kind, model);
}

bool gpus_is_partition(const struct device *device)
{
    return device->kind->key.profile[0] != '\0';
}

/* The identity of the device's GPU in its pool on the node. Where several nodes may reach a device,
 * its physical key may repeat: a PCI bus ID is that of one node. */
static const void *identity_of(const struct device *device)
{
    const struct set *set = counters_gpu_of(device);
    if (set)
        return set;
    if (device->physical[0] && device->node_pool->place->name[0])
        return device->physical;
    return device->n_consumptions > 0 ? (const void *)device->consumptions[0].set : device->named;
}

static struct gpu *find_or_add(struct devices *devices, const struct device *device)
{
    const struct pair key = {device->node_pool, identity_of(device)};
    struct gpu *gpu = NULL;
    HASH_FIND(hh, devices->gpus, &key, sizeof key, gpu);
    if (gpu)
        return gpu;
    gpu = MEM_NEW(struct gpu);
    gpu->key = key;
    gpu->node_pool = device->node_pool;
    gpu->node_pool->refs++;
    HASH_ADD(hh, devices->gpus, key, sizeof gpu->key, gpu);
    return gpu;
}

static void mark(struct devices *devices, struct gpu *gpu)
{
    if (gpu->is_dirty)
        return;
    gpu->is_dirty = true;
    LL_PREPEND2(devices->dirty_gpus, gpu, next_dirty);
}

/* Whether another current device of the pool on the node has the name. */
static bool is_repeated(const struct device *device)
{
    const struct device *other = NULL;
    DL_FOREACH2 (device->named->devices, other, next_same) {
        if (other != device && other->node_pool == device->node_pool)
            return true;
    }
    return false;
}

void gpus_link(struct devices *devices, struct device *device)
{
    device->is_current = true;
    device->node_pool->n_consumers += device->n_consumptions > 0;
    device->node_pool->n_repeated += is_repeated(device);
    device->n_rules = taint_rules_n_of(devices, device);
    device->gpu = find_or_add(devices, device);
    LL_PREPEND2(device->gpu->devices, device, next_of_gpu);
    DL_APPEND2(device->named->devices, device, prev_same, next_same);
    device_claims_mark_users(devices, device->named);
    mark(devices, device->gpu);
}

/* Whether the device is a part is its kind's. */
static void set_fraction(struct devices *devices, struct device *device, bool is_fraction)
{
    struct device_kind *kind = device->kind;
    const bool is_static = gpus_is_partition(device) && !device->is_fraction;
    if (is_static || device->is_fraction == is_fraction)
        return;
    places_count(devices, &device->counted, NULL, NULL, DEVICE_FREE);
    device->is_fraction = is_fraction;
    device->kind =
        models_ref(devices, kind->key.text, is_fraction ? "partition" : "", kind->key.memory_bytes);
    models_unref(devices, kind);
    device_claims_mark_users(devices, device->named);
    mark(devices, device->gpu);
}

void gpus_regroup(struct devices *devices, struct device *device)
{
    set_fraction(devices, device, counters_is_fraction(device));
    if (device->gpu->key.second == identity_of(device))
        return;
    mark(devices, device->gpu);
    LL_DELETE2(device->gpu->devices, device, next_of_gpu);
    device->gpu = find_or_add(devices, device);
    LL_PREPEND2(device->gpu->devices, device, next_of_gpu);
    mark(devices, device->gpu);
}

void gpus_unlink(struct devices *devices, struct device *device)
{
    for (size_t i = 0; i < device->n_consumptions; i++)
        counters_consume(devices, &device->consumptions[i], false);
    set_fraction(devices, device, false);
    device->node_pool->n_consumers -= device->n_consumptions > 0;
    device->node_pool->n_repeated -= is_repeated(device);
    DL_DELETE2(device->named->devices, device, prev_same, next_same);
    device_claims_mark_users(devices, device->named);
    LL_DELETE2(device->gpu->devices, device, next_of_gpu);
    mark(devices, device->gpu);
    places_count(devices, &device->counted, NULL, NULL, DEVICE_FREE);
    places_queue(devices, device->node_pool->place);
    device->gpu = NULL;
    device->is_current = false;
}

enum device_state gpus_state_of_device(const struct device *device)
{
    if (device->named->n_uses > 0)
        return DEVICE_ALLOCATED;
    if (device->node_pool->state == NODE_POOL_INCOMPLETE)
        return DEVICE_INCOMPLETE;
    if (device->node_pool->state == NODE_POOL_INVALID || device->not_judged)
        return DEVICE_INVALID;
    if (device->is_tainted || device->n_rules > 0)
        return DEVICE_TAINTED;
    return counters_suffice(device) ? DEVICE_FREE : DEVICE_BLOCKED;
}

void gpus_refresh(struct devices *devices, struct device *device)
{
    gpus_regroup(devices, device);
    device->state = gpus_state_of_device(device);
    places_queue(devices, device->node_pool->place);
    if (gpus_is_partition(device))
        places_count(devices, &device->counted, device->node_pool, device->kind, device->state);
    mark(devices, device->gpu);
}

enum device_state gpus_state(const struct gpu *gpu)
{
    const struct device *device = NULL;
    enum device_state best = DEVICE_PARTITIONED;
    LL_FOREACH2(gpu->devices, device, next_of_gpu)
    {
        const bool counts = device->state == DEVICE_ALLOCATED || !gpus_is_partition(device);
        if (counts && device->state < best)
            best = device->state;
    }
    if (best == DEVICE_PARTITIONED && gpu->node_pool->state != NODE_POOL_USABLE)
        return gpu->node_pool->state == NODE_POOL_INVALID ? DEVICE_INVALID : DEVICE_INCOMPLETE;
    return best;
}

/* Whether the GPU has the model of a rather than that of b. */
static bool is_before(const struct device *a, const struct device *b)
{
    if (gpus_is_partition(a) != gpus_is_partition(b))
        return gpus_is_partition(b);
    const int order = strcmp(a->named->key.second, b->named->key.second);
    if (order != 0)
        return order < 0;
    return a->slice == b->slice ? a < b : strcmp(a->slice->name, b->slice->name) < 0;
}

struct device_kind *gpus_kind(const struct gpu *gpu)
{
    const struct device *first = gpu->devices;
    const struct device *device = NULL;
    LL_FOREACH2(gpu->devices, device, next_of_gpu)
    {
        if (is_before(device, first))
            first = device;
    }
    return gpus_is_partition(first) ? first->kind->whole : first->kind;
}

void gpus_settle(struct devices *devices)
{
    while (devices->dirty_gpus) {
        struct gpu *gpu = devices->dirty_gpus;
        LL_DELETE2(devices->dirty_gpus, gpu, next_dirty);
        gpu->is_dirty = false;
        if (gpu->devices) {
            places_count(devices, &gpu->counted, gpu->node_pool, gpus_kind(gpu), gpus_state(gpu));
            continue;
        }
        places_count(devices, &gpu->counted, NULL, NULL, DEVICE_FREE);
        HASH_DEL(devices->gpus, gpu);
        node_pools_unref(devices, gpu->node_pool);
        free(gpu);
    }
}
