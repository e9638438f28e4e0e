/*
 * workload: see include/objects/workload.h. template_walk.c finds templates and counts their pods.
 */
#include "objects/workload.h"

#include "base/dns_name.h"
#include "base/mem.h"
#include "base/nearest.h"
#include "formats/json_values.h"
#include "objects/annotations.h"
#include "objects/container_requests.h"
#include "objects/devices/pod_claims.h"
#include "objects/fields.h"
#include "objects/templates/schema.h"
#include "objects/templates/template_walk.h"
#include "objects/templates/unknown_fields.h"
#include "objects/tolerations.h"
#include "objects/warnings.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#define LISTS_IN_LISTS_MAX 4

/* Properties of Kubernetes' own kinds, and of common others: those of which the pods are counted
 * right. */
struct workload_kind {
    const char *group; /* NULL: any */
    const char *name;
    bool one_by_default; /* a missing count means 1 */
    bool per_node;
    bool must_hold_pods;
    bool spreads; /* its pods are replicas, better on different nodes */
};

static const struct workload_kind KINDS[] = {
    {NULL, "PodTemplate", true, false, true, false},
    {NULL, "Deployment", true, false, true, true},
    {NULL, "StatefulSet", true, false, true, true},
    {NULL, "ReplicaSet", true, false, true, true},
    {NULL, "ReplicationController", true, false, true, true},
    {NULL, "DaemonSet", true, true, true, false},
    {NULL, "Job", true, false, true, false},
    {NULL, "CronJob", true, false, true, false},
    {"jobset.x-k8s.io", "JobSet", true, false, true, false},
    {"leaderworkerset.x-k8s.io", "LeaderWorkerSet", true, false, true, false},
    {"ray.io", "RayCluster", false, false, true, false},
    /* others, whose defaults are those of their projects' API types */
    {"actions.github.com", "AutoscalingRunnerSet", false, false, false, false},
    {"apps.kruise.io", "CloneSet", true, false, false, true},
    {"elasticsearch.k8s.elastic.co", "Elasticsearch", true, false, false, true},
    {"workloads.x-k8s.io", "InstanceSet", true, false, false, false},
    {"kubeflow.org", "JAXJob", true, false, false, false},
    {"kubeflow.org", "MPIJob", true, false, false, false},
    {"kubeflow.org", "MXJob", true, false, false, false},
    {"kubeflow.org", "Notebook", true, false, false, false},
    {"kubeflow.org", "PaddleJob", true, false, false, false},
    {"kubeflow.org", "PyTorchJob", true, false, false, false},
    {"ray.io", "RayJob", false, false, false, false},
    {"ray.io", "RayService", false, false, false, false},
    {"workloads.x-k8s.io", "RoleBasedGroup", true, false, false, false},
    {"workloads.x-k8s.io", "RoleBasedGroupSet", true, false, false, false},
    {"workloads.x-k8s.io", "RoleInstanceSet", true, false, false, false},
    {"argoproj.io", "Rollout", true, false, false, true},
    {"keda.sh", "ScaledJob", true, false, false, false},
    {"kubeflow.org", "TFJob", true, false, false, false},
    {"kueue.x-k8s.io", "Workload", true, false, false, false},
    {"kubeflow.org", "XGBoostJob", true, false, false, false},
};

/* One object of a manifest, with its context. */
struct manifest {
    json_t *object;
    const char *kind;
    const char *api_version;
    const char *name;
    const char *namespace_;
    const struct policy *policy;
    struct arena *arena;
    struct workload_list *list;
    struct text_list around; /* not evaluated, of each of its workloads */
    bool may_omit_version;   /* an item of a PodList, say */
    bool is_hypothesis;      /* claims are judged as if it were applied */
};

/* NULL: the kind is unknown. */
static const struct workload_kind *kind_of(const char *kind, const char *api_version)
{
    for (size_t i = 0; i < sizeof KINDS / sizeof KINDS[0]; i++) {
        if (strcasecmp(kind, KINDS[i].name) == 0 &&
            (!KINDS[i].group || schema_may_be_in_group(api_version, KINDS[i].group)))
            return &KINDS[i];
    }
    return NULL;
}

