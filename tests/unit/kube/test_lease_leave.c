/* How the Lease is given up, left alone, and taken again. */
#include "lease_rig.h"
#include "unit.h"

#include <string.h>

#define RENEWED "2026-11-21T10:00:00.000000Z"

static void aim(struct lease_rig *rig, enum lease_aim aim)
{
    lease_set_aim(rig->lease, rig->now_ms, aim);
}

/* It holds the Lease, version 100, and is to leave. */
static void leave(struct lease_rig *rig)
{
    lease_rig_init(rig);
    lease_rig_lead(rig);
    rig->now_ms += 1000;
    aim(rig, LEASE_LEAVE);
    assert_false(lease_rig_leads(rig));
    assert_false(lease_has_left(rig->lease));
}

static void left(struct lease_rig *rig)
{
    leave(rig);
    lease_rig_expect(rig, "GET", LEASE_RIG_PATH);
    lease_rig_show(rig, "me", "100", RENEWED);
    lease_rig_expect(rig, "PUT", LEASE_RIG_PATH);
    lease_rig_accept(rig);
    assert_true(lease_has_left(rig->lease));
}

/* ---- giving it up ---- */

static void the_holder_gives_it_up(void **state)
{
    struct lease_rig rig;
    (void)state;
    leave(&rig);
    assert_int_equal(lease_status(rig.lease).losses, 0);
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
    lease_rig_show(&rig, "me", "100", RENEWED);
    lease_rig_expect(&rig, "PUT", LEASE_RIG_PATH);
    assert_string_equal(lease_rig_sent(&rig, "holderIdentity"), "");
    assert_int_equal(lease_rig_sent_number(&rig, "leaseDurationSeconds"), 1);
    assert_int_equal(lease_rig_sent_number(&rig, "leaseTransitions"), 3);
    assert_string_equal(lease_rig_sent(&rig, "renewTime"), "2026-11-21T10:00:01.000000Z");
    assert_string_equal(lease_rig_sent(&rig, "acquireTime"), "2026-11-21T10:00:01.000000Z");
    assert_false(lease_has_left(rig.lease));
    lease_rig_accept(&rig);
    assert_true(lease_has_left(rig.lease));
    lease_rig_wait(&rig, 2000, 4400);
    lease_rig_fini(&rig);
}

static void a_conflict_is_tried_again(void **state)
{
    struct lease_rig rig;
    (void)state;
    lease_rig_init(&rig);
    lease_rig_lead(&rig);
    lease_rig_wait(&rig, 2000, 2000);
    lease_rig_expect(&rig, "PUT", LEASE_RIG_PATH); /* a renewal is on its way */
    aim(&rig, LEASE_LEAVE);
    lease_rig_expect_nothing(&rig);
    lease_rig_lost(&rig, KUBE_UNKNOWN);
    assert_false(lease_rig_leads(&rig));
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
    lease_rig_show(&rig, "me", "100", RENEWED);
    lease_rig_expect(&rig, "PUT", LEASE_RIG_PATH);
    lease_rig_answer(&rig, 409, "{}"); /* there it was */
    assert_false(lease_has_left(rig.lease));
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
    lease_rig_show(&rig, "me", "101", RENEWED);
    lease_rig_expect(&rig, "PUT", LEASE_RIG_PATH);
    lease_rig_accept(&rig);
    assert_true(lease_has_left(rig.lease));
    lease_rig_fini(&rig);
}

static void a_renewal_that_is_answered_late_is_given_up_too(void **state)
{
    struct lease_rig rig;
    (void)state;
    lease_rig_init(&rig);
    lease_rig_lead(&rig);
    lease_rig_wait(&rig, 2000, 2000);
    lease_rig_expect(&rig, "PUT", LEASE_RIG_PATH);
    aim(&rig, LEASE_LEAVE);
    lease_rig_accept(&rig);
    assert_false(lease_rig_leads(&rig));
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
    lease_rig_show(&rig, "me", "101", RENEWED);
    lease_rig_expect(&rig, "PUT", LEASE_RIG_PATH);
    assert_string_equal(lease_rig_sent(&rig, "holderIdentity"), "");
    lease_rig_fini(&rig);
}

