/*
 * pending: GET /v1/pending. Copies pods under the lock, and judges each kind of pod once on a fork:
 * by itself, and in turn with those that wait (turns.h).
 */
#include "api/api.h"
#include "api/cluster/quota_json.h"
#include "api/label_selector.h"
#include "api/node_warnings.h"
#include "api/pods/group_text.h"
#include "api/pods/pod_json.h"
#include "api/pods/turns.h"
#include "api/reply.h"
#include "api/tables.h"
#include "api/verdicts/remedies.h"
#include "api/verdicts/trial.h"
#include "base/clock.h"
#include "types/facts.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Verdicts per answer on pods by themselves; the remaining pods are listed unjudged. An expensive
 * verdict counts as several. */
#define MAX_VERDICTS ((size_t)1000000)
/* For the owners whose remedies are tried, besides the trials. */
#define REMEDY_VERDICTS (MAX_VERDICTS / 4)

struct pending {
    struct pod_report report;
    struct candidates candidates;
    const struct pod_copies *copies;
    const struct pod_copies *waiting; /* all pods that do */
    struct groups *groups;            /* NULL: none are planned */
    struct pod_remedies remedies;     /* inventory NULL: none are searched */
    bool helps_all;                   /* and not only pods that a quota keeps waiting */
    size_t n_left;                    /* remaining budget of verdicts */
    size_t n_not_judged;
};

/* Spends the cost of this kind of pod, if the budget allows. */
static bool pay(struct pending *pending, const struct shape_facts *facts)
{
    const size_t n_affordable = pending->n_left / (1 + pending->candidates.n);
    const size_t price = pod_price(facts);
    if (price > n_affordable)
        return false;
    pending->n_left -= price * (1 + pending->candidates.n);
    return true;
}

/* Spends the cost of counting the other pods, once for each kind of peer. */
static bool pay_for_peers(struct pending *pending, const struct shared_peers *peers)
{
    size_t n = 0;
    if (peers->has_rules)
        return true;
    (void)cluster_peers(pending->report.fork, peers->pod.terms ? PEERS_ALL : PEERS_REPELLING, &n);
    if (n / PEERS_OF_A_VERDICT > pending->n_left)
        return false;
    pending->n_left -= n / PEERS_OF_A_VERDICT;
    return true;
}

/* NULL: the budget is spent. Pods arrive sorted by priority, which decides the room kept for
 * others. */
static const struct verdicts *judge(struct pending *pending, const struct pod_copy *copy)
{
    if (!pay_for_peers(pending, copy->peers))
        return NULL;
    const struct pod_query query = pod_json_query(&pending->report, copy);
    struct judged *judged = query.question.peers ? &copy->peers->judged : &copy->shape->judged;
    if (judged->verdicts && judged->priority == copy->pod.priority)
        return judged->verdicts;
    if (!pay(pending, &copy->shape->facts))
        return NULL;
    if (judged->verdicts)
        verdicts_fini(judged->verdicts);
    else
        judged->verdicts = ARENA_NEW(pending->report.arena, struct verdicts);
    *judged->verdicts = verdicts_of(&pending->candidates, &query);
    judged->priority = copy->pod.priority;
    return judged->verdicts;
}

/* A pod that shares no verdicts: its rejection, nomination or claims are its own. */
static bool is_of_its_own(const struct pod_copy *copy)
{
    return copy->pod.nominated_node[0] || copy->pod.claims || copy->is_not_asked;
}

static bool is_alone(struct pending *pending, const struct pod_copy *copy)
{
    return copy->pod.refusal ||
           (is_of_its_own(copy) && !copy->is_not_asked && !copy->reserved_node &&
            pay_for_peers(pending, copy->peers) && pay(pending, &copy->shape->facts));
}

static json_t *known_json(struct pending *pending, struct pod_copy *copy,
                          const struct verdicts *verdicts)
{
    pending->n_not_judged += verdicts == NULL;
    if (verdicts) {
        copy->alone = verdicts->n_fits > 0 ? ALONE_FITS : ALONE_DOES_NOT_FIT;
        copy->headline = verdicts->headline;
    }
    return pod_json(&pending->report, copy, verdicts);
}

static json_t *judged_json(struct pending *pending, struct pod_copy *copy)
{
    if (copy->shape->facts.over)
        return known_json(pending, copy, NULL);
    if (is_alone(pending, copy)) {
        const struct pod_query query = pod_json_query(&pending->report, copy);
        struct verdicts verdicts = verdicts_of(&pending->candidates, &query);
        const bool is_judged =
            verdicts.n_fits > 0 || !claim_lookup_was_spent(query.claims, query.question.devices);
        json_t *json = known_json(pending, copy, is_judged ? &verdicts : NULL);
        verdicts_fini(&verdicts);
        return json;
    }
    const bool is_judged = !copy->reserved_node && !is_of_its_own(copy);
    return known_json(pending, copy, is_judged ? judge(pending, copy) : NULL);
}

