/* text: parts of text answers. */
#include "api/text.h"
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
