/*
 * template_walk: see template_walk.h.
 *
 * The walk keeps only a chain of steps on the stack. It writes paths and multiplies counts when it
 * finds a template.
 */
#include "objects/templates/template_walk.h"

#include "base/buf.h"
#include "formats/json_values.h"
#include "objects/fields.h"
#include "objects/templates/schema.h"
#include "objects/workload.h"
#include "types/policy.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#define PATH_BYTES_MAX 4096
#define PATCH_DEPTH_MAX 8
/* Templates that others refer to by their names. */
#define TEMPLATES "roleTemplates"

/* A step from an object to a member, or from an array to an element. */
struct step {
    const struct step *parent; /* NULL: the root */
    const json_t *object;      /* owner of the member; NULL for an element */
    const char *key;           /* for an element: the array's key */
    const json_t *element;
    size_t index; /* of the element */
    size_t depth;
    const struct inline_pods *row; /* what is here was read as a pod; else NULL */
};

struct walk {
    const struct template_question *question;
    struct arena *arena;
    struct template_list found;
};

/* The JSON that holds the object, or the array of it. */
static const json_t *owner_of(const struct step *step)
{
    return step->object ? step->object : step->parent->object;
}

/* ---- the walk ---- */

bool template_is_pod(const json_t *object)
{
    return json_is_array(json_member(json_member(object, "spec"), "containers"));
}

static bool ends_with(const char *key, const char *end)
{
    const size_t len = strlen(key);
    const size_t tail = strlen(end);
    return len >= tail && strcmp(key + len - tail, end) == 0;
}

static bool ends_in_template(const char *key)
{
    return ends_with(key, "template") || ends_with(key, "Template");
}

/* Prefers an element's name, which users know, to its index. */
static void write_element(const struct step *step, struct arena *arena, struct buf *out)
{
    const char *name = json_string_value(json_member(step->element, "name"));
    if (name)
        buf_printf(out, "[%s]", quoted_plain(arena, name));
    else
        buf_printf(out, "[%zu]", step->index);
}

static void write_path(const struct step *step, struct arena *arena, struct buf *out)
{
    if (!step->parent)
        return;
    write_path(step->parent, arena, out);
    if (!step->object)
        write_element(step, arena, out);
    else
        buf_printf(out, "%s%s", out->len > 0 ? "." : "", quoted_plain(arena, step->key));
}

static const char *path_of(const struct step *step, struct arena *arena)
{
    struct buf out;
    buf_init(&out, PATH_BYTES_MAX);
    write_path(step, arena, &out);
    const char *path = arena_strdup(arena, buf_text(&out));
    buf_fini(&out);
    return path;
}

/* The object that the step is in, as it counts. */
static struct counting_object counting(const struct step *step)
{
    const struct step *object = step->parent;
    const bool is_element = object->parent && !object->object;
    const struct step *around = is_element ? object->parent->parent : object->parent;
    return (struct counting_object){step->object, object->key, around ? around->key : "",
                                    step->key};
}

/* Multiplies the counts from the root down to the step. */
static int count_pods(const struct step *step, struct arena *arena, struct pod_count *count,
                      struct err *err)
{
    if (!step->parent)
        return 0;
    int r = count_pods(step->parent, arena, count, err);
    if (r < 0 || !step->object)
        return r;
    const struct counting_object at = counting(step);
    if ((r = pod_count_multiply(&at, count, err)) < 0) {
        const char *path = path_of(step->parent, arena);
        err_prefix(err, "%s%s", path, *path ? "." : "");
    }
    return r;
}

static void make_room(struct walk *walk)
{
    struct template_list *found = &walk->found;
    bool is_full = (found->n & (found->n - 1)) == 0; /* at every power of two */
    if (!is_full)
        return;
    struct pod_template *items =
        ARENA_ARRAY(walk->arena, struct pod_template, found->n ? found->n * 2 : 1);
    if (found->n > 0)
        memcpy(items, found->items, found->n * sizeof *items);
    found->items = items;
}

/* With an autoscaler, the least that it makes; else the row's count. NIMService's scale
 * (GetReplicas() and GetHPA() in NVIDIA/k8s-nim-operator's api/apps/v1alpha1/nimservice_types.go).
 */
