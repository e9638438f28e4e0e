/* shape_price: see shape_price.h. */
#include "shape_price.h"

/* So many comparisons cost as much as the rest of a verdict. */
#define COMPARISONS_OF_A_VERDICT 16

static size_t of_term(const struct selector_term *term)
{
    size_t n = term->n_requirements;
    for (size_t i = 0; i < term->n_requirements; i++)
        n += term->requirements[i].n_values;
    return n;
}

static size_t of_selector(const struct node_selector *selector)
{
    size_t n = selector->n_terms;
    for (size_t i = 0; i < selector->n_terms; i++)
        n += of_term(&selector->terms[i]);
    return n;
}

static size_t of_preferred(const struct shape_facts *facts)
{
    size_t n = facts->n_preferred;
    for (size_t i = 0; i < facts->n_preferred; i++)
        n += of_term(&facts->preferred[i].term);
    return n;
}

size_t shape_price(const struct shape_facts *facts)
{
    const size_t n = of_term(&facts->node_selector) + of_selector(&facts->affinity) +
                     of_selector(&facts->legacy_affinity) + of_preferred(facts) +
                     facts->n_tolerations + facts->wants.n_accept + facts->wants.n_exclude;
    return 1 + n / COMPARISONS_OF_A_VERDICT;
}
