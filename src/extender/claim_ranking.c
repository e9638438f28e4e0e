/* claim_ranking: see claim_ranking.h. */
#include "extender/claim_ranking.h"
#include "base/mem.h"

#include <string.h>

/* True: the allocator found what they take there. */
static bool judge(struct inventory *inventory, struct claim_ranking *ranking, const char *name,
                  const struct claim_takes **ret_takes)
{
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(inventory);
    const struct node *node = cluster_find_node(view.cluster, name);
    if (!node || claim_rules_judge(ranking->rules, node) != REASON_FITS)
        return false;
    *ret_takes = claim_rules_takes(ranking->rules, node);
    return *ret_takes != NULL;
}

static void judge_all(struct inventory *inventory, const struct args *args,
                      struct claim_ranking *ranking)
{
    for (size_t i = 0; i < args->n_names && !claim_rules_are_cut(ranking->rules); i++) {
        if (claim_lookup_stands_for(ranking->lookup, i) == i)
            ranking->is_ranked |=
                judge(inventory, ranking, args->names[i].text, &ranking->takes[i]);
    }
    for (size_t i = 0; i < args->n_names; i++)
        ranking->takes[i] = ranking->takes[claim_lookup_stands_for(ranking->lookup, i)];
    ranking->outcome = ranking->is_ranked ? "ranked" : "by model only: not judged";
    if (!claim_rules_are_cut(ranking->rules))
        return;
    ranking->is_ranked = false;
    ranking->takes = NULL;
    ranking->outcome = "by model only: too many kinds of nodes, or too many combinations";
}

static struct claims_user user_of(struct inventory *inventory, const struct pod_facts *pod,
                                  struct arena *arena)
{
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(inventory);
    return claims_user_seen(view.cluster, pod, arena);
}

struct claim_ranking claim_ranking_of(struct inventory *inventory, const struct policy *policy,
                                      const struct args *args, struct arena *arena)
{
    const struct pod_facts *pod = &args->pod;
    struct claim_ranking ranking = {.lookup = NULL};
    if (!pod->claims || !pod->claims[0] || args->is_deferred || args->n_names == 0)
        return ranking;
    const struct claims_user user = user_of(inventory, pod, arena);
    const char **names = ARENA_ARRAY(arena, const char *, args->n_names);
    for (size_t i = 0; i < args->n_names; i++)
        names[i] = args->names[i].text;
    const struct claim_sources sources = {
        .inventory = inventory, .policy = policy, .nodes = names, .n_nodes = args->n_names};
    ranking.lookup = claim_lookup_new(&sources, arena);
    claim_lookup_add(ranking.lookup, pod->namespace_, user.claims);
    claim_lookup_run(ranking.lookup);
    ranking.rules = claim_lookup_rules(ranking.lookup, &user);
    ranking.takes = ARENA_ARRAY(arena, const struct claim_takes *, args->n_names);
    judge_all(inventory, args, &ranking);
    return ranking;
}

void claim_ranking_fini(struct claim_ranking *ranking)
{
    if (ranking->lookup)
        claim_lookup_free(ranking->lookup);
}
