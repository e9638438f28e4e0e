/* binds: what goes on when callers have been answered: late outcomes, other nodes, reservations
 * that nothing confirms. */
#include "bind_stage.h"

#define UNBOUND POD_JSON("1", "", "", "")
#define BOUND_TO_A POD_JSON("1", OURS, ",'nodeName':'a'", "")
#define BOUND_TO_B POD_JSON("1", OURS, ",'nodeName':'b'", "")

#define NOT_YET "the outcome is not known yet: "
#define NO_ANSWER "no answer came to the binding: connection reset"

/* The first caller is answered that time is over; whether the POST took effect is not known. */
static void leave_open(struct bind_stage *stage)
{
    (void)call(stage, 1, "a");
    pass(stage, TIMEOUT_MS);
    posted_failed(stage, 1, "a", KUBE_UNKNOWN);
}

/* A caller gets no answer later than it was promised, and the others theirs at their time. */
static void test_time_is_up(void **state)
{
    struct bind_stage *stage = *state;
    const unsigned first = call(stage, 1, "a");
    pass(stage, 1000);
    const unsigned second = call(stage, 1, "a");
    pass(stage, TIMEOUT_MS - 1001);
    check_waits(stage, first);
    pass(stage, 1);
    check_error(stage, first, NOT_YET "the API server has not answered");
    check_waits(stage, second);
    posted_failed(stage, 1, "a", KUBE_UNKNOWN);
    got_failed(stage, 1);
    pass(stage, 1000);
    check_error(stage, second, NOT_YET "the pod could not be asked for: connection reset");
    check_held(stage, 1, "a");
    assert_true(metric(stage, "gpu_extender_binds_total{outcome=\"unknown\"} ") == 2);
}

/* The tick says exactly when it is wanted. */
static void test_the_tick_is_told_when(void **state)
{
    struct bind_stage *stage = *state;
    assert_int_equal(binds_tick(stage->binds, stage->now_ms), stage->now_ms + 1000);
    stage->now_ms += 500;
    (void)call(stage, 1, "a");
    pass(stage, TIMEOUT_MS - 300);
    assert_int_equal(binds_tick(stage->binds, stage->now_ms), stage->now_ms + 300);
}

/* Time is up while the outcome is open. The back-off starts at 1 s, doubles to 30 s, and is up to a
 * quarter shorter. */
static void test_asked_in_the_background(void **state)
{
    static const int64_t DELAYS_MS[] = {1000, 2000, 4000, 8000, 16000, 30000, 30000};
    struct bind_stage *stage = *state;
    const unsigned caller = call(stage, 1, "a");
    pass(stage, TIMEOUT_MS);
    check_error(stage, caller, NOT_YET "the API server has not answered");
    posted_failed(stage, 1, "a", KUBE_UNKNOWN);
    pass(stage, POST_LIFE_MS + 1000);
    for (size_t i = 0; i < sizeof DELAYS_MS / sizeof *DELAYS_MS; i++) {
        got_failed(stage, 1);
        pass(stage, DELAYS_MS[i] * 3 / 4 - 1);
        check_silence(stage);
        pass(stage, DELAYS_MS[i] / 4 + 1);
    }
    check_held(stage, 1, "a");
    got(stage, 1, 200, UNBOUND);
    check_held(stage, 1, NULL);
    pass(stage, 100000);
    check_silence(stage);
}

/* "Unbound" lets the room go only if it was asked when the API server had given the POST up. */
static void test_unbound_is_believed_late(void **state)
{
    struct bind_stage *stage = *state;
    leave_open(stage);
    got(stage, 1, 200, UNBOUND);
    check_held(stage, 1, "a");
    pass(stage, 1000);
    got(stage, 1, 200, UNBOUND);
    check_held(stage, 1, "a");
    pass(stage, 2000);
    pass(stage, POST_LIFE_MS - 2001);
    got(stage, 1, 200, UNBOUND);
    check_held(stage, 1, "a");
    check_silence(stage);
    pass(stage, 1); /* not before, and at once then */
    got(stage, 1, 200, UNBOUND);
    check_held(stage, 1, NULL);
    pass(stage, 100000);
    check_silence(stage);
    assert_true(metric(stage, "gpu_extender_bind_settled_total{how=\"unbound\"} ") == 1);
}

