/*
 * ranking: the member explain of a dry run: how the nodes that fit were ranked, and what the
 * placements changed. Private to api.
 */
#ifndef API_DRY_RUN_RANKING_H
#define API_DRY_RUN_RANKING_H

#include "api/verdicts/candidates.h"
#include "decide/fit.h"
#include "decide/fragmentation.h"

#include <jansson.h>

/* Before any placement. */
struct ranking {
    json_t *nodes; /* array; ranking_json() takes it over */
    size_t n_fitting;
    struct fragmentations fragmentations;
};

/* Fragmentations are in the arena. */
struct ranking ranking_of(const struct cluster *fork, const struct fit_question *question,
                          const struct candidates *candidates, struct arena *arena);
/* With the changes by the placements since. The caller owns it. */
json_t *ranking_json(const struct ranking *before, const struct cluster *fork, struct arena *arena);

#endif