static void what_fails_is_tried_again_soon_while_others_wait(void **state)
{
    struct lease_rig rig;
    (void)state;
    leave(&rig);
    const int64_t written_ms = rig.now_ms - 1000;
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
    lease_rig_show(&rig, "me", "100", RENEWED);
    lease_rig_expect(&rig, "PUT", LEASE_RIG_PATH);
    lease_rig_lost(&rig, KUBE_UNKNOWN);
    while (rig.now_ms < written_ms + 15000) {
        lease_rig_wait(&rig, 200, 200);
        lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
        lease_rig_answer(&rig, 500, "{}");
    }
    lease_rig_wait(&rig, 2000, 4400); /* it is over for everybody */
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
    lease_rig_show(&rig, "", "101", RENEWED); /* it was taken */
    assert_true(lease_has_left(rig.lease));
    lease_rig_fini(&rig);
}

static void what_another_holds_is_not_touched(void **state)
{
    struct lease_rig rig;
    (void)state;
    leave(&rig);
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
    lease_rig_show(&rig, "other", "200", RENEWED);
    assert_true(lease_has_left(rig.lease));
    lease_rig_wait(&rig, 2000, 4400);
    lease_rig_fini(&rig);
}

static void one_that_is_gone_needs_no_giving_up(void **state)
{
    struct lease_rig rig;
    (void)state;
    leave(&rig);
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
    lease_rig_answer(&rig, 404, "{}");
    assert_true(lease_has_left(rig.lease));
    lease_rig_wait(&rig, 2000, 4400);
    lease_rig_fini(&rig);
}

/* ---- leaving it alone ---- */

static void who_never_held_it_has_left_at_once(void **state)
{
    struct lease_rig rig;
    (void)state;
    lease_rig_init(&rig);
    aim(&rig, LEASE_LEAVE);
    assert_true(lease_has_left(rig.lease));
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
    lease_rig_answer(&rig, 404, "{}");
    lease_rig_wait(&rig, 2000, 4400);
    lease_rig_fini(&rig);
}

static void one_that_is_free_is_looked_at_and_left_alone(void **state)
{
    static const enum lease_aim AIMS[] = {LEASE_KEEP, LEASE_LEAVE};
    (void)state;
    for (size_t i = 0; i < sizeof AIMS / sizeof *AIMS; i++) {
        struct lease_rig rig;
        lease_rig_init(&rig);
        aim(&rig, AIMS[i]);
        for (int round = 0; round < 20; round++) { /* of one that is dead: it is over in between */
            lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
            lease_rig_show(&rig, "other", "5", RENEWED);
            lease_rig_wait(&rig, 1, 4400);
        }
        assert_true(rig.now_ms > 15000 + 4400);
        lease_rig_see(&rig, "", "6", RENEWED);
        lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
        lease_rig_show(&rig, "", "6", RENEWED);
        lease_rig_wait(&rig, 2000, 4400);
        lease_rig_fini(&rig);
    }
}

static void a_write_that_arrives_later_is_given_up_too(void **state)
{
    struct lease_rig rig;
    (void)state;
    lease_rig_init(&rig);
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
    lease_rig_show(&rig, "", "5", RENEWED);
    lease_rig_expect(&rig, "PUT", LEASE_RIG_PATH);
    lease_rig_lost(&rig, KUBE_UNKNOWN);
    aim(&rig, LEASE_LEAVE);
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
    lease_rig_show(&rig, "", "5", RENEWED);
    lease_rig_see(&rig, "me", "6", RENEWED); /* there it is */
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
    lease_rig_show(&rig, "me", "6", RENEWED);
    assert_false(lease_has_left(rig.lease));
    lease_rig_expect(&rig, "PUT", LEASE_RIG_PATH);
    assert_string_equal(lease_rig_sent(&rig, "holderIdentity"), "");
    lease_rig_accept(&rig);
    assert_true(lease_has_left(rig.lease));
    lease_rig_fini(&rig);
}