static int compare_pods(const void *a, const void *b)
{
    return pod_copy_compare(&((const struct pod_copy *)a)->pod, &((const struct pod_copy *)b)->pod);
}

static int compare_turns(const void *a, const void *b)
{
    const struct pod_copy *left = a;
    const struct pod_copy *right = b;
    const size_t x = left->turn != right->turn ? left->turn : left->place;
    const size_t y = left->turn != right->turn ? right->turn : right->place;
    return (x > y) - (x < y);
}

static int compare_places(const void *a, const void *b)
{
    const size_t left = ((const struct pod_copy *)a)->place;
    const size_t right = ((const struct pod_copy *)b)->place;
    return (left > right) - (left < right);
}

/* The order in which budgets are spent. Pods that share verdicts come first, by priority. Those
 * with claims share none: their namespaces take turns, so that none spends what the others need. */
static void sort_by_turns(struct pod_copies *copies)
{
    if (copies->n == 0)
        return;
    qsort(copies->items, copies->n, sizeof *copies->items, compare_pods);
    for (size_t i = 0; i < copies->n; i++)
        copies->items[i].place = i;
    qsort(copies->items, copies->n, sizeof *copies->items, compare_turns);
}

static json_t *pods_json(struct pending *pending, struct pod_copies *copies)
{
    json_t *pods = json_array();
    json_t **places = ARENA_ARRAY(pending->report.arena, json_t *, copies->n);
    for (size_t i = 0; i < copies->n; i++)
        places[copies->items[i].place] = judged_json(pending, &copies->items[i]);
    for (size_t i = 0; i < copies->n; i++)
        (void)json_array_append_new(pods, places[i]);
    if (copies->n > 0)
        qsort(copies->items, copies->n, sizeof *copies->items, compare_places);
    for (struct shared_shape *shape = copies->shapes; shape; shape = shape->hh.next) {
        if (shape->judged.verdicts)
            verdicts_fini(shape->judged.verdicts);
    }
    for (struct shared_peers *peers = copies->peers; peers; peers = peers->hh.next) {
        if (peers->judged.verdicts)
            verdicts_fini(peers->judged.verdicts);
    }
    return pods;
}

static bool is_wanted_help(const struct pending *pending, const struct pod_copy *copy)
{
    return pending->helps_all || (copy->headline && copy->headline->cause == CAUSE_QUOTA);
}

/* Owners come in the order of their first pods. */
static void add_remedies(void *context, size_t i, json_int_t n, json_t *owner)
{
    struct pending *pending = context;
    const struct pod_copy *copy = &pending->copies->items[i];
    struct pod_remedies *remedies = &pending->remedies;
    remedies_add_none(owner);
    if (remedies->inventory && remedies->trials_left > 0 && is_wanted_help(pending, copy) &&
        !copy->pod.refusal && !copy->reserved_node && !copy->shape->facts.over &&
        pay_for_peers(pending, copy->peers) && pay(pending, &copy->shape->facts)) {
        remedies->before =
            pod_copy_before(pending->waiting, copy, n, pending->report.arena, &remedies->n_before);
        pod_json_add_remedies(&pending->report, remedies, copy, n, owner);
    }
}

/* all NULL: pods are not placed in turn. */
static void add_turns(struct pending *pending, struct pod_copies *all, json_t *pods)
{
    struct arena *arena = pending->report.arena;
    struct pod_remedies *remedies = &pending->remedies;
    struct pod_remedies in_turn = *remedies;
    in_turn.trials_left /= 2;
    const size_t n_left = remedies->trials_left - in_turn.trials_left;
    const struct turns_pods question = {
        .inventory = remedies->inventory,
        .policy = cluster_policy(remedies->fork),
        .fork = remedies->fork,
        .candidates = &pending->candidates,
        .listed = pending->copies,
        .all = all,
        .remedies = &in_turn,
    };
    if (!all)
        return;
    struct turns *turns = turns_of(&question, arena);
    remedies->trials_left = n_left + in_turn.trials_left;
    size_t i = 0;
    json_t *pod = NULL;
    json_array_foreach (pods, i, pod)
        turns_add(turns, pending->copies->items[i].pod.uid, pod);
    turns_free(turns);
}

