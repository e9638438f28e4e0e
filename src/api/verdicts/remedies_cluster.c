/* remedies_cluster: what could change in the cluster. See remedies_priv.h. */
#include "api/pods/pod_copy.h"
#include "api/text.h"
#include "api/verdicts/headline.h"
#include "api/verdicts/remedies_priv.h"
#include "decide/fit.h"
#include "decide/peer_rules.h"
#include "decide/quota.h"
#include "inventory/inventory.h"
#include "ledger/admit.h"
#include "ledger/edit.h"
#include "ledger/peer.h"

#include <inttypes.h>
#include <string.h>

/* ---- the pods on a node whose end would make room there ---- */

/* All is in the arena. */
struct room_pods {
    const char *text;         /* "wait for ml/a on n1, which has 3 GPUs"; NULL: none would do */
    const char *const *names; /* NAMESPACE/NAME */
    size_t n;
    const struct need *needs; /* what they use there */
    size_t n_needs;
};

/* Of so many pods, beginning with those that use most of what is lacking. */
#define ROOM_PODS_MAX ((size_t)3)

struct room_question {
    struct inventory *inventory; /* its lock is taken; not held by the caller */
    const struct cluster *fork;
    const struct node *node;
    const char *only; /* a namespace; NULL: pods of all namespaces */
    struct arena *arena;
};

/* Pods of a node that are considered. */
#define CONSIDERED_MAX ((size_t)500)

/* Of the asked pod's needs, what the node lacks. */
struct lacking {
    const struct need *need;
    int64_t amount;
};

struct lackings {
    struct lacking *items;
    size_t n;
};

static struct lackings lackings_of(const struct room_question *question,
                                   const struct fit_question *asked)
{
    const struct pod_shape *shape = asked->shape;
    struct lackings lackings = {ARENA_ARRAY(question->arena, struct lacking, shape->n_needs), 0};
    for (size_t i = 0; i < shape->n_needs; i++) {
        const int64_t lack = fit_lack(question->node, asked, &shape->needs[i]);
        if (lack > 0)
            lackings.items[lackings.n++] = (struct lacking){&shape->needs[i], lack};
    }
    return lackings;
}

static bool may_end(const struct room_question *question, const struct pod *pod)
{
    return !edit_stays(pod) && !pod->finished &&
           (!question->only || strcmp(question->only, pod->namespace_) == 0);
}

/* Whether this pod's end is enough, or NULL: the pod that has most of the first lacking resource,
 * of those that are not chosen. */
static const struct pod *next_pod(const struct room_question *question, const struct node *node,
                                  const struct lackings *lackings, const struct pod *const *chosen,
                                  size_t n_chosen)
{
    const struct pod *best = NULL;
    int64_t most = 0;
    size_t n = 0;
    for (const struct pod *pod = node_next_pod(node, NULL); pod && n++ < CONSIDERED_MAX;
         pod = node_next_pod(node, pod)) {
        const struct lacking *first = &lackings->items[0];
        const int64_t there = shape_need(pod->shape, first->need->resource);
        bool is_chosen = false;
        for (size_t i = 0; i < n_chosen; i++)
            is_chosen = is_chosen || chosen[i] == pod;
        if (is_chosen || !may_end(question, pod) || there <= 0)
            continue;
        /* The smallest that is enough, else the largest. */
        const bool is_better =
            !best ||
            (most >= first->amount ? there >= first->amount && there < most : there > most);
        if (is_better) {
            best = pod;
            most = there;
        }
    }
    return best;
}

static void subtract(struct lackings *lackings, const struct pod *pod)
{
    size_t n = 0;
    for (size_t i = 0; i < lackings->n; i++) {
        struct lacking lacking = lackings->items[i];
        lacking.amount -= shape_need(pod->shape, lacking.need->resource);
        if (lacking.amount > 0)
            lackings->items[n++] = lacking;
    }
    lackings->n = n;
}

