/* filter and waits: an Error would cost a pod its nominated node. So filter waits until the ledger
 * has had time to see what kube-scheduler saw. One thread: the test is the loop that feeds the
 * ledger and ticks. */
#include "base/clock.h"
#include "base/mem.h"
#include "hand_clock.h"
#include "verbs_harness.h"

struct waiting_stage {
    struct verbs verbs;
    struct decisions *decisions;
    const char *removed_at_wake; /* a pod to remove at a wake; NULL: only count */
    unsigned n_wakes;
};

/* The loop's thread may act before waits_add() returns. */
static void wake(void *context)
{
    struct waiting_stage *waiting = context;
    waiting->n_wakes++;
    if (!waiting->removed_at_wake)
        return;
    ledger_removes(waiting->verbs.harness, waiting->removed_at_wake);
    assert_true(waits_tick(waiting->verbs.extender.waits, clock_ms()) == CLOCK_NEVER);
}

/* Node a has one GPU, which pod 1 uses. */
#define VICTIM POD_JSON("1", "", ",'nodeName':'a'", "")

static int set_up(void **state)
{
    struct waiting_stage *waiting = MEM_NEW(struct waiting_stage);
    verbs_init(&waiting->verbs);
    waiting->decisions = decisions_new(8);
    waiting->verbs.extender.waits = waits_new(wake, waiting);
    waiting->verbs.extender.budgets = budgets_new();
    waiting->verbs.extender.decisions = waiting->decisions;
    ledger_shows(waiting->verbs.harness, VICTIM);
    *state = waiting;
    return 0;
}

static int tear_down(void **state)
{
    struct waiting_stage *waiting = *state;
    waits_stop(waiting->verbs.extender.waits);
    waits_free(waiting->verbs.extender.waits);
    budgets_free(waiting->verbs.extender.budgets);
    decisions_free(waiting->decisions);
    verbs_fini(&waiting->verbs);
    free(waiting);
    return 0;
}

static struct exchange *ask(struct waiting_stage *waiting, const char *question)
{
    return begin(&waiting->verbs, extender_filter, question);
}

static int64_t tick(struct waiting_stage *waiting)
{
    return waits_tick(waiting->verbs.extender.waits, clock_ms());
}

/* Lets time pass until the end of a wait that has just begun. */
static void tick_late(struct waiting_stage *waiting)
{
    hand_clock_pass(WAITS_TOTAL_MS - 1);
    assert_int_equal(tick(waiting), clock_ms() + 1);
    hand_clock_pass(1);
    assert_true(tick(waiting) == CLOCK_NEVER);
}

#define ASK_AS(status, nodes) "{'Pod':" POD_JSON("2", "", "", status) ",'NodeNames':[" nodes "]}"
#define ASK(nodes) ASK_AS("'nominatedNodeName':'a'", nodes)

static void test_filter_waits_for_the_end_of_the_victim(void **state)
{
    struct waiting_stage *waiting = *state;
    const int64_t began_ms = clock_ms();
    struct exchange *asked = ask(waiting, ASK("'c','a','c'"));
    assert_false(fake_is_answered(asked));
    assert_int_equal(waiting->n_wakes, 1);
    assert_int_equal(tick(waiting), began_ms + WAITS_TOTAL_MS);
    ledger_shows(waiting->verbs.harness, POD_JSON("3", "", ",'nodeName':'b'", ""));
    assert_true(tick(waiting) != CLOCK_NEVER);
    assert_false(fake_is_answered(asked));
    ledger_removes(waiting->verbs.harness, VICTIM);
    assert_true(tick(waiting) == CLOCK_NEVER);
    end(asked, ANSWER("'a'", NO_GPUS "," NO_GPUS));
    check_counted(&waiting->verbs, "filter_waits_total{result=\"helped\"}", 1);
    check_counted(&waiting->verbs, "filter_waits_total{result=\"in_vain\"}", 0);
    check_counted(&waiting->verbs, "filter_ledger_behind_total", 0);
    check_counted(&waiting->verbs, "filter_verdicts_total{verdict=\"fits\"}", 1);
    check_counted(&waiting->verbs, "filter_verdicts_total{verdict=\"gpu_free\"}", 0);
    check_counted(&waiting->verbs, "verb_calls_total{verb=\"filter\",result=\"ok\"}", 1);
    check_counted(&waiting->verbs, "verb_calls_total{verb=\"filter\",result=\"retry\"}", 0);
}

