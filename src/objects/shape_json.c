/* shape_json: see shape_json.h. */
#include "shape_json.h"

#include "affinity.h"
#include "annotations.h"
#include "base/buf.h"
#include "tolerations.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- shape json ---- */

/* Each function inverts one in affinity.c, requirement.c, tolerations.c, demand.c or annotations.c.
 */
#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"
#define PREFERRED "preferredDuringSchedulingIgnoredDuringExecution"

/* ---- a name that parses to a given GPU model ---- */

#define NAME_SIZE ((size_t)4 * GPU_MODEL_TEXT_MAX)

/* A brand does not change the model, but keeps the name from matching an alias. */
static const char *const BRANDS[] = {"", "NVIDIA-", "Tesla-", "AMD-"};

static const char *sharing_text(const struct gpu_model *model, char *text, size_t size)
{
    text[0] = '\0';
    if (model->sharing == GPU_TIME_SHARED)
        (void)snprintf(text, size, "-SHARED");
    if (model->sharing == GPU_MIG_SLICED)
        (void)snprintf(text, size, "-MIG%s%s", model->mig_profile[0] ? "-" : "",
                       model->mig_profile);
    return text;
}

static bool is_read_as(const char *name, const struct gpu_model *model, const struct policy *policy)
{
    struct gpu_model read;
    return gpu_model_parse(name, policy->aliases, policy->n_aliases, &read) &&
           gpu_model_equal(&read, model) && read.sharing == model->sharing &&
           strcmp(read.mig_profile, model->mig_profile) == 0;
}

static bool find_alias(const struct gpu_model *model, const char *sharing,
                       const struct policy *policy, char *name)
{
    for (size_t i = 0; i < policy->n_aliases; i++) {
        const int n = snprintf(name, NAME_SIZE, "%s%s", policy->aliases[i].from, sharing);
        if (n >= 0 && (size_t)n < NAME_SIZE && is_read_as(name, model, policy))
            return true;
    }
    return false;
}

/* Finds a name that parses to the model, whatever the aliases. Returns whether there is one. */
static bool find_name(const struct gpu_model *model, const char *canonical, const char *sharing,
                      const struct policy *policy, char *name)
{
    for (size_t i = 0; i < sizeof BRANDS / sizeof *BRANDS; i++) {
        (void)snprintf(name, NAME_SIZE, "%s%s%s", BRANDS[i], canonical, sharing);
        if (is_read_as(name, model, policy))
            return true;
    }
    return find_alias(model, sharing, policy, name);
}

static void add_model_name(const struct gpu_model *model, const struct policy *policy,
                           struct buf *out)
{
    char canonical[2 * GPU_MODEL_TEXT_MAX];
    char sharing[GPU_MODEL_TEXT_MAX];
    char name[NAME_SIZE];
    (void)gpu_model_text(model, canonical);
    (void)sharing_text(model, sharing, sizeof sharing);
    if (policy->n_aliases == 0 || !find_name(model, canonical, sharing, policy, name))
        (void)snprintf(name, sizeof name, "%s%s", canonical, sharing);
    buf_add_text(out, name);
}

/* ---- the shape ---- */

static json_t *requirement_json(const struct requirement *requirement)
{
    json_t *values = json_array();
    for (size_t i = 0; i < requirement->n_values; i++)
        (void)json_array_append_new(values, json_string(requirement->values[i]));
    json_t *json = json_pack("{s:s, s:s}", "key", requirement->key, "operator",
                             requirement_operator_name(requirement->op));
    if (requirement->n_values > 0)
        (void)json_object_set(json, "values", values);
    json_decref(values);
    return json;
}

static void set_unless_empty(json_t *object, const char *key, json_t *list)
{
    if (json_array_size(list) > 0)
        (void)json_object_set(object, key, list);
    json_decref(list);
}

json_t *term_to_json(const struct selector_term *term)
{
    json_t *json = json_object();
    json_t *expressions = json_array();
    json_t *fields = json_array();
    for (size_t i = 0; i < term->n_requirements; i++) {
        const struct requirement *requirement = &term->requirements[i];
        (void)json_array_append_new(requirement->is_field ? fields : expressions,
                                    requirement_json(requirement));
    }
    set_unless_empty(json, "matchExpressions", expressions);
    set_unless_empty(json, "matchFields", fields);
    return json;
}

static json_t *required_json(const struct node_selector *selector)
{
    json_t *terms = json_array();
    for (size_t i = 0; i < selector->n_terms; i++)
        (void)json_array_append_new(terms, term_to_json(&selector->terms[i]));
    return json_pack("{s:o}", "nodeSelectorTerms", terms);
}

