/* dry_run_words: what is said of a trial, in sentences. See trial.h; of one node: verdict.h. */
#include "model_words.h"
#include "trial.h"

#include <inttypes.h>
#include <string.h>

const char *trial_why_not(const struct trial *trial)
{
    struct arena *arena = trial->dry_run->arena;
    const struct asking *asking = &trial->asking;
    const struct candidates *candidates = &trial->candidates;
    size_t counts[N_REASONS] = {0};
    size_t n_helped = 0;
    if (asking->question.refusal)
        return asking->question.refusal;
    if (candidates->n == 0)
        return "there are no nodes";
    for (size_t i = 0; i < candidates->n; i++) {
        const struct node *node = candidates->items[i].node;
        enum reason reason = fit_judge(node, &asking->question);
        counts[reason]++;
        n_helped += reason == REASON_TAINT && asking_admission_would_help(asking, node);
    }
    const char *text = arena_printf(
        arena, "%s%s", verdict_counts_text(counts, candidates->n, arena),
        model_words_hint(counts, &asking->question.shape->facts.wants, candidates, arena));
    if (n_helped == 0)
        return text;
    return arena_printf(arena,
                        "%s; on %zu only the toleration is missing that the admission plugin "
                        "ExtendedResourceToleration adds",
                        text, n_helped);
}

/* What keeps pods from running even where they fit. */
static const char *caveat_of(const struct trial *trial)
{
    if (trial->refused_because)
        return arena_printf(trial->dry_run->arena,
                            ", but the API server would refuse the pods (%s)",
                            trial->refused_because);
    if (trial->n_by_claim > 0)
        return arena_printf(trial->dry_run->arena, ", claims not yet judged on %zu nodes",
                            trial->n_by_claim);
    if (trial->workload->has_claims)
        return ", its resource claims not yet judged";
    return trial->workload->pod.gated ? ", once its scheduling gates are gone" : "";
}

static const char *placed_text(const struct trial *trial)
{
    struct arena *arena = trial->dry_run->arena;
    const char *unit =
        trial->workload->per_node ? "eligible nodes get a pod" : "replicas can be placed";
    return arena_printf(arena, "%" PRId64 " of %" PRId64 " %s", trial->n_placed, trial->n_replicas,
                        unit);
}

const char *trial_summary(const struct trial *trial)
{
    struct arena *arena = trial->dry_run->arena;
    const struct workload *workload = trial->workload;
    const char *text = arena_printf(arena, "%s %s/%s: %s%s", workload->kind, workload->namespace_,
                                    workload->name, placed_text(trial), caveat_of(trial));
    if (trial->no_more[0] && trial->n_placed > 0 && !workload->per_node)
        return arena_printf(arena, "%s; for the next one, %s", text, trial->no_more);
    if (trial->no_more[0])
        return arena_printf(arena, "%s: %s", text, trial->no_more);
    if (workload->per_node)
        return text;
    return arena_printf(arena, "%s, and %" PRId64 " more would fit", text, trial->n_more);
}

static void note(json_t *notes, const char *text)
{
    (void)json_array_append_new(notes, json_string(text));
}

static void note_namespace(struct trial *trial, json_t *notes)
{
    const struct cluster *fork = trial->dry_run->fork;
    struct arena *arena = trial->dry_run->arena;
    const char *name = trial->workload->namespace_;
    if (cluster_has_namespace(fork, name))
        return;
    if (cluster_n_namespaces(fork) > 0) {
        trial->refused_because = arena_printf(arena, "there is no namespace %s", name);
        note(notes, arena_printf(arena,
                                 "namespace %s: is not in the cluster, the API server would refuse "
                                 "the pods",
                                 name));
    } else if (strcmp(name, "default") != 0) {
        note(notes,
             arena_printf(arena, "namespace %s: not checked, the cluster file has no namespaces",
                          name));
    }
}

static void note_priority(struct trial *trial, json_t *notes)
{
    const struct cluster *fork = trial->dry_run->fork;
    struct arena *arena = trial->dry_run->arena;
    const char *class = trial->workload->pod.priority_class;
    const char *what = NULL;
    int64_t value = 0;
    if (!class[0] || cluster_priority_of_class(fork, class, &value))
        return;
    if (cluster_n_priority_classes(fork) == 0) {
        what = "not checked, the cluster file has no priority classes";
    } else {
        what = "is not in the cluster, the API server would refuse the pods";
        trial->refused_because = arena_printf(arena, "there is no priority class %s", class);
    }
    note(notes, arena_printf(arena, "priorityClassName %s: %s", class, what));
}

static void note_soft_preferences(const struct trial *trial, json_t *notes)
{
    if (trial->workload->pod.soft_preferences &&
        cluster_policy(trial->dry_run->fork)->soft_preferences == SOFT_PREFERENCES_DEFER)
        note(notes, "soft preferences: kube-scheduler decides by them among the nodes that fit; "
                    "the order here is only a guess");
}

static void note_claims(struct trial *trial, json_t *notes)
{
    const struct candidates *candidates = &trial->candidates;
    const struct pod_shape *shape = trial->asking.question.shape;
    const struct need *need = NULL;
    for (size_t i = 0; i < candidates->n_fitting; i++) {
        const struct need *claimed = fit_by_claim(candidates->fitting[i].node, shape);
        trial->n_by_claim += claimed != NULL;
        need = need ? need : claimed;
    }
    if (need)
        note(notes,
             arena_printf(trial->dry_run->arena,
                          "%s: claims not yet judged: %zu of the nodes that fit have none of "
                          "it, and would give it by a device class; moreReplicas leaves them "
                          "out",
                          need->resource->name, trial->n_by_claim));
}

json_t *trial_notes(struct trial *trial)
{
    json_t *notes = json_array();
    const struct workload *workload = trial->workload;
    for (size_t i = 0; i < workload->not_evaluated.n; i++)
        note(notes, workload->not_evaluated.items[i]);
    if (workload->problem)
        return notes;
    if (!workload->replicas_known)
        note(notes, "replicas: cannot be told from the object, 1 was taken");
    note_namespace(trial, notes);
    note_priority(trial, notes);
    note_claims(trial, notes);
    note_soft_preferences(trial, notes);
    return notes;
}
