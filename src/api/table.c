/* table: see table.h. */
#include "api/table.h"

#include <stdbool.h>
#include <string.h>

struct row {
    const char *cells[TABLE_MAX_COLUMNS];
    struct row *next;
};

struct table {
    struct arena *arena;
    size_t n_columns;
    size_t widths[TABLE_MAX_COLUMNS];
    struct row *first, *last;
};

/* Counts characters of UTF-8, not bytes. */
static size_t width_of(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

struct table *table_new(struct arena *arena, const char *const *headings)
{
    struct table *table = ARENA_NEW(arena, struct table);
    table->arena = arena;
    while (headings[table->n_columns] && table->n_columns < TABLE_MAX_COLUMNS)
        table->n_columns++;
    table_add(table, headings);
    return table;
}

void table_add(struct table *table, const char *const *cells)
{
    struct row *row = ARENA_NEW(table->arena, struct row);
    for (size_t i = 0; i < table->n_columns; i++) {
        row->cells[i] = cells[i][0] ? cells[i] : "-";
        size_t width = width_of(row->cells[i]);
        if (width > table->widths[i])
            table->widths[i] = width;
    }
    if (table->last)
        table->last->next = row;
    else
        table->first = row;
    table->last = row;
}

static void write_row(const struct table *table, const struct row *row, struct buf *out)
{
    for (size_t i = 0; i < table->n_columns; i++) {
        const bool is_last = i + 1 == table->n_columns;
        buf_add_text(out, row->cells[i]);
        for (size_t n = width_of(row->cells[i]); !is_last && n < table->widths[i] + 3; n++)
            buf_add_text(out, " ");
    }
    buf_add_text(out, "\n");
}

void table_write(const struct table *table, struct buf *out)
{
    for (const struct row *row = table->first; row; row = row->next)
        write_row(table, row, out);
}
