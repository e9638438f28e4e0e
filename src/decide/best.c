/*
 * best: see include/decide/best.h. The buffer holds twice as many nodes as wanted; when full it is
 * sorted and cut. From then on one comparison rejects most nodes. In a large cluster many nodes are
 * alike, empty ones above all, so weights and comparisons are cached by the hot part.
 */
#include "decide/best.h"
#include "ledger/node_hot.h"

#include <stdlib.h>
#include <string.h>

/* Cache entry for nodes that are alike. */
struct alike {
    struct node_hot hot;       /* gpus NULL: the entry is empty */
    struct ranked_node ranked; /* the first of them */
    size_t n_cuts;             /* number of cuts when order was computed */
    int order;                 /* against the last one kept, ignoring the name */
};

/* A power of two. */
#define N_ALIKE ((size_t)256)

struct best {
    const struct score *score;
    struct alike *alike;           /* by hash of the hot part; NULL: the cost needs more than it */
    const struct resource *wanted; /* the pod's only GPU resource */
    struct ranked_node *kept;
    size_t n, n_most;
    size_t n_cuts;
    const struct ranked_node *last; /* worse nodes are rejected; NULL: none is */
    bool saw_twins;
};

struct best *best_begin(const struct cluster *cluster, const struct fit_question *question,
                        size_t n_most, struct arena *arena)
{
    struct best *best = ARENA_NEW(arena, struct best);
    best->score = score_begin(cluster, question, arena);
    best->kept = ARENA_ARRAY(arena, struct ranked_node, 2 * n_most);
    best->n_most = n_most;
    if (rank_needs_hot_only(best->score)) {
        best->alike = ARENA_ARRAY(arena, struct alike, N_ALIKE);
        best->wanted = question->shape->needs[0].resource;
    }
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
    best->n_cuts++;
    best->last = &best->kept[best->n_most - 1];
}

/* Returns the cache entry for nodes like this one, replacing another; NULL: not cached. */
static struct alike *find_alike(const struct best *best, const struct node *node)
{
    const struct node_hot *hot = node_hot(node);
    if (!best->alike || hot->gpus != best->wanted || hot->has_taints)
        return NULL;
    struct alike *alike = &best->alike[node_hot_hash(hot) & (N_ALIKE - 1)];
    if (!alike->hot.gpus || !node_hot_is_alike(&alike->hot, hot)) {
        *alike = (struct alike){.hot = *hot, .ranked = {.node = node}};
        rank_weigh(best->score, &alike->ranked);
    }
    return alike;
}

/* Whether the cache alone shows that the node is not wanted. */
static bool is_worse(const struct best *best, struct alike *alike, const struct node *node)
{
    if (alike->n_cuts != best->n_cuts) {
        alike->n_cuts = best->n_cuts;
        alike->order = rank_compare_alike(&alike->ranked, best->last);
    }
    return alike->order > 0 ||
           (alike->order == 0 && strcmp(node_name(node), node_name(best->last->node)) > 0);
}

void best_add(struct best *best, const struct node *node, size_t position)
{
    struct alike *alike = find_alike(best, node);
    if (alike && best->last && is_worse(best, alike, node))
        return;
    struct ranked_node ranked = {0};
    if (alike)
        ranked = alike->ranked;
    ranked.node = node;
    ranked.position = position;
    if (!alike)
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
