/*
 * dry_run_workload: judges every node for a workload, places its replicas, and says so in JSON. How
 * they are placed is in dry_run_place.c, what is said of it in dry_run_words.c.
 */
#include "core/rank.h"
#include "trial.h"

#include <stdlib.h>
#include <string.h>

static int compare_names(const void *a, const void *b)
{
    const struct candidate *left = a;
    const struct candidate *right = b;
    return strcmp(node_name(left->node), node_name(right->node));
}

static void collect_nodes(struct trial *trial)
{
    const struct cluster *fork = trial->dry_run->fork;
    trial->candidates = ARENA_ARRAY(trial->dry_run->arena, struct candidate, cluster_n_nodes(fork));
    for (const struct node *node = cluster_next_node(fork, NULL); node;
         node = cluster_next_node(fork, node))
        trial->candidates[trial->n_nodes++].node = node;
    if (trial->n_nodes > 0)
        qsort(trial->candidates, trial->n_nodes, sizeof *trial->candidates, compare_names);
}

static void judge_nodes(struct trial *trial)
{
    struct arena *arena = trial->dry_run->arena;
    struct ranked_node *ranked = ARENA_ARRAY(arena, struct ranked_node, trial->n_nodes);
    size_t n_ranked = 0;
    for (size_t i = 0; i < trial->n_nodes; i++) {
        struct candidate *candidate = &trial->candidates[i];
        candidate->verdict = fit_judge(candidate->node, &trial->question);
        if (candidate->verdict == REASON_FITS)
            ranked[n_ranked++] = (struct ranked_node){.node = candidate->node, .position = i};
    }
    rank_nodes(trial->dry_run->fork, trial->question.shape, ranked, n_ranked);
    for (size_t i = 0; i < n_ranked; i++)
        trial->candidates[ranked[i].position].score = ranked[i].score;
}

/* For every GPU resource that is asked for: key = its name, operator Exists, effect NoSchedule. */
static const struct pod_shape *tolerant_shape(const struct pod_shape *shape, struct arena *arena)
{
    struct pod_shape *tolerant = ARENA_NEW(arena, struct pod_shape);
    size_t n = shape->facts.n_tolerations;
    struct toleration *tolerations = ARENA_ARRAY(arena, struct toleration, n + shape->n_gpu_needs);
    for (size_t i = 0; i < n; i++)
        tolerations[i] = shape->facts.tolerations[i];
    for (size_t i = 0; i < shape->n_gpu_needs; i++)
        tolerations[n++] = (struct toleration){.key = shape->needs[i].resource->name,
                                               .value = "",
                                               .op = TOLERATION_EXISTS,
                                               .effect = TAINT_NO_SCHEDULE};
    *tolerant = *shape;
    tolerant->facts.tolerations = tolerations;
    tolerant->facts.n_tolerations = n;
    return tolerant;
}

/* A template that cannot be read is refused everywhere. */
static void ask(struct trial *trial)
{
    const struct workload *workload = trial->workload;
    static const struct shape_facts NOTHING;
    const struct shape_facts *facts = workload->problem ? &NOTHING : &workload->pod.shape;
    trial->question = (struct fit_question){
        .shape = cluster_resolve(trial->dry_run->fork, facts, trial->dry_run->arena),
        .refusal = workload->problem ? workload->problem : workload->pod.refusal,
        .node_name = workload->pod.node_name,
        .scope = FIT_ALL,
    };
    trial->tolerant = trial->question;
    trial->tolerant.shape = tolerant_shape(trial->question.shape, trial->dry_run->arena);
    trial->n_replicas = workload->replicas;
}

json_t *dry_run_workload(struct dry_run *dry_run, const struct workload *workload)
{
    struct trial trial = {.dry_run = dry_run, .workload = workload};
    ask(&trial);
    collect_nodes(&trial);
    judge_nodes(&trial);
    json_t *nodes = trial_nodes(&trial);
    json_t *notes = trial_notes(&trial);
    json_t *placements = trial_place(&trial, notes);
    dry_run->n_placed_whole += !trial.no_more[0] && !trial.refused_by_admission;
    return json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:o, s:o, s:o}", "kind", workload->kind,
                     "name", workload->name, "namespace", workload->namespace_, "summary",
                     trial_summary(&trial), "replicas", (json_int_t)trial.n_replicas, "placed",
                     (json_int_t)trial.n_placed, "moreReplicas", (json_int_t)trial.n_more,
                     "placements", placements, "nodes", nodes, "notEvaluated", notes);
}
