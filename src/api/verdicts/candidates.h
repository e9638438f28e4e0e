/*
 * candidates: all nodes of a ledger, and their verdicts on one question at a time. Private to api.
 */
#ifndef API_VERDICTS_CANDIDATES_H
#define API_VERDICTS_CANDIDATES_H

#include "api/verdicts/models_here.h"
#include "decide/fit.h"
#include "decide/rank.h"

struct node_verdict {
    const struct node *node;
    enum reason verdict;
    int score; /* if it fits */
};

struct candidates {
    const struct cluster *cluster;
    struct node_verdict *items; /* sorted by name */
    size_t n;
    struct ranked_node *fitting; /* best first */
    size_t n_fitting;
    struct models_here *models; /* borrowed: of the answer */
};

/* All in the arena; borrows the cluster and the models. Judges nothing yet. */
struct candidates candidates_of(const struct cluster *cluster, struct models_here *models,
                                struct arena *arena);
/* Replaces the results of the previous question. */
void candidates_judge(struct candidates *candidates, const struct fit_question *question);
/* The same. If kube-scheduler gives up the pod for an error with its claims on one node, no node
 * fits. */
void candidates_judge_claims(struct candidates *candidates, const struct fit_question *question);
/* NULL: no such node. */
const struct node_verdict *candidates_find(const struct candidates *candidates, const char *name);

#endif
