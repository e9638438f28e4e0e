/*
 * verdicts: counts of all nodes' verdicts on one kind of pod, and the best nodes. Private to api.
 *
 * Many pending pods are alike. A kind is judged once, and its pods share the JSON.
 */
#ifndef API_VERDICTS_VERDICTS_H
#define API_VERDICTS_VERDICTS_H

#include "api/verdicts/verdict.h"

struct headline; /* headline.h */

struct verdicts {
    size_t n_nodes;
    size_t n_fits;
    bool has_claims;    /* some nodes fit only by claims, which are not judged */
    const char *best;   /* the best node now; "": none */
    const char *counts; /* "3 of 15 nodes fit (...)", with present models if models are the cause */
    json_t *reasons;    /* [{reason, message, nodes}] of nodes that do not fit */
    json_t *fits_on;    /* names of the best nodes */
    json_t *closest;    /* {node, reason, message, lacks}: the node lacking least; or null */
    json_t *claims;     /* claim_answers_json() */
    json_t *verdict;    /* headline_json() of one pod */
    const struct headline *headline; /* of it, in the query's arena */
};

/* Judges the candidates again. Release with verdicts_fini(). */
struct verdicts verdicts_of(struct candidates *candidates, const struct pod_query *query);
/* Only their member counts, in the query's arena. */
const char *verdicts_counts(struct candidates *candidates, const struct pod_query *query);
void verdicts_fini(struct verdicts *verdicts);

#endif
