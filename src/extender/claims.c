/* claims: see claims.h. */
#include "claims.h"
#include "core/best.h"

/* NULL: none is handed on. */
static const char *best_name(const struct rule_input *judged, const bool *left_out,
                             struct arena *arena)
{
    size_t n = 0;
    struct best *best = best_begin(judged->cluster, judged->question, 1, arena);
    for (size_t i = 0; i < judged->args->n_names; i++) {
        if (judged->verdicts[i] == REASON_FITS && !(left_out && left_out[i]))
            best_add(best, judged->nodes[i], i);
    }
    const struct ranked_node *first = best_end(best, &n);
    return n > 0 ? judged->args->names[first->position] : NULL;
}

struct claim_wish claims_wish(const struct extender *extender, const struct rule_input *judged,
                              const bool *left_out, struct arena *arena)
{
    const char *uid = judged->args->pod.uid;
    struct claim_wish wish = {0};
    if (extender->quota_claim_ms == 0 || !uid[0] || extender->policy->n_quotas == 0)
        return wish;
    wish.has_claim = cluster_has_claim(judged->cluster, uid);
    wish.claims_version = cluster_claims_version(judged->cluster);
    if (judged->question->quota)
        wish.node_name = best_name(judged, left_out, arena);
    return wish;
}

bool claims_settle(const struct extender *extender, const struct args *args,
                   const struct claim_wish *wish, int64_t now_ms)
{
    if (wish->node_name)
        return inventory_claim(extender->inventory,
                               &(struct claim_question){
                                   .pod = &args->pod,
                                   .node_name = wish->node_name,
                                   .claims_version = wish->claims_version,
                                   .now_ms = now_ms,
                                   .until_ms = now_ms + extender->quota_claim_ms,
                               });
    if (wish->has_claim)
        inventory_end_claim(extender->inventory, args->pod.uid);
    return true;
}