/* Resources that the fork's node does not have may be unknown to the fork. */
static size_t add_needs(struct need *needs, size_t n, const struct node *node,
                        const struct pod_shape *shape)
{
    for (size_t i = 0; i < shape->n_needs; i++) {
        if (node_find_resource(node, shape->needs[i].resource))
            needs[n++] = shape->needs[i];
    }
    return n;
}

static void describe(const struct room_question *question, const struct pod *const *chosen,
                     size_t n, struct room_pods *pods)
{
    struct arena *arena = question->arena;
    const char **names = ARENA_ARRAY(arena, const char *, n);
    size_t n_needs = 0;
    int64_t n_gpus = 0;
    const char *text = "";
    for (size_t i = 0; i < n; i++)
        n_needs += chosen[i]->shape->n_needs;
    struct need *needs = ARENA_ARRAY(arena, struct need, n_needs);
    for (size_t i = 0; i < n; i++) {
        const struct pod_shape *shape = chosen[i]->shape;
        names[i] = arena_printf(arena, "%s/%s", chosen[i]->namespace_, chosen[i]->name);
        text = arena_printf(arena, "%s%s%s", text, i > 0 ? " and " : "", names[i]);
        pods->n_needs = add_needs(needs, pods->n_needs, question->node, shape);
        for (size_t j = 0; j < shape->n_gpu_needs; j++)
            n_gpus = shape->needs[j].amount < INT64_MAX - n_gpus ? n_gpus + shape->needs[j].amount
                                                                 : INT64_MAX;
    }
    pods->needs = needs;
    pods->names = names;
    pods->n = n;
    pods->text = arena_printf(arena, "wait for %s on %s", text, node_name(question->node));
    if (n_gpus > 0)
        pods->text = arena_printf(arena, "%s, which %s %" PRId64 " GPU%s", pods->text,
                                  n == 1 ? "has" : "have", n_gpus, n_gpus == 1 ? "" : "s");
}

/* The fewest pods whose end gives one more pod the room that it lacks. Pods that a drain leaves
 * (edit_stays()) do not count. */
static struct room_pods room_pods_to_end(const struct room_question *question,
                                         const struct fit_question *asked)
{
    struct room_pods pods = {0};
    struct lackings lackings = lackings_of(question, asked);
    const struct pod *chosen[ROOM_PODS_MAX];
    size_t n = 0;
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(question->inventory);
    const struct node *node = cluster_find_node(view.cluster, node_name(question->node));
    if (!node || lackings.n == 0 || !cluster_is_fork_of(question->fork, view.cluster))
        return pods;
    while (lackings.n > 0 && n < ROOM_PODS_MAX) {
        chosen[n] = next_pod(question, node, &lackings, chosen, n);
        if (!chosen[n])
            return pods;
        subtract(&lackings, chosen[n++]);
    }
    if (lackings.n == 0)
        describe(question, chosen, n, &pods);
    return pods;
}

static int64_t use_of_staying(const struct node *node, const struct resource *resource)
{
    int64_t sum = 0;
    for (const struct pod *pod = node_next_pod(node, NULL); pod; pod = node_next_pod(node, pod)) {
        if (edit_stays(pod) && __builtin_add_overflow(sum, shape_need(pod->shape, resource), &sum))
            return INT64_MAX;
    }
    return sum;
}

/* What would be free on a node like this one without its pods, besides what is. The amounts are
 * resolved against the fork. */
static size_t room_of_empty(const struct room_question *question, const struct need **ret_freed)
{
    size_t n_rows = 0;
    size_t n = 0;
    const struct node_resource *rows = node_resources(question->node, &n_rows);
    struct need *freed = ARENA_ARRAY(question->arena, struct need, n_rows);
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(question->inventory);
    const struct node *node = cluster_find_node(view.cluster, node_name(question->node));
    *ret_freed = freed;
    if (!node || !cluster_is_fork_of(question->fork, view.cluster))
        return 0;
    for (size_t i = 0; i < n_rows; i++) {
        const int64_t staying = use_of_staying(node, rows[i].resource);
        if (rows[i].used > staying)
            freed[n++] = (struct need){rows[i].resource, rows[i].used - staying};
    }
    return n;
}

