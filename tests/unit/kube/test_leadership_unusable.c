/* A replica with an unusable ledger leaves the Lease to others. */
#include "leadership_fixture.h"
#include "unit.h"

#include <string.h>

/* Longest time without a renewal. */
#define PATIENCE_MS 10000

/* Advances time and accepts each renewal. */
static void pass(struct fixture *fixture, int64_t ms)
{
    const int64_t end_ms = fixture->now_ms + ms;
    tick(fixture);
    while (fixture->next_ms <= end_ms) {
        fixture->now_ms = fixture->next_ms;
        tick(fixture);
        struct fake_request *renewal = fake_sender_take(&fixture->sender);
        if (renewal)
            accept(fixture, renewal);
    }
    fixture->now_ms = end_ms;
}

static void becomes_unusable(struct fixture *fixture)
{
    fixture->is_unusable = true;
    tick(fixture);
}

static void becomes_usable(struct fixture *fixture)
{
    fixture->is_unusable = false;
    tick(fixture);
}

static void stand_back(struct fixture *fixture)
{
    lead(fixture);
    becomes_unusable(fixture);
    pass(fixture, PATIENCE_MS - 1);
    assert_true(may_decide(fixture));
    fixture->now_ms++;
    tick(fixture);
    assert_false(may_decide(fixture));
    assert_false(fixture->may_decide);
    assert_false(fixture->decided);
}

static void gives_up(struct fixture *fixture)
{
    answered(fixture, "GET", LEASE, 200, HELD_BY("me", "9"));
    struct fake_request *request = asked(fixture, "PUT", LEASE);
    assert_non_null(strstr(request->body, "\"holderIdentity\":\"\""));
    reply(fixture, request, 200, HELD_BY("", "10"));
    asks_nothing(fixture);
}

static void check_metric(const struct fixture *fixture, const char *sample)
{
    struct buf text;
    buf_init(&text, 10000);
    leadership_metrics(fixture->leadership, fixture->now_ms, &text);
    assert_non_null(strstr(buf_text(&text), sample));
    buf_fini(&text);
}

static void a_replica_with_an_unusable_ledger_acquires_nothing(void **state)
{
    struct fixture *fixture = *state;
    becomes_unusable(fixture);
    answered(fixture, "GET", LEASE, 404, "{}");
    asks_nothing(fixture);
    fixture->now_ms = fixture->next_ms;
    tick(fixture);
    answered(fixture, "GET", LEASE, 200, HELD_BY("", "5"));
    asks_nothing(fixture);
    assert_string_equal(leadership_role(fixture->leadership, fixture->now_ms), "follower");
    becomes_usable(fixture); /* at once, not at the next tick */
    answered(fixture, "GET", LEASE, 200, HELD_BY("", "5"));
    accepted(fixture, "PUT", LEASE);
    assert_string_equal(leadership_role(fixture->leadership, fixture->now_ms),
                        "becoming the leader");
}

static void a_leader_with_an_unusable_ledger_releases_the_lease(void **state)
{
    struct fixture *fixture = *state;
    stand_back(fixture);
    assert_string_equal(leadership_role(fixture->leadership, fixture->now_ms), "follower");
    gives_up(fixture);
    assert_int_equal(fixture->n_turns, 2);
    assert_int_equal(fixture->n_released, 0); /* it is not stopping */
    check_metric(fixture, "\ngpu_extender_leader 0\n");
    check_metric(fixture, "\ngpu_extender_lease_losses_total 0\n");
}

static void the_next_tick_is_due_when_the_grace_period_ends(void **state)
{
    struct fixture *fixture = *state;
    lead(fixture);
    becomes_unusable(fixture);
    const int64_t end_ms = fixture->now_ms + PATIENCE_MS;
    pass(fixture, 7999);
    tick(fixture);
    fixture->now_ms = fixture->next_ms;
    tick(fixture); /* sends a renewal; its answer is pending */
    assert_int_equal(fixture->next_ms, end_ms);
}

static void a_short_unusable_time_changes_nothing(void **state)
{
    struct fixture *fixture = *state;
    lead(fixture);
    for (int i = 0; i < 3; i++) {
        becomes_unusable(fixture);
        pass(fixture, PATIENCE_MS - 1);
        becomes_usable(fixture);
        assert_true(may_decide(fixture));
    }
    assert_int_equal(fixture->n_turns, 1);
}

