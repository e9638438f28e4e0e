/* unknown_fields: see unknown_fields.h. */
#include "objects/templates/unknown_fields.h"

#include "base/buf.h"
#include "base/nearest.h"
#include "formats/json_values.h"
#include "objects/fields.h"
#include "objects/templates/schema.h"
#include "types/quantity.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* ---- wrong values: of known fields, that the API server rejects or that nobody means ---- */

#define SHOWN_MAX 400
#define MIB (INT64_C(1) << 20)

/* "is the number 8, should be a string: write \"8\"" */
static const char *wrong(const json_t *value, const char *right, struct arena *arena)
{
    struct buf out;
    buf_init(&out, SHOWN_MAX);
    buf_add_text(&out, "is ");
    json_add_shown(value, &out);
    buf_printf(&out, ", should be %s", right);
    if (json_is_boolean(value) && strcmp(right, "a string") == 0)
        buf_printf(&out, ": write \"%s\"", json_is_true(value) ? "true" : "false");
    if (json_is_integer(value) && strcmp(right, "a string") == 0)
        buf_printf(&out, ": write \"%" JSON_INTEGER_FORMAT "\"", json_integer_value(value));
    if (json_is_real(value) && strcmp(right, "a string") == 0)
        buf_add_text(&out, ": write it in quotes");
    const char *text = arena_strdup(arena, buf_text(&out));
    buf_fini(&out);
    return text;
}

static bool is_text(const json_t *value)
{
    return json_is_string(value) || json_is_null(value);
}

/* Names the first item that is no string. */
static const char *wrong_item(const json_t *array, struct arena *arena)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *item = json_array_get(array, i);
        if (!is_text(item))
            return arena_printf(arena, "item %zu %s", i, wrong(item, "a string", arena));
    }
    return NULL;
}

static bool is_object(const json_t *value)
{
    return json_is_object(value) || json_is_null(value);
}

static const char *wrong_member(const json_t *object, bool (*is_right)(const json_t *value),
                                const char *right, struct arena *arena)
{
    for (void *at = json_object_iter((json_t *)(uintptr_t)object); at;
         at = json_object_iter_next((json_t *)(uintptr_t)object, at)) {
        const json_t *value = json_object_iter_value(at);
        if (!is_right(value))
            return arena_printf(arena, "%s %s", quoted(arena, json_object_iter_key(at)),
                                wrong(value, right, arena));
    }
    return NULL;
}

static bool is_of_shape(const json_t *value, char shape)
{
    switch (shape) {
    case 'B':
        return json_is_boolean(value);
    case 'I':
    case 'J':
        return json_is_integer(value);
    case 'X':
        return json_is_integer(value) || json_is_string(value);
    case 'S':
        return json_is_string(value);
    case 'O':
    case 'M':
    case 'N':
        return json_is_object(value);
    case 'L':
    case 'T':
        return json_is_array(value);
    default:
        return true;
    }
}

static const char *right_of_shape(char shape)
{
    static const char SHAPES[] = "BIJXSOMNLT";
    static const char *const RIGHT[] = {
        "true or false",
        "a whole number",
        "a whole number",
        "a whole number or a string",
        "a string",
        "an object",
        "an object",
        "an object",
        "an array: begin each item with \"- \"",
        "an array of strings, as in [\"a\", \"b\"]",
    };
    return RIGHT[strchr(SHAPES, shape) - SHAPES];
}

static bool is_too_large(const json_t *value, char shape)
{
    const json_int_t n = json_integer_value(value);
    return (shape == 'I' || shape == 'X') && (n < INT32_MIN || n > INT32_MAX);
}

/* What is wrong with the shape, which is that of struct schema_field. NULL: nothing, or the value
 * is null. */