static json_t *pending_json(struct pod_copies *copies, struct pod_copies *all,
                            struct pending *pending)
{
    struct arena *arena = pending->report.arena;
    const struct policy *policy = cluster_policy(pending->report.fork);
    json_t *pods = pods_json(pending, copies);
    add_turns(pending, all, pods);
    group_text_add(pending->groups, copies, pods, arena);
    pending->n_left = REMEDY_VERDICTS;
    const struct pod_owners_help help = {add_remedies, pending};
    json_t *owners = pod_owners_json(pods, policy, &help, arena);
    json_t *answer = provenance_json(&copies->provenance);
    json_t *rest = json_pack("{s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "nodeCount",
                             (json_int_t)pending->candidates.n, "podCount",
                             (json_int_t)copies->n_all, "gpuCount", pod_owners_gpus(owners),
                             "omitted", (json_int_t)(copies->n_all - copies->n), "notJudged",
                             (json_int_t)pending->n_not_judged, "owners", owners, "pods", pods);
    (void)json_object_update_new(answer, rest);
    return answer;
}

static enum peers_wanted peers_wanted(const struct pod_copies *copies, const struct pod_copies *all)
{
    const enum peers_wanted wanted = pod_copy_peers_wanted(copies);
    return all && pod_copy_peers_wanted(all) > wanted ? pod_copy_peers_wanted(all) : wanted;
}

/* all NULL: pods are not placed in turn, and remedies are tried only for quotas, if at all. */
static json_t *answer_of(const struct api *api, struct pod_copies *copies, struct pod_copies *all,
                         bool helps, struct arena *arena)
{
    struct inventory *inventory = api->inventory;
    const struct policy *policy CLEANUP(policy_drop_ptr) = inventory_hold_policy(inventory);
    struct models_here models = MODELS_HERE_START;
    sort_by_turns(copies);
    struct claim_lookup *claims = pod_json_claims(inventory, policy, copies, arena);
    struct cluster *fork = inventory_fork(inventory, peers_wanted(copies, all));
    struct pending pending = {
        .report = {fork, arena, (int64_t)time(NULL), clock_ms(), claims},
        .candidates = candidates_of(fork, &models, arena),
        .copies = copies,
        .waiting = all ? all : copies,
        .groups = api->groups,
        .n_left = 1 + cluster_n_nodes(fork) + MAX_VERDICTS,
    };
    pending.remedies = (struct pod_remedies){.inventory = helps ? inventory : NULL,
                                             .fork = fork,
                                             .candidates = &pending.candidates,
                                             .trials_left = TRIAL_VERDICTS_OF_ANSWER};
    pending.helps_all = all != NULL;
    json_t *answer = pending_json(copies, all, &pending);
    claim_lookup_free(claims);
    inventory_fork_free(inventory, fork);
    pod_copy_fini(copies);
    return answer;
}

json_t *pending_answer(const struct api *api, struct pod_copies *copies, bool helps,
                       struct arena *arena)
{
    return answer_of(api, copies, NULL, helps, arena);
}

struct wanted_pods {
    const char *namespace_; /* NULL: all */
    struct selector_term labels;
};

static bool is_wanted(void *context, const struct pod *pod)
{
    const struct wanted_pods *wanted = context;
    const struct label_view view = cluster_pod_view(pod);
    return pod_copy_is_pending(pod) &&
           (!wanted->namespace_ || strcmp(pod->namespace_, wanted->namespace_) == 0) &&
           selector_term_holds(&wanted->labels, &view);
}

/* Adds the users of the quotas that decide: pods of a kind share their verdict. */
static void add_users(const struct api *api, const json_t *answer)
{
    size_t i = 0;
    json_t *owner = NULL;
    json_array_foreach (json_object_get(answer, "owners"), i, owner) {
        json_t *quotas = json_object_get(json_object_get(owner, "verdict"), "quotas");
        if (quotas && !json_object_get(json_array_get(quotas, 0), "users"))
            quota_json_add_users(api->inventory, quotas);
    }
}

void api_pending(void *context, struct exchange *exchange)
{
    const struct api *api = context;
    struct arena *arena = exchange_arena(exchange);
    struct wanted_pods wanted = {.namespace_ = exchange_query(exchange, "namespace")};
    const char *tag = NULL;
    if (!label_selector_of_query(exchange, "labelSelector", &wanted.labels) ||
        !reply_from(api->inventory, exchange) || !reply_begin(api, exchange, &tag) ||
        exchange_defer(exchange))
        return;
    struct pod_copies copies = pod_copy_waiting(api->inventory, is_wanted, &wanted, arena);
    const bool lists_all = !wanted.namespace_ && wanted.labels.n_requirements == 0;
    struct pod_copies others = {.n = 0};
    if (!lists_all)
        others = turns_copy_all(api->inventory, arena);
    json_t *answer = answer_of(api, &copies, lists_all ? &copies : &others, true, arena);
    pod_copy_fini(&others);
    add_users(api, answer);
    query_names_add(api, exchange, answer);
    node_warnings_add(api, exchange, json_object_get(answer, "warnings"));
    reply_end(api, exchange, tag);
    reply(exchange, answer, tables_write_pending);
}
