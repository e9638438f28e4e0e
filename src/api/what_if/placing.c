/* placing: see placing.h. */
#include "api/what_if/placing.h"
#include "api/pods/group_text.h"
#include "api/verdicts/headline.h"
#include "api/verdicts/remedies.h"
#include "decide/what_if.h"

#include <stdlib.h>
#include <string.h>

/* Verdicts of one search for places: a second or so. Pods beyond are not judged. */
#define MAX_VERDICTS ((size_t)2000000)
/* Nodes that are weighed again in the time of a verdict. */
#define WEIGHED_OF_A_VERDICT 16

#define TOO_MANY "was not judged, because too many different pods wait"

/* A kind of pods that fits nowhere any more, as room only shrinks. */
struct pod_kind {
    const struct shared_shape *shape;
    const struct shared_peers *peers;
};

/* Why pods have no place. */
struct nowhere {
    const char *reason;
    enum verdict_cause cause;
};

struct failed_kind {
    struct pod_kind kind;
    int64_t priority; /* and below */
    struct nowhere failure;
    UT_hash_handle hh;
};

/* The search for places of a group. */
struct gang_try {
    bool is_tried, is_chosen, is_judged;
    const char *why_not;
    struct gang_plan plan;
};

struct place_search {
    struct placing *placing;
    const struct pod_copies *copies;
    struct gang_try *gangs; /* in the order of the copies' */
    struct cluster *fork;
    struct arena *arena;
    struct claim_lookup *claims;
    struct candidates candidates;
    struct candidates *in_turn;    /* of placing_in_turn(), else NULL */
    struct pod_remedies *remedies; /* the same; NULL: none are searched */
    struct models_here models;
    struct failed_kind *failed;
    size_t n_left;         /* verdicts */
    const char *only_node; /* NULL: any */
};

/* ---- the order ---- */

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

static int compare(const void *a, const void *b)
{
    const struct placed_pod *left = a;
    const struct placed_pod *right = b;
    const struct pod *one = &left->copy->pod;
    const struct pod *other = &right->copy->pod;
    if (one->priority != other->priority)
        return COMPARE(other->priority, one->priority);
    if (!left->displaced != !right->displaced)
        return left->displaced ? 1 : -1;
    if (one->created_s != other->created_s)
        return COMPARE(one->created_s, other->created_s);
    const int order = strcmp(one->namespace_, other->namespace_);
    return order != 0 ? order : strcmp(one->name, other->name);
}

static bool is_alike(const struct placed_pod *a, const struct placed_pod *b)
{
    return a->copy->shape == b->copy->shape && a->copy->peers == b->copy->peers &&
           a->copy->pod.priority == b->copy->pod.priority &&
           strcmp(a->copy->replica_of, b->copy->replica_of) == 0;
}

/* Its nomination or claims are its own. */
static bool is_alone(const struct placed_pod *item)
{
    return item->copy->pod.nominated_node[0] || item->copy->pod.claims;
}

/* ---- one kind of pods ---- */

/* Why a pod is not even tried; NULL: it is. */
static const char *untried_because(const struct pod_copy *copy, bool *ret_is_judged)
{
    *ret_is_judged = true;
    if (copy->pod.refusal)
        return copy->pod.refusal;
    if (copy->pod.terminating)
        return "is being deleted";
    if (copy->pod.gated)
        return "waits until its scheduling gates are removed";
    if (copy->reserved_node)
        return "is being bound";
    *ret_is_judged = !copy->shape->facts.over && !copy->is_not_asked;
    return *ret_is_judged ? NULL : "was not judged: more of it than the policy's limits allow";
}

