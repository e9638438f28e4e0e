/* candidates: see candidates.h. */
#include "api/verdicts/candidates.h"
#include "decide/claim_rules.h"

#include <stdlib.h>
#include <string.h>

static int compare_names(const void *a, const void *b)
{
    const struct node_verdict *left = a;
    const struct node_verdict *right = b;
    return strcmp(node_name(left->node), node_name(right->node));
}

struct candidates candidates_of(const struct cluster *cluster, struct models_here *models,
                                struct arena *arena)
{
    const size_t n = cluster_n_nodes(cluster);
    struct candidates candidates = {
        .cluster = cluster,
        .models = models,
        .items = ARENA_ARRAY(arena, struct node_verdict, n),
        .fitting = ARENA_ARRAY(arena, struct ranked_node, n),
    };
    for (const struct node *node = cluster_next_node(cluster, NULL); node;
         node = cluster_next_node(cluster, node))
        candidates.items[candidates.n++].node = node;
    if (n > 0)
        qsort(candidates.items, n, sizeof *candidates.items, compare_names);
    return candidates;
}

void candidates_judge(struct candidates *candidates, const struct fit_question *question)
{
    candidates->n_fitting = 0;
    for (size_t i = 0; i < candidates->n; i++) {
        struct node_verdict *candidate = &candidates->items[i];
        candidate->verdict = fit_judge(candidate->node, question);
        candidate->score = 0;
        if (candidate->verdict == REASON_FITS)
            candidates->fitting[candidates->n_fitting++] =
                (struct ranked_node){.node = candidate->node, .position = i};
    }
    rank_nodes(candidates->cluster, question, candidates->fitting, candidates->n_fitting);
    for (size_t i = 0; i < candidates->n_fitting; i++)
        candidates->items[candidates->fitting[i].position].score = candidates->fitting[i].score;
}

void candidates_judge_claims(struct candidates *candidates, const struct fit_question *question)
{
    candidates_judge(candidates, question);
    for (size_t i = 0; i < candidates->n; i++) {
        if (candidates->items[i].verdict != REASON_CLAIM_ERROR)
            continue;
        claim_rules_abort(question->devices, candidates->items[i].node);
        candidates_judge(candidates, question);
        return;
    }
}

static int compare_name(const void *key, const void *candidate)
{
    return strcmp(key, node_name(((const struct node_verdict *)candidate)->node));
}

const struct node_verdict *candidates_find(const struct candidates *candidates, const char *name)
{
    return bsearch(name, candidates->items, candidates->n, sizeof *candidates->items, compare_name);
}
