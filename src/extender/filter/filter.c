/* filter: the offered nodes on which the pod may run. See include/extender/extender.h. */
#include "base/clock.h"
#include "decide/fit.h"
#include "decide/rank.h"
#include "extender/answer.h"
#include "extender/args.h"
#include "extender/extender.h"
#include "extender/filter/rules.h"
#include "formats/json_values.h"

#include <string.h>

/* ---- limits how many fitting nodes filter returns ---- */

/* Keeps at most n_most nodes. In the arena; use under the inventory's lock. NULL: all fitting nodes
 * are returned. That is so if n_most is 0 or not below the number of names, or if kube-scheduler
 * decides among the nodes. It is also so if the pod has a nominated node, which kube-scheduler must
 * find in the answer. */
static struct best *shortlist_begin(const struct cluster *cluster, const struct args *args,
                                    const struct fit_question *question, size_t n_most,
                                    struct arena *arena)
{
    const bool has_claims = args->pod.claims && args->pod.claims[0];
    if (n_most == 0 || args->n_names <= n_most || args->pod.nominated_node[0] ||
        args->is_deferred || has_claims)
        return NULL;
    return best_begin(cluster, question, n_most, args->n_names, arena);
}

/* By index: true if the node fits but enough better ones do too. A name offered twice is returned
 * twice or not at all. NULL: all fitting nodes are returned. */
static const bool *shortlist_left_out(struct best *best, const enum reason *verdicts,
                                      size_t n_names, struct arena *arena)
{
    if (!best)
        return NULL;
    size_t n_kept = 0;
    struct rank_place *const *kept = best_end(best, &n_kept);
    bool *left_out = ARENA_ARRAY_UNSET(arena, bool, n_names);
    for (size_t i = 0; i < n_names; i++)
        left_out[i] = verdicts[i] == REASON_FITS;
    for (size_t i = 0; i < n_kept; i++)
        left_out[kept[i]->position] = false;
    return left_out;
}

/* ---- filter ---- */

#define SECOND_MS 1000

/* ---- soft claims on quotas (ledger/claims.h) ----
 *
 * A call that returns a node claims the pod's share of its quotas. The model is that of the node
 * that it ranks first. A call that returns none ends the pod's claim. Pods without a quota cost
 * nothing here. */

struct claim_wish {
    const char *node_name; /* of the request; NULL: no claim */
    bool has_claim;        /* the pod already has a claim, which is not firm */
    uint64_t claims_version;
    size_t lifetime_s;
};

/* NULL: no node is returned. */
static const char *best_name(const struct rule_input *input, const bool *left_out,
                             struct arena *arena)
{
    size_t n = 0;
    struct best *best = best_begin(input->cluster, input->question, 1, input->args->n_names, arena);
    for (size_t i = 0; i < input->args->n_names; i++) {
        if (input->verdicts[i] == REASON_FITS && !(left_out && left_out[i]))
            best_add(best, input->nodes[i], NULL, i);
    }
    struct rank_place *const *kept = best_end(best, &n);
    return n > 0 ? input->args->names[kept[0]->position].text : NULL;
}

/* Needs the inventory's lock and a settled ledger that follows an API server. left_out: see
 * shortlist_left_out(). */
static struct claim_wish wish_of(const struct rule_input *input, const bool *left_out,
                                 struct arena *arena)
{
    const char *uid = input->args->pod.uid;
    struct claim_wish wish = {0};
    const struct policy *policy = cluster_policy(input->cluster);
    if (policy->quota_claim_s == 0 || !uid[0] || policy->n_quotas == 0)
        return wish;
    wish.lifetime_s = policy->quota_claim_s;
    const struct claim *own = claims_find(input->cluster, uid);
    wish.has_claim = own && own->firm_until_ms <= input->now_ms;
    wish.claims_version = claims_version(input->cluster);
    if (input->question->quota)
        wish.node_name = best_name(input, left_out, arena);
    return wish;
}

/* Takes the inventory's lock. False: another call claimed since the nodes were judged. */
static bool claim(const struct extender *extender, const struct args *args,
                  const struct claim_wish *wish, int64_t now_ms)
{
    const int64_t lifetime_ms = (int64_t)wish->lifetime_s * SECOND_MS;
    if (wish->node_name)
        return inventory_claim(extender->inventory, &(struct claim_question){
                                                        .pod = &args->pod,
                                                        .node_name = wish->node_name,
                                                        .claims_version = wish->claims_version,
                                                        .now_ms = now_ms,
                                                        .until_ms = now_ms + lifetime_ms,
                                                    });
    if (wish->has_claim)
        inventory_end_claim(extender->inventory, args->pod.uid);
    return true;
}

