/* judged: see judged.h. */
#include "judged.h"
#include "few.h"
#include "model_words.h"

/* So many of the best nodes are named. */
#define N_BEST FEW_SHOWN

static json_t *reasons_json(const size_t counts[N_REASONS], const struct asking *asking)
{
    json_t *reasons = json_array();
    for (enum reason reason = REASON_FITS + 1; reason < N_REASONS; reason++) {
        if (counts[reason] == 0)
            continue;
        const char *message =
            reason == REASON_POD_INVALID ? asking->question.refusal : reason_text(reason);
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

/* Of the nodes that only lack room: where the fewest GPUs are missing. A node that could not have
 * enough even if it were empty comes last. */
static const struct candidate *find_closest(const struct candidates *candidates,
                                            const struct fit_question *question)
{
    const struct candidate *closest = NULL;
    int64_t least = 0;
    for (size_t i = 0; i < candidates->n; i++) {
        const struct candidate *candidate = &candidates->items[i];
        if (candidate->verdict < REASON_GPU_TOTAL)
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

static json_t *closest_json(const struct candidates *candidates, const struct asking *asking)
{
    const struct candidate *closest = find_closest(candidates, &asking->question);
    if (!closest)
        return json_null();
    return json_pack("{s:s, s:s, s:s, s:o}", "node", node_name(closest->node), "reason",
                     reason_name(closest->verdict), "message",
                     verdict_message(asking, closest->node, closest->verdict), "lacks",
                     verdict_lacks(&asking->question, closest->node));
}

static const char *counts_text(const size_t counts[N_REASONS], const struct candidates *candidates,
                               const struct asking *asking)
{
    const struct model_wants *wants = &asking->question.shape->facts.wants;
    return arena_printf(asking->arena, "%s%s",
                        verdict_counts_text(counts, candidates->n, asking->arena),
                        model_words_hint(counts, wants, candidates, asking->arena));
}

static bool has_claims(const struct candidates *candidates, const struct pod_shape *shape)
{
    for (size_t i = 0; i < candidates->n_fitting; i++) {
        if (fit_by_claim(candidates->fitting[i].node, shape))
            return true;
    }
    return false;
}

struct judged judged_by(struct candidates *candidates, const struct asking *asking)
{
    size_t counts[N_REASONS] = {0};
    candidates_judge(candidates, &asking->question);
    for (size_t i = 0; i < candidates->n; i++)
        counts[candidates->items[i].verdict]++;
    return (struct judged){
        .n_nodes = candidates->n,
        .n_fits = candidates->n_fitting,
        .has_claims = has_claims(candidates, asking->question.shape),
        .best = candidates->n_fitting > 0 ? node_name(candidates->fitting[0].node) : "",
        .counts = counts_text(counts, candidates, asking),
        .reasons = reasons_json(counts, asking),
        .fits_on = best_json(candidates),
        .closest = closest_json(candidates, asking),
    };
}

void judged_fini(struct judged *judged)
{
    json_decref(judged->reasons);
    json_decref(judged->fits_on);
    json_decref(judged->closest);
    *judged = (struct judged){0};
}
