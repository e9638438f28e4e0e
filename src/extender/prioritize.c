/* prioritize: ranks the given nodes. See include/extender/extender.h. */
#include "base/clock.h"
#include "decide/rank.h"
#include "extender/answer.h"
#include "extender/args.h"
#include "extender/claim_ranking.h"
#include "extender/extender.h"

#include <string.h>

/* Names of the nodes that are as good as any other. */
struct best_names {
    const char **items;
    size_t n;
};

/* Deferred nodes keep their order, and only their scores tell. Under the inventory's lock. */
static struct best_names find_best(const struct args *args, bool is_deferred,
                                   const struct ranked_node *ranked, struct arena *arena)
{
    struct best_names best = {ARENA_ARRAY_UNSET(arena, const char *, args->n_names), 0};
    for (size_t i = 0; i < args->n_names; i++) {
        const bool is_best = is_deferred ? ranked[i].score == RANK_BEST_SCORE
                                         : rank_compare_alike(&ranked[0], &ranked[i]) == 0;
        if (ranked[i].node && is_best)
            best.items[best.n++] = args->names[ranked[i].position].text;
    }
    return best;
}

struct prioritizing {
    struct inventory *inventory;
    const struct args *args;
    struct arena *arena;
    const struct policy *policy;
    struct claim_ranking claims;
    struct ranked_node *nodes; /* position is the index of the name */
    struct best_names best;    /* set for a pod that is only observed */
};

/* Nodes that no longer fit (they may have changed since filter) come last. */
static void judge_all(struct prioritizing *ranking, const struct cluster *cluster,
                      struct fit_question *question, struct decision *decision)
{
    const struct args *args = ranking->args;
    const struct node **nodes =
        ARENA_ARRAY_UNSET(ranking->arena, const struct node *, args->n_names);
    struct fit_round round = fit_round_of(question);
    cluster_find_nodes(cluster, args->names, args->n_names, nodes);
    for (size_t i = 0; i < args->n_names; i++) {
        const enum reason reason = fit_judge_next(&round, nodes[i]);
        decision->verdicts[reason]++;
        ranking->nodes[i] = (struct ranked_node){
            .node = reason == REASON_FITS ? nodes[i] : NULL,
            .position = i,
            .takes = claim_ranking_takes(&ranking->claims, i),
        };
    }
    if (ranking->claims.is_ranked)
        question->devices = ranking->claims.rules;
}

/* False: kube-scheduler decides, and there is no ranking. */
static bool rank(struct prioritizing *ranking, struct decision *decision)
{
    const struct args *args = ranking->args;
    const bool is_unranked = ranking->claims.outcome && !ranking->claims.is_ranked;
    const bool is_deferred =
        args->is_deferred ||
        (is_unranked && ranking->policy->soft_preferences == SOFT_PREFERENCES_DEFER);
    const struct inventory_view view CLEANUP(inventory_done) =
        inventory_read_settled(ranking->inventory);
    struct fit_question question = args_question(view.cluster, &args->pod, ranking->arena);
    judge_all(ranking, view.cluster, &question, decision);
    bool has_opinion = true;
    if (is_deferred)
        has_opinion = rank_by_models(question.shape, ranking->nodes, args->n_names);
    else
        rank_nodes(view.cluster, &question, ranking->nodes, args->n_names);
    decision->ledger_version = cluster_version(view.cluster);
    if (!is_deferred)
        answer_record_best(decision, ranking->nodes, args->n_names, args->names);
    decision->n_handed_on = args->n_names;
    if (decision->is_observed && has_opinion)
        ranking->best = find_best(args, is_deferred, ranking->nodes, ranking->arena);
    return has_opinion;
}

/* HostPriorityList (PROTOCOL 1.5). */
static void add_priorities(const struct args *args, const struct ranked_node *ranked,
                           struct arena *arena, struct buf *out)
{
    static const char HOST[] = "{\"Host\":";
    struct hashed_text ends[RANK_BEST_SCORE + 1];
    for (int score = 0; score <= RANK_BEST_SCORE; score++)
        ends[score] = hash_of_text(arena_printf(arena, ",\"Score\":%d},%s", score, HOST));
    buf_add_text(out, "[");
    buf_add(out, HOST, args->n_names > 0 ? strlen(HOST) : 0);
    for (size_t i = 0; i < args->n_names; i++) {
        const struct hashed_text *end = &ends[ranked[i].score];
        const bool is_last = i + 1 == args->n_names;
        args_add_name(args, ranked[i].position, out);
        const size_t len = end->len - is_last * sizeof HOST;
        char *at = buf_extend(out, len);
        if (at)
            memcpy(at, end->text, len);
    }
    buf_add_text(out, "]");
}

void extender_prioritize(void *context, struct exchange *exchange)
{
    struct extender *extender = context;
    const struct policy *policy = in_force(extender, exchange);
    const int64_t began_us = clock_us();
    struct err err;
    struct args args;
    if (args_init(&args, extender, exchange, policy, &err) < 0) {
        answer_count(extender, DECISION_PRIORITIZE, VERB_MALFORMED);
        exchange_answer_error(exchange, 400, err.text);
        return;
    }
    struct buf text;
    struct decision decision = answer_record_of(DECISION_PRIORITIZE, &args.pod);
    decision.n_asked = args.n_names;
    buf_init(&text, ANSWER_MAX_BYTES);
    struct arena *arena = exchange_arena(exchange);
    struct prioritizing ranking = {
        .inventory = extender->inventory,
        .args = &args,
        .policy = policy,
        .arena = arena,
        .nodes = ARENA_ARRAY_UNSET(arena, struct ranked_node, args.n_names),
    };
    enum verb_result result = VERB_NONE;
    decision.is_observed = extender_observes(extender, exchange, args.pod.namespace_);
    if (args.pod.refusal) {
        decision.error = args.pod.refusal;
    } else if (!inventory_usable(extender->inventory, &err)) {
        decision.error = err.text;
        result = VERB_UNUSABLE;
    } else {
        ranking.claims = claim_ranking_of(extender->inventory, policy, &args, arena);
        decision.claims = ranking.claims.outcome;
        result = rank(&ranking, &decision) ? VERB_OK : VERB_NONE;
        claim_ranking_fini(&ranking.claims);
    }
    if (ranking.best.n > 0 && extender->observed)
        observed_rank(extender->observed, args.pod.uid, ranking.best.items, ranking.best.n);
    decision.would_differ = decision.is_observed && result == VERB_OK;
    if (result == VERB_OK && !decision.is_observed)
        add_priorities(&args, ranking.nodes, arena, &text);
    else
        buf_add_text(&text, "[]");
    answer_count(extender, DECISION_PRIORITIZE, result);
    answer_record(extender, &decision, began_us);
    args_fini(&args);
    answer_text(exchange, &text);
}
