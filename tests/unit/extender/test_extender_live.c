/* extender: filter, prioritize and bind on a ledger that follows an API server. Outcomes of
 * bindings: test_binds.c. */
#include "base/mem.h"
#include "verbs_harness.h"

static int set_up(void **state)
{
    *state = MEM_NEW(struct verbs);
    verbs_init(*state);
    return 0;
}

static int tear_down(void **state)
{
    verbs_fini(*state);
    free(*state);
    return 0;
}

static void check(struct verbs *verbs, handle_exchange *handle, const char *question,
                  const char *expected)
{
    end(begin(verbs, handle, question), expected);
}

#define BIND(pod, node)                                                                            \
    "{'PodName':'p-" pod "','PodNamespace':'ml','PodUID':'u-" pod "','Node':'" node "'}"
#define ASK(pod, nodes) "{'Pod':" POD_JSON(pod, "", "", "") ",'NodeNames':[" nodes "]}"

static void test_bind_is_answered_when_its_outcome_is_known(void **state)
{
    struct verbs *verbs = *state;
    struct exchange *bound = begin(verbs, extender_bind, BIND("1", "a"));
    struct exchange *refused = begin(verbs, extender_bind, BIND("2", "b"));
    posted(verbs->harness, 1, "a", 201, CREATED);
    end(bound, "{'Error':''}");
    posted(verbs->harness, 2, "b", 403, STATUS("no"));
    end(refused, "{'Error':'gpu-extender: the API server answered the binding with 403: no'}");
    check(verbs, extender_bind, BIND("3", "c"),
          "{'Error':'gpu-extender: the node has no GPUs of the requested resource'}");
    check(verbs, extender_bind, BIND("3", "../b"),
          "{'Error':'gpu-extender: request: Node: is \\'../b\\', should be a DNS subdomain'}");
    check_silence(verbs->harness);
}

/* A name of several labels is no malformed name. */
static void test_bind_takes_names_with_dots(void **state)
{
    check(*state, extender_bind, BIND("3", "c.example.com"),
          "{'Error':'gpu-extender: the node is not in the inventory'}");
}

static void test_bindings_are_recorded(void **state)
{
    struct verbs *verbs = *state;
    struct arena *arena = arena_new();
    struct decision *found = NULL;
    const struct decision_query query = {.verb = DECISION_BIND, .limit = 10};
    verbs->extender.decisions = decisions_new(10);
    struct exchange *bound = begin(verbs, extender_bind, BIND("1", "a"));
    posted(verbs->harness, 1, "a", 201, CREATED);
    end(bound, "{'Error':''}");
    check(verbs, extender_bind, BIND("3", "c"),
          "{'Error':'gpu-extender: the node has no GPUs of the requested resource'}");
    assert_int_equal(decisions_find(verbs->extender.decisions, &query, arena, &found), 2);
    assert_string_equal(found[0].node, "c");
    assert_string_equal(found[0].error,
                        "gpu-extender: the node has no GPUs of the requested resource");
    assert_int_equal(found[0].n_asked, 1);
    assert_int_equal(found[0].n_handed_on, 0);
    assert_string_equal(found[1].uid, "u-1");
    assert_string_equal(found[1].node, "a");
    assert_string_equal(found[1].error, "");
    assert_int_equal(found[1].n_asked, 1);
    assert_int_equal(found[1].n_handed_on, 1);
    decisions_free(verbs->extender.decisions);
    arena_free(arena);
}

/* Other pods see a reservation; it is no obstacle to its own pod. */
static void test_reservations_count(void **state)
{
    struct verbs *verbs = *state;
    struct exchange *bound = begin(verbs, extender_bind, BIND("1", "a"));
    check(verbs, extender_filter, ASK("2", "'a','b'"), ANSWER("'b'", TOO_FEW));
    check(verbs, extender_filter, ASK("1", "'a','b'"), ANSWER("'a','b'", ""));
    check(verbs, extender_prioritize, ASK("2", "'a','b'"),
          "[{'Host':'b','Score':10},{'Host':'a','Score':0}]");
    check(verbs, extender_prioritize, ASK("1", "'b','a'"),
          "[{'Host':'a','Score':10},{'Host':'b','Score':0}]");
    posted(verbs->harness, 1, "a", 201, CREATED);
    end(bound, "{'Error':''}");
}

