/* retry: see retry.h. */
#include "retry.h"

/* A metric of its own for each. */
static const struct retry_row {
    const char *text, *metric, *help;
} RETRIES[N_RETRIES] = {
    [RETRY_BEHIND] = {"gpu-extender: the ledger is behind kube-scheduler: retry",
                      "gpu_extender_filter_ledger_behind_total",
                      "Calls of filter answered with: the ledger is behind kube-scheduler."},
    [RETRY_KEPT] =
        {"gpu-extender: the free GPUs are kept for a nominated pod that kube-scheduler does not "
         "count: retry",
         "gpu_extender_filter_room_kept_total",
         "Calls of filter answered with: the free GPUs are kept for a nominated pod that "
         "kube-scheduler does not count."},
    [RETRY_NAMESPACE] = {"gpu-extender: the pod's namespace is not known yet, and quotas select by "
                         "label: retry",
                         "gpu_extender_filter_namespace_unknown_total",
                         "Calls of filter answered with: the pod's namespace is not known yet."},
    /* After the reasons. */
    [RETRY_REPEAT] =
        {"asked once more: the ledger may be behind kube-scheduler",
         "gpu_extender_filter_repeats_total",
         "Calls of filter answered with: asked once more, as the ledger has not changed since the "
         "pod was refused."},
};

/* A pod with a nominated node is asked for twice at a time, and would lose it by an error. */
static bool is_repeat(const struct extender *extender, const struct args *args,
                      const struct decision *found, int64_t now_ms)
{
    const struct pod_facts *pod = &args->pod;
    return extender->repeats && !pod->refusal && !pod->nominated_node[0] && found->n_asked > 0 &&
           repeats_is_one(extender->repeats, pod->uid, args->pod_version, found->ledger_version,
                          now_ms);
}

/* Nodes come here only after kube-scheduler's own count let them through, which counts nominated
 * pods too. If none is left, and one has too few free, then our ledger is behind: a refusal could
 * cost other pods their life by preemption, or wake nobody. The same where it is free, and
 * promised: to a pod that kube-scheduler has placed elsewhere since, or to one of another
 * scheduler, of which it knows nothing. Nothing but the question itself tells that the ledger is
 * behind on a quota, on a node's model, or on a node that has just come. */
enum retry retry_of(const struct extender *extender, const struct args *args,
                    const struct decision *found, int64_t now_ms)
{
    if (found->verdicts[REASON_FITS] > 0)
        return RETRY_NONE;
    if (found->verdicts[REASON_NAMESPACE_UNKNOWN] > 0)
        return RETRY_NAMESPACE;
    if (found->verdicts[REASON_GPU_FREE] > 0)
        return RETRY_BEHIND;
    if (found->verdicts[REASON_GPU_NOMINATED] > 0)
        return RETRY_KEPT;
    return is_repeat(extender, args, found, now_ms) ? RETRY_REPEAT : RETRY_NONE;
}

/* As kube-scheduler tells refusals: "3 of this, 2 of that". Each reason is there once at the most,
 * so it is no longer than their list. */
static const char *reasons_of(const struct decision *found, struct arena *arena)
{
    const char *text = "";
    for (size_t i = REASON_FITS + 1; i < N_REASONS; i++) {
        if (found->verdicts[i] > 0)
            text = arena_printf(arena, "%s%s%zu %s", text, text[0] ? ", " : "", found->verdicts[i],
                                reason_text((enum reason)i));
    }
    return text;
}

/* Who is to be asked about once more was refused before: by another text users would not read why.
 */
const char *retry_text(enum retry retry, const struct decision *found, struct arena *arena)
{
    const char *text = RETRIES[retry].text;
    if (retry != RETRY_REPEAT)
        return text;
    return arena_printf(arena, "gpu-extender: 0/%zu nodes fit: %s (%s)", found->n_asked,
                        reasons_of(found, arena), text);
}

void retry_metrics(const struct extender *extender, struct buf *out)
{
    for (size_t i = RETRY_NONE + 1; i < N_RETRIES; i++)
        metrics_counter(out, RETRIES[i].metric, RETRIES[i].help, &extender->n_retries[i]);
}