/* Grows a list, which is full at every power of two. */
static void *make_room(void *items, size_t n, size_t size, struct arena *arena)
{
    if ((n & (n - 1)) != 0)
        return items;
    void *more = arena_array(arena, n ? n * 2 : 1, size);
    if (n > 0)
        memcpy(more, items, n * size);
    return more;
}

static void add_workload(const struct manifest *manifest, const struct workload *workload)
{
    struct workload_list *list = manifest->list;
    list->items = make_room(list->items, list->n, sizeof *list->items, manifest->arena);
    struct workload *added = &list->items[list->n++];
    *added = *workload;
    added->object = list->n_objects;
    if (!added->problem && manifest->policy->default_toleration_seconds)
        tolerations_add_default(&added->pod.shape, manifest->arena);
}

static void add_skipped(struct workload_list *list, struct skipped_object skipped,
                        struct arena *arena)
{
    list->skipped = make_room(list->skipped, list->n_skipped, sizeof *list->skipped, arena);
    list->skipped[list->n_skipped++] = skipped;
}

static void add_problem(const struct manifest *manifest, const char *problem)
{
    const struct workload workload = {.kind = manifest->kind,
                                      .name = manifest->name,
                                      .object_name = manifest->name,
                                      .template_path = "",
                                      .namespace_ = manifest->namespace_,
                                      .replicas = 1,
                                      .replicas_known = true,
                                      .problem = problem};
    add_workload(manifest, &workload);
}

/* A template's pods get the name and namespace of the object. */
static void name_pod(const struct manifest *manifest, struct pod_facts *pod)
{
    pod->name = manifest->name;
    pod->namespace_ = manifest->namespace_;
    pod->uid = arena_printf(manifest->arena, "%s/%s", pod->namespace_, pod->name);
}

static bool has_line(const struct text_list *list, const char *line)
{
    for (size_t i = 0; i < list->n; i++) {
        if (strcmp(list->items[i], line) == 0)
            return true;
    }
    return false;
}

/* Appends the lines of the second that are not in the first; both are short. */
static struct text_list joined(struct text_list first, struct text_list second, struct arena *arena)
{
    struct text_list both = {ARENA_ARRAY(arena, const char *, first.n + second.n), first.n};
    if (first.n > 0)
        memcpy(both.items, first.items, first.n * sizeof *first.items);
    for (size_t i = 0; i < second.n; i++) {
        if (!has_line(&both, second.items[i]))
            both.items[both.n++] = second.items[i];
    }
    return both;
}

static const char *version_of_kind(const char *kind)
{
    static const struct {
        const char *kind;
        const char *version;
    } BUILT_IN[] = {
        {"CronJob", "batch/v1"},
        {"DaemonSet", "apps/v1"},
        {"Deployment", "apps/v1"},
        {"DeviceClass", "resource.k8s.io/v1"},
        {"DeviceTaintRule", "resource.k8s.io/v1beta2"},
        {"Job", "batch/v1"},
        {"List", "v1"},
        {"Pod", "v1"},
        {"PodTemplate", "v1"},
        {"ReplicaSet", "apps/v1"},
        {"ReplicationController", "v1"},
        {"ResourceClaim", "resource.k8s.io/v1"},
        {"ResourceClaimTemplate", "resource.k8s.io/v1"},
        {"ResourceSlice", "resource.k8s.io/v1"},
        {"StatefulSet", "apps/v1"},
    };
    for (size_t i = 0; i < sizeof BUILT_IN / sizeof *BUILT_IN; i++) {
        if (strcmp(kind, BUILT_IN[i].kind) == 0)
            return BUILT_IN[i].version;
    }
    return NULL;
}

static struct controller controller_of(const struct manifest *manifest)
{
    return (struct controller){manifest->kind, manifest->name,
                               version_of_kind(manifest->kind) != NULL};
}

static struct text_list not_evaluated(const struct manifest *manifest,
                                      const struct pod_template *template)
{
    struct text_list list = pod_not_evaluated(template->object, manifest->policy, manifest->arena);
    list = joined(list, manifest->around, manifest->arena);
    const struct controller controller = controller_of(manifest);
    list = joined(list,
                  controller_labels_not_evaluated(template->object, &controller, manifest->arena),
                  manifest->arena);
    if (template->row && template->row->note) {
        const char *note = template->row->note;
        list = joined(list, (struct text_list){&note, 1}, manifest->arena);
    }
    return list;
}