static json_t *preferred_json(const struct preferred_term *terms, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        (void)json_array_append_new(list,
                                    json_pack("{s:I, s:o}", "weight", (json_int_t)terms[i].weight,
                                              "preference", term_to_json(&terms[i].term)));
    return list;
}

/* {"nodeAffinity": ...}; NULL: empty. */
static json_t *affinity_json(const struct node_selector *required,
                             const struct preferred_term *preferred, size_t n_preferred)
{
    json_t *affinity = json_object();
    if (required->present)
        (void)json_object_set_new(affinity, REQUIRED, required_json(required));
    if (n_preferred > 0)
        (void)json_object_set_new(affinity, PREFERRED, preferred_json(preferred, n_preferred));
    if (json_object_size(affinity) > 0)
        return json_pack("{s:o}", "nodeAffinity", affinity);
    json_decref(affinity);
    return NULL;
}

static bool compares_models(const struct selector_term *term)
{
    for (size_t i = 0; i < term->n_requirements; i++) {
        if (term->requirements[i].models)
            return true;
    }
    return false;
}

/* Terms of the annotation follow those of the spec. The first term that compares models is the
 * annotation's first. */
static size_t count_preferred_of_spec(const struct shape_facts *shape)
{
    size_t n = 0;
    while (n < shape->n_preferred && !compares_models(&shape->preferred[n].term))
        n++;
    return n;
}

static json_t *node_selector_json(const struct selector_term *term)
{
    json_t *json = json_object();
    for (size_t i = 0; i < term->n_requirements; i++)
        (void)json_object_set_new(json, term->requirements[i].key,
                                  json_string(term->requirements[i].values[0]));
    return json;
}

static json_t *toleration_json(const struct toleration *toleration)
{
    json_t *json = json_object();
    if (toleration->key)
        (void)json_object_set_new(json, "key", json_string(toleration->key));
    (void)json_object_set_new(
        json, "operator", json_string(toleration->op == TOLERATION_EXISTS ? "Exists" : "Equal"));
    if (toleration->value && toleration->value[0])
        (void)json_object_set_new(json, "value", json_string(toleration->value));
    if (!toleration->any_effect)
        (void)json_object_set_new(json, "effect",
                                  json_string(taint_effect_name(toleration->effect)));
    return json;
}

/* The policy appends one per GPU resource to the pod's own. */
static size_t count_own_tolerations(const struct shape_facts *shape, const struct policy *policy)
{
    size_t n = shape->n_tolerations;
    if (!policy->extended_resource_toleration)
        return n;
    for (size_t i = 0; i < shape->n_demand && n > 0; i++)
        n -= policy_is_gpu_resource(policy, shape->demand[i].resource);
    return n;
}

static json_t *tolerations_json(const struct shape_facts *shape, const struct policy *policy)
{
    json_t *list = json_array();
    const size_t n = count_own_tolerations(shape, policy);
    for (size_t i = 0; i < n; i++)
        (void)json_array_append_new(list, toleration_json(&shape->tolerations[i]));
    return list;
}

/* Requests are omitted: they default to the limits, which GPUs must equal. "pods" is implied. */
static json_t *containers_json(const struct shape_facts *shape)
{
    json_t *limits = json_object();
    char text[32];
    for (size_t i = 0; i < shape->n_demand; i++) {
        const struct amount *amount = &shape->demand[i];
        if (strcmp(amount->resource, "pods") == 0)
            continue;
        const char *unit = strcmp(amount->resource, "cpu") == 0 ? "m" : "";
        (void)snprintf(text, sizeof text, "%" PRId64 "%s", amount->amount, unit);
        (void)json_object_set_new(limits, amount->resource, json_string(text));
    }
    return json_pack("[{s:s, s:{s:o}}]", "name", "all", "resources", "limits", limits);
}

void shape_to_spec(const struct shape_facts *shape, const struct policy *policy, json_t *spec)
{
    json_t *affinity =
        affinity_json(&shape->affinity, shape->preferred, count_preferred_of_spec(shape));
    if (shape->node_selector.n_requirements > 0)
        (void)json_object_set_new(spec, "nodeSelector", node_selector_json(&shape->node_selector));
    if (affinity)
        (void)json_object_set_new(spec, "affinity", affinity);
    set_unless_empty(spec, "tolerations", tolerations_json(shape, policy));
    (void)json_object_set_new(spec, "containers", containers_json(shape));
}

static json_t *models_json(const struct gpu_model *models, size_t n, const struct policy *policy)
{
    struct buf text;
    buf_init(&text, BUF_UNBOUNDED);
    for (size_t i = 0; i < n; i++) {
        buf_add_text(&text, i > 0 ? "," : "");
        add_model_name(&models[i], policy, &text);
    }
    json_t *json = json_string(buf_text(&text));
    buf_fini(&text);
    return json;
}

