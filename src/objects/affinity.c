/* affinity: see affinity.h. */
#include "affinity.h"

#include "element.h"
#include "formats/json_get.h"
#include "label_map.h"
#include "requirement.h"

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
