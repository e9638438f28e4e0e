/* cluster_budgets: PodDisruptionBudgets, for what-if. See include/ledger/cluster.h. */
#include "base/mem.h"
#include "ledger/ledger.h"
#include "ledger/shape_limits.h"

#include <string.h>

static const struct budget_facts *facts_of(const struct kept *object)
{
    return &CONTAINER_OF(object, const struct kept_budget, kept)->facts;
}

static size_t size_of_text(const char *text)
{
    return arena_padded(strlen(text) + 1);
}

/* In an arena, as shape_copy_term() copies it. */
static size_t size_of_term(const struct selector_term *term)
{
    size_t size = arena_padded(term->n_requirements * sizeof *term->requirements);
    for (size_t i = 0; i < term->n_requirements; i++) {
        const struct requirement *requirement = &term->requirements[i];
        size += size_of_text(requirement->key) +
                arena_padded(requirement->n_values * sizeof *requirement->values);
        for (size_t j = 0; j < requirement->n_values; j++)
            size += size_of_text(requirement->values[j]);
    }
    return size;
}

static size_t size_of_texts(const struct budget_facts *facts)
{
    return 2 * strlen(facts->namespace_) + strlen(facts->name) + 3;
}

static size_t size_of(const struct budget_facts *facts)
{
    return sizeof(struct kept_budget) + size_of_texts(facts) + size_of_term(&facts->selector);
}

static struct siphash128 digest_of(const struct budget_facts *facts)
{
    struct siphash hash = siphash_begin(hash_key(), true);
    shape_digest_number(&hash, facts->selects_none);
    shape_digest_number(&hash, facts->is_cut);
    shape_digest_term(&hash, &facts->selector);
    shape_digest_number(&hash, facts->frees_unready);
    shape_digest_number(&hash, facts->is_outdated);
    shape_digest_number(&hash, facts->allowed);
    shape_digest_number(&hash, facts->healthy);
    shape_digest_number(&hash, facts->desired);
    return siphash_end128(&hash, HASH_ROUNDS, HASH_LAST_ROUNDS);
}

void cluster_budgets_let_go(struct cluster *cluster, struct kept *object)
{
    const struct kept_budget *budget = CONTAINER_OF(object, const struct kept_budget, kept);
    if (budget->bytes > 0)
        shape_accounts_subtract(&cluster->budget_accounts, budget->facts.namespace_, budget->bytes);
    cluster->budget_bytes -= budget->bytes;
    arena_free(budget->arena);
}

void cluster_budgets_changed(struct cluster *cluster)
{
    cluster->n_other_changes++;
}

static bool has_room(const struct cluster *cluster, const struct budget_facts *facts)
{
    const struct policy *policy = cluster->policy;
    const size_t bytes = size_of(facts);
    return bytes <= policy->pod_shape_bytes &&
           shape_accounts_may_add(&cluster->budget_accounts, facts->namespace_, bytes,
                                  cluster->budget_bytes + bytes,
                                  policy->pod_shapes_bytes / CLUSTER_BUDGETS_SHARE);
}

static struct kept_budget *new_budget(const struct budget_facts *facts,
                                      const struct siphash128 *digest)
{
    struct kept_budget *budget = mem_new(sizeof *budget + size_of_texts(facts));
    const size_t len = strlen(facts->namespace_);
    char *name = budget->texts + len + 1;
    char *namespace_ = name + strlen(facts->name) + 1;
    memcpy(budget->texts, facts->namespace_, len);
    budget->texts[len] = '/';
    memcpy(name, facts->name, strlen(facts->name) + 1);
    memcpy(namespace_, facts->namespace_, len + 1);
    budget->facts = *facts;
    budget->facts.namespace_ = namespace_;
    budget->facts.name = name;
    budget->facts.selector = (struct selector_term){0};
    budget->digest = *digest;
    return budget;
}

static void add_budget(struct cluster *cluster, const struct budget_facts *facts,
                       const struct siphash128 *digest)
{
    struct kept_budget *budget = new_budget(facts, digest);
    budget->facts.is_cut |= !has_room(cluster, facts);
    if (!budget->facts.is_cut) {
        budget->bytes = size_of(facts);
        cluster->budget_bytes += budget->bytes;
        shape_accounts_add(&cluster->budget_accounts, facts->namespace_, budget->bytes);
    }
    if (!budget->facts.is_cut && facts->selector.n_requirements > 0) {
        budget->arena = arena_new_sized(size_of_term(&facts->selector));
        budget->facts.selector = shape_copy_term(&facts->selector, budget->arena);
    }
    kept_add(cluster, CLUSTER_BUDGETS, &budget->kept, budget->texts);
    kept_changed(cluster, CLUSTER_BUDGETS);
}

static bool is_same(const struct kept *object, const struct siphash128 *digest)
{
    const struct kept_budget *budget = CONTAINER_OF(object, const struct kept_budget, kept);
    return memcmp(&budget->digest, digest, sizeof *digest) == 0;
}

void cluster_upsert_budget(struct cluster *cluster, const struct budget_facts *facts)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct siphash128 digest = digest_of(facts);
    struct kept *object = kept_see(cluster, CLUSTER_BUDGETS,
                                   arena_printf(arena, "%s/%s", facts->namespace_, facts->name));
    if (object && is_same(object, &digest) &&
        (!facts_of(object)->is_cut || facts->is_cut || !has_room(cluster, facts)))
        return;
    if (object)
        kept_remove(cluster, CLUSTER_BUDGETS, object);
    add_budget(cluster, facts, &digest);
}

const void *cluster_budgets_facts(const struct kept *object, struct arena *arena)
{
    struct budget_facts *facts = arena_copy(arena, facts_of(object), 1, sizeof *facts);
    facts->namespace_ = arena_strdup(arena, facts->namespace_);
    facts->name = arena_strdup(arena, facts->name);
    facts->selector = shape_copy_term(&facts->selector, arena);
    return facts;
}

const struct budget_facts *cluster_next_budget(const struct cluster *cluster,
                                               const struct budget_facts *facts)
{
    const struct kept *next =
        facts ? CONTAINER_OF(facts, const struct kept_budget, facts)->kept.hh.next
              : cluster->kept[CLUSTER_BUDGETS].first;
    return next ? facts_of(next) : NULL;
}
