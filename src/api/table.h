/*
 * table: text columns. Private to api.
 *
 * A wide table has one line per row, and each column is as wide as its widest cell. Others fit in
 * the width of tables.h: cells wrap at spaces and after / and commas, and longer words anywhere.
 */
#ifndef API_TABLE_H
#define API_TABLE_H

#include "base/arena.h"
#include "base/buf.h"

#include <stdbool.h>

#define TABLE_MAX_COLUMNS 10
/* Characters; the default of tables_set_width(). */
#define TABLE_WIDTH ((size_t)100)
/* Rows from which a table folds nodes that look alike, unless it is wide. */
#define TABLE_FOLD_ROWS ((size_t)40)

/* Whether tables that are not wide have less room than TABLE_WIDTH. */
bool table_is_narrow(void);

struct table;

/* NULL ends headings. All in the arena. */
struct table *table_new(struct arena *arena, bool wide, const char *const *headings);
/* One borrowed cell per heading. "" is shown as "-". Control characters are replaced. */
void table_add(struct table *table, const char *const *cells);
/* Without the headings. */
bool table_is_empty(const struct table *table);
void table_write(const struct table *table, struct buf *out);

#endif