/* ---- wait ---- */

/* The first of the nodes that lack the least, in that order. */
struct near_nodes {
    const struct node *nodes[NODES_TRIED];
    int64_t lacks[NODES_TRIED];
    size_t n;
};

static void add_near(struct near_nodes *nearest, const struct node *node, int64_t lack)
{
    size_t i = nearest->n;
    if (i == NODES_TRIED && nearest->lacks[i - 1] <= lack)
        return;
    i = i == NODES_TRIED ? i - 1 : nearest->n++;
    for (; i > 0 && nearest->lacks[i - 1] > lack; i--) {
        nearest->nodes[i] = nearest->nodes[i - 1];
        nearest->lacks[i] = nearest->lacks[i - 1];
    }
    nearest->nodes[i] = node;
    nearest->lacks[i] = lack;
}

static struct near_nodes nearest_nodes(const struct remedy_search *search)
{
    static const enum verdict_cause CAUSES[] = {CAUSE_FREE_GPUS, CAUSE_RESOURCES};
    struct near_nodes nearest = {.n = 0};
    for (size_t i = 0; i < sizeof CAUSES / sizeof *CAUSES; i++) {
        const struct node *node = NULL;
        for (size_t at = 0; (node = remedies_next_near(search, CAUSES[i], &at));)
            add_near(&nearest, node, verdict_lacking_gpus(search->failing, node));
    }
    return nearest;
}

static struct room_question room_on(const struct remedy_search *search, const struct node *node)
{
    const struct remedy_question *question = search->question;
    return (struct room_question){question->inventory, question->fork, node, question->only,
                                  search->arena};
}

/* Whether these end of those on the node is enough. */
static bool wait_for(struct remedy_search *search, const struct room_pods *pods,
                     const struct node *node)
{
    const struct trial trial = {.vacated = node, .needs = pods->needs, .n_needs = pods->n_needs};
    struct trial_end end;
    if (!pods->text || !trial_run(&search->trials, &trial, &end))
        return false;
    json_t *names = json_array();
    for (size_t i = 0; i < pods->n; i++)
        (void)json_array_append_new(names, json_string(pods->names[i]));
    end.nodes[0] = node;
    end.n_nodes = 1;
    remedies_offer(search, "wait", pods->text, &end, json_pack("{s:o}", "removePods", names));
    return true;
}

/* The fewest of the pods that come first, whose end is enough. */
static void wait_for_first(struct remedy_search *search)
{
    const struct remedy_question *question = search->question;
    const struct node *node = question->headline->node;
    struct arena *arena = search->arena;
    const char *names[REMEDIES_FIRST_MAX];
    struct room_pods pods = {.names = names};
    const char *text = "";
    for (size_t i = 0; i < question->n_first; i++) {
        const struct pod *pod = &question->first[i]->pod;
        const struct pod_shape *shape =
            cluster_resolve(search->trials.fork, &question->first[i]->shape->facts, arena);
        struct need *needs = ARENA_ARRAY(arena, struct need, pods.n_needs + shape->n_needs);
        if (question->only && strcmp(question->only, pod->namespace_) != 0)
            return;
        for (size_t j = 0; j < pods.n_needs; j++)
            needs[j] = pods.needs[j];
        pods.n_needs = add_needs(needs, pods.n_needs, node, shape);
        pods.needs = needs;
        names[pods.n++] = arena_printf(arena, "%s/%s", pod->namespace_, pod->name);
        text = remedies_join(text, names[i], true, "and", arena);
        pods.text = arena_printf(arena, "wait for %s, which %s first on %s", text,
                                 pods.n == 1 ? "comes" : "come", node_name(node));
        if (wait_for(search, &pods, node))
            return;
    }
}

