/* verdicts: see verdicts.h. */
#include "api/verdicts/verdicts.h"
#include "api/text.h"
#include "api/verdicts/candidates.h"
#include "api/verdicts/headline.h"
#include "api/verdicts/verdict.h"

/* Best nodes listed. */
#define N_BEST TEXT_NAMES_SHOWN

static json_t *reasons_json(const size_t counts[N_REASONS], const struct pod_query *query)
{
    json_t *reasons = json_array();
    for (enum reason reason = REASON_FITS + 1; reason < N_REASONS; reason++) {
        if (counts[reason] == 0)
            continue;
        const char *message =
            reason == REASON_POD_INVALID ? query->question.refusal : reason_text(reason);
        (void)json_array_append_new(reasons,
                                    json_pack("{s:s, s:s, s:s, s:I}", "reason", reason_name(reason),
                                              "message", message, "help", reason_help(reason),
                                              "nodes", (json_int_t)counts[reason]));
    }
    return reasons;
}

static json_t *best_json(const struct candidates *candidates)
{
    json_t *names = json_array();
    for (size_t i = 0; i < candidates->n_fitting && i < N_BEST; i++)
        (void)json_array_append_new(names, json_string(node_name(candidates->fitting[i].node)));
    return names;
}

/* Among nodes that only lack room, the one that lacks fewest GPUs. Nodes whose total is too small
 * come last. */
static const struct node_verdict *find_closest(const struct candidates *candidates,
                                               const struct fit_question *question)
{
    const struct node_verdict *closest = NULL;
    int64_t least = 0;
    for (size_t i = 0; i < candidates->n; i++) {
        const struct node_verdict *candidate = &candidates->items[i];
        if (candidate->verdict < REASON_GPU_TOTAL || reason_is_of_peers(candidate->verdict) ||
            reason_is_of_claims(candidate->verdict))
            continue;
        const int64_t lack = verdict_lacking_gpus(question, candidate->node);
        const bool is_small = candidate->verdict == REASON_GPU_TOTAL;
        const bool closest_is_small = closest && closest->verdict == REASON_GPU_TOTAL;
        if (closest && (is_small != closest_is_small ? is_small : lack >= least))
            continue;
        closest = candidate;
        least = lack;
    }
    return closest;
}

static json_t *closest_json(const struct candidates *candidates, const struct pod_query *query)
{
    const struct node_verdict *closest = find_closest(candidates, &query->question);
    if (!closest)
        return json_null();
    return json_pack("{s:s, s:s, s:s, s:o}", "node", node_name(closest->node), "reason",
                     reason_name(closest->verdict), "message",
                     verdict_message(query, closest->node, closest->verdict), "lacks",
                     verdict_lacks(&query->question, closest->node));
}

static void judge(struct candidates *candidates, const struct pod_query *query,
                  size_t counts[N_REASONS])
{
    candidates_judge_claims(candidates, &query->question);
    for (size_t i = 0; i < candidates->n; i++)
        counts[candidates->items[i].verdict]++;
}

static const char *counts_text(const size_t counts[N_REASONS], const struct candidates *candidates,
                               const struct pod_query *query)
{
    const struct model_wants *wants = &query->question.shape->facts.wants;
    return arena_printf(query->arena, "%s%s",
                        verdict_counts_text(counts, candidates->n, query->arena),
                        model_words_hint(counts, wants, candidates, query->arena));
}

static bool has_claims(const struct candidates *candidates, const struct pod_shape *shape)
{
    for (size_t i = 0; i < candidates->n_fitting; i++) {
        if (fit_by_claim(candidates->fitting[i].node, shape))
            return true;
    }
    return false;
}

/* The candidates are judged. */
static const struct headline *find_headline(struct candidates *candidates,
                                            const struct pod_query *query)
{
    struct headline *headline = ARENA_NEW(query->arena, struct headline);
    *headline =
        headline_of_judged(&(struct headline_question){.query = query, .candidates = candidates});
    if (headline->result == RESULT_FITS) {
        headline->cause = CAUSE_SCHEDULER;
        headline->text =
            arena_printf(query->arena, "It fits, best on %s, and waits for kube-scheduler.",
                         node_name(candidates->fitting[0].node));
    }
    return headline;
}

struct verdicts verdicts_of(struct candidates *candidates, const struct pod_query *query)
{
    size_t counts[N_REASONS] = {0};
    judge(candidates, query, counts);
    const struct headline *headline = find_headline(candidates, query);
    return (struct verdicts){
        .n_nodes = candidates->n,
        .n_fits = candidates->n_fitting,
        .has_claims = has_claims(candidates, query->question.shape),
        .best = candidates->n_fitting > 0 ? node_name(candidates->fitting[0].node) : "",
        .counts = counts_text(counts, candidates, query),
        .reasons = reasons_json(counts, query),
        .fits_on = best_json(candidates),
        .closest = closest_json(candidates, query),
        .claims =
            claim_answers_json(query->claims, query->question.devices, candidates, query->arena),
        .verdict = headline_json(headline, &query->question, headline->result != RESULT_FITS),
        .headline = headline,
    };
}

const char *verdicts_counts(struct candidates *candidates, const struct pod_query *query)
{
    size_t counts[N_REASONS] = {0};
    judge(candidates, query, counts);
    return counts_text(counts, candidates, query);
}

void verdicts_fini(struct verdicts *verdicts)
{
    json_decref(verdicts->reasons);
    json_decref(verdicts->fits_on);
    json_decref(verdicts->closest);
    json_decref(verdicts->claims);
    json_decref(verdicts->verdict);
    *verdicts = (struct verdicts){0};
}
