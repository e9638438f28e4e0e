/* cluster_checks: see checks.h. */
#include "checks.h"
#include "decide/quota.h"
#include "formats/json_values.h"
#include "inventory/inventory.h"
#include "ledger/admit.h"
#include "ledger/pod_groups.h"
#include "scheduler_checks.h"
#include "types/policy.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define SHOWN_NAMES 3
/* Longer names are cut. */
#define SHOWN_BYTES 100

void first_names_add(struct first_names *list, const char *format, ...)
{
    char name[SHOWN_BYTES];
    const size_t len = strlen(list->text);
    va_list args;
    if (list->n++ >= SHOWN_NAMES)
        return;
    va_start(args, format);
    (void)vsnprintf(name, sizeof name, format, args);
    va_end(args);
    (void)snprintf(list->text + len, sizeof list->text - len, "%s%s", len > 0 ? ", " : "", name);
}

const char *first_names_text(struct first_names *list)
{
    if (list->n <= SHOWN_NAMES)
        return list->text;
    (void)snprintf(list->shown, sizeof list->shown, "%s and %zu more", list->text,
                   list->n - SHOWN_NAMES);
    return list->shown;
}

/* Different GPU resources of all nodes. */
#define RESOURCES_MAX 64

struct resource_on_nodes {
    const struct resource *resource;
    struct first_names nodes;
};

struct resources {
    struct resource_on_nodes list[RESOURCES_MAX];
    size_t n;
};

static bool has_gpus(const struct node_resource *row)
{
    return row->resource->is_gpu && row->advertised && row->capacity > 0;
}

static bool has_any_gpus(const struct node *node)
{
    size_t n = 0;
    const struct node_resource *rows = node_resources(node, &n);
    for (size_t i = 0; i < n; i++) {
        if (has_gpus(&rows[i]))
            return true;
    }
    return false;
}

static bool names_model(const struct node_traits *traits)
{
    for (const struct gpu_kind *kind = NULL; (kind = node_traits_next_kind(traits, kind));) {
        if (kind->model.chip[0])
            return true;
    }
    return false;
}

static void check_models(const struct cluster *cluster, struct findings *findings)
{
    struct first_names unknown = {.n = 0};
    size_t n_gpu_nodes = 0;
    for (const struct node *node = NULL; (node = cluster_next_node(cluster, node));) {
        if (!has_any_gpus(node))
            continue;
        n_gpu_nodes++;
        if (!names_model(node_traits(node)))
            first_names_add(&unknown, "%s", node_name(node));
    }
    if (unknown.n > 0)
        findings_add(findings, FINDING_WARN, "nodes.model",
                     "label them with their model (models.labels of the policy), or give their "
                     "label's value an alias (models.aliases)",
                     "the model of %zu of %zu nodes with GPUs is unknown: %s", unknown.n,
                     n_gpu_nodes, first_names_text(&unknown));
    else
        findings_add(findings, FINDING_OK, "nodes.model", "",
                     "the models of all %zu nodes with GPUs are known", n_gpu_nodes);
}

/* "A10" and "A10-24Q", a virtual GPU of it. */
static bool is_virtual_of(const char *chip, const char *board)
{
    const size_t len = strlen(board);
    const char *profile = chip + len + 1;
    if (strncmp(chip, board, len) != 0 || chip[len] != '-')
        return false;
    const size_t n_digits = strspn(profile, "0123456789");
    return n_digits > 0 && strlen(profile) == n_digits + 1 && strchr("ABCQ", profile[n_digits]);
}

static bool is_same_form(const struct gpu_model *a, const struct gpu_model *b)
{
    struct gpu_model one = {.chip = "X"};
    struct gpu_model other = {.chip = "X"};
    memcpy(one.form, a->form, sizeof one.form);
    memcpy(other.form, b->form, sizeof other.form);
    return gpu_model_satisfies(&one, 0, &other) || gpu_model_satisfies(&other, 0, &one);
}

/* Whether the names may be of one GPU: no part that both give differs. How GPUs are shared is no
 * part of the model, and not every label says it. */
static bool is_same_model(const struct gpu_model *a, const struct gpu_model *b)
{
    if (strcmp(a->chip, b->chip) != 0)
        return is_virtual_of(a->chip, b->chip) || is_virtual_of(b->chip, a->chip);
    return (a->memory_gb == 0 || b->memory_gb == 0 || a->memory_gb == b->memory_gb) &&
           (!a->memory_type[0] || !b->memory_type[0] ||
            strcmp(a->memory_type, b->memory_type) == 0) &&
           is_same_form(a, b);
}

/* The first label about these GPUs that names another model than the one that counts; NULL: none.
 */
