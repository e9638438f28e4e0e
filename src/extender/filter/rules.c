/* rules: see rules.h. The table, the lookup, then the texts. */
#include "extender/filter/rules.h"
#include "decide/preempt.h"
#include "ledger/gangs.h"

#include <string.h>

/* The cause that each verdict hints at; CAUSE_OURS for verdicts that are not listed. */
static const enum cause CAUSES[N_REASONS] = {
    [REASON_FITS] = CAUSE_FITS,
    [REASON_NAMESPACE_UNKNOWN] = CAUSE_NAMESPACE,
    [REASON_GPU_FREE] = CAUSE_FREE,
    [REASON_GPU_NOMINATED] = CAUSE_KEPT,
    [REASON_QUOTA] = CAUSE_LAG,
    [REASON_NODE_UNKNOWN] = CAUSE_LAG,
    [REASON_QUOTA_CLAIMED] = CAUSE_CLAIMED,
};

/* How often a rule applies. Beyond that, filter rejects. */
enum limit {
    LIMIT_NONE,
    LIMIT_NOMINATION, /* budgets_kept() */
    LIMIT_QUOTA_WAIT, /* budgets_quota_wait() */
    LIMIT_REPEAT,     /* budgets_repeat() */
    LIMIT_TOKEN,      /* budgets_token() */
};

struct retry_rule {
    bool waits;       /* first, if the budget of waits.h has time */
    enum retry error; /* RETRY_NONE: the rejections as judged */
    enum limit limit;
};

/* Zero rows reject. */
static const struct retry_rule RULES[N_CAUSES][N_POD_STATES] = {
    /* kube-scheduler counts GPUs itself, assumed pods included, and offers only nodes with
     * room. If a node is full only in our ledger, our watch is late, and after a rejection
     * kube-scheduler might evict pods in vain. */
    [CAUSE_FREE] =
        {
            [POD_NONE] = {false, RETRY_BEHIND, LIMIT_NONE},
            /* An Error would clear the nomination, and any pod could take the room. The watch
             * is mostly milliseconds behind the end of the last victim. */
            [POD_OPEN] = {true, RETRY_BEHIND, LIMIT_NONE},
            /* The nomination is useless, so the Error costs nothing. */
            [POD_SHUT] = {false, RETRY_BEHIND, LIMIT_NONE},
            /* POD_VICTIMS: reject. kube-scheduler waits for the victims by itself
             * (PROTOCOL 4.3), and their end wakes the pod. An Error would clear
             * the nomination and waste the eviction. */
            /* The victims have ended, or our watch has not yet seen that they terminate. The
             * next events decide. */
            [POD_AWAY] = {true, RETRY_BEHIND, LIMIT_NONE},
        },
    /* kube-scheduler counts nominated pods too. It offers a node whose room we keep if the
     * nomination just ended and our watch is late: then an Error is right. Or the nomination is
     * another scheduler's: Errors would never end, and the pod could never preempt. So a pod
     * gets a few Errors, then rejections. */
    [CAUSE_KEPT] =
        {
            [POD_NONE] = {false, RETRY_KEPT, LIMIT_NOMINATION},
            [POD_OPEN] = {true, RETRY_KEPT, LIMIT_NOMINATION}, /* as above */
            [POD_SHUT] = {false, RETRY_KEPT, LIMIT_NOMINATION},
            [POD_AWAY] = {true, RETRY_KEPT, LIMIT_NOMINATION},
        },
    /* The quota is judged before the room, so it hides a gpu_free that lag explains: the
     * victims count against the pod's own quota. kube-scheduler does not know quotas, so it may
     * offer the node long before the victims end. So filter waits only once, then rejects,
     * which keeps the nomination (FailedNodes). */
    [CAUSE_QUOTA_ENDING] =
        {
            [POD_OPEN] = {true, RETRY_NONE, LIMIT_QUOTA_WAIT},
        },
    /* Until the watch shows the namespace (milliseconds), its quotas are unknown. No event
     * wakes kube-scheduler then, so a rejection would last. */
    [CAUSE_NAMESPACE] =
        {
            [POD_NONE] = {false, RETRY_NAMESPACE, LIMIT_NONE},
            [POD_OPEN] = {false, RETRY_NAMESPACE, LIMIT_NONE},
            [POD_SHUT] = {false, RETRY_NAMESPACE, LIMIT_NONE},
            [POD_AWAY] = {false, RETRY_NAMESPACE, LIMIT_NONE},
        },
    /* kube-scheduler 1.36 asks again for a rejected group without a pause, 1,200 times a second;
     * after an Error it backs off. An Error aborts the whole group, so no other cause is one. */
    [CAUSE_GROUP] =
        {
            [POD_NONE] = {false, RETRY_GROUP, LIMIT_NONE},
        },
    /* Each waiting pod costs kube-scheduler an attempt at every wake, and after an Error none. */
    [CAUSE_GANGS] =
        {
            [POD_NONE] = {false, RETRY_GANGS, LIMIT_NONE},
        },
    /* kube-scheduler assumes a pod before binding it, which a quota counts as a claim. If such
     * pods are bound, their end wakes waiting pods. If not, the claims expire without an event:
     * hence the Error. POD_VICTIMS: as above. */
    [CAUSE_CLAIMED] =
        {
            [POD_NONE] = {false, RETRY_CLAIMED, LIMIT_TOKEN},
            [POD_OPEN] = {false, RETRY_CLAIMED, LIMIT_TOKEN},
            [POD_SHUT] = {false, RETRY_CLAIMED, LIMIT_TOKEN},
            [POD_AWAY] = {false, RETRY_CLAIMED, LIMIT_TOKEN},
        },
    /* kube-scheduler retries a pod after an event that may help, often before our watch has
     * that event. A repeated rejection may last five minutes. Most events help no pod, and each
     * Error costs two status changes, so the budget is small. An Error would clear a
     * nomination, and such a pod comes here twice per cycle anyway. */
    [CAUSE_LAG] =
        {
            [POD_NONE] = {false, RETRY_REPEAT, LIMIT_REPEAT},
        },
};

