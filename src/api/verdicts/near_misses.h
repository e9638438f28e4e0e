/*
 * near_misses: what would have to change for nodes to fit, where that is one thing. Private to api.
 */
#ifndef API_VERDICTS_NEAR_MISSES_H
#define API_VERDICTS_NEAR_MISSES_H

#include "api/verdicts/verdict.h"
#include "base/buf.h"

/* A NearMiss for each such change, the least first: a few of them. The nodes are judged as they are
 * now, whatever verdicts the candidates hold. */
json_t *near_misses_json(const struct pod_query *query, const struct candidates *candidates);
/* The same for people; nothing where there are none. */
void near_misses_write(const json_t *near_misses, struct buf *out);

#endif
