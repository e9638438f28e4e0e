/* annotations: see annotations.h. */
#include "annotations.h"
#include "affinity.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/nearest.h"
#include "fields.h"
#include "formats/json_parse.h"
#include "formats/json_values.h"
#include "ledger/cluster.h"
#include "objects/node.h"
#include "objects/pod.h"
#include "types/facts.h"
#include "types/policy.h"
#include "types/quantity.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

/* ---- the annotations gpu-extender.io/models, exclude-models and min-gpu-memory ---- */

/* Values of the annotations; NULL: absent. */
struct model_wants_texts {
    const char *models;
    const char *exclude_models;
    const char *min_gpu_memory;
};

/* A smaller value lacks its unit. */
#define MIN_SENSIBLE_BYTES ((int64_t)1024 * 1024)

struct wanted_models {
    const struct gpu_model *items;
    size_t n;
};

static size_t count_items(const char *text)
{
    size_t n = 1;
    for (; *text; text++)
        n += *text == ',';
    return n;
}

/* The item without surrounding space. */
static const char *trimmed(const char *item, size_t len, struct arena *arena)
{
    while (len > 0 && isspace((unsigned char)*item)) {
        item++;
        len--;
    }
    while (len > 0 && isspace((unsigned char)item[len - 1]))
        len--;
    return arena_strndup(arena, item, len);
}

static int read_item(const char *item, const struct policy *policy, struct arena *arena,
                     struct gpu_model *ret_model, struct err *err)
{
    if (*item == '\0')
        return err_set(err, EINVAL, "an item of the list is empty");
    if (!gpu_model_parse(item, policy->aliases, policy->n_aliases, ret_model))
        return err_set(err, EINVAL, "%s names no GPU model", quoted(arena, item));
    return 0;
}

static int read_models(const char *text, const struct policy *policy, struct arena *arena,
                       struct wanted_models *ret_list, struct err *err)
{
    if (!text)
        return 0;
    size_t n = count_items(text);
    struct gpu_model *models = ARENA_ARRAY(arena, struct gpu_model, n);
    for (size_t i = 0; i < n; i++) {
        size_t len = strcspn(text, ",");
        int r = read_item(trimmed(text, len, arena), policy, arena, &models[i], err);
        if (r < 0)
            return r;
        text += len + (text[len] == ',');
    }
    *ret_list = (struct wanted_models){models, n};
    return 0;
}

static int read_memory(const char *text, int64_t *ret_bytes, struct err *err)
{
    if (!text)
        return 0;
    int64_t bytes = 0;
    int r = quantity_value(text, &bytes, err);
    if (r == 0 && bytes < MIN_SENSIBLE_BYTES)
        r = err_set(err, EINVAL, "\"%.40s\" is less than 1Mi, should be as in 40Gi", text);
    if (r == 0)
        *ret_bytes = bytes;
    return r;
}

/* An accepted model that an exclusion rules out entirely. */
static int check_contradiction(const struct wanted_models *accept,
                               const struct wanted_models *exclude, struct err *err)
{
    char accepted[128];
    char excluded[128];
    for (size_t i = 0; i < accept->n; i++) {
        for (size_t j = 0; j < exclude->n; j++) {
            if (gpu_model_satisfies(&accept->items[i], 0, &exclude->items[j]))
                return err_set(err, EINVAL,
                               "annotation " ANNOTATION_MODELS " accepts %s, but "
                               "annotation " ANNOTATION_EXCLUDE_MODELS " excludes %s",
                               gpu_model_text(&accept->items[i], accepted),
                               gpu_model_text(&exclude->items[j], excluded));
        }
    }
    return 0;
}

/* -EINVAL: a value is invalid, or an accepted model is also excluded; the message names the
 * annotation. */