/* Asked before, answered after: it says how it was before. */
static void test_when_it_was_asked_counts(void **state)
{
    struct bind_stage *stage = *state;
    leave_open(stage);
    pass(stage, POST_LIFE_MS + 5000);
    got(stage, 1, 200, UNBOUND);
    check_held(stage, 1, "a");
    pass(stage, 1000);
    got(stage, 1, 200, UNBOUND);
    check_held(stage, 1, NULL);
}

static void test_bound_after_all(void **state)
{
    struct bind_stage *stage = *state;
    leave_open(stage);
    got(stage, 1, 200, BOUND_TO_A);
    check_held(stage, 1, "a");
    check_bound(stage, call(stage, 1, "a")); /* contract 13.6: the second bind */
    check_silence(stage);
    ledger_shows(stage, BOUND_TO_A);
    check_held(stage, 1, NULL);
    pass(stage, 100000);
    check_silence(stage);
}

/* While nothing can be asked, the watch brings it. */
static void test_the_watch_is_first(void **state)
{
    struct bind_stage *stage = *state;
    const unsigned caller = call(stage, 1, "a");
    posted_failed(stage, 1, "a", KUBE_UNKNOWN);
    got_failed(stage, 1);
    ledger_shows(stage, BOUND_TO_A);
    pass(stage, 100);
    check_bound(stage, caller);
    pass(stage, 100000);
    check_silence(stage);
    assert_true(metric(stage, "gpu_extender_bind_settled_total{how=\"ledger\"} ") == 1);
}

/* At the very end, though a question is still under way. */
static void test_the_watch_is_in_time(void **state)
{
    struct bind_stage *stage = *state;
    const unsigned caller = call(stage, 1, "a");
    ledger_shows(stage, BOUND_TO_A);
    pass(stage, TIMEOUT_MS);
    check_bound(stage, caller);
    posted_failed(stage, 1, "a", KUBE_UNKNOWN);
    got(stage, 1, 200, BOUND_TO_A);
    pass(stage, 100000);
    check_silence(stage);
}

/* Nothing is asked for ever about a pod that the watch showed to be gone. */
static void test_gone_by_the_watch(void **state)
{
    struct bind_stage *stage = *state;
    leave_open(stage);
    got(stage, 1, 403, STATUS("pods is forbidden"));
    ledger_removes(stage, UNBOUND);
    pass(stage, 1000);
    check_silence(stage);
    assert_true(metric(stage, "gpu_extender_bind_attempts_open ") == 0);
}

/* Seen unbound and on its way out, it will never be bound. */
static void test_terminating_by_the_watch(void **state)
{
    struct bind_stage *stage = *state;
    const unsigned caller = call(stage, 1, "a");
    posted_failed(stage, 1, "a", KUBE_UNKNOWN);
    got(stage, 1, 200, UNBOUND);
    ledger_shows(stage, POD_JSON("1", ",'deletionTimestamp':'2026-11-21T10:00:00Z'", "", ""));
    pass(stage, 100);
    check_error(stage, caller, "the pod has finished or is being deleted");
    check_held(stage, 1, NULL);
    pass(stage, 1000);
    check_silence(stage);
    assert_true(metric(stage, "gpu_extender_bind_attempts_open ") == 0);
}

/* A second call for the same node, while the first one's outcome is open, posts again. */
static void test_called_again_for_the_same_node(void **state)
{
    struct bind_stage *stage = *state;
    leave_open(stage);
    got_failed(stage, 1);
    const unsigned second = call(stage, 1, "a");
    posted(stage, 1, "a", 409, STATUS("pod p-1 is already assigned to node a"));
    got(stage, 1, 200, BOUND_TO_A);
    check_bound(stage, second);
    check_held(stage, 1, "a");
}

/* The same while a GET is under way: what it finds comes first. */
static void test_called_again_while_asking(void **state)
{
    struct bind_stage *stage = *state;
    leave_open(stage);
    const unsigned second = call(stage, 1, "a");
    const unsigned third = call(stage, 1, "a");
    got(stage, 1, 200, UNBOUND);
    pass(stage, 100);
    posted(stage, 1, "a", 201, CREATED);
    check_bound(stage, second);
    check_bound(stage, third);
}

