/* dry_run_words: what is said of a trial, in sentences and reasons. See trial.h. */
#include "trial.h"

#include <inttypes.h>
#include <string.h>

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
    return fit_judge(node, &trial->tolerant) == REASON_FITS;
}

static const char *taint_message(const struct trial *trial, const struct node *node)
{
    struct arena *arena = trial->dry_run->arena;
    const struct shape_facts *facts = &trial->question.shape->facts;
    const struct node_traits *traits = node_traits(node);
    const struct taint *taint = taints_first_untolerated(traits->taints, traits->n_taints,
                                                         facts->tolerations, facts->n_tolerations);
    const char *hint = "";
    if (admission_would_help(trial, node))
        hint = "; only that is missing, and clusters that run the admission plugin "
               "ExtendedResourceToleration add it (policy admission.extendedResourceToleration)";
    return arena_printf(arena, "%s: %s%s", reason_text(REASON_TAINT), taint_text(taint, arena),
                        hint);
}

/* "...: nvidia.com/gpu": the first of the needs that the node lacks. */
static const char *resource_message(const struct trial *trial, const struct node *node,
                                    enum reason reason)
{
    const struct pod_shape *shape = trial->question.shape;
    const bool is_gpu = reason != REASON_RESOURCE;
    for (size_t i = 0; i < shape->n_needs; i++) {
        const struct need *need = &shape->needs[i];
        if (need->resource->is_gpu != is_gpu || fit_lack(node, need) == 0)
            continue;
        const char *name = need->resource->name;
        if (is_gpu ||
            (strcmp(name, "cpu") != 0 && strcmp(name, "memory") != 0 && strcmp(name, "pods") != 0))
            return arena_printf(trial->dry_run->arena, "%s: %s", reason_text(reason), name);
    }
    return reason_text(reason);
}

const char *trial_message(const struct trial *trial, const struct node *node, enum reason reason)
{
    if (reason == REASON_POD_INVALID)
        return trial->question.refusal;
    if (reason == REASON_TAINT)
        return taint_message(trial, node);
    if (reason == REASON_GPU_ABSENT || reason == REASON_GPU_TOTAL || reason == REASON_GPU_FREE ||
        reason == REASON_RESOURCE)
        return resource_message(trial, node, reason);
    return reason_text(reason);
}

/* "12 × the node has too few free GPUs now": how often each reason was given, in their order. */
static const char *reasons_text(const size_t *counts, struct arena *arena)
{
    const char *text = "";
    for (enum reason reason = REASON_FITS + 1; reason < N_REASONS; reason++) {
        if (counts[reason] > 0)
            text = arena_printf(arena, "%s%s%zu × %s", text, text[0] ? "; " : "", counts[reason],
                                reason_text(reason));
    }
    return text;
}

const char *trial_why_not(const struct trial *trial)
{
    struct arena *arena = trial->dry_run->arena;
    size_t counts[N_REASONS] = {0};
    size_t n_helped = 0;
    if (trial->question.refusal)
        return trial->question.refusal;
    if (trial->n_nodes == 0)
        return "there are no nodes";
    for (size_t i = 0; i < trial->n_nodes; i++) {
        const struct node *node = trial->candidates[i].node;
        enum reason reason = fit_judge(node, &trial->question);
        counts[reason]++;
        n_helped += reason == REASON_TAINT && admission_would_help(trial, node);
    }
    const char *text = arena_printf(arena, "%zu of %zu nodes fit (%s)", counts[REASON_FITS],
                                    trial->n_nodes, reasons_text(counts, arena));
    if (n_helped == 0)
        return text;
    return arena_printf(arena,
                        "%s; on %zu only the toleration is missing that the admission plugin "
                        "ExtendedResourceToleration adds",
                        text, n_helped);
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

json_t *trial_nodes(const struct trial *trial)
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
                             trial_message(trial, node, reason), "lacks", lacks_json(trial, node)));
    }
    return nodes;
}

/* What keeps pods from running even where they fit. */
static const char *caveat_of(const struct trial *trial)
{
    if (trial->refused_by_admission)
        return ", but the API server would refuse the pods (see notEvaluated)";
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
        trial->refused_by_admission = true;
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
    if (!class[0])
        return;
    if (cluster_priority_of_class(fork, class, &value)) {
        what = arena_printf(arena, "priority %" PRId64 "; preemption is not considered", value);
    } else if (cluster_n_priority_classes(fork) == 0) {
        what = "not checked, the cluster file has no priority classes";
    } else {
        what = "is not in the cluster, the API server would refuse the pods";
        trial->refused_by_admission = true;
    }
    note(notes, arena_printf(arena, "priorityClassName %s: %s", class, what));
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
    return notes;
}