void remedies_wait(struct remedy_search *search)
{
    const enum verdict_cause cause = search->question->headline->cause;
    if (cause != CAUSE_FREE_GPUS && cause != CAUSE_RESOURCES)
        return;
    const struct near_nodes nearest = nearest_nodes(search);
    for (size_t i = 0; i < nearest.n; i++) {
        const struct room_question room = room_on(search, nearest.nodes[i]);
        const struct room_pods pods = room_pods_to_end(&room, search->failing);
        if (wait_for(search, &pods, nearest.nodes[i]))
            return;
    }
    wait_for_first(search);
}

/* ---- an administrator ---- */

/* The item of the resource, as in a policy: each has all limits of its resource. */
static json_t *find_limits(json_t *list, const char *resource)
{
    size_t i = 0;
    json_t *item = NULL;
    json_array_foreach (list, i, item) {
        if (strcmp(text_member(item, "resource"), resource ? resource : "") == 0)
            return item;
    }
    item = resource ? json_pack("{s:s}", "resource", resource) : json_object();
    (void)json_array_append_new(list, item);
    return item;
}

/* As the policy file has it. */
static json_t *amount_json(const struct quota_limit *limit, const struct trial_end *end)
{
    int64_t gpus = limit->gpus;
    int64_t borrowed = limit->borrow.gpus;
    for (size_t i = 0; i < end->n_raised; i++) {
        if (end->raised[i].limit == limit)
            *(end->raised[i].borrows ? &borrowed : &gpus) = end->raised[i].gpus;
    }
    return limit->borrow.is_set ? json_pack("{s:I, s:{s:I, s:I}}", "limit", (json_int_t)gpus,
                                            "borrow", "limit", (json_int_t)borrowed, "maxPriority",
                                            (json_int_t)limit->borrow.max_priority)
                                : json_integer(gpus);
}

static json_t *limits_json(const struct quota *quota, const struct trial_end *end)
{
    json_t *list = json_array();
    for (size_t i = 0; i < quota->n_limits; i++) {
        const struct quota_limit *limit = &quota->limits[i];
        json_t *item = find_limits(list, limit->resource);
        if (!limit->model) {
            (void)json_object_set_new(item, "total", amount_json(limit, end));
            continue;
        }
        if (!json_object_get(item, "models"))
            (void)json_object_set_new(item, "models", json_object());
        (void)json_object_set_new(json_object_get(item, "models"), limit->model,
                                  amount_json(limit, end));
    }
    return list;
}

static bool raise_quota(struct remedy_search *search)
{
    struct arena *arena = search->arena;
    struct trial_end end;
    const char *text = "";
    bool is_one = true;
    search->is_partial |= search->failing->quota && search->question->are_more_before;
    if (!search->failing->quota || search->question->are_more_before ||
        !trial_run(&search->trials, &(struct trial){.lifts_quota = true}, &end) ||
        end.n_raised == 0 || end.raises_more)
        return false;
    for (size_t i = 0; i < end.n_raised; i++) {
        const struct raised_limit *raised = &end.raised[i];
        const char *limit =
            headline_limit(raised->limit, raised->borrows, false, raised->gpus, arena);
        const bool is_same = i > 0 && raised->quota == end.raised[i - 1].quota;
        is_one = is_one && (i == 0 || is_same);
        if (!is_same)
            limit = arena_printf(arena, "raise %s to %s", raised->quota->name, limit);
        text = remedies_join(text, limit, true, "and", arena);
    }
    const struct quota *quota = end.raised[0].quota;
    json_t *change = is_one ? json_pack("{s:{s:s, s:o}}", "quota", "name", quota->name, "limits",
                                        limits_json(quota, &end))
                            : NULL;
    remedies_offer(search, "administrator", text, &end, change);
    return true;
}

