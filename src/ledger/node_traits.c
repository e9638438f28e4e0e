/*
 * node_traits: labels, taints and model of a node, and what its units of GPUs are (gpu_units.c).
 * See include/ledger/cluster.h.
 */
#include "base/mem.h"
#include "gpu_units.h"
#include "ledger.h"
#include "ledger/room.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ZONE_LABEL "topology.kubernetes.io/zone"

static struct taint *copy_taints(struct string_table *strings, const struct taint *of, size_t n)
{
    struct taint *taints = MEM_ARRAY(struct taint, n);
    for (size_t i = 0; i < n; i++) {
        taints[i] = of[i];
        taints[i].key = string_table_intern(strings, of[i].key);
        taints[i].value = string_table_intern(strings, of[i].value);
    }
    return taints;
}

/* The first label in the policy's list whose value names a model decides. */
static void find_model(struct node_traits *traits)
{
    const struct policy *policy = traits->view.policy;
    traits->model_label = "";
    traits->model_value = "";
    for (size_t i = 0; i < policy->n_model_labels; i++) {
        const char *value =
            labels_find(traits->view.labels, traits->view.n_labels, policy->model_labels[i]);
        if (!value || !gpu_model_parse(value, policy->aliases, policy->n_aliases, &traits->model))
            continue;
        traits->model_label = policy->model_labels[i];
        traits->model_value = value;
        return;
    }
}

static const char *intern_domain(struct string_table *strings, const char *resource)
{
    char domain[256];
    (void)snprintf(domain, sizeof domain, "%.*s", (int)strcspn(resource, "/"), resource);
    return string_table_intern(strings, domain);
}

/* As in struct node_traits. An empty allocatable defaults to capacity. */
static const char *find_plugin_domain(const struct cluster *cluster, const struct node_facts *facts)
{
    const bool has_own = facts->n_allocatable > 0;
    const struct amount *amounts = has_own ? facts->allocatable : facts->capacity;
    const size_t n = has_own ? facts->n_allocatable : facts->n_capacity;
    const char *found = "";
    for (size_t i = 0; i < n; i++) {
        const char *name = amounts[i].resource;
        if (amounts[i].amount <= 0 || !policy_is_gpu_resource(cluster->policy, name))
            continue;
        if (found[0] && (strcspn(found, "/") != strcspn(name, "/") ||
                         strncmp(found, name, strcspn(name, "/")) != 0))
            return string_table_intern(&cluster->shapes->strings, "*");
        found = name;
    }
    return intern_domain(&cluster->shapes->strings, found);
}

/* Labels win, as users write them, and drivers do not. */
static void find_model_of_devices(const struct cluster *cluster, struct node_traits *traits)
{
    const struct model_of_devices devices = node_devices_model(cluster, traits);
    struct string_table *strings = &cluster->shapes->strings;
    if (!traits->model_label[0])
        traits->model = devices.driver ? *devices.model : (struct gpu_model){.chip = ""};
    traits->model_driver = string_table_intern(
        strings, devices.driver && !traits->model_label[0] ? devices.driver : "");
}

static bool is_part(const struct gpu_unit *unit)
{
    return unit->is_shared || unit->is_slice;
}

/* The kind of the first parts is that of the node, unless the model's name tells it. */
static void name_parts(struct node_traits *traits)
{
    struct gpu_model *model = &traits->model;
    const struct gpu_unit *parts = NULL;
    for (size_t i = 0; i < traits->units.n && !parts; i++) {
        if (is_part(&traits->units.items[i]))
            parts = &traits->units.items[i];
    }
    traits->has_parts = parts != NULL;
    if (!parts || model->sharing != GPU_WHOLE)
        return;
    if (parts->is_slice)
        model->sharing = GPU_MIG_SLICED;
    else
        model->sharing = parts->partition[0] ? GPU_PARTITIONED : GPU_TIME_SHARED;
    memcpy(model->mig_profile, parts->partition, sizeof model->mig_profile);
}

