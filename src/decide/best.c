/*
 * best: see include/decide/rank.h. The kept nodes are sorted at all times, so the last one rejects
 * most of the others by one comparison, which alike nodes share.
 */
#include "alike.h"
#include "decide/rank.h"

#include <string.h>

struct best {
    struct alikes alikes; /* seen: the changes when order was computed, against the last one kept */
    struct ranked_node *places; /* of the kept nodes, in no order */
    struct ranked_node **kept;  /* sorted, the best first */
    size_t n, n_most;
    size_t n_changes; /* of the last one kept */
    bool saw_twins;
};

struct best *best_begin(const struct cluster *cluster, const struct fit_question *question,
                        size_t n_most, struct arena *arena)
{
    struct best *best = ARENA_NEW(arena, struct best);
    best->alikes = alikes_begin(score_begin(cluster, question, arena), arena);
    best->places = ARENA_ARRAY_UNSET(arena, struct ranked_node, n_most);
    best->kept = ARENA_ARRAY_UNSET(arena, struct ranked_node *, n_most);
    best->n_most = n_most;
    return best;
}

/* Worse nodes are rejected; NULL: none is. */
static const struct ranked_node *last_of(const struct best *best)
{
    return best->n == best->n_most ? best->kept[best->n - 1] : NULL;
}

/* Whether the cache alone shows that the node is not wanted. */
static bool is_worse(const struct best *best, struct alike *alike, const struct node *node)
{
    const struct ranked_node *last = last_of(best);
    if (!last)
        return false;
    /* The last one only gets better. */
    if (alike->order <= 0 && alike->seen != best->n_changes) {
        alike->seen = best->n_changes;
        alike->order = rank_compare_alike(&alike->ranked, last);
    }
    return alike->order > 0 ||
           (alike->order == 0 && strcmp(node_name(node), node_name(last->node)) > 0);
}

/* How many of the kept nodes are better. */
static size_t count_better(const struct best *best, const struct ranked_node *ranked)
{
    size_t begin = 0;
    size_t end = best->n;
    while (begin < end) {
        const size_t middle = begin + (end - begin) / 2;
        if (rank_compare(best->kept[middle], ranked) < 0)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

static void insert(struct best *best, const struct ranked_node *ranked)
{
    const size_t at = count_better(best, ranked);
    if (at > 0 && best->kept[at - 1]->node == ranked->node) {
        best->saw_twins = true;
        return;
    }
    if (at == best->n_most)
        return;
    struct ranked_node *place =
        best->n < best->n_most ? &best->places[best->n++] : best->kept[best->n - 1];
    for (size_t i = best->n - 1; i > at; i--)
        best->kept[i] = best->kept[i - 1];
    *place = *ranked;
    best->kept[at] = place;
    best->n_changes++;
}

static void add(struct best *best, struct alike *alike, const struct node *node, size_t position)
{
    if (alike)
        alikes_weigh_kind(&best->alikes, alike, node);
    if (alike && is_worse(best, alike, node))
        return;
    struct ranked_node ranked = {.node = node, .position = position};
    alikes_weigh(&best->alikes, alike, &ranked);
    insert(best, &ranked);
}

void best_add(struct best *best, const struct node *node, size_t position)
{
    add(best, alikes_find(&best->alikes, node), node, position);
}

enum reason best_judge(struct best *best, struct fit_round *round, const struct node *node,
                       size_t position)
{
    struct alike *alike = node ? alikes_find(&best->alikes, node) : NULL;
    const bool is_known = alike && alike->is_judged;
    const enum reason verdict = is_known ? alike->verdict : fit_judge_next(round, node);
    if (alike && !is_known) {
        alike->is_judged = fit_is_by_hot(round, node_hot(node));
        alike->verdict = verdict;
    }
    if (verdict == REASON_FITS)
        add(best, alike, node, position);
    return verdict;
}

const struct ranked_node *const *best_end(const struct best *best, size_t *ret_n)
{
    *ret_n = best->n;
    return (const struct ranked_node *const *)best->kept;
}

bool best_saw_twins(const struct best *best)
{
    return best->saw_twins;
}
