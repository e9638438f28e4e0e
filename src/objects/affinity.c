/* affinity: see affinity.h. */
#include "affinity.h"

#include "fields.h"
#include "formats/json_values.h"

#include <stdlib.h>
#include <string.h>

/* ---- requirement ---- */

static const char *const OPERATORS[] = {
    [SELECTOR_IN] = "In",         [SELECTOR_NOT_IN] = "NotIn",
    [SELECTOR_EXISTS] = "Exists", [SELECTOR_DOES_NOT_EXIST] = "DoesNotExist",
    [SELECTOR_GREATER] = "Gt",    [SELECTOR_LESS] = "Lt",
};

const char *requirement_operator_name(enum selector_operator op)
{
    return OPERATORS[op];
}

static bool is_list_operator(enum selector_operator op)
{
    return op == SELECTOR_IN || op == SELECTOR_NOT_IN;
}

static int read_operator(const json_t *object, struct arena *arena, struct requirement *requirement,
                         struct err *err)
{
    const char *name = "";
    int r = json_get_string(object, "operator", &name, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < sizeof OPERATORS / sizeof OPERATORS[0]; i++) {
        if (strcmp(name, OPERATORS[i]) == 0) {
            requirement->op = (enum selector_operator)i;
            if (!requirement->is_field || is_list_operator(requirement->op))
                return 0;
        }
    }
    return err_set(err, ENOTSUP, "operator: is %s, should be %s", quoted(arena, name),
                   requirement->is_field ? "In or NotIn"
                                         : "In, NotIn, Exists, DoesNotExist, Gt or Lt");
}

static int read_values(const json_t *object, struct arena *arena, struct requirement *requirement,
                       struct err *err)
{
    json_t *array = NULL;
    int r = json_get_array(object, "values", &array, err);
    if (r < 0)
        return r;
    size_t n = json_array_size(array);
    const char **values = ARENA_ARRAY(arena, const char *, n);
    for (size_t i = 0; i < n; i++) {
        const char *text = "";
        if ((r = element_string(array, i, "values", &text, err)) < 0)
            return r;
        values[i] = arena_strdup(arena, text);
    }
    requirement->values = values;
    requirement->n_values = n;
    return 0;
}

static bool is_integer(const char *text)
{
    char *end = NULL;
    errno = 0;
    (void)strtoll(text, &end, 10);
    return errno == 0 && end != text && *end == '\0';
}

/* Checks the number of values per operator, like Kubernetes' validation. */
static int check_values(const struct requirement *requirement, struct arena *arena, struct err *err)
{
    size_t n = requirement->n_values;
    switch (requirement->op) {
    case SELECTOR_IN:
    case SELECTOR_NOT_IN:
        if (n == 0 || (requirement->is_field && n != 1))
            return err_set(err, ENOTSUP, "values: are %zu, should be %s", n,
                           requirement->is_field ? "one" : "one or more");
        return 0;
    case SELECTOR_EXISTS:
    case SELECTOR_DOES_NOT_EXIST:
        if (n > 0)
            return err_set(err, ENOTSUP, "values: are %zu, should be none for operator %s", n,
                           OPERATORS[requirement->op]);
        return 0;
    case SELECTOR_GREATER:
    case SELECTOR_LESS:
        break;
    }
    if (n != 1)
        return err_set(err, ENOTSUP, "values: are %zu, should be one for operator %s", n,
                       OPERATORS[requirement->op]);
    if (!is_integer(requirement->values[0]))
        return err_set(err, ENOTSUP, "values[0]: is %s, should be a whole number",
                       quoted(arena, requirement->values[0]));
    return 0;
}

/* Values that name no model are compared as text (facts.h). models stays NULL if no value does. */
static void read_models(const struct policy *policy, struct arena *arena,
                        struct requirement *requirement)
{
    if (!policy_is_model_label(policy, requirement->key) || !is_list_operator(requirement->op))
        return;
    struct gpu_model *models = ARENA_ARRAY(arena, struct gpu_model, requirement->n_values);
    bool any = false;
    for (size_t i = 0; i < requirement->n_values; i++)
        any |=
            gpu_model_parse(requirement->values[i], policy->aliases, policy->n_aliases, &models[i]);
    if (any)
        requirement->models = models;
}

