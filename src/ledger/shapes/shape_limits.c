/* shape_limits: see include/ledger/shape_limits.h. The count follows shape_copy.c field by
 * field. */
#include "ledger/shape_limits.h"
#include "base/arena.h"
#include "ledger/shapes/shapes.h"

#include <string.h>

struct meter {
    size_t bytes;
    size_t max;
};

static bool is_over(const struct meter *meter)
{
    return meter->bytes > meter->max;
}

static void add(struct meter *meter, size_t n, size_t size)
{
    meter->bytes += arena_padded(n * size);
}

/* arena_copy() of nothing takes no memory. */
static void add_items(struct meter *meter, size_t n, size_t size)
{
    if (n > 0)
        add(meter, n, size);
}

static void add_text(struct meter *meter, const char *text)
{
    if (text)
        add(meter, strlen(text) + 1, 1);
}

static void add_requirement(struct meter *meter, const struct requirement *requirement)
{
    const size_t n = requirement->n_values;
    add(meter, n, sizeof(const char *));
    for (size_t i = 0; i < n && !is_over(meter); i++)
        add_text(meter, requirement->values[i]);
    add_text(meter, requirement->key);
    if (requirement->models)
        add_items(meter, n, sizeof *requirement->models);
}

static void add_term(struct meter *meter, const struct selector_term *term)
{
    add_items(meter, term->n_requirements, sizeof *term->requirements);
    for (size_t i = 0; i < term->n_requirements && !is_over(meter); i++)
        add_requirement(meter, &term->requirements[i]);
}

static void add_selector(struct meter *meter, const struct node_selector *selector)
{
    add_items(meter, selector->n_terms, sizeof *selector->terms);
    for (size_t i = 0; i < selector->n_terms && !is_over(meter); i++)
        add_term(meter, &selector->terms[i]);
}

static void add_preferred(struct meter *meter, const struct shape_facts *facts)
{
    add_items(meter, facts->n_preferred, sizeof *facts->preferred);
    for (size_t i = 0; i < facts->n_preferred && !is_over(meter); i++)
        add_term(meter, &facts->preferred[i].term);
}

static void add_tolerations(struct meter *meter, const struct shape_facts *facts)
{
    add_items(meter, facts->n_tolerations, sizeof *facts->tolerations);
    for (size_t i = 0; i < facts->n_tolerations && !is_over(meter); i++) {
        add_text(meter, facts->tolerations[i].key);
        add_text(meter, facts->tolerations[i].value);
    }
}

size_t shape_names_bytes(const struct shape_facts *facts, const struct policy *policy)
{
    size_t bytes = 0;
    for (size_t i = 0; i < facts->n_demand; i++) {
        const char *name = facts->demand[i].resource;
        if (!policy_is_common_resource(policy, name))
            bytes += sizeof(struct resource_entry) + strlen(name) + 1;
    }
    return bytes;
}

static void add_demand(struct meter *meter, const struct shape_facts *facts,
                       const struct policy *policy)
{
    add_items(meter, facts->n_demand, sizeof *facts->demand);
    add(meter, facts->n_demand, sizeof(struct need));
    for (size_t i = 0; i < facts->n_demand && !is_over(meter); i++)
        add_text(meter, facts->demand[i].resource);
    meter->bytes += shape_names_bytes(facts, policy);
}

size_t shape_bytes(const struct shape_facts *facts, const struct policy *policy, size_t max)
{
    const struct model_wants *wants = &facts->wants;
    struct meter meter = {.max = max};
    add_demand(&meter, facts, policy);
    add_term(&meter, &facts->node_selector);
    add_selector(&meter, &facts->affinity);
    add_selector(&meter, &facts->legacy_affinity);
    add_preferred(&meter, facts);
    add_tolerations(&meter, facts);
    add_items(&meter, wants->n_accept, sizeof *wants->accept);
    add_items(&meter, wants->n_exclude, sizeof *wants->exclude);
    return meter.bytes;
}

void shape_limit(struct shape_facts *facts, const struct policy *policy)
{
    if (shape_bytes(facts, policy, policy->pod_shape_bytes) > policy->pod_shape_bytes)
        shape_reduce(facts, SHAPE_LIMIT_POD);
}

void shape_reduce(struct shape_facts *facts, enum shape_limit over)
{
    facts->over = over;
    facts->node_selector = (struct selector_term){NULL, 0};
    facts->affinity = (struct node_selector){false, NULL, 0};
    facts->preferred = NULL;
    facts->n_preferred = 0;
    facts->tolerations = NULL;
    facts->n_tolerations = 0;
}

struct shape_facts shape_demand_only(const struct shape_facts *facts, enum shape_limit over)
{
    return (struct shape_facts){
        .over = over, .demand_only = true, .demand = facts->demand, .n_demand = facts->n_demand};
}

static const struct {
    const char *name;
    const char *text;
} LIMITS[] = {
    [SHAPE_LIMIT_NONE] = {NULL, NULL},
    [SHAPE_LIMIT_POD] = {"limits.podShapeBytes", "shape over limits.podShapeBytes"},
    [SHAPE_LIMIT_SUM] = {"limits.podShapesBytes", "shape over limits.podShapesBytes"},
};

const char *shape_limit_name(enum shape_limit over)
{
    return LIMITS[over].name;
}

const char *shape_limit_text(enum shape_limit over)
{
    return LIMITS[over].text;
}