/* ---- judging the nodes ---- */

/* In the exchange's arena, because the call may wait. */
struct filter_call {
    struct extender *extender;
    struct exchange *exchange;
    struct args args;
    struct decision decision;    /* of the last judgement of all nodes */
    const struct policy *policy; /* in_force() */
    int64_t began_us;
    bool is_observed;           /* extender_observes() */
    struct rule_case rule_case; /* of the first judgement */
    /* Of the last judgement. */
    struct rule_case judged_case;
    struct claim_wish wish;
    const struct gang_hold *hold;
    uint64_t seen_version; /* ledger version last judged while waiting */
};

/* Findings per name in the order received, and the answer. */
struct filter_result {
    const struct node **nodes; /* NULL: unknown; only under the inventory's lock */
    enum reason *verdicts;
    const char **messages; /* of rejected nodes */
    size_t n_rejected;
    const bool *left_out; /* by the shortlist */
    const char *awaited;  /* the node where victims terminate for the pod; NULL: none */
};

/* Verdicts that may pass when the victims have ended. A quota may count victims too. */
static bool may_pass(enum reason verdict)
{
    return verdict == REASON_GPU_FREE || verdict == REASON_GPU_NOMINATED ||
           verdict == REASON_QUOTA || verdict == REASON_QUOTA_CLAIMED;
}

/* A pod has at most one nominated node. A group waits for no victims. */
static const char *find_awaited(const struct args *args, const struct fit_question *question,
                                const struct filter_result *found)
{
    const bool may_be = found->n_rejected > 0 && !question->in_group;
    for (size_t i = 0; i < args->n_names && may_be; i++) {
        if (may_pass(found->verdicts[i]) &&
            nominate_is_being_made(found->nodes[i], &question->asker, question->shape))
            return args->names[i].text;
    }
    return NULL;
}

static void count_verdicts(struct decision *decision, const struct args *args,
                           const struct filter_result *found)
{
    decision->n_asked = args->n_names;
    for (size_t i = 0; i < args->n_names; i++)
        decision->verdicts[found->verdicts[i]]++;
    decision->n_handed_on = decision->verdicts[REASON_FITS];
    for (size_t i = 0; found->left_out && i < args->n_names; i++)
        decision->n_handed_on -= found->left_out[i];
}

static void count_metrics(struct extender *extender, const struct decision *decision,
                          enum retry retry)
{
    const enum verb_result result = decision->n_handed_on > 0 ? VERB_OK : VERB_NONE;
    answer_count(extender, DECISION_FILTER, retry ? VERB_RETRY : result);
    for (size_t i = 0; i < N_REASONS; i++)
        counter_add(&extender->n_verdicts[i], decision->verdicts[i]);
}

/* At most so many nodes stay in the cache between prefetch and judgement. */
#define FEW_NAMES ((size_t)256)

static void judge_all(const struct cluster *cluster, const struct args *args,
                      const struct fit_question *question, struct filter_result *found,
                      struct best *best)
{
    struct fit_round round = fit_round_of(question);
    for (size_t begin = 0, end = 0; begin < args->n_names; begin = end) {
        const size_t n = args->n_names - begin < FEW_NAMES ? args->n_names - begin : FEW_NAMES;
        const struct node **nodes = &found->nodes[begin];
        end = begin + n;
        cluster_find_nodes(cluster, &args->names[begin], n, nodes);
        if (best)
            best_judge(best, &round, nodes, NULL, n, &found->verdicts[begin]);
        for (size_t i = begin; i < end; i++) {
            if (!best)
                found->verdicts[i] = fit_judge_next(&round, found->nodes[i]);
            if (found->verdicts[i] == REASON_FITS)
                continue;
            found->messages[i] = fit_message(found->nodes[i], question, found->verdicts[i]);
            found->n_rejected++;
        }
    }
}

/* Under the inventory's lock. A ledger read from a file never catches up and binds nothing. */
static void find_case(struct filter_call *call, const struct inventory_view *view,
                      const struct fit_question *question, const struct filter_result *found)
{
    struct arena *arena = exchange_arena(call->exchange);
    const struct rule_input input = {
        .cluster = view->cluster,
        .args = &call->args,
        .question = question,
        .nodes = found->nodes,
        .verdicts = found->verdicts,
        .now_ms = clock_ms(),
        .groups_loop = inventory_serves_oldest(view, CLUSTER_POD_GROUPS),
    };
    call->judged_case = (struct rule_case){.cause = CAUSE_OURS};
    call->wish = (struct claim_wish){0};
    if (!view->live)
        return;
    call->judged_case = rules_case_of(&input, arena);
    if (call->is_observed)
        return;
    call->wish = wish_of(&input, found->left_out, arena);
}

