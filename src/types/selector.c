/* selector: labels, node selectors, taints. See include/types/selector.h and
 * selector_texts.h. */
#include "types/selector.h"
#include "types/selector_texts.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int compare_labels(const void *a, const void *b)
{
    return strcmp(((const struct label *)a)->key, ((const struct label *)b)->key);
}

void labels_sort(struct label *labels, size_t n_labels)
{
    if (n_labels > 1)
        qsort(labels, n_labels, sizeof *labels, compare_labels);
}

const char *labels_find(const struct label *labels, size_t n_labels, const char *key)
{
    if (n_labels == 0)
        return NULL;
    const struct label wanted = {.key = key};
    const struct label *found = bsearch(&wanted, labels, n_labels, sizeof *labels, compare_labels);
    return found ? found->value : NULL;
}

/* Compares as text if either value names no model. */
static bool is_value(const struct requirement *requirement, size_t i, const char *value,
                     const struct gpu_model *have)
{
    if (have->chip[0] && requirement->models[i].chip[0])
        return gpu_model_satisfies(have, 0, &requirement->models[i]);
    return strcmp(requirement->values[i], value) == 0;
}

static bool is_listed(const struct requirement *requirement, const char *value,
                      const struct policy *policy)
{
    struct gpu_model have = {0};
    if (requirement->models)
        (void)gpu_model_parse(value, policy->aliases, policy->n_aliases, &have);
    for (size_t i = 0; i < requirement->n_values; i++) {
        if (is_value(requirement, i, value, &have))
            return true;
    }
    return false;
}

/* Gt and Lt compare integers without white space; anything else matches nothing. */
static bool parse_integer(const char *text, long long *ret_value)
{
    char *end = NULL;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || isspace((unsigned char)*text))
        return false;
    *ret_value = value;
    return true;
}

static bool compares(const struct requirement *requirement, const char *value)
{
    long long have = 0;
    long long want = 0;
    if (!value || !parse_integer(value, &have) || !parse_integer(requirement->values[0], &want))
        return false;
    return requirement->op == SELECTOR_GREATER ? have > want : have < want;
}

/* Like Kubernetes: an invalid requirement selects nothing, NotIn without values included. */
static bool is_valid(const struct requirement *requirement)
{
    const size_t n = requirement->n_values;
    switch (requirement->op) {
    case SELECTOR_IN:
    case SELECTOR_NOT_IN:
        return requirement->is_field ? n == 1 && strcmp(requirement->key, "metadata.name") == 0
                                     : n > 0;
    case SELECTOR_EXISTS:
    case SELECTOR_DOES_NOT_EXIST:
        return !requirement->is_field && n == 0;
    case SELECTOR_GREATER:
    case SELECTOR_LESS:
        return !requirement->is_field && n == 1;
    default:
        return false;
    }
}

bool requirement_holds(const struct requirement *requirement, const struct label_view *view)
{
    if (!is_valid(requirement))
        return false;
    const char *value = requirement->is_field
                            ? view->node_name
                            : labels_find(view->labels, view->n_labels, requirement->key);
    switch (requirement->op) {
    case SELECTOR_IN:
        return value && is_listed(requirement, value, view->policy);
    case SELECTOR_NOT_IN:
        return !value || !is_listed(requirement, value, view->policy);
    case SELECTOR_EXISTS:
        return value != NULL;
    case SELECTOR_DOES_NOT_EXIST:
        return value == NULL;
    case SELECTOR_GREATER:
    case SELECTOR_LESS:
        return compares(requirement, value);
    default:
        return false;
    }
}

bool selector_term_holds(const struct selector_term *term, const struct label_view *view)
{
    for (size_t i = 0; i < term->n_requirements; i++) {
        if (!requirement_holds(&term->requirements[i], view))
            return false;
    }
    return true;
}

bool node_selector_holds(const struct node_selector *selector, const struct label_view *view)
{
    if (!selector->present)
        return true;
    for (size_t i = 0; i < selector->n_terms; i++) {
        const struct selector_term *term = &selector->terms[i];
        if (term->n_requirements > 0 && selector_term_holds(term, view))
            return true;
    }
    return false;
}

int64_t preferred_weight(const struct preferred_term *terms, size_t n_terms,
                         const struct label_view *view)
{
    int64_t sum = 0;
    for (size_t i = 0; i < n_terms; i++) {
        if (terms[i].term.n_requirements > 0 && selector_term_holds(&terms[i].term, view))
            sum += terms[i].weight;
    }
    return sum;
}

bool toleration_tolerates(const struct toleration *toleration, const struct taint *taint)
{
    if (!toleration->any_effect && toleration->effect != taint->effect)
        return false;
    if (toleration->key && strcmp(toleration->key, taint->key) != 0)
        return false;
    return toleration->op == TOLERATION_EXISTS || strcmp(toleration->value, taint->value) == 0;
}

static bool is_tolerated(const struct taint *taint, const struct toleration *tolerations,
                         size_t n_tolerations)
{
    for (size_t i = 0; i < n_tolerations; i++) {
        if (toleration_tolerates(&tolerations[i], taint))
            return true;
    }
    return false;
}

const struct taint *taints_first_untolerated(const struct taint *taints, size_t n_taints,
                                             const struct toleration *tolerations,
                                             size_t n_tolerations)
{
    for (size_t i = 0; i < n_taints; i++) {
        if (taints[i].effect != TAINT_PREFER_NO_SCHEDULE &&
            !is_tolerated(&taints[i], tolerations, n_tolerations))
            return &taints[i];
    }
    return NULL;
}

size_t taints_unpreferred(const struct taint *taints, size_t n_taints,
                          const struct toleration *tolerations, size_t n_tolerations)
{
    size_t n = 0;
    for (size_t i = 0; i < n_taints; i++) {
        if (taints[i].effect == TAINT_PREFER_NO_SCHEDULE &&
            !is_tolerated(&taints[i], tolerations, n_tolerations))
            n++;
    }
    return n;
}

bool selector_texts_equal(const struct selector_texts *a, const struct selector_texts *b)
{
    if (a->n != b->n || a->is_cut != b->is_cut)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (strcmp(a->texts[i], b->texts[i]) != 0)
            return false;
    return true;
}

struct selector_texts selector_texts_copy(const struct selector_texts *selectors,
                                          struct arena *arena)
{
    const char **texts = ARENA_ARRAY(arena, const char *, selectors->n);
    for (size_t i = 0; i < selectors->n; i++)
        texts[i] = arena_strdup(arena, selectors->texts[i]);
    return (struct selector_texts){texts, selectors->n, selectors->is_cut};
}
