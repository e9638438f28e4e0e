/*
 * verdicts: what all nodes say to one kind of pod, counted, with the best of them. Private to api.
 *
 * Many pending pods are alike: a kind is judged once, and its JSON is shared by them.
 */
#ifndef API_VERDICTS_VERDICTS_H
#define API_VERDICTS_VERDICTS_H

#include "api/verdicts/verdict.h"

struct verdicts {
    size_t n_nodes;
    size_t n_fits;
    bool has_claims;  /* on some of them by claims, which are not judged */
    const char *best; /* where it would go now; "" nowhere */
    const char
        *counts;     /* "3 of 15 nodes fit (...)", and what models there are where they keep it */
    json_t *reasons; /* [{reason, message, nodes}] of the nodes that it does not fit */
    json_t *fits_on; /* names of the best nodes */
    json_t *closest; /* {node, reason, message, lacks}: where the least is missing; or null */
};

/* Judges the candidates anew. To be freed with verdicts_fini(). */
struct verdicts verdicts_of(struct candidates *candidates, const struct pod_query *query);
void verdicts_fini(struct verdicts *verdicts);

#endif
