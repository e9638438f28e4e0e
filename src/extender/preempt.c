/* preempt: the nodes on which evicting the given pods would help. See
 * include/extender/extender.h. */
#include "decide/preempt.h"
#include "base/clock.h"
#include "base/log.h"
#include "decide/quota.h"
#include "extender/answer.h"
#include "extender/args.h"
#include "extender/extender.h"
#include "formats/json_values.h"
#include "ledger/gangs.h"

/* An offered node with the pods that kube-scheduler would evict there. */
struct node_victims {
    const char *node;
    const char **uids;
    size_t n_uids;
    int64_t n_pdb_violations;
    bool all_borrow;         /* preempt_all_borrow() */
    const char *untouchable; /* preempt_untouchable(), if only that speaks against the node */
    bool is_kept;
};

struct victims_by_node {
    struct node_victims *items; /* in the order received */
    size_t n;
};

/* MetaPod.UID, or the UID of a whole Pod. */
static int read_uid(const json_t *pod, bool is_meta, const char **ret_uid, struct err *err)
{
    const json_t *owner = is_meta ? pod : json_member(pod, "metadata");
    const json_t *uid = json_member(owner, is_meta ? "UID" : "uid");
    if (!json_is_string(uid))
        return err_set(err, EINVAL, "%s: should be a string", is_meta ? "UID" : "metadata.uid");
    *ret_uid = json_string_value(uid);
    return 0;
}

static int read_victims(json_t *victims, bool is_meta, struct arena *arena,
                        struct node_victims *candidate, struct err *err)
{
    json_t *pods = NULL;
    size_t i = 0;
    json_t *pod = NULL;
    int r = json_get_array(victims, "Pods", &pods, err);
    if (r == 0)
        r = json_get_integer(victims, "NumPDBViolations", &candidate->n_pdb_violations, err);
    candidate->n_uids = json_array_size(pods);
    candidate->uids = ARENA_ARRAY(arena, const char *, candidate->n_uids);
    json_array_foreach (pods, i, pod) {
        if (r == 0 && (r = read_uid(pod, is_meta, &candidate->uids[i], err)) < 0)
            err_prefix(err, "Pods[%zu].", i);
    }
    return r;
}

static int read_map(json_t *map, bool is_meta, struct arena *arena,
                    struct victims_by_node *candidates, struct err *err)
{
    const char *node = NULL;
    json_t *victims = NULL;
    candidates->items = ARENA_ARRAY(arena, struct node_victims, json_object_size(map));
    json_object_foreach (map, node, victims) {
        struct node_victims *candidate = &candidates->items[candidates->n++];
        candidate->node = node;
        int r = 0;
        if (!json_is_null(victims) && !json_is_object(victims))
            r = err_set(err, EINVAL, "is %s, should be an object", json_type_text(victims));
        if (r == 0)
            r = read_victims(victims, is_meta, arena, candidate, err);
        if (r < 0) {
            err_prefix(err, "%s[%.253s]: ", is_meta ? "NodeNameToMetaVictims" : "NodeNameToVictims",
                       node);
            return r;
        }
    }
    return 0;
}

/* If both members are present, the UIDs decide. */
static int read_candidates(json_t *root, struct arena *arena, struct victims_by_node *candidates,
                           struct err *err)
{
    json_t *whole = NULL;
    json_t *meta = NULL;
    int r = json_get_object(root, "NodeNameToMetaVictims", &meta, err);
    if (r == 0)
        r = json_get_object(root, "NodeNameToVictims", &whole, err);
    if (r < 0)
        return r;
    if (!meta && !whole)
        return err_set(err, EINVAL,
                       "has neither NodeNameToMetaVictims nor NodeNameToVictims, should have one "
                       "of them");
    return read_map(meta ? meta : whole, meta != NULL, arena, candidates, err);
}

