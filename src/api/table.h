/*
 * table: text columns, each as wide as its widest cell. Private to api.
 */
#ifndef API_TABLE_H
#define API_TABLE_H

#include "base/arena.h"
#include "base/buf.h"

#define TABLE_MAX_COLUMNS 10

struct table;

/* NULL ends headings. All in the arena. */
struct table *table_new(struct arena *arena, const char *const *headings);
/* One borrowed cell per heading. "" is shown as "-". */
void table_add(struct table *table, const char *const *cells);
void table_write(const struct table *table, struct buf *out);

#endif
