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
                                   struct rank_place *const *places, struct arena *arena)
{
    struct best_names best = {ARENA_ARRAY_UNSET(arena, const char *, args->n_names), 0};
    for (size_t i = 0; i < args->n_names; i++) {
        const struct ranked_node *ranked = places[i]->ranked;
        const bool is_best = is_deferred ? ranked->score == RANK_BEST_SCORE
                                         : rank_compare_alike(places[0]->ranked, ranked) == 0;
        if (places[i]->node && is_best)
            best.items[best.n++] = args->names[places[i]->position].text;
    }
    return best;
}

struct prioritizing {
    struct inventory *inventory;
    const struct args *args;
    struct arena *arena;
    const struct policy *policy;
    struct claim_ranking claims;
    struct rank_place **places; /* of all names; position is the index of the name */
    struct best_names best;     /* set for a pod that is only observed */
};

/* Nodes that no longer fit (they may have changed since filter) come last. */
static void rank_all(struct prioritizing *ranking, const struct cluster *cluster,
                     const struct fit_question *question, const struct node *const *nodes,
                     struct decision *decision)
{
    static const struct ranked_node others; /* score 0 */
    const size_t n_names = ranking->args->n_names;
    struct fit_round round = fit_round_of(question);
    struct best *best = best_begin(cluster, question, SIZE_MAX, n_names, ranking->arena);
    enum reason *verdicts = ARENA_ARRAY_UNSET(ranking->arena, enum reason, n_names);
    struct rank_place *unfit = ARENA_ARRAY_UNSET(ranking->arena, struct rank_place, n_names);
    size_t n_unfit = 0;
    size_t n = 0;
    best_judge(best, &round, nodes, ranking->claims.takes, n_names, verdicts);
    for (size_t i = 0; i < n_names; i++) {
        decision->verdicts[verdicts[i]]++;
        if (verdicts[i] != REASON_FITS)
            unfit[n_unfit++] = (struct rank_place){NULL, &others, i, NULL};
    }
    ranking->places = best_end(best, &n);
    for (size_t i = 0; i < n_unfit; i++)
        ranking->places[n + i] = &unfit[i];
}

/* For kube-scheduler to decide, by the pod's order of models alone. */
static bool rank_deferred(struct prioritizing *ranking, const struct fit_question *question,
                          const struct node *const *nodes, struct decision *decision)
{
    const size_t n_names = ranking->args->n_names;
    struct fit_round round = fit_round_of(question);
    struct ranked_node *ranked = ARENA_ARRAY(ranking->arena, struct ranked_node, n_names);
    struct rank_place *places = ARENA_ARRAY(ranking->arena, struct rank_place, n_names);
    ranking->places = ARENA_ARRAY(ranking->arena, struct rank_place *, n_names);
    for (size_t i = 0; i < n_names; i++) {
        const enum reason reason = fit_judge_next(&round, nodes[i]);
        decision->verdicts[reason]++;
        ranked[i].node = reason == REASON_FITS ? nodes[i] : NULL;
        places[i] = (struct rank_place){ranked[i].node, &ranked[i], i, NULL};
        ranking->places[i] = &places[i];
    }
    return rank_by_models(question->shape, ranked, n_names);
}

/* False: kube-scheduler decides, and there is no ranking. */
static bool rank(struct prioritizing *ranking, struct decision *decision)
{
    const struct args *args = ranking->args;
    const bool is_unranked = ranking->claims.outcome && !ranking->claims.is_ranked;
    const bool is_deferred =
        args->is_deferred ||
        (is_unranked && ranking->policy->soft_preferences == SOFT_PREFERENCES_DEFER);
    const struct node **nodes =
        ARENA_ARRAY_UNSET(ranking->arena, const struct node *, args->n_names);
    const struct inventory_view view CLEANUP(inventory_done) =
        inventory_read_settled(ranking->inventory);
    struct fit_question question = args_question(view.cluster, &args->pod, ranking->arena);
    cluster_find_nodes(view.cluster, args->names, args->n_names, nodes);
    bool has_opinion = true;
    if (ranking->claims.is_ranked)
        question.devices = ranking->claims.rules;
    if (is_deferred)
        has_opinion = rank_deferred(ranking, &question, nodes, decision);
    else
        rank_all(ranking, view.cluster, &question, nodes, decision);
    decision->ledger_version = cluster_version(view.cluster);
    if (!is_deferred)
        answer_record_best(decision, ranking->places, args->n_names, args->names);
    decision->n_handed_on = args->n_names;
    if (decision->is_observed && has_opinion)
        ranking->best = find_best(args, is_deferred, ranking->places, ranking->arena);
    return has_opinion;
}

/* The text behind a name; its length is a constant, so that it is copied in two steps. */
#define HOST "{\"Host\":"
#define END_BYTES 32
#define END(score) ",\"Score\":" #score "}," HOST
static const char ENDS[RANK_BEST_SCORE + 1][END_BYTES] = {
    END(0), END(1), END(2), END(3), END(4), END(5), END(6), END(7), END(8), END(9), END(10)};
/* With a name, nearly always enough. */
#define PRIORITY_BYTES 64

/* HostPriorityList (PROTOCOL 1.5). */
static void add_priorities(const struct args *args, struct rank_place *const *places,
                           struct buf *out)
{
    (void)buf_make_room(out, args->n_names * PRIORITY_BYTES);
    buf_add_text(out, args->n_names > 0 ? "[" HOST : "[");
    for (size_t i = 0; i < args->n_names; i++) {
        const int score = places[i]->ranked->score;
        char *at = args_add_name(args, places[i]->position, END_BYTES, out);
        if (!at)
            continue;
        memcpy(at, ENDS[score], END_BYTES);
        out->len -= END_BYTES - (sizeof END(0) - 1) - (score == RANK_BEST_SCORE);
    }
    if (args->n_names > 0)
        out->len -= sizeof "," HOST - 1;
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
        add_priorities(&args, ranking.places, &text);
    else
        buf_add_text(&text, "[]");
    answer_count(extender, DECISION_PRIORITIZE, result);
    answer_record(extender, &decision, began_us);
    args_fini(&args);
    answer_text(exchange, &text);
}
