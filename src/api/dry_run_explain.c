/* dry_run_explain: why the nodes of a workload rank as they do, term by term. See trial.h. */
#include "core/policy.h"
#include "core/score.h"
#include "fragmentation_json.h"
#include "trial.h"

/* No more of the best nodes are told, of each workload. */
#define RANKED_MAX ((size_t)100)

static json_t *terms_json(const struct score *score, const struct node *node)
{
    struct score_term terms[SCORE_TERMS_MAX];
    const size_t n = score_terms(score, node, terms);
    json_t *json = json_object();
    for (size_t i = 0; i < n; i++)
        (void)json_object_set_new(json, terms[i].name, json_real(terms[i].value));
    return json;
}

static json_t *ranked_json(const struct score *score, const struct ranked_node *ranked,
                           size_t position)
{
    return json_pack("{s:I, s:s, s:i, s:I, s:I, s:I, s:i, s:f, s:o, s:I}", "position",
                     (json_int_t)position, "node", node_name(ranked->node), "score", ranked->score,
                     "modelRank", (json_int_t)ranked->model_rank, "preferredWeight",
                     (json_int_t)ranked->preferred, "unpreferredTaints",
                     (json_int_t)ranked->unpreferred, "gpuWork", (int)ranked->gpu_work, "cost",
                     cost_sum(&ranked->cost), "terms", terms_json(score, ranked->node), "freeGpus",
                     (json_int_t)ranked->free_gpus);
}

static json_t *ranking_json(const struct trial *trial)
{
    const struct candidates *candidates = &trial->candidates;
    const struct dry_run *dry_run = trial->dry_run;
    const struct score *score = score_begin(dry_run->fork, &trial->asking.question, dry_run->arena);
    json_t *list = json_array();
    for (size_t i = 0; i < candidates->n_fitting && i < RANKED_MAX; i++)
        (void)json_array_append_new(list, ranked_json(score, &candidates->fitting[i], i + 1));
    return list;
}

struct trial_explanation trial_explain_before(const struct trial *trial)
{
    const struct dry_run *dry_run = trial->dry_run;
    return (struct trial_explanation){ranking_json(trial),
                                      fragmentation_of(dry_run->fork, dry_run->arena)};
}

json_t *trial_explain_after(const struct trial *trial, const struct trial_explanation *before)
{
    const struct dry_run *dry_run = trial->dry_run;
    const struct fragmentations after = fragmentation_of(dry_run->fork, dry_run->arena);
    const enum placement_policy placement = cluster_policy(dry_run->fork)->placement;
    return json_pack("{s:s, s:I, s:o, s:o}", "policy", placement_policy_name(placement),
                     "fittingNodes", (json_int_t)trial->candidates.n_fitting, "ranking",
                     before->ranking, "fragmentation",
                     fragmentation_changes(&before->fragmentations, &after));
}
