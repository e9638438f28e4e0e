/* rules: the answer of filter if no node fits, by verdicts and the pod's nomination. Waiting calls:
 * test_waits.c; quotas: tests/wire/test_live_waits.py. */
#include "base/mem.h"
#include "extender/filter/rules.h"
#include "verbs_harness.h"

struct ruled {
    struct verbs verbs;
    unsigned n_wakes;
};

static void wake(void *context)
{
    struct ruled *ruled = context;
    ruled->n_wakes++;
}

static int set_up(void **state)
{
    struct ruled *ruled = MEM_NEW(struct ruled);
    verbs_init(&ruled->verbs);
    ruled->verbs.extender.budgets = budgets_new();
    ruled->verbs.extender.waits = waits_new(wake, ruled);
    *state = ruled;
    return 0;
}

static int tear_down(void **state)
{
    struct ruled *ruled = *state;
    waits_stop(ruled->verbs.extender.waits);
    waits_free(ruled->verbs.extender.waits);
    budgets_free(ruled->verbs.extender.budgets);
    verbs_fini(&ruled->verbs);
    free(ruled);
    return 0;
}

static void check(struct ruled *ruled, const char *question, const char *expected)
{
    end(begin(&ruled->verbs, extender_filter, question), expected);
}

#define ASK_AS(pod, metadata, status, nodes)                                                       \
    "{'Pod':" POD_JSON(pod, metadata, "", status) ",'NodeNames':[" nodes "]}"
#define ASK(pod, nodes) ASK_AS(pod, "", "", nodes)
#define IS_KEPT "the node's free GPUs are kept for a nominated pod"

/* A nomination of another scheduler, unknown to kube-scheduler. With endless Errors the pod could
 * never preempt elsewhere. */
static void test_kept_room_is_an_error_twice(void **state)
{
    struct ruled *ruled = *state;
    ledger_shows(ruled->verbs.harness, POD_JSON("1", "", "", "'nominatedNodeName':'a'"));
    check(ruled, ASK("2", "'a'"), KEPT);
    check(ruled, ASK("2", "'c','a'"), KEPT);
    check(ruled, ASK("2", "'a'"), ANSWER("", REFUSED("a", IS_KEPT)));
    check(ruled, ASK("2", "'a','c'"), ANSWER("", REFUSED("a", IS_KEPT) "," NO_GPUS));
    check(ruled, ASK("3", "'a'"), KEPT); /* another pod */
    check_counted(&ruled->verbs, "filter_room_kept_total", 3);
    check_counted(&ruled->verbs, "verb_calls_total{verb=\"filter\",result=\"none\"}", 2);
    ledger_removes(ruled->verbs.harness, POD_JSON("1", "", "", ""));
    ledger_shows(ruled->verbs.harness, POD_JSON("4", "", "", "'nominatedNodeName':'a'"));
    check(ruled, ASK("2", "'a'"), KEPT); /* another nomination */
}

/* The record has the Error as well. */
static void test_a_retry_is_recorded(void **state)
{
    struct ruled *ruled = *state;
    struct arena *arena = arena_new();
    struct decision *found = NULL;
    const struct decision_query query = {.verb = DECISION_FILTER, .limit = 10};
    ruled->verbs.extender.decisions = decisions_new(10);
    ledger_shows(ruled->verbs.harness, POD_JSON("1", "", "", "'nominatedNodeName':'a'"));
    check(ruled, ASK("2", "'c','a'"), KEPT);
    assert_int_equal(decisions_find(ruled->verbs.extender.decisions, &query, arena, &found), 1);
    assert_string_equal(found->uid, "u-2");
    assert_string_equal(found->error,
                        "gpu-extender: the free GPUs are kept for a nominated pod that "
                        "kube-scheduler does not count: retry");
    assert_int_equal(found->n_asked, 2);
    assert_int_equal(found->n_handed_on, 0);
    decisions_free(ruled->verbs.extender.decisions);
    arena_free(arena);
}

/* A pod of priority 5 that terminates on b; it uses the given amount. */
#define ENDS_ON_B(uid, uses)                                                                       \
    "{'metadata':{'name':'" uid "','namespace':'ml','uid':'" uid                                   \
    "','deletionTimestamp':'2026-01-01T00:00:00Z'},'spec':{'priority':5,'nodeName':'b',"           \
    "'containers':[{'name':'c','resources':{'limits':{" uses "}}}]}}"
#define NOMINATED_TO_B                                                                             \
    "{'Pod':{'metadata':{'name':'p-2','namespace':'ml','uid':'u-2'},'spec':{'priority':10,"        \
    "'containers':[{'name':'c','resources':{'limits':{'nvidia.com/gpu':'1'}}}]},"                  \
    "'status':{'nominatedNodeName':'b'}},'NodeNames':['a','c']}"

/* An Error would clear the nomination and waste the eviction. There is nothing to wait for
 * either. */
static void test_a_pod_is_rejected_at_once_while_victims_end_elsewhere(void **state)
{
    struct ruled *ruled = *state;
    ledger_shows(ruled->verbs.harness, POD_JSON("1", "", ",'nodeName':'a'", ""));
    ledger_shows(ruled->verbs.harness, ENDS_ON_B("v", "'cpu':'1'"));
    check(ruled, NOMINATED_TO_B, ANSWER("", TOO_FEW "," NO_GPUS));
    assert_int_equal(ruled->n_wakes, 0);
    check_counted(&ruled->verbs, "filter_ledger_behind_total", 0);
}

