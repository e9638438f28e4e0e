/* binds: events after the callers were answered: late outcomes, other nodes, unconfirmed
 * reservations. */
#include "bind_harness.h"

#define UNBOUND POD_JSON("1", "", "", "")
#define BOUND_TO_A POD_JSON("1", OURS, ",'nodeName':'a'", "")
#define BOUND_TO_B POD_JSON("1", OURS, ",'nodeName':'b'", "")

#define NOT_YET "the outcome is unknown: "
#define NO_ANSWER "the API server did not answer the binding: connection reset"

/* The first caller times out; the outcome of the POST is unknown. */
static void leave_open(struct bind_harness *harness)
{
    (void)call(harness, 1, "a");
    pass(harness, TIMEOUT_MS);
    posted_failed(harness, 1, "a", KUBE_UNKNOWN);
}

/* Each caller is answered at its own deadline. */
static void test_a_caller_gets_an_error_at_its_timeout(void **state)
{
    struct bind_harness *harness = *state;
    const unsigned first = call(harness, 1, "a");
    pass(harness, 1000);
    const unsigned second = call(harness, 1, "a");
    pass(harness, TIMEOUT_MS - 1001);
    check_waits(harness, first);
    pass(harness, 1);
    check_error(harness, first, NOT_YET "the API server has not answered");
    check_waits(harness, second);
    posted_failed(harness, 1, "a", KUBE_UNKNOWN);
    got_failed(harness, 1);
    pass(harness, 1000);
    check_error(harness, second, NOT_YET "the pod could not be read: connection reset");
    check_held(harness, 1, "a");
    assert_true(metric(harness, "gpu_extender_binds_total{outcome=\"unknown\"} ") == 2);
}

/* The tick returns exactly when it is due next. */
static void test_the_tick_returns_its_next_time(void **state)
{
    struct bind_harness *harness = *state;
    assert_int_equal(binds_tick(harness->binds, harness->now_ms), harness->now_ms + 1000);
    harness->now_ms += 500;
    (void)call(harness, 1, "a");
    pass(harness, TIMEOUT_MS - 300);
    assert_int_equal(binds_tick(harness->binds, harness->now_ms), harness->now_ms + 300);
}

/* After the caller's deadline the outcome is still unknown. The back-off starts at 1 s, doubles to
 * 30 s, and is up to a quarter shorter. */
static void test_unknown_outcome_is_checked_in_the_background(void **state)
{
    static const int64_t DELAYS_MS[] = {1000, 2000, 4000, 8000, 16000, 30000, 30000};
    struct bind_harness *harness = *state;
    const unsigned caller = call(harness, 1, "a");
    pass(harness, TIMEOUT_MS);
    check_error(harness, caller, NOT_YET "the API server has not answered");
    posted_failed(harness, 1, "a", KUBE_UNKNOWN);
    pass(harness, POST_LIFE_MS + 1000);
    for (size_t i = 0; i < sizeof DELAYS_MS / sizeof *DELAYS_MS; i++) {
        got_failed(harness, 1);
        pass(harness, DELAYS_MS[i] * 3 / 4 - 1);
        check_silence(harness);
        pass(harness, DELAYS_MS[i] / 4 + 1);
    }
    check_held(harness, 1, "a");
    got(harness, 1, 200, UNBOUND);
    check_held(harness, 1, NULL);
    pass(harness, 100000);
    check_silence(harness);
}

/* "Unbound" releases the reservation only if the GET was sent after the POST's life. */
static void test_an_unbound_pod_is_released_only_after_a_while(void **state)
{
    struct bind_harness *harness = *state;
    leave_open(harness);
    got(harness, 1, 200, UNBOUND);
    check_held(harness, 1, "a");
    pass(harness, 1000);
    got(harness, 1, 200, UNBOUND);
    check_held(harness, 1, "a");
    pass(harness, 2000);
    pass(harness, POST_LIFE_MS - 2001);
    got(harness, 1, 200, UNBOUND);
    check_held(harness, 1, "a");
    check_silence(harness);
    pass(harness, 1); /* not before, and then at once */
    got(harness, 1, 200, UNBOUND);
    check_held(harness, 1, NULL);
    pass(harness, 100000);
    check_silence(harness);
    assert_true(metric(harness, "gpu_extender_bind_settled_total{how=\"unbound\"} ") == 1);
}

