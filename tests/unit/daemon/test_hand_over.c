/* One of several replicas: acquires the Lease, decides, and hands over. */
#include "base/clock.h"
#include "fixture.h"

/* A binding has time enough, and the Lease is not lost, on the slowest machine. */
#define REPLICA                                                                                    \
    "kubernetes: {bindTimeoutSeconds: 100}\nscheduler: {httpTimeoutSeconds: 300}\n"                \
    "leaderElection: {enabled: true, namespace: ns, leaseName: gpu, serviceName: '', "             \
    "leaseDurationSeconds: 600, renewDeadlineSeconds: 400}"

/* Calls of turned by the election. */
struct turns {
    struct election *election;
    atomic_int n_turns, n_returned, n_returned_at_stop;
    atomic_bool decides, is_kept; /* is_kept: the call does not return */
};

static void take_turn(void *context, bool may_decide)
{
    struct turns *turns = context;
    atomic_store(&turns->decides, may_decide);
    atomic_fetch_add(&turns->n_turns, 1);
    WAIT_FOR(!atomic_load(&turns->is_kept));
    atomic_fetch_add(&turns->n_returned, 1);
}

static void begin(struct fixture *fixture, struct turns *turns,
                  void (*turned)(void *context, bool may_decide))
{
    fixture_begin(fixture, REPLICA);
    turns->election = live_mode_election(fixture->live);
    election_listens(turns->election, "127.0.0.1:8888", NULL);
    election_on_turn(turns->election, turned, turns);
}

static void begin_to_lead(struct fixture *fixture, struct turns *turns)
{
    begin(fixture, turns, take_turn);
    fixture_start(fixture);
    WAIT_FOR(atomic_load(&turns->n_turns) == 1);
}

static bool says_elsewhere(const struct election *election, const char *wanted)
{
    struct arena *arena = arena_new();
    const char *said = election_elsewhere(election, arena);
    const bool is_it = wanted ? said && strcmp(said, wanted) == 0 : !said;
    arena_free(arena);
    return is_it;
}

static void only_the_leader_admits_verbs(void **state)
{
    struct turns turns = {0};
    struct fixture fixture;
    (void)state;
    begin(&fixture, &turns, take_turn);
    fixture_set_holder(&fixture, "another");
    fixture_start(&fixture);
    WAIT_FOR(fixture_is_usable(&fixture));
    assert_int_equal(fixture_ask(&fixture), 503);
    assert_string_equal(election_role(turns.election), "follower");
    WAIT_FOR(says_elsewhere(turns.election, "this replica does not lead: ask the leader, another"));
    fixture_set_holder(&fixture, "");
    WAIT_FOR(election_may_decide(turns.election));
    assert_true(says_elsewhere(turns.election, NULL));
    assert_string_equal(election_role(turns.election), "leader");
    assert_int_equal(fixture_ask(&fixture), 200);
    fixture_end(&fixture);
}

static void take_success(void *context, const char *error)
{
    assert_null(error);
    atomic_store((atomic_bool *)context, true);
}

static void *hand_over(void *context)
{
    live_mode_hand_over(context);
    return NULL;
}

static void the_lease_is_released_after_the_last_binding(void **state)
{
    const struct bind_args args = {.uid = "u", .namespace_ = "ml", .name = "p", .node_name = "a"};
    struct turns turns = {0};
    atomic_bool is_bound = false;
    struct fixture fixture;
    pthread_t thread;
    (void)state;
    begin_to_lead(&fixture, &turns);
    binds_call(live_mode_binds(fixture.live), &args, clock_ms(), take_success, &is_bound);
    WAIT_FOR(fixture_has_binding(&fixture));
    assert_int_equal(pthread_create(&thread, NULL, hand_over, fixture.live), 0);
    WAIT_FOR(fixture_ask(&fixture) == 503);
    fixture_nap(0, "");
    assert_true(fixture_is_held(&fixture));
    fixture_answer_binding(&fixture);
    (void)pthread_join(thread, NULL);
    assert_true(atomic_load(&is_bound));
    assert_false(fixture_is_held(&fixture));
    assert_int_equal(atomic_load(&turns.n_turns), 2);
    assert_false(atomic_load(&turns.decides));
    assert_string_equal(election_role(turns.election), "follower");
    fixture_end(&fixture);
}

/* ---- the calls of turned ---- */

static void end_turns(void *context, bool may_decide)
{
    struct turns *turns = context;
    take_turn(context, may_decide);
    election_on_turn(turns->election, NULL, NULL);
}

/* The election calls turned without its lock. */
static void the_turned_callback_may_call_the_election(void **state)
{
    struct turns turns = {0};
    struct fixture fixture;
    (void)state;
    begin(&fixture, &turns, end_turns);
    fixture_start(&fixture);
    WAIT_FOR(atomic_load(&turns.n_turns) == 1);
    live_mode_hand_over(fixture.live);
    assert_false(fixture_is_held(&fixture));
    assert_int_equal(atomic_load(&turns.n_turns), 1);
    fixture_end(&fixture);
}

static void *stop_turns(void *context)
{
    struct turns *turns = context;
    election_on_turn(turns->election, NULL, NULL);
    atomic_store(&turns->n_returned_at_stop, atomic_load(&turns->n_returned));
    return NULL;
}

static void no_call_runs_after_the_stop(void **state)
{
    struct turns turns = {.is_kept = true};
    struct fixture fixture;
    pthread_t thread;
    (void)state;
    begin_to_lead(&fixture, &turns);
    assert_int_equal(pthread_create(&thread, NULL, stop_turns, &turns), 0);
    for (int i = 0; i < 20; i++)
        fixture_nap(i, "");
    atomic_store(&turns.is_kept, false);
    (void)pthread_join(thread, NULL);
    assert_int_equal(atomic_load(&turns.n_returned_at_stop), 1);
    fixture_end(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_leader_admits_verbs),
        cmocka_unit_test(the_lease_is_released_after_the_last_binding),
        cmocka_unit_test(the_turned_callback_may_call_the_election),
        cmocka_unit_test(no_call_runs_after_the_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
