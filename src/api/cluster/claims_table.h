/*
 * claims_table: texts about a claim of GET /v1/inventory. Private to api.
 */
#ifndef API_CLUSTER_CLAIMS_TABLE_H
#define API_CLUSTER_CLAIMS_TABLE_H

#include "base/arena.h"

#include <jansson.h>

const char *claims_table_devices(const json_t *claim, struct arena *arena);
/* The pods that use it. */
const char *claims_table_users(const json_t *claim, struct arena *arena);
/* "in use", "unused" or "terminating" */
const char *claims_table_state(const json_t *claim);

#endif
