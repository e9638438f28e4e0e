/* Releasing the Lease, leaving it to others, and acquiring it again. */
#include "lease_harness.h"
#include "unit.h"

#include <string.h>

#define RENEWED "2026-11-21T10:00:00.000000Z"

static void aim(struct lease_harness *harness, enum lease_aim aim)
{
    lease_set_aim(harness->lease, harness->now_ms, aim);
}

/* Holds the Lease, version 100, and has to leave. */
static void leave(struct lease_harness *harness)
{
    lease_harness_init(harness);
    lease_harness_lead(harness);
    harness->now_ms += 1000;
    aim(harness, LEASE_LEAVE);
    assert_false(lease_harness_leads(harness));
    assert_false(lease_has_left(harness->lease));
}

static void left(struct lease_harness *harness)
{
    leave(harness);
    lease_harness_expect(harness, "GET", LEASE_HARNESS_PATH);
    lease_harness_show(harness, "me", "100", RENEWED);
    lease_harness_expect(harness, "PUT", LEASE_HARNESS_PATH);
    lease_harness_accept(harness);
    assert_true(lease_has_left(harness->lease));
}

/* ---- releasing ---- */

static void the_holder_gives_it_up(void **state)
{
    struct lease_harness harness;
    (void)state;
    leave(&harness);
    assert_int_equal(lease_status(harness.lease).losses, 0);
    lease_harness_expect(&harness, "GET", LEASE_HARNESS_PATH);
    lease_harness_show(&harness, "me", "100", RENEWED);
    lease_harness_expect(&harness, "PUT", LEASE_HARNESS_PATH);
    assert_string_equal(lease_harness_sent(&harness, "holderIdentity"), "");
    assert_int_equal(lease_harness_sent_number(&harness, "leaseDurationSeconds"), 1);
    assert_int_equal(lease_harness_sent_number(&harness, "leaseTransitions"), 3);
    assert_string_equal(lease_harness_sent(&harness, "renewTime"), "2026-11-21T10:00:01.000000Z");
    assert_string_equal(lease_harness_sent(&harness, "acquireTime"), "2026-11-21T10:00:01.000000Z");
    assert_false(lease_has_left(harness.lease));
    lease_harness_accept(&harness);
    assert_true(lease_has_left(harness.lease));
    lease_harness_wait(&harness, 2000, 4400);
    lease_harness_fini(&harness);
}

static void a_conflict_is_tried_again(void **state)
{
    struct lease_harness harness;
    (void)state;
    lease_harness_init(&harness);
    lease_harness_lead(&harness);
    lease_harness_wait(&harness, 2000, 2000);
    lease_harness_expect(&harness, "PUT", LEASE_HARNESS_PATH); /* a renewal is in progress */
    aim(&harness, LEASE_LEAVE);
    lease_harness_expect_nothing(&harness);
    lease_harness_lost(&harness, KUBE_UNKNOWN);
    assert_false(lease_harness_leads(&harness));
    lease_harness_expect(&harness, "GET", LEASE_HARNESS_PATH);
    lease_harness_show(&harness, "me", "100", RENEWED);
    lease_harness_expect(&harness, "PUT", LEASE_HARNESS_PATH);
    lease_harness_answer(&harness, 409, "{}"); /* it arrived there */
    assert_false(lease_has_left(harness.lease));
    lease_harness_expect(&harness, "GET", LEASE_HARNESS_PATH);
    lease_harness_show(&harness, "me", "101", RENEWED);
    lease_harness_expect(&harness, "PUT", LEASE_HARNESS_PATH);
    lease_harness_accept(&harness);
    assert_true(lease_has_left(harness.lease));
    lease_harness_fini(&harness);
}

static void a_renewal_that_is_answered_late_is_given_up_too(void **state)
{
    struct lease_harness harness;
    (void)state;
    lease_harness_init(&harness);
    lease_harness_lead(&harness);
    lease_harness_wait(&harness, 2000, 2000);
    lease_harness_expect(&harness, "PUT", LEASE_HARNESS_PATH);
    aim(&harness, LEASE_LEAVE);
    lease_harness_accept(&harness);
    assert_false(lease_harness_leads(&harness));
    lease_harness_expect(&harness, "GET", LEASE_HARNESS_PATH);
    lease_harness_show(&harness, "me", "101", RENEWED);
    lease_harness_expect(&harness, "PUT", LEASE_HARNESS_PATH);
    assert_string_equal(lease_harness_sent(&harness, "holderIdentity"), "");
    lease_harness_fini(&harness);
}