static const char *find_other_label(const struct node_traits *traits, const struct gpu_kind *kind)
{
    const struct policy *policy = traits->view.policy;
    for (size_t i = 0; i < policy->n_model_labels; i++) {
        struct gpu_model model;
        const char *key = policy->model_labels[i];
        const char *value = labels_find(traits->view.labels, traits->view.n_labels, key);
        if (value && gpu_model_parse(value, policy->aliases, policy->n_aliases, &model) &&
            gpu_kind_is_named_by(traits, kind, key) && !is_same_model(&model, &kind->model))
            return key;
    }
    return NULL;
}

static void check_labels(const struct cluster *cluster, struct findings *findings)
{
    struct first_names nodes = {.n = 0};
    for (const struct node *node = NULL; (node = cluster_next_node(cluster, node));) {
        const struct node_traits *traits = node_traits(node);
        for (const struct gpu_kind *kind = NULL; (kind = node_traits_next_kind(traits, kind));) {
            const char *other = *kind->model.chip ? find_other_label(traits, kind) : NULL;
            if (other)
                first_names_add(&nodes, "%s (%s, %s)", node_name(node), kind->label, other);
        }
    }
    if (nodes.n > 0)
        findings_add(findings, FINDING_WARN, "nodes.labels",
                     "correct the wrong one; the first in models.labels of the policy counts",
                     "labels of %zu nodes name different models: %s", nodes.n,
                     first_names_text(&nodes));
    else
        findings_add(findings, FINDING_OK, "nodes.labels", "",
                     "no node has labels that name different models");
}

static int64_t n_lost(const struct node_resource *row)
{
    return has_gpus(row) && row->allocatable < row->capacity ? row->capacity - row->allocatable : 0;
}

/* GPUs that are sick, or whose device plugin is gone. */
static void check_allocatable(const struct cluster *cluster, struct findings *findings)
{
    struct first_names lost = {.n = 0};
    for (const struct node *node = NULL; (node = cluster_next_node(cluster, node));) {
        size_t n = 0;
        const struct node_resource *rows = node_resources(node, &n);
        for (size_t i = 0; i < n; i++) {
            if (n_lost(&rows[i]) > 0)
                first_names_add(&lost, "%s (%" PRId64 " of %" PRId64 " %s)", node_name(node),
                                n_lost(&rows[i]), rows[i].capacity, rows[i].resource->name);
        }
    }
    if (lost.n > 0)
        findings_add(findings, FINDING_WARN, "nodes.allocatable",
                     "look at the node's device plugin, and at its GPUs",
                     "nodes have GPUs that they offer to no pod: %s", first_names_text(&lost));
    else
        findings_add(findings, FINDING_OK, "nodes.allocatable", "",
                     "all nodes offer all GPUs that they have");
}

static struct resource_on_nodes *find_or_add(struct resources *resources,
                                             const struct resource *resource)
{
    for (size_t i = 0; i < resources->n; i++) {
        if (resources->list[i].resource == resource)
            return &resources->list[i];
    }
    if (resources->n == RESOURCES_MAX)
        return NULL;
    resources->list[resources->n].resource = resource;
    return &resources->list[resources->n++];
}

static void collect(const struct cluster *cluster, struct resources *resources)
{
    for (const struct node *node = NULL; (node = cluster_next_node(cluster, node));) {
        size_t n = 0;
        const struct node_resource *rows = node_resources(node, &n);
        for (size_t i = 0; i < n; i++) {
            struct resource_on_nodes *found =
                has_gpus(&rows[i]) ? find_or_add(resources, rows[i].resource) : NULL;
            if (found)
                first_names_add(&found->nodes, "%s", node_name(node));
        }
    }
}

static void check_managed(const struct cluster *cluster, const struct scheduler_file *file,
                          struct findings *findings)
{
    struct resources resources = {.n = 0};
    bool is_complete = true;
    collect(cluster, &resources);
    for (size_t i = 0; i < resources.n; i++) {
        struct resource_on_nodes *found = &resources.list[i];
        if (scheduler_list_manages(file, found->resource->name))
            continue;
        is_complete = false;
        findings_add(findings, FINDING_FAIL, "nodes.managedResources",
                     strstr(found->resource->name, "kubernetes.io/")
                         ? "kube-scheduler cannot list it: take all pods "
                           "(manifests/kube-scheduler-config-all-pods.yaml)"
                         : "add it to managedResources of kube-scheduler's configuration",
                     "%s: managedResources does not list %s (on %s): pods that ask for it bypass "
                     "gpu-extender",
                     file->yaml.name, found->resource->name, first_names_text(&found->nodes));
    }
    if (is_complete)
        findings_add(findings, FINDING_OK, "nodes.managedResources", "",
                     "managedResources lists the GPU resources of all nodes (%zu)", resources.n);
}