static void test_a_wait_is_recorded_once(void **state)
{
    struct waiting_stage *waiting = *state;
    const struct decision_query all = {.verb = N_DECISION_VERBS, .limit = 8};
    struct arena *arena = arena_new();
    struct decision *found = NULL;
    struct exchange *asked = ask(waiting, ASK("'a'"));
    assert_int_equal(decisions_find(waiting->decisions, &all, arena, &found), 0);
    ledger_removes(waiting->verbs.harness, VICTIM);
    (void)tick(waiting);
    end(asked, ANSWER("'a'", ""));
    assert_int_equal(decisions_find(waiting->decisions, &all, arena, &found), 1);
    assert_int_equal(found->n_handed_on, 1);
    assert_int_equal(found->verdicts[REASON_FITS], 1);
    assert_int_equal(found->verdicts[REASON_GPU_FREE], 0);
    assert_string_equal(found->error, "");
    const struct inventory_view view = inventory_read(waiting->verbs.extender.inventory);
    assert_int_equal(found->ledger_version, cluster_version(view.cluster));
    inventory_done(&view);
    arena_free(arena);
}

static void test_filter_waits_within_its_budget(void **state)
{
    struct waiting_stage *waiting = *state;
    struct exchange *asked = ask(waiting, ASK("'a'"));
    (void)tick(waiting);
    assert_false(fake_is_answered(asked));
    tick_late(waiting);
    end(asked, LAG);
    check_counted(&waiting->verbs, "filter_waits_total{result=\"in_vain\"}", 1);
    check_counted(&waiting->verbs, "filter_waits_total{result=\"helped\"}", 0);
    check_counted(&waiting->verbs, "filter_ledger_behind_total", 1);
    check_counted(&waiting->verbs, "filter_verdicts_total{verdict=\"gpu_free\"}", 1);
    check_counted(&waiting->verbs, "verb_calls_total{verb=\"filter\",result=\"retry\"}", 1);
}

/* At the end all nodes are judged, also for changes that were not watched. */
static void test_the_end_of_a_wait_judges_all_nodes_again(void **state)
{
    struct waiting_stage *waiting = *state;
    ledger_shows(waiting->verbs.harness, POD_JSON("3", "", ",'nodeName':'b'", ""));
    ledger_shows(waiting->verbs.harness, POD_JSON("4", "", ",'nodeName':'b'", ""));
    struct exchange *asked = ask(waiting, ASK("'a','b'"));
    ledger_removes(waiting->verbs.harness, POD_JSON("4", "", ",'nodeName':'b'", ""));
    (void)tick(waiting);
    assert_false(fake_is_answered(asked));
    tick_late(waiting);
    end(asked, ANSWER("'b'", TOO_FEW));
}

/* kube-scheduler sees the end of a nomination before us. */
static void test_filter_waits_for_the_end_of_a_nomination(void **state)
{
    struct waiting_stage *waiting = *state;
    ledger_removes(waiting->verbs.harness, VICTIM);
    ledger_shows(waiting->verbs.harness, POD_JSON("1", "", "", "'nominatedNodeName':'a'"));
    struct exchange *asked = ask(waiting, ASK("'a'"));
    (void)tick(waiting);
    assert_false(fake_is_answered(asked));
    ledger_shows(waiting->verbs.harness, POD_JSON("1", "", "", ""));
    assert_true(tick(waiting) == CLOCK_NEVER);
    end(asked, ANSWER("'a'", ""));
}

static void test_the_loop_may_answer_before_the_handler_returns(void **state)
{
    struct waiting_stage *waiting = *state;
    waiting->removed_at_wake = VICTIM;
    end(ask(waiting, ASK("'a'")), ANSWER("'a'", ""));
    assert_int_equal(waiting->n_wakes, 1);
}

/* kube-scheduler still sees pods terminating on the nominated node, but offers another that is
 * free. An Error would cost the pod the first. */
