/* peer_terms_json: see peer_terms_json.h. Each function inverts one in peer_terms.c; keys that were
 * merged into selectors stay there. */
#include "peer_terms_json.h"
#include "shape_json.h"

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
