/* cel: expressions that try to take much time, memory or stack are not judged, or judged soon. The
 * arena's size bounds both. */
#include "base/buf.h"
#include "base/mem.h"
#include "judge.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#define ARENA_MAX (48U << 20)

/* n times the part, between head and tail. */
static char *repeated(const char *head, const char *part, size_t n, const char *tail)
{
    struct buf text;
    buf_init(&text, BUF_UNBOUNDED);
    buf_add_text(&text, head);
    for (size_t i = 0; i < n; i++)
        buf_add_text(&text, part);
    buf_add_text(&text, tail);
    return buf_take(&text);
}

static void assert_bounded(char *expression, const char *beginning)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const char *got = judge(expression, arena);
    if (strncmp(got, beginning, strlen(beginning)) != 0)
        fail_msg("%.60s...: %s, not %s", expression, got, beginning);
    assert_true(arena_bytes(arena) < ARENA_MAX);
    free(expression);
}

static void depth_and_length_are_bounded(void **state)
{
    (void)state;
    assert_bounded(repeated("", "(", 5000, "true"), "not judged");
    assert_bounded(repeated("", "!(", 3000, "true"), "not judged");
    assert_bounded(repeated("", "[", 5000, ""), "not judged");
    assert_bounded(repeated("true", " ? true : true", 700, ""), "not judged");
    assert_bounded(repeated("device", ".a", 4000, " == 1"), "not judged");
    assert_bounded(repeated("1", " + 1", 2000, " == 1"), "not judged");
    assert_bounded(repeated("true", " && true", 1000, ""), "true");
    assert_bounded(repeated("'", "a", 20000, "' == ''"), "not judged: it has more than");
    assert_bounded(repeated("[", "1,", 5000, "1] == []"), "not judged");
}

static void work_is_bounded(void **state)
{
    (void)state;
    const char *ten = "[1,2,3,4,5,6,7,8,9,10].all(x, ";
    assert_bounded(repeated("", ten, 7, "x > 0)))))))"), "not judged");
    assert_bounded(mem_strdup("'aaa'.matches('(((a{1,9}){1,9}){1,9}){1}[ab]{999}{1}')"), "invalid");
    assert_bounded(repeated("true", " || 'a'.matches('(b{9}){99}')", 300, ""), "true");
    assert_bounded(repeated("'x'.matches('", "(", 5000, "')"), "not judged");
}

/* What kube-apiserver refuses for its estimated cost, of an expression that is cheap here. */
static void what_upstream_calls_too_complex_is_not_judged(void **state)
{
    (void)state;
    static const char TOO_COMPLEX[] = "not judged: kube-apiserver may reject it as too complex";
    static const char *const EXPRESSIONS[] = {
        "device.capacity['d'].memory != quantity('1')",
        "device.attributes['d'].?type.orValue('').contains('g')",
        "string(device.attributes['d'].type).lowerAscii() == 'gpu'",
        "device.attributes.d.type.matches('gpu')",
        ("device.attributes.all(a, device.attributes.all(b, device.attributes.all(c, "
         "device.attributes.all(d, a != b))))"),
        "['a', 'b'].join() == 'ab'",
    };
    for (size_t i = 0; i < sizeof EXPRESSIONS / sizeof *EXPRESSIONS; i++)
        assert_bounded(mem_strdup(EXPRESSIONS[i]), TOO_COMPLEX);
    assert_bounded(
        mem_strdup("device.attributes['gpu.nvidia.com'].type.lowerAscii().contains('gpu')"),
        "true");
    assert_bounded(mem_strdup("device.attributes.exists(a, device.attributes[a].exists(b, b == "
                              "'type'))"),
                   "true");
    assert_bounded(
        mem_strdup("cel.bind(a, device.attributes['gpu.nvidia.com'].type, a.matches('gpu') && a == "
                   "'gpu')"),
        "true");
}

static void memory_is_bounded(void **state)
{
    (void)state;
    assert_bounded(repeated("cel.bind(a, 'aaaaaaaaaaaaaaaa', ", "cel.bind(a, a + a, ", 30,
                            "a == '')))))))))))))))))))))))))))))))"),
                   "not judged");
    assert_bounded(repeated("cel.bind(a, [1], ", "cel.bind(a, [a, a], ", 30,
                            "a == a)))))))))))))))))))))))))))))))"),
                   "not judged");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(depth_and_length_are_bounded),
        cmocka_unit_test(work_is_bounded),
        cmocka_unit_test(what_upstream_calls_too_complex_is_not_judged),
        cmocka_unit_test(memory_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
