/* evict: see include/decide/preempt.h. */
#include "base/mem.h"
#include "decide/claim_rules.h"
#include "decide/peer_rules.h"
#include "decide/preempt.h"
#include "decide/quota.h"

#include <stdlib.h>
#include <string.h>

/* Comparisons of peer_rules_weigh(), and verdicts of rules, in a search, which runs under the lock
 * of the ledger: some hundredths of a second. */
#define COMPARISONS_MAX ((int64_t)3000000)

/* Added to util.GetPodPriority() it is never negative, so more victims mean a larger sum. */
#define PRIORITY_OFFSET ((int64_t)INT32_MAX + 1)

/* State of one search; the pod buffer is reused for each node. */
struct search {
    const struct fit_question *question;
    const struct pod **pods; /* pods of lower priority on the current node */
    size_t n_pods, n_room;
    int64_t *spare; /* by need: free with the pod placed and all of those pods gone */
    size_t n_rules;
    int64_t *change; /* by rule of question->peers: what these pods took with them */
    int64_t *weight; /* by rule: of one pod */
    int64_t comparisons_left;
    bool takes_back; /* quota_takes_back() */
};

/* A node's victims, with the keys that compare nodes. */
struct choice {
    const struct node *node;
    const struct pod **victims;
    size_t n_victims;
    bool all_borrow; /* preempt_all_borrow(), and quota_takes_back() */
    int64_t sum;
    int64_t began_s; /* earliest start of those with the highest priority */
};

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* Like GetPodStartTime() in kube-scheduler: a pod that no kubelet has started yet starts now. */
static int64_t start_of(const struct pod *pod)
{
    return pod->started_s != 0 ? pod->started_s : INT64_MAX;
}

/* Negative: a is more important, as in MoreImportantPod() of kube-scheduler. */
static int compare_pods(const void *a, const void *b)
{
    const struct pod *left = *(const struct pod *const *)a;
    const struct pod *right = *(const struct pod *const *)b;
    if (left->priority != right->priority)
        return COMPARE(right->priority, left->priority);
    if (start_of(left) != start_of(right))
        return COMPARE(start_of(left), start_of(right));
    return strcmp(left->uid, right->uid);
}

static void collect_lower(struct search *search, const struct node *node)
{
    search->n_pods = 0;
    for (const struct pod *pod = node_next_pod(node, NULL); pod; pod = node_next_pod(node, pod)) {
        if (pod->priority >= search->question->asker.priority)
            continue;
        if (search->n_pods == search->n_room) {
            search->n_room = search->n_room > 0 ? 2 * search->n_room : 64;
            search->pods = mem_grow(search->pods, search->n_room, sizeof(const struct pod *));
        }
        search->pods[search->n_pods++] = pod;
    }
}

/* Saturates at INT64_MAX and INT64_MIN. */
static int64_t plus(int64_t a, int64_t b)
{
    int64_t sum = 0;
    if (__builtin_add_overflow(a, b, &sum))
        return b > 0 ? INT64_MAX : INT64_MIN;
    return sum;
}

/* If so, evicting pods frees none of the resource, whatever they requested. */
static bool is_nowhere(const struct node *room, const struct need *need)
{
    return need->amount > 0 && !node_find_resource(room, need->resource) &&
           !node_gives_by_claim(room, need->resource);
}

/* Adds what the pod counts for, n times. */
static void change_rules(struct search *search, const struct node *room, const struct pod *pod,
                         int64_t n)
{
    const struct peer peer = {room,       pod->namespace_,  pod->labels,
                              pod->terms, pod->terminating, false};
    if (search->n_rules == 0)
        return;
    search->comparisons_left -= (int64_t)search->n_rules;
    peer_rules_weigh(search->question->peers, &peer, &search->comparisons_left, search->weight);
    for (size_t i = 0; i < search->n_rules; i++)
        search->change[i] += n * search->weight[i];
}

static bool rules_allow(struct search *search, const struct node *room)
{
    search->comparisons_left -= (int64_t)search->n_rules;
    return peer_rules_judge_changed(search->question->peers, room, &search->question->asker,
                                    search->change) == REASON_FITS;
}

/* Whether the pod may be on the node with all pods of lower priority gone. */
static bool is_allowed_without(struct search *search, const struct node *room)
{
    for (size_t i = 0; i < search->n_rules; i++)
        search->change[i] = 0;
    for (size_t i = 0; i < search->n_pods; i++)
        change_rules(search, room, search->pods[i], -1);
    return rules_allow(search, room);
}

/* Whether the pod fits with all pods of lower priority gone. */
static bool fits_without(struct search *search, const struct node *room)
{
    const struct pod_shape *shape = search->question->shape;
    for (size_t i = 0; i < shape->n_needs; i++) {
        const struct need *need = &shape->needs[i];
        if (is_nowhere(room, need))
            return false;
        int64_t spare = plus(fit_left(room, search->question, need->resource), -need->amount);
        for (size_t j = 0; j < search->n_pods; j++)
            spare = plus(spare, shape_need(search->pods[j]->shape, need->resource));
        if (spare < 0)
            return false;
        search->spare[i] = spare;
    }
    return is_allowed_without(search, room);
}