static const char *wrong_value_of_field(const json_t *value, char shape, struct arena *arena)
{
    if (json_is_null(value))
        return NULL;
    if (!is_of_shape(value, shape))
        return wrong(value, right_of_shape(shape), arena);
    if (is_too_large(value, shape))
        return wrong(value, "at most 2147483647, in 32 bits", arena);
    return shape == 'M'   ? wrong_member(value, is_text, "a string", arena)
           : shape == 'N' ? wrong_member(value, is_object, "an object", arena)
           : shape == 'T' ? wrong_item(value, arena)
                          : NULL;
}

/* An amount in limits or requests: it is missing, or so little memory that no process can start.
 * NULL: neither; the decoders report what is no quantity. */
static const char *wrong_value_of_amount(const json_t *value, const char *resource,
                                         struct arena *arena)
{
    char number[QUANTITY_JSON_NUMBER_BYTES];
    const char *text = NULL;
    int64_t bytes = 0;
    if (json_is_null(value))
        return "has no value, which counts as 0: write an amount";
    if (strcmp(resource, "memory") != 0 || json_is_real(value) ||
        quantity_json_text(value, number, &text, NULL) < 0 ||
        quantity_value(text, &bytes, NULL) < 0 || bytes <= 0 || bytes >= MIB)
        return NULL;
    const int n_digits = (int)strspn(text, "0123456789.");
    const char *unit = text + n_digits;
    const bool is_likely = *unit == '\0' || strcmp(unit, "m") == 0;
    const char *meant =
        is_likely ? arena_printf(arena, "; did you mean %.*sMi?", n_digits, text) : "";
    return arena_printf(arena, "%s is less than 1Mi%s", quoted(arena, text), meant);
}

/* ---- custom resources: values often written in a type that the API server rejects ---- */

#define NAMES_MAX 12

/* Read in the projects' CRDs. In a group, a name has one type wherever it stands. */
static const struct custom_group {
    const char *name;
    const char *strings[NAMES_MAX];
    const char *maps[NAMES_MAX]; /* of strings, besides MAPS */
    const char *flags[NAMES_MAX];
} GROUPS[] = {
    {.name = "apps.nvidia.com",
     .strings = {"authSecret", "profile", "pullPolicy", "repository", "storageClass", "tag"}},
    {.name = "batch.volcano.sh", .strings = {"priorityClassName", "queue", "schedulerName"}},
    {.name = "jobset.x-k8s.io", .flags = {"suspend"}},
    {.name = "kaito.sh", .strings = {"instanceType"}},
    {.name = "kubeflow.org",
     .strings = {"cleanPodPolicy", "mpiImplementation", "nprocPerNode", "restartPolicy",
                 "sshAuthMountPath"},
     .flags = {"runLauncherAsWorker", "suspend"}},
    {.name = "leaderworkerset.x-k8s.io", .strings = {"restartPolicy", "startupPolicy"}},
    {.name = "ray.io",
     .strings = {"entrypoint", "entrypointResources", "groupName", "jobId", "rayVersion",
                 "redisAddress", "runtimeEnvYAML", "serveConfigV2", "submissionMode",
                 "upscalingMode"},
     .maps = {"clusterSelector", "rayStartParams"},
     .flags = {"enableInTreeAutoscaling", "shutdownAfterJobFinishes", "suspend"}},
    {.name = "serving.kserve.io",
     .strings = {"protocolVersion", "runtime", "runtimeVersion", "storageUri", "version"}},
    {.name = "workloads.x-k8s.io"},
};
static const char *const MAPS[NAMES_MAX] = {"annotations", "labels", "matchLabels", "nodeSelector"};

static bool has(const char *const *names, const char *key)
{
    for (size_t i = 0; i < NAMES_MAX && names[i]; i++) {
        if (strcmp(names[i], key) == 0)
            return true;
    }
    return false;
}

