/* dry_run_table: a DryRunResult for people. Private to api. */
#ifndef API_DRY_RUN_DRY_RUN_TABLE_H
#define API_DRY_RUN_DRY_RUN_TABLE_H

#include "base/arena.h"
#include "base/buf.h"

#include <jansson.h>

void dry_run_table_write(const json_t *result, struct arena *arena, struct buf *out);

#endif
