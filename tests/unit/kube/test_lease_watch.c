/* Hints from a watch on the Lease. */
#include "lease_harness.h"
#include "unit.h"

#include <string.h>

#define RENEWED "2026-11-21T10:00:00.000000Z"

static void follow(struct lease_harness *harness)
{
    lease_harness_init(harness);
    lease_harness_expect(harness, "GET", LEASE_HARNESS_PATH);
    lease_harness_show(harness, "other", "5", RENEWED);
    lease_harness_expect_nothing(harness);
}

static void one_that_is_released_is_taken_at_once(void **state)
{
    struct lease_harness harness;
    (void)state;
    follow(&harness);
    harness.now_ms += 500;
    lease_harness_see(&harness, "", "6", RENEWED);
    lease_harness_expect(&harness, "GET", LEASE_HARNESS_PATH);
    lease_harness_show(&harness, "", "6", RENEWED);
    lease_harness_expect(&harness, "PUT", LEASE_HARNESS_PATH);
    lease_harness_accept(&harness);
    assert_true(lease_harness_leads(&harness));
    lease_harness_fini(&harness);
}

static void a_release_that_is_seen_before_an_older_answer_is_not_forgotten(void **state)
{
    struct lease_harness harness;
    (void)state;
    follow(&harness);
    lease_harness_wait(&harness, 2000, 4400);
    lease_harness_expect(&harness, "GET", LEASE_HARNESS_PATH);
    lease_harness_see(&harness, "", "6", RENEWED);
    lease_harness_show(&harness, "other", "5", RENEWED); /* it was on its way */
    lease_harness_expect(&harness, "GET", LEASE_HARNESS_PATH);
    lease_harness_fini(&harness);
}

/* A TAKE about to be sent would be accepted on top of the watched version. */
static void who_is_seen_to_have_taken_it_first_keeps_it(void **state)
{
    struct lease_harness harness;
    (void)state;
    follow(&harness);
    lease_harness_see(&harness, "", "6", RENEWED);
    lease_harness_expect(&harness, "GET", LEASE_HARNESS_PATH);
    lease_harness_show(&harness, "", "6", RENEWED);
    lease_harness_see(&harness, "third", "7", "2026-11-21T10:00:02.000000Z");
    lease_harness_expect_nothing(&harness);
    assert_string_equal(lease_status(harness.lease).holder, "third");
    lease_harness_wait(&harness, 2000, 4400);
    lease_harness_expect(&harness, "GET", LEASE_HARNESS_PATH);
    lease_harness_fini(&harness);
}

static void what_is_older_is_not_looked_at(void **state)
{
    struct lease_harness harness;
    (void)state;
    follow(&harness);
    lease_harness_see(&harness, "", "4", RENEWED);
    lease_harness_expect_nothing(&harness);
    assert_string_equal(lease_status(harness.lease).holder, "other");
    lease_harness_fini(&harness);
}

static void a_renewal_that_is_seen_counts(void **state)
{
    struct lease_harness harness;
    (void)state;
    follow(&harness);
    harness.now_ms += 1000;
    lease_harness_see(&harness, "other", "6", "2026-11-21T10:00:02.000000Z");
    const int64_t seen_ms = harness.now_ms;
    while (harness.now_ms < seen_ms + 15000) {
        lease_harness_wait(&harness, 0, 4400);
        lease_harness_expect(&harness, "GET", LEASE_HARNESS_PATH);
        lease_harness_show(&harness, "other", "6", "2026-11-21T10:00:02.000000Z");
    }
    assert_int_equal(harness.now_ms, seen_ms + 15000);
    lease_harness_expect(&harness, "PUT", LEASE_HARNESS_PATH);
    lease_harness_fini(&harness);
}

static void the_leader_looks_when_another_is_seen_to_hold_it(void **state)
{
    struct lease_harness harness;
    (void)state;
    lease_harness_init(&harness);
    lease_harness_lead(&harness);
    lease_harness_see(&harness, "other", "50", RENEWED); /* an old one */
    lease_harness_see(&harness, "me", "100", RENEWED);
    lease_harness_expect_nothing(&harness);
    lease_harness_see(&harness, "other", "101", RENEWED);
    lease_harness_expect(&harness, "GET", LEASE_HARNESS_PATH);
    lease_harness_show(&harness, "other", "101", RENEWED);
    assert_false(lease_harness_leads(&harness));
    lease_harness_fini(&harness);
}

static void one_that_is_deleted_is_its_holders_until_its_time_is_over(void **state)
{
    struct lease_harness harness;
    (void)state;
    follow(&harness);
    const int64_t seen_ms = harness.now_ms;
    lease_seen(harness.lease, harness.now_ms, NULL);
    while (harness.now_ms < seen_ms + 15000) {
        lease_harness_expect(&harness, "GET", LEASE_HARNESS_PATH);
        lease_harness_answer(&harness, 404, "{}");
        lease_harness_wait(&harness, 0, 4400);
    }
    assert_int_equal(harness.now_ms, seen_ms + 15000);
    lease_harness_expect(&harness, "GET", LEASE_HARNESS_PATH);
    lease_harness_answer(&harness, 404, "{}");
    lease_harness_expect(&harness, "POST", LEASE_HARNESS_ALL);
    assert_int_equal(lease_harness_sent_number(&harness, "leaseTransitions"), 0);
    lease_harness_fini(&harness);
}

static void its_holder_makes_a_deleted_one_anew(void **state)
{
    struct lease_harness harness;
    (void)state;
    lease_harness_init(&harness);
    lease_harness_lead(&harness);
    lease_seen(harness.lease, harness.now_ms, NULL);
    assert_false(lease_harness_leads(&harness));
    assert_string_equal(lease_status(harness.lease).why, "the Lease was deleted");
    lease_harness_expect(&harness, "GET", LEASE_HARNESS_PATH);
    lease_harness_answer(&harness, 404, "{}");
    lease_harness_expect(&harness, "POST", LEASE_HARNESS_ALL);
    lease_harness_accept(&harness);
    assert_true(lease_harness_leads(&harness));
    assert_int_equal(lease_status(harness.lease).term, 2);
    lease_harness_fini(&harness);
}

/* The renewal may have been accepted before the end. */
static void a_renewal_that_was_sent_before_the_end_counts_for_nothing(void **state)
{
    struct lease_harness harness;
    (void)state;
    lease_harness_init(&harness);
    lease_harness_lead(&harness);
    lease_harness_wait(&harness, 2000, 2000);
    lease_harness_expect(&harness, "PUT", LEASE_HARNESS_PATH);
    lease_seen(harness.lease, harness.now_ms, NULL);
    lease_harness_accept(&harness);
    assert_false(lease_harness_leads(&harness));
    lease_harness_expect(&harness, "GET", LEASE_HARNESS_PATH);
    lease_harness_fini(&harness);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_is_released_is_taken_at_once),
        cmocka_unit_test(a_release_that_is_seen_before_an_older_answer_is_not_forgotten),
        cmocka_unit_test(who_is_seen_to_have_taken_it_first_keeps_it),
        cmocka_unit_test(what_is_older_is_not_looked_at),
        cmocka_unit_test(a_renewal_that_is_seen_counts),
        cmocka_unit_test(the_leader_looks_when_another_is_seen_to_hold_it),
        cmocka_unit_test(one_that_is_deleted_is_its_holders_until_its_time_is_over),
        cmocka_unit_test(its_holder_makes_a_deleted_one_anew),
        cmocka_unit_test(a_renewal_that_was_sent_before_the_end_counts_for_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