/* A GET sent before, answered after: it shows the earlier state. */
static void test_the_time_the_get_was_sent_counts(void **state)
{
    struct bind_harness *harness = *state;
    leave_open(harness);
    pass(harness, POST_LIFE_MS + 5000);
    got(harness, 1, 200, UNBOUND);
    check_held(harness, 1, "a");
    pass(harness, 1000);
    got(harness, 1, 200, UNBOUND);
    check_held(harness, 1, NULL);
}

static void test_bound_after_all(void **state)
{
    struct bind_harness *harness = *state;
    leave_open(harness);
    got(harness, 1, 200, BOUND_TO_A);
    check_held(harness, 1, "a");
    check_bound(harness, call(harness, 1, "a")); /* the second call succeeds without a POST */
    check_silence(harness);
    ledger_shows(harness, BOUND_TO_A);
    check_held(harness, 1, NULL);
    pass(harness, 100000);
    check_silence(harness);
}

/* The watch settles it while no GET may be sent. */
static void test_the_watch_confirms_before_the_answer(void **state)
{
    struct bind_harness *harness = *state;
    const unsigned caller = call(harness, 1, "a");
    posted_failed(harness, 1, "a", KUBE_UNKNOWN);
    got_failed(harness, 1);
    ledger_shows(harness, BOUND_TO_A);
    pass(harness, 100);
    check_bound(harness, caller);
    pass(harness, 100000);
    check_silence(harness);
    assert_true(metric(harness, "gpu_extender_bind_settled_total{how=\"ledger\"} ") == 1);
}

/* At the deadline, with a GET in progress. */
static void test_the_watch_confirms_in_time(void **state)
{
    struct bind_harness *harness = *state;
    const unsigned caller = call(harness, 1, "a");
    ledger_shows(harness, BOUND_TO_A);
    pass(harness, TIMEOUT_MS);
    check_bound(harness, caller);
    posted_failed(harness, 1, "a", KUBE_UNKNOWN);
    got(harness, 1, 200, BOUND_TO_A);
    pass(harness, 100000);
    check_silence(harness);
}

/* No more GETs after the watch showed the deletion. */
static void test_the_watch_shows_the_deletion(void **state)
{
    struct bind_harness *harness = *state;
    leave_open(harness);
    got(harness, 1, 403, STATUS("pods is forbidden"));
    ledger_removes(harness, UNBOUND);
    pass(harness, 1000);
    check_silence(harness);
    assert_true(metric(harness, "gpu_extender_bind_attempts_open ") == 0);
}

/* A pod seen unbound and terminating will never be bound. */
static void test_the_watch_shows_a_terminating_pod(void **state)
{
    struct bind_harness *harness = *state;
    const unsigned caller = call(harness, 1, "a");
    posted_failed(harness, 1, "a", KUBE_UNKNOWN);
    got(harness, 1, 200, UNBOUND);
    ledger_shows(harness, POD_JSON("1", ",'deletionTimestamp':'2026-11-21T10:00:00Z'", "", ""));
    pass(harness, 100);
    check_error(harness, caller, "the pod has finished or is being deleted");
    check_held(harness, 1, NULL);
    pass(harness, 1000);
    check_silence(harness);
    assert_true(metric(harness, "gpu_extender_bind_attempts_open ") == 0);
}

/* A second call for the same node, with the first one's outcome unknown, posts again. */
static void test_called_again_for_the_same_node(void **state)
{
    struct bind_harness *harness = *state;
    leave_open(harness);
    got_failed(harness, 1);
    const unsigned second = call(harness, 1, "a");
    posted(harness, 1, "a", 409, STATUS("pod p-1 is already assigned to node a"));
    got(harness, 1, 200, BOUND_TO_A);
    check_bound(harness, second);
    check_held(harness, 1, "a");
}

/* The same with a GET in progress: its result comes first. */
static void test_called_again_while_asking(void **state)
{
    struct bind_harness *harness = *state;
    leave_open(harness);
    const unsigned second = call(harness, 1, "a");
    const unsigned third = call(harness, 1, "a");
    got(harness, 1, 200, UNBOUND);
    pass(harness, 100);
    posted(harness, 1, "a", 201, CREATED);
    check_bound(harness, second);
    check_bound(harness, third);
}