static int64_t find_gpu_memory(const struct cluster *cluster, const struct node_traits *traits)
{
    const int64_t of_labels = gpu_units_memory_by_labels(traits);
    if (of_labels > 0)
        return of_labels;
    const int64_t of_devices = node_devices_model(cluster, traits).memory_bytes;
    if (traits->model_driver[0] && of_devices > 0)
        return of_devices;
    return gpu_model_memory_bytes(&traits->model);
}

/* Without labels or a name it is that of the node's devices, unless the unit is a part. */
static void complete_units(struct node_traits *traits)
{
    for (size_t i = 0; i < traits->units.n; i++) {
        struct gpu_unit *unit = &traits->units.items[i];
        if (!unit->has_own_memory && !unit->is_part)
            unit->memory_bytes = traits->gpu_memory_bytes;
    }
}

/* GPU feature discovery removes its labels for about a minute at each restart. Meanwhile GPUs in
 * use must not leave a quota, nor new pods exceed it. So a node whose labels name no model, or no
 * memory of the same chip, keeps its last counted values. before: traits of that name until now, or
 * NULL; a different UID means another node. */
static void find_counted_model(struct node_traits *traits, const struct node_traits *before)
{
    const bool was_here = before && strcmp(before->uid, traits->uid) == 0;
    traits->counted_model = traits->model;
    traits->counted_memory_bytes = traits->gpu_memory_bytes;
    if (!was_here)
        return;
    if (!traits->model.chip[0])
        traits->counted_model = before->counted_model;
    if (traits->gpu_memory_bytes == 0 &&
        strcmp(traits->counted_model.chip, before->counted_model.chip) == 0)
        traits->counted_memory_bytes = before->counted_memory_bytes;
}

static uint64_t digest_units(const struct gpu_units *units)
{
    uint64_t digest = 0;
    for (size_t i = 0; i < units->n; i++) {
        const struct gpu_unit *unit = &units->items[i];
        digest = room_mix(digest, (uint64_t)(uintptr_t)unit->resource);
        digest = room_mix(digest, (uint64_t)unit->memory_bytes);
        digest = room_mix(digest, (uint64_t)unit->is_shared << 1 | unit->is_slice);
    }
    return digest;
}

/* Everything that judges a model wish or a quota. */
static const char *intern_model_word(struct string_table *strings, const struct node_traits *traits)
{
    char model[2 * GPU_MODEL_TEXT_MAX];
    char text[sizeof model + sizeof traits->model.mig_profile + 128];
    (void)snprintf(text, sizeof text, "%s %d %s %" PRId64 " %" PRIx64 " %" PRIx64,
                   gpu_model_text(&traits->model, model), (int)traits->model.sharing,
                   traits->model.mig_profile, traits->gpu_memory_bytes, traits->quota_models,
                   digest_units(&traits->units));
    return string_table_intern(strings, text);
}

/* All that follows from the model. */
static void complete(struct cluster *cluster, struct node_traits *traits,
                     const struct node_traits *before)
{
    find_model_of_devices(cluster, traits);
    name_parts(traits);
    traits->gpu_memory_bytes = find_gpu_memory(cluster, traits);
    complete_units(traits);
    find_counted_model(traits, before);
    traits->quota_models =
        policy_quota_models(cluster->policy, &traits->counted_model, traits->counted_memory_bytes);
    traits->model_word = intern_model_word(&cluster->shapes->strings, traits);
}

struct traits_entry *node_traits_new(struct cluster *cluster, const struct node_facts *facts,
                                     const struct traits_entry *before)
{
    struct string_table *strings = &cluster->shapes->strings;
    struct traits_entry *entry = MEM_NEW(struct traits_entry);
    entry->refs = 1;
    entry->labels = string_table_intern_labels(strings, facts->labels, facts->n_labels);
    entry->taints = copy_taints(strings, facts->taints, facts->n_taints);
    struct node_traits *traits = &entry->traits;
    traits->view = (struct label_view){
        .node_name = string_table_intern(strings, facts->name),
        .labels = entry->labels,
        .n_labels = facts->n_labels,
        .policy = cluster->policy,
    };
    traits->uid = string_table_intern(strings, facts->uid ? facts->uid : "");
    traits->taints = entry->taints;
    traits->n_taints = facts->n_taints;
    traits->unschedulable = facts->unschedulable;
    traits->ready = facts->ready;
    traits->zone = labels_find(entry->labels, facts->n_labels, ZONE_LABEL);
    traits->plugin_domain = find_plugin_domain(cluster, facts);
    find_model(traits);
    traits->units = gpu_units_find(cluster, facts, traits);
    complete(cluster, traits, before ? &before->traits : NULL);
    return entry;
}