/* Of so many searches for places, and of n pods on them. */
static size_t price_of(const struct place_search *search, const struct pod_copy *copy,
                       size_t n_searches, size_t n)
{
    const size_t n_visited = cluster_n_nodes(search->fork);
    const size_t n_nodes = search->only_node ? 1 : 1 + n_visited;
    size_t n_peers = 0;
    (void)cluster_peers(search->fork, copy->peers->pod.terms ? PEERS_ALL : PEERS_REPELLING,
                        &n_peers);
    return 2 * n_searches * pod_price(&copy->shape->facts) * n_nodes +
           n_visited / WEIGHED_OF_A_VERDICT + n_peers / PEERS_OF_A_VERDICT +
           n * (1 + n_nodes / WEIGHED_OF_A_VERDICT);
}

static bool pay(struct place_search *search, const struct pod_copy *copy, size_t n_searches,
                size_t n)
{
    const size_t price = price_of(search, copy, n_searches, n);
    const bool is_affordable = price <= search->n_left;
    search->n_left -= is_affordable ? price : 0;
    return is_affordable;
}

static struct pod_query query_of(const struct place_search *search, const struct pod_copy *copy,
                                 struct arena *arena)
{
    const struct pod_report report = {
        .fork = search->fork, .arena = arena, .claims = search->claims};
    copy->peers->has_rules = false; /* the fork has changed since */
    struct pod_query query = pod_json_query(&report, copy);
    query.question.replica_of = copy->replica_of;
    query.question.node_name = search->only_node;
    return query;
}

static const char *count_reasons(struct place_search *search, const struct pod_query *query)
{
    if (!search->candidates.items) {
        search->candidates = candidates_of(search->fork, &search->models, search->arena);
        /* Not in the query's arena: they are for later queries, too. */
        models_here_find(&search->models, &search->candidates, search->arena);
    }
    if (search->candidates.n == 0)
        return "there are no nodes";
    return arena_strdup(search->arena, verdicts_counts(&search->candidates, query));
}

/* What pods that come first can take; everything else kept the pod off before them, too. */
static bool is_taken(enum reason reason, const struct node *node, const struct shape_facts *facts)
{
    const enum verdict_cause cause = cause_of_reason(reason, node, facts);
    return (cause >= CAUSE_QUOTA && cause <= CAUSE_RESOURCES) || cause == CAUSE_PODS ||
           cause == CAUSE_CLAIMS;
}

/* The verdict costs as much as some places. */
#define PLACES_OF_A_VERDICT ((size_t)4)

/* The one of alike pods whose failure is told, if one's is. */
static const struct pod_copy *told_of(const struct placed_pod *items, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (items[i].copy->alone == ALONE_FITS)
            return items[i].copy;
    }
    return items->copy;
}

/* Pods in turn: alike ones that come together, of which the last find no place. */
struct rest {
    struct placed_pod *items;
    size_t n, n_placed;
};

/* Bare pods are alike, but each is a workload of its own. */
static bool are_of_one(const struct placed_pod *a, const struct placed_pod *b)
{
    const struct pod *one = &a->copy->pod;
    const struct pod *other = &b->copy->pod;
    if (!one->controller || !other->controller)
        return one->controller == other->controller;
    return strcmp(one->controller, other->controller) == 0 &&
           strcmp(one->namespace_, other->namespace_) == 0;
}

/* The pods of the item's workload among those from first to end. */
static size_t count_own(const struct rest *rest, const struct placed_pod *item, size_t first,
                        size_t end)
{
    size_t n = 0;
    for (size_t i = first; i < end; i++)
        n += item->copy->pod.controller ? are_of_one(&rest->items[i], item)
                                        : &rest->items[i] == item;
    return n;
}

/* The last of those before the end that were placed on the node. */
static size_t find_first(const struct place_search *search, const struct placed_pod *end,
                         const struct node *node, const struct pod_copy **ret_first)
{
    size_t n = 0;
    while (node && n < REMEDIES_FIRST_MAX && end > search->placing->items) {
        end--;
        if (end->node && strcmp(end->node, node_name(node)) == 0)
            ret_first[n++] = end->copy;
    }
    return n;
}