static int model_wants_read(const struct model_wants_texts *texts, const struct policy *policy,
                            struct arena *arena, struct model_wants *ret_wants, struct err *err)
{
    struct wanted_models accept = {0};
    struct wanted_models exclude = {0};
    int64_t min_bytes = 0;
    int r = read_models(texts->models, policy, arena, &accept, err);
    if (r < 0) {
        err_prefix(err, "annotation " ANNOTATION_MODELS ": ");
        return r;
    }
    if ((r = read_models(texts->exclude_models, policy, arena, &exclude, err)) < 0) {
        err_prefix(err, "annotation " ANNOTATION_EXCLUDE_MODELS ": ");
        return r;
    }
    if ((r = read_memory(texts->min_gpu_memory, &min_bytes, err)) < 0) {
        err_prefix(err, "annotation " ANNOTATION_MIN_GPU_MEMORY ": ");
        return r;
    }
    if ((r = check_contradiction(&accept, &exclude, err)) < 0)
        return r;
    *ret_wants = (struct model_wants){accept.items, accept.n, exclude.items, exclude.n, min_bytes};
    return 0;
}

/* ---- annotations ---- */

const char *annotations_own_name(const char *key)
{
    const size_t len = strlen(ANNOTATION_PREFIX);
    return strncmp(key, ANNOTATION_PREFIX, len) == 0 ? key + len : NULL;
}

/* All keys with our prefix in metadata; a test looks for others in the sources. */
static const char *const WISHES[] = {ANNOTATION_MODELS,         ANNOTATION_EXCLUDE_MODELS,
                                     ANNOTATION_MIN_GPU_MEMORY, ANNOTATION_ALLOW_SHARED,
                                     ANNOTATION_DOMAIN,         ANNOTATION_GANG,
                                     ANNOTATION_GANG_SIZE};
static const struct {
    const char *key, *carrier;
} ELSEWHERE[] = {
    {POD_BOUND_BY, ""},
    {NODE_QUARANTINE_LIFTED, "an annotation of nodes"},
    {ANNOTATION_PREFIX "wake", "an annotation of nodes"},
    {NAMESPACE_ENFORCED_LABEL, "a label of namespaces"},
};

const char *annotations_elsewhere(const char *name)
{
    for (size_t i = 0; i < sizeof ELSEWHERE / sizeof *ELSEWHERE; i++) {
        if (strcmp(annotations_own_name(ELSEWHERE[i].key), name) == 0)
            return ELSEWHERE[i].carrier;
    }
    return NULL;
}

bool annotations_is_of_gangs(const char *name)
{
    return strcmp(name, annotations_own_name(ANNOTATION_GANG)) == 0 ||
           strcmp(name, annotations_own_name(ANNOTATION_GANG_SIZE)) == 0;
}

const char *annotations_nearest(const char *name)
{
    struct nearest nearest = {.asked = name, .least = SIZE_MAX};
    for (size_t i = 0; i < sizeof WISHES / sizeof *WISHES; i++)
        (void)nearest_try(&nearest, annotations_own_name(WISHES[i]));
    if (!nearest.found)
        return "";
    return strcmp(nearest.found, name) == 0 ? NULL : nearest.found;
}

/* As Kubernetes' label values. */
#define GANG_NAME_MAX ((size_t)63)

static bool is_gang_name(const char *text)
{
    const size_t len = strlen(text);
    for (size_t i = 0; i < len; i++) {
        const bool is_edge = i == 0 || i + 1 == len;
        if (!isalnum((unsigned char)text[i]) && (is_edge || !strchr("-_.", text[i])))
            return false;
    }
    return len > 0 && len <= GANG_NAME_MAX;
}

/* 0: no whole number above 0 of at most six digits. */
static int64_t size_from_text(const char *text)
{
    int64_t size = 0;
    size_t i = 0;
    for (; i < 6 && text[i] >= '0' && text[i] <= '9'; i++)
        size = size * 10 + (text[i] - '0');
    return text[i] == '\0' ? size : 0;
}

/* Where a pod names its group and the size. */
struct gang_source {
    const char *name;  /* in the policy's gangs.conventions */
    const char *group; /* label or annotation */
    const char *part;  /* the same; NULL: the group has no parts */
    const char *size;
    /* Annotations of pods that are no group of this kind: they start one after the other, or choose
     * a domain one by one. */
    const char *never[2];
};

static const struct gang_source OWN = {NULL, ANNOTATION_GANG, NULL, ANNOTATION_GANG_SIZE, {NULL}};
/* Kueue's plain pods, LeaderWorkerSet, Koordinator's light gangs, YuniKorn: what a pod itself says.
 * Those of Volcano, of coscheduling and of kube-scheduler have their size in a PodGroup. */
