/* what_if: see include/decide/what_if.h. */
#include "decide/what_if.h"
#include "base/mem.h"
#include "decide/claim_rules.h"
#include "decide/peer_rules.h"
#include "decide/quota.h"
#include "decide/rank.h"
#include "ledger/admit.h"

#include <stdlib.h>

/* The nodes that still fit the pod, weighed, in no order; then the parked ones, which fit but for a
 * spread constraint. */
struct open_nodes {
    struct ranked_node *items;
    size_t n, n_parked;
    size_t n_refused; /* nodes that spread ruled out since the last placement */
};

/* From then on all such nodes are parked at once, as each costs a search for the best. */
#define REFUSED_MAX 8

/* More such pods elsewhere may allow the node again. */
static bool is_parked(const struct node *node, const struct fit_question *question)
{
    return peer_rules_may_allow_later(question->peers) &&
           fit_judge(node, question) == REASON_TOPOLOGY_SPREAD;
}

static bool is_within(const struct node *node, const struct fit_question *question)
{
    return !question->domains || question->domains[node_domain(node, question->level)];
}

static struct open_nodes find_open(const struct cluster *fork, const struct fit_question *question,
                                   const struct score *score)
{
    struct open_nodes open = {MEM_ARRAY(struct ranked_node, cluster_n_nodes(fork)), 0, 0, 0};
    for (const struct node *node = cluster_next_node(fork, NULL); node;
         node = cluster_next_node(fork, node)) {
        if (!is_within(node, question) ||
            (fit_judge(node, question) != REASON_FITS && !is_parked(node, question)))
            continue;
        open.items[open.n] = (struct ranked_node){.node = node};
        rank_weigh(score, &open.items[open.n++]);
    }
    return open;
}

static void swap(struct open_nodes *open, size_t i, size_t j)
{
    const struct ranked_node item = open->items[i];
    open->items[i] = open->items[j];
    open->items[j] = item;
}

static void park(struct open_nodes *open, size_t i)
{
    swap(open, i, --open->n);
    open->n_parked++;
}

/* Parks all nodes that topology spread rules out. */
static void park_all(struct open_nodes *open, const struct fit_question *question)
{
    for (size_t i = open->n; i > 0; i--) {
        const struct node *node = open->items[i - 1].node;
        if (peer_rules_judge(question->peers, node, &question->asker) != REASON_TOPOLOGY_SPREAD)
            continue;
        park(open, i - 1);
    }
}

/* Parks the node, or forgets it. */
static void close_node(struct open_nodes *open, size_t i, const struct fit_question *question)
{
    if (is_parked(open->items[i].node, question)) {
        if (open->n_refused++ < REFUSED_MAX)
            park(open, i);
        else
            park_all(open, question);
        return;
    }
    swap(open, i, --open->n);
    open->items[open->n] = open->items[open->n + open->n_parked];
}

static void unpark(struct open_nodes *open)
{
    open->n += open->n_parked;
    open->n_parked = 0;
}

/* kube-scheduler looks at all nodes again for the next pod. */
static void place_claims(const struct node *node, const struct fit_question *question)
{
    claim_rules_place(question->devices, node);
    if (fit_judge(node, question) == REASON_CLAIM_ERROR)
        claim_rules_abort(question->devices, node);
}

/* As peer_rules_place(). With claims, n is 1. */
static bool place(struct cluster *fork, const struct node *node,
                  const struct fit_question *question, int64_t n)
{
    const struct peer_pod *peer = question->peer;
    const struct claim_takes *takes =
        question->devices ? claim_rules_takes(question->devices, node) : NULL;
    cluster_place(fork, node, question->shape, n);
    for (size_t i = 0; takes && i < takes->n; i++)
        cluster_place_devices(fork, node, takes->items[i].resource, n * takes->items[i].gpus);
    quota_place(fork, question->quota, node, n);
    if (peer)
        cluster_add_peers(
            fork, &(struct peer){node, peer->namespace_, peer->labels, peer->terms, false, false},
            n);
    const bool rises = peer_rules_place(question->peers, node, n);
    if (question->devices)
        place_claims(node, question);
    return rises;
}

void what_if_put(struct cluster *fork, const struct fit_question *question, const struct node *node)
{
    (void)place(fork, node, question, 1);
}

static size_t best_of(const struct open_nodes *open)
{
    size_t best = 0;
    for (size_t i = 1; i < open->n; i++) {
        if (rank_compare(&open->items[i], &open->items[best]) < 0)
            best = i;
    }
    return best;
}

/* Only the node of the last placement changed. For the others only price and near replicas depend
 * on it. Quotas are judged again when a node's turn comes. Returns the best, in the same pass: the
 * nodes do not fit into a cache. */