/* The pods before the end that were tried, and have none. */
static const struct pod_copy *const *without_place(const struct place_search *search,
                                                   const struct placed_pod *end, size_t *ret_n)
{
    const struct pod_copy **found =
        ARENA_ARRAY(search->arena, const struct pod_copy *, POD_BEFORE_MAX + 1);
    size_t n = 0;
    for (const struct placed_pod *item = search->placing->items; item < end && n <= POD_BEFORE_MAX;
         item++) {
        if (!item->node && item->is_tried)
            found[n++] = item->copy;
    }
    *ret_n = n;
    return found;
}

/* Takes them back: with the change they would be other pods, too. */
static void vacate(const struct place_search *search, const struct rest *rest, size_t n,
                   const struct pod_shape *shape)
{
    for (size_t i = 0; i < n; i++)
        cluster_vacate(search->fork, cluster_find_node(search->fork, rest->items[i].node),
                       shape->needs, shape->n_needs);
}

/* Remedies for the workload of an item without a place, with the pods before in theirs. NULL: they
 * are not searched, as some of its pods have places among those of others. */
static const json_t *help_of(struct place_search *search, const struct rest *rest,
                             const struct placed_pod *item, const struct pod_query *query,
                             const struct headline *headline)
{
    const struct pod_report report = {
        .fork = search->fork, .arena = query->arena, .claims = search->claims};
    const struct pod_copy *first[REMEDIES_FIRST_MAX];
    const size_t n_placed = count_own(rest, item, 0, rest->n_placed);
    const size_t n = n_placed + count_own(rest, item, rest->n_placed, rest->n);
    struct pod_copy copy = *item->copy;
    if ((n_placed > 0 && (copy.pod.claims || n < rest->n)) ||
        !pay(search, &copy, PLACES_OF_A_VERDICT, 0))
        return NULL;
    json_t *help = json_object();
    copy.headline = headline;
    search->remedies->first = first;
    search->remedies->n_first =
        find_first(search, &rest->items[n_placed > 0 ? 0 : rest->n_placed], headline->node, first);
    search->remedies->n_placed = (int64_t)n_placed;
    search->remedies->before = without_place(search, rest->items, &search->remedies->n_before);
    cluster_fork_mark(search->fork);
    vacate(search, rest, n_placed, query->question.shape);
    pod_json_add_remedies(&report, search->remedies, &copy, (int64_t)n, help);
    cluster_fork_rewind(search->fork);
    cluster_fork_keep(search->fork);
    (void)json_array_append_new(search->placing->helps, help);
    return help;
}

/* Without what makes room: alike pods that wait before these would take it. */
static const json_t *own_changes(const struct place_search *search, const json_t *help)
{
    json_t *own = json_array();
    const json_t *all = json_object_get(help, "remedies");
    size_t i = 0;
    json_t *remedy = NULL;
    json_array_foreach (all, i, remedy) {
        const char *kind = json_string_value(json_object_get(remedy, "kind"));
        if (strcmp(kind, "wait") != 0 && strcmp(kind, "administrator") != 0)
            (void)json_array_append(own, remedy);
    }
    json_t *changed = json_pack("{s:o, s:s}", "remedies", own, "remediesTried", "some");
    (void)json_array_append_new(search->placing->helps, changed);
    return changed;
}

/* Workloads of alike pods for which remedies are searched; bare pods are one. */
#define HELPED_MAX ((size_t)8)

static void help_each(struct place_search *search, const struct rest *rest,
                      const struct pod_query *query, const struct headline *headline)
{
    const struct placed_pod *helped[HELPED_MAX];
    const json_t *helps[HELPED_MAX]; /* for the further pods of these workloads */
    size_t n = 0;
    for (size_t i = rest->n_placed; search->remedies && i < rest->n; i++) {
        struct placed_pod *item = &rest->items[i];
        size_t at = 0;
        while (at < n && !are_of_one(helped[at], item))
            at++;
        if (item->copy->alone != ALONE_FITS || at == HELPED_MAX)
            continue;
        if (at < n) {
            item->help = helps[at];
            continue;
        }
        const bool is_first = i == rest->n_placed;
        const bool is_bare = !item->copy->pod.controller;
        const json_t *help = help_of(search, rest, item, query, headline);
        const json_t *own = help && !(is_first && !is_bare) ? own_changes(search, help) : help;
        item->help = is_first ? help : own;
        helps[n] = own;
        helped[n++] = item;
    }
}

