/* shortlist: see shortlist.h. */
#include "shortlist.h"
#include "core/best.h"

static size_t count_fitting(const enum reason *verdicts, size_t n)
{
    size_t n_fitting = 0;
    for (size_t i = 0; i < n; i++)
        n_fitting += verdicts[i] == REASON_FITS;
    return n_fitting;
}

/* A name that was asked twice is handed on twice, or not at all. */
static void keep_twins(const struct judged *judged, size_t n_names, const struct ranked_node *kept,
                       size_t n_kept, bool *left_out)
{
    for (size_t i = 0; i < n_names; i++) {
        for (size_t k = 0; k < n_kept && left_out[i]; k++)
            left_out[i] = judged->nodes[i] != kept[k].node;
    }
}

const bool *shortlist_left_out(const struct cluster *cluster, const struct args *args,
                               const struct fit_question *question, const struct judged *judged,
                               size_t n_most, struct arena *arena)
{
    if (n_most == 0 || count_fitting(judged->verdicts, args->n_names) <= n_most ||
        args->pod.nominated_node[0] || args->is_deferred)
        return NULL;
    bool *left_out = ARENA_ARRAY(arena, bool, args->n_names);
    struct best *best = best_begin(cluster, question, n_most, arena);
    for (size_t i = 0; i < args->n_names; i++) {
        left_out[i] = judged->verdicts[i] == REASON_FITS;
        if (left_out[i])
            best_add(best, judged->nodes[i], i);
    }
    size_t n_kept = 0;
    const struct ranked_node *kept = best_end(best, &n_kept);
    for (size_t k = 0; k < n_kept; k++)
        left_out[kept[k].position] = false;
    if (best_saw_twins(best))
        keep_twins(judged, args->n_names, kept, n_kept, left_out);
    return left_out;
}