/* kube-scheduler may have a newer pod than the ledger: a gated pod changes what it asks for, and so
 * does a resize. The pod of the request is judged. */
static void test_the_pod_of_the_request_is_judged(void **state)
{
    struct verbs *verbs = *state;
    ledger_shows(verbs->harness, POD_JSON("1", ",'resourceVersion':'5'", "", ""));
    check(verbs, extender_filter,
          "{'Pod':" POD_JSON("1",
                             ",'resourceVersion':'6','annotations':{'gpu-extender.io/models':'T4'}",
                             "", "") ",'NodeNames':['a']}",
          ANSWER("", REFUSED("a", "the node's GPU model is unknown")));
    check(verbs, extender_filter,
          "{'Pod':{'metadata':{'name':'p-1','namespace':'ml','uid':'u-1','resourceVersion':'6'},"
          "'spec':{'containers':[{'name':'c','resources':{'limits':{'nvidia.com/gpu':'2'}}}]}},"
          "'NodeNames':['a','b']}",
          ANSWER("'b'", REFUSED("a", "the node has too few GPUs in total")));
    check(verbs, extender_filter, ASK("1", "'a'"), ANSWER("'a'", ""));
}

/* No node fits, and one only fails by present use. kube-scheduler offered it, so it knows of a
 * release that we do not. */
static void test_a_ledger_behind_kube_scheduler_is_an_error(void **state)
{
    struct verbs *verbs = *state;
    ledger_shows(verbs->harness, POD_JSON("1", "", ",'nodeName':'a'", ""));
    check(verbs, extender_filter, ASK("2", "'a'"), LAG);
    check_counted(verbs, "filter_ledger_behind_total", 1);
    check(verbs, extender_filter, ASK("2", "'c','a','c'"), LAG);
    check(verbs, extender_filter, ASK("2", "'a','b'"), ANSWER("'b'", TOO_FEW));
    check(verbs, extender_filter, ASK("2", "'c'"), ANSWER("", NO_GPUS));
    check(verbs, extender_filter, ASK("2", ""), ANSWER("", ""));
    ledger_removes(verbs->harness, POD_JSON("1", "", ",'nodeName':'a'", ""));
    check(verbs, extender_filter, ASK("2", "'a'"), ANSWER("'a'", ""));
    check_counted(verbs, "filter_ledger_behind_total", 2);
    check_counted(verbs, "filter_verdicts_total{verdict=\"fits\"}", 2);
    check_counted(verbs, "filter_verdicts_total{verdict=\"gpu_free\"}", 3);
    check_counted(verbs, "filter_verdicts_total{verdict=\"gpu_absent\"}", 3);
}

#define ASK_AGAIN(version, status, nodes)                                                          \
    "{'Pod':" POD_JSON("2", ",'resourceVersion':'" version "'", "", status) ",'NodeNames':[" nodes \
                                                                            "]}"
#define REPEAT(reasons)                                                                            \
    "{'Error':'gpu-extender: " reasons " (retry once: the ledger may be behind kube-scheduler)'}"
#define REPEAT_OF_C REPEAT("0/1 nodes fit: 1 the node has no GPUs of the requested resource")

/* A retry implies an event that we have not seen, except the change of the pod itself by our
 * rejection. */
static void test_a_repeat_over_an_unchanged_ledger_is_an_error(void **state)
{
    struct verbs *verbs = *state;
    const char *refused = ANSWER("", NO_GPUS);
    verbs->extender.budgets = budgets_new();
    check(verbs, extender_filter, ASK_AGAIN("7", "", "'c'"), refused);
    check(verbs, extender_filter, ASK_AGAIN("8", "", "'c'"), refused);
    check(verbs, extender_filter, ASK_AGAIN("8", "", "'c'"), REPEAT_OF_C);
    check(verbs, extender_filter, ASK_AGAIN("8", "", "'c'"), refused);
    check(verbs, extender_filter, ASK_AGAIN("8", "", "'c'"), refused);
    check(verbs, extender_filter, ASK_AGAIN("9", "", "'c'"), refused);
    for (size_t i = 0; i < 3; i++) {
        check(verbs, extender_filter, ASK("2", "'c'"), refused);
        check(verbs, extender_filter, ASK_AGAIN("10", "'nominatedNodeName':'c'", "'c'"), refused);
        check(verbs, extender_filter, ASK_AGAIN("11", "", "'b'"), ANSWER("'b'", ""));
        check(verbs, extender_filter, ASK_AGAIN("12", "", ""), ANSWER("", ""));
    }
    check_counted(verbs, "filter_repeats_total", 1);
    budgets_free(verbs->extender.budgets);
}