/* Pods that fit by themselves: what those before them took of the nodes. */
static struct nowhere tell(struct place_search *search, const struct rest *rest,
                           const struct pod_query *query)
{
    const struct fit_question *question = &query->question;
    const struct pod_copy *copy = told_of(rest->items, rest->n);
    if (copy->alone != ALONE_FITS || !pay(search, copy, PLACES_OF_A_VERDICT, 0))
        return (struct nowhere){.cause = CAUSE_NONE};
    candidates_judge_claims(search->in_turn, question);
    struct candidates taken = *search->in_turn;
    taken.items = ARENA_ARRAY(query->arena, struct node_verdict, taken.n);
    taken.n = 0;
    for (size_t i = 0; i < search->in_turn->n; i++) {
        const struct node_verdict *item = &search->in_turn->items[i];
        if (is_taken(item->verdict, item->node, &question->shape->facts))
            taken.items[taken.n++] = *item;
    }
    if (taken.n == 0)
        return (struct nowhere){.cause = CAUSE_NONE};
    const struct headline headline =
        headline_of_judged(&(struct headline_question){query, &taken, true});
    help_each(search, rest, query, &headline);
    return (struct nowhere){arena_strdup(search->arena, headline.text), headline.cause};
}

static struct nowhere why_nowhere(struct place_search *search, const struct rest *rest,
                                  const struct pod_query *query)
{
    if (search->in_turn)
        return tell(search, rest, query);
    return (struct nowhere){.reason = search->only_node ? "" : count_reasons(search, query)};
}

/* Room only shrinks, so pods that do not fit by themselves do not later, unless beside others. */
static bool never_fits(const struct pod_copy *copy)
{
    return copy->alone == ALONE_DOES_NOT_FIT && !copy->peers->pod.terms && !copy->pod.claims;
}

/* A failure that need not be told again. */
static const struct failed_kind *find_failed(const struct place_search *search,
                                             const struct placed_pod *item, size_t n)
{
    const struct pod_kind kind = {item->copy->shape, item->copy->peers};
    struct failed_kind *failed = NULL;
    if (is_alone(item))
        return NULL;
    HASH_FIND(hh, search->failed, &kind, sizeof kind, failed);
    const bool is_told =
        failed && (told_of(item, n)->alone != ALONE_FITS || failed->failure.cause != CAUSE_NONE);
    return is_told && item->copy->pod.priority <= failed->priority ? failed : NULL;
}

static void remember_failed(struct place_search *search, const struct placed_pod *item,
                            const struct nowhere *failure)
{
    struct failed_kind *failed = ARENA_NEW(search->arena, struct failed_kind);
    failed->kind = (struct pod_kind){item->copy->shape, item->copy->peers};
    failed->priority = item->copy->pod.priority;
    failed->failure = *failure;
    HASH_ADD(hh, search->failed, kind, sizeof failed->kind, failed);
}

static bool is_nominated(const struct place_search *search, const struct placed_pod *item)
{
    return !search->only_node && item->copy->pod.nominated_node[0];
}

/* The room on its node is kept for it already. Without it, kube-scheduler tries every node. */
static size_t judge_nominated(struct placed_pod *item, const struct place_search *search,
                              const struct pod_query *query)
{
    const struct node *node = cluster_find_node(search->fork, item->copy->pod.nominated_node);
    if (!node || fit_judge(node, &query->question) != REASON_FITS)
        return 0;
    item->node = node_name(node);
    return 1;
}

