/* names: see placement_run.h. */
#include "api/dry_run/placement_run.h"
#include "api/verdicts/candidates.h"
#include "api/verdicts/node_names.h"

#include <string.h>
#include <strings.h>

#define VALUES_CHECKED ((size_t)6)
#define TOKENS_MAX 8

/* The check of one workload. */
struct name_check {
    struct dry_run *dry_run;
    const struct workload *workload;
    struct name_view names;
};

static void warn(const struct name_check *check, const char *path, const char *message)
{
    json_t *warnings = check->dry_run->name_warnings;
    const struct workload *workload = check->workload;
    if (json_array_size(warnings) >= WORKLOAD_WARNINGS_MAX)
        return;
    if (check->dry_run->has_several_objects)
        path = arena_printf(check->names.arena, "%s %s/%s: %s", workload->kind,
                            workload->namespace_, workload->object_name, path);
    (void)json_array_append_new(warnings,
                                json_pack("{s:s, s:s}", "path", path, "message", message));
}

/* "spec.template.spec.nodeSelector"; an inline pod's parts are where its kind has them. */
static const char *path_of(const struct name_check *check, const char *part, const char *member)
{
    const struct workload *workload = check->workload;
    const char *path = workload->template_path;
    const char *dot = path[0] ? "." : "";
    if (workload->is_inline)
        return arena_printf(check->names.arena, "%s.%s", path, member);
    return arena_printf(check->names.arena, "%s%s%s.%s", path, dot, part, member);
}

/* ---- labels ---- */

static void warn_of_label(const struct name_check *check, const char *where, const char *key,
                          const char *message)
{
    warn(check, arena_printf(check->names.arena, "%s[%s]", where, key), message);
}

/* Values of which a node has one are alternatives. */
static void check_values(const struct name_check *check, const struct requirement *requirement,
                         const char *where)
{
    if (node_names_has_value(&check->names, requirement))
        return;
    for (size_t i = 0; i < requirement->n_values && i < VALUES_CHECKED; i++) {
        const char *value = requirement->values[i];
        const char *near = node_names_near_value(&check->names, requirement->key, value);
        if (near)
            warn_of_label(check, where, requirement->key,
                          arena_printf(check->names.arena,
                                       "\"%s\": no node has this value; did you mean %s?", value,
                                       near));
    }
}

static void check_requirement(const struct name_check *check, const struct requirement *requirement,
                              const char *where)
{
    const bool must_be_there = requirement->op == SELECTOR_IN || requirement->op == SELECTOR_EXISTS;
    if (requirement->is_field || requirement->models || !must_be_there)
        return;
    if (node_names_has_label(&check->names, requirement->key)) {
        if (requirement->op == SELECTOR_IN)
            check_values(check, requirement, where);
        return;
    }
    const char *near = node_names_near_label(&check->names, requirement);
    if (near)
        warn_of_label(
            check, where, requirement->key,
            arena_printf(check->names.arena, "no node has this label; did you mean %s?", near));
}

static void check_term(const struct name_check *check, const struct selector_term *term,
                       const char *where)
{
    for (size_t i = 0; i < term->n_requirements && check->dry_run->models.names_left > 0; i++)
        check_requirement(check, &term->requirements[i], where);
}

static void check_labels(const struct name_check *check, const struct shape_facts *facts)
{
    const char *affinity = path_of(check, "spec", "affinity.nodeAffinity");
    const bool fits = check->names.candidates->n_fitting > 0;
    if (!fits)
        check_term(check, &facts->node_selector, path_of(check, "spec", "nodeSelector"));
    for (size_t i = 0; !fits && facts->affinity.present && i < facts->affinity.n_terms; i++)
        check_term(check, &facts->affinity.terms[i], affinity);
    for (size_t i = 0; i < facts->n_preferred; i++)
        check_term(check, &facts->preferred[i].term, affinity);
}

/* ---- resources ---- */

static void check_resources(const struct name_check *check, const struct pod_shape *shape)
{
    for (size_t i = 0; i < shape->n_needs && check->names.candidates->n_fitting == 0; i++) {
        const struct resource *resource = shape->needs[i].resource;
        if (node_names_has_resource(&check->names, resource))
            continue;
        const char *near = node_names_near_resource(&check->names, resource->name);
        const char *member =
            arena_printf(check->names.arena, "containers.resources[%s]", resource->name);
        if (near)
            warn(check, path_of(check, "spec", member),
                 arena_printf(check->names.arena, "no node has this resource; did you mean %s?",
                              near));
    }
}

