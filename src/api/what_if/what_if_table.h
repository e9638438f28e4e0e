/* what_if_table: the answer of POST /v1/what-if as text. Private to api. */
#ifndef API_WHAT_IF_WHAT_IF_TABLE_H
#define API_WHAT_IF_WHAT_IF_TABLE_H

#include "base/arena.h"
#include "base/buf.h"

#include <jansson.h>
#include <stdbool.h>

void what_if_write_table(const json_t *answer, bool wide, struct arena *arena, struct buf *out);

#endif
