/* table: see table.h. */
#include "api/table.h"
#include "api/tables.h"
#include "api/text.h"

#include <string.h>

static size_t line_width = TABLE_WIDTH;

void tables_set_width(size_t width)
{
    line_width = width;
}

bool table_is_narrow(void)
{
    return line_width < TABLE_WIDTH;
}

/* Spaces between columns. */
static size_t gap(void)
{
    return table_is_narrow() ? 2 : 3;
}

struct row {
    const char *cells[TABLE_MAX_COLUMNS];
    struct row *next;
};

struct table {
    struct arena *arena;
    bool wide;
    size_t n_columns;
    size_t widths[TABLE_MAX_COLUMNS];
    size_t longest_words[TABLE_MAX_COLUMNS];
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

/* Bytes up to where a line may end: before a space, or after / and a comma. */
static size_t word_len(const char *text)
{
    const size_t len = strcspn(text, " /,");
    return len + (text[len] == '/' || text[len] == ',');
}

static size_t longest_word(const char *text)
{
    size_t longest = 0;
    while (*text) {
        const size_t len = word_len(text);
        longest = larger(longest, width_of(text, len));
        text += len + (text[len] == ' ');
    }
    return longest;
}

static bool is_plain(const char *text)
{
    while (*text >= ' ' && *text < 0x7f)
        text++;
    return *text == '\0';
}

struct table *table_new(struct arena *arena, bool wide, const char *const *headings)
{
    struct table *table = ARENA_NEW(arena, struct table);
    table->arena = arena;
    table->wide = wide;
    while (headings[table->n_columns] && table->n_columns < TABLE_MAX_COLUMNS)
        table->n_columns++;
    table_add(table, headings);
    return table;
}

void table_add(struct table *table, const char *const *cells)
{
    struct row *row = ARENA_NEW(table->arena, struct row);
    for (size_t i = 0; i < table->n_columns; i++) {
        const char *cell = cells[i][0] ? cells[i] : "-";
        row->cells[i] = is_plain(cell) ? cell : text_one_line(cell, table->arena);
        table->widths[i] = larger(table->widths[i], width_of(row->cells[i], strlen(row->cells[i])));
        table->longest_words[i] = larger(table->longest_words[i], longest_word(row->cells[i]));
    }
    if (table->last)
        table->last->next = row;
    else
        table->first = row;
    table->last = row;
}

/* ---- widths ---- */

/* Cuts each column to the level, but not below its least width. Returns the width of all. */
static size_t cut(const struct table *table, const size_t *least, const size_t *most, size_t level,
                  size_t *ret_widths)
{
    size_t sum = table->n_columns > 0 ? (table->n_columns - 1) * gap() : 0;
    for (size_t i = 0; i < table->n_columns; i++) {
        ret_widths[i] = larger(least[i], smaller(most[i], level));
        sum += ret_widths[i];
    }
    return sum;
}

/* Cells wrap first. Words are cut only if the longest ones do not fit next to each other. */
static void fit_widths(const struct table *table, size_t *ret_widths)
{
    static const size_t NONE[TABLE_MAX_COLUMNS];
    const size_t *words = table->longest_words;
    if (table->wide ||
        cut(table, table->widths, table->widths, line_width, ret_widths) <= line_width) {
        memcpy(ret_widths, table->widths, sizeof table->widths);
        return;
    }
    const bool words_fit = cut(table, words, words, line_width, ret_widths) <= line_width;
    size_t level = line_width;
    while (level > 1 && cut(table, words_fit ? words : NONE, words_fit ? table->widths : words,
                            level, ret_widths) > line_width)
        level--;
}

/* ---- lines ---- */

/* Bytes of the first characters of a word that is too long for the line. */
static size_t cut_of(const char *word, size_t width)
{
    size_t len = 0;
    while (width > 0 || !begins_character(word[len]))
        width -= begins_character(word[len++]);
    return len;
}

/* The next line of a cell: as many words as fit. Moves past it, and returns its width. */
static size_t write_line(const char **cell, size_t width, struct buf *out)
{
    const char *text = *cell;
    size_t end = word_len(text);
    size_t used = width_of(text, end);
    while (used <= width && text[end]) {
        const size_t space = text[end] == ' ';
        const size_t len = word_len(text + end + space);
        const size_t with_word = used + space + width_of(text + end + space, len);
        if (with_word > width)
            break;
        end += space + len;
        used = with_word;
    }
    if (used > width)
        end = cut_of(text, width);
    buf_add(out, text, end);
    *cell += end + (text[end] == ' ');
    return smaller(used, width);
}

static void write_spaces(size_t n, struct buf *out)
{
    while (n-- > 0)
        buf_add_text(out, " ");
}

/* Returns whether the row goes on with another line. */
static bool write_line_of_row(const struct table *table, const size_t *widths, const char **cells,
                              struct buf *out)
{
    size_t n_spaces = 0; /* before the next text, so that no line ends with spaces */
    bool goes_on = false;
    for (size_t i = 0; i < table->n_columns; i++) {
        size_t n = 0;
        if (cells[i][0]) {
            write_spaces(n_spaces, out);
            n_spaces = 0;
            n = write_line(&cells[i], widths[i], out);
        }
        goes_on |= cells[i][0] != '\0';
        n_spaces += widths[i] - n + gap();
    }
    buf_add_text(out, "\n");
    return goes_on;
}

bool table_is_empty(const struct table *table)
{
    return table->first == table->last;
}

void table_write(const struct table *table, struct buf *out)
{
    size_t widths[TABLE_MAX_COLUMNS] = {0};
    fit_widths(table, widths);
    for (const struct row *row = table->first; row; row = row->next) {
        const char *cells[TABLE_MAX_COLUMNS];
        memcpy(cells, row->cells, sizeof cells);
        while (write_line_of_row(table, widths, cells, out))
            ;
    }
}
