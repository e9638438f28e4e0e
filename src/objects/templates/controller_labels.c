/* controller_labels: see template_walk.h. Sources: DefaultDeploymentUniqueLabelKey and its
 * neighbours in k8s.io/api/apps/v1, and k8s.io/api/batch/v1. */
#include "formats/json_values.h"
#include "objects/fields.h"
#include "objects/templates/template_walk.h"

#include <stdint.h>
#include <string.h>

/* Parentheses are not allowed in a label's value. */
#define NEW_VALUE "(new)"

enum label_value { OF_REVISION, OF_OBJECT, OF_EACH_POD };

static const struct controller_label {
    const char *kind;
    const char *key;
    enum label_value value;
} LABELS[] = {
    {"CronJob", "batch.kubernetes.io/controller-uid", OF_REVISION},
    {"CronJob", "batch.kubernetes.io/job-completion-index", OF_EACH_POD},
    {"CronJob", "batch.kubernetes.io/job-name", OF_REVISION},
    {"CronJob", "controller-uid", OF_REVISION},
    {"CronJob", "job-name", OF_REVISION},
    {"DaemonSet", "controller-revision-hash", OF_REVISION},
    {"DaemonSet", "pod-template-generation", OF_REVISION},
    {"Deployment", "pod-template-hash", OF_REVISION},
    {"Job", "batch.kubernetes.io/controller-uid", OF_REVISION},
    {"Job", "batch.kubernetes.io/job-completion-index", OF_EACH_POD},
    {"Job", "batch.kubernetes.io/job-name", OF_OBJECT},
    {"Job", "controller-uid", OF_REVISION},
    {"Job", "job-name", OF_OBJECT},
    {"JobSet", "batch.kubernetes.io/job-name", OF_REVISION},
    {"StatefulSet", "apps.kubernetes.io/pod-index", OF_EACH_POD},
    {"StatefulSet", "controller-revision-hash", OF_REVISION},
    {"StatefulSet", "statefulset.kubernetes.io/pod-name", OF_EACH_POD},
};
#define N_LABELS (sizeof LABELS / sizeof *LABELS)

/* ---- adding ---- */

/* A copy of the member of the object, put in its place. NULL: it is something else. */
static json_t *own_member(json_t *object, const char *key)
{
    json_t *member = json_object_get(object, key);
    if (member && !json_is_null(member) && !json_is_object(member))
        return NULL;
    json_t *copy = json_is_object(member) ? json_copy(member) : json_object();
    (void)json_object_set_new(object, key, copy);
    return copy;
}

static void add_labels(json_t *labels, const struct controller *controller)
{
    for (size_t i = 0; i < N_LABELS; i++) {
        if (strcmp(LABELS[i].kind, controller->kind) != 0 || LABELS[i].value == OF_EACH_POD)
            continue;
        const char *value = LABELS[i].value == OF_OBJECT ? controller->name : NEW_VALUE;
        (void)json_object_set_new(labels, LABELS[i].key, json_string(value));
    }
}

json_t *controller_labels_add(const json_t *made, const struct controller *controller)
{
    json_t *copy = json_copy((json_t *)(uintptr_t)made);
    json_t *metadata = own_member(copy, "metadata");
    json_t *labels = metadata ? own_member(metadata, "labels") : NULL;
    if (labels)
        add_labels(labels, controller);
    return copy;
}

/* ---- what is not evaluated ---- */

struct keys {
    const json_t *labels; /* of the template */
    const struct controller *controller;
    struct lines lines;
};

static const struct controller_label *find_label(const struct controller *controller,
                                                 const char *key)
{
    for (size_t i = 0; i < N_LABELS; i++) {
        if (strcmp(LABELS[i].kind, controller->kind) == 0 && strcmp(LABELS[i].key, key) == 0)
            return &LABELS[i];
    }
    return NULL;
}

static void add_key(struct keys *keys, const char *member, const char *key)
{
    const struct controller_label *label = find_label(keys->controller, key);
    struct lines *lines = &keys->lines;
    const char *shown = quoted_plain(lines->arena, key);
    if (label && label->value == OF_REVISION)
        lines_add(lines,
                  "%s %s: judged as a new revision, whose value no running pod has, because the "
                  "controller sets it",
                  member, shown);
    else if (label && label->value == OF_EACH_POD)
        lines_add(lines, "%s %s: each pod has its own value; judged without this key", member,
                  shown);
    else if (!label && !keys->controller->is_known && !json_object_get(keys->labels, key))
        lines_add(lines,
                  "%s %s: the template has no such label; judged as if the controller added none",
                  member, shown);
}

/* The term, or the constraint. */
static void add_keys(struct keys *keys, const json_t *term)
{
    static const char *const MEMBERS[] = {"matchLabelKeys", "mismatchLabelKeys"};
    for (size_t i = 0; i < sizeof MEMBERS / sizeof *MEMBERS; i++) {
        const json_t *names = json_member(term, MEMBERS[i]);
        for (size_t j = 0; j < json_array_size(names); j++) {
            const char *key = json_string_value(json_array_get(names, j));
            if (key)
                add_key(keys, MEMBERS[i], key);
        }
    }
}

static void add_affinity(struct keys *keys, const json_t *affinity)
{
    const json_t *terms = json_member(affinity, "requiredDuringSchedulingIgnoredDuringExecution");
    for (size_t i = 0; i < json_array_size(terms); i++)
        add_keys(keys, json_array_get(terms, i));
}

static void add_spread(struct keys *keys, const json_t *constraints)
{
    for (size_t i = 0; i < json_array_size(constraints); i++) {
        const json_t *constraint = json_array_get(constraints, i);
        const char *hard = json_string_value(json_member(constraint, "whenUnsatisfiable"));
        if (hard && strcmp(hard, "DoNotSchedule") == 0)
            add_keys(keys, constraint);
    }
}

struct text_list controller_labels_not_evaluated(const json_t *made,
                                                 const struct controller *controller,
                                                 struct arena *arena)
{
    const json_t *spec = json_member(made, "spec");
    const json_t *affinity = json_member(spec, "affinity");
    struct keys keys = {.labels = json_member(json_member(made, "metadata"), "labels"),
                        .controller = controller,
                        .lines = {.arena = arena}};
    add_affinity(&keys, json_member(affinity, "podAffinity"));
    add_affinity(&keys, json_member(affinity, "podAntiAffinity"));
    add_spread(&keys, json_member(spec, "topologySpreadConstraints"));
    return lines_list(&keys.lines);
}
