/*
 * dry_run_workload: judges every node for a workload, places its replicas, and says so in JSON. How
 * they are placed is in dry_run_place.c, what is said of it in dry_run_words.c.
 */
#include "core/market.h"
#include "core/quota.h"
#include "core/shape_limits.h"
#include "eviction.h"
#include "quota_json.h"
#include "trial.h"

/* As the API server's admission gives it: the class's, or that of the default class. */
static int64_t priority_of(const struct cluster *fork, const struct pod_facts *pod)
{
    int64_t priority = pod->priority;
    (void)cluster_priority_of_class(fork, pod->priority_class, &priority);
    return priority;
}

/* Why nothing is judged of the workload; NULL: it is. */
static const char *unjudged_because(const struct workload *workload, struct arena *arena)
{
    const enum shape_limit over = workload->pod.shape.over;
    if (workload->problem)
        return workload->problem;
    if (over && !workload->pod.refusal)
        return arena_printf(arena, "not judged: %s", shape_limit_text(over));
    return workload->pod.refusal;
}

/* A template that cannot be read is refused everywhere. */
static void ask(struct trial *trial)
{
    const struct workload *workload = trial->workload;
    static const struct shape_facts NOTHING;
    const struct shape_facts *facts = workload->problem ? &NOTHING : &workload->pod.shape;
    struct dry_run *dry_run = trial->dry_run;
    const struct pod_shape *shape = cluster_resolve(dry_run->fork, facts, dry_run->arena);
    trial->asking.question = (struct fit_question){
        .shape = shape,
        .refusal = unjudged_because(workload, dry_run->arena),
        .node_name = workload->pod.node_name,
        .scope = FIT_ALL,
        .asker = {.priority = workload->problem ? 0 : priority_of(dry_run->fork, &workload->pod)},
        .quota = quota_begin(dry_run->fork, workload->namespace_, shape, NULL, dry_run->arena),
        .replica_of = workload->pod.replica_of,
    };
    quota_promise(trial->asking.question.quota, dry_run->fork, &trial->asking.question.asker,
                  QUOTA_NO_CLAIMS, dry_run->arena);
    asking_with_admission(&trial->asking);
    trial->n_replicas = workload->replicas;
    if (!trial->asking.question.refusal)
        market_expect(trial->dry_run->fork, trial->asking.question.shape, workload->replicas);
}

static json_t *place(struct trial *trial, json_t *notes, json_t **ret_explain)
{
    if (!trial->dry_run->explain)
        return trial_place(trial, notes);
    const struct trial_explanation before = trial_explain_before(trial);
    json_t *placements = trial_place(trial, notes);
    *ret_explain = trial_explain_after(trial, &before);
    return placements;
}

json_t *dry_run_workload(struct dry_run *dry_run, const struct workload *workload)
{
    json_t *explain = NULL;
    struct trial trial = {.dry_run = dry_run,
                          .workload = workload,
                          .asking = {.arena = dry_run->arena},
                          .candidates = candidates_of(dry_run->fork, dry_run->arena)};
    ask(&trial);
    candidates_judge(&trial.candidates, &trial.asking.question);
    json_t *nodes = verdict_list(&trial.asking, &trial.candidates);
    json_t *notes = trial_notes(&trial);
    const struct pod_shape *shape = trial.asking.question.shape;
    json_t *quotas = quota_of_workload(dry_run->fork, workload->namespace_, shape, dry_run->arena);
    json_t *placements = place(&trial, notes, &explain);
    quota_of_workload_after(quotas, dry_run->fork, workload->namespace_, shape, dry_run->arena);
    dry_run->n_placed_whole += !trial.no_more[0] && !trial.refused_because;
    return json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o*}",
                     "kind", workload->kind, "name", workload->name, "namespace",
                     workload->namespace_, "summary", trial_summary(&trial), "replicas",
                     (json_int_t)trial.n_replicas, "placed", (json_int_t)trial.n_placed,
                     "moreReplicas", (json_int_t)trial.n_more, "placements", placements, "nodes",
                     nodes, "nearMisses", trial.near_misses ? trial.near_misses : json_array(),
                     "notEvaluated", notes, "preemption", eviction_json(&trial), "quotas", quotas,
                     "explain", explain);
}
