/* child: what ends a child. */
#include "unit.h"

#include "child.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define LONG_MS 60000
/* Its output ends with the last process that holds it. */
#define HANGS "sleep 1000 > /dev/fd/%d & wait"

/* Runs the shell's words. *ret_status is untouched after an error. */
static int run(const char *words, const struct child_bound *bound, struct buf *out, int *ret_status,
               struct err *err)
{
    struct buf complaints;
    buf_init(&complaints, 100);
    const char *const argv[] = {"sh", "-c", words, NULL};
    const struct child_streams streams = {NULL, 0, out, &complaints, NULL, bound};
    const int r = child_run(argv, &streams, ret_status, err);
    buf_fini(&complaints);
    return r;
}

/* A child and its own child that hang; afterwards none of them holds the pipe. */
static void ends_all(const struct child_bound *bound, int expected)
{
    int ends[2];
    char words[100];
    char byte = 0;
    int status = -1;
    struct buf out;
    struct err err;
    buf_init(&out, 100);
    assert_int_equal(pipe(ends), 0);
    assert_true(fcntl(ends[0], F_SETFD, FD_CLOEXEC) == 0);
    (void)snprintf(words, sizeof words, HANGS, ends[1]);
    assert_int_equal(run(words, bound, &out, &status, &err), expected);
    assert_int_equal(status, -1);
    assert_null(strstr(err.text, "cannot be run"));
    assert_int_equal(close(ends[1]), 0);
    assert_int_equal(read(ends[0], &byte, 1), 0);
    assert_int_equal(close(ends[0]), 0);
    buf_fini(&out);
}

static void test_time_ends_a_child_and_its_children(void **state)
{
    (void)state;
    const int never = eventfd(0, EFD_CLOEXEC);
    const struct child_bound bound = {1, never};
    ends_all(&bound, -ETIMEDOUT);
    assert_int_equal(close(never), 0);
}

static void test_a_stop_ends_a_child_and_its_children(void **state)
{
    (void)state;
    const int now = eventfd(1, EFD_CLOEXEC);
    const struct child_bound bound = {LONG_MS, now};
    ends_all(&bound, -ECANCELED);
    assert_int_equal(close(now), 0);
}

static void test_a_child_in_time_is_not_touched(void **state)
{
    (void)state;
    int status = -1;
    struct buf out;
    struct err err;
    const int never = eventfd(0, EFD_CLOEXEC);
    const struct child_bound bound = {LONG_MS, never};
    buf_init(&out, 100);
    assert_int_equal(run("echo so; exit 3", &bound, &out, &status, &err), 0);
    assert_int_equal(status, 3);
    assert_string_equal(buf_text(&out), "so\n");
    buf_fini(&out);
    assert_int_equal(close(never), 0);
}

static void test_output_without_end_is_ended(void **state)
{
    (void)state;
    int status = 0;
    struct buf out;
    struct err err;
    buf_init(&out, 100);
    assert_int_equal(run("exec cat /dev/zero", NULL, &out, &status, &err), -EFBIG);
    assert_int_equal(out.len, 0);
    buf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_time_ends_a_child_and_its_children),
        cmocka_unit_test(test_a_stop_ends_a_child_and_its_children),
        cmocka_unit_test(test_a_child_in_time_is_not_touched),
        cmocka_unit_test(test_output_without_end_is_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