/* A late watch can explain the verdict only while the node changes. Changes come in groups: a node
 * joins, or feature discovery restarts and removes its labels for about a minute. */
#define CHANGED_LATELY_MS INT64_C(120000)

/* Verdicts by the node's labels and advertised resources. */
static bool is_by_node(enum reason verdict)
{
    return verdict == REASON_LEGACY_AFFINITY ||
           (verdict >= REASON_GPU_ABSENT && verdict <= REASON_GPU_TOTAL);
}

static bool changed_lately(int64_t changed_ms, int64_t now_ms)
{
    return changed_ms > 0 && now_ms - changed_ms < CHANGED_LATELY_MS;
}

static bool is_by_late_node(const struct rule_input *input)
{
    if (!changed_lately(cluster_nodes_changed_ms(input->cluster), input->now_ms))
        return false;
    for (size_t i = 0; i < input->args->n_names; i++) {
        if (is_by_node(input->verdicts[i]) &&
            changed_lately(node_changed_ms(input->nodes[i]), input->now_ms))
            return true;
    }
    return false;
}

static enum cause strongest_of(const struct rule_input *input)
{
    enum cause cause = CAUSE_OURS;
    for (size_t i = 0; cause < CAUSE_FITS && i < input->args->n_names; i++) {
        const enum cause of_node = CAUSES[input->verdicts[i]];
        if (of_node > cause)
            cause = of_node;
    }
    return cause == CAUSE_OURS && is_by_late_node(input) ? CAUSE_LAG : cause;
}

/* The verdict without the pods that terminate on the node. */
static enum reason judge_without_ending(const struct cluster *cluster, const struct node *node,
                                        const struct fit_question *question, struct arena *arena)
{
    size_t n = 0;
    const char **uids = NULL;
    for (const struct pod *pod = node_next_pod(node, NULL); pod; pod = node_next_pod(node, pod))
        n += pod->terminating;
    uids = ARENA_ARRAY(arena, const char *, n);
    n = 0;
    for (const struct pod *pod = node_next_pod(node, NULL); pod; pod = node_next_pod(node, pod)) {
        if (pod->terminating)
            uids[n++] = pod->uid;
    }
    return preempt_judge(cluster, node, question, uids, n, arena);
}

static bool is_quota_ending(const struct cluster *cluster, const struct node *node,
                            const struct fit_question *question, enum reason verdict,
                            struct arena *arena)
{
    return verdict == REASON_QUOTA &&
           judge_without_ending(cluster, node, question, arena) != REASON_QUOTA;
}

static bool is_quota(enum reason verdict)
{
    return verdict == REASON_QUOTA || verdict == REASON_QUOTA_CLAIMED;
}