/* What labels and resources of nodes leave open. */
static void check_units(const struct cluster *cluster, struct findings *findings)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct node_notes notes = {.n = 0};
    for (const struct node *node = NULL; (node = cluster_next_node(cluster, node));)
        node_notes_add(node, arena, &notes);
    for (size_t i = 0; i < notes.n; i++)
        findings_add(findings, FINDING_WARN, "nodes.units",
                     "correct the label, or add the one that tells what a unit is to models.units",
                     "%s: %s", notes.items[i].name, notes.items[i].what);
    notes.n = 0;
    node_notes_add_resources(cluster, arena, &notes);
    for (size_t i = 0; i < notes.n; i++)
        findings_add(findings, FINDING_WARN, "nodes.accelerators",
                     "or leave it out, and the extender places no pods by it", "%s",
                     notes.items[i].what);
}

/* Nodes whose GPU model is unknown, and labels that name different models; resources of nodes that
 * managedResources does not list. file: NULL if it is not given. */
static void check_all_nodes(const struct cluster *cluster, const struct scheduler_file *file,
                            struct findings *findings)
{
    check_models(cluster, findings);
    check_labels(cluster, findings);
    check_allocatable(cluster, findings);
    check_units(cluster, findings);
    if (file)
        check_managed(cluster, file, findings);
    else
        findings_not_checked(findings, "nodes.managedResources", "give --scheduler-config FILE",
                             "the file of kube-scheduler --config is not given");
}

#define MATCHES "quotas.matches"
#define USE "quotas.use"

struct quota_check {
    const struct cluster *cluster;
    struct findings *findings;
    size_t n_bad;
};

static bool covers_any(const struct cluster *cluster, const struct quota *quota)
{
    for (const struct namespace *one = NULL; (one = cluster_next_namespace(cluster, one));) {
        if (policy_quota_covers(quota, one->name, one->labels, one->n_labels))
            return true;
    }
    return false;
}

static void check_limit(struct quota_check *check, const struct quota *quota,
                        const struct quota_limit *limit)
{
    const int64_t used = quota_used(check->cluster, quota, limit);
    const int64_t borrowed = quota_borrowed(check->cluster, quota, limit);
    const char *model = limit->model ? limit->model : "all models";
    const char *resource = limit->resource ? limit->resource : "all GPU resources";
    if (used > limit->gpus) {
        check->n_bad++;
        findings_add(check->findings, FINDING_WARN, USE,
                     "raise the limit, or end pods: until then new ones are rejected",
                     "quota %s: its pods use %" PRId64 " GPUs of %s, %s; the limit is %" PRId64,
                     quota->name, used, resource, model, limit->gpus);
    }
    if (borrowed > limit->borrow.gpus) {
        check->n_bad++;
        findings_add(check->findings, FINDING_WARN, USE,
                     "raise borrow.limit, or end pods: until then new ones are rejected",
                     "quota %s: its pods borrow %" PRId64 " GPUs of %s, %s; the limit is %" PRId64,
                     quota->name, borrowed, resource, model, limit->borrow.gpus);
    }
}

static void check_quota(struct quota_check *check, const struct quota *quota)
{
    if (cluster_n_namespaces(check->cluster) > 0 && !covers_any(check->cluster, quota)) {
        check->n_bad++;
        findings_add(check->findings, FINDING_WARN, MATCHES,
                     "correct its namespaces or namespaceSelector",
                     "quota %s: it covers no namespace that exists", quota->name);
    }
    for (size_t i = 0; i < quota->n_limits; i++)
        check_limit(check, quota, &quota->limits[i]);
}

static void check_names(struct quota_check *check)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct policy_name *names = NULL;
    const size_t n = policy_names_missing(check->cluster, arena, &names);
    check->n_bad += n;
    for (size_t i = 0; i < n; i++)
        findings_add(check->findings, FINDING_WARN, MATCHES, names[i].advice, "%s", names[i].seen);
}

/* Quotas that match nothing or are exceeded. */
static void check_quotas(const struct cluster *cluster, struct findings *findings)
{
    const struct policy *policy = cluster_policy(cluster);
    struct quota_check check = {.cluster = cluster, .findings = findings};
    check_names(&check);
    for (size_t i = 0; i < policy->n_quotas; i++)
        check_quota(&check, &policy->quotas[i]);
    if (policy->n_quotas > 0 && cluster_n_namespaces(cluster) == 0)
        findings_not_checked(findings, MATCHES, "save the namespaces, too",
                             "the cluster has no namespaces, so none of the quotas is compared "
                             "with them");
    else if (policy->n_quotas == 0)
        findings_add(findings, FINDING_OK, "quotas", "", "the policy has none");
    else if (check.n_bad == 0)
        findings_add(findings, FINDING_OK, "quotas", "",
                     "%zu checked: all match something that exists, and none is exceeded",
                     policy->n_quotas);
}