static void test_filter_waits_for_another_free_node_too(void **state)
{
    struct waiting_stage *waiting = *state;
    struct exchange *asked = ask(waiting, ASK_AS("'nominatedNodeName':'b'", "'c','a'"));
    assert_false(fake_is_answered(asked));
    ledger_removes(waiting->verbs.harness, VICTIM);
    (void)tick(waiting);
    end(asked, ANSWER("'a'", NO_GPUS));
}

static void test_requests_that_gain_nothing_do_not_wait(void **state)
{
    struct waiting_stage *waiting = *state;
    end(ask(waiting, ASK_AS("", "'a'")), LAG);                            /* nothing to lose */
    end(ask(waiting, ASK_AS("'nominatedNodeName':'c'", "'a','c'")), LAG); /* it would not help */
    end(ask(waiting, ASK_AS("'nominatedNodeName':'gone'", "'a','gone'")), LAG);
    end(ask(waiting, ASK("'a','b'")), ANSWER("'b'", TOO_FEW));
    end(ask(waiting, ASK("'c'")), ANSWER("", NO_GPUS));
    assert_int_equal(waiting->n_wakes, 0);
}

static void test_the_node_disappears_during_the_wait(void **state)
{
    struct waiting_stage *waiting = *state;
    struct exchange *asked = ask(waiting, ASK("'a'"));
    live_remove(&waiting->verbs.harness->live, CLUSTER_NODES, "{'metadata':{'name':'a'}}");
    assert_true(tick(waiting) == CLOCK_NEVER);
    end(asked, ANSWER("", REFUSED("a", "the node is not in the inventory")));
    check_counted(&waiting->verbs, "verb_calls_total{verb=\"filter\",result=\"none\"}", 1);
    check_counted(&waiting->verbs, "filter_waits_total{result=\"helped\"}", 0);
    check_counted(&waiting->verbs, "filter_waits_total{result=\"in_vain\"}", 1);
}

static void test_the_ledger_becomes_stale_during_the_wait(void **state)
{
    struct waiting_stage *waiting = *state;
    struct live_cluster *live = &waiting->verbs.harness->live;
    struct exchange *asked = ask(waiting, ASK("'a'"));
    live->statuses[CLUSTER_PODS].stale = true;
    live->statuses[CLUSTER_PODS].why = "no answer in 10 s";
    ledger_removes(waiting->verbs.harness, VICTIM);
    (void)tick(waiting);
    end(asked, "{'Error':'gpu-extender: the pods are stale: no answer in 10 s'}");
    check_counted(&waiting->verbs, "verb_calls_total{verb=\"filter\",result=\"unusable\"}", 1);
    check_counted(&waiting->verbs, "filter_waits_total{result=\"in_vain\"}", 1);
    check_counted(&waiting->verbs, "verb_calls_total{verb=\"filter\",result=\"ok\"}", 0);
}

static void test_one_request_waits_at_a_time_and_the_stop_answers_it(void **state)
{
    struct waiting_stage *waiting = *state;
    struct exchange *asked = ask(waiting, ASK("'a'"));
    end(ask(waiting, ASK("'a'")), LAG);
    (void)tick(waiting);
    end(ask(waiting, ASK("'a'")), LAG);
    waits_stop(waiting->verbs.extender.waits);
    end(asked, LAG);
    end(ask(waiting, ASK("'a'")), LAG);
    assert_int_equal(waiting->n_wakes, 1);
}

/* A call that is examined while another arrives. */
static bool look_on(void *context, bool is_over)
{
    struct waiting_stage *waiting = context;
    if (!is_over)
        end(ask(waiting, ASK("'a'")), LAG);
    return is_over;
}

static void test_a_judged_request_keeps_its_place(void **state)
{
    struct waiting_stage *waiting = *state;
    struct waits *waits = waiting->verbs.extender.waits;
    assert_true(waits_add(waits, look_on, waiting, 1000));
    assert_true(waits_tick(waits, 1000 + WAITS_TOTAL_MS - 1) == 1000 + WAITS_TOTAL_MS);
    assert_true(waits_tick(waits, 1000 + WAITS_TOTAL_MS) == CLOCK_NEVER);
}

/* ---- the budget ---- */

static bool is_over_as_told(void *context, bool is_over)
{
    const bool *ends = context;
    return *ends || is_over;
}

#define BEGIN_MS 1000000