/* The shape of the field in kinds of that group, as in struct schema_field; '-': not known. */
static char crd_values_shape(const char *api_version, const char *key)
{
    for (size_t i = 0; i < sizeof GROUPS / sizeof *GROUPS; i++) {
        const struct custom_group *group = &GROUPS[i];
        if (*api_version && schema_may_be_in_group(api_version, group->name))
            return has(group->strings, key)                  ? 'S'
                   : has(group->maps, key) || has(MAPS, key) ? 'M'
                   : has(group->flags, key)                  ? 'B'
                                                             : '-';
    }
    return '-';
}

/* ---- unknown fields ---- */

/* The walk follows the types of schema.h, so it is as deep as these. */
#define PATH_BYTES_MAX 8192
/* Steps from a field down to where another one belongs. */
#define STEPS_MAX 6
/* Nearer names than this are meant, even if the name is right elsewhere. */
#define SURELY_MEANT 2
/* Names of a manifest that are compared with all fields of their type. */
#define LOOKUPS_MAX 1000

struct field_walk {
    const struct warned *object;
    const char *prefix; /* of paths: "spec.template"; "" for the object */
    bool only_near;
    const struct inline_pods *row; /* whose parts are known, too; NULL: none */
};

/* A member, or an element of an array. */
struct field_place {
    const struct field_place *parent; /* NULL: the start of the walk */
    const char *key;                  /* NULL: an element */
    size_t index;
    int type; /* of the value */
};

static void write_place(const struct field_place *place, struct buf *out)
{
    if (!place->parent)
        return;
    write_place(place->parent, out);
    if (place->key)
        buf_printf(out, "%s%s", out->len > 0 ? "." : "", place->key);
    else
        buf_printf(out, "[%zu]", place->index);
}

static const char *path_to(const struct field_walk *walk, const struct field_place *place)
{
    struct buf out;
    buf_init(&out, PATH_BYTES_MAX);
    buf_add_text(&out, walk->prefix);
    write_place(place, &out);
    const char *path = arena_strdup(walk->object->arena, buf_text(&out));
    buf_fini(&out);
    return path;
}

static const char *path_of(const struct field_walk *walk, const struct field_place *place,
                           const char *key)
{
    const struct field_place last = {.parent = place,
                                     .key = quoted_plain(walk->object->arena, key)};
    return path_to(walk, &last);
}

/* Few enough differences for names that may well be meant. */
static bool is_close(size_t distance, const char *name)
{
    return distance <= (strlen(name) > 6 ? 2U : 1U);
}

/* The known name that was probably meant; NULL: none, or the object has it. */
static const char *find_meant(const struct field_walk *walk, const json_t *object, int type,
                              const char *key, size_t *ret_distance)
{
    const struct schema_type *fields = &SCHEMA_TYPES[type];
    struct nearest nearest = {.asked = key, .least = SIZE_MAX};
    for (size_t i = 0; i < fields->n; i++)
        (void)nearest_try(&nearest, SCHEMA_FIELDS[fields->first + i].name);
    if (!nearest.found || json_object_get(object, nearest.found) ||
        (walk->only_near && !is_close(nearest.least, nearest.found)))
        return NULL;
    *ret_distance = nearest.least;
    return nearest.found;
}

/* ---- where a field belongs ---- */

/* Looks for a type with the field, exactly n steps below this one. */
static bool descend(int type, const char *key, const char *const *path, size_t n,
                    const char **ret_path, struct arena *arena)
{
    /* The fields that people write at the wrong depth are below these. */
    static const char *const TRUNK[] = {
        "metadata", "spec",      "template", "jobTemplate",  "containers",
        "affinity", "resources", "strategy", "nodeAffinity", "nodeSelectorTerms",
        "devices",  "requests",  "exactly",  "selectors",    "cel",
    };
    for (size_t i = 0; i < sizeof TRUNK / sizeof *TRUNK; i++) {
        const struct schema_field *step = schema_field(type, TRUNK[i]);
        if (!step || step->type == SCHEMA_ANY)
            continue;
        const char *below = arena_printf(arena, "%s%s%s%s", *path, **path ? "." : "", step->name,
                                         step->shape == 'L' ? "[]" : "");
        /* A pod has resources of its own, without GPUs. */
        const bool is_pod = step->type == SCHEMA_POD_SPEC && strcmp(key, "resources") == 0;
        if (n == 1 && !is_pod && schema_field(step->type, key)) {
            *ret_path = below;
            return true;
        }
        if (n > 1 && descend(step->type, key, &below, n - 1, ret_path, arena))
            return true;
    }
    return false;
}