static size_t place(const struct place_search *search, const struct pod_query *query,
                    struct placed_pod *items, size_t n)
{
    const struct node **nodes = ARENA_ARRAY(query->arena, const struct node *, n);
    const size_t n_placed = what_if_place(search->fork, &query->question, n, nodes);
    for (size_t i = 0; i < n_placed; i++)
        items[i].node = arena_strdup(search->arena, node_name(nodes[i]));
    return n_placed;
}

/* How many of the alike pods find a place, and why the others do not. */
static size_t search_places(struct place_search *search, struct placed_pod *items, size_t n,
                            struct nowhere *ret_failure)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct pod_query query = query_of(search, items->copy, arena);
    size_t n_placed = is_nominated(search, items) ? judge_nominated(items, search, &query) : 0;
    if (n_placed == 0)
        n_placed = place(search, &query, items, n);
    if (n_placed < n) {
        *ret_failure = why_nowhere(search, &(struct rest){items, n, n_placed}, &query);
        if (!is_alone(items) && !query.question.peers)
            remember_failed(search, items, ret_failure);
    }
    items->copy->peers->has_rules = false; /* they are of this fork, and of now */
    return n_placed;
}

/* Alike pods. */
static void place_kind(struct place_search *search, struct placed_pod *items, size_t n)
{
    const struct failed_kind *failed = find_failed(search, items, n);
    struct nowhere failure = failed ? failed->failure : (struct nowhere){.cause = CAUSE_NONE};
    size_t n_placed = 0;
    if (!failed && !never_fits(items->copy)) {
        if (!pay(search, items->copy, 1, n)) {
            for (size_t i = 0; i < n; i++)
                items[i].reason = TOO_MANY;
            search->placing->n_not_judged += n;
            return;
        }
        n_placed = search_places(search, items, n, &failure);
    }
    search->placing->n_placed += n_placed;
    for (size_t i = 0; i < n; i++) {
        items[i].is_judged = items[i].is_tried = true;
        items[i].reason = i < n_placed ? NULL : failure.reason;
        items[i].cause = i < n_placed ? CAUSE_NONE : failure.cause;
    }
}

/* ---- a group ---- */

static bool avoids_none(const void *context, const char *node)
{
    (void)context;
    (void)node;
    return false;
}

/* In the words of GET /v1/groups. */
static const char *why_not(const struct waiting_gang *gang, const struct gang_plan *plan,
                           const char *why, struct arena *arena)
{
    const struct waiting_group row = {.lacks = plan->lacks ? plan->lacks : "",
                                      .n_fit = plan->n_fit,
                                      .nodes = "",
                                      .missed = "",
                                      .size = gang->gang.size,
                                      .n_bound = gang->gang.n_bound,
                                      .n_unbound = gang->gang.n_unbound,
                                      .why = why,
                                      .text = "there is not enough room for all of its pods"};
    return arena_printf(arena, "its group %s: %s", strchr(gang->key, '/') + 1,
                        group_text(&row, 0, arena));
}

/* On the fork. */
static enum gang_choice choose(struct place_search *search, struct gang_plan *plan)
{
    cluster_fork_mark(search->fork);
    enum gang_choice choice =
        gang_plan_choose(search->fork, plan, avoids_none, NULL, search->arena);
    while (choice != GANG_CHOSEN && plan->has_more) { /* in another domain */
        cluster_fork_rewind(search->fork);
        choice = gang_plan_choose(search->fork, plan, avoids_none, NULL, search->arena);
    }
    if (choice != GANG_CHOSEN)
        cluster_fork_rewind(search->fork);
    cluster_fork_keep(search->fork);
    return choice;
}