static void judge_once(struct filter_call *call, struct filter_result *ret_found)
{
    const struct args *args = &call->args;
    struct arena *arena = exchange_arena(call->exchange);
    *ret_found = (struct filter_result){
        .nodes = ARENA_ARRAY_UNSET(arena, const struct node *, args->n_names),
        .verdicts = ARENA_ARRAY_UNSET(arena, enum reason, args->n_names),
        .messages = ARENA_ARRAY_UNSET(arena, const char *, args->n_names),
    };
    const struct inventory_view view CLEANUP(inventory_done) =
        inventory_read_settled(call->extender->inventory);
    const struct fit_question question = args_question(view.cluster, &args->pod, arena);
    const size_t n_most = call->is_observed ? 0 : call->policy->shortlist;
    struct best *best = shortlist_begin(view.cluster, args, &question, n_most, arena);
    judge_all(view.cluster, args, &question, ret_found, best);
    ret_found->left_out = shortlist_left_out(best, ret_found->verdicts, args->n_names, arena);
    ret_found->awaited = find_awaited(args, &question, ret_found);
    call->hold = question.hold;
    find_case(call, &view, &question, ret_found);
    call->decision = answer_record_of(DECISION_FILTER, &args->pod);
    call->decision.ledger_version = cluster_version(view.cluster);
}

/* With several kube-schedulers another call may claim the rest of the quota during this one. After
 * the last try the pod has no claim: bind judges by actual use. */
#define CLAIM_TRIES 3

static struct rule_case judge(struct filter_call *call, struct filter_result *ret_found)
{
    for (int i = 0; i < CLAIM_TRIES; i++) {
        judge_once(call, ret_found);
        count_verdicts(&call->decision, &call->args, ret_found);
        if (claim(call->extender, &call->args, &call->wish, clock_ms()))
            break;
    }
    return call->judged_case;
}

static bool is_handed_on(const struct filter_result *found, size_t i)
{
    return found->verdicts[i] == REASON_FITS && !(found->left_out && found->left_out[i]);
}

/* The received objects, or the names. */
static void add_fitting(const struct args *args, const struct filter_result *found, struct buf *out)
{
    const char *separator = "";
    buf_add_text(out, "[");
    for (size_t i = 0; i < args->n_names; i++) {
        if (!is_handed_on(found, i))
            continue;
        buf_add_text(out, separator);
        if (args->has_nodes)
            json_put(json_array_get(args->nodes, i), JSON_COMPACT, out);
        else
            (void)args_add_name(args, i, 0, out);
        separator = ",";
    }
    buf_add_text(out, "]");
}

static bool is_awaited(const struct filter_result *found, const char *name)
{
    return found->awaited && strcmp(found->awaited, name) == 0;
}

/* The first message of a reason, quoted. Only quotas have several. */
struct quoted {
    const char *message; /* NULL: none so far */
    const char *text;
    size_t len;
};

static void add_message(struct quoted *first, const char *message, struct arena *arena,
                        struct buf *out)
{
    const size_t begin = out->len;
    if (first->message == message) {
        buf_add(out, first->text, first->len);
        return;
    }
    buf_add_quoted(out, message);
    if (!first->message)
        *first = (struct quoted){message, arena_strndup(arena, out->data + begin, out->len - begin),
                                 out->len - begin};
}

/* All rejections are unresolvable: evictions would not help, and FailedNodes would make
 * kube-scheduler try them (PROTOCOL 5.2). One exception: the node where victims of this pod still
 * terminate. Marked unresolvable, it would make kube-scheduler evict others elsewhere. A name
 * offered twice appears twice, with the same message. */
