/* cel: the comparisons without which an expression is not true, and lists of selectors. */
#include "base/buf.h"
#include "base/mem.h"
#include "cel/selectors.h"
#include "unit.h"

static const struct cel_fact FACTS[] = {
    {.domain = "d", .name = "type", .kind = CEL_STRING, .text = "gpu"},
    {.domain = "d", .name = "memory", .kind = CEL_QUANTITY, .text = "40Gi"},
};
static const struct cel_device DEVICE = {.driver = "d", .facts = FACTS, .n_facts = 2};

static const char *const KINDS[] = {"equal", "text", "quantity"};

/* Each term, and whether it alone is true of the device. */
static void assert_terms(const char *expression, const char *wanted)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct cel_program *program = cel_compile(expression, arena);
    struct buf got;
    buf_init(&got, BUF_UNBOUNDED);
    assert_string_equal(cel_message(program), "");
    for (size_t i = 0; i < cel_n_terms(program); i++) {
        const struct cel_term term = cel_term(program, i);
        const struct cel_answer answer = cel_evaluate_term(program, i, &DEVICE, arena);
        buf_printf(&got, "%s%s %s %s/%s %s: %d", i > 0 ? ", " : "", KINDS[term.kind],
                   term.read.is_capacity ? "capacity" : "attribute", term.read.domain,
                   term.read.name, term.literal, answer.value);
    }
    assert_string_equal(buf_text(&got), wanted);
    buf_fini(&got);
}

static void test_terms_of_a_conjunction(void **state)
{
    (void)state;
    assert_terms("device.attributes['d'].type == 'gpu'", "equal attribute d/type gpu: 1");
    assert_terms("'mig' == device.attributes['d'].type", "equal attribute d/type mig: 0");
    assert_terms("device.attributes['d'].type.lowerAscii().matches('^g') && "
                 "device.attributes['d'].type.startsWith('x') && device.driver == 'd'",
                 "text attribute d/type ^g: 1, text attribute d/type x: 0");
    assert_terms("device.capacity['d'].memory.compareTo(quantity('80Gi')) >= 0",
                 "quantity capacity d/memory 80Gi: 0");
    assert_terms("device.capacity['d'].memory.isGreaterThan(quantity('1Gi'))",
                 "quantity capacity d/memory 1Gi: 1");
}

static void test_what_is_no_term(void **state)
{
    (void)state;
    assert_terms("device.attributes['d'].type == 'a' || device.attributes['d'].type == 'b'", "");
    assert_terms("!(device.attributes['d'].type == 'a')", "");
    assert_terms("device.attributes['d'].type != 'a'", "");
    assert_terms("cel.bind(x, device.attributes['d'], x.type == 'gpu')", "");
    assert_terms("device.driver == 'd'", "");
}

struct wanted {
    enum cel_verdict verdict;
    bool value;
    size_t i;
};

static void assert_list(const char *const *texts, size_t n, struct wanted wanted)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct cel_selectors selectors = cel_selectors_compile(texts, n, false, arena);
    const char *message = NULL;
    size_t i = SIZE_MAX;
    assert_int_equal(cel_selectors_verdict(&selectors, &message), CEL_VALID);
    const struct cel_answer answer = cel_selectors_evaluate(&selectors, &DEVICE, arena, &i);
    assert_int_equal(answer.verdict, wanted.verdict);
    assert_int_equal(answer.value, wanted.value);
    assert_int_equal(i, wanted.i);
    assert_true(n == 0 || answer.cost > 0);
}

static void test_a_list_ends_at_the_first_that_is_not_true(void **state)
{
    (void)state;
    assert_list(NULL, 0, (struct wanted){CEL_VALID, true, 0});
    assert_list((const char *const[]){"true", "device.driver == 'd'"}, 2,
                (struct wanted){CEL_VALID, true, 2});
    assert_list((const char *const[]){"true", "false", "1 / 0 == 1"}, 3,
                (struct wanted){CEL_VALID, false, 1});
    assert_list((const char *const[]){"true", "device.attributes['d'].none == 1", "false"}, 3,
                (struct wanted){CEL_INVALID, false, 1});
}

static void test_a_list_has_the_verdict_of_its_first_fault(void **state)
{
    (void)state;
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const char *const texts[] = {"true", "1 +", "duration('1s') == duration('1s')"};
    const char *message = NULL;
    struct cel_selectors selectors = cel_selectors_compile(texts, 3, true, arena);
    assert_int_equal(cel_selectors_verdict(&selectors, &message), CEL_INVALID);
    assert_string_not_equal(message, "");
    selectors = cel_selectors_compile(texts, 1, true, arena);
    assert_int_equal(cel_selectors_verdict(&selectors, &message), CEL_NOT_JUDGED);
    assert_string_not_equal(message, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_terms_of_a_conjunction),
        cmocka_unit_test(test_what_is_no_term),
        cmocka_unit_test(test_a_list_ends_at_the_first_that_is_not_true),
        cmocka_unit_test(test_a_list_has_the_verdict_of_its_first_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