static int multiply_inline(const struct pod_template *found, struct pod_count *count,
                           struct err *err)
{
    const json_t *scale = json_member(found->part, "scale");
    if (json_is_true(json_member(scale, "enabled")))
        return pod_count_multiply_by(json_member(scale, "hpa"), "minReplicas", count, err);
    return found->row->count ? pod_count_multiply_by(found->part, found->row->count, count, err)
                             : 0;
}

/* An inline pod has its count inside: the objects around it count other things (the parallelism of
 * a Workflow). */
static int count_inline(const struct pod_template *found, const json_t *owner,
                        struct pod_count *count, struct err *err)
{
    const struct inline_pods *row = found->row;
    count->known = row->one_by_default;
    if (row->pods_each) {
        const bool known = count->known;
        int r = pod_count_times(count, "size", row->pods_each(owner, found->part), err);
        count->known = known;
        if (r < 0)
            return r;
    }
    return multiply_inline(found, count, err);
}

static int count_all(const struct pod_template *found, const struct step *step, struct arena *arena,
                     struct pod_count *count, struct err *err)
{
    if (!found->row)
        return count_pods(step, arena, count, err);
    int r = count_inline(found, owner_of(step), count, err);
    if (r < 0)
        err_prefix(err, "%s.", found->path);
    return r;
}

/* Of the objects around the template, from it up. One of several templates that have names may be
 * used by others any number of times. */
static void find_unread(struct walk *walk, const struct step *step)
{
    for (; step->parent; step = step->parent) {
        if (!step->object && ends_with(step->key, "emplates"))
            count_fields_add_path(&walk->found.unread, path_of(step->parent, walk->arena));
        if (!step->object)
            continue;
        const struct counting_object at = counting(step);
        const struct counted_object object = {.object = step->object,
                                              .path = path_of(step->parent, walk->arena),
                                              .next = step->key,
                                              .read = pod_count_reads(&at)};
        count_fields_add(&walk->found.unread, &object, walk->arena);
    }
}

/* The list owns it from now on. */
static const json_t *keep_made(struct walk *walk, json_t *made)
{
    if (!walk->found.made)
        walk->found.made = json_array();
    (void)json_array_append_new(walk->found.made, made);
    return made;
}

/* A pod that names no scheduler has that of the object around it, such as a Job of Volcano. */
static const json_t *with_scheduler(struct walk *walk, const json_t *pod)
{
    json_t *around = json_object_get(json_member(walk->question->object, "spec"), "schedulerName");
    const json_t *spec = json_member(pod, "spec");
    if (!json_is_string(around) || !spec || json_member(spec, "schedulerName"))
        return pod;
    json_t *named = json_copy((json_t *)(uintptr_t)spec);
    json_t *copy = json_copy((json_t *)(uintptr_t)pod);
    (void)json_object_set(named, "schedulerName", around);
    (void)json_object_set_new(copy, "spec", named);
    return keep_made(walk, copy);
}

static void add_template(struct walk *walk, const json_t *object, const struct step *step,
                         const struct inline_pods *row, const json_t *part)
{
    struct pod_template found = {.path = path_of(step, walk->arena),
                                 .object = with_scheduler(walk, object),
                                 .count = walk->question->start,
                                 .row = row,
                                 .part = part};
    struct pod_count count = found.count;
    struct err why = {""};
    if (count_all(&found, step, walk->arena, &count, &why) < 0)
        found.problem = arena_strdup(walk->arena, why.text);
    else
        found.count = count;
    if (!row && !walk->question->has_known_counts)
        find_unread(walk, step);
    make_room(walk);
    walk->found.items[walk->found.n++] = found;
}

static bool is_at(const struct step *step, const char *const *path)
{
    for (; *path; path++, step = step->parent) {
        const char *key = step->object ? step->key : "[]";
        if (!step->parent || strcmp(key, *path) != 0)
            return false;
    }
    return !step->parent;
}

static void add_stray(struct walk *walk, const struct step *step, const char *member,
                      const char *resource, bool is_by_name)
{
    struct template_list *found = &walk->found;
    const char *path = path_of(step, walk->arena);
    if (found->n_strays == STRAY_REQUESTS_MAX)
        return;
    found->strays[found->n_strays++] = (struct stray_request){
        .path = arena_printf(walk->arena, "%s%s%s", path, *path ? "." : "", member),
        .resource = arena_strdup(walk->arena, resource),
        .is_by_name = is_by_name};
}

