/* mode: observe: nothing keeps or delays a pod, whatever the judgement and the data. */
#include "base/mem.h"
#include "verbs_harness.h"

static int set_up(void **state)
{
    struct verbs *verbs = MEM_NEW(struct verbs);
    *state = verbs;
    verbs_init(verbs);
    verbs->harness->live.policy.mode = MODE_OBSERVE;
    verbs->extender.decisions = decisions_new(10);
    return 0;
}

static int tear_down(void **state)
{
    struct verbs *verbs = *state;
    decisions_free(verbs->extender.decisions);
    verbs_fini(verbs);
    free(verbs);
    return 0;
}

static void check(struct verbs *verbs, handle_exchange *handle, const char *question,
                  const char *expected)
{
    end(begin(verbs, handle, question), expected);
}

static void make_stale(struct verbs *verbs)
{
    struct live_cluster *live = &verbs->harness->live;
    live->statuses[CLUSTER_PODS].stale = true;
    live->statuses[CLUSTER_PODS].why = "no answer in 10 s";
    live_flush(live, CLUSTER_PODS);
}

/* The newest decision. The caller frees the arena. */
static struct decision *last(struct verbs *verbs, struct arena *arena)
{
    const struct decision_query query = {.verb = N_DECISION_VERBS, .limit = 1};
    struct decision *found = NULL;
    assert_int_equal(decisions_find(verbs->extender.decisions, &query, arena, &found), 1);
    return found;
}

#define BIND(pod, node)                                                                            \
    "{'PodName':'p-" pod "','PodNamespace':'ml','PodUID':'u-" pod "','Node':'" node "'}"
#define ASK(pod, nodes) "{'Pod':" POD_JSON(pod, "", "", "") ",'NodeNames':[" nodes "]}"

static void test_filter_hands_on_every_node(void **state)
{
    struct verbs *verbs = *state;
    struct arena *arena = arena_new();
    verbs->harness->live.policy.shortlist = 1;
    check(verbs, extender_filter, ASK("1", "'c','a','b','unknown'"),
          ANSWER("'c','a','b','unknown'", ""));
    const struct decision *decision = last(verbs, arena);
    assert_int_equal(decision->n_asked, 4);
    assert_int_equal(decision->n_handed_on, 4);
    assert_int_equal(decision->verdicts[REASON_FITS], 2);
    assert_int_equal(decision->verdicts[REASON_GPU_ABSENT], 1);
    assert_int_equal(decision->verdicts[REASON_NODE_UNKNOWN], 1);
    check(verbs, extender_filter, ASK("1", ""), ANSWER("", ""));
    arena_free(arena);
}

/* Under enforce they are an Error: the ledger is behind kube-scheduler. */
static void test_filter_answers_no_error(void **state)
{
    struct verbs *verbs = *state;
    verbs->extender.budgets = budgets_new();
    ledger_shows(verbs->harness, POD_JSON("1", "", ",'nodeName':'a'", ""));
    check(verbs, extender_filter, ASK("2", "'a'"), ANSWER("'a'", ""));
    check_counted(verbs, "filter_ledger_behind_total", 0);
    check_counted(verbs, "filter_verdicts_total{verdict=\"gpu_free\"}", 1);
    budgets_free(verbs->extender.budgets);
}

static void test_whole_nodes_are_handed_on(void **state)
{
    check(*state, extender_filter,
          "{'Pod':" POD_JSON("1", "", "", "") ",'Nodes':{'items':[{'metadata':{'name':'c'}}]}}",
          "{'Nodes':{'metadata':{},'items':[{'metadata':{'name':'c'}}]},'NodeNames':null,"
          "'FailedNodes':{},'FailedAndUnresolvableNodes':{},'Error':''}");
}

static void test_stale_data_keep_no_pod(void **state)
{
    struct verbs *verbs = *state;
    struct arena *arena = arena_new();
    make_stale(verbs);
    check(verbs, extender_filter, ASK("1", "'c','a'"), ANSWER("'c','a'", ""));
    assert_string_equal(last(verbs, arena)->error,
                        "gpu-extender: the pods are stale: no answer in 10 s");
    check(verbs, extender_prioritize, ASK("1", "'a','b'"), "[]");
    check(verbs, extender_preempt,
          "{'Pod':" POD_JSON("1", "", "", "") ",'NodeNameToMetaVictims':{'c':{'Pods':[{'UID':'v'}],"
                                              "'NumPDBViolations':2}}}",
          "{'NodeNameToMetaVictims':{'c':{'Pods':[{'UID':'v'}],'NumPDBViolations':2}}}");
    struct exchange *bound = begin(verbs, extender_bind, BIND("1", "c"));
    posted(verbs->harness, 1, "c", 201, CREATED);
    end(bound, "{'Error':''}");
    check_counted(verbs, "verb_calls_total{verb=\"filter\",result=\"unusable\"}", 1);
    arena_free(arena);
}

