/* What a watch on the Lease hints at. */
#include "lease_rig.h"
#include "unit.h"

#include <string.h>

#define RENEWED "2026-11-21T10:00:00.000000Z"

static void follow(struct lease_rig *rig)
{
    lease_rig_init(rig);
    lease_rig_expect(rig, "GET", LEASE_RIG_PATH);
    lease_rig_show(rig, "other", "5", RENEWED);
    lease_rig_expect_nothing(rig);
}

static void one_that_is_released_is_taken_at_once(void **state)
{
    struct lease_rig rig;
    (void)state;
    follow(&rig);
    rig.now_ms += 500;
    lease_rig_see(&rig, "", "6", RENEWED);
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
    lease_rig_show(&rig, "", "6", RENEWED);
    lease_rig_expect(&rig, "PUT", LEASE_RIG_PATH);
    lease_rig_accept(&rig);
    assert_true(lease_rig_leads(&rig));
    lease_rig_fini(&rig);
}

static void a_release_that_is_seen_before_an_older_answer_is_not_forgotten(void **state)
{
    struct lease_rig rig;
    (void)state;
    follow(&rig);
    lease_rig_wait(&rig, 2000, 4400);
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
    lease_rig_see(&rig, "", "6", RENEWED);
    lease_rig_show(&rig, "other", "5", RENEWED); /* it was on its way */
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
    lease_rig_fini(&rig);
}

/* A TAKE that was about to be sent would be accepted on top of what was seen. */
static void who_is_seen_to_have_taken_it_first_keeps_it(void **state)
{
    struct lease_rig rig;
    (void)state;
    follow(&rig);
    lease_rig_see(&rig, "", "6", RENEWED);
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
    lease_rig_show(&rig, "", "6", RENEWED);
    lease_rig_see(&rig, "third", "7", "2026-11-21T10:00:02.000000Z");
    lease_rig_expect_nothing(&rig);
    assert_string_equal(lease_status(rig.lease).holder, "third");
    lease_rig_wait(&rig, 2000, 4400);
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
    lease_rig_fini(&rig);
}

static void what_is_older_is_not_looked_at(void **state)
{
    struct lease_rig rig;
    (void)state;
    follow(&rig);
    lease_rig_see(&rig, "", "4", RENEWED);
    lease_rig_expect_nothing(&rig);
    assert_string_equal(lease_status(rig.lease).holder, "other");
    lease_rig_fini(&rig);
}

static void a_renewal_that_is_seen_counts(void **state)
{
    struct lease_rig rig;
    (void)state;
    follow(&rig);
    rig.now_ms += 1000;
    lease_rig_see(&rig, "other", "6", "2026-11-21T10:00:02.000000Z");
    const int64_t seen_ms = rig.now_ms;
    while (rig.now_ms < seen_ms + 15000) {
        lease_rig_wait(&rig, 0, 4400);
        lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
        lease_rig_show(&rig, "other", "6", "2026-11-21T10:00:02.000000Z");
    }
    assert_int_equal(rig.now_ms, seen_ms + 15000);
    lease_rig_expect(&rig, "PUT", LEASE_RIG_PATH);
    lease_rig_fini(&rig);
}

static void the_leader_looks_when_another_is_seen_to_hold_it(void **state)
{
    struct lease_rig rig;
    (void)state;
    lease_rig_init(&rig);
    lease_rig_lead(&rig);
    lease_rig_see(&rig, "other", "50", RENEWED); /* from before */
    lease_rig_see(&rig, "me", "100", RENEWED);
    lease_rig_expect_nothing(&rig);
    lease_rig_see(&rig, "other", "101", RENEWED);
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
    lease_rig_show(&rig, "other", "101", RENEWED);
    assert_false(lease_rig_leads(&rig));
    lease_rig_fini(&rig);
}

static void one_that_is_deleted_is_its_holders_until_its_time_is_over(void **state)
{
    struct lease_rig rig;
    (void)state;
    follow(&rig);
    const int64_t seen_ms = rig.now_ms;
    lease_seen(rig.lease, rig.now_ms, NULL);
    while (rig.now_ms < seen_ms + 15000) {
        lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
        lease_rig_answer(&rig, 404, "{}");
        lease_rig_wait(&rig, 0, 4400);
    }
    assert_int_equal(rig.now_ms, seen_ms + 15000);
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
    lease_rig_answer(&rig, 404, "{}");
    lease_rig_expect(&rig, "POST", LEASE_RIG_ALL);
    assert_int_equal(lease_rig_sent_number(&rig, "leaseTransitions"), 0);
    lease_rig_fini(&rig);
}

static void its_holder_makes_a_deleted_one_anew(void **state)
{
    struct lease_rig rig;
    (void)state;
    lease_rig_init(&rig);
    lease_rig_lead(&rig);
    lease_seen(rig.lease, rig.now_ms, NULL);
    assert_false(lease_rig_leads(&rig));
    assert_string_equal(lease_status(rig.lease).why, "the Lease was deleted");
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
    lease_rig_answer(&rig, 404, "{}");
    lease_rig_expect(&rig, "POST", LEASE_RIG_ALL);
    lease_rig_accept(&rig);
    assert_true(lease_rig_leads(&rig));
    assert_int_equal(lease_status(rig.lease).term, 2);
    lease_rig_fini(&rig);
}

/* The renewal may have been taken before the end. */
static void a_renewal_that_was_sent_before_the_end_counts_for_nothing(void **state)
{
    struct lease_rig rig;
    (void)state;
    lease_rig_init(&rig);
    lease_rig_lead(&rig);
    lease_rig_wait(&rig, 2000, 2000);
    lease_rig_expect(&rig, "PUT", LEASE_RIG_PATH);
    lease_seen(rig.lease, rig.now_ms, NULL);
    lease_rig_accept(&rig);
    assert_false(lease_rig_leads(&rig));
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
    lease_rig_fini(&rig);
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