/* Keeps the pod if the new one still fits beside it. Returns whether it does. */
static bool put_back(struct search *search, const struct node *room, const struct pod *pod)
{
    const struct pod_shape *shape = search->question->shape;
    for (size_t i = 0; i < shape->n_needs; i++) {
        if (shape_need(pod->shape, shape->needs[i].resource) > search->spare[i])
            return false;
    }
    change_rules(search, room, pod, 1);
    if (!rules_allow(search, room)) {
        change_rules(search, room, pod, -1);
        return false;
    }
    for (size_t i = 0; i < shape->n_needs; i++)
        search->spare[i] -= shape_need(pod->shape, shape->needs[i].resource);
    return true;
}

/* Moves the pods that cannot be kept to the front. Returns how many. */
static size_t choose_victims(struct search *search, const struct node *room)
{
    size_t n = 0;
    qsort(search->pods, search->n_pods, sizeof(const struct pod *), compare_pods);
    for (size_t i = 0; i < search->n_pods; i++) {
        if (!put_back(search, room, search->pods[i]))
            search->pods[n++] = search->pods[i];
    }
    return n;
}

/* preempt leaves the other nodes out. */
static bool all_borrow(const struct search *search, const struct cluster *ledger,
                       const struct node *node, size_t n)
{
    bool all = search->takes_back;
    for (size_t i = 0; all && i < n; i++)
        all = preempt_all_borrow(ledger, node, &search->pods[i]->uid, 1);
    return all;
}

static struct choice choice_of(const struct search *search, const struct node *room, size_t n)
{
    struct choice choice = {.node = room, .victims = search->pods, .n_victims = n};
    choice.began_s = start_of(search->pods[0]); /* the earliest is first among equal priorities */
    for (size_t i = 0; i < n; i++)
        choice.sum = plus(choice.sum, plus(search->pods[i]->priority, PRIORITY_OFFSET));
    return choice;
}

static bool is_better(const struct choice *a, const struct choice *b)
{
    const int64_t highest_a = a->victims[0]->priority;
    const int64_t highest_b = b->victims[0]->priority;
    if (a->all_borrow != b->all_borrow)
        return a->all_borrow;
    if (highest_a != highest_b)
        return highest_a < highest_b;
    if (a->sum != b->sum)
        return a->sum < b->sum;
    if (a->n_victims != b->n_victims)
        return a->n_victims < b->n_victims;
    if (a->began_s != b->began_s)
        return a->began_s > b->began_s;
    return strcmp(node_name(a->node), node_name(b->node)) < 0;
}

/* Whether only room is missing, quota, which the victims' namespaces may share, or other pods are
 * in the way. kube-scheduler evicts nobody for affinity to pods, nor for claims. */
static bool may_help(const struct node *node, const struct fit_question *question)
{
    const enum reason reason = fit_judge(node, question);
    return reason == REASON_QUOTA || (reason >= REASON_GPU_FREE && reason != REASON_POD_AFFINITY &&
                                      !reason_is_of_claims(reason));
}

/* kube-scheduler knows no quotas: it chooses victims without them and asks afterwards. */
static bool quota_allows(const struct search *search, const struct cluster *ledger,
                         const struct node *room, size_t n_victims)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct quota_view *left = quota_copy(search->question->quota, arena);
    for (size_t i = 0; i < n_victims; i++)
        quota_give_back(left, ledger, room, search->pods[i]->namespace_,
                        (struct quota_pod){search->pods[i]->shape, search->pods[i]->priority});
    return quota_judge(left, room) == REASON_FITS;
}

static void keep(struct choice *best, const struct choice *choice)
{
    const size_t bytes = choice->n_victims * sizeof(const struct pod *);
    const struct pod **victims =
        mem_grow(best->victims, choice->n_victims, sizeof(const struct pod *));
    memcpy(victims, choice->victims, bytes);
    *best = *choice;
    best->victims = victims;
}

static void look_at(struct search *search, const struct cluster *ledger, const struct node *room,
                    struct choice *best)
{
    const struct node *node = cluster_find_node(ledger, node_name(room));
    if (!node || search->comparisons_left <= 0 || !may_help(room, search->question))
        return;
    if (claim_rules_judge(search->question->devices, room) != REASON_FITS)
        return;
    collect_lower(search, node);
    if (search->n_pods == 0 || !fits_without(search, room))
        return;
    const size_t n = choose_victims(search, room);
    if (n == 0 || search->comparisons_left <= 0 || !quota_allows(search, ledger, room, n))
        return;
    struct choice choice = choice_of(search, room, n);
    choice.all_borrow = all_borrow(search, ledger, node, n);
    if (!best->node || is_better(&choice, best))
        keep(best, &choice);
}

struct eviction evict_for(const struct cluster *ledger, const struct cluster *room,
                          const struct fit_question *question, struct arena *arena)
{
    struct search search = {.question = question,
                            .comparisons_left = COMPARISONS_MAX,
                            .takes_back = quota_takes_back(question->quota)};
    struct choice best = {0};
    search.spare = MEM_ARRAY(int64_t, question->shape->n_needs);
    search.n_rules = peer_rules_n(question->peers);
    search.change = MEM_ARRAY(int64_t, search.n_rules);
    search.weight = MEM_ARRAY(int64_t, search.n_rules);
    for (const struct node *node = cluster_next_node(room, NULL); node;
         node = cluster_next_node(room, node))
        look_at(&search, ledger, node, &best);
    const bool is_cut = search.comparisons_left <= 0;
    const size_t n = is_cut ? 0 : best.n_victims;
    const struct eviction eviction = {
        is_cut ? NULL : best.node, arena_copy(arena, best.victims, n, sizeof(const struct pod *)),
        n, is_cut};
    free(best.victims);
    free(search.pods);
    free(search.spare);
    free(search.change);
    free(search.weight);
    return eviction;
}