static bool is_closed_to(const struct remedy_search *search, const struct node *node)
{
    const enum reason reason = fit_judge(node, search->failing);
    return cause_of_reason(reason, node, &search->shape->facts) == CAUSE_CLOSED;
}

/* Tolerates what closes the nodes, as if they were open. */
static bool reopen(struct remedy_search *search)
{
    struct shape_facts *facts = remedies_copy_facts(search);
    const struct node *node = NULL;
    struct trial_end end;
    const char *text = "";
    for (size_t at = 0; (node = remedies_next_near(search, CAUSE_CLOSED, &at));) {
        const struct node_traits *traits = node_traits(node);
        for (size_t i = 0; i < traits->n_taints; i++) {
            const struct taint *taint = &traits->taints[i];
            if (strncmp(taint->key, "node.kubernetes.io/", 19) == 0 &&
                taints_first_untolerated(taint, 1, facts->tolerations, facts->n_tolerations))
                remedies_tolerate(search, facts, taint->key, NULL);
        }
        if (traits->unschedulable && !text[0])
            remedies_tolerate(search, facts, "node.kubernetes.io/unschedulable", NULL);
        text = "?";
    }
    if (!text[0] || !remedies_try(search, facts, &end) || end.n_nodes > TRIAL_NODES)
        return false;
    text = "";
    for (size_t i = 0; i < end.n_nodes; i++) {
        if (is_closed_to(search, end.nodes[i]))
            text = remedies_join(text,
                                 arena_printf(search->arena,
                                              node_traits(end.nodes[i])->unschedulable
                                                  ? "uncordon %s"
                                                  : "make %s ready",
                                              node_name(end.nodes[i])),
                                 true, "and", search->arena);
    }
    remedies_offer(search, "administrator", text, &end, NULL);
    return true;
}

/* Whether quotas allow as many such pods there as all roles have. */
static bool quota_allows(const struct remedy_search *search, const struct trial_role *role,
                         const struct node *node)
{
    const struct quota_view *quota = role->question->quota;
    return !quota || quota_count(quota, node) >= trials_n_pods(&search->trials);
}

static bool names_hosts_in(const struct selector_term *term)
{
    for (size_t i = 0; i < term->n_requirements; i++) {
        const struct requirement *one = &term->requirements[i];
        if (one->op == SELECTOR_IN &&
            (one->is_field || strcmp(one->key, "kubernetes.io/hostname") == 0))
            return true;
    }
    return false;
}

/* Whether only nodes of certain names will do: a new one has another. */
static bool names_hosts(const struct fit_question *question)
{
    const struct shape_facts *facts = &question->shape->facts;
    for (size_t i = 0; facts->affinity.present && i < facts->affinity.n_terms; i++) {
        if (names_hosts_in(&facts->affinity.terms[i]))
            return true;
    }
    return names_hosts_in(&facts->node_selector) || remedies_has_node_name(question);
}

/* How many of them an added node takes, which has room for that many, and a name of its own. Other
 * rules about pods than anti-affinity on a node count only for a single pod. */
static int64_t room_beside_peers(const struct remedy_search *search,
                                 const struct fit_question *question, const struct node *like,
                                 int64_t room)
{
    const struct peer_facts *terms = question->peer ? question->peer->terms : NULL;
    if (!question->peers || room == 0)
        return room;
    if (terms && (terms->n_affinity > 0 || search->trials.n_roles > 1 ||
                  (terms->n_spread > 0 && trials_n_pods(&search->trials) > 1)))
        return 0;
    for (size_t i = 0; terms && i < terms->n_anti_affinity; i++) {
        if (strcmp(terms->anti_affinity[i].topology_key, "kubernetes.io/hostname") != 0)
            return 0;
    }
    struct peer_rules *rules = peer_rules_copy(question->peers, search->arena);
    (void)peer_rules_place(rules, like, 1);
    return peer_rules_judge(rules, like, &question->asker) == REASON_FITS ? room : 1;
}