static int read_args(json_t **ret_root, const struct extender *extender, struct exchange *exchange,
                     struct pod_facts *pod, struct victims_by_node *candidates, struct err *err)
{
    /* Of whole victims only what names them. */
    static const char *const READ[] = {"NodeNameToMetaVictims",
                                       "NodeNameToVictims.*.NumPDBViolations",
                                       "NodeNameToVictims.*.Pods[].metadata.uid", NULL};
    const struct policy *policy = in_force(extender, exchange);
    struct args_body body = {0};
    int r = args_read_body(extender, exchange, policy, READ, &body, err);
    *ret_root = body.root;
    if (r == 0 && !json_is_object(*ret_root))
        r = err_set(err, EINVAL, "is %s, should be an ExtenderPreemptionArgs object",
                    json_type_text(*ret_root));
    if (r == 0)
        r = args_read_pod(&body, exchange_arena(exchange), policy, pod, err);
    if (r == 0)
        r = read_candidates(*ret_root, exchange_arena(exchange), candidates, err);
    if (r < 0)
        err_prefix(err, "gpu-extender: request: ");
    return r;
}

/* Of the kept nodes: those whose victims all borrow, if there are any. */
static void prefer_borrowers(struct victims_by_node *candidates, struct decision *decision)
{
    size_t n = 0;
    for (size_t i = 0; i < candidates->n; i++)
        n += candidates->items[i].is_kept && candidates->items[i].all_borrow;
    for (size_t i = 0; n > 0 && i < candidates->n; i++)
        candidates->items[i].is_kept &= candidates->items[i].all_borrow;
    decision->n_handed_on = n > 0 ? n : decision->n_handed_on;
}

/* Nothing is evicted for a group (ledger/gangs.h). A candidate without victims, as 1.38 offers
 * some, is not kept (PROTOCOL 4.2). */
static void judge(struct extender *extender, const struct pod_facts *pod,
                  struct victims_by_node *candidates, struct decision *decision,
                  struct arena *arena)
{
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(extender->inventory);
    const struct fit_question question = args_question(view.cluster, pod, arena);
    const bool takes_back = quota_takes_back(question.quota);
    for (size_t i = 0; i < candidates->n; i++) {
        struct node_victims *candidate = &candidates->items[i];
        const struct node *node = cluster_find_node(view.cluster, candidate->node);
        const enum reason reason =
            preempt_judge(view.cluster, node, &question, candidate->uids, candidate->n_uids, arena);
        const bool waits = question.hold && !question.hold->domain;
        const bool helps = reason == REASON_FITS && candidate->n_uids > 0 && !waits;
        if (helps)
            candidate->untouchable = preempt_untouchable(view.cluster, pod->priority,
                                                         candidate->uids, candidate->n_uids);
        candidate->is_kept = helps && !candidate->untouchable;
        candidate->all_borrow =
            takes_back &&
            preempt_all_borrow(view.cluster, node, candidate->uids, candidate->n_uids);
        decision->verdicts[reason]++;
        decision->n_handed_on += candidate->is_kept;
    }
    prefer_borrowers(candidates, decision);
    decision->ledger_version = cluster_version(view.cluster);
    decision->n_asked = candidates->n;
}

static void add_victims(const struct node_victims *candidate, struct buf *out)
{
    buf_add_text(out, "{\"Pods\":[");
    for (size_t i = 0; i < candidate->n_uids; i++) {
        buf_add_text(out, i > 0 ? ",{\"UID\":" : "{\"UID\":");
        buf_add_quoted(out, candidate->uids[i]);
        buf_add_text(out, "}");
    }
    buf_add_text(out, "],\"NumPDBViolations\":");
    buf_add_decimal(out, candidate->n_pdb_violations);
    buf_add_text(out, "}");
}

/* ExtenderPreemptionResult (PROTOCOL 1.7): UIDs, in whatever form the victims came. Never null,
 * which would crash kube-scheduler. */
static void add_result(const struct victims_by_node *candidates, struct buf *out)
{
    const char *separator = "";
    buf_add_text(out, "{\"NodeNameToMetaVictims\":{");
    for (size_t i = 0; i < candidates->n; i++) {
        if (!candidates->items[i].is_kept)
            continue;
        buf_add_text(out, separator);
        buf_add_quoted(out, candidates->items[i].node);
        buf_add_text(out, ":");
        add_victims(&candidates->items[i], out);
        separator = ",";
    }
    buf_add_text(out, "}}");
}

