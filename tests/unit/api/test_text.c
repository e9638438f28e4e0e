/* text: parts of text answers. */
#include "api/pods/group_text.h"
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ages),
                                       cmocka_unit_test(test_an_old_attempt_has_its_age)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