static void who_keeps_it_renews_it(void **state)
{
    struct lease_rig rig;
    (void)state;
    lease_rig_init(&rig);
    lease_rig_lead(&rig);
    aim(&rig, LEASE_KEEP);
    lease_rig_wait(&rig, 2000, 2000);
    lease_rig_expect(&rig, "PUT", LEASE_RIG_PATH);
    lease_rig_answer(&rig, 409, "{}");
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
    lease_rig_show(&rig, "me", "200", RENEWED);
    lease_rig_expect(&rig, "PUT", LEASE_RIG_PATH);
    assert_string_equal(lease_rig_sent(&rig, "holderIdentity"), "me");
    lease_rig_accept(&rig);
    assert_true(lease_rig_leads(&rig));
    lease_rig_fini(&rig);
}

static void who_lost_it_takes_it_no_more(void **state)
{
    struct lease_rig rig;
    (void)state;
    lease_rig_init(&rig);
    lease_rig_lead(&rig);
    aim(&rig, LEASE_KEEP);
    rig.now_ms += 10000;
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
    assert_false(lease_rig_leads(&rig));
    lease_rig_show(&rig, "me", "100", RENEWED); /* what it did may not be over */
    lease_rig_wait(&rig, 2000, 4400);
    aim(&rig, LEASE_LEAVE);
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
    lease_rig_show(&rig, "me", "100", RENEWED);
    lease_rig_expect(&rig, "PUT", LEASE_RIG_PATH);
    assert_string_equal(lease_rig_sent(&rig, "holderIdentity"), "");
    lease_rig_fini(&rig);
}

/* ---- coming back ---- */

static void who_may_lead_again_takes_it_at_once(void **state)
{
    struct lease_rig rig;
    (void)state;
    left(&rig);
    rig.now_ms += 500;
    lease_rig_expect_nothing(&rig);
    aim(&rig, LEASE_LEAD);
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
    lease_rig_show(&rig, "", "101", RENEWED);
    lease_rig_expect(&rig, "PUT", LEASE_RIG_PATH);
    lease_rig_accept(&rig);
    assert_true(lease_rig_leads(&rig));
    assert_int_equal(lease_status(rig.lease).term, 2); /* others may have led meanwhile */
    assert_int_equal(lease_status(rig.lease).losses, 0);
    lease_rig_fini(&rig);
}

static void who_comes_back_while_it_is_given_up_takes_it_then(void **state)
{
    struct lease_rig rig;
    (void)state;
    leave(&rig);
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
    lease_rig_show(&rig, "me", "100", RENEWED);
    lease_rig_expect(&rig, "PUT", LEASE_RIG_PATH);
    aim(&rig, LEASE_LEAD);
    lease_rig_expect_nothing(&rig);
    lease_rig_accept(&rig);
    assert_false(lease_rig_leads(&rig));
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
    lease_rig_show(&rig, "", "101", RENEWED);
    lease_rig_expect(&rig, "PUT", LEASE_RIG_PATH);
    assert_string_equal(lease_rig_sent(&rig, "holderIdentity"), "me");
    lease_rig_fini(&rig);
}

/* It knows by then that its holder is dead. */
static void who_has_looked_on_need_not_wait(void **state)
{
    struct lease_rig rig;
    (void)state;
    lease_rig_init(&rig);
    aim(&rig, LEASE_LEAVE);
    const int64_t began_ms = rig.now_ms;
    while (rig.now_ms < began_ms + 15000) {
        lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
        lease_rig_show(&rig, "other", "5", RENEWED);
        lease_rig_wait(&rig, 1, 4400);
    }
    aim(&rig, LEASE_LEAD);
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
    lease_rig_show(&rig, "other", "5", RENEWED);
    lease_rig_expect(&rig, "PUT", LEASE_RIG_PATH);
    lease_rig_fini(&rig);
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