/* NULL: no such text. */
static const char *annotation_of(const struct manifest *manifest, const json_t *pod,
                                 const char *key)
{
    const json_t *annotations = json_member(json_member(pod, "metadata"), "annotations");
    const char *text = json_string_value(json_member(annotations, key));
    return text ? arena_strdup(manifest->arena, text) : NULL;
}

static const struct shape_facts *chosen_by(const struct manifest *manifest, const json_t *pod)
{
    struct shape_facts *chosen = ARENA_NEW(manifest->arena, struct shape_facts);
    const char *refusal = NULL;
    struct err err;
    const int r = annotations_read(json_member(pod, "metadata"), manifest->policy, manifest->arena,
                                   chosen, &refusal, &err);
    return r == 0 && !refusal ? chosen : NULL;
}

static void keep_texts(const struct manifest *manifest, const json_t *pod,
                       struct workload *workload)
{
    const struct model_wants *wants = &workload->pod.shape.wants;
    const char *models = annotation_of(manifest, pod, ANNOTATION_MODELS);
    const char *exclude = annotation_of(manifest, pod, ANNOTATION_EXCLUDE_MODELS);
    workload->chooses_gpus =
        models || exclude || annotation_of(manifest, pod, ANNOTATION_MIN_GPU_MEMORY);
    if (workload->chooses_gpus)
        workload->chosen = chosen_by(manifest, pod);
    if (wants->n_accept > 0)
        workload->models_text = models;
    if (wants->n_exclude > 0)
        workload->exclude_models_text = exclude;
}

/* A wrong one is a mistake in the manifest. */
static void read_domain(const struct manifest *manifest, const json_t *pod,
                        struct workload *workload)
{
    struct err why = {""};
    const char *text = annotation_of(manifest, pod, ANNOTATION_DOMAIN);
    if (text &&
        domain_wish_read(text, manifest->policy, manifest->arena, &workload->domain, &why) < 0 &&
        !workload->pod.refusal)
        workload->pod.refusal = arena_strdup(manifest->arena, why.text);
}

static const char *runtime_class_of(const struct manifest *manifest, const json_t *pod)
{
    const char *name = "";
    struct err err;
    (void)meta_name(json_member(pod, "spec"), "runtimeClassName", manifest->arena, &name, &err);
    return name;
}

static void read_template(const struct manifest *manifest, const struct pod_template *template,
                          const struct workload_kind *row, struct workload *workload)
{
    struct err why = {""};
    struct pod_facts *pod = &workload->pod;
    const struct controller controller = controller_of(manifest);
    json_auto_t *labelled = controller_labels_add(template->object, &controller);
    if (pod_from_json_unasked(labelled, manifest->policy, manifest->arena, pod, &why) < 0) {
        workload->problem = arena_printf(manifest->arena, "%s.%s", template->path, why.text);
        return;
    }
    name_pod(manifest, pod);
    keep_texts(manifest, template->object, workload);
    read_domain(manifest, template->object, workload);
    workload->runtime_class = runtime_class_of(manifest, template->object);
    pod->replica_of = row->spreads ? pod->uid : "";
    if (row->per_node) {
        const json_t *spec = json_member(template->object, "spec");
        bool host_network = json_is_true(json_member(spec, "hostNetwork"));
        tolerations_add_daemon(&pod->shape, host_network, manifest->arena);
    }
    workload->not_evaluated = not_evaluated(manifest, template);
    workload->in_group = pod_in_group(template->object) || pod_group_around(manifest->object);
}

static void add_template(const struct manifest *manifest, const struct pod_template *template,
                         bool is_only, const struct workload_kind *row)
{
    struct workload workload = {
        .kind = manifest->kind,
        .name = is_only ? manifest->name
                        : arena_printf(manifest->arena, "%s/%s", manifest->name, template->path),
        .object_name = manifest->name,
        .template_path = template->path,
        .is_inline = template->row != NULL,
        .namespace_ = manifest->namespace_,
        .replicas = template->count.n,
        .replicas_known = template->count.known,
        .per_node = row->per_node,
        .problem = template->problem,
    };
    if (!workload.problem)
        read_template(manifest, template, row, &workload);
    add_workload(manifest, &workload);
}

static struct warned warned_of(const struct manifest *manifest)
{
    return (struct warned){manifest->kind,   manifest->namespace_, manifest->name,
                           manifest->object, manifest->arena,      manifest->list};
}