static void what_fails_is_tried_again_soon_while_others_wait(void **state)
{
    struct lease_harness harness;
    (void)state;
    leave(&harness);
    const int64_t written_ms = harness.now_ms - 1000;
    lease_harness_expect(&harness, "GET", LEASE_HARNESS_PATH);
    lease_harness_show(&harness, "me", "100", RENEWED);
    lease_harness_expect(&harness, "PUT", LEASE_HARNESS_PATH);
    lease_harness_lost(&harness, KUBE_UNKNOWN);
    while (harness.now_ms < written_ms + 15000) {
        lease_harness_wait(&harness, 200, 200);
        lease_harness_expect(&harness, "GET", LEASE_HARNESS_PATH);
        lease_harness_answer(&harness, 500, "{}");
    }
    lease_harness_wait(&harness, 2000, 4400); /* expired for everybody */
    lease_harness_expect(&harness, "GET", LEASE_HARNESS_PATH);
    lease_harness_show(&harness, "", "101", RENEWED); /* the release had taken effect */
    assert_true(lease_has_left(harness.lease));
    lease_harness_fini(&harness);
}

static void what_another_holds_is_not_touched(void **state)
{
    struct lease_harness harness;
    (void)state;
    leave(&harness);
    lease_harness_expect(&harness, "GET", LEASE_HARNESS_PATH);
    lease_harness_show(&harness, "other", "200", RENEWED);
    assert_true(lease_has_left(harness.lease));
    lease_harness_wait(&harness, 2000, 4400);
    lease_harness_fini(&harness);
}

static void one_that_is_gone_needs_no_giving_up(void **state)
{
    struct lease_harness harness;
    (void)state;
    leave(&harness);
    lease_harness_expect(&harness, "GET", LEASE_HARNESS_PATH);
    lease_harness_answer(&harness, 404, "{}");
    assert_true(lease_has_left(harness.lease));
    lease_harness_wait(&harness, 2000, 4400);
    lease_harness_fini(&harness);
}

/* ---- leaving it to others ---- */

static void who_never_held_it_has_left_at_once(void **state)
{
    struct lease_harness harness;
    (void)state;
    lease_harness_init(&harness);
    aim(&harness, LEASE_LEAVE);
    assert_true(lease_has_left(harness.lease));
    lease_harness_expect(&harness, "GET", LEASE_HARNESS_PATH);
    lease_harness_answer(&harness, 404, "{}");
    lease_harness_wait(&harness, 2000, 4400);
    lease_harness_fini(&harness);
}

static void one_that_is_free_is_looked_at_and_left_alone(void **state)
{
    static const enum lease_aim AIMS[] = {LEASE_KEEP, LEASE_LEAVE};
    (void)state;
    for (size_t i = 0; i < sizeof AIMS / sizeof *AIMS; i++) {
        struct lease_harness harness;
        lease_harness_init(&harness);
        aim(&harness, AIMS[i]);
        for (int round = 0; round < 20; round++) { /* of a dead holder: it expires in between */
            lease_harness_expect(&harness, "GET", LEASE_HARNESS_PATH);
            lease_harness_show(&harness, "other", "5", RENEWED);
            lease_harness_wait(&harness, 1, 4400);
        }
        assert_true(harness.now_ms > 15000 + 4400);
        lease_harness_see(&harness, "", "6", RENEWED);
        lease_harness_expect(&harness, "GET", LEASE_HARNESS_PATH);
        lease_harness_show(&harness, "", "6", RENEWED);
        lease_harness_wait(&harness, 2000, 4400);
        lease_harness_fini(&harness);
    }
}

static void a_write_that_arrives_later_is_given_up_too(void **state)
{
    struct lease_harness harness;
    (void)state;
    lease_harness_init(&harness);
    lease_harness_expect(&harness, "GET", LEASE_HARNESS_PATH);
    lease_harness_show(&harness, "", "5", RENEWED);
    lease_harness_expect(&harness, "PUT", LEASE_HARNESS_PATH);
    lease_harness_lost(&harness, KUBE_UNKNOWN);
    aim(&harness, LEASE_LEAVE);
    lease_harness_expect(&harness, "GET", LEASE_HARNESS_PATH);
    lease_harness_show(&harness, "", "5", RENEWED);
    lease_harness_see(&harness, "me", "6", RENEWED); /* it arrived there */
    lease_harness_expect(&harness, "GET", LEASE_HARNESS_PATH);
    lease_harness_show(&harness, "me", "6", RENEWED);
    assert_false(lease_has_left(harness.lease));
    lease_harness_expect(&harness, "PUT", LEASE_HARNESS_PATH);
    assert_string_equal(lease_harness_sent(&harness, "holderIdentity"), "");
    lease_harness_accept(&harness);
    assert_true(lease_has_left(harness.lease));
    lease_harness_fini(&harness);
}

static void who_keeps_it_renews_it(void **state)
{
    struct lease_harness harness;
    (void)state;
    lease_harness_init(&harness);
    lease_harness_lead(&harness);
    aim(&harness, LEASE_KEEP);
    lease_harness_wait(&harness, 2000, 2000);
    lease_harness_expect(&harness, "PUT", LEASE_HARNESS_PATH);
    lease_harness_answer(&harness, 409, "{}");
    lease_harness_expect(&harness, "GET", LEASE_HARNESS_PATH);
    lease_harness_show(&harness, "me", "200", RENEWED);
    lease_harness_expect(&harness, "PUT", LEASE_HARNESS_PATH);
    assert_string_equal(lease_harness_sent(&harness, "holderIdentity"), "me");
    lease_harness_accept(&harness);
    assert_true(lease_harness_leads(&harness));
    lease_harness_fini(&harness);
}

