/* exec_pace: the time of a plugin's next run. */
#include "kube/credentials/exec_priv.h"

#include "base/clock.h"
#include "unit.h"

static void test_renewal_is_due_at_four_fifths_of_the_lifetime(void **state)
{
    (void)state;
    struct exec_pace pace = {0};
    exec_pace_succeeded(&pace, 1000, 900000);
    assert_int_equal(pace.due_ms, 1000 + 720000);
    exec_pace_succeeded(&pace, 1000, 7000);
    assert_int_equal(pace.due_ms, 1000 + 5600);
}

static void test_an_expired_credential_is_not_renewed_at_once(void **state)
{
    (void)state;
    struct exec_pace pace = {0};
    exec_pace_succeeded(&pace, 1000, 100);
    assert_int_equal(pace.due_ms, 6000);
    exec_pace_succeeded(&pace, 6000, -3600000);
    assert_int_equal(pace.due_ms, 11000);
}

static void test_a_credential_without_expiry_is_never_due(void **state)
{
    (void)state;
    struct exec_pace pace = {0};
    exec_pace_succeeded(&pace, 1000, CLOCK_NEVER);
    assert_true(pace.due_ms == CLOCK_NEVER);
}

static void test_failures_back_off(void **state)
{
    (void)state;
    static const int64_t GAPS_MS[] = {1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000};
    struct exec_pace pace = {0};
    int64_t now_ms = 5;
    for (size_t i = 0; i < sizeof GAPS_MS / sizeof *GAPS_MS; i++) {
        exec_pace_failed(&pace, now_ms);
        assert_int_equal(pace.due_ms, now_ms + GAPS_MS[i]);
        now_ms = pace.due_ms;
    }
    exec_pace_succeeded(&pace, now_ms, 100000);
    exec_pace_failed(&pace, now_ms + 80000);
    assert_int_equal(pace.due_ms, now_ms + 81000);
}

static void test_the_first_rejection_is_due_at_once(void **state)
{
    (void)state;
    struct exec_pace pace = {0};
    exec_pace_succeeded(&pace, 1000, CLOCK_NEVER);
    exec_pace_ask(&pace, 1001);
    assert_int_equal(pace.due_ms, 1001);
    exec_pace_ask(&pace, 1002); /* already requested */
    assert_int_equal(pace.due_ms, 1001);
}

static void test_repeated_rejections_back_off(void **state)
{
    (void)state;
    static const int64_t GAPS_MS[] = {0, 1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000};
    struct exec_pace pace = {0};
    int64_t ran_ms = 1000;
    exec_pace_succeeded(&pace, ran_ms, CLOCK_NEVER);
    for (size_t i = 0; i < sizeof GAPS_MS / sizeof *GAPS_MS; i++) {
        exec_pace_ask(&pace, ran_ms);
        assert_int_equal(pace.due_ms, ran_ms + GAPS_MS[i]);
        ran_ms = pace.due_ms;
        exec_pace_succeeded(&pace, ran_ms, CLOCK_NEVER);
        assert_true(pace.due_ms == CLOCK_NEVER);
    }
    exec_pace_ask(&pace, ran_ms + 119999); /* the gap was 60 s before; it begins anew after 120 s */
    assert_int_equal(pace.due_ms, ran_ms + 119999);
    assert_int_equal(pace.gap_ms, 60000);
    exec_pace_succeeded(&pace, ran_ms, CLOCK_NEVER);
    ran_ms += 120000;
    exec_pace_ask(&pace, ran_ms);
    assert_int_equal(pace.due_ms, ran_ms);
    assert_int_equal(pace.gap_ms, 1000);
}

static void test_a_rejection_does_not_postpone_a_due_run(void **state)
{
    (void)state;
    struct exec_pace pace = {0};
    exec_pace_succeeded(&pace, 1000, CLOCK_NEVER);
    exec_pace_ask(&pace, 1000);
    exec_pace_failed(&pace, 1000); /* gap 2 s */
    assert_int_equal(pace.due_ms, 3000);
    exec_pace_ask(&pace, 1500);
    assert_int_equal(pace.due_ms, 3000);
    struct exec_pace soon = {0};
    exec_pace_succeeded(&soon, 1000, 0);
    soon.gap_ms = 60000;
    exec_pace_ask(&soon, 1000);
    assert_int_equal(soon.due_ms, 6000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_renewal_is_due_at_four_fifths_of_the_lifetime),
        cmocka_unit_test(test_an_expired_credential_is_not_renewed_at_once),
        cmocka_unit_test(test_a_credential_without_expiry_is_never_due),
        cmocka_unit_test(test_failures_back_off),
        cmocka_unit_test(test_the_first_rejection_is_due_at_once),
        cmocka_unit_test(test_repeated_rejections_back_off),
        cmocka_unit_test(test_a_rejection_does_not_postpone_a_due_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
