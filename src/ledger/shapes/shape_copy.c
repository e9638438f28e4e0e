/* shape_copy: see include/ledger/shape_limits.h. Each text is hashed with its length, so different
 * shapes never yield the same input. */
#include "ledger/shape_limits.h"

#include <string.h>

void shape_digest_number(struct siphash *hash, int64_t number)
{
    siphash_add(hash, &number, sizeof number, HASH_ROUNDS);
}

void shape_digest_text(struct siphash *hash, const char *text)
{
    shape_digest_number(hash, text ? (int64_t)strlen(text) : -1);
    if (text)
        siphash_add(hash, text, strlen(text), HASH_ROUNDS);
}

/* models: or NULL, which counts as none. */
static void put_models(struct siphash *hash, const struct gpu_model *models, size_t n)
{
    shape_digest_number(hash, models ? (int64_t)n : 0);
    for (size_t i = 0; models && i < n; i++) {
        shape_digest_text(hash, models[i].chip);
        shape_digest_text(hash, models[i].form);
        shape_digest_text(hash, models[i].memory_type);
        shape_digest_number(hash, models[i].memory_gb);
        shape_digest_number(hash, models[i].sharing);
        shape_digest_text(hash, models[i].mig_profile);
    }
}

void shape_digest_term(struct siphash *hash, const struct selector_term *term)
{
    shape_digest_number(hash, (int64_t)term->n_requirements);
    for (size_t i = 0; i < term->n_requirements; i++) {
        const struct requirement *requirement = &term->requirements[i];
        shape_digest_text(hash, requirement->key);
        shape_digest_number(hash, requirement->op);
        shape_digest_number(hash, requirement->is_field);
        shape_digest_number(hash, (int64_t)requirement->n_values);
        for (size_t j = 0; j < requirement->n_values; j++)
            shape_digest_text(hash, requirement->values[j]);
        put_models(hash, requirement->models, requirement->n_values);
    }
}

static void put_selector(struct siphash *hash, const struct node_selector *selector)
{
    shape_digest_number(hash, selector->present);
    shape_digest_number(hash, (int64_t)selector->n_terms);
    for (size_t i = 0; i < selector->n_terms; i++)
        shape_digest_term(hash, &selector->terms[i]);
}

static void put_tolerations(struct siphash *hash, const struct toleration *tolerations, size_t n)
{
    shape_digest_number(hash, (int64_t)n);
    for (size_t i = 0; i < n; i++) {
        shape_digest_text(hash, tolerations[i].key);
        shape_digest_text(hash, tolerations[i].value);
        shape_digest_number(hash, tolerations[i].op);
        shape_digest_number(hash, tolerations[i].any_effect ? -1 : (int64_t)tolerations[i].effect);
    }
}

static void put_facts(struct siphash *hash, const struct shape_facts *facts)
{
    shape_digest_number(hash, facts->over);
    shape_digest_number(hash, facts->demand_only);
    shape_digest_number(hash, (int64_t)facts->n_demand);
    for (size_t i = 0; i < facts->n_demand; i++) {
        shape_digest_text(hash, facts->demand[i].resource);
        shape_digest_number(hash, facts->demand[i].amount);
    }
    shape_digest_term(hash, &facts->node_selector);
    put_selector(hash, &facts->affinity);
    put_selector(hash, &facts->legacy_affinity);
    shape_digest_number(hash, (int64_t)facts->n_preferred);
    for (size_t i = 0; i < facts->n_preferred; i++) {
        shape_digest_number(hash, facts->preferred[i].weight);
        shape_digest_term(hash, &facts->preferred[i].term);
    }
    put_tolerations(hash, facts->tolerations, facts->n_tolerations);
    put_models(hash, facts->wants.accept, facts->wants.n_accept);
    put_models(hash, facts->wants.exclude, facts->wants.n_exclude);
    shape_digest_number(hash, facts->wants.min_memory_bytes);
    shape_digest_number(hash, facts->allow_shared);
}

