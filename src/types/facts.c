/* facts: see include/types/facts.h. */
#include "types/facts.h"

#include <string.h>

bool peer_facts_have_terms(const struct peer_facts *facts)
{
    return facts->n_affinity + facts->n_anti_affinity + facts->n_spread > 0;
}

int64_t shape_demand(const struct shape_facts *shape, const char *resource)
{
    for (size_t i = 0; i < shape->n_demand; i++) {
        if (strcmp(shape->demand[i].resource, resource) == 0)
            return shape->demand[i].amount;
    }
    return 0;
}

size_t term_comparisons(const struct selector_term *term)
{
    size_t n = term->n_requirements;
    for (size_t i = 0; i < term->n_requirements; i++)
        n += term->requirements[i].n_values;
    return n;
}

static size_t selector_comparisons(const struct node_selector *selector)
{
    size_t n = selector->n_terms;
    for (size_t i = 0; i < selector->n_terms; i++)
        n += term_comparisons(&selector->terms[i]);
    return n;
}

size_t shape_comparisons(const struct shape_facts *shape)
{
    return term_comparisons(&shape->node_selector) + selector_comparisons(&shape->affinity) +
           selector_comparisons(&shape->legacy_affinity) + shape->n_tolerations +
           shape->wants.n_accept + shape->wants.n_exclude;
}