static void try_gang(struct place_search *search, const struct placed_pod *item,
                     struct gang_try *try)
{
    const struct waiting_gang *gang = item->gang;
    struct gang_plan *plan = &try->plan;
    *try = (struct gang_try){.is_tried = true, .is_judged = true, .plan = gang->plan};
    plan->members = ARENA_ARRAY(search->arena, struct gang_member, plan->n + 1);
    memcpy(plan->members, gang->plan.members, plan->n * sizeof *plan->members);
    if (gang_state_of(&gang->gang) == GANG_FORMING) {
        try->why_not = why_not(gang, plan, "forming", search->arena);
        return;
    }
    if (!pay(search, item->copy, GANG_TRIES_MAX, plan->n)) {
        try->is_judged = false;
        try->why_not = TOO_MANY;
        return;
    }
    const enum gang_choice choice = choose(search, plan);
    try->is_chosen = choice == GANG_CHOSEN;
    try->why_not = why_not(gang, plan, choice == GANG_NEVER_FITS ? "never" : "room", search->arena);
}

/* NULL: it is beyond the group's size. */
static const struct gang_member *find_member(const struct gang_plan *plan, const char *uid)
{
    for (size_t i = 0; i < plan->n; i++) {
        if (strcmp(plan->members[i].uid, uid) == 0)
            return &plan->members[i];
    }
    return NULL;
}

/* False: the pod is placed by itself. */
static bool place_member(struct place_search *search, struct placed_pod *item)
{
    if (!item->gang || search->in_turn)
        return item->gang != NULL;
    struct gang_try *try = &search->gangs[item->gang - search->copies->gangs];
    if (!try->is_tried)
        try_gang(search, item, try);
    const struct gang_member *member = find_member(&try->plan, item->copy->pod.uid);
    if (try->is_chosen && !member)
        return false;
    item->is_judged = item->is_tried = try->is_judged;
    search->placing->n_not_judged += !try->is_judged;
    search->placing->n_placed += try->is_chosen;
    item->node = try->is_chosen ? member->node : NULL;
    item->reason = try->is_chosen ? NULL : try->why_not;
    item->cause = try->is_chosen ? CAUSE_NONE : CAUSE_GROUP;
    return true;
}

static size_t count_alike(const struct placed_pod *items, size_t n)
{
    size_t n_alike = 1;
    bool is_judged = false;
    while (n_alike < n && !items->gang && !items[n_alike].gang && !is_alone(items) &&
           !is_alone(&items[n_alike]) && is_alike(items, &items[n_alike]) &&
           !untried_because(items[n_alike].copy, &is_judged))
        n_alike++;
    return n_alike;
}

static void place_all(struct place_search *search)
{
    struct placing *placing = search->placing;
    search->gangs = ARENA_ARRAY(search->arena, struct gang_try, search->copies->n_gangs);
    for (size_t i = 0; i < placing->n;) {
        struct placed_pod *item = &placing->items[i];
        item->reason = untried_because(item->copy, &item->is_judged);
        placing->n_not_judged += !item->is_judged;
        const size_t n = item->reason ? 1 : count_alike(item, placing->n - i);
        if (!item->reason && !place_member(search, item))
            place_kind(search, item, n);
        i += n;
    }
}

/* ---- all ---- */

static const struct displaced *find_displaced(const struct displaced *table, const char *uid)
{
    const struct displaced *found = NULL;
    HASH_FIND_STR(table, uid, found);
    return found;
}

static bool is_chosen(void *context, const struct pod *pod)
{
    return pod_copy_is_pending(pod) || find_displaced(context, pod->uid);
}

static void queue(struct placing *placing, const struct pod_copies *copies,
                  const struct displaced *displaced, struct arena *arena)
{
    placing->items = ARENA_ARRAY(arena, struct placed_pod, copies->n);
    placing->n = copies->n;
    for (size_t i = 0; i < copies->n; i++)
        placing->items[i] =
            (struct placed_pod){.copy = &copies->items[i],
                                .displaced = find_displaced(displaced, copies->items[i].pod.uid),
                                .gang = pod_copy_gang(copies, &copies->items[i].pod, arena)};
    if (placing->n > 1)
        qsort(placing->items, placing->n, sizeof *placing->items, compare);
}