static int read_key(const json_t *object, struct arena *arena, struct requirement *requirement,
                    struct err *err)
{
    const char *key = "";
    int r = json_get_string(object, "key", &key, err);
    if (r < 0)
        return r;
    if (*key == '\0')
        return err_set(err, ENOTSUP, "key: is missing");
    if (requirement->is_field && strcmp(key, "metadata.name") != 0)
        return err_set(err, ENOTSUP, "key: is %s, should be metadata.name", quoted(arena, key));
    requirement->key = arena_strdup(arena, key);
    return 0;
}

static int read_requirement(const json_t *object, const struct policy *models_of,
                            struct arena *arena, struct requirement *requirement, struct err *err)
{
    int r = 0;
    if ((r = read_key(object, arena, requirement, err)) < 0 ||
        (r = read_operator(object, arena, requirement, err)) < 0 ||
        (r = read_values(object, arena, requirement, err)) < 0 ||
        (r = check_values(requirement, arena, err)) < 0)
        return r;
    if (models_of && !requirement->is_field)
        read_models(models_of, arena, requirement);
    return 0;
}

static int read_requirements(const json_t *array, const char *member,
                             const struct policy *models_of, struct arena *arena,
                             struct requirement *requirements, struct err *err)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        json_t *object = NULL;
        int r = element_object(array, i, member, &object, err);
        if (r < 0)
            return r;
        requirements[i].is_field = strcmp(member, "matchFields") == 0;
        if ((r = read_requirement(object, models_of, arena, &requirements[i], err)) < 0) {
            err_prefix(err, "%s[%zu].", member, i);
            return r;
        }
    }
    return 0;
}

int requirement_read_term(const json_t *term, const struct policy *models_of, struct arena *arena,
                          struct selector_term *ret_term, struct err *err)
{
    json_t *expressions = NULL;
    json_t *fields = NULL;
    int r = 0;
    if ((r = json_get_array(term, "matchExpressions", &expressions, err)) < 0 ||
        (r = json_get_array(term, "matchFields", &fields, err)) < 0)
        return r;
    size_t n_expressions = json_array_size(expressions);
    size_t n = n_expressions + json_array_size(fields);
    struct requirement *requirements = ARENA_ARRAY(arena, struct requirement, n);
    if ((r = read_requirements(expressions, "matchExpressions", models_of, arena, requirements,
                               err)) < 0 ||
        (r = read_requirements(fields, "matchFields", models_of, arena,
                               requirements + n_expressions, err)) < 0)
        return r;
    *ret_term = (struct selector_term){requirements, n};
    return 0;
}

/* ---- affinity ---- */

#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"
#define PREFERRED "preferredDuringSchedulingIgnoredDuringExecution"

int affinity_read_node_selector(const json_t *spec, struct arena *arena,
                                struct selector_term *ret_term, struct err *err)
{
    struct label_map map = {0};
    int r = label_map_read(spec, "nodeSelector", arena, &map, err);
    if (r < 0)
        return r;
    struct requirement *requirements = ARENA_ARRAY(arena, struct requirement, map.n);
    const char **values = ARENA_ARRAY(arena, const char *, map.n);
    for (size_t i = 0; i < map.n; i++) {
        values[i] = map.labels[i].value;
        requirements[i] = (struct requirement){
            .key = map.labels[i].key, .op = SELECTOR_IN, .values = &values[i], .n_values = 1};
    }
    *ret_term = (struct selector_term){requirements, map.n};
    return 0;
}

static int read_terms(const json_t *array, const struct policy *models_of, struct arena *arena,
                      struct node_selector *selector, struct err *err)
{
    size_t n = json_array_size(array);
    struct selector_term *terms = ARENA_ARRAY(arena, struct selector_term, n);
    for (size_t i = 0; i < n; i++) {
        json_t *term = NULL;
        int r = element_object(array, i, "nodeSelectorTerms", &term, err);
        if (r < 0)
            return r;
        if ((r = requirement_read_term(term, models_of, arena, &terms[i], err)) < 0) {
            err_prefix(err, "nodeSelectorTerms[%zu].", i);
            return r;
        }
    }
    *selector = (struct node_selector){true, terms, n};
    return 0;
}