static const char *gpu_of(const struct walk *walk, const json_t *amounts)
{
    const char *resource = NULL;
    json_t *amount = NULL;
    if (!json_is_object(amounts))
        return NULL;
    json_object_foreach ((json_t *)(uintptr_t)amounts, resource, amount) {
        if (policy_is_gpu_resource(walk->question->policy, resource) ||
            strcmp(resource, "gpu") == 0)
            return resource;
    }
    return NULL;
}

/* A pod template. */
static bool asks_for_gpus(const struct walk *walk, const json_t *made)
{
    const json_t *spec = json_member(made, "spec");
    const json_t *containers = json_member(spec, "containers");
    bool asks = json_array_size(json_member(spec, "resourceClaims")) > 0;
    for (size_t i = 0; !asks && i < json_array_size(containers); i++) {
        const json_t *resources = json_member(json_array_get(containers, i), "resources");
        asks = gpu_of(walk, json_member(resources, "limits")) ||
               gpu_of(walk, json_member(resources, "requests"));
    }
    return asks;
}

/* The row if the value is an inline pod, which is then added; else NULL. */
static const struct inline_pods *add_inline(struct walk *walk, const json_t *value,
                                            const struct step *step)
{
    const struct template_question *question = walk->question;
    const struct inline_pods *row = question->rows;
    while (row && inline_pods_is_more(question->rows, row) && !is_at(step, row->path))
        row++;
    if (!row || !inline_pods_is_more(question->rows, row) || !json_is_object(value) ||
        *question->n_inline == INLINE_PODS_MAX)
        return NULL;
    json_t *made = row->make(question->object, owner_of(step), value);
    if (row->gpus_in && !asks_for_gpus(walk, made)) {
        if (!row->pods_each || row->pods_each(owner_of(step), value) > 0)
            add_stray(walk, step, row->gpus_in, STRAY_GPUS, false);
        json_decref(made);
        return NULL;
    }
    if (!made)
        return NULL;
    ++*question->n_inline;
    add_template(walk, keep_made(walk, made), step, row, value);
    return row;
}

/* A name and a quantity, as in a SparkApplication. */
static const char *gpu_by_name(const struct walk *walk, const json_t *object)
{
    const char *name = json_string_value(json_member(object, "name"));
    const bool is_gpu = name && policy_is_gpu_resource(walk->question->policy, name);
    return is_gpu && json_member(object, "quantity") ? name : NULL;
}

static bool is_skipped(const struct step *step, const char *key)
{
    if (step->row)
        return inline_pods_has_part(step->row, key);
    return !step->parent && (strcmp(key, "metadata") == 0 || strcmp(key, "status") == 0);
}

static bool is_nothing(const json_t *value)
{
    const char *text = json_string_value(value);
    return !json_is_true(value) && json_number_value(value) <= 0 &&
           (!text || !*text || strcmp(text, "0") == 0) && json_object_size(value) == 0 &&
           json_array_size(value) == 0;
}

/* A kind of machine, whose name tells what it has. */
static bool is_choice(const char *key)
{
    static const char *const ENDS[] = {"type",   "profile",  "flavor",  "shape",   "class",
                                       "device", "hardware", "compute", "resource"};
    const size_t len = strlen(key);
    for (size_t i = 0; i < sizeof ENDS / sizeof *ENDS; i++) {
        const size_t n = strlen(ENDS[i]);
        if (len >= n && strcasecmp(key + len - n, ENDS[i]) == 0)
            return true;
    }
    return false;
}

/* numTPUs, npu_count; not "input", "outputs". */
static bool names_other_accelerator(const char *key)
{
    static const char *const WORDS[] = {"gaudi", "hpu", "npu", "tpu", "xpu"};
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
        const char *at = key;
        while ((at = strcasestr(at, WORDS[i]))) {
            const char *end = at + strlen(WORDS[i]);
            end += *end == 's';
            if ((at == key || !isalpha((unsigned char)at[-1]) ||
                 (isupper((unsigned char)*at) && islower((unsigned char)at[-1]))) &&
                !islower((unsigned char)*end))
                return true;
            at++;
        }
    }
    return false;
}