static size_t weigh_again(struct score *score, struct open_nodes *open)
{
    size_t best = 0;
    score_reprice(score);
    for (size_t i = 0; i < open->n; i++) {
        struct ranked_node *item = &open->items[i];
        item->cost.price = score_price(score, item->node);
        item->cost.near = score_near_cost(score, &item->near);
        if (rank_compare(item, &open->items[best]) < 0)
            best = i;
    }
    return best;
}

/* The fork has no owners, so only `near` knows the placed replicas. */
static void weigh_placed(const struct score *score, struct ranked_node *placed)
{
    const struct replicas_near near = placed->near;
    placed->takes = NULL;
    rank_weigh(score, placed);
    placed->near = near;
}

size_t what_if_place(struct cluster *fork, const struct fit_question *question, size_t n,
                     const struct node **ret_nodes)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct score *score = score_begin(fork, question, arena);
    struct open_nodes open = find_open(fork, question, score);
    size_t n_placed = 0;
    size_t at = best_of(&open);
    while (n_placed < n && open.n > 0) {
        struct ranked_node *best = &open.items[at];
        if (fit_judge(best->node, question) != REASON_FITS) {
            close_node(&open, at, question);
            at = best_of(&open);
            continue;
        }
        ret_nodes[n_placed++] = best->node;
        const bool rises = place(fork, best->node, question, 1);
        score_place(score, &best->near);
        weigh_placed(score, best);
        open.n_refused = 0;
        if (rises)
            unpark(&open);
        at = weigh_again(score, &open);
    }
    for (size_t i = n_placed; i < n; i++)
        ret_nodes[i] = NULL;
    free(open.items);
    return n_placed;
}

/* ---- many at once ---- */

/* Rules judged while pods are placed one by one: some tenths of a second. */
#define RULES_JUDGED_MAX ((int64_t)5000000)

/* Pods that are placed one by one. */
struct filling {
    int64_t *room; /* what is left, whatever other pods and quotas allow; an item a node */
    int64_t n_rules_left;
    bool places; /* on the fork, too */
};

/* A pass over the nodes: one more pod on each that allows it and has room. */
static int64_t fill_once(struct cluster *fork, const struct fit_question *question,
                         struct filling *filling, int64_t n)
{
    int64_t n_left = n;
    int64_t *room = filling->room;
    const int64_t n_rules = 1 + (int64_t)peer_rules_n(question->peers);
    for (const struct node *node = cluster_next_node(fork, NULL);
         node && n_left > 0 && filling->n_rules_left > 0;
         node = cluster_next_node(fork, node), room++) {
        if (*room == 0)
            continue;
        filling->n_rules_left -= n_rules;
        if (quota_judge(question->quota, node) != REASON_FITS ||
            peer_rules_judge(question->peers, node, &question->asker) != REASON_FITS)
            continue;
        if (claim_rules_judge(question->devices, node) != REASON_FITS) {
            *room = 0; /* further pods free no devices */
            continue;
        }
        (*room)--;
        n_left--;
        if (filling->places) {
            (void)place(fork, node, question, 1);
            continue;
        }
        quota_take(question->quota, node, 1);
        (void)peer_rules_place(question->peers, node, 1);
        claim_rules_place(question->devices, node);
    }
    return n - n_left;
}

static int64_t room_on_node(const struct node *node, const struct fit_question *question)
{
    return is_within(node, question) ? fit_count(node, question) : 0;
}

static int64_t *rooms_of(const struct cluster *fork, const struct fit_question *question)
{
    struct fit_question next = *question;
    int64_t *room = MEM_ARRAY(int64_t, cluster_n_nodes(fork));
    size_t i = 0;
    next.peers = NULL;
    next.quota = NULL;
    next.devices = NULL;
    for (const struct node *node = cluster_next_node(fork, NULL); node;
         node = cluster_next_node(fork, node))
        room[i++] = room_on_node(node, &next);
    return room;
}

/* If each pod changes what the others allow, they are placed one by one, as many as there are. */
static struct what_if_count fill_by_rules(struct cluster *fork, const struct fit_question *question,
                                          int64_t n, bool places)
{
    int64_t *room CLEANUP(mem_free_ptr) = rooms_of(fork, question);
    struct filling filling = {room, RULES_JUDGED_MAX, places};
    int64_t n_left = n;
    int64_t n_placed = 0;
    do {
        n_placed = fill_once(fork, question, &filling, n_left);
        n_left -= n_placed;
    } while (n_placed > 0 && n_left > 0);
    const bool is_cut = filling.n_rules_left <= 0 || claim_rules_are_cut(question->devices);
    return (struct what_if_count){n - n_left, n_left > 0 && is_cut};
}

