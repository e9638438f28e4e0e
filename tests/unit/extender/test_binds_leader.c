/* binds: another replica may lead and bind. */
#include "bind_harness.h"

#define UNBOUND POD_JSON("1", "", "", "")
#define NOT_LEADING "this replica is not the leader: retry"

/* A replica that does not lead posts nothing and releases the reservation. */
static void test_a_follower_posts_nothing(void **state)
{
    struct bind_harness *harness = *state;
    harness->refuses = true;
    const unsigned caller = call(harness, 1, "a");
    check_error(harness, caller, NOT_LEADING);
    check_held(harness, 1, NULL);
    check_silence(harness);
    harness->refuses = false;
    const unsigned later = call(harness, 1, "a");
    posted(harness, 1, "a", 201, CREATED);
    check_bound(harness, later);
}

/* A POST sent before the lead was lost is settled by its answer. */
static void test_a_sent_post_is_settled_after_the_lead_is_lost(void **state)
{
    struct bind_harness *harness = *state;
    const unsigned first = call(harness, 1, "a");
    harness->refuses = true;
    posted(harness, 1, "a", 201, CREATED);
    check_bound(harness, first);
    check_held(harness, 1, "a");
}

/* It was waiting for a connection, or the process was stopped. */
static void test_a_former_leader_sends_no_queued_post(void **state)
{
    struct bind_harness *harness = *state;
    const unsigned caller = call(harness, 1, "a");
    harness->refuses = true;
    posted_too_late(harness, 1, "a");
    pass(harness, 200);
    check_error(harness, caller, NOT_LEADING);
    check_held(harness, 1, NULL);
}

/* There is no second POST, so the caller is answered at once. */
static void test_a_former_leader_does_not_post_again(void **state)
{
    struct bind_harness *harness = *state;
    const unsigned caller = call(harness, 1, "a");
    harness->refuses = true;
    posted_failed(harness, 1, "a", KUBE_NOT_SENT);
    check_waits(harness, caller);
    pass(harness, 200);
    check_error(harness, caller, NOT_LEADING);
    check_held(harness, 1, NULL);
}

/* A reservation stays while its POST may take effect; binds reports until when. */
static void test_an_open_post_keeps_its_reservation(void **state)
{
    struct bind_harness *harness = *state;
    assert_int_equal(binds_quiet_ms(harness->binds, harness->now_ms), harness->now_ms);
    const unsigned caller = call(harness, 1, "a");
    assert_int_equal(binds_quiet_ms(harness->binds, harness->now_ms),
                     harness->now_ms + POST_LIFE_MS + 1000);
    harness->refuses = true;
    posted_failed(harness, 1, "a", KUBE_UNKNOWN);
    const int64_t quiet_ms = harness->now_ms + POST_LIFE_MS + 1000;
    assert_int_equal(binds_quiet_ms(harness->binds, harness->now_ms), quiet_ms);
    got(harness, 1, 200, UNBOUND);
    pass(harness, 200);
    got(harness, 1, 200, UNBOUND);
    check_error(harness, caller, "the outcome is unknown: " NOT_LEADING);
    check_held(harness, 1, "a");
    assert_int_equal(binds_quiet_ms(harness->binds, harness->now_ms), quiet_ms);
}

/* A late call does not extend the time that others wait. */
static void test_a_replica_that_hands_over_posts_nothing_more(void **state)
{
    struct bind_harness *harness = *state;
    const unsigned first = call(harness, 1, "a");
    harness->refuses = true;
    const int64_t quiet_ms = binds_quiet_ms(harness->binds, harness->now_ms);
    pass(harness, 200);
    const unsigned late = call(harness, 2, "b");
    check_error(harness, late, NOT_LEADING);
    posted(harness, 1, "a", 201, CREATED);
    check_bound(harness, first);
    assert_true(binds_quiet_ms(harness->binds, harness->now_ms) <= quiet_ms);
    check_silence(harness);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BIND_TEST(test_a_follower_posts_nothing),
        BIND_TEST(test_a_sent_post_is_settled_after_the_lead_is_lost),
        BIND_TEST(test_a_former_leader_sends_no_queued_post),
        BIND_TEST(test_a_former_leader_does_not_post_again),
        BIND_TEST(test_an_open_post_keeps_its_reservation),
        BIND_TEST(test_a_replica_that_hands_over_posts_nothing_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