static bool find_below(int type, const char *key, const char *path, const char **ret_path,
                       struct arena *arena)
{
    for (size_t n = 1; n <= STEPS_MAX; n++) {
        if (descend(type, key, &path, n, ret_path, arena))
            return true;
    }
    return false;
}

static bool is_amount_of_resource(const json_t *value, const char *key)
{
    return (json_is_string(value) || json_is_integer(value)) &&
           (strchr(key, '/') || strcmp(key, "cpu") == 0 || strcmp(key, "memory") == 0);
}

/* The path where the amount of a resource belongs. NULL: it is not an amount, or nothing here has
 * amounts. */
static const char *place_of_amount(const struct field_walk *walk, const json_t *value, int type,
                                   const char *key, const struct field_place *place)
{
    const char *below = type == SCHEMA_CONTAINER   ? "resources.limits"
                        : type == SCHEMA_RESOURCES ? "limits"
                        : type == SCHEMA_POD_SPEC  ? "containers[].resources.limits"
                                                   : NULL;
    if (!below || !is_amount_of_resource(value, key))
        return NULL;
    return arena_printf(walk->object->arena, "%s.%s", path_to(walk, place), below);
}

/* Below the object of the field, in an object around it, or below that. NULL: nowhere. */
static const char *find_place(const struct field_walk *walk, const char *key,
                              const struct field_place *place)
{
    const char *found = NULL;
    for (const struct field_place *at = place; at; at = at->parent) {
        const char *path = path_to(walk, at);
        if (at != place && schema_field(at->type, key))
            return *path ? path : "the top of the object";
        if (find_below(at->type, key, path, &found, walk->object->arena))
            return found;
    }
    return NULL;
}

static const char *advice(const struct field_walk *walk, const json_t *object, int type,
                          const char *key, const struct field_place *place)
{
    struct arena *arena = walk->object->arena;
    size_t distance = SIZE_MAX;
    const char *meant = find_meant(walk, object, type, key, &distance);
    const char *where = NULL;
    if (!walk->only_near && distance > SURELY_MEANT) {
        where = place_of_amount(walk, json_object_get(object, key), type, key, place);
        where = where ? where : find_place(walk, key, place);
    }
    if (where)
        return arena_printf(arena, "unknown field; write it under %s", where);
    return meant ? arena_printf(arena, "unknown field; did you mean %s?", meant) : NULL;
}

/* A space that is not the ASCII one looks like an indentation. */
static bool has_wide_space(const char *key)
{
    return strstr(key, "\xc2\xa0") || strstr(key, "\xe3\x80\x80");
}

static void judge_unknown(const struct field_walk *walk, const json_t *object, int type,
                          const char *key, const struct field_place *place)
{
    struct workload_list *list = walk->object->list;
    const char *message = NULL;
    if (walk->row && !place->parent && inline_pods_has_part(walk->row, key))
        return;
    if (list->n_lookups < LOOKUPS_MAX) {
        list->n_lookups++;
        message = advice(walk, object, type, key, place);
    }
    if (!message && walk->only_near)
        return;
    if (!message && has_wide_space(key))
        message = "unknown field; its name has a non-breaking space: write spaces";
    warned_add(walk->object, path_of(walk, place, key), message ? message : "unknown field");
}

/* ---- the walk ---- */

