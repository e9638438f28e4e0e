/* what_if: see include/decide/what_if.h. */
#include "decide/what_if.h"
#include "alike.h"
#include "arena_table.h"
#include "base/mem.h"
#include "decide/claim_rules.h"
#include "decide/peer_rules.h"
#include "decide/quota.h"
#include "decide/rank.h"
#include "ledger/admit.h"

#include <stdlib.h>
#include <string.h>

/* A node that fits the pod, or is parked: it would fit but for a spread constraint. */
struct open_node {
    const struct node *node;
    struct open_kind *kind;
    bool is_parked, is_closed;
    struct open_node *child, *next; /* in its kind's heap; or the next one that is parked */
};

/* Nodes that rank alike but for their names, whatever is placed elsewhere. */
#define N_KEYS 10
struct open_kind {
    struct arena_item item;
    uint64_t keys[N_KEYS];
    struct ranked_node ranked; /* the node is any of them */
    struct open_node *first;   /* by name: a pairing heap; NULL: none is open */
};

struct open_nodes {
    struct open_node *items;
    size_t n;
    struct arena_table kinds;
    struct open_node *parked;
    size_t n_refused; /* nodes that spread ruled out since the last placement */
    struct score *score;
    struct arena *arena;
};

/* From then on all such nodes are parked at once, as each is ruled out alone otherwise. */
#define REFUSED_MAX 8

/* ---- kinds of nodes ---- */

static struct open_kind *next_kind(const struct open_nodes *open, const struct open_kind *kind)
{
    return (struct open_kind *)(kind ? kind->item.next_added : open->kinds.first);
}

/* All that rank_compare_alike() reads but price and near, and what these depend on. */
static struct open_kind *kind_of(struct open_nodes *open, const struct ranked_node *ranked)
{
    uint64_t own = 0;
    memcpy(&own, &ranked->cost.own, sizeof own);
    const uint64_t keys[N_KEYS] = {own,
                                   score_price_key(open->score, ranked->node),
                                   (uint64_t)ranked->near.on_node,
                                   (uint64_t)(uintptr_t)ranked->near.zone,
                                   (uint64_t)ranked->free_gpus,
                                   ranked->claim_order,
                                   ranked->model_rank,
                                   (uint64_t)ranked->preferred,
                                   ranked->unpreferred,
                                   (uint64_t)ranked->gpu_work << 1 | ranked->by_claim};
    struct arena_item *found = arena_table_find(&open->kinds, keys, sizeof keys);
    if (found)
        return (struct open_kind *)found;
    struct open_kind *kind = ARENA_NEW(open->arena, struct open_kind);
    memcpy(kind->keys, keys, sizeof keys);
    kind->ranked = *ranked;
    arena_table_add(&open->kinds, &kind->item, kind->keys, sizeof keys, open->arena);
    return kind;
}

static struct open_node *meld(struct open_node *a, struct open_node *b)
{
    if (!a || !b)
        return a ? a : b;
    const bool is_first = strcmp(node_name(a->node), node_name(b->node)) < 0;
    struct open_node *first = is_first ? a : b;
    struct open_node *last = is_first ? b : a;
    last->next = first->child;
    first->child = last;
    return first;
}

static void open_node(struct open_node *item)
{
    item->is_parked = false;
    item->child = item->next = NULL;
    item->kind->first = meld(item->kind->first, item);
}

/* Pairs are melded from the left, then all from the right: so it is cheap however often it is done.
 */
static void take_first(struct open_kind *kind)
{
    struct open_node *pairs = NULL;
    struct open_node *left = kind->first->child;
    kind->first = NULL;
    while (left) {
        struct open_node *other = left->next;
        struct open_node *rest = other ? other->next : NULL;
        struct open_node *pair = meld(left, other);
        pair->next = pairs;
        pairs = pair;
        left = rest;
    }
    while (pairs) {
        struct open_node *rest = pairs->next;
        kind->first = meld(kind->first, pairs);
        pairs = rest;
    }
}

static struct open_kind *best_of(const struct open_nodes *open)
{
    struct open_kind *best = NULL;
    for (struct open_kind *kind = next_kind(open, NULL); kind; kind = next_kind(open, kind)) {
        if (!kind->first)
            continue;
        kind->ranked.node = kind->first->node;
        if (!best || rank_compare(&kind->ranked, &best->ranked) < 0)
            best = kind;
    }
    return best;
}

/* Only the node of the last placement changed. For the others only price and near replicas depend
 * on it. Quotas are judged again when a node's turn comes. */