struct siphash128 shape_digest(const struct shape_facts *facts)
{
    struct siphash hash = siphash_begin(hash_key(), true);
    put_facts(&hash, facts);
    return siphash_end128(&hash, HASH_ROUNDS, HASH_LAST_ROUNDS);
}

uint64_t shape_order(const struct shape_facts *facts)
{
    struct siphash hash = siphash_begin((struct siphash_key){0, 0}, false);
    put_facts(&hash, facts);
    return siphash_end(&hash, HASH_ROUNDS, HASH_LAST_ROUNDS);
}

struct selector_term shape_copy_term(const struct selector_term *term, struct arena *arena)
{
    struct requirement *copies =
        arena_copy(arena, term->requirements, term->n_requirements, sizeof *copies);
    for (size_t i = 0; i < term->n_requirements; i++) {
        struct requirement *copy = &copies[i];
        const char **values = ARENA_ARRAY(arena, const char *, copy->n_values);
        for (size_t j = 0; j < copy->n_values; j++)
            values[j] = arena_strdup(arena, copy->values[j]);
        copy->key = arena_strdup(arena, copy->key);
        copy->values = values;
        if (copy->models)
            copy->models = arena_copy(arena, copy->models, copy->n_values, sizeof *copy->models);
    }
    return (struct selector_term){copies, term->n_requirements};
}

static struct node_selector copy_selector(const struct node_selector *selector, struct arena *arena)
{
    struct selector_term *terms =
        arena_copy(arena, selector->terms, selector->n_terms, sizeof *terms);
    for (size_t i = 0; i < selector->n_terms; i++)
        terms[i] = shape_copy_term(&selector->terms[i], arena);
    return (struct node_selector){selector->present, terms, selector->n_terms};
}

static const struct toleration *copy_tolerations(const struct shape_facts *facts,
                                                 struct arena *arena)
{
    struct toleration *copies =
        arena_copy(arena, facts->tolerations, facts->n_tolerations, sizeof *copies);
    for (size_t i = 0; i < facts->n_tolerations; i++) {
        copies[i].key = copies[i].key ? arena_strdup(arena, copies[i].key) : NULL;
        copies[i].value = copies[i].value ? arena_strdup(arena, copies[i].value) : NULL;
    }
    return copies;
}

static const struct preferred_term *copy_preferred(const struct shape_facts *facts,
                                                   struct arena *arena)
{
    struct preferred_term *copies =
        arena_copy(arena, facts->preferred, facts->n_preferred, sizeof *copies);
    for (size_t i = 0; i < facts->n_preferred; i++)
        copies[i].term = shape_copy_term(&facts->preferred[i].term, arena);
    return copies;
}

struct shape_facts shape_copy(const struct shape_facts *facts, struct arena *arena)
{
    struct shape_facts copy = *facts;
    struct amount *demand = arena_copy(arena, facts->demand, facts->n_demand, sizeof *demand);
    for (size_t i = 0; i < facts->n_demand; i++)
        demand[i].resource = arena_strdup(arena, demand[i].resource);
    copy.demand = demand;
    copy.node_selector = shape_copy_term(&facts->node_selector, arena);
    copy.affinity = copy_selector(&facts->affinity, arena);
    copy.legacy_affinity = copy_selector(&facts->legacy_affinity, arena);
    copy.preferred = copy_preferred(facts, arena);
    copy.tolerations = copy_tolerations(facts, arena);
    const struct model_wants *wants = &facts->wants;
    copy.wants.accept = arena_copy(arena, wants->accept, wants->n_accept, sizeof *wants->accept);
    copy.wants.exclude =
        arena_copy(arena, wants->exclude, wants->n_exclude, sizeof *wants->exclude);
    return copy;
}

struct label *shape_copy_labels(const struct label *labels, size_t n, struct arena *arena)
{
    struct label *copies = ARENA_ARRAY(arena, struct label, n);
    for (size_t i = 0; i < n; i++)
        copies[i] = (struct label){arena_strdup(arena, labels[i].key),
                                   arena_strdup(arena, labels[i].value)};
    return copies;
}