static bool is_resource(const struct walk *walk, const char *text)
{
    const struct policy *policy = walk->question->policy;
    return policy_is_gpu_resource(policy, text) || accelerator_is_unlisted(policy, text);
}

/* KAITO always asks for machines with GPUs; KubeAI does but for its profiles of CPUs. */
static bool is_machine_with_gpus(const struct walk *walk, const char *key, const char *text)
{
    static const struct {
        const char *group, *key, *other;
    } MACHINES[] = {{"kaito.sh", "instanceType", ""}, {"kubeai.org", "resourceProfile", "cpu"}};
    const char *version = json_string_value(json_member(walk->question->object, "apiVersion"));
    for (size_t i = 0; version && i < sizeof MACHINES / sizeof *MACHINES; i++) {
        const char *other = MACHINES[i].other;
        if (strcmp(key, MACHINES[i].key) == 0 &&
            schema_may_be_in_group(version, MACHINES[i].group) &&
            (!*other || strncmp(text, other, strlen(other)) != 0))
            return true;
    }
    return false;
}

/* gpu, numGpus, acceleratorType, nvidia.com/gpu; resourceProfile: nvidia-gpu-l4:1. */
static bool names_gpu(const struct walk *walk, const char *key, const json_t *value)
{
    const char *text = json_string_value(value);
    if (is_nothing(value))
        return false;
    return strcasestr(key, "gpu") || strcasestr(key, "accelerator") ||
           names_other_accelerator(key) || is_resource(walk, key) ||
           (text && is_resource(walk, text)) ||
           (text && is_choice(key) && strcasestr(text, "gpu")) ||
           (text && is_machine_with_gpus(walk, key, text));
}

static void find_names(struct walk *walk, const json_t *object, const struct step *step)
{
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach ((json_t *)(uintptr_t)object, key, value) {
        if (!(!step->parent && is_skipped(step, key)) && names_gpu(walk, key, value))
            add_stray(walk, step, quoted_plain(walk->arena, key), quoted_plain(walk->arena, key),
                      true);
    }
}

/* An object with limits or requests, or with claims. */
static void find_strays(struct walk *walk, const json_t *object, const struct step *step)
{
    static const char *const MEMBERS[] = {"limits", "requests"};
    if (!walk->question->policy || walk->found.n_strays == STRAY_REQUESTS_MAX)
        return;
    for (size_t i = 0; i < sizeof MEMBERS / sizeof *MEMBERS; i++) {
        const char *resource = gpu_of(walk, json_member(object, MEMBERS[i]));
        if (resource) {
            add_stray(walk, step, MEMBERS[i], quoted_plain(walk->arena, resource), false);
            return;
        }
    }
    const char *named = gpu_by_name(walk, object);
    if (named)
        add_stray(walk, step, "quantity", named, false);
    else if (json_array_size(json_member(object, "resourceClaims")) > 0)
        add_stray(walk, step, "resourceClaims", "resourceClaims", false);
    else if (walk->question->is_unknown)
        find_names(walk, object, step);
}

/* ---- templates by reference, and patches of templates ---- */

/* "patchLeaderTemplate", "templatePatch"; not "dispatcher". */
static bool is_patch(const char *key)
{
    return strncmp(key, "patch", strlen("patch")) == 0 || strstr(key, "Patch");
}

static bool has_template(const json_t *object)
{
    return json_member(object, "template") || json_member(object, "templateRef");
}

/* Whether the patch changes where pods go. Most patches change commands and labels. */
// NOLINTNEXTLINE(misc-no-recursion): the depth is bounded
static bool moves_pods(const json_t *patch, int depth)
{
    static const char *const MEMBERS[] = {
        "affinity",
        "hostNetwork",
        "nodeName",
        "nodeSelector",
        "replicas",
        "resourceClaims",
        "resources",
        "runtimeClassName",
        "schedulerName",
        "tolerations",
        "topologySpreadConstraints",
    };
    const char *key = NULL;
    json_t *inside = NULL;
    size_t i = 0;
    if (depth > PATCH_DEPTH_MAX)
        return false;
    for (i = 0; i < sizeof MEMBERS / sizeof *MEMBERS; i++) {
        if (json_member(patch, MEMBERS[i]))
            return true;
    }
    json_object_foreach ((json_t *)(uintptr_t)patch, key, inside)
        if (moves_pods(inside, depth + 1))
            return true;
    json_array_foreach (patch, i, inside)
        if (moves_pods(inside, depth + 1))
            return true;
    return false;
}

