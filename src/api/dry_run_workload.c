/*
 * dry_run_workload: judges every node for a workload, places its replicas, and says so in JSON.
 */
#include "core/quantity.h"
#include "core/rank.h"
#include "dry_run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A node, and what the workload's pods find there before anything is placed. */
struct candidate {
    const struct node *node;
    enum reason verdict;
    int score; /* where it fits */
};

/* One workload on its way. */
struct trial {
    struct dry_run *dry_run;
    const struct workload *workload;
    struct fit_question question;
    struct candidate *candidates; /* all nodes of the fork, by name */
    size_t n_nodes;
    int64_t n_replicas;
    int64_t n_placed;
    int64_t n_more;
};

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

/* "12: the node has too few free GPUs now; 3: ...": how often each reason was given, in their
 * order. */
static const char *reasons_text(const size_t *counts, struct arena *arena)
{
    const char *text = "";
    for (enum reason reason = REASON_FITS + 1; reason < N_REASONS; reason++) {
        if (counts[reason] > 0)
            text = arena_printf(arena, "%s%s%zu: %s", text, text[0] ? "; " : "", counts[reason],
                                reason_text(reason));
    }
    return text;
}

/* Why no further replica fits, now that those before it have their room. */
static const char *why_no_more(const struct trial *trial)
{
    struct arena *arena = trial->dry_run->arena;
    if (trial->question.refusal)
        return trial->question.refusal;
    if (trial->n_nodes == 0)
        return "there are no nodes";
    size_t counts[N_REASONS] = {0};
    for (size_t i = 0; i < trial->n_nodes; i++)
        counts[fit_judge(trial->candidates[i].node, &trial->question)]++;
    return arena_printf(arena, "0 of %zu nodes fit: %s", trial->n_nodes,
                        reasons_text(counts, arena));
}

static json_t *placement_json(size_t replica, const struct node *node, const char *reason)
{
    return json_pack("{s:I, s:o, s:o, s:s}", "replica", (json_int_t)replica, "node",
                     node ? json_string(node_name(node)) : json_null(), "score",
                     node ? json_integer(RANK_BEST_SCORE) : json_null(), "reason", reason);
}

/* Replicas are all alike: what fits no more once fits no more later, and how many of those beyond
 * the limit would fit is a matter of counting. */
static json_t *place_replicas(struct trial *trial)
{
    struct dry_run *dry_run = trial->dry_run;
    size_t n = dry_run->n_replicas_left;
    if ((uint64_t)trial->n_replicas < n)
        n = (size_t)trial->n_replicas;
    const struct node **nodes = ARENA_ARRAY(dry_run->arena, const struct node *, n);
    size_t n_placed = what_if_place(dry_run->fork, &trial->question, n, nodes);
    dry_run->n_replicas_left -= n;
    const char *why_not = n_placed < n ? why_no_more(trial) : "";
    json_t *placements = json_array();
    for (size_t i = 0; i < n; i++)
        (void)json_array_append_new(
            placements, placement_json(i, nodes[i], nodes[i] ? reason_name(REASON_FITS) : why_not));
    int64_t n_more = what_if_more(dry_run->fork, &trial->question);
    int64_t n_counted = trial->n_replicas - (int64_t)n;
    n_counted = n_more < n_counted ? n_more : n_counted;
    trial->n_placed = (int64_t)n_placed + n_counted;
    trial->n_more = n_more - n_counted;
    return placements;
}

static json_t *place_on_each_node(struct trial *trial)
{
    struct dry_run *dry_run = trial->dry_run;
    const struct node **nodes = ARENA_ARRAY(dry_run->arena, const struct node *, trial->n_nodes);
    enum reason *verdicts = ARENA_ARRAY(dry_run->arena, enum reason, trial->n_nodes);
    size_t n = what_if_place_each(dry_run->fork, &trial->question, nodes, verdicts);
    json_t *placements = json_array();
    for (size_t i = 0; i < n; i++) {
        const bool fits = verdicts[i] == REASON_FITS;
        trial->n_placed += fits;
        (void)json_array_append_new(
            placements,
            fits ? placement_json(i, nodes[i], reason_name(REASON_FITS))
                 : placement_json(i, NULL,
                                  arena_printf(dry_run->arena, "%s: %s", node_name(nodes[i]),
                                               reason_text(verdicts[i]))));
    }
    trial->n_replicas = (int64_t)n;
    return placements;
}