static void judge(const struct field_walk *walk, const json_t *value, int type,
                  const struct field_place *at);

/* Says what is wrong with the value of a known field. False: nothing below it can be judged. */
static bool judge_value(const struct field_walk *walk, const json_t *value,
                        const struct schema_field *field, const struct field_place *at)
{
    const char *wrong = wrong_value_of_field(value, field->shape, walk->object->arena);
    if (wrong)
        warned_add(walk->object, path_to(walk, at), wrong);
    return !wrong;
}

static void judge_amounts(const struct field_walk *walk, const json_t *amounts,
                          const struct field_place *at)
{
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach ((json_t *)(uintptr_t)amounts, key, value) {
        const char *wrong = wrong_value_of_amount(value, key, walk->object->arena);
        if (wrong)
            warned_add(walk->object,
                       arena_printf(walk->object->arena, "%s[%s]", path_to(walk, at),
                                    quoted_plain(walk->object->arena, key)),
                       wrong);
    }
}

/* Of resources, which the API server rejects. GPUs must be equal to their limits: demand.c. */
static void judge_requests(const struct field_walk *walk, const json_t *resources,
                           const struct field_place *at)
{
    const json_t *limits = json_member(resources, "limits");
    struct arena *arena = walk->object->arena;
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach (json_member(resources, "requests"), key, value) {
        char numbers[2][QUANTITY_JSON_NUMBER_BYTES];
        const char *request = NULL;
        const char *limit = NULL;
        int64_t asked = 0;
        int64_t most = 0;
        if (strchr(key, '/') || quantity_json_amount(value, key, &asked, NULL) < 0 ||
            quantity_json_amount(json_member(limits, key), key, &most, NULL) < 0 || asked <= most ||
            quantity_json_text(value, numbers[0], &request, NULL) < 0 ||
            quantity_json_text(json_member(limits, key), numbers[1], &limit, NULL) < 0)
            continue;
        warned_add(
            walk->object,
            arena_printf(arena, "%s.requests[%s]", path_to(walk, at), quoted_plain(arena, key)),
            arena_printf(arena, "request %s%s %s", quoted_plain(arena, request), WARNING_OVER_LIMIT,
                         quoted_plain(arena, limit)));
    }
}

/* Members that an object needs, and the values that they may have. */
static const struct member_rule {
    const char *around; /* the key of the object, or of the array with it; see around() */
    const char *kinds;  /* NULL: any */
    const char *key;
    bool is_required;
    const char *values; /* NULL: any */
} RULES[] = {
    {"pod", "Job CronJob", "restartPolicy", true, "Never or OnFailure"},
    {"pod", "DaemonSet Deployment ReplicaSet ReplicationController StatefulSet", "restartPolicy",
     false, "Always"},
    {"pod", NULL, "restartPolicy", false, "Always or Never or OnFailure"},
    {"pod", NULL, "containers", true, NULL},
    {"spec", "DaemonSet Deployment ReplicaSet StatefulSet", "selector", true, NULL},
    {"containers", NULL, "name", true, NULL},
    {"initContainers", NULL, "name", true, NULL},
    {"tolerations", NULL, "operator", false, "Equal or Exists"},
    {"topologySpreadConstraints", NULL, "whenUnsatisfiable", true,
     "DoNotSchedule or ScheduleAnyway"},
};

/* "spec" is that of the manifest only. */
static const char *around(int type, const struct field_place *at)
{
    const struct field_place *named = at->key ? at : at->parent;
    if (type == SCHEMA_POD_SPEC || !named || !named->key)
        return type == SCHEMA_POD_SPEC ? "pod" : "";
    return strcmp(named->key, "spec") == 0 && named->parent->parent ? "" : named->key;
}

static bool has_word(const char *words, const char *word)
{
    const size_t len = strlen(word);
    for (const char *at = words; (at = strstr(at, word)) != NULL; at += len) {
        if ((at == words || at[-1] == ' ') && (at[len] == ' ' || at[len] == '\0'))
            return len > 0;
    }
    return false;
}

