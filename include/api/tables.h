/*
 * tables: answers as text, for a client that has asked for JSON. The answer may be any JSON: what
 * is missing is left out.
 */
#ifndef API_TABLES_H
#define API_TABLES_H

#include "base/arena.h"
#include "base/buf.h"

#include <jansson.h>
#include <stdbool.h>

/* Of /v1/dry-run: the text of ?output=table. */
void tables_write_dry_run(const json_t *answer, bool wide, struct arena *arena, struct buf *out);
/* The claims of /v1/inventory. */
void tables_write_claims(const json_t *answer, bool wide, struct arena *arena, struct buf *out);

#endif