/* Whether both are of one group; extensions is the group of old releases. */
static bool may_be_of_group(const char *given, const char *right)
{
    const size_t len = schema_group_len(given);
    return strncmp(given, "extensions/", strlen("extensions/")) == 0 ||
           (len == schema_group_len(right) && strncmp(given, right, len) == 0);
}

/* Whether the group of an apiVersion is another group misspelt. */
static bool is_misspelt(const char *given, const char *right, struct arena *arena)
{
    const char *group = arena_strndup(arena, given, schema_group_len(given));
    const char *meant = arena_strndup(arena, right, schema_group_len(right));
    return strcmp(group, meant) != 0 && nearest_distance(group, meant) != SIZE_MAX;
}

/* Groups of others have a dot in their names. Kubernetes 1.25 removed the last of the old versions
 * of the kinds that version_of_kind() knows. */
static void warn_of_version(const struct manifest *manifest)
{
    const struct warned object = warned_of(manifest);
    struct arena *arena = manifest->arena;
    const char *given = manifest->api_version;
    const char *right = version_of_kind(manifest->kind);
    if (!right || strcmp(given, right) == 0 ||
        (*given && !schema_is_own_group(given) && !is_misspelt(given, right, arena)))
        return;
    if (*given && may_be_of_group(given, right))
        warned_add(&object, "apiVersion",
                   arena_printf(arena, "Kubernetes 1.25 and newer do not serve %s; write %s",
                                quoted(arena, given), right));
    else if (*given)
        warned_add(&object, "apiVersion",
                   arena_printf(arena, "%s is not in this group; did you mean %s?", manifest->kind,
                                right));
    else if (!manifest->may_omit_version)
        warned_add(&object, "apiVersion", arena_printf(arena, "is missing; write %s", right));
}

/* Kinds of other groups may have any name. */
static void warn_of_kind(const struct manifest *manifest)
{
    const struct warned object = warned_of(manifest);
    struct nearest nearest = {.asked = manifest->kind, .least = SIZE_MAX};
    if (!schema_is_own_group(manifest->api_version))
        return;
    for (size_t i = 0; i < SCHEMA_KINDS_N; i++)
        (void)nearest_try(&nearest, SCHEMA_KINDS[i].name);
    if (nearest.found && strcmp(nearest.found, manifest->kind) != 0)
        warned_add(&object, "kind",
                   arena_printf(manifest->arena, "unknown kind; did you mean %s?", nearest.found));
}

/* Only of pods that would be asked about. */
static void warn_of_scheduler(const struct manifest *manifest, const struct pod_template *template)
{
    const struct warned object = warned_of(manifest);
    const json_t *spec = json_member(template->object, "spec");
    const char *message = pod_unasked_scheduler(spec, manifest->policy, manifest->arena);
    if (message && managed_by_policy(spec, manifest->policy))
        warned_add(&object,
                   arena_printf(manifest->arena, "%s%sspec.schedulerName", template->path,
                                *template->path ? "." : ""),
                   message);
}

static void warn_of_name(const struct manifest *manifest)
{
    const struct warned object = warned_of(manifest);
    const json_t *metadata = json_member(manifest->object, "metadata");
    const char *name = json_string_value(json_member(metadata, "name"));
    if (name && *name && !dns_is_subdomain(name, strlen(name)))
        warned_add(
            &object, "metadata.name",
            "the API server takes small letters, digits, '-' and '.' only, at most 253, with "
            "a letter or digit at both ends");
}

/* The API server rejects an object of group apps whose selector leaves its own pods out. */
static void warn_of_selector(const struct manifest *manifest, const struct pod_template *template)
{
    const struct warned object = warned_of(manifest);
    const json_t *selector = json_member(json_member(manifest->object, "spec"), "selector");
    const json_t *wanted = json_member(selector, "matchLabels");
    const json_t *labels = json_member(json_member(template->object, "metadata"), "labels");
    const char *key = NULL;
    json_t *value = NULL;
    if (strcmp(manifest->api_version, "apps/v1") != 0 ||
        strcmp(template->path, "spec.template") != 0)
        return;
    json_object_foreach ((json_t *)(uintptr_t)wanted, key, value) {
        if (json_is_string(value) && !json_equal(value, json_object_get(labels, key)) &&
            !warned_is_full(&object))
            warned_add(&object, arena_printf(manifest->arena, "spec.selector.matchLabels[%s]", key),
                       "is no label of its pods" WARNING_REJECTED);
    }
}

