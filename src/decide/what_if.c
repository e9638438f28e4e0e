/* what_if: see include/decide/what_if.h. */
#include "decide/what_if.h"
#include "base/mem.h"
#include "decide/quota.h"
#include "decide/rank.h"
#include "ledger/admit.h"

#include <stdlib.h>

/* The nodes that still fit the pod, weighed, in no order. */
struct open_nodes {
    struct ranked_node *items;
    size_t n;
};

static struct open_nodes find_open(const struct cluster *fork, const struct fit_question *question,
                                   const struct score *score)
{
    struct open_nodes open = {MEM_ARRAY(struct ranked_node, cluster_n_nodes(fork)), 0};
    for (const struct node *node = cluster_next_node(fork, NULL); node;
         node = cluster_next_node(fork, node)) {
        if (fit_judge(node, question) != REASON_FITS)
            continue;
        open.items[open.n].node = node;
        rank_weigh(score, &open.items[open.n++]);
    }
    return open;
}

static void place(struct cluster *fork, const struct node *node,
                  const struct fit_question *question, int64_t n)
{
    cluster_place(fork, node, question->shape, n);
    quota_place(fork, question->quota, node, n);
}

static struct ranked_node *best_of(const struct open_nodes *open)
{
    struct ranked_node *best = &open->items[0];
    for (size_t i = 1; i < open->n; i++) {
        if (rank_compare(&open->items[i], best) < 0)
            best = &open->items[i];
    }
    return best;
}

/* Only the node of the last placement changed. For the others only price and near replicas depend
 * on it. Quotas are judged again when a node's turn comes. */
static void weigh_again(struct score *score, struct open_nodes *open)
{
    score_reprice(score);
    for (size_t i = 0; i < open->n; i++) {
        struct ranked_node *item = &open->items[i];
        item->cost.price = score_price(score, item->node);
        item->cost.near = score_near_cost(score, &item->near);
    }
}

/* The fork has no owners, so only `near` knows the placed replicas. */
static void weigh_placed(const struct score *score, struct ranked_node *placed)
{
    const struct replicas_near near = placed->near;
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
    while (n_placed < n && open.n > 0) {
        struct ranked_node *best = best_of(&open);
        if (fit_judge(best->node, question) != REASON_FITS) {
            *best = open.items[--open.n];
            continue;
        }
        ret_nodes[n_placed++] = best->node;
        place(fork, best->node, question, 1);
        score_place(score, &best->near);
        weigh_placed(score, best);
        weigh_again(score, &open);
    }
    for (size_t i = n_placed; i < n; i++)
        ret_nodes[i] = NULL;
    free(open.items);
    return n_placed;
}

int64_t what_if_fill(struct cluster *fork, const struct fit_question *question, int64_t n)
{
    int64_t n_left = n;
    for (const struct node *node = cluster_next_node(fork, NULL); node && n_left > 0;
         node = cluster_next_node(fork, node)) {
        int64_t room = fit_count(node, question);
        room = room < n_left ? room : n_left;
        place(fork, node, question, room);
        n_left -= room;
    }
    return n - n_left;
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
            place(fork, node, question, 1);
        n++;
    }
    return n;
}

int64_t what_if_more(const struct cluster *fork, const struct fit_question *question)
{
    int64_t sum = 0;
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct fit_question next = *question;
    next.quota = quota_copy(question->quota, arena);
    for (const struct node *node = cluster_next_node(fork, NULL); node;
         node = cluster_next_node(fork, node)) {
        int64_t more = fit_count(node, &next);
        quota_take(next.quota, node, more);
        if (__builtin_add_overflow(sum, more, &sum))
            return INT64_MAX;
    }
    return sum;
}
