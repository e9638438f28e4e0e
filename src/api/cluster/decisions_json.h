/*
 * decisions_json: decisions for other answers. Private to api.
 */
#ifndef API_CLUSTER_DECISIONS_JSON_H
#define API_CLUSTER_DECISIONS_JSON_H

#include "api/api.h"

#include <jansson.h>

/* False after answering 503: another replica decides. */
bool decisions_json_are_here(const struct api *api, struct exchange *exchange);
/* Those on pods of the namespace (NULL: of all), newest first, as in GET /v1/decisions. */
json_t *decisions_json_of(const struct api *api, const char *namespace_, struct arena *arena);
/* The outcome of one as text. */
const char *decisions_json_outcome(const json_t *decision, struct arena *arena);

#endif
