/* clock, wait: the program's time while the host is suspended. */
#include "base/clock.h"
#include "unit.h"

static int64_t asleep_s; /* time that the host was suspended */

int __real_clock_gettime(clockid_t clock, struct timespec *ret_time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_time);

/* Like Linux: CLOCK_MONOTONIC stops while suspended, CLOCK_BOOTTIME and CLOCK_REALTIME go on. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_time)
{
    const int r = __real_clock_gettime(clock, ret_time);
    if (clock != CLOCK_MONOTONIC)
        ret_time->tv_sec += asleep_s;
    return r;
}

static int wake(void **state)
{
    (void)state;
    asleep_s = 0;
    return 0;
}

/* A leader's term has expired when its host wakes. */
static void clock_includes_suspension_of_the_host(void **state)
{
    (void)state;
    const int64_t before_ms = clock_ms();
    const int64_t before_us = clock_us();
    asleep_s = 3600;
    assert_true(clock_ms() >= before_ms + 3600000);
    assert_true(clock_us() >= before_us + 3600000000);
}

/* Condition variables use CLOCK_MONOTONIC, so moments are converted. */
static void wait_moment_uses_the_clock_of_conditions(void **state)
{
    struct timespec now;
    (void)state;
    asleep_s = 3600;
    const struct timespec moment = clock_moment(clock_ms() + 60000);
    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &now), 0);
    assert_true(moment.tv_sec <= now.tv_sec + 61);
    assert_true(moment.tv_sec > now.tv_sec);
}

static void a_past_moment_needs_no_wait(void **state)
{
    struct timespec now;
    (void)state;
    const struct timespec moment = clock_moment(clock_ms() - 60000);
    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &now), 0);
    assert_true(moment.tv_sec <= now.tv_sec + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(clock_includes_suspension_of_the_host, wake),
        cmocka_unit_test_teardown(wait_moment_uses_the_clock_of_conditions, wake),
        cmocka_unit_test_teardown(a_past_moment_needs_no_wait, wake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