static void filter_enforced(void *context, struct exchange *exchange)
{
    extender_note_observed(exchange, false);
    extender_filter(context, exchange);
}

/* A reload may come between the gate and the verb. */
static void test_the_answer_of_the_gate_holds(void **state)
{
    check(*state, filter_enforced, ASK("1", "'c','a'"),
          ANSWER("'a'", "'c':'gpu-extender: the node has no GPUs of the requested resource'"));
}

#define INVALID "{'Pod':{'metadata':7,'spec':7},'NodeNames':['a']}"

static void test_an_unreadable_pod_is_handed_on(void **state)
{
    check(*state, extender_filter, INVALID, ANSWER("'a'", ""));
    check(*state, extender_prioritize, INVALID, "[]");
}

static void test_prioritize_gives_no_scores(void **state)
{
    struct verbs *verbs = *state;
    struct arena *arena = arena_new();
    check(verbs, extender_prioritize, ASK("1", "'a','b'"), "[]");
    const struct decision *decision = last(verbs, arena);
    assert_int_equal(decision->n_best, 2);
    assert_int_equal(decision->best[0].score, 10);
    arena_free(arena);
}

#define VICTIMS(node) "'" node "':{'Pods':[{'UID':'v'}],'NumPDBViolations':0}"

/* kube-scheduler treats a node without victims as an error. */
static void test_preempt_returns_every_node_with_its_victims(void **state)
{
    struct verbs *verbs = *state;
    check(verbs, extender_preempt,
          "{'Pod':" POD_JSON("1", "", "", "") ",'NodeNameToMetaVictims':{" VICTIMS("c") "," VICTIMS(
              "unknown") ",'a':{'Pods':[],'NumPDBViolations':0}}}",
          "{'NodeNameToMetaVictims':{" VICTIMS("c") "," VICTIMS("unknown") "}}");
    check_counted(verbs, "preempt_candidates_total{verdict=\"kept\"}", 0);
    check_counted(verbs, "preempt_candidates_total{verdict=\"vetoed\"}", 3);
}

/* Node c has no GPUs. */
static void test_bind_posts_without_judging(void **state)
{
    struct verbs *verbs = *state;
    struct exchange *bound = begin(verbs, extender_bind, BIND("1", "c"));
    check_held(verbs->harness, 1, NULL);
    posted(verbs->harness, 1, "c", 201, CREATED);
    end(bound, "{'Error':''}");
    struct exchange *refused = begin(verbs, extender_bind, BIND("2", "b"));
    posted(verbs->harness, 2, "b", 403, STATUS("no"));
    end(refused, "{'Error':'gpu-extender: the API server answered the binding with 403: no'}");
    check(verbs, extender_bind, BIND("3", "../b"),
          "{'Error':'gpu-extender: request: Node: is \\'../b\\', should be a DNS subdomain'}");
    check_silence(verbs->harness);
    check_counted(verbs, "binds_total{outcome=\"bound\"}", 1);
    check_counted(verbs, "binds_total{outcome=\"failed\"}", 1);
    check_counted(verbs, "binds_total{outcome=\"refused\"}", 1);
}

static void test_bind_at_the_stop_is_answered(void **state)
{
    struct verbs *verbs = *state;
    binds_stop(verbs->harness->binds);
    check(verbs, extender_bind, BIND("1", "a"),
          "{'Error':'gpu-extender: the service is stopping'}");
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_filter_hands_on_every_node),
        TEST(test_filter_answers_no_error),
        TEST(test_whole_nodes_are_handed_on),
        TEST(test_stale_data_keep_no_pod),
        TEST(test_the_answer_of_the_gate_holds),
        TEST(test_an_unreadable_pod_is_handed_on),
        TEST(test_prioritize_gives_no_scores),
        TEST(test_preempt_returns_every_node_with_its_victims),
        TEST(test_bind_posts_without_judging),
        TEST(test_bind_at_the_stop_is_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
