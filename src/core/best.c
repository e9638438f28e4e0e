/*
 * best: see include/core/best.h. A buffer of twice as many as are wanted; when it is full it is
 * sorted and cut. From then on most nodes are worse than the last one kept, and one comparison each
 * says so.
 */
#include "core/best.h"

#include <stdlib.h>

struct best {
    const struct score *score;
    struct ranked_node *kept;
    size_t n, n_most;
    const struct ranked_node *last; /* what is worse is not wanted; NULL: all are */
    bool saw_twins;
};

struct best *best_begin(const struct cluster *cluster, const struct fit_question *question,
                        size_t n_most, struct arena *arena)
{
    struct best *best = ARENA_NEW(arena, struct best);
    best->score = score_begin(cluster, question, arena);
    best->kept = ARENA_ARRAY(arena, struct ranked_node, 2 * n_most);
    best->n_most = n_most;
    return best;
}

static int compare_for_sort(const void *a, const void *b)
{
    return rank_compare(a, b);
}

static void drop_twins(struct best *best)
{
    size_t n = 0;
    for (size_t i = 0; i < best->n; i++) {
        if (n > 0 && best->kept[n - 1].node == best->kept[i].node)
            best->saw_twins = true;
        else
            best->kept[n++] = best->kept[i];
    }
    best->n = n;
}

static void cut(struct best *best)
{
    if (best->n > 1)
        qsort(best->kept, best->n, sizeof *best->kept, compare_for_sort);
    drop_twins(best);
    if (best->n < best->n_most)
        return;
    best->n = best->n_most;
    best->last = &best->kept[best->n_most - 1];
}

void best_add(struct best *best, const struct node *node, size_t position)
{
    struct ranked_node ranked = {.node = node, .position = position};
    rank_weigh(best->score, &ranked);
    if (best->last && node != best->last->node && rank_compare(&ranked, best->last) > 0)
        return;
    best->kept[best->n++] = ranked;
    if (best->n == 2 * best->n_most)
        cut(best);
}

const struct ranked_node *best_end(struct best *best, size_t *ret_n)
{
    cut(best);
    *ret_n = best->n;
    return best->kept;
}

bool best_saw_twins(const struct best *best)
{
    return best->saw_twins;
}
