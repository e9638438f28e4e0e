/*
 * template_walk: see template_walk.h.
 *
 * The walk keeps only a chain of steps on the stack. It writes paths and multiplies counts when it
 * finds a template.
 */
#include "template_walk.h"

#include "base/buf.h"
#include "formats/json_get.h"
#include "quoted.h"

#include <inttypes.h>
#include <string.h>

#define PATH_BYTES_MAX 4096

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

/* ---- number of pods that the objects around a template request ---- */

/* General rule: replicas, and parallelism with completions, multiply. Objects with other
 * meanings have a row in RULES. */

static int read_count(const json_t *object, const char *key, int64_t *ret_n, struct err *err)
{
    int64_t n = *ret_n;
    int r = json_get_integer(object, key, &n, err);
    if (r < 0)
        return r;
    if (n < 0)
        return err_set(err, EINVAL, "%s: is %" PRId64 ", should be 0 or more", key, n);
    *ret_n = n;
    return 0;
}

static int multiply(struct pod_count *count, const char *key, int64_t n, struct err *err)
{
    int64_t product = 0;
    if (__builtin_mul_overflow(count->n, n, &product))
        return err_set(err, EINVAL, "%s: makes more pods than can be counted", key);
    *count = (struct pod_count){product, true};
    return 0;
}

/* Not a count if the path to the template goes through the member. */
static int multiply_by_member(const json_t *object, const char *key, const char *next,
                              struct pod_count *count, struct err *err)
{
    int64_t n = 1;
    if (!json_member(object, key) || strcmp(key, next) == 0)
        return 0;
    int r = read_count(object, key, &n, err);
    return r < 0 ? r : multiply(count, key, n, err);
}

/* batch/v1 JobSpec: at most parallelism pods at a time (default 1), and at most completions. */
static int multiply_by_job(const json_t *object, struct pod_count *count, struct err *err)
{
    if (!json_member(object, "parallelism") && !json_member(object, "completions"))
        return 0;
    int64_t parallelism = 1;
    int r = read_count(object, "parallelism", &parallelism, err);
    if (r < 0)
        return r;
    int64_t completions = parallelism;
    if ((r = read_count(object, "completions", &completions, err)) < 0)
        return r;
    return multiply(count, "parallelism", parallelism < completions ? parallelism : completions,
                    err);
}

static int multiply_by_all(const json_t *object, const char *next, struct pod_count *count,
                           struct err *err)
{
    int r = multiply_by_member(object, "replicas", next, count, err);
    return r < 0 ? r : multiply_by_job(object, count, err);
}

/* LeaderWorkerSet: groups of `size` pods (default 1). If leaderTemplate exists, it makes one of
 * them. */
static int leader_worker_factor(const json_t *object, const char *next, struct pod_count *count,
                                struct err *err)
{
    int64_t size = 1;
    int r = read_count(object, "size", &size, err);
    if (r < 0)
        return r;
    if (strcmp(next, "leaderTemplate") == 0)
        return multiply(count, "size", 1, err);
    if (json_member(object, "leaderTemplate"))
        size = size > 0 ? size - 1 : 0;
    return multiply(count, "size", size, err);
}

/* RayCluster: always one head. */
static int one(const json_t *object, const char *next, struct pod_count *count, struct err *err)
{
    (void)object;
    return multiply(count, next, 1, err);
}

/* RayCluster: replicas within minReplicas and maxReplicas, or the minimum, which is 0 by default;
 * none of a suspended group. Source: GetWorkerGroupDesiredReplicas() in KubeRay's
 * ray-operator/controllers/ray/utils/util.go. */
static int ray_workers(const json_t *object, const char *next, struct pod_count *count,
                       struct err *err)
{
    int64_t least = 0;
    int64_t most = INT64_MAX;
    int64_t hosts = 1;
    int r = read_count(object, "minReplicas", &least, err);
    int64_t n = least;
    (void)next;
    if (r < 0 || (r = read_count(object, "maxReplicas", &most, err)) < 0 ||
        (r = read_count(object, "numOfHosts", &hosts, err)) < 0 ||
        (r = read_count(object, "replicas", &n, err)) < 0)
        return r;
    if (json_is_true(json_member(object, "suspend")))
        n = 0;
    else if (n < least)
        n = least;
    else if (n > most)
        n = most;
    r = multiply(count, "numOfHosts", hosts, err);
    return r < 0 ? r : multiply(count, "replicas", n, err);
}

