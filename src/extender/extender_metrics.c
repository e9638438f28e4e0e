/* extender_metrics: see include/extender/extender.h. Counters of bindings are in bind/binds.c. */
#include "extender/extender.h"
#include "extender/filter/rules.h"

static void add_candidates(const struct extender *extender, struct buf *out)
{
    static const char NAME[] = "gpu_extender_preempt_candidates_total";
    static const struct metric_label KEPT[] = {{"verdict", "kept"}, {0}};
    static const struct metric_label VETOED[] = {{"verdict", "vetoed"}, {0}};
    metrics_head(
        out, NAME, "counter",
        "Nodes that kube-scheduler proposed for preemption, by verdict: vetoed if "
        "evictions there would not help, or if others take GPUs back from pods that borrow.");
    metrics_sample(out, NAME, KEPT, (double)counter_value(&extender->n_preempt_kept));
    metrics_sample(out, NAME, VETOED, (double)counter_value(&extender->n_preempt_vetoed));
    metrics_counter(out, "gpu_extender_preempt_dropped_total",
                    "Vetoed nodes on which evictions would help, but one victim's priority is not "
                    "below the pod's.",
                    &extender->n_preempt_dropped);
}

static void add_waits(const struct extender *extender, struct buf *out)
{
    static const char NAME[] = "gpu_extender_filter_waits_total";
    static const struct metric_label HELPED[] = {{"result", "helped"}, {0}};
    static const struct metric_label IN_VAIN[] = {{"result", "in_vain"}, {0}};
    metrics_head(out, NAME, "counter",
                 "Filter calls that waited for the ledger, for a pod with a nominated node, by "
                 "result; in_vain: no node fitted afterwards.");
    metrics_sample(out, NAME, HELPED, (double)counter_value(&extender->n_waits_helped));
    metrics_sample(out, NAME, IN_VAIN, (double)counter_value(&extender->n_waits_in_vain));
}

static void add_verdicts(const struct extender *extender, struct buf *out)
{
    static const char NAME[] = "gpu_extender_filter_verdicts_total";
    metrics_head(out, NAME, "counter", "Nodes that filter judged, by verdict.");
    for (size_t i = 0; i < N_REASONS; i++) {
        const struct metric_label labels[] = {{"verdict", reason_name((enum reason)i)}, {0}};
        metrics_sample(out, NAME, labels, (double)counter_value(&extender->n_verdicts[i]));
    }
}

static const char *const RESULTS[N_VERB_RESULTS] = {
    [VERB_OK] = "ok",
    [VERB_NONE] = "none",
    [VERB_RETRY] = "retry",
    [VERB_UNUSABLE] = "unusable",
    [VERB_MALFORMED] = "malformed",
};

static void add_results(const struct extender *extender, struct buf *out)
{
    static const char NAME[] = "gpu_extender_verb_calls_total";
    metrics_head(out, NAME, "counter", "Calls of the verbs by kube-scheduler, by result.");
    for (size_t verb = 0; verb < N_DECISION_VERBS; verb++) {
        for (size_t result = 0; result < N_VERB_RESULTS; result++) {
            const struct metric_label labels[] = {
                {"verb", decision_verb_name((enum decision_verb)verb)},
                {"result", RESULTS[result]},
                {0}};
            const struct counter *counter = &extender->n_results[verb][result];
            metrics_sample(out, NAME, labels, (double)counter_value(counter));
        }
    }
}

void extender_metrics(const struct extender *extender, struct buf *out)
{
    add_results(extender, out);
    metrics_gauge(out, "gpu_extender_observing",
                  "1 while mode is observe: decisions about all pods, or about those outside "
                  "enforceNamespaces, have no effect.",
                  extender_observing(extender) != OBSERVES_NONE);
    if (extender->observed)
        observed_metrics(extender->observed, out);
    if (!extender->binds)
        return;
    rules_metrics(extender, out);
    add_waits(extender, out);
    add_verdicts(extender, out);
    add_candidates(extender, out);
    binds_metrics(extender->binds, out);
    wake_metrics(extender->wake, out);
    gang_plans_metrics(extender->gang_plans, out);
}