static bool is_empty(const json_t *value)
{
    return !value || json_is_null(value) ||
           (json_is_string(value) && json_string_length(value) == 0) ||
           (json_is_array(value) && json_array_size(value) == 0) ||
           (json_is_object(value) && json_object_size(value) == 0);
}

/* NULL: nothing is. */
static const char *wrong_by_rule(const json_t *value, const struct member_rule *rule,
                                 struct arena *arena)
{
    const char *text = json_string_value(value);
    if (is_empty(value) && rule->is_required)
        return rule->values
                   ? arena_printf(arena, "is missing, should be %s", rule->values)
                   : arena_printf(arena, "is %s" WARNING_REJECTED, value ? "empty" : "missing");
    if (is_empty(value) || !rule->values || !text || has_word(rule->values, text))
        return NULL;
    return arena_printf(arena, "is %s, should be %s", quoted(arena, text), rule->values);
}

static void judge_rules(const struct field_walk *walk, const json_t *object, int type,
                        const struct field_place *at)
{
    for (size_t i = 0; i < sizeof RULES / sizeof *RULES; i++) {
        const struct member_rule *rule = &RULES[i];
        if (strcmp(rule->around, around(type, at)) != 0 ||
            (rule->kinds && !has_word(rule->kinds, walk->object->kind)))
            continue;
        const char *wrong =
            wrong_by_rule(json_member(object, rule->key), rule, walk->object->arena);
        if (wrong)
            warned_add(walk->object, path_of(walk, at, rule->key), wrong);
    }
    const char *value = json_string_value(json_member(object, "value"));
    const char *op = json_string_value(json_member(object, "operator"));
    if (strcmp(around(type, at), "tolerations") == 0 && value && *value && op &&
        strcmp(op, "Exists") == 0)
        warned_add(walk->object, path_of(walk, at, "value"),
                   arena_printf(walk->object->arena, "is %s, should be empty with operator Exists",
                                quoted(walk->object->arena, value)));
}

static void judge_names(const struct field_walk *walk, const json_t *containers,
                        const struct field_place *at)
{
    for (size_t i = 1; i < json_array_size(containers); i++) {
        const json_t *name = json_member(json_array_get(containers, i), "name");
        const struct field_place element = {.parent = at, .index = i};
        for (size_t j = 0; j < i && json_is_string(name); j++) {
            if (json_equal(json_member(json_array_get(containers, j), "name"), name))
                warned_add(walk->object, path_of(walk, &element, "name"),
                           "is that of another container" WARNING_REJECTED);
        }
    }
}

/* Of 'N', the values. */
static void judge_below(const struct field_walk *walk, const json_t *value,
                        const struct schema_field *field, const struct field_place *at)
{
    const char *key = NULL;
    json_t *member = NULL;
    if (field->shape != 'N') {
        judge(walk, value, field->type, at);
        return;
    }
    json_object_foreach ((json_t *)(uintptr_t)value, key, member) {
        const struct field_place inside = {.parent = at, .key = key, .type = field->type};
        judge(walk, member, field->type, &inside);
    }
}

static void judge_members(const struct field_walk *walk, const json_t *object, int type,
                          const struct field_place *at)
{
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach ((json_t *)(uintptr_t)object, key, value) {
        if (warned_is_full(walk->object))
            return;
        const struct schema_field *field = schema_field(type, key);
        const struct field_place inside = {
            .parent = at, .key = key, .type = field ? field->type : SCHEMA_ANY};
        if (!field)
            judge_unknown(walk, object, type, key, at);
        else if (judge_value(walk, value, field, &inside))
            judge_below(walk, value, field, &inside);
        if (field && type == SCHEMA_RESOURCES)
            judge_amounts(walk, value, &inside);
        if (type == SCHEMA_POD_SPEC && strcmp(key, "containers") == 0)
            judge_names(walk, value, &inside);
    }
    if (!walk->only_near)
        judge_rules(walk, object, type, at);
    if (type == SCHEMA_RESOURCES)
        judge_requests(walk, object, at);
}

