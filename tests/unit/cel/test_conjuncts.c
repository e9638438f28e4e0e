/* The parts of an expression that && joins. */
#include "unit.h"

#include "base/arena.h"
#include "cel/cel.h"

static void expect(const char *expression, const char *const *parts, size_t n)
{
    struct arena *arena = arena_new();
    const struct cel_program *program = cel_compile(expression, arena);
    size_t found = 0;
    assert_int_equal(cel_verdict(program), CEL_VALID);
    const char *const *texts = cel_conjuncts(program, arena, &found);
    assert_int_equal(found, n);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(texts[i], parts[i]);
    arena_free(arena);
}
#define EXPECT(expression, ...)                                                                    \
    expect(expression, (const char *const[]){__VA_ARGS__},                                         \
           sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void test_parts_of_the_outermost_conjunction(void **state)
{
    (void)state;
    EXPECT("true", "true");
    EXPECT(" device.driver == 'a' &&\n (true && false) ", "device.driver == 'a'",
           "(true && false)");
    EXPECT("[true, false && true][0] && 'a && b' == 'c'", "[true, false && true][0]",
           "'a && b' == 'c'");
    EXPECT("true && device.attributes['d'].?x.orValue('') == '' // a && b", "true",
           "device.attributes['d'].?x.orValue('') == '' // a && b");
}

static void test_other_operators_are_one_part(void **state)
{
    (void)state;
    EXPECT("true && false || true", "true && false || true");
    EXPECT("true && false ? true : false", "true && false ? true : false");
    EXPECT("(true && false)", "(true && false)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_of_the_outermost_conjunction),
        cmocka_unit_test(test_other_operators_are_one_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
