/* live mode: start, following the API server, and stop, in each order that main can reach. */
#include "base/clock.h"
#include "fixture.h"

static void live_mode_follows_the_api_server_from_its_start(void **state)
{
    struct fixture fixture;
    struct err err;
    (void)state;
    fixture_begin(&fixture, "");
    assert_null(live_mode_election(fixture.live));
    assert_null(live_mode_beside(fixture.live));
    assert_null(live_mode_reviewer(fixture.live).send);
    assert_true(live_mode_files(fixture.live) > 0);
    assert_false(fixture_is_usable(&fixture));
    fixture_start(&fixture);
    WAIT_FOR(fixture_is_usable(&fixture));
    assert_true(live_mode_is_alive(fixture.live, &err));
    assert_int_equal(fixture_ask(&fixture), 200);
    live_mode_hand_over(fixture.live);
    assert_int_equal(fixture_ask(&fixture), 200);
    fixture_end(&fixture);
}

/* The address is in use, so main stops before the start. */
static void live_mode_ends_without_a_start(void **state)
{
    struct fixture fixture;
    (void)state;
    fixture_begin(&fixture, "leaderElection: {enabled: true, namespace: ns, serviceName: ''}");
    live_mode_hand_over(fixture.live);
    fixture_end(&fixture);
}

static void take_error(void *context, const char *error)
{
    assert_non_null(error);
    atomic_fetch_add((atomic_int *)context, 1);
}

/* After a start without a Lease, for longer than a bind call may take. Returns whether that time
 * had not passed yet when it was asked. */
static bool is_asked_in_time(void)
{
    const struct bind_args args = {.uid = "u", .namespace_ = "ml", .name = "p", .node_name = "a"};
    const int64_t began_ms = clock_ms();
    atomic_int n_answers = 0;
    struct fixture fixture;
    fixture_begin(&fixture, "");
    fixture_start(&fixture);
    WAIT_FOR(fixture_is_usable(&fixture));
    binds_call(live_mode_binds(fixture.live), &args, clock_ms(), take_error, &n_answers);
    const int n_at_once = atomic_load(&n_answers);
    const bool is_sent = fixture_has_binding(&fixture);
    const bool is_in_time = clock_ms() - began_ms < 1000;
    if (is_in_time)
        assert_true(n_at_once == 1 && !is_sent);
    fixture_end(&fixture);
    return is_in_time;
}

static void no_binding_is_sent_while_one_of_a_predecessor_may_take_effect(void **state)
{
    (void)state;
    WAIT_FOR(is_asked_in_time());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(live_mode_follows_the_api_server_from_its_start),
        cmocka_unit_test(live_mode_ends_without_a_start),
        cmocka_unit_test(no_binding_is_sent_while_one_of_a_predecessor_may_take_effect),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