static bool is_room(enum reason verdict)
{
    return verdict == REASON_GPU_FREE || verdict == REASON_GPU_NOMINATED;
}

/* Returns n_names if the node is not offered, or the pod has no nomination. */
static size_t find_nominated(const struct args *args)
{
    size_t i = 0;
    while (i < args->n_names && (!args->pod.nominated_node[0] ||
                                 strcmp(args->names[i].text, args->pod.nominated_node) != 0))
        i++;
    return i;
}

static void judge_offered(const struct rule_input *input, size_t i, struct arena *arena,
                          struct rule_case *found)
{
    const struct node *node = input->nodes[i];
    const enum reason verdict = input->verdicts[i];
    const bool is_ending = is_quota_ending(input->cluster, node, input->question, verdict, arena);
    if (is_ending)
        found->cause = CAUSE_QUOTA_ENDING;
    if (is_ending || is_room(verdict)) {
        found->state = POD_OPEN;
        found->watched = input->args->names[i].text;
    } else if (is_quota(verdict) && nominate_has_victims(node, &input->question->asker)) {
        found->state = POD_VICTIMS;
    } else {
        found->state = POD_SHUT;
    }
}

static void judge_not_offered(const struct rule_input *input, struct rule_case *found)
{
    const struct args *args = input->args;
    const struct node *node = cluster_find_node(input->cluster, args->pod.nominated_node);
    found->state =
        node && nominate_has_victims(node, &input->question->asker) ? POD_VICTIMS : POD_AWAY;
    for (size_t i = 0; !found->watched && i < args->n_names; i++) {
        if (is_room(input->verdicts[i]))
            found->watched = args->names[i].text;
    }
}

/* The lowest UID, because kube-scheduler offers nodes in a different order each time. */
static void find_nominee(const struct rule_input *input, struct arena *arena,
                         struct rule_case *found)
{
    const struct nomination *first = NULL;
    for (size_t i = 0; i < input->args->n_names; i++) {
        if (input->verdicts[i] != REASON_GPU_NOMINATED)
            continue;
        const struct nomination *blocker =
            nominate_blocker(input->nodes[i], &input->question->asker, input->question->shape);
        if (!blocker || (first && strcmp(blocker->uid, first->uid) >= 0))
            continue;
        first = blocker;
        found->nominee_node = input->args->names[i].text;
    }
    found->nominee = first ? arena_strdup(arena, first->uid) : NULL;
}

/* kube-scheduler places the group by what it counts itself: no lag, no room and no nomination are
 * judged, so nothing is retried or waited for. */
static struct rule_case case_of_group(const struct rule_input *input)
{
    struct rule_case found = {.cause = CAUSE_OURS};
    for (size_t i = 0; i < input->args->n_names; i++) {
        enum cause cause = CAUSES[input->verdicts[i]];
        if (is_quota(input->verdicts[i]) && input->groups_loop)
            cause = CAUSE_GROUP;
        if (cause >= CAUSE_GROUP && cause > found.cause)
            found.cause = cause;
    }
    return found;
}

struct rule_case rules_case_of(const struct rule_input *input, struct arena *arena)
{
    if (input->question->in_group)
        return case_of_group(input);
    if (input->question->hold && input->question->hold->is_beyond &&
        input->question->hold->reason != REASON_FITS)
        return (struct rule_case){.cause = CAUSE_GANGS};
    struct rule_case found = {.cause = strongest_of(input)};
    if (found.cause == CAUSE_FITS || found.cause == CAUSE_OURS)
        return found;
    const size_t nominated = find_nominated(input->args);
    if (nominated < input->args->n_names)
        judge_offered(input, nominated, arena, &found);
    else if (input->args->pod.nominated_node[0])
        judge_not_offered(input, &found);
    if (found.cause == CAUSE_KEPT)
        find_nominee(input, arena, &found);
    return found;
}

bool rules_may_pass(const struct rule_case *found, const struct cluster *cluster,
                    const struct fit_question *question, struct arena *arena)
{
    const struct node *node = cluster_find_node(cluster, found->watched);
    const struct node *nominated = cluster_find_node(cluster, question->asker.nominated_node);
    const enum reason verdict = fit_judge(node, question);
    if (node != nominated && nominated && nominate_has_victims(nominated, &question->asker))
        return false;
    return is_room(verdict) ||
           (node == nominated && is_quota_ending(cluster, node, question, verdict, arena));
}

