/* table: see table.h. */
#include "api/table.h"
#include "api/tables.h"
#include "api/text.h"
#include "base/mem.h"

#include <ctype.h>
#include <string.h>

#define WIDTH_OF_OTHERS ((size_t)100)
#define GAP ((size_t)2)
/* Longer words, which no names of Kubernetes have, make no column wider. */
#define WORD_MAX ((size_t)253)

static _Thread_local size_t wanted_width;

void tables_set_width(size_t width)
{
    wanted_width = width;
}

static bool marks_headings;

void tables_mark_headings(void)
{
    marks_headings = true;
}

struct column {
    const char *heading;
    const char *value; /* of all rows; NULL: they differ */
    size_t may_go;     /* TABLE_MAY_GO so many times */
    bool may_be_told;
    bool has_number, has_text; /* "-" is neither */
    size_t width, longest_word;
    size_t least_word; /* the shortest of the longest words of cells that are not "-" */
};

struct row {
    const char *cells[TABLE_MAX_COLUMNS];
    const char *note; /* NULL: none */
    struct row *next;
};

struct table {
    struct arena *arena;
    bool wide;
    size_t n_columns, n_rows;
    struct column columns[TABLE_MAX_COLUMNS];
    struct row *first, *last;
};

static bool begins_character(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

/* Counts characters of UTF-8, not bytes. */
static size_t width_of(const char *text, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++)
        n += begins_character(text[i]);
    return n;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

#define DIGITS "0123456789"

/* Bytes of what clings to the word before this space: "(2)", and a number without a unit, as in
 * "line 24)". */
static size_t clinging_len(const char *space)
{
    const char *next = space + (*space == ' ');
    const bool is_count = *next == '(' && isdigit((unsigned char)next[1]);
    const size_t n = strspn(next, DIGITS);
    const size_t n_marks = n > 0 ? strspn(next + n, ").,;:?") : 0;
    const char after = next[n + n_marks];
    const bool is_last = n > 0 && (after == '\0' || (after == ' ' && n_marks > 0));
    return *space && (is_count || is_last) ? 1 + strcspn(next, " ") : 0;
}

/* Bytes up to a space where a line may end; "train-0 (2)" and "8 GPUs" are one word. */
static size_t word_len(const char *text)
{
    size_t len = strspn(text, DIGITS);
    len += len > 0 && text[len] == ' ' ? 1 : 0;
    len += strcspn(text + len, " ");
    for (size_t more = 1; more > 0; len += more)
        more = clinging_len(text + len);
    return len;
}

static size_t longest_word(const char *text)
{
    size_t longest = 0;
    while (*text) {
        const size_t len = word_len(text);
        longest = larger(longest, width_of(text, len));
        text += len + (text[len] == ' ');
    }
    return smaller(longest, WORD_MAX);
}

static bool is_plain(const char *text)
{
    while (*text >= ' ' && *text < 0x7f)
        text++;
    return *text == '\0';
}

/* "8", "-3", "55.8", "6Gi", "25d", "97%" */
static bool is_number(const char *text)
{
    const size_t len = strspn(text += *text == '-', "0123456789.");
    const char *unit = text + len;
    return len > 0 && isdigit((unsigned char)*text) && strlen(unit) <= 2 &&
           (!*unit || isalpha((unsigned char)*unit) || strcmp(unit, "%") == 0);
}

/* ---- cells ---- */

static struct column column_of(const char *heading)
{
    struct column column = {.heading = heading, .least_word = SIZE_MAX};
    for (; *column.heading == *TABLE_MAY_GO || *column.heading == *TABLE_MAY_BE_TOLD;
         column.heading++) {
        column.may_go += *column.heading == *TABLE_MAY_GO;
        column.may_be_told |= *column.heading == *TABLE_MAY_BE_TOLD;
    }
    column.width = width_of(column.heading, strlen(column.heading));
    column.longest_word = longest_word(column.heading);
    return column;
}

struct table *table_new(struct arena *arena, bool wide, const char *const *headings)
{
    struct table *table = ARENA_NEW(arena, struct table);
    table->arena = arena;
    table->wide = wide;
    for (; headings[table->n_columns] && table->n_columns < TABLE_MAX_COLUMNS; table->n_columns++)
        table->columns[table->n_columns] = column_of(headings[table->n_columns]);
    return table;
}

static void see_cell(struct column *column, const char *cell, bool is_first)
{
    const bool is_none = strcmp(cell, "-") == 0;
    if (is_first)
        column->value = cell;
    else if (column->value && strcmp(column->value, cell) != 0)
        column->value = NULL;
    column->has_number |= is_number(cell);
    column->has_text |= !is_none && !is_number(cell);
    column->width = larger(column->width, width_of(cell, strlen(cell)));
    const size_t longest = longest_word(cell);
    column->longest_word = larger(column->longest_word, longest);
    column->least_word = is_none ? column->least_word : smaller(column->least_word, longest);
}

void table_add(struct table *table, const char *const *cells)
{
    struct row *row = ARENA_NEW(table->arena, struct row);
    for (size_t i = 0; i < table->n_columns; i++) {
        const char *cell = cells[i][0] ? cells[i] : "-";
        row->cells[i] = is_plain(cell) ? cell : text_one_line(cell, table->arena);
        see_cell(&table->columns[i], row->cells[i], table->n_rows == 0);
    }
    if (table->last)
        table->last->next = row;
    else
        table->first = row;
    table->last = row;
    table->n_rows++;
}

void table_add_note(struct table *table, const char *text)
{
    if (table->last)
        table->last->note = text_one_line(text, table->arena);
}

bool table_is_empty(const struct table *table)
{
    return table->n_rows == 0;
}

/* ---- columns ---- */

/* The columns of a table as it is written. */
struct layout {
    size_t n;
    size_t n_below;               /* columns after these, which stand below the row */
    size_t last_width;            /* of the last of the n; 0: as wide as its longest word */
    size_t at[TABLE_MAX_COLUMNS]; /* in the table */
    size_t widths[TABLE_MAX_COLUMNS];
};

static size_t line_width(bool wide)
{
    return wanted_width || wide ? wanted_width : WIDTH_OF_OTHERS;
}

static bool is_without_value(const struct column *column)
{
    return column->value && strcmp(column->value, "-") == 0;
}

static bool is_hidden(const struct table *table, const struct column *column)
{
    if (!column->value || is_without_value(column))
        return column->value != NULL;
    return column->may_be_told ? table->n_rows > 1 : strcmp(column->value, "0") == 0;
}

static struct layout all_columns(const struct table *table)
{
    struct layout layout = {0};
    for (size_t i = 0; i < table->n_columns; i++) {
        if (i == 0 || !is_hidden(table, &table->columns[i]))
            layout.at[layout.n++] = i;
    }
    return layout;
}

/* Cuts each column to the level, but not below its longest word. Returns the width of all. */
static size_t cut(const struct table *table, size_t level, struct layout *layout)
{
    size_t sum = 0;
    for (size_t i = 0; i < layout->n; i++) {
        const struct column *column = &table->columns[layout->at[i]];
        layout->widths[i] = larger(column->longest_word, smaller(column->width, level));
        if (i + 1 == layout->n && layout->last_width > 0)
            layout->widths[i] = layout->last_width;
        sum += layout->widths[i] + (i > 0 ? GAP : 0);
    }
    return sum;
}

/* Drops the last column that may go so early; false: there is none. */
static bool drop_one(const struct table *table, size_t may_go, struct layout *layout)
{
    size_t i = layout->n;
    while (i > 0 && table->columns[layout->at[i - 1]].may_go != may_go)
        i--;
    if (i == 0)
        return false;
    memmove(&layout->at[i - 1], &layout->at[i], (layout->n - i) * sizeof *layout->at);
    layout->n--;
    return true;
}

static struct layout insert_column(const struct layout *layout, size_t at, size_t column)
{
    struct layout more = *layout;
    memmove(&more.at[at + 1], &more.at[at], (more.n - at) * sizeof *more.at);
    more.at[at] = column;
    more.n++;
    return more;
}

/* Puts back each dropped column that has room beside the others. */
static void put_back(const struct table *table, const struct layout *all, size_t width,
                     struct layout *layout)
{
    size_t to = 0;
    for (size_t i = 0; i < all->n; i++) {
        if (to == layout->n || layout->at[to] != all->at[i]) {
            struct layout more = insert_column(layout, to, all->at[i]);
            if (cut(table, width, &more) > width)
                continue;
            *layout = more;
        }
        to++;
    }
}

/* Columns go before a cell wraps, and more of them before a word would make a row longer. */
static void drop(const struct table *table, size_t width, struct layout *layout)
{
    const struct layout all = *layout;
    while (cut(table, width, layout) > width && drop_one(table, 1, layout))
        ;
    while (cut(table, 0, layout) > width && drop_one(table, 2, layout))
        ;
    put_back(table, &all, width, layout);
}

/* Puts below the row what is too long: the longest cells of the last column, if others of it have
 * room, else all of it, and then of the column before. */
static void fold(const struct table *table, size_t width, struct layout *layout)
{
    for (size_t sum = 0; (sum = cut(table, 0, layout)) > width && layout->n > 1;) {
        const struct column *last = &table->columns[layout->at[layout->n - 1]];
        const size_t rest = width - smaller(width, sum - last->longest_word);
        if (rest >= larger(last->least_word, longest_word(last->heading))) {
            layout->last_width = rest;
            return;
        }
        layout->n--;
        layout->n_below++;
    }
}

static struct layout layout_of(const struct table *table)
{
    const size_t width = line_width(table->wide);
    struct layout layout = all_columns(table);
    size_t level = width;
    if (width == 0) {
        for (size_t i = 0; i < layout.n; i++)
            layout.widths[i] = table->columns[layout.at[i]].width;
        return layout;
    }
    if (!table->wide)
        drop(table, width, &layout);
    if (wanted_width > 0)
        fold(table, width, &layout);
    while (cut(table, level, &layout) > width && level > 0)
        level--;
    return layout;
}

/* ---- lines ---- */

/* The next line of a cell: as many words as fit, at least one. Moves past it. */
static size_t take_line(const char **cell, size_t width)
{
    const char *text = *cell;
    size_t end = word_len(text);
    size_t used = width_of(text, end);
    while (text[end]) {
        const size_t len = word_len(text + end + 1);
        used += 1 + width_of(text + end + 1, len);
        if (used > width)
            break;
        end += 1 + len;
    }
    *cell += end + (text[end] == ' ');
    return end;
}

static void write_spaces(size_t n, struct buf *out)
{
    buf_printf(out, "%*s", (int)n, "");
}

static bool is_of_numbers(const struct column *column)
{
    return column->has_number && !column->has_text;
}

/* Returns whether the row goes on with another line. */
static bool write_line_of_row(const struct table *table, const struct layout *layout,
                              const char **cells, struct buf *out)
{
    size_t n_spaces = 0; /* before the next text, so that no line ends with spaces */
    bool goes_on = false;
    for (size_t i = 0; i < layout->n; i++) {
        const char *text = cells[layout->at[i]];
        const size_t len = take_line(&cells[layout->at[i]], layout->widths[i]);
        const size_t rest = layout->widths[i] - smaller(width_of(text, len), layout->widths[i]);
        const bool is_right = is_of_numbers(&table->columns[layout->at[i]]);
        if (len > 0) {
            write_spaces(n_spaces + (is_right ? rest : 0), out);
            buf_add(out, text, len);
            n_spaces = 0;
        }
        goes_on |= cells[layout->at[i]][0] != '\0';
        n_spaces += GAP + (len == 0 ? layout->widths[i] : is_right ? 0 : rest);
    }
    buf_add_text(out, "\n");
    return goes_on;
}

static void write_row(const struct table *table, const struct layout *layout, const char **cells,
                      struct buf *out)
{
    while (write_line_of_row(table, layout, cells, out))
        ;
}

/* "RESOURCE nvidia.com/gpu; CPU 95.8", below the row. from: the first of these columns. */
static void write_below(const struct table *table, const struct layout *layout, size_t from,
                        const char *const *cells, struct buf *out)
{
    const char *text = "";
    for (size_t i = from; i < layout->n + layout->n_below; i++) {
        const char *cell = cells[layout->at[i]];
        const char *heading = table->columns[layout->at[i]].heading;
        if (strcmp(cell, "-") != 0)
            text = arena_printf(table->arena, "%s%s%s %s", text, *text ? "; " : "", heading, cell);
    }
    table_write_sentence(text, GAP, out);
}

static void write_headings(const struct table *table, const struct layout *layout, struct buf *out)
{
    const char *cells[TABLE_MAX_COLUMNS];
    bool goes_on = true;
    for (size_t i = 0; i < table->n_columns; i++)
        cells[i] = table->columns[i].heading;
    while (goes_on) {
        if (marks_headings)
            buf_add(out, &(char){TABLES_HEADING}, 1);
        goes_on = write_line_of_row(table, layout, cells, out);
    }
}

/* width 0: no limit. */
static void write_wrapped(const char *text, size_t width, size_t indent, size_t more,
                          struct buf *out)
{
    width = width ? width : SIZE_MAX;
    while (*text) {
        const char *line = text;
        write_spaces(indent, out);
        buf_add(out, line, take_line(&text, width - smaller(indent, width)));
        buf_add_text(out, "\n");
        indent += more;
        more = 0;
    }
}

void table_write_sentence(const char *text, size_t indent, struct buf *out)
{
    write_wrapped(text, line_width(false), indent, 0, out);
}

void table_write_line(const char *text, size_t indent, size_t more, struct buf *out)
{
    struct buf line;
    buf_init(&line, BUF_UNBOUNDED); /* at most three times the text */
    buf_add_one_line(&line, text);
    write_wrapped(buf_text(&line), line_width(false), indent, more, out);
    buf_fini(&line);
}

void tables_write_lines(const char *text, bool wide, struct buf *out)
{
    while (*text) {
        const size_t len = strcspn(text, "\n");
        char *line CLEANUP(mem_free_ptr) = mem_strndup(text, len);
        write_wrapped(line, line_width(wide), 0, TABLE_MORE, out);
        text += len + (text[len] == '\n');
    }
}

/* "The same in each row: USED 0, STATE Ready." */
static void write_told(const struct table *table, struct buf *out)
{
    const char *text = "";
    for (size_t i = 1; i < table->n_columns; i++) {
        const struct column *column = &table->columns[i];
        if (column->may_be_told && is_hidden(table, column) && !is_without_value(column))
            text = arena_printf(table->arena, "%s%s %s %s", text, text[0] ? "," : "",
                                column->heading, column->value);
    }
    if (text[0])
        table_write_sentence(arena_printf(table->arena, "The same in each row:%s.", text), 0, out);
}

void table_write(const struct table *table, struct buf *out)
{
    const struct layout layout = layout_of(table);
    const char *cells[TABLE_MAX_COLUMNS];
    write_headings(table, &layout, out);
    for (const struct row *row = table->first; row; row = row->next) {
        size_t from = layout.n;
        memcpy(cells, row->cells, sizeof cells);
        if (layout.last_width > 0 && longest_word(cells[layout.at[from - 1]]) > layout.last_width)
            cells[layout.at[--from]] = "";
        write_row(table, &layout, cells, out);
        write_below(table, &layout, from, row->cells, out);
        if (row->note)
            table_write_sentence(row->note, GAP, out);
    }
    write_told(table, out);
}
