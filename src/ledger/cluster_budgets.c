/* cluster_budgets: PodDisruptionBudgets, for what-if. See include/ledger/cluster.h. */
#include "base/mem.h"
#include "ledger.h"
#include "ledger/shape_copy.h"

#include <stdlib.h>
#include <string.h>

static struct kept_budget *find(const struct cluster *cluster, const char *namespace_,
                                const char *name)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const char *key = arena_printf(arena, "%s/%s", namespace_, name);
    struct kept_budget *found = NULL;
    HASH_FIND_STR(cluster->budgets, key, found);
    return found;
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

static void free_budget(struct cluster *cluster, struct kept_budget *budget)
{
    if (budget->bytes > 0)
        shape_accounts_subtract(&cluster->budget_accounts, budget->facts.namespace_, budget->bytes);
    cluster->budget_bytes -= budget->bytes;
    arena_free(budget->arena);
    free(budget);
}

static void remove_budget(struct cluster *cluster, struct kept_budget *budget)
{
    if (cluster->budget_swept_to == budget)
        cluster->budget_swept_to = budget->hh.next;
    HASH_DEL(cluster->budgets, budget);
    free_budget(cluster, budget);
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

static struct kept_budget *add_budget(struct cluster *cluster, const struct budget_facts *facts,
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
    HASH_ADD_KEYPTR(hh, cluster->budgets, budget->texts, strlen(budget->texts), budget);
    cluster->n_other_changes++;
    return budget;
}

static void put(struct cluster *cluster, const struct budget_facts *facts, uint64_t seen)
{
    const struct siphash128 digest = digest_of(facts);
    struct kept_budget *budget = find(cluster, facts->namespace_, facts->name);
    if (!budget || memcmp(&budget->digest, &digest, sizeof digest) != 0 ||
        (budget->facts.is_cut && !facts->is_cut && has_room(cluster, facts))) {
        if (budget)
            remove_budget(cluster, budget);
        budget = add_budget(cluster, facts, &digest);
    }
    budget->seen = seen;
}

void cluster_upsert_budget(struct cluster *cluster, const struct budget_facts *facts)
{
    put(cluster, facts, cluster->relists[CLUSTER_BUDGETS]);
}

void cluster_budgets_copy(struct cluster *to, const struct budget_facts *facts)
{
    put(to, facts, CONTAINER_OF(facts, const struct kept_budget, facts)->seen);
}

void cluster_delete_budget(struct cluster *cluster, const char *namespace_, const char *name)
{
    struct kept_budget *budget = find(cluster, namespace_, name);
    if (budget)
        remove_budget(cluster, budget);
}

void cluster_keep_budget(struct cluster *cluster, const char *namespace_, const char *name)
{
    struct kept_budget *budget = find(cluster, namespace_, name);
    if (budget)
        budget->seen = cluster->relists[CLUSTER_BUDGETS];
}

size_t cluster_n_budgets(const struct cluster *cluster)
{
    return HASH_COUNT(cluster->budgets);
}

const struct budget_facts *cluster_next_budget(const struct cluster *cluster,
                                               const struct budget_facts *facts)
{
    const struct kept_budget *next =
        facts ? CONTAINER_OF(facts, const struct kept_budget, facts)->hh.next : cluster->budgets;
    return next ? &next->facts : NULL;
}

bool cluster_relist_sweep_budgets(struct cluster *cluster, size_t work)
{
    if (!cluster->is_sweeping_budgets)
        cluster->budget_swept_to = cluster->budgets;
    for (size_t done = 0; cluster->budget_swept_to && done < work; done++) {
        struct kept_budget *budget = cluster->budget_swept_to;
        cluster->budget_swept_to = budget->hh.next;
        if (budget->seen == cluster->relists[CLUSTER_BUDGETS])
            continue;
        remove_budget(cluster, budget);
        done += CLUSTER_SWEEP_DELETION - 1;
    }
    cluster->is_sweeping_budgets = cluster->budget_swept_to != NULL;
    return !cluster->is_sweeping_budgets;
}

void cluster_budgets_free_all(struct cluster *cluster)
{
    struct kept_budget *budget = cluster->budgets;
    HASH_CLEAR(hh, cluster->budgets);
    while (budget) {
        struct kept_budget *next = budget->hh.next;
        free_budget(cluster, budget);
        budget = next;
    }
}

void cluster_set_budgets_known(struct cluster *cluster, bool known)
{
    if (cluster->budgets_unknown == !known)
        return;
    cluster->budgets_unknown = !known;
    cluster->n_other_changes++;
}

bool cluster_budgets_known(const struct cluster *cluster)
{
    return !cluster->budgets_unknown;
}
