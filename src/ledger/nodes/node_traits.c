/*
 * node_traits: labels, taints and model of a node, and what its units of GPUs are (gpu_units.c).
 * See include/ledger/cluster.h.
 */
#include "base/buf.h"
#include "base/mem.h"
#include "ledger/ledger.h"
#include "ledger/nodes/node_index.h"
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

/* Labels win, as users write them, and drivers do not. */
static void find_model_of_devices(const struct cluster *cluster, const struct node_traits *traits,
                                  struct gpu_kind *kind)
{
    const struct model_of_devices devices = node_devices_model(cluster, traits, kind);
    struct string_table *strings = &cluster->shapes->strings;
    if (!kind->label[0])
        kind->model = devices.driver ? *devices.model : (struct gpu_model){.chip = ""};
    kind->driver =
        string_table_intern(strings, devices.driver && !kind->label[0] ? devices.driver : "");
}

static bool is_part(const struct gpu_unit *unit)
{
    return unit->is_shared || unit->is_slice;
}

/* The kind of the first parts is that of the vendor's GPUs, unless the model's name tells it. */
static void name_parts(struct node_traits *traits, struct gpu_kind *kind)
{
    struct gpu_model *model = &kind->model;
    const struct gpu_unit *parts = NULL;
    for (size_t i = 0; i < traits->units.n && !parts; i++) {
        const struct gpu_unit *unit = &traits->units.items[i];
        if (is_part(unit) && node_traits_gpus(traits, unit->resource) == kind)
            parts = unit;
    }
    traits->has_parts |= parts != NULL;
    if (!parts || model->sharing != GPU_WHOLE)
        return;
    if (parts->is_slice)
        model->sharing = GPU_MIG_SLICED;
    else
        model->sharing = parts->partition[0] ? GPU_PARTITIONED : GPU_TIME_SHARED;
    memcpy(model->mig_profile, parts->partition, sizeof model->mig_profile);
}

static int64_t find_gpu_memory(const struct cluster *cluster, const struct node_traits *traits,
                               const struct gpu_kind *kind)
{
    const int64_t of_labels = gpu_units_memory_by_labels(traits, kind);
    if (of_labels > 0)
        return of_labels;
    const int64_t of_devices = node_devices_model(cluster, traits, kind).memory_bytes;
    if (kind->driver[0] && of_devices > 0)
        return of_devices;
    return gpu_model_memory_bytes(&kind->model);
}

/* Without labels or a name it is that of the node's devices, unless the unit is a part. */
static void complete_units(struct node_traits *traits)
{
    for (size_t i = 0; i < traits->units.n; i++) {
        struct gpu_unit *unit = &traits->units.items[i];
        if (!unit->has_own_memory && !unit->is_part)
            unit->memory_bytes = node_traits_gpus(traits, unit->resource)->memory_bytes;
    }
}

/* GPU feature discovery removes its labels for about a minute at each restart. Meanwhile GPUs in
 * use must not leave a quota, nor new pods exceed it. So GPUs whose labels name no model, or no
 * memory of the same chip, keep their last counted values. before: traits of that name until now,
 * or NULL; a different UID means another node. */