/* RoleBasedGroup: groups of leaderWorkerSet.size pods (default 1), if the role's workload is a
 * LeaderWorkerSet. Source: RoleSpec in sgl-project/rbg's api/workloads/v1alpha1. */
static int role_pods(const json_t *object, const char *next, struct pod_count *count,
                     struct err *err)
{
    const char *kind = json_string_value(json_member(json_member(object, "workload"), "kind"));
    const json_t *group = json_member(object, "leaderWorkerSet");
    int64_t size = 1;
    int r = multiply_by_all(object, next, count, err);
    if (r < 0 || !group || !kind || strcmp(kind, "LeaderWorkerSet") != 0)
        return r;
    if ((r = read_count(group, "size", &size, err)) < 0) {
        err_prefix(err, "leaderWorkerSet.");
        return r;
    }
    return multiply(count, "leaderWorkerSet.size", size, err);
}

/* RoleBasedGroup's InstanceComponent: size pods of each component. Source: as role_pods(). */
static int component_pods(const json_t *object, const char *next, struct pod_count *count,
                          struct err *err)
{
    int r = multiply_by_all(object, next, count, err);
    return r < 0 ? r : multiply_by_member(object, "size", next, count, err);
}

struct rule {
    const char *name;  /* the key of the object */
    const char *reads; /* its members that count */
    int (*multiply)(const json_t *object, const char *next, struct pod_count *count,
                    struct err *err);
};

/* Kueue's Workload; Elasticsearch (elastic/cloud-on-k8s, NodeSet in pkg/apis/elasticsearch/v1). */
static int pod_set_count(const json_t *object, const char *next, struct pod_count *count,
                         struct err *err)
{
    return multiply_by_member(object, "count", next, count, err);
}

static const struct rule RULES[] = {
    {"leaderWorkerTemplate", "size", leader_worker_factor},
    {"headGroupSpec", "replicas", one},
    {"workerGroupSpecs", "replicas minReplicas maxReplicas numOfHosts suspend", ray_workers},
    {"podSets", "count", pod_set_count},
    {"nodeSets", "count", pod_set_count},
    {"roles", "replicas leaderWorkerSet", role_pods},
    {"leaderWorkerPattern", "size", leader_worker_factor},
    {"components", "replicas size", component_pods},
};

static const struct rule *rule_of(const char *name)
{
    for (size_t i = 0; i < sizeof RULES / sizeof RULES[0]; i++) {
        if (strcmp(name, RULES[i].name) == 0)
            return &RULES[i];
    }
    return NULL;
}

/* Multiplies by the counts of one object on the path to a template. name: key of the object itself
 * ("spec", "workerGroupSpecs"); next: its key towards the template. -EINVAL: an invalid count; the
 * message begins with its key. */
static int multiply_counts(const json_t *object, const char *name, const char *next,
                           struct pod_count *count, struct err *err)
{
    const struct rule *rule = rule_of(name);
    return rule ? rule->multiply(object, next, count, err)
                : multiply_by_all(object, next, count, err);
}

/* ---- the walk ---- */

bool template_is_pod(const json_t *object)
{
    return json_is_array(json_member(json_member(object, "spec"), "containers"));
}

