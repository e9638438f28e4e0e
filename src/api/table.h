/*
 * table: text columns. Private to api.
 *
 * A table fits in the width of tables.h: columns that may go do so, the last first, then cells wrap
 * at spaces, and columns that may go only then do so before a word makes a row longer. Where a
 * width was set, cells of the last columns that are still too long stand below the row, with their
 * headings, so that only a name that is too long by itself is longer than a line. No word breaks. A
 * wide table keeps its columns. Columns of numbers are aligned at the right. A column without a
 * value is left out, and so is one of zeros. A column that may be told is not: if several rows have
 * one value, a line below the table has it.
 */
#ifndef API_TABLE_H
#define API_TABLE_H

#include "base/arena.h"
#include "base/buf.h"

#include <stdbool.h>

#define TABLE_MAX_COLUMNS 12
/* Rows from which a table folds nodes that look alike, unless it is wide. */
#define TABLE_FOLD_ROWS ((size_t)40)

/* Marks that a heading may begin with: the column may go if the line is too short; only if words
 * are too long for it; and may be told below the table if it has one value. */
#define TABLE_MAY_GO "?"
#define TABLE_MAY_GO_LAST "??"
#define TABLE_MAY_BE_TOLD "="

struct table;

/* NULL ends headings. All in the arena. */
struct table *table_new(struct arena *arena, bool wide, const char *const *headings);
/* One borrowed cell per heading. "" is shown as "-". Control characters are replaced. */
void table_add(struct table *table, const char *const *cells);
/* Without the headings. */
bool table_is_empty(const struct table *table);
/* A line below the row, over all columns. */
void table_add_note(struct table *table, const char *text);
/* Of lines that are no table: wraps at spaces, and indents by so many of them. */
void table_write_sentence(const char *text, size_t indent, struct buf *out);
/* The same for a text with any bytes; its further lines have so many more spaces. */
void table_write_line(const char *text, size_t indent, size_t more, struct buf *out);
#define TABLE_MORE ((size_t)2)
void table_write(const struct table *table, struct buf *out);

#endif
