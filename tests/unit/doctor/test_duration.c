/* duration: Go's durations. The rows were computed with time.ParseDuration. */
#include "scheduler_checks.h"
#include "unit.h"

static void test_durations(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ms;
    } RIGHT[] = {{"3s", 3000},      {"1m30s", 90000}, {"500ms", 500},     {"0", 0},
                 {"0s", 0},         {"1.5s", 1500},   {"2h", 7200000},    {"-3s", -3000},
                 {"+3s", 3000},     {".5s", 500},     {"1h1ms", 3600001}, {"3us", 0},
                 {"3\xc2\xb5s", 0}, {"1500us", 1}};
    for (size_t i = 0; i < sizeof RIGHT / sizeof *RIGHT; i++) {
        int64_t ms = -1;
        assert_true(duration_parse(RIGHT[i].text, &ms));
        assert_int_equal(ms, RIGHT[i].ms);
    }
}

static void test_no_durations(void **state)
{
    (void)state;
    static const char *const WRONG[] = {"",
                                        "3",
                                        "s",
                                        "3 s",
                                        "3sec",
                                        "1s2",
                                        "-",
                                        "..s",
                                        "1..2s",
                                        "1e3s",
                                        "0x3s",
                                        "3S",
                                        "99999999999h",
                                        "11111111111111111111111111111111111111s"};
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        int64_t ms = -1;
        assert_false(duration_parse(WRONG[i], &ms));
        assert_int_equal(ms, -1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_durations),
                                       cmocka_unit_test(test_no_durations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
