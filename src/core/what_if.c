/* what_if: see include/core/what_if.h. */
#include "core/what_if.h"
#include "core/rank.h"

void what_if_judge(const struct cluster *fork, const struct fit_question *question,
                   enum reason *verdicts)
{
    size_t i = 0;
    for (const struct node *node = cluster_next_node(fork, NULL); node;
         node = cluster_next_node(fork, node))
        verdicts[i++] = fit_judge(node, question);
}

static const struct node *best_node(const struct cluster *fork, const struct fit_question *question)
{
    struct ranked_node best = {0};
    for (const struct node *node = cluster_next_node(fork, NULL); node;
         node = cluster_next_node(fork, node)) {
        struct ranked_node ranked = {.node = node};
        if (fit_judge(node, question) != REASON_FITS)
            continue;
        rank_weigh(fork, question->shape, &ranked);
        if (!best.node || rank_compare(&ranked, &best) < 0)
            best = ranked;
    }
    return best.node;
}

size_t what_if_place(struct cluster *fork, const struct fit_question *question, size_t n,
                     const struct node **ret_nodes)
{
    size_t n_placed = 0;
    for (size_t i = 0; i < n; i++) {
        ret_nodes[i] = best_node(fork, question);
        if (!ret_nodes[i]) /* nor would any later one: they are all alike */
            break;
        cluster_place(fork, ret_nodes[i], question->shape);
        n_placed++;
    }
    for (size_t i = n_placed; i < n; i++)
        ret_nodes[i] = NULL;
    return n_placed;
}

size_t what_if_place_each(struct cluster *fork, const struct fit_question *question,
                          const struct node **ret_nodes, enum reason *ret_verdicts)
{
    size_t n = 0;
    for (const struct node *node = cluster_next_node(fork, NULL); node;
         node = cluster_next_node(fork, node)) {
        if (!fit_admits(node, question->shape))
            continue;
        ret_nodes[n] = node;
        ret_verdicts[n] = fit_judge(node, question);
        if (ret_verdicts[n] == REASON_FITS)
            cluster_place(fork, node, question->shape);
        n++;
    }
    return n;
}

int64_t what_if_more(const struct cluster *fork, const struct fit_question *question)
{
    int64_t sum = 0;
    for (const struct node *node = cluster_next_node(fork, NULL); node;
         node = cluster_next_node(fork, node)) {
        int64_t more = fit_count(node, question);
        if (__builtin_add_overflow(sum, more, &sum))
            return INT64_MAX;
    }
    return sum;
}