static const struct gang_source CONVENTIONS[] = {
    {"kueue",
     "kueue.x-k8s.io/pod-group-name",
     NULL,
     "kueue.x-k8s.io/pod-group-total-count",
     {"kueue.x-k8s.io/pod-group-fast-admission", "kueue.x-k8s.io/pod-group-serving"}},
    {"lws/",
     "leaderworkerset.sigs.k8s.io/name",
     "leaderworkerset.sigs.k8s.io/group-index",
     "leaderworkerset.sigs.k8s.io/size",
     {ANNOTATION_EXCLUSIVE_TOPOLOGY}},
    {"koordinator",
     "gang.scheduling.koordinator.sh/name",
     NULL,
     "gang.scheduling.koordinator.sh/min-available",
     {NULL}},
    {"yunikorn",
     "yunikorn.apache.org/app-id",
     "yunikorn.apache.org/task-group-name",
     "yunikorn.apache.org/task-groups",
     {NULL}},
};
#define TASK_GROUPS_BYTES_MAX ((size_t)8192)

/* NULL: nothing; for other projects an empty value, too, names no group. */
static const char *said(const json_t *metadata, const struct gang_source *source, const char *key)
{
    const char *label = json_string_value(json_member(json_member(metadata, "labels"), key));
    const char *text = json_string_value(json_member(json_member(metadata, "annotations"), key));
    if (source == &OWN)
        return text;
    text = label ? label : text;
    return text && *text ? text : NULL;
}

/* YuniKorn's list, of the group's name. NULL: it is not in there. */
static const char *min_member(const char *list, const char *name, struct arena *arena)
{
    json_auto_t *groups = NULL;
    size_t i = 0;
    json_t *group = NULL;
    if (strlen(list) > TASK_GROUPS_BYTES_MAX ||
        json_parse(list, strlen(list), 0, &JSON_ANSWER, &groups, NULL) < 0)
        return list;
    json_array_foreach (groups, i, group) {
        const char *its = json_string_value(json_member(group, "name"));
        const json_t *least = json_member(group, "minMember");
        if (its && strcmp(its, name) == 0)
            return arena_printf(arena, "%" JSON_INTEGER_FORMAT, json_integer_value(least));
    }
    return NULL;
}

static int read_gang_size(const char *key, const char *text, const struct policy *policy,
                          struct arena *arena, int64_t *ret_size, struct err *err)
{
    const int64_t most = (int64_t)policy->gangs.max_size;
    const int64_t size = size_from_text(text);
    if (size < 1)
        return err_set(err, EINVAL,
                       "annotation %s: is %s, should be the number of the group's pods", key,
                       quoted(arena, text));
    if (size > most)
        return err_set(err, EINVAL,
                       "annotation %s: is %lld, should be at most %lld (the policy's "
                       "gangs.maxSize)",
                       key, (long long)size, (long long)most);
    *ret_size = size;
    return 0;
}

/* The words of a pod on its group; NULL: none. */
struct gang_words {
    const struct gang_source *source;
    const char *gang, *size;
};

static struct gang_words words_of(const struct gang_source *source, const json_t *metadata,
                                  struct arena *arena)
{
    struct gang_words words = {source, said(metadata, source, source->group),
                               said(metadata, source, source->size)};
    for (size_t i = 0; i < 2 && source->never[i]; i++) {
        if (json_member(json_member(metadata, "annotations"), source->never[i]))
            return (struct gang_words){0};
    }
    const char *part = source->part ? said(metadata, source, source->part) : NULL;
    if (!source->part || !words.gang)
        return words;
    if (part && words.size && strcmp(source->name, "yunikorn") == 0)
        words.size = min_member(words.size, part, arena);
    words.gang = part ? arena_printf(arena, "%s.%s", words.gang, part) : NULL;
    return words;
}

