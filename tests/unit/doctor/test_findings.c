/* findings: both outputs, and the bounds on what servers and files can write into them. */
#include "base/mem.h"
#include "doctor/findings.h"
#include "unit.h"

#include <string.h>

static void free_findings(struct findings **findings)
{
    findings_free(*findings);
}

static void test_text(void **state)
{
    (void)state;
    struct findings *findings CLEANUP(free_findings) = findings_new();
    struct buf out CLEANUP(buf_fini);
    buf_init(&out, BUF_UNBOUNDED);
    findings_add(findings, FINDING_OK, "a", "", "is %d", 1);
    findings_not_checked(findings, "b", "do it", "why");
    assert_false(findings_has_fail(findings));
    findings_add(findings, FINDING_FAIL, "c", "undo it", "is wrong");
    assert_true(findings_has_fail(findings));
    findings_write_text(findings, &out);
    assert_string_equal(buf_text(&out), "ok    a: is 1\n"
                                        "warn  b: not checked: why; do it\n"
                                        "fail  c: is wrong; undo it\n"
                                        "1 ok, 1 warn (1 of them not checked), 1 fail\n");
}

static void test_json(void **state)
{
    (void)state;
    struct findings *findings CLEANUP(free_findings) = findings_new();
    struct buf out CLEANUP(buf_fini);
    buf_init(&out, BUF_UNBOUNDED);
    findings_add(findings, FINDING_WARN, "a", "do it", "is \"%s\"", "x");
    findings_write_json(findings, &out);
    assert_string_equal(buf_text(&out),
                        "{\"findings\": [\n  {\"level\": \"warn\", \"check\": \"a\", \"seen\": "
                        "\"is \\\"x\\\"\", \"advice\": \"do it\"}\n], \"ok\": 0, \"warn\": 1, "
                        "\"fail\": 0, \"notChecked\": 0, \"leftOut\": 0}\n");
}

static void test_a_finding_is_one_line_without_control_characters(void **state)
{
    (void)state;
    struct findings *findings CLEANUP(free_findings) = findings_new();
    struct buf out CLEANUP(buf_fini);
    buf_init(&out, BUF_UNBOUNDED);
    findings_add(findings, FINDING_OK, "a", "", "b\n\x1b[31mc\x7f\r");
    findings_write_text(findings, &out);
    assert_non_null(strstr(buf_text(&out), "ok    a: b  [31mc  \n"));
}

static void test_findings_beyond_the_maximum_are_counted(void **state)
{
    (void)state;
    struct findings *findings CLEANUP(free_findings) = findings_new();
    struct buf out CLEANUP(buf_fini);
    buf_init(&out, BUF_UNBOUNDED);
    for (size_t i = 0; i < FINDINGS_MAX; i++)
        findings_add(findings, FINDING_OK, "a", "", "is right");
    findings_add(findings, FINDING_FAIL, "b", "", "is wrong");
    findings_write_text(findings, &out);
    assert_true(findings_has_fail(findings));
    assert_non_null(strstr(buf_text(&out), "1 more findings are left out\n500 ok, "));
    assert_non_null(strstr(buf_text(&out), "1 fail\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_a_finding_is_one_line_without_control_characters),
        cmocka_unit_test(test_findings_beyond_the_maximum_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