static void warn(const struct manifest *manifest, const struct template_list *found)
{
    const struct warned object = warned_of(manifest);
    warn_of_kind(manifest);
    warn_of_version(manifest);
    if (found->n > 0)
        warn_of_name(manifest);
    if (found->n > 0 && !found->items[0].row)
        misplaced_find_outside(&object, &found->items[0]);
    for (size_t i = 0; i < found->n; i++) {
        if (!found->items[i].row)
            misplaced_find(&object, &found->items[i]);
        visible_gpus_find(&object, &found->items[i]);
        warn_of_scheduler(manifest, &found->items[i]);
        warn_of_selector(manifest, &found->items[i]);
    }
    if (unknown_fields_find(&object, manifest->api_version))
        return;
    for (size_t i = 0; i < found->n; i++)
        unknown_fields_find_near(&object, &found->items[i]);
}

/* What names the part: the object, and a field or the reason. */
static void add_unjudged(const struct manifest *manifest, const char *what)
{
    struct workload_list *list = manifest->list;
    if (list->n_unjudged++ == 0)
        list->first_unjudged =
            arena_printf(manifest->arena, "%s %s: %s", manifest->kind, manifest->name, what);
}

static void warn_of_unread(const struct manifest *manifest, const struct count_fields *unread,
                           bool is_known)
{
    const struct warned object = warned_of(manifest);
    for (size_t i = 0; i < unread->n; i++) {
        warned_add(
            &object, unread->paths[i],
            is_known ? "may change the pods or their number: not judged"
                     : "may change the number of pods, but this kind is unknown here: not judged");
        add_unjudged(manifest, unread->paths[i]);
    }
}

static void add_stray(const struct manifest *manifest, const char *path, const char *resource)
{
    struct workload_list *list = manifest->list;
    list->strays = make_room(list->strays, list->n_strays, sizeof *list->strays, manifest->arena);
    list->strays[list->n_strays++] =
        (struct stray_gpu){manifest->kind, manifest->name, path, resource};
}

/* makes_pods: it does, and says nothing of them. */
static void add_strays(const struct manifest *manifest, const struct template_list *found,
                       bool makes_pods)
{
    const struct workload_list *list = manifest->list;
    bool is_told = found->n > 0; /* by more than names */
    if (makes_pods && list->n_strays < WORKLOAD_STRAYS_MAX)
        add_stray(manifest, "kind", STRAY_GPUS);
    for (size_t i = 0; i < found->n_strays; i++)
        is_told |= !found->strays[i].is_by_name;
    for (size_t i = 0; i < found->n_strays && list->n_strays < WORKLOAD_STRAYS_MAX; i++) {
        if (found->strays[i].is_by_name && is_told)
            continue;
        add_stray(manifest, found->strays[i].path, found->strays[i].resource);
    }
}

#define UNKNOWN_KIND "kind unknown here"
#define ELSEWHERE "its pods are described in another object"

static void add_no_template(const struct manifest *manifest, bool must_hold_pods, bool has_strays,
                            const struct template_question *question)
{
    struct skipped_object skipped = {manifest->kind, manifest->name, "holds no pods"};
    if (manifest->is_hypothesis)
        skipped.why = "holds no pods; claims are judged as if it were applied";
    else if (has_strays)
        skipped.why = "no recognised pod template";
    else if (question->is_unknown)
        skipped.why = UNKNOWN_KIND ", not judged";
    else if (question->rows || question->has_known_counts)
        skipped.why = ELSEWHERE ", not judged";
    else if (strcmp(manifest->kind, "Kustomization") == 0)
        skipped.why = "holds no pods; send what kubectl kustomize prints";
    if (strstr(skipped.why, ", not judged") && !must_hold_pods)
        add_unjudged(manifest, question->is_unknown ? UNKNOWN_KIND : ELSEWHERE);
    if (must_hold_pods)
        add_problem(manifest, "no pod template: nothing under a key that ends in \"template\" has "
                              "spec.containers");
    else
        add_skipped(manifest->list, skipped, manifest->arena);
}

