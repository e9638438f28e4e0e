/* pod_price: see pod_json.h. */
#include "api/pods/pod_json.h"

/* Comparisons that cost as much as the rest of a verdict. */
#define COMPARISONS_OF_A_VERDICT 16

static size_t of_preferred(const struct shape_facts *facts)
{
    size_t n = facts->n_preferred;
    for (size_t i = 0; i < facts->n_preferred; i++)
        n += term_comparisons(&facts->preferred[i].term);
    return n;
}

size_t pod_price(const struct shape_facts *facts)
{
    const size_t n = shape_comparisons(facts) + of_preferred(facts);
    return 1 + n / COMPARISONS_OF_A_VERDICT;
}
