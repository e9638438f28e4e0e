/* timing: the sums that keep two replicas from binding at the same time. */
#include "config/timing.h"
#include "unit.h"

static struct settings settings_of(size_t bind_s, size_t lease_s, size_t renew_s, size_t retry_s)
{
    return (struct settings){
        .kubernetes = {.bind_timeout_s = bind_s},
        .election = {.lease_s = lease_s, .renew_s = renew_s, .retry_s = retry_s},
    };
}

static struct timing timing_with(size_t bind_s, size_t lease_s, size_t renew_s, size_t retry_s)
{
    const struct settings settings = settings_of(bind_s, lease_s, renew_s, retry_s);
    return timing_of(&settings);
}

/* A request sent at the last moment ends before another replica can lead. */
static void test_requests_of_a_leader_end_within_its_lease(void **state)
{
    (void)state;
    for (size_t bind_s = 2; bind_s <= 60; bind_s++) {
        const struct timing timing = timing_with(bind_s, bind_s + 5, bind_s + 4, 2);
        const int64_t over_ms = timing.decide_ms + TIMING_DELIVERY_MS + timing.post_life_ms;
        assert_true(over_ms + TIMING_SLACK_MS <= timing.lease_ms);
        assert_true(timing.decide_ms <= timing.renew_ms);
        assert_int_equal(timing.act_ms, timing.bind_ms + 1000);
        assert_int_equal(timing.hold_ms, timing.act_ms);
        assert_true(timing.post_life_ms >= 1000);
        assert_int_equal(timing.post_life_ms % 1000, 0);
    }
}

/* The kernel's timeout starts at the first retransmission, 200 ms and a round trip after the first
 * transmission. */
static void test_the_kernel_aborts_a_post_before_its_deadline(void **state)
{
    (void)state;
    assert_true(200 + 100 + timing_with(8, 15, 10, 2).unacked_ms <= TIMING_DELIVERY_MS);
}

static void test_deciding_ends_before_the_lease_is_lost(void **state)
{
    (void)state;
    assert_int_equal(timing_with(2, 60, 4, 1).decide_ms, 4000);
    assert_int_equal(timing_with(2, 6, 4, 1).decide_ms, 3000);
}

static void test_the_least_lease_has_room_for_two_renewals(void **state)
{
    (void)state;
    const struct settings settings = settings_of(3, 6, 4, 1);
    assert_int_equal(timing_least_lease_s(&settings), 6);
    assert_int_equal(timing_of(&settings).decide_ms, 2000);
}

static void test_another_replica_leads_after_the_lease(void **state)
{
    (void)state;
    const struct timing timing = timing_with(2, 6, 4, 1);
    assert_int_equal(timing_leaderless_ms(&timing), 6000 + TIMING_TAKEOVER_MS);
}

/* With the shipped settings. */
static void test_a_vanished_leader_delays_other_pods_by_at_most_10_s(void **state)
{
    (void)state;
    struct settings settings;
    settings_init(&settings);
    const struct timing timing = timing_of(&settings);
    assert_true(timing_stall_ms(&timing) <= 10000);
    assert_true(timing.bind_ms >= 2000 && timing.bind_ms < timing.http_ms);
    assert_true(settings.election.lease_s >= timing_least_lease_s(&settings));
    settings_fini(&settings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_vanished_leader_delays_other_pods_by_at_most_10_s),
        cmocka_unit_test(test_requests_of_a_leader_end_within_its_lease),
        cmocka_unit_test(test_the_kernel_aborts_a_post_before_its_deadline),
        cmocka_unit_test(test_deciding_ends_before_the_lease_is_lost),
        cmocka_unit_test(test_the_least_lease_has_room_for_two_renewals),
        cmocka_unit_test(test_another_replica_leads_after_the_lease),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