static void the_lease_is_released_after_open_requests_end(void **state)
{
    struct fixture *fixture = *state;
    lead(fixture);
    becomes_unusable(fixture);
    pass(fixture, PATIENCE_MS - 1);
    fixture->now_ms++;
    fixture->quiet_ms = fixture->now_ms + 3000;
    tick(fixture);
    assert_false(may_decide(fixture));
    assert_true(fixture->next_ms <= fixture->quiet_ms);
    accepted(fixture, "PUT", LEASE); /* a renewal in between */
    pass(fixture, 2999);
    assert_false(may_decide(fixture));
    fixture->now_ms++;
    tick(fixture);
    gives_up(fixture);
}

static void a_leader_usable_again_before_the_release_goes_on(void **state)
{
    struct fixture *fixture = *state;
    lead(fixture);
    fixture->quiet_ms = INT64_MAX;
    becomes_unusable(fixture);
    pass(fixture, PATIENCE_MS + 1000);
    assert_false(may_decide(fixture));
    becomes_usable(fixture);
    assert_true(may_decide(fixture)); /* leader all the time: no catching up */
    assert_true(fixture->may_decide);
    check_metric(fixture, "\ngpu_extender_lease_acquisitions_total 1\n");
    becomes_unusable(fixture); /* its patience starts again */
    pass(fixture, PATIENCE_MS - 1);
    assert_true(may_decide(fixture));
}

static void a_returning_leader_catches_up_again(void **state)
{
    struct fixture *fixture = *state;
    stand_back(fixture);
    gives_up(fixture);
    becomes_usable(fixture);
    answered(fixture, "GET", LEASE, 200, HELD_BY("", "10"));
    accepted(fixture, "PUT", LEASE);
    assert_false(may_decide(fixture));
    answered(fixture, "GET", "/version", 200, "{}");
    assert_int_equal(fixture->catch_up.last.number, 2);
    fake_catch_up_done(&fixture->catch_up, 2);
    tick(fixture);
    assert_true(may_decide(fixture));
}

/* Another replica may assume that the former leader's requests are over. */
static void an_unusable_former_leader_does_not_keep_the_lease(void **state)
{
    struct fixture *fixture = *state;
    lead(fixture);
    becomes_unusable(fixture);
    fixture->now_ms += 10000; /* without a renewal */
    fixture->quiet_ms = fixture->now_ms + 1000;
    tick(fixture);
    assert_false(may_decide(fixture));
    answered(fixture, "GET", LEASE, 200, HELD_BY("me", "1"));
    asks_nothing(fixture);
    fixture->now_ms = fixture->quiet_ms;
    tick(fixture);
    gives_up(fixture);
}

static void a_stopped_leader_waits_for_its_open_requests(void **state)
{
    struct fixture *fixture = *state;
    lead(fixture);
    fixture->quiet_ms = fixture->now_ms + 1000;
    leadership_release(fixture->leadership);
    tick(fixture);
    assert_false(may_decide(fixture));
    assert_false(fixture->decided);
    asks_nothing(fixture);
    assert_int_equal(fixture->next_ms, fixture->quiet_ms);
    fixture->now_ms = fixture->quiet_ms;
    tick(fixture);
    gives_up(fixture);
    assert_int_equal(fixture->n_released, 1);
}

static void a_stopped_replica_that_released_is_done(void **state)
{
    struct fixture *fixture = *state;
    stand_back(fixture);
    gives_up(fixture);
    leadership_release(fixture->leadership);
    tick(fixture);
    assert_int_equal(fixture->n_released, 1);
    becomes_usable(fixture);
    fixture->now_ms += 60000;
    tick(fixture);
    asks_nothing(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_replica_with_an_unusable_ledger_acquires_nothing),
        TEST(a_leader_with_an_unusable_ledger_releases_the_lease),
        TEST(the_next_tick_is_due_when_the_grace_period_ends),
        TEST(a_short_unusable_time_changes_nothing),
        TEST(the_lease_is_released_after_open_requests_end),
        TEST(a_leader_usable_again_before_the_release_goes_on),
        TEST(a_returning_leader_catches_up_again),
        TEST(an_unusable_former_leader_does_not_keep_the_lease),
        TEST(a_stopped_leader_waits_for_its_open_requests),
        TEST(a_stopped_replica_that_released_is_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
