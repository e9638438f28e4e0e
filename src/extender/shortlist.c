/* shortlist: see shortlist.h. */
#include "shortlist.h"
#include "core/rank.h"

static size_t count_fitting(const enum reason *verdicts, size_t n)
{
    size_t n_fitting = 0;
    for (size_t i = 0; i < n; i++)
        n_fitting += verdicts[i] == REASON_FITS;
    return n_fitting;
}

const bool *shortlist_left_out(const struct cluster *cluster, const struct args *args,
                               const struct fit_question *question, const enum reason *verdicts,
                               size_t n_most, struct arena *arena)
{
    const size_t n_fitting = count_fitting(verdicts, args->n_names);
    if (n_most == 0 || n_fitting <= n_most || args->pod.nominated_node[0] || args->is_deferred)
        return NULL;
    struct ranked_node *ranked = ARENA_ARRAY(arena, struct ranked_node, n_fitting);
    size_t n = 0;
    for (size_t i = 0; i < args->n_names; i++) {
        if (verdicts[i] == REASON_FITS)
            ranked[n++] = (struct ranked_node){.node = cluster_find_node(cluster, args->names[i]),
                                               .position = i};
    }
    rank_nodes(cluster, question, ranked, n);
    bool *left_out = ARENA_ARRAY(arena, bool, args->n_names);
    size_t n_nodes = 0; /* a name that was asked twice stands beside itself */
    for (size_t i = 0; i < n; i++) {
        n_nodes += i == 0 || ranked[i].node != ranked[i - 1].node;
        left_out[ranked[i].position] = n_nodes > n_most;
    }
    return left_out;
}
