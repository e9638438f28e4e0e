/* ranking: see placement_run.h. */
#include "api/cluster/quota_json.h"
#include "api/dry_run/placement_run.h"
#include "decide/score.h"

/* Most nodes ranked per workload. */
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

static json_t *ranked_nodes_json(const struct cluster *fork, const struct fit_question *question,
                                 const struct candidates *candidates, struct arena *arena)
{
    const struct score *score = score_begin(fork, question, arena);
    json_t *list = json_array();
    for (size_t i = 0; i < candidates->n_fitting && i < RANKED_MAX; i++)
        (void)json_array_append_new(list, ranked_json(score, &candidates->fitting[i], i + 1));
    return list;
}

struct ranking ranking_of(const struct cluster *fork, const struct fit_question *question,
                          const struct candidates *candidates, struct arena *arena)
{
    return (struct ranking){ranked_nodes_json(fork, question, candidates, arena),
                            candidates->n_fitting, fragmentation_of(fork, arena)};
}

json_t *ranking_json(const struct ranking *before, const struct cluster *fork, struct arena *arena)
{
    const struct fragmentations after = fragmentation_of(fork, arena);
    const enum placement_policy placement = cluster_policy(fork)->placement;
    return json_pack("{s:s, s:I, s:o, s:o}", "policy", placement_policy_name(placement),
                     "fittingNodes", (json_int_t)before->n_fitting, "ranking", before->nodes,
                     "fragmentation", fragmentation_json_changes(&before->fragmentations, &after));
}
