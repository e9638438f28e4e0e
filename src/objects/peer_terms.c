/* peer_terms: see tolerations.h. matchLabelKeys as the API server merges them
 * (pkg/registry/core/pod, applyMatchLabelKeysAndMismatchLabelKeys). */
#include "tolerations.h"

#include "affinity.h"
#include "fields.h"
#include "formats/json_values.h"
#include "types/selector.h"

#include <string.h>

#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"
/* Terms of an array. The cost of a verdict grows with the pod's terms, and pods of tenants may have
 * more than anybody writes. */
#define ITEMS_MAX ((size_t)32)

/* ---- selectors ---- */

int peer_terms_read_selector(const json_t *object, const char *member, struct arena *arena,
                             struct selector_term *ret_term, bool *ret_is_none, struct err *err)
{
    json_t *selector = NULL;
    struct label_map map = {0};
    struct selector_term expressions = {0};
    int r = 0;
    if ((r = json_get_object(object, member, &selector, err)) < 0)
        return r;
    *ret_is_none = !selector;
    if (!selector)
        return 0;
    if ((r = label_map_read(selector, "matchLabels", arena, &map, err)) < 0 ||
        (r = requirement_read_term(selector, NULL, arena, &expressions, err)) < 0) {
        err_prefix(err, "%s.", member);
        return r;
    }
    const size_t n = map.n + expressions.n_requirements;
    struct requirement *requirements = ARENA_ARRAY(arena, struct requirement, n);
    const char **values = ARENA_ARRAY(arena, const char *, map.n);
    for (size_t i = 0; i < map.n; i++) {
        values[i] = map.labels[i].value;
        requirements[i] = (struct requirement){
            .key = map.labels[i].key, .op = SELECTOR_IN, .values = &values[i], .n_values = 1};
    }
    for (size_t i = 0; i < expressions.n_requirements; i++)
        requirements[map.n + i] = expressions.requirements[i];
    *ret_term = (struct selector_term){requirements, n};
    return 0;
}

/* json_get_array() with a bound. */
static int get_items(const json_t *object, const char *member, json_t **ret_items, struct err *err)
{
    const int r = json_get_array(object, member, ret_items, err);
    const size_t n = json_array_size(*ret_items);
    if (r == 0 && n > ITEMS_MAX)
        return err_set(err, E2BIG, "%s: has %zu items, more than %zu are not judged", member, n,
                       ITEMS_MAX);
    return r;
}

static bool has_requirement(const struct selector_term *term, const struct requirement *wanted)
{
    for (size_t i = 0; i < term->n_requirements; i++) {
        const struct requirement *have = &term->requirements[i];
        if (have->op == wanted->op && have->n_values == 1 && strcmp(have->key, wanted->key) == 0 &&
            strcmp(have->values[0], wanted->values[0]) == 0)
            return true;
    }
    return false;
}

/* Adds for each key that the pod's labels have: key op (value). The API server has done that to the
 * pods that it stores. */
// NOLINTNEXTLINE(readability-function-size): one more parameter than others
static int merge_keys(const json_t *object, const char *member, enum selector_operator op,
                      const struct peer_facts *facts, struct arena *arena,
                      struct selector_term *term, struct err *err)
{
    json_t *keys = NULL;
    int r = get_items(object, member, &keys, err);
    if (r < 0)
        return r;
    struct requirement *merged =
        ARENA_ARRAY(arena, struct requirement, term->n_requirements + json_array_size(keys));
    if (term->n_requirements > 0)
        memcpy(merged, term->requirements, term->n_requirements * sizeof *merged);
    term->requirements = merged;
    for (size_t i = 0; i < json_array_size(keys); i++) {
        const char *key = "";
        if ((r = element_string(keys, i, member, &key, err)) < 0)
            return r;
        const char **value = ARENA_NEW(arena, const char *);
        *value = labels_find(facts->labels, facts->n_labels, key);
        const struct requirement more = {
            .key = arena_strdup(arena, key), .op = op, .values = value, .n_values = 1};
        if (*value && !has_requirement(term, &more))
            merged[term->n_requirements++] = more;
    }
    return 0;
}

static int read_topology_key(const json_t *object, struct arena *arena, const char **ret_key,
                             struct err *err)
{
    const char *key = "";
    int r = json_get_string(object, "topologyKey", &key, err);
    if (r == 0 && *key == '\0')
        r = err_set(err, ENOTSUP, "topologyKey: is missing");
    if (r == 0)
        *ret_key = arena_strdup(arena, key);
    return r;
}

/* ---- affinity between pods ---- */

static int read_namespaces(const json_t *object, struct arena *arena, struct peer_term *term,
                           struct err *err)
{
    json_t *array = NULL;
    bool is_none = true;
    int r = 0;
    if ((r = json_get_array(object, "namespaces", &array, err)) < 0 ||
        (r = peer_terms_read_selector(object, "namespaceSelector", arena, &term->namespace_selector,
                                      &is_none, err)) < 0)
        return r;
    const size_t n = json_array_size(array);
    const char **names = ARENA_ARRAY(arena, const char *, n);
    for (size_t i = 0; i < n; i++) {
        const char *name = "";
        if ((r = element_string(array, i, "namespaces", &name, err)) < 0)
            return r;
        names[i] = arena_strdup(arena, name);
    }
    term->namespaces = names;
    term->n_namespaces = n;
    term->selects_namespaces = !is_none;
    return 0;
}