/* For another node the first binding is settled first. */
static void test_called_for_another_node(void **state)
{
    static const struct {
        const char *pod;
        const char *error; /* NULL: bound */
    } ROWS[] = {
        {BOUND_TO_A, "the pod is bound to node a already"},
        {BOUND_TO_B, NULL},
        {POD_JSON("1", "", ",'nodeName':'c'", ""), "the pod is bound to node c already"},
        {"{'metadata':{'name':'p-1','namespace':'ml','uid':'u-9'}}",
         "the pod was deleted, and another pod has its name"},
        {UNBOUND, "a binding to node a may still take effect"},
    };
    struct bind_harness *harness = *state;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        (void)call(harness, 1, "a");
        pass(harness, TIMEOUT_MS);
        posted_failed(harness, 1, "a", KUBE_UNKNOWN);
        got_failed(harness, 1);
        const unsigned other = call(harness, 1, "b");
        got(harness, 1, 200, ROWS[i].pod);
        if (ROWS[i].error)
            check_error(harness, other, ROWS[i].error);
        else
            check_bound(harness, other);
        check_silence(harness);
        ledger_removes(harness, UNBOUND);
        ledger_shows(harness, UNBOUND);
        pass(harness, 10000);
    }
}

/* Callers wait for both nodes when the watch shows the pod on one. */
static void test_called_for_both_nodes(void **state)
{
    struct bind_harness *harness = *state;
    leave_open(harness);
    got_failed(harness, 1);
    const unsigned other = call(harness, 1, "b");
    got_failed(harness, 1);
    ledger_shows(harness, BOUND_TO_B);
    check_error(harness, call(harness, 1, "a"), "the pod is bound to node b already");
    check_waits(harness, other);
    pass(harness, 2000);
    got(harness, 1, 200, BOUND_TO_B);
    check_bound(harness, other);
    check_silence(harness);
}

/* The first POST can take effect no more. The reservation on a is released, and the pod goes to
 * b. */
static void test_goes_to_another_node(void **state)
{
    struct bind_harness *harness = *state;
    leave_open(harness);
    got_failed(harness, 1);
    harness->now_ms += POST_LIFE_MS + 1000; /* the tick has not come yet */
    const unsigned other = call(harness, 1, "b");
    const unsigned third = call(harness, 1, "c");
    const unsigned joined = call(harness, 1, "b");
    got(harness, 1, 200, UNBOUND);
    check_error(harness, third, "the pod is being bound to another node");
    check_held(harness, 1, "b");
    posted(harness, 1, "b", 201, CREATED);
    check_bound(harness, other);
    check_bound(harness, joined);
    check_bound(harness, call(harness, 1, "b"));
}

/* A new pod has the same name and node: no success for the old one. */
static void test_another_pod_with_the_same_name_is_no_success(void **state)
{
    struct bind_harness *harness = *state;
    leave_open(harness);
    got_failed(harness, 1);
    const unsigned other = call(harness, 1, "b");
    got(harness, 1, 200,
        "{'kind':'Pod','metadata':{'name':'p-1','namespace':'ml','uid':'u-9'},"
        "'spec':{'nodeName':'b'}}");
    check_error(harness, other, "the pod was deleted, and another pod has its name");
    check_held(harness, 1, NULL);
}

static void test_two_calls_at_once_for_two_nodes(void **state)
{
    struct bind_harness *harness = *state;
    const unsigned first = call(harness, 1, "a");
    check_error(harness, call(harness, 1, "b"), "the pod is being bound to another node");
    posted(harness, 1, "a", 201, CREATED);
    check_bound(harness, first);
    const unsigned second = call(harness, 1, "b"); /* before the ledger sees it */
    got(harness, 1, 200, BOUND_TO_A);
    check_error(harness, second, "the pod is bound to node a already");
    check_held(harness, 1, "a");
}

/* A reservation without an attempt, as after a forgotten one. */
static void hold_room(struct bind_harness *harness, const char *uid, const char *node)
{
    struct arena *arena = arena_new();
    struct reserve_result result;
    const struct reserve_question question = {
        .uid = uid, .node_name = node, .now_ms = harness->now_ms};
    assert_int_equal(inventory_reserve(harness->live.inventory, &question, arena, &result),
                     RESERVE_HELD);
    arena_free(arena);
}