static void who_lost_it_takes_it_no_more(void **state)
{
    struct lease_harness harness;
    (void)state;
    lease_harness_init(&harness);
    lease_harness_lead(&harness);
    aim(&harness, LEASE_KEEP);
    harness.now_ms += 10000;
    lease_harness_expect(&harness, "GET", LEASE_HARNESS_PATH);
    assert_false(lease_harness_leads(&harness));
    lease_harness_show(&harness, "me", "100", RENEWED); /* its requests may not be over */
    lease_harness_wait(&harness, 2000, 4400);
    aim(&harness, LEASE_LEAVE);
    lease_harness_expect(&harness, "GET", LEASE_HARNESS_PATH);
    lease_harness_show(&harness, "me", "100", RENEWED);
    lease_harness_expect(&harness, "PUT", LEASE_HARNESS_PATH);
    assert_string_equal(lease_harness_sent(&harness, "holderIdentity"), "");
    lease_harness_fini(&harness);
}

/* ---- acquiring again ---- */

static void who_may_lead_again_takes_it_at_once(void **state)
{
    struct lease_harness harness;
    (void)state;
    left(&harness);
    harness.now_ms += 500;
    lease_harness_expect_nothing(&harness);
    aim(&harness, LEASE_LEAD);
    lease_harness_expect(&harness, "GET", LEASE_HARNESS_PATH);
    lease_harness_show(&harness, "", "101", RENEWED);
    lease_harness_expect(&harness, "PUT", LEASE_HARNESS_PATH);
    lease_harness_accept(&harness);
    assert_true(lease_harness_leads(&harness));
    assert_int_equal(lease_status(harness.lease).term, 2); /* others may have led meanwhile */
    assert_int_equal(lease_status(harness.lease).losses, 0);
    lease_harness_fini(&harness);
}

static void who_comes_back_while_it_is_given_up_takes_it_then(void **state)
{
    struct lease_harness harness;
    (void)state;
    leave(&harness);
    lease_harness_expect(&harness, "GET", LEASE_HARNESS_PATH);
    lease_harness_show(&harness, "me", "100", RENEWED);
    lease_harness_expect(&harness, "PUT", LEASE_HARNESS_PATH);
    aim(&harness, LEASE_LEAD);
    lease_harness_expect_nothing(&harness);
    lease_harness_accept(&harness);
    assert_false(lease_harness_leads(&harness));
    lease_harness_expect(&harness, "GET", LEASE_HARNESS_PATH);
    lease_harness_show(&harness, "", "101", RENEWED);
    lease_harness_expect(&harness, "PUT", LEASE_HARNESS_PATH);
    assert_string_equal(lease_harness_sent(&harness, "holderIdentity"), "me");
    lease_harness_fini(&harness);
}

/* By then it knows that the holder is dead. */
static void who_has_looked_on_need_not_wait(void **state)
{
    struct lease_harness harness;
    (void)state;
    lease_harness_init(&harness);
    aim(&harness, LEASE_LEAVE);
    const int64_t began_ms = harness.now_ms;
    while (harness.now_ms < began_ms + 15000) {
        lease_harness_expect(&harness, "GET", LEASE_HARNESS_PATH);
        lease_harness_show(&harness, "other", "5", RENEWED);
        lease_harness_wait(&harness, 1, 4400);
    }
    aim(&harness, LEASE_LEAD);
    lease_harness_expect(&harness, "GET", LEASE_HARNESS_PATH);
    lease_harness_show(&harness, "other", "5", RENEWED);
    lease_harness_expect(&harness, "PUT", LEASE_HARNESS_PATH);
    lease_harness_fini(&harness);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_holder_gives_it_up),
        cmocka_unit_test(a_conflict_is_tried_again),
        cmocka_unit_test(a_renewal_that_is_answered_late_is_given_up_too),
        cmocka_unit_test(what_fails_is_tried_again_soon_while_others_wait),
        cmocka_unit_test(what_another_holds_is_not_touched),
        cmocka_unit_test(one_that_is_gone_needs_no_giving_up),
        cmocka_unit_test(who_never_held_it_has_left_at_once),
        cmocka_unit_test(one_that_is_free_is_looked_at_and_left_alone),
        cmocka_unit_test(a_write_that_arrives_later_is_given_up_too),
        cmocka_unit_test(who_keeps_it_renews_it),
        cmocka_unit_test(who_lost_it_takes_it_no_more),
        cmocka_unit_test(who_may_lead_again_takes_it_at_once),
        cmocka_unit_test(who_comes_back_while_it_is_given_up_takes_it_then),
        cmocka_unit_test(who_has_looked_on_need_not_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