static json_t *legacy_json(const struct shape_facts *shape)
{
    const size_t n = count_preferred_of_spec(shape);
    json_t *affinity =
        affinity_json(&shape->legacy_affinity, shape->preferred + n, shape->n_preferred - n);
    if (!affinity)
        return NULL;
    char *text = json_dumps(affinity, JSON_COMPACT);
    json_t *json = json_string(text);
    json_decref(affinity);
    free(text);
    return json;
}

json_t *shape_to_annotations(const struct shape_facts *shape, const struct policy *policy)
{
    const struct model_wants *wants = &shape->wants;
    json_t *annotations = json_object();
    json_t *legacy = legacy_json(shape);
    if (legacy)
        (void)json_object_set_new(annotations, ANNOTATION_LEGACY_AFFINITY, legacy);
    if (wants->n_accept > 0)
        (void)json_object_set_new(annotations, ANNOTATION_MODELS,
                                  models_json(wants->accept, wants->n_accept, policy));
    if (wants->n_exclude > 0)
        (void)json_object_set_new(annotations, ANNOTATION_EXCLUDE_MODELS,
                                  models_json(wants->exclude, wants->n_exclude, policy));
    if (wants->min_memory_bytes > 0)
        (void)json_object_set_new(annotations, ANNOTATION_MIN_GPU_MEMORY,
                                  json_sprintf("%" PRId64, wants->min_memory_bytes));
    if (shape->allow_shared != ALLOW_SHARED_BY_POLICY)
        (void)json_object_set_new(
            annotations, ANNOTATION_ALLOW_SHARED,
            json_string(shape->allow_shared == ALLOW_SHARED_YES ? "true" : "false"));
    if (json_object_size(annotations) > 0)
        return annotations;
    json_decref(annotations);
    return NULL;
}

/* ---- peer terms json ---- */

/* Each function inverts one in peer_terms.c; keys that were merged into selectors stay there. */
#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"

static void set_selector(json_t *object, const char *member, const struct selector_term *term,
                         bool is_there)
{
    if (is_there)
        (void)json_object_set_new(object, member, term_to_json(term));
}

static json_t *term_json(const struct peer_term *term)
{
    json_t *json = json_pack("{s:s}", "topologyKey", term->topology_key);
    set_selector(json, "labelSelector", &term->selector, !term->selects_none);
    set_selector(json, "namespaceSelector", &term->namespace_selector, term->selects_namespaces);
    if (term->n_namespaces > 0) {
        json_t *names = json_array();
        for (size_t i = 0; i < term->n_namespaces; i++)
            (void)json_array_append_new(names, json_string(term->namespaces[i]));
        (void)json_object_set_new(json, "namespaces", names);
    }
    return json;
}

static void add_terms(json_t *affinity, const char *member, const struct peer_term *terms, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        (void)json_array_append_new(list, term_json(&terms[i]));
    if (n > 0)
        (void)json_object_set_new(affinity, member, json_pack("{s:O}", REQUIRED, list));
    json_decref(list);
}

static json_t *constraint_json(const struct spread_constraint *constraint)
{
    json_t *json =
        json_pack("{s:s, s:s, s:I, s:I, s:s, s:s}", "topologyKey", constraint->topology_key,
                  "whenUnsatisfiable", "DoNotSchedule", "maxSkew", (json_int_t)constraint->max_skew,
                  "minDomains", (json_int_t)constraint->min_domains, "nodeAffinityPolicy",
                  constraint->ignores_affinity ? "Ignore" : "Honor", "nodeTaintsPolicy",
                  constraint->honors_taints ? "Honor" : "Ignore");
    set_selector(json, "labelSelector", &constraint->selector, !constraint->selects_none);
    return json;
}

static void add_affinity(const struct peer_facts *facts, json_t *spec)
{
    json_t *affinity = json_object_get(spec, "affinity");
    if (facts->n_affinity + facts->n_anti_affinity == 0)
        return;
    if (!affinity) {
        affinity = json_object();
        (void)json_object_set_new(spec, "affinity", affinity);
    }
    add_terms(affinity, "podAffinity", facts->affinity, facts->n_affinity);
    add_terms(affinity, "podAntiAffinity", facts->anti_affinity, facts->n_anti_affinity);
}

void peer_terms_to_spec(const struct peer_facts *facts, json_t *spec)
{
    add_affinity(facts, spec);
    if (facts->n_spread == 0)
        return;
    json_t *list = json_array();
    for (size_t i = 0; i < facts->n_spread; i++)
        (void)json_array_append_new(list, constraint_json(&facts->spread[i]));
    (void)json_object_set_new(spec, "topologySpreadConstraints", list);
}