static bool ends_in_template(const char *key)
{
    const size_t tail = strlen("emplate");
    size_t len = strlen(key);
    return len > tail && strcmp(key + len - tail, "emplate") == 0 &&
           (key[len - tail - 1] == 't' || key[len - tail - 1] == 'T');
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

/* Multiplies the counts from the root down to the step. */
static int count_pods(const struct step *step, struct arena *arena, struct pod_count *count,
                      struct err *err)
{
    if (!step->parent)
        return 0;
    int r = count_pods(step->parent, arena, count, err);
    if (r < 0 || !step->object)
        return r;
    if ((r = multiply_counts(step->object, step->parent->key, step->key, count, err)) < 0) {
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

/* An inline pod has its count inside: the objects around it count other things (the parallelism of
 * a Workflow). */
static int count_inline(const struct pod_template *found, const json_t *owner,
                        struct pod_count *count, struct err *err)
{
    const struct inline_pods *row = found->row;
    count->known = row->one_by_default;
    if (row->pods_each) {
        const bool known = count->known;
        int r = multiply(count, "size", row->pods_each(owner, found->part), err);
        count->known = known;
        if (r < 0)
            return r;
    }
    if (!row->count || !json_member(found->part, row->count))
        return 0;
    return multiply_by_member(found->part, row->count, "", count, err);
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

/* Of the objects around the template, from it up. */
static void find_unread(struct walk *walk, const struct step *step)
{
    for (; step->parent; step = step->parent) {
        if (!step->object)
            continue;
        const struct rule *rule = rule_of(step->parent->key);
        const struct counted_object object = {.object = step->object,
                                              .path = path_of(step->parent, walk->arena),
                                              .next = step->key,
                                              .read = rule ? rule->reads
                                                      : json_member(step->object, "completions")
                                                          ? "completions parallelism replicas"
                                                          : "replicas"};
        count_fields_add(&walk->found.unread, &object, walk->arena);
    }
}

static void add_template(struct walk *walk, const json_t *object, const struct step *step,
                         const struct inline_pods *row, const json_t *part)
{
    struct pod_template found = {.path = path_of(step, walk->arena),
                                 .object = object,
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
    if (!made)
        return NULL;
    ++*question->n_inline;
    if (!walk->found.made)
        walk->found.made = json_array();
    (void)json_array_append_new(walk->found.made, made);
    add_template(walk, made, step, row, value);
    return row;
}

static struct stray_request *add_stray(struct walk *walk, const struct step *step,
                                       const char *member, const char *resource)
{
    struct template_list *found = &walk->found;
    const char *path = path_of(step, walk->arena);
    struct stray_request *stray = &found->strays[found->n_strays++];
    *stray = (struct stray_request){
        .path = arena_printf(walk->arena, "%s%s%s", path, *path ? "." : "", member),
        .resource = arena_strdup(walk->arena, resource)};
    return stray;
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
    static const char *const ENDS[] = {"Type", "Profile", "Flavor", "Shape", "Class"};
    for (size_t i = 0; i < sizeof ENDS / sizeof *ENDS; i++) {
        const size_t len = strlen(key);
        const size_t tail = strlen(ENDS[i]);
        if (len > tail && strcmp(key + len - tail, ENDS[i]) == 0)
            return true;
    }
    return false;
}

/* Workspaces and RAGEngines of KAITO always ask for machines with GPUs. */
static bool is_machine_of_kaito(const struct walk *walk, const char *key)
{
    const char *version = json_string_value(json_member(walk->question->object, "apiVersion"));
    return strcmp(key, "instanceType") == 0 && version && strncmp(version, "kaito.sh/", 9) == 0;
}

/* gpu, numGpus, acceleratorType, nvidia.com/gpu; resourceProfile: nvidia-gpu-l4:1. */
static bool names_gpu(const struct walk *walk, const char *key, const json_t *value)
{
    const char *text = json_string_value(value);
    if (is_nothing(value))
        return false;
    return strcasestr(key, "gpu") || strcasestr(key, "accelerator") ||
           policy_is_gpu_resource(walk->question->policy, key) ||
           (text && policy_is_gpu_resource(walk->question->policy, text)) ||
           (text && is_choice(key) && strcasestr(text, "gpu")) || is_machine_of_kaito(walk, key);
}

static void find_names(struct walk *walk, const json_t *object, const struct step *step)
{
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach ((json_t *)(uintptr_t)object, key, value) {
        if (walk->found.n_strays == STRAY_REQUESTS_MAX || (!step->parent && is_skipped(step, key)))
            continue;
        if (names_gpu(walk, key, value))
            add_stray(walk, step, quoted_plain(walk->arena, key), quoted_plain(walk->arena, key))
                ->is_by_name = true;
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
            (void)add_stray(walk, step, MEMBERS[i], quoted_plain(walk->arena, resource));
            return;
        }
    }
    const char *named = gpu_by_name(walk, object);
    if (named)
        (void)add_stray(walk, step, "quantity", named);
    else if (json_array_size(json_member(object, "resourceClaims")) > 0)
        (void)add_stray(walk, step, "resourceClaims", "resourceClaims");
    else if (walk->question->is_unknown)
        find_names(walk, object, step);
}

static void walk_value(struct walk *walk, json_t *value, const struct step *step);

static void walk_object(struct walk *walk, json_t *object, const struct step *step)
{
    const char *key = NULL;
    json_t *value = NULL;
    if (!step->row)
        find_strays(walk, object, step);
    json_object_foreach (object, key, value) {
        if ((!json_is_object(value) && !json_is_array(value)) || is_skipped(step, key))
            continue;
        struct step into = {.parent = step, .object = object, .key = key, .depth = step->depth + 1};
        if (ends_in_template(key) && template_is_pod(value)) {
            add_template(walk, value, &into, NULL, NULL);
            continue;
        }
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