static void judge(const struct field_walk *walk, const json_t *value, int type,
                  const struct field_place *at)
{
    static const struct schema_field ELEMENT = {.shape = 'O'};
    if (type == SCHEMA_ANY)
        return;
    if (json_is_object(value))
        judge_members(walk, value, type, at);
    for (size_t i = 0; i < json_array_size(value) && !warned_is_full(walk->object); i++) {
        const struct field_place element = {.parent = at, .index = i, .type = type};
        if (judge_value(walk, json_array_get(value, i), &ELEMENT, &element))
            judge(walk, json_array_get(value, i), type, &element);
    }
}

/* Of a kind with fields of its own. */
static void judge_metadata(const struct warned *object)
{
    const struct schema_field *metadata = schema_field(SCHEMA_POD_TEMPLATE, "metadata");
    const struct field_walk walk = {.object = object, .prefix = "metadata", .only_near = true};
    const struct field_place root = {0};
    judge(&walk, json_member(object->object, "metadata"), metadata->type, &root);
}

/* The object of the walk, and where it is: members that the table knows, outside of pods. */
// NOLINTNEXTLINE(misc-no-recursion): the depth is bounded
static void judge_custom(const struct field_walk *walk, const json_t *value,
                         const char *api_version, const struct field_place *at, int depth)
{
    const char *key = NULL;
    json_t *member = NULL;
    if (depth > TEMPLATE_WALK_DEPTH_MAX || template_is_pod(value))
        return;
    json_object_foreach ((json_t *)(uintptr_t)value, key, member) {
        const struct schema_field field = {.shape = crd_values_shape(api_version, key)};
        const struct field_place inside = {.parent = at, .key = key};
        const bool is_apart =
            depth == 0 && (strcmp(key, "metadata") == 0 || strcmp(key, "status") == 0);
        if (!is_apart && judge_value(walk, member, &field, &inside))
            judge_custom(walk, member, api_version, &inside, depth + 1);
    }
    for (size_t i = 0; i < json_array_size(value); i++) {
        const struct field_place element = {.parent = at, .index = i};
        judge_custom(walk, json_array_get(value, i), api_version, &element, depth + 1);
    }
}

bool unknown_fields_find(const struct warned *object, const char *api_version)
{
    const int type = schema_type_of_kind(object->kind, api_version);
    const struct field_walk walk = {.object = object, .prefix = ""};
    const struct field_place root = {.type = type};
    judge(&walk, object->object, type, &root);
    if (type == SCHEMA_ANY) {
        judge_metadata(object);
        judge_custom(&walk, object->object, api_version, &root, 0);
    }
    return type != SCHEMA_ANY;
}

static void judge_inline(const struct field_walk *walk, const struct pod_template *template)
{
    const struct inline_pods *row = template->row;
    const struct field_place root = {0};
    if (row->type)
        judge(walk, template->part, *row->type, &root);
    for (size_t i = 0; i < INLINE_PARTS_MAX && row->parts[i].key; i++) {
        const struct inline_part *part = &row->parts[i];
        const struct field_place inside = {.parent = &root, .key = part->key};
        if (part->type)
            judge(walk, json_member(template->part, part->key), *part->type, &inside);
    }
}

void unknown_fields_find_near(const struct warned *object, const struct pod_template *template)
{
    const struct field_walk walk = {
        .object = object, .prefix = template->path, .only_near = true, .row = template->row};
    const struct field_place root = {0};
    if (template->row)
        judge_inline(&walk, template);
    else
        judge(&walk, template->object, SCHEMA_POD_TEMPLATE, &root);
}
