/* shortlist: see shortlist.h. */
#include "extender/filter/shortlist.h"
#include "decide/best.h"

struct shortlist {
    struct best *best;
    bool *left_out;
    size_t n_names, n_most;
    size_t n_fitting;
};

struct shortlist *shortlist_begin(const struct cluster *cluster, const struct args *args,
                                  const struct fit_question *question, size_t n_most,
                                  struct arena *arena)
{
    const bool has_claims = args->pod.claims && args->pod.claims[0];
    if (n_most == 0 || args->n_names <= n_most || args->pod.nominated_node[0] ||
        args->is_deferred || has_claims)
        return NULL;
    struct shortlist *list = ARENA_NEW(arena, struct shortlist);
    list->best = best_begin(cluster, question, n_most, arena);
    list->left_out = ARENA_ARRAY(arena, bool, args->n_names);
    list->n_names = args->n_names;
    list->n_most = n_most;
    return list;
}

void shortlist_add(struct shortlist *list, const struct node *node, size_t name)
{
    list->n_fitting++;
    list->left_out[name] = true;
    best_add(list->best, node, name);
}

/* A name offered twice is returned twice or not at all. */
static void keep_twins(struct shortlist *list, const struct node *const *nodes,
                       const struct ranked_node *const *kept, size_t n_kept)
{
    for (size_t i = 0; i < list->n_names; i++) {
        for (size_t k = 0; k < n_kept && list->left_out[i]; k++)
            list->left_out[i] = nodes[i] != kept[k]->node;
    }
}

const bool *shortlist_left_out(struct shortlist *list, const struct node *const *nodes)
{
    if (!list || list->n_fitting <= list->n_most)
        return NULL;
    size_t n_kept = 0;
    const struct ranked_node *const *kept = best_end(list->best, &n_kept);
    for (size_t k = 0; k < n_kept; k++)
        list->left_out[kept[k]->position] = false;
    if (best_saw_twins(list->best))
        keep_twins(list, nodes, kept, n_kept);
    return list->left_out;
}