static void find_counted_model(struct gpu_kind *kind, const char *uid,
                               const struct node_traits *before)
{
    const bool was_here = before && strcmp(before->uid, uid) == 0;
    const struct gpu_kind *last = was_here ? gpu_kinds_of_domain(before, kind->domain) : NULL;
    kind->counted_model = kind->model;
    kind->counted_memory_bytes = kind->memory_bytes;
    if (!last)
        return;
    if (!kind->model.chip[0])
        kind->counted_model = last->counted_model;
    if (kind->memory_bytes == 0 && strcmp(kind->counted_model.chip, last->counted_model.chip) == 0)
        kind->counted_memory_bytes = last->counted_memory_bytes;
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

static void add_kind(const struct gpu_kind *kind, struct buf *text)
{
    char model[2 * GPU_MODEL_TEXT_MAX];
    buf_printf(text, "%s %d %s %" PRId64 " %" PRIx64 " ", gpu_model_text(&kind->model, model),
               (int)kind->model.sharing, kind->model.mig_profile, kind->memory_bytes,
               kind->quota_models);
}

/* Everything that judges a model wish or a quota. */
static const char *intern_model_word(struct string_table *strings, const struct node_traits *traits)
{
    struct buf text;
    buf_init(&text, BUF_UNBOUNDED); /* of a few vendors */
    add_kind(&traits->gpus, &text);
    for (size_t i = 0; i < traits->n_others; i++) {
        buf_printf(&text, "%s ", traits->others[i].domain);
        add_kind(&traits->others[i], &text);
    }
    buf_printf(&text, "%" PRIx64, digest_units(&traits->units));
    const char *word = string_table_intern(strings, buf_text(&text));
    buf_fini(&text);
    return word;
}

static void complete_kind(struct cluster *cluster, struct node_traits *traits,
                          const struct node_traits *before, struct gpu_kind *kind)
{
    find_model_of_devices(cluster, traits, kind);
    name_parts(traits, kind);
    kind->memory_bytes = find_gpu_memory(cluster, traits, kind);
    find_counted_model(kind, traits->uid, before);
    kind->quota_models =
        policy_quota_models(cluster->policy, &kind->counted_model, kind->counted_memory_bytes);
}

/* All that follows from the models. */
static void complete(struct cluster *cluster, struct node_traits *traits,
                     const struct node_traits *before)
{
    complete_kind(cluster, traits, before, &traits->gpus);
    for (size_t i = 0; i < traits->n_others; i++)
        complete_kind(cluster, traits, before, &traits->others[i]);
    complete_units(traits);
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
    traits->conditions = string_table_intern(strings, facts->conditions ? facts->conditions : "");
    traits->taints = entry->taints;
    traits->n_taints = facts->n_taints;
    traits->unschedulable = facts->unschedulable;
    traits->ready = facts->ready;
    traits->zone = labels_find(entry->labels, facts->n_labels, ZONE_LABEL);
    gpu_kinds_find(strings, facts, traits);
    traits->units = gpu_units_find(cluster, facts, traits);
    complete(cluster, traits, before ? &before->traits : NULL);
    return entry;
}

const char *gpu_unit_word(const struct gpu_unit *unit)
{
    if (!unit || (!unit->is_part && !is_part(unit)))
        return "gpu";
    return unit->is_shared ? "share" : "slice";
}

const struct gpu_unit *node_traits_unit(const struct node_traits *traits, const char *resource)
{
    for (size_t i = 0; i < traits->units.n; i++) {
        if (strcmp(traits->units.items[i].resource, resource) == 0)
            return &traits->units.items[i];
    }
    return NULL;
}

static bool is_model_of_devices(const struct cluster *cluster, const struct node_traits *traits,
                                const struct gpu_kind *kind)
{
    char has[2 * GPU_MODEL_TEXT_MAX];
    const struct model_of_devices devices = node_devices_model(cluster, traits, kind);
    return strcmp(kind->driver, devices.driver ? devices.driver : "") == 0 &&
           (!devices.driver || (strcmp(gpu_model_text(&kind->model, has), devices.name) == 0 &&
                                kind->memory_bytes == find_gpu_memory(cluster, traits, kind)));
}

bool node_traits_has_model(const struct cluster *cluster, const struct node_traits *traits)
{
    for (const struct gpu_kind *kind = NULL; (kind = node_traits_next_kind(traits, kind));) {
        if (!kind->label[0] && !is_model_of_devices(cluster, traits, kind))
            return false;
    }
    return true;
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
    entry->traits.conditions = string_table_intern(strings, traits->conditions);
    gpu_kinds_copy(strings, &entry->traits);
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
    string_table_unref(strings, entry->traits.conditions);
    gpu_kinds_free(strings, &entry->traits);
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
        strcmp(a->conditions, b->conditions) != 0 || !gpu_kinds_equal(a, b) ||
        a->n_taints != b->n_taints ||
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
