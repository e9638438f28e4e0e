/* node_traits: what a node is: labels, taints, model. See include/ledger/cluster.h. */
#include "base/mem.h"
#include "gpu_parts.h"
#include "kept_labels.h"
#include "ledger.h"
#include "types/quantity.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NVIDIA GPU feature discovery: MiB of one GPU. */
#define MEMORY_LABEL "nvidia.com/gpu.memory"
#define ZONE_LABEL "topology.kubernetes.io/zone"
#define MIB ((int64_t)1024 * 1024)

static struct taint *copy_taints(struct words *words, const struct node_facts *facts)
{
    struct taint *taints = MEM_ARRAY(struct taint, facts->n_taints);
    for (size_t i = 0; i < facts->n_taints; i++) {
        taints[i] = facts->taints[i];
        taints[i].key = words_hold(words, facts->taints[i].key);
        taints[i].value = words_hold(words, facts->taints[i].value);
    }
    return taints;
}

/* The first label of the policy's list whose value names a model decides. */
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

static int64_t find_gpu_memory(const struct node_traits *traits)
{
    const char *text = labels_find(traits->view.labels, traits->view.n_labels, MEMORY_LABEL);
    int64_t mib = 0;
    if (text && quantity_whole(text, &mib, NULL) == 0 && mib > 0 && mib <= INT64_MAX / MIB)
        return mib * MIB;
    return gpu_model_memory_bytes(&traits->model);
}

/* GPU feature discovery drops its labels for about a minute at each restart. GPUs in use must not
 * leave a quota meanwhile, and pods that come meanwhile must not pass it: so where the labels name
 * no model, or no memory of the same chip, what they named before is counted on. before: the traits
 * of that name until now, or NULL; where the UID differs it is another node. */
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

/* All that a wish for a model, and a quota, are judged by. */
static const char *hold_model_word(struct words *words, const struct node_traits *traits)
{
    char model[2 * GPU_MODEL_TEXT_MAX];
    char text[sizeof model + sizeof traits->model.mig_profile + 96];
    (void)snprintf(text, sizeof text, "%s %d %s %" PRId64 " %" PRIx64,
                   gpu_model_text(&traits->model, model), (int)traits->model.sharing,
                   traits->model.mig_profile, traits->gpu_memory_bytes, traits->quota_models);
    return words_hold(words, text);
}

struct traits_entry *traits_new(struct cluster *cluster, const struct node_facts *facts,
                                const struct traits_entry *before)
{
    struct words *words = &cluster->shapes->words;
    struct traits_entry *entry = MEM_NEW(struct traits_entry);
    entry->refs = 1;
    entry->labels = kept_labels_new(words, facts->labels, facts->n_labels);
    entry->taints = copy_taints(words, facts);
    struct node_traits *traits = &entry->traits;
    traits->view = (struct label_view){
        .node_name = words_hold(words, facts->name),
        .labels = entry->labels,
        .n_labels = facts->n_labels,
        .policy = cluster->policy,
    };
    traits->uid = words_hold(words, facts->uid ? facts->uid : "");
    traits->taints = entry->taints;
    traits->n_taints = facts->n_taints;
    traits->unschedulable = facts->unschedulable;
    traits->ready = facts->ready;
    traits->zone = labels_find(entry->labels, facts->n_labels, ZONE_LABEL);
    find_model(traits);
    traits->gpu_memory_bytes = find_gpu_memory(traits);
    find_counted_model(traits, before ? &before->traits : NULL);
    traits->quota_models =
        policy_quota_models(cluster->policy, &traits->counted_model, traits->counted_memory_bytes);
    traits->model_word = hold_model_word(words, traits);
    gpu_parts_find(facts, traits);
    return entry;
}

void traits_hold(struct traits_entry *entry)
{
    entry->refs++;
}

void traits_drop(struct cluster *cluster, struct traits_entry *entry)
{
    struct words *words = &cluster->shapes->words;
    if (!entry || --entry->refs > 0)
        return;
    kept_labels_free(words, entry->labels, entry->traits.view.n_labels);
    for (size_t i = 0; i < entry->traits.n_taints; i++) {
        words_drop(words, entry->taints[i].key);
        words_drop(words, entry->taints[i].value);
    }
    words_drop(words, entry->traits.model_word);
    words_drop(words, entry->traits.view.node_name);
    words_drop(words, entry->traits.uid);
    free(entry->taints);
    free(entry);
}

/* The model and the memory follow from the labels; whether GPUs are shared, not from these alone.
 */
bool traits_equal(const struct node_traits *a, const struct node_traits *b)
{
    if (a->unschedulable != b->unschedulable || a->ready != b->ready ||
        a->shares_gpus != b->shares_gpus || a->slices_gpus != b->slices_gpus ||
        strcmp(a->uid, b->uid) != 0 || a->n_taints != b->n_taints ||
        !kept_labels_equal(a->view.labels, a->view.n_labels, b->view.labels, b->view.n_labels))
        return false;
    for (size_t i = 0; i < a->n_taints; i++) {
        if (a->taints[i].effect != b->taints[i].effect ||
            strcmp(a->taints[i].key, b->taints[i].key) != 0 ||
            strcmp(a->taints[i].value, b->taints[i].value) != 0)
            return false;
    }
    return true;
}
