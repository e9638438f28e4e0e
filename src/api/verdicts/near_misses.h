/*
 * near_misses: single changes that would let nodes fit. Private to api.
 */
#ifndef API_VERDICTS_NEAR_MISSES_H
#define API_VERDICTS_NEAR_MISSES_H

#include "api/verdicts/verdict.h"

/* A NearMiss for each such change, smallest first, up to a limit. Judges the nodes again, whatever
 * verdicts the candidates hold. */
json_t *near_misses_json(const struct pod_query *query, const struct candidates *candidates);

#endif