struct placing placing_of(struct inventory *copy, const struct displaced *displaced,
                          enum peers_wanted wanted, struct arena *arena, struct cluster **ret_fork)
{
    struct placing placing = {
        .copies = pod_copy_waiting(copy, is_chosen, (void *)(uintptr_t)displaced, arena)};
    const struct policy *policy CLEANUP(policy_drop_ptr) = inventory_hold_policy(copy);
    const enum peers_wanted own = pod_copy_peers_wanted(&placing.copies);
    struct place_search search = {.placing = &placing,
                                  .copies = &placing.copies,
                                  .fork = inventory_fork(copy, own > wanted ? own : wanted),
                                  .arena = arena,
                                  .claims = pod_json_claims(copy, policy, &placing.copies, arena),
                                  .models = MODELS_HERE_START,
                                  .n_left = MAX_VERDICTS};
    queue(&placing, &placing.copies, displaced, arena);
    place_all(&search);
    claim_lookup_free(search.claims);
    HASH_CLEAR(hh, search.failed);
    *ret_fork = search.fork;
    return placing;
}

struct placing placing_in_turn(const struct turns_question *question, struct arena *arena)
{
    struct placing placing = {.helps = json_array()};
    struct place_search search = {.placing = &placing,
                                  .copies = question->copies,
                                  .fork = question->fork,
                                  .arena = arena,
                                  .claims = question->claims,
                                  .in_turn = question->candidates,
                                  .remedies = question->remedies,
                                  .n_left = question->n_verdicts};
    queue(&placing, question->copies, NULL, arena);
    place_all(&search);
    HASH_CLEAR(hh, search.failed);
    return placing;
}

/* ---- one more node ---- */

static bool is_left(const struct placed_pod *item)
{
    return item->is_tried && !item->node && !item->copy->pod.claims;
}

/* The price of a fork, in verdicts. */
static size_t price_of_fork(const struct cluster *ledger, enum peers_wanted wanted)
{
    return 2 * cluster_n_nodes(ledger) + (wanted == PEERS_ALL ? cluster_n_pods(ledger) : 0);
}

/* Copies of the pods that are left. */
static struct placing rest_of(const struct placing *before, struct arena *arena)
{
    struct placing rest = {.items = ARENA_ARRAY(arena, struct placed_pod, before->n)};
    for (size_t i = 0; i < before->n; i++) {
        if (is_left(&before->items[i]))
            rest.items[rest.n++] =
                (struct placed_pod){.copy = before->items[i].copy, .gang = before->items[i].gang};
    }
    return rest;
}

bool placing_count_on(const struct placing *before, const struct more_node_question *question,
                      size_t *n_left, size_t *ret_n, const char **ret_first)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct placing rest = rest_of(before, arena);
    const enum peers_wanted wanted = pod_copy_peers_wanted(&before->copies);
    const size_t price = price_of_fork(inventory_own_ledger(question->copy), wanted);
    *ret_n = 0;
    if (rest.n == 0)
        return true;
    if (price > *n_left)
        return false;
    struct place_search search = {
        .placing = &rest,
        .copies = &before->copies,
        .fork = inventory_fork(question->copy, wanted),
        .arena = arena,
        .claims = claim_lookup_new(&(struct claim_sources){.inventory = question->copy}, arena),
        .only_node = question->node,
        .n_left = *n_left - price,
    };
    size_t n_named = 0;
    place_all(&search);
    for (size_t i = 0; i < rest.n && n_named < question->n_first; i++) {
        if (rest.items[i].node)
            ret_first[n_named++] = rest.items[i].copy->pod.uid;
    }
    *ret_n = rest.n_placed;
    *n_left = search.n_left;
    claim_lookup_free(search.claims);
    HASH_CLEAR(hh, search.failed);
    inventory_fork_free(question->copy, search.fork);
    return rest.n_not_judged == 0;
}