/* mode: observe. Keeps the candidates, whatever the judgement. */
static void keep_all(struct victims_by_node *candidates, struct decision *decision)
{
    const size_t n_judged = decision->n_handed_on;
    decision->n_handed_on = 0;
    for (size_t i = 0; i < candidates->n; i++) {
        candidates->items[i].is_kept = candidates->items[i].n_uids > 0;
        decision->n_handed_on += candidates->items[i].is_kept;
    }
    decision->is_observed = true;
    decision->would_differ = n_judged < decision->n_handed_on;
}

static void count_dropped(struct extender *extender, const struct pod_facts *pod,
                          const struct victims_by_node *candidates)
{
    for (size_t i = 0; i < candidates->n; i++) {
        const struct node_victims *candidate = &candidates->items[i];
        if (!candidate->untouchable)
            continue;
        counter_add(&extender->n_preempt_dropped, 1);
        LOG(LOG_WARN, "preempt",
            LOG_MSG("a node is left out: a victim's priority is not below the pod's"),
            LOG_STR("namespace", pod->namespace_), LOG_STR("pod", pod->name),
            LOG_STR("node", candidate->node), LOG_STR("victim", candidate->untouchable));
    }
}

static void judge_and_count(struct extender *extender, const struct pod_facts *pod,
                            struct victims_by_node *candidates, struct decision *decision,
                            struct arena *arena)
{
    judge(extender, pod, candidates, decision, arena);
    count_dropped(extender, pod, candidates);
    counter_add(&extender->n_preempt_kept, decision->n_handed_on);
    counter_add(&extender->n_preempt_vetoed, candidates->n - decision->n_handed_on);
    answer_count(extender, DECISION_PREEMPT, decision->n_handed_on > 0 ? VERB_OK : VERB_NONE);
}

/* unusable: why the data allow no judgement; NULL: they do. */
static void answer_candidates(struct extender *extender, struct exchange *exchange,
                              const struct pod_facts *pod, struct victims_by_node *candidates,
                              const char *unusable)
{
    const bool is_observed = extender_observes(extender, exchange, pod->namespace_);
    const int64_t began_us = clock_us();
    struct decision decision = answer_record_of(DECISION_PREEMPT, pod);
    struct buf text;
    if (unusable && !is_observed) {
        answer_count(extender, DECISION_PREEMPT, VERB_UNUSABLE);
        exchange_answer_error(exchange, 503, unusable);
        return;
    }
    if (unusable) {
        decision.n_asked = candidates->n;
        decision.error = unusable;
        answer_count(extender, DECISION_PREEMPT, VERB_UNUSABLE);
    } else {
        judge_and_count(extender, pod, candidates, &decision, exchange_arena(exchange));
    }
    if (is_observed)
        keep_all(candidates, &decision);
    buf_init(&text, ANSWER_MAX_BYTES);
    add_result(candidates, &text);
    answer_record(extender, &decision, began_us);
    answer_text(exchange, &text);
}

/* The result has no Error member. kube-scheduler treats any other status as an error and evicts no
 * pod. */
void extender_preempt(void *context, struct exchange *exchange)
{
    struct extender *extender = context;
    struct err why;
    struct err err;
    json_t *root = NULL;
    struct pod_facts pod = {.uid = ""};
    struct victims_by_node candidates = {NULL, 0};
    if (read_args(&root, extender, exchange, &pod, &candidates, &err) < 0) {
        answer_count(extender, DECISION_PREEMPT, VERB_MALFORMED);
        exchange_answer_error(exchange, 400, err.text);
    } else if (inventory_usable(extender->inventory, &why)) {
        answer_candidates(extender, exchange, &pod, &candidates, NULL);
    } else {
        err_prefix(&why, "gpu-extender: ");
        answer_candidates(extender, exchange, &pod, &candidates, why.text);
    }
    json_decref(root);
}