/* Another node: the first binding is settled before. */
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
         "the pod was deleted, and another has its name"},
        {UNBOUND, "a binding to node a may still take effect"},
    };
    struct bind_stage *stage = *state;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        (void)call(stage, 1, "a");
        pass(stage, TIMEOUT_MS);
        posted_failed(stage, 1, "a", KUBE_UNKNOWN);
        got_failed(stage, 1);
        const unsigned other = call(stage, 1, "b");
        got(stage, 1, 200, ROWS[i].pod);
        if (ROWS[i].error)
            check_error(stage, other, ROWS[i].error);
        else
            check_bound(stage, other);
        check_silence(stage);
        ledger_removes(stage, UNBOUND);
        ledger_shows(stage, UNBOUND);
        pass(stage, 10000);
    }
}

/* Both nodes are waited for when the watch shows the pod on one. */
static void test_called_for_both_nodes(void **state)
{
    struct bind_stage *stage = *state;
    leave_open(stage);
    got_failed(stage, 1);
    const unsigned other = call(stage, 1, "b");
    got_failed(stage, 1);
    ledger_shows(stage, BOUND_TO_B);
    check_error(stage, call(stage, 1, "a"), "the pod is bound to node b already");
    check_waits(stage, other);
    pass(stage, 2000);
    got(stage, 1, 200, BOUND_TO_B);
    check_bound(stage, other);
    check_silence(stage);
}

/* The first can take effect no more: the room on a is let go, and the pod goes to b. */
static void test_goes_to_another_node(void **state)
{
    struct bind_stage *stage = *state;
    leave_open(stage);
    got_failed(stage, 1);
    stage->now_ms += POST_LIFE_MS + 1000; /* the tick has not come yet */
    const unsigned other = call(stage, 1, "b");
    const unsigned third = call(stage, 1, "c");
    const unsigned joined = call(stage, 1, "b");
    got(stage, 1, 200, UNBOUND);
    check_error(stage, third, "the pod is being bound to another node");
    check_held(stage, 1, "b");
    posted(stage, 1, "b", 201, CREATED);
    check_bound(stage, other);
    check_bound(stage, joined);
    check_bound(stage, call(stage, 1, "b"));
}

/* A new pod has the name, and the node that was asked for: that is no success for the old one. */
static void test_another_pod_is_where_this_one_was_to_go(void **state)
{
    struct bind_stage *stage = *state;
    leave_open(stage);
    got_failed(stage, 1);
    const unsigned other = call(stage, 1, "b");
    got(stage, 1, 200,
        "{'kind':'Pod','metadata':{'name':'p-1','namespace':'ml','uid':'u-9'},"
        "'spec':{'nodeName':'b'}}");
    check_error(stage, other, "the pod was deleted, and another has its name");
    check_held(stage, 1, NULL);
}

static void test_two_calls_at_once_for_two_nodes(void **state)
{
    struct bind_stage *stage = *state;
    const unsigned first = call(stage, 1, "a");
    check_error(stage, call(stage, 1, "b"), "the pod is being bound to another node");
    posted(stage, 1, "a", 201, CREATED);
    check_bound(stage, first);
    const unsigned second = call(stage, 1, "b"); /* before the ledger sees it */
    got(stage, 1, 200, BOUND_TO_A);
    check_error(stage, second, "the pod is bound to node a already");
    check_held(stage, 1, "a");
}

/* Room that was held without an attempt of ours, as after one that was forgotten. */
static void hold_room(struct bind_stage *stage, const char *uid, const char *node)
{
    struct arena *arena = arena_new();
    struct reserve_result result;
    const struct reserve_question question = {
        .uid = uid, .node_name = node, .now_ms = stage->now_ms};
    assert_int_equal(inventory_reserve(stage->live.inventory, &question, arena, &result),
                     RESERVE_HELD);
    arena_free(arena);
}

