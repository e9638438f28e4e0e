/* observes: which pods are only observed, and what they are spared. See answer.h and
 * include/extender/extender.h. */
#include "base/clock.h"
#include "extender/answer.h"
#include "http/exchange.h"

static enum observing observing_of(const struct policy *policy)
{
    if (policy->mode != MODE_OBSERVE)
        return OBSERVES_NONE;
    return policy->enforce_namespaces.is_set ? OBSERVES_SOME : OBSERVES_ALL;
}

enum observing extender_observing(const struct extender *extender)
{
    const struct policy *policy CLEANUP(policy_drop_ptr) =
        inventory_hold_policy(extender->inventory);
    return observing_of(policy);
}

enum note { NOTE_NONE, NOTE_ENFORCED, NOTE_OBSERVED };

void extender_note_observed(struct exchange *exchange, bool is_observed)
{
    exchange_set_note(exchange, is_observed ? NOTE_OBSERVED : NOTE_ENFORCED);
}

static bool is_observed_now(const struct extender *extender, const char *namespace_)
{
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(extender->inventory);
    const struct policy *policy = cluster_policy(view.cluster);
    const enum observing observing = observing_of(policy);
    if (observing != OBSERVES_SOME || !namespace_)
        return observing != OBSERVES_NONE;
    const struct namespace *seen = cluster_find_namespace(view.cluster, namespace_);
    return !seen || !policy_enforces(policy, seen->labels, seen->n_labels);
}

bool extender_observes(const struct extender *extender, struct exchange *exchange,
                       const char *namespace_)
{
    if (exchange_note(exchange) == NOTE_NONE)
        extender_note_observed(exchange, is_observed_now(extender, namespace_));
    return exchange_note(exchange) == NOTE_OBSERVED;
}

/* The node that came furthest tells most: nodes are checked in the order of enum reason. */
static size_t refusal_of(const struct args *args, const enum reason *verdicts, bool would_retry)
{
    enum reason furthest = REASON_FITS;
    for (size_t i = 0; verdicts && i < args->n_names; i++) {
        if (verdicts[i] == REASON_FITS)
            return REASON_FITS;
        if (verdicts[i] > furthest)
            furthest = verdicts[i];
    }
    if (!verdicts)
        return OBSERVED_UNUSABLE;
    return would_retry ? (size_t)OBSERVED_RETRY : (size_t)furthest;
}

void observes_filter(const struct extender *extender, const struct args *args,
                     const enum reason *verdicts, bool would_retry)
{
    const struct pod_facts *pod = &args->pod;
    if (!extender->observed || !pod->uid[0] || args->n_names == 0)
        return;
    const struct observed_judgement judgement = {.namespace_ = pod->namespace_,
                                                 .name = pod->name,
                                                 .uid = pod->uid,
                                                 .names = args->names,
                                                 .verdicts = verdicts,
                                                 .n_names = args->n_names,
                                                 .refusal =
                                                     refusal_of(args, verdicts, would_retry)};
    observed_judge(extender->observed, &judgement, clock_wall_ms());
}