/* ---- models ---- */

/* The model that the pod probably means, which no node has. */
static bool find_meant(const struct name_check *check, const struct gpu_model *want,
                       bool is_excluded, struct gpu_model *ret_meant)
{
    struct model_list *here = &check->dry_run->models.list;
    const struct model_wants *wants = &check->workload->pod.shape.wants;
    const struct gpu_model *shorter = NULL;
    if (model_list_has(here, want))
        return false;
    if (model_list_nearest(here, want, ret_meant))
        return is_excluded || !model_words_exclude(wants, ret_meant);
    if (is_excluded)
        shorter = gpu_model_with_fewer_digits(want, here->items, here->n);
    if (shorter)
        *ret_meant = *shorter;
    return shorter != NULL;
}

static void check_models(const struct name_check *check, const struct gpu_model *models, size_t n,
                         const char *path)
{
    const bool are_excluded = models == check->workload->pod.shape.wants.exclude;
    for (size_t i = 0; i < n && i < VALUES_CHECKED; i++) {
        struct gpu_model meant;
        if (!find_meant(check, &models[i], are_excluded, &meant))
            continue;
        warn(check, path,
             arena_printf(check->names.arena, "\"%s\": no node has it; did you mean %s?",
                          gpu_model_name(&models[i], check->names.arena),
                          gpu_model_name(&meant, check->names.arena)));
    }
}

static bool is_here(const struct name_check *check, const char *name)
{
    const struct policy *policy = cluster_policy(check->names.candidates->cluster);
    struct gpu_model model;
    return node_names_pay(&check->names, NODE_NAMES_COMPARISON + check->dry_run->models.list.n) &&
           gpu_model_parse(name, policy->aliases, policy->n_aliases, &model) &&
           model_list_has(&check->dry_run->models.list, &model);
}

/* Returns how many tokens from the first one make the longest model that a node has. */
static size_t longest_model(const struct name_check *check, char *const *tokens, size_t n,
                            const char **ret_name)
{
    for (size_t len = n; len > 0; len--) {
        const char *name = tokens[0];
        for (size_t i = 1; i < len; i++)
            name = arena_printf(check->names.arena, "%s %s", name, tokens[i]);
        if (!is_here(check, name))
            continue;
        *ret_name = name;
        return len;
    }
    return 0;
}

#define SEPARATORS " \t\n/;|"

static bool is_conjunction(const char *token)
{
    return strcasecmp(token, "or") == 0 || strcasecmp(token, "and") == 0 ||
           strcasecmp(token, "then") == 0;
}

/* "H100 A100": "H100, A100"; NULL: the words are not several models that nodes have. */
static const char *apart(const struct name_check *check, const char *item)
{
    char *tokens[TOKENS_MAX];
    char *rest = NULL;
    size_t n = 0;
    const char *text = "";
    char *copy = arena_strdup(check->names.arena, item);
    for (char *token = strtok_r(copy, SEPARATORS, &rest); token;
         token = strtok_r(NULL, SEPARATORS, &rest)) {
        if (n == TOKENS_MAX)
            return NULL;
        if (n == 0 || !is_conjunction(token))
            tokens[n++] = token;
    }
    for (size_t i = 0; i < n;) {
        const char *name = NULL;
        const size_t len = longest_model(check, &tokens[i], n - i, &name);
        if (len == 0 || len == n)
            return NULL;
        text = arena_printf(check->names.arena, "%s%s%s", text, text[0] ? ", " : "", name);
        i += len;
    }
    return text[0] ? text : NULL;
}

static void check_separators(const struct name_check *check, const char *list, const char *path)
{
    for (size_t i = 0; list && i < VALUES_CHECKED; i++) {
        list += strspn(list, ", \t\n");
        const size_t len = strcspn(list, ",");
        const char *item = arena_strndup(check->names.arena, list, len);
        const char *meant = len > 0 && strpbrk(item, SEPARATORS) ? apart(check, item) : NULL;
        if (meant)
            warn(check, path,
                 arena_printf(check->names.arena, "\"%s\" is read as one model; write \"%s\"", item,
                              meant));
        list = list[len] ? list + len + 1 : NULL;
    }
}

