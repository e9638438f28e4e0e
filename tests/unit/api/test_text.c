/* text: parts of text answers. */
#include "api/pods/group_text.h"
#include "api/table.h"
#include "api/tables.h"
#include "api/text.h"
#include "base/mem.h"
#include "unit.h"

static void test_ages(void **state)
{
    static const struct {
        int64_t seconds;
        const char *text;
    } ROWS[] = {
        {0, "0s"},       {59, "59s"},       {60, "1m"},      {3599, "59m"},    {3600, "1h0m"},
        {25500, "7h5m"}, {86399, "23h59m"}, {86400, "1d0h"}, {273600, "3d4h"},
    };
    (void)state;
    struct arena *arena = arena_new();
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        assert_string_equal(text_age(ROWS[i].seconds, arena), ROWS[i].text);
    arena_free(arena);
}

static void test_an_old_attempt_has_its_age(void **state)
{
    (void)state;
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct waiting_group row = {.why = "room", .size = 4, .n_fit = 3, .lacks = "lacks 8 H100"};
    row.tried_ms = 1000000;
    assert_string_equal(group_text(&row, 1009999, arena),
                        "waits: 3 of 4 would fit now; the fourth lacks 8 H100");
    assert_string_equal(group_text(&row, 1040000, arena),
                        "waits: 3 of 4 would fit; the fourth lacks 8 H100 (40s ago)");
    row.n_fit = 4;
    row.lacks = "no rack has 12 free GPUs for it";
    assert_string_equal(group_text(&row, 1040000, arena),
                        "waits: no rack has 12 free GPUs for it (40s ago)");
}

/* The same numbers in each run. */
static size_t below(size_t n)
{
    static uint32_t state = 1;
    state = state * 1664525 + 1013904223;
    return (state >> 8) % n;
}

/* Words of up to `longest` characters, and now and then a number. */
static const char *random_cell(size_t longest, struct arena *arena)
{
    static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyz-abcdefghijklmnopqrstuvwxyz0123456789"
                                  "-abcdefghijklmnopqrstuvwxyz0123456789.example";
    const char *cell = "";
    for (size_t n = 1 + below(4); n > 0; n--) {
        const int len = (int)(1 + below(longest));
        const char *word = below(5) == 0 ? "(7)" : arena_printf(arena, "%.*s", len, LETTERS);
        cell = arena_printf(arena, "%s%s%s", cell, *cell ? " " : "", word);
    }
    return cell;
}

static void add_random_rows(struct table *table, size_t longest, struct arena *arena)
{
    for (size_t n = 1 + below(4); n > 0; n--) {
        const char *cells[TABLE_MAX_COLUMNS];
        for (size_t i = 0; i < TABLE_MAX_COLUMNS; i++)
            cells[i] = below(6) == 0 ? "" : random_cell(longest, arena);
        table_add(table, cells);
    }
}

/* Each table of words that fit in the line fits, whatever its columns, and says all that may not
 * go. */
static void test_every_table_fits(void **state)
{
    static const char *const HEADINGS[] = {"NODE",
                                           TABLE_MAY_GO "USED",
                                           TABLE_MAY_GO_LAST "MODEL",
                                           "FREE",
                                           "STATE",
                                           TABLE_MAY_BE_TOLD "RESOURCE",
                                           "WHY NOT",
                                           "PODS",
                                           "CPU",
                                           "KIND",
                                           "GOES TO",
                                           "WAITS"};
    (void)state;
    for (size_t round = 0; round < 3000; round++) {
        struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
        const char *headings[TABLE_MAX_COLUMNS + 1] = {NULL};
        struct buf out CLEANUP(buf_fini);
        const size_t width = 80 + below(60);
        buf_init(&out, BUF_UNBOUNDED);
        memcpy(headings, HEADINGS, (2 + below(TABLE_MAX_COLUMNS - 1)) * sizeof *headings);
        struct table *table = table_new(arena, below(3) == 0, headings);
        add_random_rows(table, 60, arena); /* and "(7) (7)", the heading, a space */
        tables_set_width(width);
        table_write(table, &out);
        for (const char *line = buf_text(&out); *line; line += strcspn(line, "\n") + 1)
            assert_in_range(strcspn(line, "\n"), 0, width);
    }
    tables_set_width(0);
}

/* No line ends between "line" and its number, a count and what it counts. */
static void test_numbers_cling(void **state)
{
    (void)state;
    struct buf out CLEANUP(buf_fini);
    buf_init(&out, BUF_UNBOUNDED);
    tables_set_width(10);
    table_write_line("a field (line 24) or of 4 pods at 16, x", 0, 0, &out);
    assert_string_equal(buf_text(&out), "a field\n(line 24)\nor of\n4 pods\nat 16, x\n");
    tables_set_width(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ages), cmocka_unit_test(test_every_table_fits),
        cmocka_unit_test(test_numbers_cling), cmocka_unit_test(test_an_old_attempt_has_its_age)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
