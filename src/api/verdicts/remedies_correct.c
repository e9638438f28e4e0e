/* remedies_correct: the names that the pods could write instead. See remedies_priv.h. */
#include "api/verdicts/remedies_priv.h"

#include <stdlib.h>
#include <string.h>

static struct requirement *corrected(const struct remedy_search *search,
                                     const struct selector_term *term,
                                     const struct missing_name *missing)
{
    struct requirement *requirements =
        ARENA_ARRAY(search->arena, struct requirement, term->n_requirements);
    for (size_t i = 0; i < term->n_requirements; i++) {
        requirements[i] = term->requirements[i];
        if (strcmp(requirements[i].key, missing->name) != 0)
            continue;
        if (missing->kind == MISSING_LABEL)
            requirements[i].key = missing->meant;
        else
            requirements[i].values = arena_copy(search->arena, &missing->meant, 1, sizeof(char *));
        requirements[i].n_values = missing->kind == MISSING_LABEL ? requirements[i].n_values : 1;
    }
    return requirements;
}

static void correct_labels(const struct remedy_search *search, struct shape_facts *facts)
{
    const struct missing_name *missing = &search->missing;
    struct selector_term *terms =
        ARENA_ARRAY(search->arena, struct selector_term, facts->affinity.n_terms);
    for (size_t i = 0; i < facts->affinity.n_terms; i++) {
        terms[i] = facts->affinity.terms[i];
        terms[i].requirements = corrected(search, &facts->affinity.terms[i], missing);
    }
    if (missing->is_in_affinity)
        facts->affinity.terms = terms;
    else
        facts->node_selector.requirements = corrected(search, &facts->node_selector, missing);
}

static int compare_amounts(const void *a, const void *b)
{
    return strcmp(((const struct amount *)a)->resource, ((const struct amount *)b)->resource);
}

/* The annotations that choose GPUs count as soon as some are asked for. */
static void correct_resource(const struct remedy_search *search, const struct trial_role *role,
                             struct shape_facts *facts)
{
    const struct missing_name *missing = &search->missing;
    struct amount *demand =
        arena_copy(search->arena, facts->demand, facts->n_demand, sizeof *facts->demand);
    if (shape_demand(facts, missing->meant) > 0)
        return;
    for (size_t i = 0; i < facts->n_demand; i++) {
        if (strcmp(demand[i].resource, missing->name) == 0)
            demand[i].resource = missing->meant;
    }
    if (facts->n_demand > 0)
        qsort(demand, facts->n_demand, sizeof *demand, compare_amounts);
    facts->demand = demand;
    if (role->chosen &&
        policy_is_gpu_resource(cluster_policy(search->trials.fork), missing->meant)) {
        facts->wants = role->chosen->wants;
        facts->allow_shared = role->chosen->allow_shared;
        facts->legacy_affinity = role->chosen->legacy_affinity;
    }
}

static void correct_model(const struct remedy_search *search, struct shape_facts *facts)
{
    const struct missing_name *missing = &search->missing;
    struct model_wants *wants = &facts->wants;
    struct gpu_model *accept =
        arena_copy(search->arena, wants->accept, wants->n_accept, sizeof *wants->accept);
    for (size_t i = 0; i < wants->n_accept; i++) {
        if (strcmp(gpu_model_name(&accept[i], search->arena), missing->name) == 0)
            accept[i] = missing->meant_model;
    }
    wants->accept = accept;
}

static void correct_toleration(const struct remedy_search *search, struct shape_facts *facts)
{
    const struct missing_name *missing = &search->missing;
    struct toleration *tolerations =
        arena_copy(search->arena, facts->tolerations, facts->n_tolerations, sizeof *tolerations);
    for (size_t i = 0; i < facts->n_tolerations; i++) {
        if (tolerations[i].key && strcmp(tolerations[i].key, missing->name) == 0)
            tolerations[i].key = missing->meant;
    }
    facts->tolerations = tolerations;
}