/* How many nodes like this one the pods without a place need; 0: no number is enough. */
static int64_t nodes_needed(const struct remedy_search *search, const struct node *like)
{
    const struct need *freed = NULL;
    const struct room_question question = room_on(search, like);
    const size_t n_freed = room_of_empty(&question, &freed);
    int64_t n = 0;
    for (size_t i = 0; i < search->trials.n_roles; i++) {
        const struct trial_role *role = &search->trials.roles[i];
        struct fit_question empty = *role->question;
        const int64_t n_missing = role->n - role->n_placed;
        empty.freed = freed;
        empty.n_freed = n_freed;
        empty.quota = NULL;
        const int64_t room =
            n_missing > 0 ? room_beside_peers(search, &empty, like, fit_count(like, &empty)) : 1;
        if (room == 0 || !quota_allows(search, role, like) || role->per_node ||
            role->question->devices || names_hosts(role->question))
            return 0;
        n += (n_missing + room - 1) / room;
    }
    return n;
}

/* A closed node, or one that other pods rule out, says nothing of a new one like it. */
static bool is_better_new(const struct remedy_search *search, const struct node *node,
                          enum reason reason)
{
    const enum verdict_cause cause = cause_of_reason(reason, node, &search->shape->facts);
    return reason != REASON_FITS && (cause == CAUSE_CLOSED || cause == CAUSE_PODS) &&
           admit_model(node, search->shape) == REASON_FITS;
}

/* Whether the pods without a place say how many nodes they need. Roles that differ may be placed
 * otherwise where there are more nodes. */
static bool are_counted(const struct remedy_search *search)
{
    for (size_t i = 0; i < search->trials.n_roles; i++) {
        if (search->trials.roles[i].question->devices)
            return false;
    }
    return remedies_are_alike(search);
}

/* The most that is worth saying, and what /v1/what-if takes. */
#define NODES_ADDED_MAX 5000
#define MODEL_NODES_COMPARED ((size_t)8)

static void add_nodes(struct remedy_search *search)
{
    const struct candidates *candidates = search->question->candidates;
    const struct node *like = search->question->headline->node;
    int64_t n = like ? nodes_needed(search, like) : 0;
    size_t n_compared = 0;
    for (size_t i = 0; i < candidates->n; i++) {
        const struct node *node = candidates->items[i].node;
        const enum reason reason = fit_judge(node, search->failing);
        if (n_compared == MODEL_NODES_COMPARED || is_better_new(search, node, reason)) {
            search->is_partial = true;
            continue;
        }
        if (reason != REASON_FITS && (reason < REASON_GPU_FREE || reason > REASON_RESOURCE))
            continue;
        const int64_t more = nodes_needed(search, node);
        n_compared++;
        if (more > 0 && (n == 0 || more < n)) {
            n = more;
            like = node;
        }
    }
    search->is_partial |= n == 0 && search->failing->peers;
    if (n == 0 || n > NODES_ADDED_MAX)
        return;
    const struct trial_end end = {.nodes = {like}, .n_pods = trials_n_pods(&search->trials)};
    remedies_offer(
        search, "administrator",
        arena_printf(search->arena, "%" PRId64 " more node%s like %s", n, n == 1 ? "" : "s",
                     node_name(like)),
        &end,
        json_pack("{s:{s:s, s:I}}", "addNodes", "like", node_name(like), "count", (json_int_t)n));
}

void remedies_administer(struct remedy_search *search)
{
    if (raise_quota(search) || reopen(search) ||
        search->trials.wish.rule == DOMAIN_REQUIRE) /* how many depends on their domains */
        return;
    if (are_counted(search))
        add_nodes(search);
    else
        search->is_partial = true;
}