/* The watch may show the victims' termination only during the wait. */
static void test_victims_seen_late_end_the_wait(void **state)
{
    struct ruled *ruled = *state;
    ledger_shows(ruled->verbs.harness, POD_JSON("1", "", ",'nodeName':'a'", ""));
    struct exchange *asked = begin(&ruled->verbs, extender_filter, NOMINATED_TO_B);
    assert_false(fake_is_answered(asked));
    ledger_shows(ruled->verbs.harness, ENDS_ON_B("v", "'nvidia.com/gpu':'1'"));
    assert_true(waits_tick(ruled->verbs.extender.waits, 1) == CLOCK_NEVER);
    end(asked, ANSWER("", TOO_FEW "," NO_GPUS));
}

#define AGAIN(status, node) ASK_AS("2", ",'resourceVersion':'7'", status, node)
#define GONE REFUSED("z", "the node is not in the inventory")
#define REPEAT_OF(reason)                                                                          \
    "{'Error':'gpu-extender: 0/1 nodes fit: 1 " reason                                             \
    " (retry once: the ledger may be behind kube-scheduler)'}"

static void test_lag_causes_one_retry(void **state)
{
    struct ruled *ruled = *state;
    check(ruled, AGAIN("", "'z'"), ANSWER("", GONE));
    check(ruled, AGAIN("", "'z'"), REPEAT_OF("the node is not in the inventory"));
    for (size_t i = 0; i < 3; i++)
        check(ruled, AGAIN("", "'z'"), ANSWER("", GONE));
    check_counted(&ruled->verbs, "filter_repeats_total", 1);
}

static void test_a_nominated_pod_is_never_retried(void **state)
{
    struct ruled *ruled = *state;
    for (size_t i = 0; i < 3; i++)
        check(ruled, AGAIN("'nominatedNodeName':'z'", "'z'"), ANSWER("", GONE));
}

/* The case of one verdict for a pod of priority 10, after_ms after the node changed. */
static struct rule_case case_of(struct ruled *ruled, const char *name, enum reason verdict,
                                const char *nominated_node, int64_t after_ms)
{
    struct hashed_text names[] = {hash_of_text(name)};
    const struct pod_facts pod = {.uid = "u-2", .priority = 10, .nominated_node = nominated_node};
    const struct args args = {.pod = pod, .names = names, .n_names = 1};
    struct arena *arena = arena_new();
    const struct inventory_view view = inventory_read(ruled->verbs.extender.inventory);
    const struct node *node = cluster_find_node(view.cluster, name);
    const struct fit_question question = {.asker = asker_from_facts(&pod)};
    const struct rule_input input = {
        .cluster = view.cluster,
        .args = &args,
        .question = &question,
        .nodes = &node,
        .verdicts = &verdict,
        .now_ms = node_changed_ms(node) + after_ms,
    };
    const struct rule_case found = rules_case_of(&input, arena);
    inventory_done(&view);
    arena_free(arena);
    return found;
}

static enum cause cause_at(struct ruled *ruled, int64_t after_ms)
{
    return case_of(ruled, "c", REASON_GPU_ABSENT, "", after_ms).cause;
}

/* An Error would clear the nomination, whatever the quota lacks. */
static void test_claimed_quota_is_no_error_while_victims_end(void **state)
{
    struct ruled *ruled = *state;
    const struct rule_case alone = case_of(ruled, "b", REASON_QUOTA_CLAIMED, "b", 0);
    assert_int_equal(alone.state, POD_SHUT);
    ledger_shows(ruled->verbs.harness, ENDS_ON_B("v", "'nvidia.com/gpu':'1'"));
    const struct rule_case found = case_of(ruled, "b", REASON_QUOTA_CLAIMED, "b", 0);
    assert_int_equal(found.cause, CAUSE_CLAIMED);
    assert_int_equal(found.state, POD_VICTIMS);
    const struct args args = {.pod = {.uid = "u-2"}};
    const struct ruling ruling = rules_apply(&ruled->verbs.extender, &args, &found, 1, 1);
    assert_false(ruling.waits);
    assert_int_equal(ruling.error, RETRY_NONE);
}

static bool waits_for_quota(struct ruled *ruled, const char *nominated_node)
{
    const struct rule_case ending = {.cause = CAUSE_QUOTA_ENDING, .state = POD_OPEN};
    const struct args args = {.pod = {.uid = "u-2", .nominated_node = nominated_node}};
    const struct ruling ruling = rules_apply(&ruled->verbs.extender, &args, &ending, 1, 1);
    assert_int_equal(ruling.error, RETRY_NONE);
    return ruling.waits;
}

static void test_filter_waits_once_for_a_quota_that_victims_free(void **state)
{
    assert_true(waits_for_quota(*state, "b"));
    assert_false(waits_for_quota(*state, "b"));
    assert_true(waits_for_quota(*state, "a"));
}

/* Lag explains a verdict on a node only while the node changes. */
static void test_lag_is_no_cause_for_an_unchanged_node(void **state)
{
    struct ruled *ruled = *state;
    assert_int_equal(cause_at(ruled, 0), CAUSE_LAG);
    assert_int_equal(cause_at(ruled, 60000), CAUSE_LAG);
    assert_int_equal(cause_at(ruled, 600000), CAUSE_OURS);
    check(ruled, AGAIN("", "'c'"), ANSWER("", NO_GPUS));
    check(ruled, AGAIN("", "'c'"), REPEAT_OF("the node has no GPUs of the requested resource"));
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_kept_room_is_an_error_twice),
        TEST(test_a_retry_is_recorded),
        TEST(test_a_pod_is_rejected_at_once_while_victims_end_elsewhere),
        TEST(test_victims_seen_late_end_the_wait),
        TEST(test_lag_causes_one_retry),
        TEST(test_a_nominated_pod_is_never_retried),
        TEST(test_claimed_quota_is_no_error_while_victims_end),
        TEST(test_filter_waits_once_for_a_quota_that_victims_free),
        TEST(test_lag_is_no_cause_for_an_unchanged_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