/* What the node lacks, resource by resource, in the resources' units. */
static json_t *lacks_json(const struct trial *trial, const struct node *node)
{
    json_t *lacks = json_object();
    const struct pod_shape *shape = trial->question.shape;
    for (size_t i = 0; i < shape->n_needs; i++) {
        int64_t lack = fit_lack(node, &shape->needs[i]);
        if (lack > 0)
            (void)json_object_set_new(lacks, shape->needs[i].resource->name, json_integer(lack));
    }
    return lacks;
}

static const char *taint_text(const struct taint *taint, struct arena *arena)
{
    static const char *const EFFECTS[] = {[TAINT_NO_SCHEDULE] = "NoSchedule",
                                          [TAINT_PREFER_NO_SCHEDULE] = "PreferNoSchedule",
                                          [TAINT_NO_EXECUTE] = "NoExecute"};
    return arena_printf(arena, "%s%s%s:%s", taint->key, taint->value[0] ? "=" : "", taint->value,
                        EFFECTS[taint->effect]);
}

/* Whether the admission plugin ExtendedResourceToleration would let the pod onto the node. */
static bool admission_would_help(const struct trial *trial, const struct node *node)
{
    const struct pod_shape *old = trial->question.shape;
    struct arena *arena = trial->dry_run->arena;
    size_t n = old->facts.n_tolerations;
    struct toleration *tolerations = ARENA_ARRAY(arena, struct toleration, n + old->n_gpu_needs);
    for (size_t i = 0; i < n; i++)
        tolerations[i] = old->facts.tolerations[i];
    for (size_t i = 0; i < old->n_gpu_needs; i++)
        tolerations[n++] = (struct toleration){.key = old->needs[i].resource->name,
                                               .value = "",
                                               .op = TOLERATION_EXISTS,
                                               .effect = TAINT_NO_SCHEDULE};
    struct pod_shape shape = *old;
    shape.facts.tolerations = tolerations;
    shape.facts.n_tolerations = n;
    struct fit_question question = trial->question;
    question.shape = &shape;
    return old->n_gpu_needs > 0 && fit_judge(node, &question) == REASON_FITS;
}

static const char *message_of(const struct trial *trial, const struct node *node,
                              enum reason reason)
{
    struct arena *arena = trial->dry_run->arena;
    const struct shape_facts *facts = &trial->question.shape->facts;
    const struct node_traits *traits = node_traits(node);
    if (reason == REASON_POD_INVALID)
        return trial->question.refusal;
    if (reason != REASON_TAINT)
        return reason_text(reason);
    const char *taint =
        taint_text(taints_first_untolerated(traits->taints, traits->n_taints, facts->tolerations,
                                            facts->n_tolerations),
                   arena);
    const char *hint = "";
    if (admission_would_help(trial, node))
        hint = "; only that is missing, and clusters that run the admission plugin "
               "ExtendedResourceToleration add it (policy admission.extendedResourceToleration)";
    return arena_printf(arena, "%s: %s%s", reason_text(reason), taint, hint);
}

static json_t *nodes_json(const struct trial *trial)
{
    json_t *nodes = json_array();
    for (size_t i = 0; i < trial->n_nodes; i++) {
        const struct candidate *candidate = &trial->candidates[i];
        const enum reason reason = candidate->verdict;
        const struct node *node = candidate->node;
        (void)json_array_append_new(
            nodes, json_pack("{s:s, s:b, s:o, s:s, s:s, s:o}", "node", node_name(node), "fits",
                             reason == REASON_FITS, "score",
                             reason == REASON_FITS ? json_integer(candidate->score) : json_null(),
                             "reason", reason_name(reason), "message",
                             message_of(trial, node, reason), "lacks", lacks_json(trial, node)));
    }
    return nodes;
}

