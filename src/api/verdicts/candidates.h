/*
 * candidates: all nodes of a ledger, and what one question after another finds there. Private to
 * api.
 */
#ifndef API_VERDICTS_CANDIDATES_H
#define API_VERDICTS_CANDIDATES_H

#include "decide/fit.h"
#include "decide/rank.h"

struct node_verdict {
    const struct node *node;
    enum reason verdict;
    int score; /* where it fits */
};

struct candidates {
    const struct cluster *cluster;
    struct node_verdict *items; /* by name */
    size_t n;
    struct ranked_node *fitting; /* best first */
    size_t n_fitting;
};

/* All in the arena; the cluster is borrowed. Nothing is judged yet. */
struct candidates candidates_of(const struct cluster *cluster, struct arena *arena);
/* In place of what the last question found. */
void candidates_judge(struct candidates *candidates, const struct fit_question *question);
/* NULL where there is no such node. */
const struct node_verdict *candidates_find(const struct candidates *candidates, const char *name);

#endif