static void test_the_pod_has_a_reservation_elsewhere(void **state)
{
    struct bind_harness *harness = *state;
    hold_room(harness, "u-1", "a");
    const unsigned bound = call(harness, 1, "b");
    got(harness, 1, 200, BOUND_TO_A);
    check_error(harness, bound, "the pod is bound to node a already");
    check_held(harness, 1, "a");
    hold_room(harness, "u-2", "b");
    const unsigned free = call(harness, 2, "a");
    got(harness, 2, 200, POD_JSON("2", "", "", ""));
    check_held(harness, 2, NULL); /* a is full: p-1 */
    check_error(harness, free, "the node has too few free GPUs now");
    hold_room(harness, "u-3", "b");
    const unsigned unheard = call(harness, 3, "a");
    got_failed(harness, 3);
    pass(harness, TIMEOUT_MS);
    check_error(harness, unheard, NOT_YET "the pod could not be read: connection reset");
    check_held(harness, 3, "b");
}

/* An overdue reservation is checked repeatedly, and released if it has no cause. */
static void test_an_unconfirmed_reservation_is_checked_and_released(void **state)
{
    struct bind_harness *harness = *state;
    check_waits(harness, call(harness, 1, "a"));
    posted(harness, 1, "a", 201, CREATED);
    hold_room(harness, "u-2", "b");
    pass(harness, CONFIRM_MS - 1);
    check_silence(harness);
    pass(harness, 1000);
    got(harness, 1, 200, BOUND_TO_A);
    got(harness, 2, 200, POD_JSON("2", "", "", ""));
    check_silence(harness);
    check_held(harness, 1, "a"); /* the watch will show it */
    check_held(harness, 2, NULL);
    assert_true(metric(harness, "gpu_extender_reservations_unconfirmed_total ") == 2);
    pass(harness, CONFIRM_MS);
    got_failed(harness, 1);
    pass(harness, 1000);
    got(harness, 1, 404, STATUS("not found"));
    check_held(harness, 1, NULL);
    pass(harness, CONFIRM_MS);
    check_silence(harness);
    assert_true(metric(harness, "gpu_extender_reservations_open ") == 0);
}

/* Renewed since the GET was sent: this reservation is another's and stays. */
static void test_a_renewed_reservation_is_not_released(void **state)
{
    struct bind_harness *harness = *state;
    hold_room(harness, "u-2", "b");
    pass(harness, CONFIRM_MS);
    hold_room(harness, "u-2", "b");
    got(harness, 2, 200, POD_JSON("2", "", "", ""));
    check_held(harness, 2, "b");
}

static void test_a_call_during_the_background_get(void **state)
{
    struct bind_harness *harness = *state;
    hold_room(harness, "u-2", "b");
    pass(harness, CONFIRM_MS);
    const unsigned caller = call(harness, 2, "b");
    got(harness, 2, 200, POD_JSON("2", "", "", ""));
    pass(harness, 100);
    posted(harness, 2, "b", 201, CREATED);
    check_bound(harness, caller);
}

/* A bound entry whose reservation the ledger released does not prove that the pod is still
 * bound. */
static void test_deleted_after_it_was_bound(void **state)
{
    struct bind_harness *harness = *state;
    check_waits(harness, call(harness, 1, "a"));
    posted(harness, 1, "a", 201, CREATED);
    ledger_removes(harness, BOUND_TO_A);
    const unsigned again = call(harness, 1, "a");
    got(harness, 1, 404, STATUS("not found"));
    check_error(harness, again, "the pod no longer exists");
}

/* ---- a quota that was lowered since the binding began ---- */

static void allow_no_gpu(struct bind_harness *harness)
{
    const char *const namespaces[] = {"ml"};
    const struct quota_limit none = {0};
    const struct quota quota = {
        .name = "ml", .namespaces = namespaces, .n_namespaces = 1, .limits = &none, .n_limits = 1};
    assert_int_equal(policy_add_quota(&harness->next, &quota, NULL), 0);
    inventory_take_policy(harness->live.inventory, &harness->next);
    inventory_free_replaced(harness->live.inventory);
}
#define REFUSED "quota ml leaves too few GPUs in total"

