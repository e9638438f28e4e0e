/* cel: the comparisons without which an expression is not true. */
#include "base/buf.h"
#include "base/mem.h"
#include "cel/cel.h"
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_terms_of_a_conjunction),
        cmocka_unit_test(test_what_is_no_term),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