/* NULL: one of another namespace. */
static const struct gang_source *source_of(const char *convention, const char *namespace_)
{
    for (size_t i = 0; i < sizeof CONVENTIONS / sizeof *CONVENTIONS; i++) {
        const char *name = CONVENTIONS[i].name;
        const size_t len = strlen(name);
        if (strncmp(convention, name, len) == 0 &&
            strcmp(convention + len, name[len - 1] == '/' ? namespace_ : "") == 0)
            return &CONVENTIONS[i];
    }
    return NULL;
}

/* On each pod of a Job since Kubernetes 1.27. */
#define LABEL_JOB_NAME "batch.kubernetes.io/job-name"

/* "job" names no group, but the Job that made the pod: Jobs of one CronJob, or of one generateName,
 * have the same template. */
static int read_gang_name(const json_t *metadata, const struct gang_words *words,
                          struct arena *arena, const char **ret_name, struct err *err)
{
    const char *job =
        json_string_value(json_member(json_member(metadata, "labels"), LABEL_JOB_NAME));
    const bool is_by_job = words->source == &OWN && strcmp(words->gang, "job") == 0;
    if (is_by_job && (!job || !*job || strlen(job) > GANG_NAME_MAX))
        return err_set(err, EINVAL,
                       "annotation %s: is job, and no Job made the pod: it lacks the label %s",
                       ANNOTATION_GANG, LABEL_JOB_NAME);
    if (!is_by_job && !is_gang_name(words->gang))
        return err_set(err, EINVAL,
                       "annotation %s: is %s, should have 1 to 63 letters, digits, '-', '_' or "
                       "'.', and begin and end with a letter or digit",
                       words->source->group, quoted(arena, words->gang));
    *ret_name = arena_strdup(arena, is_by_job ? job : words->gang);
    return 0;
}

/* By the first convention that the pod follows whole. */
static struct gang_words foreign_words(const json_t *metadata, const char *namespace_,
                                       const struct gangs_policy *policy, struct arena *arena)
{
    for (size_t i = 0; i < policy->n_conventions; i++) {
        const struct gang_source *source = source_of(policy->conventions[i], namespace_);
        const struct gang_words words =
            source ? words_of(source, metadata, arena) : (struct gang_words){0};
        if (words.gang && words.size)
            return words;
    }
    return (struct gang_words){0};
}

int annotations_read_gang(const json_t *metadata, const struct policy *policy, struct arena *arena,
                          struct pod_facts *facts, struct err *err)
{
    if (policy->gangs.mode == GANGS_OFF)
        return 0;
    struct gang_words words = words_of(&OWN, metadata, arena);
    if (!words.gang && !words.size)
        words = foreign_words(metadata, facts->namespace_, &policy->gangs, arena);
    if (!words.gang && !words.size)
        return 0;
    if (!words.gang || !words.size)
        return err_set(err, EINVAL, "annotation %s: is missing, and %s is set: set both or none",
                       words.gang ? ANNOTATION_GANG_SIZE : ANNOTATION_GANG,
                       words.gang ? ANNOTATION_GANG : ANNOTATION_GANG_SIZE);
    const char *name = NULL;
    int r = read_gang_name(metadata, &words, arena, &name, err);
    if (r == 0)
        r = read_gang_size(words.source->size, words.size, policy, arena, &facts->gang_size, err);
    if (r == 0)
        facts->gang = name;
    return r;
}

json_t *annotations_legacy_affinity(const json_t *metadata)
{
    const char *text = json_string_value(
        json_member(json_member(metadata, "annotations"), ANNOTATION_LEGACY_AFFINITY));
    json_t *affinity = NULL;
    if (text && *text)
        (void)json_parse(text, strlen(text), 0, &JSON_ANSWER, &affinity, NULL);
    return affinity;
}

static void append_preferred(struct shape_facts *shape, const struct node_affinity *more,
                             struct arena *arena)
{
    if (more->n_preferred == 0)
        return;
    size_t n = shape->n_preferred;
    struct preferred_term *terms = ARENA_ARRAY(arena, struct preferred_term, n + more->n_preferred);
    if (n > 0)
        memcpy(terms, shape->preferred, n * sizeof *terms);
    memcpy(terms + n, more->preferred, more->n_preferred * sizeof *terms);
    shape->preferred = terms;
    shape->n_preferred = n + more->n_preferred;
}