static void add_failed_nodes(const struct args *args, const struct filter_result *found,
                             bool awaited, struct arena *arena, struct buf *out)
{
    const char *separator = "";
    struct quoted quoted[N_REASONS] = {{.message = NULL}};
    const char *refusal =
        args->pod.refusal ? arena_printf(arena, "gpu-extender: %s", args->pod.refusal) : NULL;
    const bool are_some = found->n_rejected > 0 && (found->awaited || !awaited);
    buf_add_text(out, "{");
    for (size_t i = 0; i < args->n_names && are_some; i++) {
        if (found->verdicts[i] == REASON_FITS || is_awaited(found, args->names[i].text) != awaited)
            continue;
        buf_add_text(out, separator);
        (void)args_add_name(args, i, 0, out);
        buf_add_text(out, ":");
        add_message(&quoted[found->verdicts[i]], refusal ? refusal : found->messages[i], arena,
                    out);
        separator = ",";
    }
    buf_add_text(out, "}");
}

/* ExtenderFilterResult, in the form in which the nodes came (PROTOCOL 1.4). */
static void add_result(const struct args *args, const struct filter_result *found,
                       struct arena *arena, struct buf *out)
{
    buf_add_text(out, "{\"Nodes\":");
    if (args->has_nodes) {
        buf_add_text(out, "{\"metadata\":{},\"items\":");
        add_fitting(args, found, out);
        buf_add_text(out, "},\"NodeNames\":null");
    } else {
        buf_add_text(out, "null,\"NodeNames\":");
        add_fitting(args, found, out);
    }
    buf_add_text(out, ",\"FailedNodes\":");
    add_failed_nodes(args, found, true, arena, out);
    buf_add_text(out, ",\"FailedAndUnresolvableNodes\":");
    add_failed_nodes(args, found, false, arena, out);
    buf_add_text(out, ",\"Error\":\"\"}");
}

static void answer_retry(struct filter_call *call, enum retry retry)
{
    struct extender *extender = call->extender;
    struct decision *decision = &call->decision;
    counter_add(&extender->n_retries[retry], 1);
    decision->error = rules_text(retry, decision, exchange_arena(call->exchange));
    decision->n_handed_on = 0;
    answer_record(extender, decision, call->began_us);
    args_fini(&call->args);
    answer_scheduler_error(call->exchange, decision->error);
}

/* A pod that gets an Error comes again by itself. Claims that stand in its way have ended after
 * their lifetime, however they end. */
static void tell_wake(const struct filter_call *call, enum retry retry)
{
    struct wake *wake = call->extender->wake;
    const char *uid = call->args.pod.uid;
    const int64_t now_ms = clock_ms();
    wake_asked(wake, call->began_us);
    if (retry || call->decision.n_handed_on > 0) {
        wake_settled(wake, uid);
        return;
    }
    wake_rejected(wake, uid, now_ms);
    if (call->decision.verdicts[REASON_QUOTA_CLAIMED] > 0)
        wake_note(wake, WAKE_QUOTA_CLAIM,
                  now_ms + (int64_t)call->policy->quota_claim_s * SECOND_MS);
}

static void tell_gang_plans(const struct filter_call *call)
{
    gang_plans_filtered(call->extender->gang_plans,
                        &(struct gang_filtered){.namespace_ = call->args.pod.namespace_,
                                                .gang = call->args.pod.gang,
                                                .uid = call->args.pod.uid,
                                                .hold = call->hold,
                                                .names = call->args.names,
                                                .n_names = call->args.n_names,
                                                .is_handed_on = call->decision.n_handed_on > 0});
}

static void answer(struct filter_call *call, enum retry retry, const struct filter_result *found)
{
    struct extender *extender = call->extender;
    struct buf text;
    count_metrics(extender, &call->decision, retry);
    tell_wake(call, retry);
    tell_gang_plans(call);
    if (retry) {
        answer_retry(call, retry);
        return;
    }
    buf_init(&text, ANSWER_MAX_BYTES);
    add_result(&call->args, found, exchange_arena(call->exchange), &text);
    answer_record(extender, &call->decision, call->began_us);
    args_fini(&call->args);
    answer_text(call->exchange, &text);
}

/* Otherwise it answers the call. */
static bool is_usable(struct filter_call *call)
{
    struct err err;
    if (inventory_usable(call->extender->inventory, &err))
        return true;
    err_prefix(&err, "gpu-extender: ");
    answer_count(call->extender, DECISION_FILTER, VERB_UNUSABLE);
    args_fini(&call->args);
    answer_scheduler_error(call->exchange, err.text);
    return false;
}

/* ---- calls that wait: waits.h ---- */

/* The ledger may change a thousand times during the wait. So only one node is judged, and only
 * after a change. */