/* Whether fit_count() counts too little, so that pods must be placed one by one. */
static bool depend_on_replicas(const struct fit_question *question)
{
    return question->devices || peer_rules_depend_on_replicas(question->peers);
}

struct what_if_count what_if_fill(struct cluster *fork, const struct fit_question *question,
                                  int64_t n)
{
    int64_t n_left = n;
    if (n > 0 && depend_on_replicas(question))
        return fill_by_rules(fork, question, n, true);
    for (const struct node *node = cluster_next_node(fork, NULL); node && n_left > 0;
         node = cluster_next_node(fork, node)) {
        int64_t room = room_on_node(node, question);
        room = room < n_left ? room : n_left;
        (void)place(fork, node, question, room);
        n_left -= room;
    }
    return (struct what_if_count){n - n_left, false};
}

size_t what_if_place_each(struct cluster *fork, const struct fit_question *question,
                          const struct node **ret_nodes, enum reason *ret_verdicts)
{
    size_t n = 0;
    for (const struct node *node = cluster_next_node(fork, NULL); node;
         node = cluster_next_node(fork, node)) {
        if (!admit_node(node, question->shape))
            continue;
        ret_nodes[n] = node;
        ret_verdicts[n] = fit_judge(node, question);
        if (ret_verdicts[n] == REASON_FITS)
            (void)place(fork, node, question, 1);
        n++;
    }
    return n;
}

struct what_if_count what_if_more(struct cluster *fork, const struct fit_question *question)
{
    int64_t sum = 0;
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct fit_question next = *question;
    if (depend_on_replicas(question)) {
        next.peers = peer_rules_copy(question->peers, arena);
        next.quota = quota_copy(question->quota, arena);
        next.devices = claim_rules_try(question->devices, arena);
        struct what_if_count count = fill_by_rules(fork, &next, WHAT_IF_MORE_BY_RULES_MAX, false);
        claim_rules_end_trial(next.devices);
        count.is_cut |= count.n == WHAT_IF_MORE_BY_RULES_MAX;
        return count;
    }
    next.quota = quota_copy(question->quota, arena);
    for (const struct node *node = cluster_next_node(fork, NULL); node;
         node = cluster_next_node(fork, node)) {
        int64_t more = room_on_node(node, &next);
        quota_take(next.quota, node, more);
        if (__builtin_add_overflow(sum, more, &sum))
            return (struct what_if_count){INT64_MAX, false};
    }
    return (struct what_if_count){sum, false};
}

static int64_t sum_of(int64_t a, int64_t b)
{
    int64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* Each pod may rule out nodes for the others, so there may be less room. */
static void count_by_rules(const struct cluster *fork, const struct fit_question *question,
                           struct topology_room *rooms)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const domain_id end = cluster_end_of_domains(fork);
    bool *only = ARENA_ARRAY(arena, bool, end);
    struct fit_question next = *question;
    size_t n_left = WHAT_IF_ROOMS_BY_RULES_MAX;
    next.domains = only;
    for (domain_id id = 1; id < end && n_left > 0; id++) {
        if (rooms[id].n_members == 0)
            continue;
        only[id] = true;
        rooms[id].n_members = what_if_more((struct cluster *)(uintptr_t)fork, &next).n;
        only[id] = false;
        n_left--;
    }
}

static void fill_rooms(const struct cluster *fork, const struct fit_question *question,
                       struct topology_room *rooms)
{
    for (const struct node *node = cluster_next_node(fork, NULL); node;
         node = cluster_next_node(fork, node)) {
        const struct node_traits *traits = node_traits(node);
        struct topology_room *room = &rooms[node_domain(node, question->level)];
        room->n_members = sum_of(room->n_members, fit_count(node, question));
        if (traits->ready && !traits->unschedulable)
            room->free_gpus = sum_of(room->free_gpus, node_free_gpus(node));
    }
    if (depend_on_replicas(question))
        count_by_rules(fork, question, rooms);
}

struct topology_room *what_if_rooms(const struct cluster *fork, const struct fit_question *question,
                                    size_t level, struct arena *arena, size_t *ret_n)
{
    const domain_id end = cluster_end_of_domains(fork);
    struct topology_room *rooms = ARENA_ARRAY(arena, struct topology_room, end);
    struct fit_question next = *question;
    size_t n = 0;
    next.quota = NULL;
    next.level = level;
    fill_rooms(fork, &next, rooms);
    for (domain_id id = 1; id < end; id++) {
        const struct node_domain *domain = cluster_domain(fork, id);
        if (domain->n_nodes == 0 || domain->level != level)
            continue;
        rooms[n] = rooms[id];
        rooms[n].id = id;
        rooms[n++].name = domain->name;
    }
    *ret_n = n;
    return rooms;
}