static int read_legacy(const char *text, const struct policy *policy, struct arena *arena,
                       struct shape_facts *shape, struct err *err)
{
    if (!text || !*text)
        return 0;
    json_auto_t *affinity = NULL;
    struct node_affinity found = {0};
    int r = json_parse(text, strlen(text), 0, &JSON_ANSWER, &affinity, err);
    if (r == 0 && !json_is_object(affinity))
        r = err_set(err, EINVAL, "is %s, should be an object", json_type_text(affinity));
    if (r == 0)
        r = affinity_read_node_affinity(affinity, policy, arena, &found, err);
    if (r < 0)
        return r;
    shape->legacy_affinity = found.required;
    append_preferred(shape, &found, arena);
    return 0;
}

/* NULL: no such key. */
static const char *text_of(const struct label_map *annotations, const char *key)
{
    for (size_t i = 0; i < annotations->n; i++) {
        if (strcmp(annotations->labels[i].key, key) == 0)
            return annotations->labels[i].value;
    }
    return NULL;
}

/* The ledger keeps these values, and each node is compared with each item under its lock. Tenants
 * must not control that cost. */
static const struct {
    const char *key;
    size_t max_bytes;
} LENGTHS[] = {
    {ANNOTATION_LEGACY_AFFINITY, 8192}, {ANNOTATION_MODELS, 1024},
    {ANNOTATION_EXCLUDE_MODELS, 1024},  {ANNOTATION_MIN_GPU_MEMORY, 1024},
    {ANNOTATION_ALLOW_SHARED, 1024},
};

static int check_lengths(const struct label_map *annotations, struct err *err)
{
    for (size_t i = 0; i < sizeof LENGTHS / sizeof *LENGTHS; i++) {
        const char *text = text_of(annotations, LENGTHS[i].key);
        size_t len = text ? strlen(text) : 0;
        if (len > LENGTHS[i].max_bytes)
            return err_set(err, EINVAL, "annotation %s: is %zu bytes long, should be at most %zu",
                           LENGTHS[i].key, len, LENGTHS[i].max_bytes);
    }
    return 0;
}

static int read_allow_shared(const char *text, struct arena *arena, enum allow_shared *ret_allow,
                             struct err *err)
{
    if (!text)
        return 0;
    if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
        return err_set(err, EINVAL,
                       "annotation " ANNOTATION_ALLOW_SHARED
                       ": is %s, should be \"true\" or \"false\"",
                       quoted(arena, text));
    *ret_allow = strcmp(text, "true") == 0 ? ALLOW_SHARED_YES : ALLOW_SHARED_NO;
    return 0;
}

int annotations_read(const json_t *metadata, const struct policy *policy, struct arena *arena,
                     struct shape_facts *shape, const char **ret_refusal, struct err *err)
{
    struct label_map annotations = {0};
    int r = label_map_read(metadata, "annotations", arena, &annotations, err);
    if (r < 0)
        return r;
    struct err why = {""};
    if (check_lengths(&annotations, &why) < 0) {
        *ret_refusal = arena_strdup(arena, why.text);
        return 0;
    }
    const char *legacy = text_of(&annotations, ANNOTATION_LEGACY_AFFINITY);
    if (read_legacy(legacy, policy, arena, shape, &why) < 0) {
        err_prefix(&why, "annotation " ANNOTATION_LEGACY_AFFINITY ": ");
        *ret_refusal = arena_strdup(arena, why.text);
        return 0;
    }
    const struct model_wants_texts texts = {
        .models = text_of(&annotations, ANNOTATION_MODELS),
        .exclude_models = text_of(&annotations, ANNOTATION_EXCLUDE_MODELS),
        .min_gpu_memory = text_of(&annotations, ANNOTATION_MIN_GPU_MEMORY),
    };
    const char *allow_shared = text_of(&annotations, ANNOTATION_ALLOW_SHARED);
    if (model_wants_read(&texts, policy, arena, &shape->wants, &why) < 0 ||
        read_allow_shared(allow_shared, arena, &shape->allow_shared, &why) < 0)
        *ret_refusal = arena_strdup(arena, why.text);
    return 0;
}