static const char *summary_of(const struct trial *trial)
{
    struct arena *arena = trial->dry_run->arena;
    const struct workload *workload = trial->workload;
    const char *unit = workload->per_node ? "eligible nodes get a pod" : "replicas can be placed";
    const char *claims = workload->has_claims ? ", its resource claims not yet judged" : "";
    const char *text = arena_printf(arena, "%s %s/%s: %" PRId64 " of %" PRId64 " %s%s",
                                    workload->kind, workload->namespace_, workload->name,
                                    trial->n_placed, trial->n_replicas, unit, claims);
    if (workload->per_node)
        return text;
    if (trial->n_placed < trial->n_replicas)
        return arena_printf(arena, "%s: %s", text, why_no_more(trial));
    return arena_printf(arena, "%s, and %" PRId64 " more would fit", text, trial->n_more);
}

/* What admission in the cluster would look up, as far as the cluster's objects are known. */
static void note_admission(const struct trial *trial, json_t *notes)
{
    const struct cluster *fork = trial->dry_run->fork;
    struct arena *arena = trial->dry_run->arena;
    const struct workload *workload = trial->workload;
    const char *class = workload->pod.priority_class;
    const bool knows_namespaces = cluster_n_namespaces(fork) > 0;
    const bool knows_classes = cluster_n_priority_classes(fork) > 0;
    int64_t value = 0;
    const char *note = NULL;
    if (knows_namespaces && !cluster_has_namespace(fork, workload->namespace_))
        note = arena_printf(arena,
                            "namespace %s: is not in the cluster, the API server would "
                            "refuse the pods",
                            workload->namespace_);
    else if (!knows_namespaces && strcmp(workload->namespace_, "default") != 0)
        note = arena_printf(arena, "namespace %s: not checked, the cluster file has no namespaces",
                            workload->namespace_);
    if (note)
        (void)json_array_append_new(notes, json_string(note));
    if (!class[0])
        return;
    if (!knows_classes)
        note = arena_printf(arena,
                            "priorityClassName %s: not checked, the cluster file has no "
                            "priority classes",
                            class);
    else if (!cluster_priority_of_class(fork, class, &value))
        note = arena_printf(arena,
                            "priorityClassName %s: is not in the cluster, the API server "
                            "would refuse the pods",
                            class);
    else
        note = arena_printf(arena,
                            "priorityClassName %s: priority %" PRId64 "; preemption is not "
                            "considered",
                            class, value);
    (void)json_array_append_new(notes, json_string(note));
}

static json_t *notes_json(const struct trial *trial)
{
    json_t *notes = json_array();
    const struct workload *workload = trial->workload;
    for (size_t i = 0; i < workload->not_evaluated.n; i++)
        (void)json_array_append_new(notes, json_string(workload->not_evaluated.items[i]));
    if (!workload->replicas_known)
        (void)json_array_append_new(
            notes, json_string("replicas: cannot be told from the object, 1 was taken"));
    if (!workload->problem)
        note_admission(trial, notes);
    return notes;
}

static json_t *placements_json(struct trial *trial, json_t *notes)
{
    if (trial->workload->per_node)
        return place_on_each_node(trial);
    const size_t limit = trial->dry_run->n_replicas_left;
    json_t *placements = place_replicas(trial);
    if ((uint64_t)trial->n_replicas > limit)
        (void)json_array_append_new(
            notes, json_sprintf("placements: only the first %zu replicas are listed "
                                "(limits.dryRunReplicas); the others are counted",
                                limit));
    return placements;
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
        .scope = FIT_ALL,
    };
    trial->n_replicas = workload->replicas;
}

json_t *dry_run_workload(struct dry_run *dry_run, const struct workload *workload)
{
    struct trial trial = {.dry_run = dry_run, .workload = workload};
    ask(&trial);
    collect_nodes(&trial);
    judge_nodes(&trial);
    json_t *nodes = nodes_json(&trial);
    json_t *notes = notes_json(&trial);
    json_t *placements = placements_json(&trial, notes);
    dry_run->n_placed_whole += trial.n_placed == trial.n_replicas;
    return json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:o, s:o, s:o}", "kind", workload->kind,
                     "name", workload->name, "namespace", workload->namespace_, "summary",
                     summary_of(&trial), "replicas", (json_int_t)trial.n_replicas, "placed",
                     (json_int_t)trial.n_placed, "moreReplicas", (json_int_t)trial.n_more,
                     "placements", placements, "nodes", nodes, "notEvaluated", notes);
}