/* Users see this Error until the next try. */
static void test_the_error_of_a_repeat_names_the_reasons(void **state)
{
    struct verbs *verbs = *state;
    verbs->extender.budgets = budgets_new();
    check(verbs, extender_filter, ASK_AGAIN("7", "", "'c','z'"),
          ANSWER("", NO_GPUS "," REFUSED("z", "the node is not in the inventory")));
    check(verbs, extender_filter, ASK_AGAIN("7", "", "'c','z','c'"),
          REPEAT("0/3 nodes fit: 1 the node is not in the inventory, 2 the node has no GPUs of the "
                 "requested resource"));
    budgets_free(verbs->extender.budgets);
}

/* kube-scheduler counts nominated pods itself. If it offers a node whose GPUs we keep, one of us is
 * late, or the nomination is another scheduler's. */
static void test_kept_room_on_an_offered_node_is_an_error(void **state)
{
    struct verbs *verbs = *state;
    verbs->extender.budgets = budgets_new();
    ledger_shows(verbs->harness, POD_JSON("1", "", "", "'nominatedNodeName':'a'"));
    check(verbs, extender_filter, ASK("2", "'a'"), KEPT);
    check(verbs, extender_filter, ASK("2", "'c','a'"), KEPT);
    check_counted(verbs, "filter_room_kept_total", 2);
    check(verbs, extender_filter, ASK("2", "'a','b'"),
          ANSWER("'b'", REFUSED("a", "the node's free GPUs are kept for a nominated pod")));
    check(verbs, extender_prioritize, ASK("2", "'a','b'"),
          "[{'Host':'b','Score':10},{'Host':'a','Score':0}]");
    check(verbs, extender_filter, ASK("1", "'a'"), ANSWER("'a'", ""));
    ledger_shows(verbs->harness, POD_JSON("3", "", ",'nodeName':'b'", ""));
    ledger_shows(verbs->harness, POD_JSON("4", "", ",'nodeName':'b'", ""));
    check(verbs, extender_filter, ASK("2", "'a','b'"), LAG);
    check(verbs, extender_bind, BIND("2", "a"),
          "{'Error':'gpu-extender: the node's free GPUs are kept for a nominated pod'}");
    check_counted(verbs, "filter_room_kept_total", 2);
    budgets_free(verbs->extender.budgets);
}

static void test_stale_data_is_an_error(void **state)
{
    struct verbs *verbs = *state;
    struct live_cluster *live = &verbs->harness->live;
    live->statuses[CLUSTER_PODS].stale = true;
    live->statuses[CLUSTER_PODS].why = "no answer in 10 s";
    live_flush(live, CLUSTER_PODS);
    static const char STALE[] = "{'Error':'gpu-extender: the pods are stale: no answer in 10 s'}";
    check(verbs, extender_bind, BIND("1", "a"), STALE);
    check(verbs, extender_filter, ASK("1", "'a'"), STALE);
    check(verbs, extender_prioritize, ASK("1", "'a','b'"), "[]");
    check_silence(verbs->harness);
    check_held(verbs->harness, 1, NULL);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_bind_is_answered_when_its_outcome_is_known),
        TEST(test_bind_takes_names_with_dots),
        TEST(test_bindings_are_recorded),
        TEST(test_reservations_count),
        TEST(test_the_pod_of_the_request_is_judged),
        TEST(test_a_ledger_behind_kube_scheduler_is_an_error),
        TEST(test_a_repeat_over_an_unchanged_ledger_is_an_error),
        TEST(test_the_error_of_a_repeat_names_the_reasons),
        TEST(test_kept_room_on_an_offered_node_is_an_error),
        TEST(test_stale_data_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