static void judge_patch(struct walk *walk, const json_t *patch, const struct step *step)
{
    if (moves_pods(patch, 0))
        count_fields_add_path(&walk->found.unread, path_of(step, walk->arena));
}

/* The template that the name refers to, in an object around it. NULL: there is none. */
static const json_t *referred(const json_t *ref, const struct step *step)
{
    const char *name = json_string_value(json_member(ref, "name"));
    for (; name && step->parent; step = step->parent) {
        const json_t *templates = json_member(step->object, TEMPLATES);
        for (size_t i = 0; i < json_array_size(templates); i++) {
            const json_t *item = json_array_get(templates, i);
            const char *own = json_string_value(json_member(item, "name"));
            if (own && strcmp(own, name) == 0)
                return json_member(item, "template");
        }
    }
    return NULL;
}

/* A RoleBasedGroup's roles share templates (TemplateRef in sgl-project/rbg's
 * api/workloads/v1alpha2/rolebasedgroup_types.go). */
static void add_referred(struct walk *walk, const json_t *ref, const struct step *step)
{
    const json_t *template = referred(ref, step);
    if (template_is_pod(template))
        add_template(walk, template, step, NULL, NULL);
    else if (walk->question->has_known_counts || walk->question->rows)
        count_fields_add_path(&walk->found.unread, path_of(step, walk->arena));
    const struct step patch = {.parent = step, .object = ref, .key = "patch"};
    judge_patch(walk, json_member(ref, "patch"), &patch);
}

/* Whether the member is a template, or part of one, and is dealt with. */
static bool take_template(struct walk *walk, const json_t *value, const struct step *step)
{
    const bool is_of_another = has_template(step->object) || has_template(step->parent->object);
    if (is_patch(step->key) && is_of_another)
        judge_patch(walk, value, step);
    else if (strcmp(step->key, "templateRef") == 0)
        add_referred(walk, value, step);
    else if (ends_in_template(step->key) && template_is_pod(value))
        add_template(walk, value, step, NULL, NULL);
    else
        return strcmp(step->key, TEMPLATES) == 0;
    return true;
}

static void walk_value(struct walk *walk, json_t *value, const struct step *step);

/* A step of an Argo Workflow that makes a pod for each item. */
static bool is_loop(const struct walk *walk, const char *key)
{
    return walk->question->rows &&
           (strcmp(key, "withItems") == 0 || strcmp(key, "withParam") == 0 ||
            strcmp(key, "withSequence") == 0);
}

static void walk_object(struct walk *walk, json_t *object, const struct step *step)
{
    const char *key = NULL;
    json_t *value = NULL;
    if (!step->row)
        find_strays(walk, object, step);
    json_object_foreach (object, key, value) {
        struct step into = {.parent = step, .object = object, .key = key, .depth = step->depth + 1};
        if (is_loop(walk, key))
            count_fields_add_path(&walk->found.unread, path_of(&into, walk->arena));
        if ((!json_is_object(value) && !json_is_array(value)) || is_skipped(step, key) ||
            take_template(walk, value, &into))
            continue;
        into.row = add_inline(walk, value, &into);
        walk_value(walk, value, &into);
    }
}

static void walk_value(struct walk *walk, json_t *value, const struct step *step)
{
    if (step->depth > TEMPLATE_WALK_DEPTH_MAX)
        return;
    if (json_is_object(value))
        walk_object(walk, value, step);
    for (size_t i = 0; i < json_array_size(value); i++) {
        json_t *inside = json_array_get(value, i);
        struct step element = {.parent = step,
                               .key = step->key,
                               .element = inside,
                               .index = i,
                               .depth = step->depth + 1};
        element.row = add_inline(walk, inside, &element);
        walk_value(walk, inside, &element);
    }
}

struct template_list template_walk(const struct template_question *question, struct arena *arena)
{
    struct walk walk = {.question = question, .arena = arena};
    const struct step root = {.key = ""};
    walk_value(&walk, question->object, &root);
    return walk.found;
}

void template_list_fini(struct template_list *list)
{
    json_decref(list->made);
    list->made = NULL;
}