const struct gpu_unit *node_traits_unit(const struct node_traits *traits, const char *resource)
{
    for (size_t i = 0; i < traits->units.n; i++) {
        if (strcmp(traits->units.items[i].resource, resource) == 0)
            return &traits->units.items[i];
    }
    return NULL;
}

bool node_traits_has_model(const struct cluster *cluster, const struct node_traits *traits)
{
    char has[2 * GPU_MODEL_TEXT_MAX];
    const struct model_of_devices devices = node_devices_model(cluster, traits);
    if (traits->model_label[0])
        return true;
    return strcmp(traits->model_driver, devices.driver ? devices.driver : "") == 0 &&
           (!devices.driver || (strcmp(gpu_model_text(&traits->model, has), devices.name) == 0 &&
                                traits->gpu_memory_bytes == find_gpu_memory(cluster, traits)));
}

struct traits_entry *node_traits_by_devices(struct cluster *cluster,
                                            const struct traits_entry *before)
{
    struct string_table *strings = &cluster->shapes->strings;
    const struct node_traits *traits = &before->traits;
    if (node_traits_has_model(cluster, traits))
        return NULL;
    struct traits_entry *entry = MEM_NEW(struct traits_entry);
    entry->refs = 1;
    entry->labels = string_table_intern_labels(strings, traits->view.labels, traits->view.n_labels);
    entry->taints = copy_taints(strings, traits->taints, traits->n_taints);
    entry->traits = *traits;
    entry->traits.view.labels = entry->labels;
    entry->traits.view.node_name = string_table_intern(strings, traits->view.node_name);
    entry->traits.uid = string_table_intern(strings, traits->uid);
    entry->traits.plugin_domain = string_table_intern(strings, traits->plugin_domain);
    entry->traits.taints = entry->taints;
    entry->traits.units = gpu_units_copy(strings, &traits->units);
    complete(cluster, &entry->traits, traits);
    return entry;
}

void node_traits_ref(struct traits_entry *entry)
{
    entry->refs++;
}

void node_traits_unref(struct cluster *cluster, struct traits_entry *entry)
{
    struct string_table *strings = &cluster->shapes->strings;
    if (!entry || --entry->refs > 0)
        return;
    string_table_unref_labels(strings, entry->labels, entry->traits.view.n_labels);
    for (size_t i = 0; i < entry->traits.n_taints; i++) {
        string_table_unref(strings, entry->taints[i].key);
        string_table_unref(strings, entry->taints[i].value);
    }
    string_table_unref(strings, entry->traits.model_word);
    string_table_unref(strings, entry->traits.view.node_name);
    string_table_unref(strings, entry->traits.uid);
    string_table_unref(strings, entry->traits.plugin_domain);
    string_table_unref(strings, entry->traits.model_driver);
    gpu_units_free(strings, &entry->traits.units);
    free(entry->taints);
    free(entry);
}

/* Model and memory follow from the labels, and from devices that are as before; sharing also
 * depends on the resources. */
bool node_traits_equal(const struct node_traits *a, const struct node_traits *b)
{
    if (a->unschedulable != b->unschedulable || a->ready != b->ready ||
        !gpu_units_equal(&a->units, &b->units) || strcmp(a->uid, b->uid) != 0 ||
        strcmp(a->plugin_domain, b->plugin_domain) != 0 || a->n_taints != b->n_taints ||
        !string_table_equal_labels(a->view.labels, a->view.n_labels, b->view.labels,
                                   b->view.n_labels))
        return false;
    for (size_t i = 0; i < a->n_taints; i++) {
        if (a->taints[i].effect != b->taints[i].effect ||
            strcmp(a->taints[i].key, b->taints[i].key) != 0 ||
            strcmp(a->taints[i].value, b->taints[i].value) != 0)
            return false;
    }
    return true;
}