static void add_templates(struct manifest *manifest)
{
    manifest->around =
        pod_not_evaluated_around(manifest->object, manifest->policy, manifest->arena);
    const struct workload_kind *known = kind_of(manifest->kind, manifest->api_version);
    const struct workload_kind row = known ? *known : (struct workload_kind){0};
    const struct inline_pods *rows = inline_pods_of_kind(manifest->kind, manifest->api_version);
    const struct template_question question = {
        .object = manifest->object,
        .rows = rows,
        .start = {1, row.one_by_default},
        .has_known_counts = known != NULL,
        .policy = podless_is(manifest->kind, manifest->api_version) ? NULL : manifest->policy,
        .is_unknown = !rows && !known && podless_is_unknown(manifest->kind, manifest->api_version),
        .n_inline = &manifest->list->n_inline,
    };
    struct template_list found CLEANUP(template_list_fini) =
        template_walk(&question, manifest->arena);
    for (size_t i = 0; i < found.n; i++)
        add_template(manifest, &found.items[i], found.n == 1, &row);
    const bool makes_pods = found.n == 0 && found.n_strays == 0 &&
                            podless_makes_gpu_pods(manifest->kind, manifest->api_version);
    add_strays(manifest, &found, makes_pods);
    manifest->is_hypothesis |=
        device_requests_find(manifest->object, manifest->kind, manifest->namespace_, manifest->name,
                             manifest->arena, &manifest->list->requests);
    warn(manifest, &found);
    warn_of_unread(manifest, &found.unread, known || rows);
    const bool is_certain = row.group || schema_is_own_group(manifest->api_version);
    if (found.n == 0)
        add_no_template(manifest, row.must_hold_pods && is_certain,
                        makes_pods || found.n_strays > 0, &question);
}

static void warn_of_pod(const struct manifest *manifest)
{
    const struct warned object = warned_of(manifest);
    const struct pod_template pod = {.path = "", .object = manifest->object};
    warn_of_kind(manifest);
    warn_of_version(manifest);
    misplaced_find(&object, &pod);
    visible_gpus_find(&object, &pod);
    warn_of_scheduler(manifest, &pod);
    warn_of_name(manifest);
    (void)unknown_fields_find(&object, manifest->api_version);
}

static void add_pod(const struct manifest *manifest)
{
    struct workload workload = {.kind = manifest->kind,
                                .name = manifest->name,
                                .object_name = manifest->name,
                                .template_path = "",
                                .namespace_ = manifest->namespace_,
                                .replicas = 1,
                                .replicas_known = true};
    struct err why = {""};
    if (!template_is_pod(manifest->object))
        workload.problem = "spec.containers: is missing, should be an array";
    else if (pod_from_json_unasked(manifest->object, manifest->policy, manifest->arena,
                                   &workload.pod, &why) < 0)
        workload.problem = arena_strdup(manifest->arena, why.text);
    else
        workload.not_evaluated =
            pod_not_evaluated(manifest->object, manifest->policy, manifest->arena);
    keep_texts(manifest, manifest->object, &workload);
    read_domain(manifest, manifest->object, &workload);
    workload.runtime_class = runtime_class_of(manifest, manifest->object);
    workload.in_group = pod_in_group(manifest->object);
    add_workload(manifest, &workload);
    warn_of_pod(manifest);
}

static int read_names(struct manifest *manifest, struct err *err)
{
    json_t *metadata = NULL;
    int r = json_get_object(manifest->object, "metadata", &metadata, err);
    if (r < 0)
        return r;
    if ((r = meta_name(metadata, "generateName", manifest->arena, &manifest->name, err)) < 0 ||
        (r = meta_name(metadata, "name", manifest->arena, &manifest->name, err)) < 0 ||
        (r = meta_name(metadata, "namespace", manifest->arena, &manifest->namespace_, err)) < 0)
        err_prefix(err, "metadata.");
    return r;
}

/* Items of a "PodList" are of kind "Pod", which they may omit. */
static const char *kind_of_items(const char *kind, struct arena *arena)
{
    size_t len = strlen(kind) - strlen("List");
    return len > 0 ? arena_strndup(arena, kind, len) : NULL;
}

static bool is_list(const struct manifest *manifest)
{
    size_t len = strlen(manifest->kind);
    return len >= strlen("List") &&
           strcasecmp(manifest->kind + len - strlen("List"), "List") == 0 &&
           json_is_array(json_member(manifest->object, "items"));
}

