/* dry_run_place: a workload's replicas, one after another. See trial.h. */
#include "near_misses.h"
#include "trial.h"

static json_t *placement_json(size_t replica, const struct node *node, int score,
                              const char *reason)
{
    return json_pack("{s:I, s:o, s:o, s:s}", "replica", (json_int_t)replica, "node",
                     node ? json_string(node_name(node)) : json_null(), "score",
                     node ? json_integer(score) : json_null(), "reason", reason);
}

/* A replica goes to the node that is best at its turn, which has the best score on the wire. */
static json_t *placements_json(const struct node *const *nodes, size_t n, const char *why_not)
{
    json_t *placements = json_array();
    for (size_t i = 0; i < n; i++)
        (void)json_array_append_new(placements,
                                    placement_json(i, nodes[i], RANK_BEST_SCORE,
                                                   nodes[i] ? reason_name(REASON_FITS) : why_not));
    return placements;
}

/* So many are placed one by one; the others are only counted, but take their room too. */
static json_t *place_replicas(struct trial *trial, json_t *notes)
{
    struct dry_run *dry_run = trial->dry_run;
    size_t n = dry_run->n_replicas_left;
    if ((uint64_t)trial->n_replicas < n)
        n = (size_t)trial->n_replicas;
    const struct node **nodes = ARENA_ARRAY(dry_run->arena, const struct node *, n);
    trial->n_placed = (int64_t)what_if_place(dry_run->fork, &trial->asking.question, n, nodes);
    dry_run->n_replicas_left -= n;
    if ((uint64_t)trial->n_replicas > n)
        (void)json_array_append_new(
            notes, json_sprintf("placements: only the first %zu replicas are listed "
                                "(limits.dryRunReplicas); the others are counted",
                                n));
    trial->n_placed +=
        what_if_fill(dry_run->fork, &trial->asking.question, trial->n_replicas - (int64_t)n);
    trial->n_more = what_if_more(dry_run->fork, &trial->asking.question);
    if (trial->n_placed < trial->n_replicas) {
        trial->no_more = trial_why_not(trial);
        trial->near_misses = near_misses_json(&trial->asking, &trial->candidates);
    }
    return placements_json(nodes, n, trial->no_more);
}

static json_t *place_on_each_node(struct trial *trial)
{
    struct dry_run *dry_run = trial->dry_run;
    struct arena *arena = dry_run->arena;
    const struct node **nodes = ARENA_ARRAY(arena, const struct node *, trial->candidates.n);
    enum reason *verdicts = ARENA_ARRAY(arena, enum reason, trial->candidates.n);
    json_t *near_misses = near_misses_json(&trial->asking, &trial->candidates);
    size_t n = what_if_place_each(dry_run->fork, &trial->asking.question, nodes, verdicts);
    json_t *placements = json_array();
    trial->n_replicas = (int64_t)n;
    for (size_t i = 0; i < n; i++) {
        const char *reason = reason_name(REASON_FITS);
        const struct node *node = verdicts[i] == REASON_FITS ? nodes[i] : NULL;
        if (!node)
            reason = arena_printf(arena, "%s: %s", node_name(nodes[i]),
                                  verdict_message(&trial->asking, nodes[i], verdicts[i]));
        trial->n_placed += node != NULL;
        (void)json_array_append_new(
            placements,
            placement_json(i, node,
                           node ? candidates_find(&trial->candidates, node_name(node))->score : 0,
                           reason));
    }
    if (trial->n_placed < trial->n_replicas || n == 0) {
        trial->no_more = trial_why_not(trial);
        trial->near_misses = json_incref(near_misses);
    }
    json_decref(near_misses);
    return placements;
}

json_t *trial_place(struct trial *trial, json_t *notes)
{
    trial->no_more = "";
    return trial->workload->per_node ? place_on_each_node(trial) : place_replicas(trial, notes);
}