/* The verdict by the pod and the node alone. */
static enum reason judge(const struct pod *pod, const struct node *node)
{
    const struct node_traits *traits = node_traits(node);
    const struct shape_facts *facts = &pod->shape->facts;
    if (pod->refusal)
        return REASON_POD_INVALID;
    if (!node_selector_holds(&facts->legacy_affinity, &traits->view))
        return REASON_LEGACY_AFFINITY;
    const enum reason reason = admit_wholeness(node, pod->shape);
    return reason != REASON_FITS ? reason : admit_model(node, pod->shape);
}

static bool is_judged(const struct pod *pod)
{
    return !pod->finished && !pod->terminating && pod->shape->n_gpu_needs > 0;
}

static size_t judge_pods(const struct cluster *cluster, struct first_names refused[N_REASONS])
{
    size_t n_judged = 0;
    for (const struct node *node = NULL; (node = cluster_next_node(cluster, node));) {
        for (const struct pod *pod = NULL; (pod = node_next_pod(node, pod));) {
            if (!is_judged(pod))
                continue;
            n_judged++;
            const enum reason reason = judge(pod, node);
            if (reason != REASON_FITS)
                first_names_add(&refused[reason], "%s/%s on %s", pod->namespace_, pod->name,
                                node_name(node));
        }
    }
    return n_judged;
}

/* Running pods that would not be admitted to their nodes now, by reason. Room and quotas do not
 * count, as the pods have theirs. */
static void check_pods(const struct cluster *cluster, struct findings *findings)
{
    struct first_names refused[N_REASONS] = {{.n = 0}};
    const size_t n_judged = judge_pods(cluster, refused);
    bool any = false;
    for (size_t i = 0; i < N_REASONS; i++) {
        char advice[256];
        if (refused[i].n == 0)
            continue;
        any = true;
        (void)snprintf(advice, sizeof advice, "before you recreate them: %s",
                       reason_help((enum reason)i));
        findings_add(findings, FINDING_WARN, "pods.refused", advice,
                     "%zu of %zu running GPU pods would be rejected if recreated: %s: %s",
                     refused[i].n, n_judged, reason_text((enum reason)i),
                     first_names_text(&refused[i]));
    }
    if (!any)
        findings_add(findings, FINDING_OK, "pods.refused", "",
                     "none of %zu running GPU pods would be rejected if recreated", n_judged);
}

static void check_objects(const struct inventory_view *view, struct findings *findings)
{
    const struct inventory_problem *first = view->problems;
    if (view->n_all_problems > 0 && view->n_problems > 0)
        findings_add(findings, FINDING_WARN, "cluster.objects", "correct them, or they count wrong",
                     "%zu objects could not be read and were left out; the first: %s %s: %s",
                     view->n_all_problems, first->kind, first->name, first->what);
    else
        findings_add(findings, FINDING_OK, "cluster.objects", "", "%s: %zu nodes, %zu pods",
                     view->source, cluster_n_nodes(view->cluster), cluster_n_pods(view->cluster));
}

/* Says nothing where no pod is in a group. */
static void check_groups(const struct inventory_view *view, struct findings *findings)
{
    const size_t n_groups = cluster_n_objects(view->cluster, CLUSTER_POD_GROUPS);
    const size_t n_unknown = pod_groups_n_unknown(view->cluster);
    if (n_unknown > 0)
        findings_add(findings, FINDING_WARN, "pods.groups",
                     "let gpu-extender list podgroups of scheduling.k8s.io, and create the groups",
                     "%zu pods name a PodGroup that is not known, and are judged as single pods",
                     n_unknown);
    if (n_groups > 0 && inventory_serves_oldest(view, CLUSTER_POD_GROUPS))
        findings_add(findings, FINDING_WARN, "pods.groups",
                     "start kube-scheduler with --feature-gates=SchedulerPopFromBackoffQ=false",
                     "the API server has PodGroups as 1.36 has them, where kube-scheduler asks "
                     "again for a rejected group without a pause");
}

void cluster_checks_run(struct inventory *inventory, const struct scheduler_file *file,
                        struct findings *findings)
{
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(inventory);
    check_objects(&view, findings);
    check_all_nodes(view.cluster, file, findings);
    check_quotas(view.cluster, findings);
    check_pods(view.cluster, findings);
    check_groups(&view, findings);
}