static int add_object(struct manifest *manifest, const char *default_kind, int depth,
                      struct err *err);

static int add_items(const struct manifest *manifest, int depth, struct err *err)
{
    if (depth >= LISTS_IN_LISTS_MAX)
        return err_set(err, EINVAL, "items: lists in lists, more than %d deep", LISTS_IN_LISTS_MAX);
    const char *default_kind = kind_of_items(manifest->kind, manifest->arena);
    const json_t *items = json_member(manifest->object, "items");
    for (size_t i = 0; i < json_array_size(items); i++) {
        struct manifest item = *manifest;
        item.object = json_array_get(items, i);
        int r = add_object(&item, default_kind, depth + 1, err);
        if (r < 0) {
            err_prefix(err, "items[%zu]: ", i);
            return r;
        }
    }
    return 0;
}

static struct given_object given_of(const struct manifest *manifest)
{
    return (struct given_object){manifest->object, manifest->kind,
                                 old_claims_refusal(manifest->kind, manifest->api_version)};
}

/* Kinds of other groups may have the names of claims. */
static bool may_be_claim(const char *api_version)
{
    return schema_is_own_group(api_version) ||
           schema_may_be_in_group(api_version, "resource.k8s.io");
}

static void read_claims(struct manifest *manifest)
{
    struct err err = {0};
    const struct warned object = warned_of(manifest);
    const struct given_object given = given_of(manifest);
    struct workload_list *list = manifest->list;
    const int claims = given_claims_add(&given, manifest->arena, &list->given, &err);
    if (claims < 0)
        warned_add(
            &object, "spec",
            arena_printf(manifest->arena, "pods and quotas are judged without it: %s", err.text));
    const int devices =
        given_devices_add(&given, manifest->policy, manifest->arena, &list->given_devices, &err);
    if (devices < 0)
        warned_add(&object, "spec",
                   arena_printf(manifest->arena, "claims are judged without it: %s", err.text));
    manifest->is_hypothesis = claims > 0 || devices > 0;
    old_claims_warn(&object, manifest->api_version);
}

static int add_object(struct manifest *manifest, const char *default_kind, int depth,
                      struct err *err)
{
    manifest->kind = default_kind;
    manifest->name = "";
    manifest->namespace_ = "default";
    if (!json_is_object(manifest->object))
        return err_set(err, EINVAL, "is %s, should be an object", json_type_text(manifest->object));
    int r = meta_name(manifest->object, "kind", manifest->arena, &manifest->kind, err);
    if (r < 0)
        return r;
    if (!manifest->kind)
        return err_set(err, EINVAL, "kind: is missing");
    manifest->may_omit_version = manifest->kind == default_kind;
    manifest->is_hypothesis = false;
    if (is_list(manifest))
        return add_items(manifest, depth, err);
    if ((r = read_names(manifest, err)) < 0)
        return r;
    const char *api_version = json_string_value(json_member(manifest->object, "apiVersion"));
    manifest->api_version = api_version ? api_version : "";
    if (may_be_claim(manifest->api_version))
        read_claims(manifest);
    manifest->list->n_objects++;
    if (strcasecmp(manifest->kind, "Pod") == 0 && schema_is_own_group(manifest->api_version))
        add_pod(manifest);
    else
        add_templates(manifest);
    return 0;
}

int workload_from_json(json_t *object, const struct policy *policy, struct arena *arena,
                       struct workload_list *list, struct err *err)
{
    struct manifest manifest = {.object = object, .policy = policy, .arena = arena, .list = list};
    return add_object(&manifest, NULL, 0, err);
}

static const char *shown_member(const json_t *object, const char *key, struct arena *arena)
{
    const char *text = json_string_value(json_member(object, key));
    return text ? quoted_plain(arena, text) : "";
}

bool workload_add_unreadable(const json_t *object, const char *why, struct arena *arena,
                             struct workload_list *list)
{
    if (list->n_unreadable == WORKLOAD_UNREADABLE_MAX)
        return false;
    list->n_unreadable++;
    list->n_objects++;
    add_skipped(
        list,
        (struct skipped_object){shown_member(object, "kind", arena),
                                shown_member(json_member(object, "metadata"), "name", arena),
                                arena_printf(arena, "unreadable: %s", why)},
        arena);
    return true;
}