static bool may_still_pass(struct filter_call *call)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct inventory_view view CLEANUP(inventory_done) =
        inventory_read(call->extender->inventory);
    const uint64_t version = cluster_version(view.cluster);
    if (version == call->seen_version)
        return true;
    const struct fit_question question = args_question(view.cluster, &call->args.pod, arena);
    call->seen_version = version;
    return rules_may_pass(&call->rule_case, view.cluster, &question, arena);
}

static void judge_again(struct filter_call *call)
{
    struct extender *extender = call->extender;
    struct filter_result found;
    const struct rule_case now = judge(call, &found);
    const bool helped = call->decision.n_handed_on > 0;
    counter_add(helped ? &extender->n_waits_helped : &extender->n_waits_in_vain, 1);
    answer(call, rules_apply_after_wait(extender, &call->args, &call->rule_case, &now, clock_ms()),
           &found);
}

/* A waits_look. Judges all nodes once, at the end: when the watched node fits, never will, or time
 * is up. */
static bool look(void *context, bool is_over)
{
    struct filter_call *call = context;
    struct extender *extender = call->extender;
    if (!is_over && may_still_pass(call))
        return false;
    if (is_usable(call))
        judge_again(call);
    else
        counter_add(&extender->n_waits_in_vain, 1);
    return true;
}

/* True: look() answers, or has answered. */
static bool wait_for_room(struct filter_call *call)
{
    call->seen_version = call->decision.ledger_version;
    return call->rule_case.watched && call->extender->waits &&
           waits_add(call->extender->waits, look, call, clock_ms());
}

/* ---- mode: observe ----
 *
 * The nodes are judged without waits, Errors, claims and budgets. Then all are handed on. */

static void judge_as_if(struct filter_call *call)
{
    struct filter_result found;
    struct err err;
    if (inventory_usable(call->extender->inventory, &err)) {
        judge_once(call, &found);
        count_verdicts(&call->decision, &call->args, &found);
        count_metrics(call->extender, &call->decision, RETRY_NONE);
        observes_filter(call->extender, &call->args, found.verdicts,
                        rules_would_retry(&call->judged_case));
        return;
    }
    call->decision = answer_record_of(DECISION_FILTER, &call->args.pod);
    call->decision.n_asked = call->args.n_names;
    call->decision.error =
        arena_printf(exchange_arena(call->exchange), "gpu-extender: %s", err.text);
    answer_count(call->extender, DECISION_FILTER, VERB_UNUSABLE);
    observes_filter(call->extender, &call->args, NULL, true);
}

static void observe(struct filter_call *call)
{
    struct arena *arena = exchange_arena(call->exchange);
    const struct filter_result all = {
        .verdicts = ARENA_ARRAY(arena, enum reason, call->args.n_names), /* REASON_FITS */
        .messages = ARENA_ARRAY(arena, const char *, call->args.n_names)};
    struct buf text;
    judge_as_if(call);
    call->decision.is_observed = true;
    call->decision.would_differ =
        call->decision.verdicts[REASON_FITS] < call->args.n_names || call->decision.error;
    call->decision.n_handed_on = call->args.n_names;
    tell_wake(call, RETRY_NONE);
    buf_init(&text, ANSWER_MAX_BYTES);
    add_result(&call->args, &all, arena, &text);
    answer_record(call->extender, &call->decision, call->began_us);
    args_fini(&call->args);
    answer_text(call->exchange, &text);
}

/* Judges the nodes and answers, now or after a wait. */
static void decide(struct filter_call *call)
{
    struct filter_result found;
    call->rule_case = judge(call, &found);
    const struct ruling ruling = rules_apply(call->extender, &call->args, &call->rule_case,
                                             call->decision.ledger_version, clock_ms());
    if (!ruling.waits || !wait_for_room(call))
        answer(call, ruling.error, &found);
}

void extender_filter(void *context, struct exchange *exchange)
{
    struct extender *extender = context;
    struct filter_call *call = ARENA_NEW(exchange_arena(exchange), struct filter_call);
    struct err err;
    *call = (struct filter_call){.extender = extender,
                                 .exchange = exchange,
                                 .policy = in_force(extender, exchange),
                                 .began_us = clock_us()};
    if (args_init(&call->args, extender, exchange, call->policy, &err) < 0) {
        answer_count(extender, DECISION_FILTER, VERB_MALFORMED);
        answer_scheduler_error(exchange, err.text);
        return;
    }
    call->is_observed = extender_observes(extender, exchange, call->args.pod.namespace_);
    if (call->is_observed)
        observe(call);
    else if (is_usable(call))
        decide(call);
}