static void check_wishes(const struct name_check *check)
{
    const struct workload *workload = check->workload;
    const struct model_wants *wants = &workload->pod.shape.wants;
    const char *accept = path_of(check, "metadata", "annotations[gpu-extender.io/models]");
    const char *exclude = path_of(check, "metadata", "annotations[gpu-extender.io/exclude-models]");
    if (wants->n_accept + wants->n_exclude == 0)
        return;
    models_here_find(&check->dry_run->models, check->names.candidates, check->names.arena);
    check_models(check, wants->accept, wants->n_accept, accept);
    check_models(check, wants->exclude, wants->n_exclude, exclude);
    check_separators(check, workload->models_text, accept);
    check_separators(check, workload->exclude_models_text, exclude);
}

/* ---- the namespace, the classes ---- */

static enum cluster_kind class_of(enum missing_kind kind)
{
    return kind == MISSING_PRIORITY_CLASS ? CLUSTER_PRIORITY_CLASSES : CLUSTER_RUNTIME_CLASSES;
}

static const char *next_name(const struct cluster *cluster, enum missing_kind kind,
                             const char *name)
{
    if (kind == MISSING_NAMESPACE) {
        const struct namespace *one = name ? cluster_find_namespace(cluster, name) : NULL;
        one = cluster_next_namespace(cluster, one);
        return one ? one->name : NULL;
    }
    return cluster_next_id(cluster, class_of(kind), name);
}

static bool has_name(const struct cluster *cluster, enum missing_kind kind, const char *name)
{
    if (kind == MISSING_NAMESPACE)
        return cluster_has_namespace(cluster, name);
    return cluster_has_object(cluster, class_of(kind), name);
}

const char *names_near_object(const struct dry_run *dry_run, enum missing_kind kind,
                              const char *asked)
{
    const struct name_view names = {&dry_run->candidates, dry_run->arena};
    struct name_search search = {.names = &names, .asked = asked};
    const struct cluster *cluster = dry_run->fork;
    for (const char *one = NULL; !search.found && (one = next_name(cluster, kind, one));)
        name_search_offer(&search, one);
    return search.found;
}

static void check_object(const struct name_check *check, enum missing_kind kind, const char *asked,
                         const char *path, const char *what)
{
    if (!asked[0] || has_name(check->dry_run->fork, kind, asked))
        return;
    const char *near = names_near_object(check->dry_run, kind, asked);
    if (near)
        warn(check, path,
             arena_printf(check->names.arena, "\"%s\": there is no such %s; did you mean %s?",
                          asked, what, near));
}

static void check_objects(const struct name_check *check)
{
    const struct workload *workload = check->workload;
    if (!check->dry_run->only)
        check_object(check, MISSING_NAMESPACE, workload->namespace_, "metadata.namespace",
                     "namespace");
    check_object(check, MISSING_PRIORITY_CLASS, workload->pod.priority_class,
                 path_of(check, "spec", "priorityClassName"), "priority class");
    check_object(check, MISSING_RUNTIME_CLASS, workload->runtime_class,
                 path_of(check, "spec", "runtimeClassName"), "runtime class");
}

void names_warn_of_verdict(struct dry_run *dry_run, const struct workload *workload,
                           const struct missing_name *missing)
{
    const struct name_check check = {dry_run, workload, {&dry_run->candidates, dry_run->arena}};
    const bool is_node = missing->kind == MISSING_NODE;
    if (missing->meant && (is_node || missing->kind == MISSING_TOLERATION))
        warn(&check, path_of(&check, "spec", is_node ? "nodeName" : "tolerations"),
             arena_printf(dry_run->arena, "\"%s\": %s; did you mean %s?", missing->name,
                          is_node ? "there is no such node" : "no node has this taint",
                          missing->meant));
}

void names_warn(struct dry_run *dry_run, const struct workload *workload,
                const struct pod_shape *shape, const struct candidates *candidates)
{
    const struct name_check check = {dry_run, workload, {candidates, dry_run->arena}};
    if (workload->problem)
        return;
    check_labels(&check, &shape->facts);
    check_resources(&check, shape);
    check_wishes(&check);
    check_objects(&check);
}
