/* How many devices a request may use, and what rules out the others. */
#include "unit.h"

#include "dra/claims_count.h"

#include <string.h>

#define DOMAIN "gpu.example.com"
#define MODEL "device.attributes['" DOMAIN "'].model"
#define STEPS UINT64_C(100000)

static const struct cel_fact BIG = {
    .domain = DOMAIN, .name = "model", .kind = CEL_STRING, .text = "Big GPU 80GB"};
static const struct cel_fact OLD = {
    .domain = DOMAIN, .name = "model", .kind = CEL_STRING, .text = "Old GPU"};
static const struct cel_device BIG_ONE = {.driver = DOMAIN, .facts = &BIG, .n_facts = 1};
static const struct cel_device OLD_ONE = {.driver = DOMAIN, .facts = &OLD, .n_facts = 1};
static const struct allocate_taint TAINT = {"broken", "", "NoSchedule"};

static const struct device_copy_kind KINDS[] = {
    {.facts = &BIG_ONE, .is_free = true, .n = 3},
    {.facts = &BIG_ONE, .is_free = false, .n = 2},
    {.facts = &BIG_ONE, .is_free = true, .taints = &TAINT, .n_taints = 1, .n = 1},
    {.facts = &OLD_ONE, .is_free = true, .n = 4},
};

static struct claims_count count_of(const char *of_class, struct allocate_want *want,
                                    const char *of_want, size_t n_kinds, uint64_t steps,
                                    struct arena *arena)
{
    struct allocate_class *class = ARENA_NEW(arena, struct allocate_class);
    struct cel_program **programs = ARENA_ARRAY(arena, struct cel_program *, 2);
    programs[0] = cel_compile(of_class, arena);
    programs[1] = cel_compile(of_want, arena);
    class->selectors = (struct allocate_selectors){&programs[0], 1};
    want->selectors = (struct allocate_selectors){&programs[1], 1};
    want->device_class = class;
    const struct claims_seen seen = {KINDS, n_kinds, NULL};
    return claims_count(want, &seen, &steps, arena);
}

static void test_devices_are_counted_by_what_claims_can_get(void **state)
{
    struct allocate_want want = {.n_devices = 1};
    struct claims_count count =
        count_of("true", &want, MODEL ".startsWith('Big')", 4, STEPS, *state);
    assert_null(count.not_judged);
    assert_int_equal(count.n_all, 10);
    assert_int_equal(count.n_matching, 6);
    assert_int_equal(count.n_free, 3);
    assert_int_equal(count.n_tainted, 1);
    want.is_admin = true;
    count = count_of("true", &want, "true", 4, STEPS, *state);
    assert_int_equal(count.n_free, 9);
}

static void test_each_device_counts_for_the_first_term_that_is_false(void **state)
{
    struct allocate_want want = {.n_devices = 1};
    const struct claims_count count = count_of(
        MODEL " != 'Old GPU'", &want, "true && " MODEL " == 'big gpu' && 1 == 2", 4, STEPS, *state);
    assert_int_equal(count.n_matching, 0);
    assert_int_equal(count.n_removals, 2);
    assert_false(count.removals[0].is_of_class);
    assert_string_equal(count.removals[0].term, MODEL " == 'big gpu'");
    assert_int_equal(count.removals[0].n, 6);
    assert_string_equal(count.removals[0].nearest, "Big GPU 80GB");
    assert_true(count.removals[1].is_of_class);
    assert_int_equal(count.removals[1].n, 4);
}

static void test_the_nearest_value_of_several(void **state)
{
    struct allocate_want want = {.n_devices = 1};
    const struct claims_count count = count_of("true", &want, MODEL " == 'gpu'", 4, STEPS, *state);
    assert_int_equal(count.n_removals, 1);
    assert_string_equal(count.removals[0].nearest, "Old GPU");
}

static void test_error_leaves_no_numbers(void **state)
{
    struct allocate_want want = {.n_devices = 1};
    const struct claims_count count =
        count_of("true", &want, MODEL ".matches('x') || 1 / 0 > 1", 4, STEPS, *state);
    assert_int_equal(count.n_errors, 10);
    assert_non_null(strstr(count.error, "division by zero"));
}

static void test_work_is_bounded(void **state)
{
    struct allocate_want want = {.n_devices = 1};
    assert_non_null(count_of("true", &want, "true", 4, 3, *state).not_judged);
    assert_non_null(
        count_of("true", &want, "sets.contains([1], [1])", 4, STEPS, *state).not_judged);
    assert_int_equal(count_of("false", &want, "true", 0, STEPS, *state).n_all, 0);
}

static void test_work_may_end_anywhere(void **state)
{
    static const char TERMS[] = MODEL " == 'a' && " MODEL " == 'b'";
    struct allocate_want want = {.n_devices = 1};
    uint64_t steps = 0;
    while (count_of("true", &want, TERMS, 4, steps, *state).not_judged)
        steps++;
    assert_int_equal(count_of("true", &want, TERMS, 4, steps, *state).removals[0].n, 10);
}

static int set_up(void **state)
{
    *state = arena_new();
    return 0;
}

static int tear_down(void **state)
{
    arena_free(*state);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_devices_are_counted_by_what_claims_can_get),
        TEST(test_each_device_counts_for_the_first_term_that_is_false),
        TEST(test_the_nearest_value_of_several),
        TEST(test_error_leaves_no_numbers),
        TEST(test_work_is_bounded),
        TEST(test_work_may_end_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