static void test_room_is_held_elsewhere(void **state)
{
    struct bind_stage *stage = *state;
    hold_room(stage, "u-1", "a");
    const unsigned bound = call(stage, 1, "b");
    got(stage, 1, 200, BOUND_TO_A);
    check_error(stage, bound, "the pod is bound to node a already");
    check_held(stage, 1, "a");
    hold_room(stage, "u-2", "b");
    const unsigned free = call(stage, 2, "a");
    got(stage, 2, 200, POD_JSON("2", "", "", ""));
    check_held(stage, 2, NULL); /* a is full: p-1 */
    check_error(stage, free, "the node has too few free GPUs now");
    hold_room(stage, "u-3", "b");
    const unsigned unheard = call(stage, 3, "a");
    got_failed(stage, 3);
    pass(stage, TIMEOUT_MS);
    check_error(stage, unheard, NOT_YET "the pod could not be asked for: connection reset");
    check_held(stage, 3, "b");
}

/* Older than it should be: asked about, again and again, and let go where it has no cause. */
static void test_nothing_confirms(void **state)
{
    struct bind_stage *stage = *state;
    check_waits(stage, call(stage, 1, "a"));
    posted(stage, 1, "a", 201, CREATED);
    hold_room(stage, "u-2", "b");
    pass(stage, CONFIRM_MS - 1);
    check_silence(stage);
    pass(stage, 1000);
    got(stage, 1, 200, BOUND_TO_A);
    got(stage, 2, 200, POD_JSON("2", "", "", ""));
    check_silence(stage);
    check_held(stage, 1, "a"); /* the watch will tell */
    check_held(stage, 2, NULL);
    assert_true(metric(stage, "gpu_extender_reservations_unconfirmed_total ") == 2);
    pass(stage, CONFIRM_MS);
    got_failed(stage, 1);
    pass(stage, 1000);
    got(stage, 1, 404, STATUS("not found"));
    check_held(stage, 1, NULL);
    pass(stage, CONFIRM_MS);
    check_silence(stage);
    assert_true(metric(stage, "gpu_extender_reservations_open ") == 0);
}

/* Held again since the question was sent: another's, which is not let go. */
static void test_only_what_was_asked_about_is_let_go(void **state)
{
    struct bind_stage *stage = *state;
    hold_room(stage, "u-2", "b");
    pass(stage, CONFIRM_MS);
    hold_room(stage, "u-2", "b");
    got(stage, 2, 200, POD_JSON("2", "", "", ""));
    check_held(stage, 2, "b");
}

static void test_a_call_while_its_room_is_asked_about(void **state)
{
    struct bind_stage *stage = *state;
    hold_room(stage, "u-2", "b");
    pass(stage, CONFIRM_MS);
    const unsigned caller = call(stage, 2, "b");
    got(stage, 2, 200, POD_JSON("2", "", "", ""));
    pass(stage, 100);
    posted(stage, 2, "b", 201, CREATED);
    check_bound(stage, caller);
}

/* A bound one that the ledger let go is no news that it is still bound. */
static void test_deleted_after_it_was_bound(void **state)
{
    struct bind_stage *stage = *state;
    check_waits(stage, call(stage, 1, "a"));
    posted(stage, 1, "a", 201, CREATED);
    ledger_removes(stage, BOUND_TO_A);
    const unsigned again = call(stage, 1, "a");
    got(stage, 1, 404, STATUS("not found"));
    check_error(stage, again, "there is no such pod any more");
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, bind_stage_setup, bind_stage_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_time_is_up),
        TEST(test_the_tick_is_told_when),
        TEST(test_asked_in_the_background),
        TEST(test_unbound_is_believed_late),
        TEST(test_when_it_was_asked_counts),
        TEST(test_bound_after_all),
        TEST(test_the_watch_is_first),
        TEST(test_the_watch_is_in_time),
        TEST(test_gone_by_the_watch),
        TEST(test_terminating_by_the_watch),
        TEST(test_called_again_for_the_same_node),
        TEST(test_called_again_while_asking),
        TEST(test_called_for_another_node),
        TEST(test_called_for_both_nodes),
        TEST(test_goes_to_another_node),
        TEST(test_another_pod_is_where_this_one_was_to_go),
        TEST(test_two_calls_at_once_for_two_nodes),
        TEST(test_room_is_held_elsewhere),
        TEST(test_nothing_confirms),
        TEST(test_only_what_was_asked_about_is_let_go),
        TEST(test_a_call_while_its_room_is_asked_about),
        TEST(test_deleted_after_it_was_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
