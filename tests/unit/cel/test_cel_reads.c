/* cel: which facts an expression reads: devices that agree in these have the same answer. */
#include "base/buf.h"
#include "base/mem.h"
#include "cel/cel.h"
#include "unit.h"

static void assert_reads(const char *expression, const char *wanted)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct cel_program *program = cel_compile(expression, arena);
    assert_string_equal(cel_message(program), "");
    struct buf got;
    buf_init(&got, BUF_UNBOUNDED);
    size_t n;
    const struct cel_read *reads = cel_reads(program, &n);
    for (size_t i = 0; i < n; i++)
        buf_printf(&got, "%s%s %s/%s", i > 0 ? ", " : "",
                   reads[i].is_capacity ? "capacity" : "attribute",
                   reads[i].domain ? reads[i].domain : "*", reads[i].name ? reads[i].name : "*");
    assert_string_equal(buf_text(&got), wanted);
    buf_fini(&got);
}

static void literal_names_are_single_reads(void **state)
{
    (void)state;
    assert_reads("device.driver == 'd'", "");
    assert_reads("device.attributes['d'].type == 'gpu'", "attribute d/type");
    assert_reads("device.attributes.d['type'] == device.attributes['d'].type", "attribute d/type");
    assert_reads("has(device.attributes['d'].a) && 'b' in device.capacity['d']",
                 "attribute d/a, capacity d/b");
    assert_reads(
        "device.attributes['d'].?a.orValue(1) == 1 && device.attributes[?'e'].?b.orValue(1) == 1",
        "attribute d/a, attribute e/b");
    assert_reads("cel.bind(x, device.attributes['d'], x.a == 1 && x.b == 2)",
                 "attribute d/a, attribute d/b");
    assert_reads("cel.bind(x, device.attributes['d'].a, true)", "attribute d/a");
}

static void other_uses_read_more(void **state)
{
    (void)state;
    assert_reads("'d' in device.attributes", "attribute d/");
    assert_reads("device.attributes.exists(x, x == 'd')", "attribute */*");
    assert_reads("device.attributes['d'].exists(x, x == 'a')", "attribute d/*");
    assert_reads("device.attributes[device.driver].a == 1", "attribute */*");
    assert_reads("cel.bind(x, device, x.driver == 'd')", "attribute */*, capacity */*");
    assert_reads("[1].exists(device, device == 1)", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literal_names_are_single_reads),
        cmocka_unit_test(other_uses_read_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