/* ---- lookup ---- */

static bool is_within(enum limit limit, const struct extender *extender, const struct args *args,
                      const struct rule_case *found, uint64_t ledger_version, int64_t now_ms)
{
    struct budgets *budgets = extender->budgets;
    const struct pod_facts *pod = &args->pod;
    if (limit == LIMIT_NONE)
        return true;
    if (!budgets || pod->refusal)
        return false;
    if (limit == LIMIT_NOMINATION)
        return found->nominee &&
               budgets_kept(budgets, pod->uid, found->nominee, found->nominee_node, now_ms);
    if (limit == LIMIT_QUOTA_WAIT)
        return waits_have_time(extender->waits, now_ms) &&
               budgets_quota_wait(budgets, pod->uid, pod->nominated_node, now_ms);
    if (limit == LIMIT_TOKEN)
        return budgets_token(budgets, now_ms);
    return budgets_repeat(budgets, pod->uid, args->pod_version, ledger_version, now_ms);
}

bool rules_would_retry(const struct rule_case *found)
{
    const struct retry_rule *rule = &RULES[found->cause][found->state];
    return rule->waits || (rule->error != RETRY_NONE && rule->error != RETRY_REPEAT);
}

struct ruling rules_apply(const struct extender *extender, const struct args *args,
                          const struct rule_case *found, uint64_t ledger_version, int64_t now_ms)
{
    const struct retry_rule *rule = &RULES[found->cause][found->state];
    if (!is_within(rule->limit, extender, args, found, ledger_version, now_ms))
        return (struct ruling){.error = RETRY_NONE};
    return (struct ruling){.waits = rule->waits, .error = rule->error};
}

enum retry rules_apply_after_wait(const struct extender *extender, const struct args *args,
                                  const struct rule_case *first, const struct rule_case *found,
                                  int64_t now_ms)
{
    const struct retry_rule *rule = &RULES[found->cause][found->state];
    /* The call waited for a quota, so it never ends in an Error. */
    if (first->cause == CAUSE_QUOTA_ENDING || rule->limit == LIMIT_REPEAT)
        return RETRY_NONE;
    if (found->cause != first->cause && !is_within(rule->limit, extender, args, found, 0, now_ms))
        return RETRY_NONE;
    return rule->error;
}

/* ---- texts ---- */

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
    [RETRY_CLAIMED] =
        {"gpu-extender: the rest of the quota is claimed by pods that are being bound: "
         "retry",
         "gpu_extender_filter_quota_claimed_total",
         "Calls of filter answered with: the rest of the quota is claimed."},
    [RETRY_GROUP] = {"gpu-extender: a quota leaves too few GPUs for the pod's group: retry",
                     "gpu_extender_filter_group_quota_total",
                     "Calls of filter answered with: a quota leaves too few GPUs for the group."},
    [RETRY_GANGS] = {"gpu-extender: too many pods of groups wait: retry",
                     "gpu_extender_filter_gangs_beyond_total",
                     "Calls of filter answered with: too many pods of groups wait."},
    [RETRY_NAMESPACE] =
        {"gpu-extender: the pod's namespace is not in the inventory yet, and quotas select by "
         "label: retry",
         "gpu_extender_filter_namespace_unknown_total",
         "Calls of filter answered with: the pod's namespace is not in the inventory yet."},
    /* Follows the reasons. */
    [RETRY_REPEAT] =
        {"retry once: the ledger may be behind kube-scheduler", "gpu_extender_filter_repeats_total",
         "Calls of filter answered with: retry once, as the ledger has not changed since the "
         "pod was rejected."},
};

/* Like kube-scheduler: "3 of this, 2 of that". Each reason appears at most once, which bounds the
 * text. */
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

/* A retried pod was rejected before. Keep the reasons, so that users still see them. */
const char *rules_text(enum retry retry, const struct decision *found, struct arena *arena)
{
    const char *text = RETRIES[retry].text;
    if (retry != RETRY_REPEAT)
        return text;
    return arena_printf(arena, "gpu-extender: 0/%zu nodes fit: %s (%s)", found->n_asked,
                        reasons_of(found, arena), text);
}

void rules_metrics(const struct extender *extender, struct buf *out)
{
    for (size_t i = RETRY_NONE + 1; i < N_RETRIES; i++)
        metrics_counter(out, RETRIES[i].metric, RETRIES[i].help, &extender->n_retries[i]);
}