static const struct shape_facts *corrected_facts(const struct remedy_search *search)
{
    const struct missing_name *missing = &search->missing;
    struct shape_facts *facts = remedies_copy_facts(search);
    for (size_t i = 0; i < search->trials.n_roles; i++) {
        if (missing->kind == MISSING_RESOURCE)
            correct_resource(search, &search->trials.roles[i], &facts[i]);
        else if (missing->kind == MISSING_MODEL)
            correct_model(search, &facts[i]);
        else if (missing->kind == MISSING_TOLERATION)
            correct_toleration(search, &facts[i]);
        else if (missing->kind == MISSING_LABEL || missing->kind == MISSING_VALUE)
            correct_labels(search, &facts[i]);
    }
    return facts;
}

static bool try_correction(struct remedy_search *search, struct trial_end *ret_end)
{
    const struct missing_name *missing = &search->missing;
    const struct trial trial = {
        .facts = corrected_facts(search),
        .namespace_ = missing->kind == MISSING_NAMESPACE ? missing->meant : NULL,
        .priority_class = missing->kind == MISSING_PRIORITY_CLASS ? missing->meant : NULL,
        .node_name = missing->kind == MISSING_NODE ? missing->meant : NULL,
    };
    return trial_run(&search->trials, &trial, ret_end);
}

/* Any of the values that there are, or the nearest resource, with which they fit. */
static const char *correct_from_there(struct remedy_search *search, struct trial_end *all)
{
    const struct name_view names = {search->question->candidates, search->arena};
    struct near_names near = node_names_near(&names, &search->missing);
    const bool is_resource = search->missing.kind == MISSING_RESOURCE;
    const char *text = "";
    const size_t n = is_resource || near.n < NODE_NAMES_SHOWN ? near.n : NODE_NAMES_SHOWN;
    for (size_t i = 0, n_fit = 0; i < n; i++) {
        struct trial_end end;
        search->missing.meant = near.items[i];
        if (strcmp(near.items[i], search->missing.name) == 0 || !try_correction(search, &end))
            continue;
        if (is_resource) {
            *all = end;
            return near.items[i];
        }
        near.items[n_fit++] = near.items[i];
        remedies_add_end(all, &end);
    }
    for (size_t i = 0; i < all->n_nodes; i++)
        text = remedies_join(text, near.items[i], i + 1 == all->n_nodes, "or", search->arena);
    if (trials_n_pods(&search->trials) > 1)
        all->n_nodes = 0; /* no single node is that of all pods */
    return text;
}

void remedies_correct(struct remedy_search *search)
{
    static const char *const FIELDS[] = {
        [MISSING_RESOURCE] = "resources.limits",
        [MISSING_MODEL] = "gpu-extender.io/models",
        [MISSING_LABEL] = "spec.nodeSelector",
        [MISSING_VALUE] = "spec.nodeSelector",
        [MISSING_TOLERATION] = "spec.tolerations",
        [MISSING_NAMESPACE] = "metadata.namespace",
        [MISSING_PRIORITY_CLASS] = "spec.priorityClassName",
        [MISSING_RUNTIME_CLASS] = "spec.runtimeClassName",
        [MISSING_NODE] = "spec.nodeName",
    };
    const struct missing_name *missing = &search->missing;
    struct trial_end end = {0};
    const char *right = "";
    if (missing->meant && try_correction(search, &end))
        right = missing->meant;
    else if (!missing->meant &&
             (missing->kind == MISSING_VALUE || missing->kind == MISSING_RESOURCE))
        right = correct_from_there(search, &end);
    if (right[0])
        remedies_offer(
            search, "correct",
            arena_printf(search->arena, "write %s in %s", right,
                         missing->is_in_affinity ? "the node affinity" : FIELDS[missing->kind]),
            &end, NULL);
}

void remedies_replace(struct remedy_search *search)
{
    for (size_t i = 0; i < search->shape->n_needs && json_array_size(search->found) == 0; i++) {
        const char *resource = search->shape->needs[i].resource->name;
        if (!strchr(resource, '/'))
            continue;
        search->missing = (struct missing_name){.kind = MISSING_RESOURCE, .name = resource};
        remedies_correct(search);
    }
}