/* Length of a wait that nothing ends early, starting at that time; -1: no wait. */
static int64_t waited_ms(struct waits *waits, int64_t at_ms)
{
    bool never = false;
    if (!waits_add(waits, is_over_as_told, &never, at_ms))
        return -1;
    const int64_t until_ms = waits_tick(waits, at_ms);
    assert_true(waits_tick(waits, until_ms) == CLOCK_NEVER);
    return until_ms - at_ms;
}

static void test_waits_total_one_second_in_any_twenty(void **state)
{
    struct waiting_stage *waiting = *state;
    struct waits *waits = waiting->verbs.extender.waits;
    assert_int_equal(waited_ms(waits, BEGIN_MS), WAITS_TOTAL_MS);
    const int64_t ended_ms = BEGIN_MS + WAITS_TOTAL_MS;
    assert_int_equal(waited_ms(waits, ended_ms), -1);
    assert_false(waits_have_time(waits, ended_ms));
    assert_int_equal(waited_ms(waits, ended_ms + WAITS_WINDOW_MS - 1), -1);
    assert_true(waits_have_time(waits, ended_ms + WAITS_WINDOW_MS));
    assert_int_equal(waited_ms(waits, ended_ms + WAITS_WINDOW_MS), WAITS_TOTAL_MS);
}

static void test_a_successful_wait_leaves_the_rest_of_the_budget(void **state)
{
    struct waiting_stage *waiting = *state;
    struct waits *waits = waiting->verbs.extender.waits;
    bool ends = true;
    assert_true(waits_add(waits, is_over_as_told, &ends, BEGIN_MS));
    assert_true(waits_tick(waits, BEGIN_MS + 300) == CLOCK_NEVER);
    assert_int_equal(waited_ms(waits, BEGIN_MS + 5000), WAITS_TOTAL_MS - 300);
    assert_int_equal(waited_ms(waits, BEGIN_MS + 6000), -1);
    assert_int_equal(waited_ms(waits, BEGIN_MS + 300 + WAITS_WINDOW_MS), 300);
}

/* Each short wait has a minimum cost. */
static void test_the_shortest_wait_uses_budget(void **state)
{
    struct waiting_stage *waiting = *state;
    struct waits *waits = waiting->verbs.extender.waits;
    bool ends = true;
    size_t n = 0;
    while (waits_add(waits, is_over_as_told, &ends, BEGIN_MS + (int64_t)n)) {
        assert_true(waits_tick(waits, BEGIN_MS + (int64_t)n) == CLOCK_NEVER);
        n++;
    }
    assert_int_equal(n, WAITS_TOTAL_MS / WAITS_LEAST_MS);
    assert_int_equal(waited_ms(waits, BEGIN_MS + WAITS_WINDOW_MS - 1), -1);
    assert_int_equal(waited_ms(waits, BEGIN_MS + WAITS_WINDOW_MS), WAITS_LEAST_MS);
}

/* The second call of a cycle, about all nodes, finds the budget spent and gets the Error at
 * once. */
static void test_no_budget_returns_the_error_at_once(void **state)
{
    struct waiting_stage *waiting = *state;
    struct exchange *asked = ask(waiting, ASK("'a'"));
    tick_late(waiting);
    end(asked, LAG);
    end(ask(waiting, ASK("'a','c'")), LAG);
    assert_int_equal(waiting->n_wakes, 1);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_filter_waits_for_the_end_of_the_victim),
        TEST(test_a_wait_is_recorded_once),
        TEST(test_filter_waits_within_its_budget),
        TEST(test_the_end_of_a_wait_judges_all_nodes_again),
        TEST(test_filter_waits_for_the_end_of_a_nomination),
        TEST(test_the_loop_may_answer_before_the_handler_returns),
        TEST(test_filter_waits_for_another_free_node_too),
        TEST(test_requests_that_gain_nothing_do_not_wait),
        TEST(test_the_node_disappears_during_the_wait),
        TEST(test_the_ledger_becomes_stale_during_the_wait),
        TEST(test_a_judged_request_keeps_its_place),
        TEST(test_one_request_waits_at_a_time_and_the_stop_answers_it),
        TEST(test_waits_total_one_second_in_any_twenty),
        TEST(test_a_successful_wait_leaves_the_rest_of_the_budget),
        TEST(test_the_shortest_wait_uses_budget),
        TEST(test_no_budget_returns_the_error_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