static void weigh_again(const struct open_nodes *open)
{
    score_reprice(open->score);
    for (struct open_kind *kind = next_kind(open, NULL); kind; kind = next_kind(open, kind)) {
        kind->ranked.cost.price = score_price(open->score, kind->ranked.node);
        kind->ranked.cost.near = score_near_cost(open->score, &kind->ranked.near);
    }
}

/* ---- one after another ---- */

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

static struct open_kind *weigh(struct open_nodes *open, const struct alikes *alikes,
                               const struct node *node)
{
    struct alike *alike = alikes_find(alikes, node); /* by claims none are alike */
    struct ranked_node ranked = {.node = node};
    if (alike && alike->kind)
        return alike->kind;
    rank_weigh(open->score, &ranked);
    struct open_kind *kind = kind_of(open, &ranked);
    if (alike)
        alike->kind = kind;
    return kind;
}

static void find_open(struct open_nodes *open, const struct cluster *fork,
                      const struct fit_question *question)
{
    const struct alikes alikes = alikes_begin(open->score, open->arena);
    open->items = MEM_ARRAY(struct open_node, cluster_n_nodes(fork));
    for (const struct node *node = cluster_next_node(fork, NULL); node;
         node = cluster_next_node(fork, node)) {
        if (!is_within(node, question) ||
            (fit_judge(node, question) != REASON_FITS && !is_parked(node, question)))
            continue;
        struct open_node *item = &open->items[open->n++];
        *item = (struct open_node){.node = node, .kind = weigh(open, &alikes, node)};
        open_node(item);
    }
}

static void park(struct open_nodes *open, struct open_node *item)
{
    item->is_parked = true;
    item->next = open->parked;
    open->parked = item;
}

/* Parks all nodes that topology spread rules out. */
static void park_all(struct open_nodes *open, const struct fit_question *question)
{
    for (struct open_kind *kind = next_kind(open, NULL); kind; kind = next_kind(open, kind))
        kind->first = NULL;
    for (size_t i = 0; i < open->n; i++) {
        struct open_node *item = &open->items[i];
        if (item->is_closed || item->is_parked)
            continue;
        if (peer_rules_judge(question->peers, item->node, &question->asker) ==
            REASON_TOPOLOGY_SPREAD)
            park(open, item);
        else
            open_node(item);
    }
}

/* Parks the first node of the kind, or forgets it. */
static void close_first(struct open_nodes *open, struct open_kind *kind,
                        const struct fit_question *question)
{
    struct open_node *item = kind->first;
    item->is_closed = !is_parked(item->node, question);
    if (!item->is_closed && open->n_refused++ >= REFUSED_MAX) {
        park_all(open, question);
        return;
    }
    take_first(kind);
    if (!item->is_closed)
        park(open, item);
}

static void unpark(struct open_nodes *open)
{
    while (open->parked) {
        struct open_node *item = open->parked;
        open->parked = item->next;
        open_node(item);
    }
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

/* Takes it to the kind of its new weights. The fork has no owners, so only `near` knows the placed
 * replicas. */
static void weigh_placed(struct open_nodes *open, struct open_kind *kind)
{
    struct open_node *placed = kind->first;
    struct ranked_node ranked = {.node = placed->node};
    struct replicas_near near = kind->ranked.near;
    take_first(kind);
    score_place(open->score, &near);
    rank_weigh(open->score, &ranked);
    ranked.near = near;
    placed->kind = kind_of(open, &ranked);
    open_node(placed);
}

size_t what_if_place(struct cluster *fork, const struct fit_question *question, size_t n,
                     const struct node **ret_nodes)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct open_nodes open = {.score = score_begin(fork, question, arena), .arena = arena};
    struct open_kind *best = NULL;
    size_t n_placed = 0;
    find_open(&open, fork, question);
    while (n_placed < n && (best = best_of(&open))) {
        const struct node *node = best->first->node;
        if (fit_judge(node, question) != REASON_FITS) {
            close_first(&open, best, question);
            continue;
        }
        ret_nodes[n_placed++] = node;
        const bool rises = place(fork, node, question, 1);
        if (n_placed == n)
            break;
        weigh_placed(&open, best);
        open.n_refused = 0;
        if (rises)
            unpark(&open);
        weigh_again(&open);
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
        struct topology_room *room = &rooms[node_domain(node, question->level)];
        room->n_members = sum_of(room->n_members, fit_count(node, question));
        room->free_gpus = sum_of(room->free_gpus, topology_open_gpus(node));
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