static void test_a_repeated_binding_is_judged_again(void **state)
{
    struct bind_harness *harness = *state;
    const unsigned caller = call(harness, 1, "a");
    posted_retry(harness, 1, "a", 429, 1);
    allow_no_gpu(harness);
    pass(harness, 1000);
    got(harness, 1, 200, UNBOUND);
    check_error(harness, caller, REFUSED);
    check_held(harness, 1, NULL);
    check_silence(harness);
}

static void test_a_binding_that_leaves_late_is_judged_again(void **state)
{
    struct bind_harness *harness = *state;
    const unsigned caller = call(harness, 1, "a");
    allow_no_gpu(harness);
    posted_too_late(harness, 1, "a");
    pass(harness, 100);
    got(harness, 1, 200, UNBOUND);
    check_error(harness, caller, REFUSED);
    check_held(harness, 1, NULL);
    check_silence(harness);
}

/* It keeps its room until the first POST can no longer take effect. */
static void test_a_refused_binding_may_have_taken_effect(void **state)
{
    struct bind_harness *harness = *state;
    const unsigned caller = call(harness, 1, "a");
    posted_failed(harness, 1, "a", KUBE_UNKNOWN);
    got(harness, 1, 200, UNBOUND);
    allow_no_gpu(harness);
    pass(harness, 100);
    got(harness, 1, 200, UNBOUND);
    check_error(harness, caller, NOT_YET REFUSED);
    check_held(harness, 1, "a");
    pass(harness, POST_LIFE_MS + 1000);
    got(harness, 1, 200, BOUND_TO_A);
    check_held(harness, 1, "a");
    check_silence(harness);
}

static void test_a_refused_binding_had_taken_effect(void **state)
{
    struct bind_harness *harness = *state;
    const unsigned caller = call(harness, 1, "a");
    posted_failed(harness, 1, "a", KUBE_UNKNOWN);
    got(harness, 1, 200, UNBOUND);
    allow_no_gpu(harness);
    pass(harness, 100);
    got(harness, 1, 200, BOUND_TO_A);
    check_bound(harness, caller);
    check_held(harness, 1, "a");
}

/* As after a forgotten one: the pod may be bound, though the watch does not show it yet. */
static void test_room_without_an_attempt_is_not_freed_unseen(void **state)
{
    struct bind_harness *harness = *state;
    hold_room(harness, "u-1", "a");
    allow_no_gpu(harness);
    const unsigned caller = call(harness, 1, "a");
    got(harness, 1, 200, BOUND_TO_A);
    check_bound(harness, caller);
    check_held(harness, 1, "a");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BIND_TEST(test_a_caller_gets_an_error_at_its_timeout),
        BIND_TEST(test_the_tick_returns_its_next_time),
        BIND_TEST(test_unknown_outcome_is_checked_in_the_background),
        BIND_TEST(test_an_unbound_pod_is_released_only_after_a_while),
        BIND_TEST(test_the_time_the_get_was_sent_counts),
        BIND_TEST(test_bound_after_all),
        BIND_TEST(test_the_watch_confirms_before_the_answer),
        BIND_TEST(test_the_watch_confirms_in_time),
        BIND_TEST(test_the_watch_shows_the_deletion),
        BIND_TEST(test_the_watch_shows_a_terminating_pod),
        BIND_TEST(test_called_again_for_the_same_node),
        BIND_TEST(test_called_again_while_asking),
        BIND_TEST(test_called_for_another_node),
        BIND_TEST(test_called_for_both_nodes),
        BIND_TEST(test_goes_to_another_node),
        BIND_TEST(test_another_pod_with_the_same_name_is_no_success),
        BIND_TEST(test_two_calls_at_once_for_two_nodes),
        BIND_TEST(test_the_pod_has_a_reservation_elsewhere),
        BIND_TEST(test_an_unconfirmed_reservation_is_checked_and_released),
        BIND_TEST(test_a_renewed_reservation_is_not_released),
        BIND_TEST(test_a_call_during_the_background_get),
        BIND_TEST(test_deleted_after_it_was_bound),
        BIND_TEST(test_a_repeated_binding_is_judged_again),
        BIND_TEST(test_a_binding_that_leaves_late_is_judged_again),
        BIND_TEST(test_a_refused_binding_may_have_taken_effect),
        BIND_TEST(test_a_refused_binding_had_taken_effect),
        BIND_TEST(test_room_without_an_attempt_is_not_freed_unseen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