static int read_term(const json_t *object, const struct peer_facts *facts, struct arena *arena,
                     struct peer_term *term, struct err *err)
{
    struct selector_term *selector = &term->selector;
    int r = 0;
    if ((r = read_topology_key(object, arena, &term->topology_key, err)) < 0 ||
        (r = peer_terms_read_selector(object, "labelSelector", arena, selector, &term->selects_none,
                                      err)) < 0 ||
        (r = read_namespaces(object, arena, term, err)) < 0 || term->selects_none)
        return r;
    if ((r = merge_keys(object, "matchLabelKeys", SELECTOR_IN, facts, arena, selector, err)) < 0)
        return r;
    return merge_keys(object, "mismatchLabelKeys", SELECTOR_NOT_IN, facts, arena, selector, err);
}

/* member: podAffinity or podAntiAffinity. */
// NOLINTNEXTLINE(readability-function-size): one more parameter than others
static int read_terms(const json_t *affinity, const char *member, const struct peer_facts *facts,
                      struct arena *arena, const struct peer_term **ret_terms, size_t *ret_n,
                      struct err *err)
{
    json_t *object = NULL;
    json_t *array = NULL;
    int r = json_get_object(affinity, member, &object, err);
    if (r == 0)
        r = get_items(object, REQUIRED, &array, err);
    const size_t n = json_array_size(array);
    struct peer_term *terms = ARENA_ARRAY(arena, struct peer_term, n);
    for (size_t i = 0; r == 0 && i < n; i++) {
        json_t *item = NULL;
        if ((r = element_object(array, i, REQUIRED, &item, err)) < 0)
            break;
        if ((r = read_term(item, facts, arena, &terms[i], err)) < 0)
            err_prefix(err, "affinity.%s." REQUIRED "[%zu].", member, i);
    }
    if (r < 0)
        return r;
    *ret_terms = terms;
    *ret_n = n;
    return 0;
}

/* ---- topology spread ---- */

/* *ret_is: the member has this value. */
static int has_text(const json_t *object, const char *member, const char *text, bool *ret_is,
                    struct err *err)
{
    const char *value = "";
    int r = json_get_string(object, member, &value, err);
    if (r == 0)
        *ret_is = strcmp(value, text) == 0;
    return r;
}

static int read_limits(const json_t *object, struct spread_constraint *constraint, struct err *err)
{
    constraint->min_domains = 1;
    int r = 0;
    if ((r = json_get_integer(object, "maxSkew", &constraint->max_skew, err)) < 0 ||
        (r = json_get_integer(object, "minDomains", &constraint->min_domains, err)) < 0)
        return r;
    if (constraint->max_skew < 1)
        return err_set(err, ENOTSUP, "maxSkew: is %lld, should be 1 or more",
                       (long long)constraint->max_skew);
    return 0;
}

static int read_constraint(const json_t *object, const struct peer_facts *facts,
                           struct arena *arena, struct spread_constraint *constraint,
                           struct err *err)
{
    int r = 0;
    if ((r = read_topology_key(object, arena, &constraint->topology_key, err)) < 0 ||
        (r = read_limits(object, constraint, err)) < 0 ||
        (r = has_text(object, "nodeAffinityPolicy", "Ignore", &constraint->ignores_affinity, err)) <
            0 ||
        (r = has_text(object, "nodeTaintsPolicy", "Honor", &constraint->honors_taints, err)) < 0 ||
        (r = peer_terms_read_selector(object, "labelSelector", arena, &constraint->selector,
                                      &constraint->selects_none, err)) < 0 ||
        constraint->selects_none)
        return r;
    return merge_keys(object, "matchLabelKeys", SELECTOR_IN, facts, arena, &constraint->selector,
                      err);
}

static int read_spread(const json_t *spec, struct arena *arena, struct peer_facts *facts,
                       struct err *err)
{
    json_t *array = NULL;
    int r = get_items(spec, "topologySpreadConstraints", &array, err);
    struct spread_constraint *found =
        ARENA_ARRAY(arena, struct spread_constraint, json_array_size(array));
    size_t n = 0;
    for (size_t i = 0; r == 0 && i < json_array_size(array); i++) {
        json_t *object = NULL;
        bool is_hard = false;
        if ((r = element_object(array, i, "topologySpreadConstraints", &object, err)) < 0)
            return r;
        if ((r = has_text(object, "whenUnsatisfiable", "DoNotSchedule", &is_hard, err)) == 0 &&
            is_hard)
            r = read_constraint(object, facts, arena, &found[n++], err);
        if (r < 0)
            err_prefix(err, "topologySpreadConstraints[%zu].", i);
    }
    if (r < 0)
        return r;
    facts->spread = found;
    facts->n_spread = n;
    return 0;
}

int peer_terms_read(const json_t *metadata, const json_t *spec, struct arena *arena,
                    struct peer_facts *ret_facts, struct err *err)
{
    struct label_map map = {0};
    json_t *affinity = NULL;
    int r = label_map_read(metadata, "labels", arena, &map, err);
    if (r < 0) {
        err_prefix(err, "metadata.");
        return r;
    }
    *ret_facts = (struct peer_facts){.labels = map.labels, .n_labels = map.n};
    struct peer_facts facts = *ret_facts;
    if ((r = json_get_object(spec, "affinity", &affinity, err)) < 0 ||
        (r = read_terms(affinity, "podAffinity", &facts, arena, &facts.affinity, &facts.n_affinity,
                        err)) < 0 ||
        (r = read_terms(affinity, "podAntiAffinity", &facts, arena, &facts.anti_affinity,
                        &facts.n_anti_affinity, err)) < 0 ||
        (r = read_spread(spec, arena, &facts, err)) < 0) {
        err_prefix(err, "spec.");
        return r;
    }
    *ret_facts = facts;
    return 0;
}
