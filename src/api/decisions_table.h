/* decisions_table: Decisions for people. Private to api. */
#ifndef API_DECISIONS_TABLE_H
#define API_DECISIONS_TABLE_H

#include "base/arena.h"
#include "base/buf.h"

#include <jansson.h>

void decisions_table_write(const json_t *decisions, struct arena *arena, struct buf *out);

#endif