static int read_required(const json_t *node_affinity, const struct policy *models_of,
                         struct arena *arena, struct node_selector *selector, struct err *err)
{
    json_t *required = NULL;
    json_t *terms = NULL;
    int r = json_get_object(node_affinity, REQUIRED, &required, err);
    if (r < 0 || !required)
        return r;
    if ((r = json_get_array(required, "nodeSelectorTerms", &terms, err)) < 0 ||
        (r = read_terms(terms, models_of, arena, selector, err)) < 0)
        err_prefix(err, REQUIRED ".");
    return r;
}

static int read_preferred_term(const json_t *object, const struct policy *models_of,
                               struct arena *arena, struct preferred_term *term, struct err *err)
{
    json_t *preference = NULL;
    int r = 0;
    if ((r = json_get_integer(object, "weight", &term->weight, err)) < 0 ||
        (r = json_get_object(object, "preference", &preference, err)) < 0)
        return r;
    if (term->weight < 1 || term->weight > 100)
        return err_set(err, ENOTSUP, "weight: is %lld, should be 1 to 100",
                       (long long)term->weight);
    if ((r = requirement_read_term(preference, models_of, arena, &term->term, err)) < 0)
        err_prefix(err, "preference.");
    return r;
}

static int read_preferred(const json_t *node_affinity, const struct policy *models_of,
                          struct arena *arena, struct node_affinity *affinity, struct err *err)
{
    json_t *array = NULL;
    int r = json_get_array(node_affinity, PREFERRED, &array, err);
    if (r < 0)
        return r;
    size_t n = json_array_size(array);
    struct preferred_term *terms = ARENA_ARRAY(arena, struct preferred_term, n);
    for (size_t i = 0; i < n; i++) {
        json_t *object = NULL;
        if ((r = element_object(array, i, PREFERRED, &object, err)) < 0)
            return r;
        if ((r = read_preferred_term(object, models_of, arena, &terms[i], err)) < 0) {
            err_prefix(err, PREFERRED "[%zu].", i);
            return r;
        }
    }
    affinity->preferred = terms;
    affinity->n_preferred = n;
    return 0;
}

int affinity_read_node_affinity(const json_t *affinity, const struct policy *models_of,
                                struct arena *arena, struct node_affinity *ret_affinity,
                                struct err *err)
{
    json_t *object = NULL;
    int r = json_get_object(affinity, "nodeAffinity", &object, err);
    if (r < 0)
        return r;
    struct node_affinity found = {0};
    if ((r = read_required(object, models_of, arena, &found.required, err)) < 0 ||
        (r = read_preferred(object, models_of, arena, &found, err)) < 0) {
        err_prefix(err, "nodeAffinity.");
        return r;
    }
    *ret_affinity = found;
    return 0;
}

static struct selector_term term_without_fields(const struct selector_term *term,
                                                struct arena *arena)
{
    struct requirement *kept = ARENA_ARRAY(arena, struct requirement, term->n_requirements);
    size_t n_kept = 0;
    for (size_t i = 0; i < term->n_requirements; i++) {
        if (!term->requirements[i].is_field)
            kept[n_kept++] = term->requirements[i];
    }
    return (struct selector_term){kept, n_kept};
}

struct node_selector affinity_without_fields(const struct node_selector *selector,
                                             struct arena *arena)
{
    struct selector_term *terms = ARENA_ARRAY(arena, struct selector_term, selector->n_terms);
    for (size_t i = 0; i < selector->n_terms; i++) {
        terms[i] = term_without_fields(&selector->terms[i], arena);
        /* Terms are alternatives: one without remaining requirements makes the selector match all.
         * A term that was empty before matches nothing, and stays. */
        if (terms[i].n_requirements == 0 && selector->terms[i].n_requirements > 0)
            return (struct node_selector){0};
    }
    return (struct node_selector){selector->present, terms, selector->n_terms};
}
