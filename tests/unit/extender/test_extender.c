/* extender: filter, prioritize and bind on the small cluster, without HTTP. */
#include "extender/extender.h"
#include "fake_exchange.h"
#include "small_cluster.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct harness {
    struct small_cluster cluster;
    struct extender extender;
};

static int set_up(void **state)
{
    struct harness *harness = calloc(1, sizeof *harness);
    if (!harness)
        return -1;
    small_cluster_init(&harness->cluster, SMALL_CLUSTER);
    harness->extender = (struct extender){.inventory = harness->cluster.inventory};
    *state = harness;
    return 0;
}

static int tear_down(void **state)
{
    struct harness *harness = *state;
    small_cluster_fini(&harness->cluster);
    free(harness);
    return 0;
}

/* Replaces ' by ", except in "node's". The caller frees it. */
static char *quotes(const char *text)
{
    char *copy = strdup(text);
    assert_non_null(copy);
    for (char *at = copy; *at; at++)
        *at = *at == '\'' && strncmp(at, "'s ", 3) != 0 ? '"' : *at;
    return copy;
}

/* Both texts use ' for ". */
static void check(struct harness *harness, handle_exchange *handle, const char *question,
                  unsigned status, const char *expected)
{
    char *body = quotes(question);
    char *text = quotes(expected);
    const struct fake_question asked = {.body = body, .len = strlen(body)};
    struct fake_answer answer = fake_ask(handle, &harness->extender, &asked);
    assert_string_equal(answer.body, text);
    assert_int_equal(answer.status, status);
    assert_string_equal(answer.content_type, "application/json");
    assert_int_equal(answer.flags, 0);
    fake_answer_fini(&answer);
    free(body);
    free(text);
}

#define POD(gpus, metadata)                                                                        \
    "'Pod':{'metadata':{'name':'p','namespace':'ml'" metadata                                      \
    "},'spec':{'priority':1,'containers':[{'name':'c','resources':{'limits':{'nvidia.com/"         \
    "gpu':'" gpus "'}}}]}}"
#define NAMES ",'Nodes':null,'NodeNames':['t4-1','cpu-1','a100-2','a100-1','gone']"
#define ANSWER(names, failed)                                                                      \
    "{'Nodes':null,'NodeNames':[" names "],'FailedNodes':{},'FailedAndUnresolvableNodes':{" failed \
    "},'Error':''}"
#define REFUSED(node, why) "'" node "':'gpu-extender: " why "'"
#define NO_GPUS REFUSED("cpu-1", "the node has no GPUs of the requested resource")
#define UNKNOWN REFUSED("gone", "the node is not in the inventory")

/* Keeps the order and returns all fitting nodes; kube-scheduler judges the taint of a100-2. */
static void test_filter_by_names(void **state)
{
    check(*state, extender_filter, "{" POD("1", "") NAMES "}", 200,
          ANSWER("'t4-1','a100-2','a100-1'", NO_GPUS "," UNKNOWN));
    check(*state, extender_filter, "{" POD("5", "") NAMES "}", 200,
          ANSWER("'a100-2'",
                 REFUSED("t4-1", "the node has too few GPUs in total") "," NO_GPUS "," REFUSED(
                     "a100-1", "the node has too few free GPUs now") "," UNKNOWN));
    check(*state, extender_filter, "{" POD("0", "") NAMES "}", 200,
          ANSWER("'t4-1','cpu-1','a100-2','a100-1'", UNKNOWN));
    check(*state, extender_filter, "{" POD("1", "") ",'Nodes':null,'NodeNames':[]}", 200,
          ANSWER("", ""));
}

/* Any spelling of names, and two lists in any order. */
static void test_any_spelling_of_names_is_read(void **state)
{
    check(*state, extender_filter, "{" POD("1", "") ",'NodeNames':['t4-\\u0031','x\\n']}", 200,
          ANSWER("'t4-1'", REFUSED("x\\n", "the node is not in the inventory")));
    check(*state, extender_filter,
          "{'NodeNames':['a100-1'],'N\\u006fdeNames':['a100-2']," POD("1",
                                                                      "") ",'NodeNames':['t4-1']}",
          200, ANSWER("'t4-1'", ""));
    check(*state, extender_filter,
          "{'NodeNames':['a100-1']," POD("1", "") ",'N\\u006fdeNames':['a100-2']}", 200,
          ANSWER("'a100-2'", ""));
    check(*state, extender_filter, "{" POD("1", ",'NodeNames':['a100-1']") ",'NodeNames':['t4-1']}",
          200, ANSWER("'t4-1'", ""));
    check(*state, extender_filter, "{" POD("1", "") ",'NodeNames':['gone','gone','t4-1','t4-1']}",
          200, ANSWER("'t4-1','t4-1'", UNKNOWN "," UNKNOWN));
}

static void test_filter_by_nodes(void **state)
{
    check(*state, extender_filter,
          "{" POD("1", "") ",'NodeNames':null,'Nodes':{'metadata':{},'items':["
                           "{'metadata':{'name':'cpu-1'}},{'metadata':{'name':'t4-1'},'x':[1]}]}}",
          200,
          "{'Nodes':{'metadata':{},'items':[{'metadata':{'name':'t4-1'},'x':[1]}]},"
          "'NodeNames':null,'FailedNodes':{},'FailedAndUnresolvableNodes':{" NO_GPUS
          "},'Error':''}");
}

static void test_filter_by_model(void **state)
{
    check(*state, extender_filter,
          "{" POD("1", ",'annotations':{'gpu-extender.io/models':'T4'}") ",'NodeNames':['a100-1',"
                                                                         "'t4-1']}",
          200,
          ANSWER("'t4-1'",
                 REFUSED("a100-1", "the node's GPU model is not one that the pod asks for")));
}

/* The message is about the pod. */
static void test_an_invalid_pod_fits_nowhere(void **state)
{
    static const char QUESTION[] = "{" POD("-1", "") ",'NodeNames':['t4-1','cpu-1']}";
    static const char WHY[] = "container \\'c\\': nvidia.com/gpu: \\'-1\\' is negative: it must be "
                              "a whole number, 0 or more";
    char *failed = NULL;
    assert_true(asprintf(&failed,
                         ANSWER("", "'t4-1':'gpu-extender: %s','cpu-1':'gpu-extender: %s'"), WHY,
                         WHY) > 0);
    check(*state, extender_filter, QUESTION, 200, failed);
    check(*state, extender_prioritize, QUESTION, 200, "[]");
    free(failed);
    check(*state, extender_filter, "{'Pod':{'spec':{'containers':7}},'NodeNames':['t4-1']}", 200,
          ANSWER("", REFUSED("t4-1", "spec.containers: is the number 7, should be an array")));
}

/* The fuller node comes first; an unknown one scores 0. */
static void test_prioritize(void **state)
{
    check(*state, extender_prioritize,
          "{" POD("1", "") ",'NodeNames':['gone','a100-2','t4-1','a100-1']}", 200,
          "[{'Host':'a100-1','Score':10},{'Host':'t4-1','Score':8},{'Host':'a100-2','Score':0},"
          "{'Host':'gone','Score':0}]");
    check(*state, extender_prioritize, "{" POD("1", "") ",'NodeNames':[]}", 200, "[]");
}

#define VICTIMS(node, pods, violations)                                                            \
    "'" node "':{'Pods':[" pods "],'NumPDBViolations':" violations "}"
#define UID(uid) "{'UID':'" uid "'}"
#define WHOLE(uid) "{'metadata':{'uid':'" uid "'}}"

/* 8 GPUs fit on a100-1 without train-0. Victims that the ledger does not know stay in the list. */
static void test_preempt(void **state)
{
    static const char KEPT[] = "{'NodeNameToMetaVictims':{" VICTIMS(
        "a100-1", UID("uid-0") "," UID("x"), "2") "," VICTIMS("a100-2", UID("y"), "0") "}}";
    check(*state, extender_preempt,
          "{" POD("8", "") ",'NodeNameToMetaVictims':{" VICTIMS(
              "a100-1", UID("uid-0") "," UID("x"),
              "2") "," VICTIMS("t4-1", UID("y"),
                               "1") ",'a100-2':{'Pods':[{'UID':'y'}]}," VICTIMS("gone", UID("z"),
                                                                                "0") "}}",
          200, KEPT);
    check(*state, extender_preempt,
          "{" POD("8", "") ",'NodeNameToVictims':{" VICTIMS("a100-1", WHOLE("uid-0") "," WHOLE("x"),
                                                            "2") "," VICTIMS("a100-2", WHOLE("y"),
                                                                             "0") "}}",
          200, KEPT);
    check(*state, extender_preempt,
          "{" POD("8", "") ",'NodeNameToVictims':{" VICTIMS("a100-1", WHOLE("uid-0"),
                                                            "2") "},'NodeNameToMetaVictims':{}}",
          200, "{'NodeNameToMetaVictims':{}}");
}

/* kube-scheduler treats a node without victims as an error, and evicts no pod. */
static void test_preempt_keeps_no_node_without_victims(void **state)
{
    check(*state, extender_preempt,
          "{" POD("8", "") ",'NodeNameToMetaVictims':{" VICTIMS("a100-2", "", "0") ",'t4-1':null}}",
          200, "{'NodeNameToMetaVictims':{}}");
}

/* Two calls: the first with three candidates, of which one is kept; the second without any. */
static void check_recorded(struct decisions *decisions)
{
    struct arena *arena = arena_new();
    struct decision *found = NULL;
    const struct decision_query query = {
        .namespace_ = "ml", .name = "p", .verb = DECISION_PREEMPT, .limit = 10};
    assert_int_equal(decisions_find(decisions, &query, arena, &found), 2);
    assert_int_equal(found[0].n_asked, 0);
    assert_int_equal(found[0].n_handed_on, 0);
    assert_int_equal(found[1].n_asked, 3);
    assert_int_equal(found[1].n_handed_on, 1);
    assert_int_equal(found[1].verdicts[REASON_FITS], 1);
    assert_int_equal(found[1].verdicts[REASON_GPU_TOTAL], 1);
    assert_int_equal(found[1].verdicts[REASON_GPU_ABSENT], 1);
    assert_true(found[1].ledger_version > 0);
    assert_string_equal(found[1].error, "");
    arena_free(arena);
}

static void test_preempt_is_counted_and_recorded(void **state)
{
    struct harness *harness = *state;
    struct extender *extender = &harness->extender;
    struct decisions *decisions = decisions_new(10);
    extender->decisions = decisions;
    check(harness, extender_preempt,
          "{" POD("8", "") ",'NodeNameToMetaVictims':{" VICTIMS(
              "a100-1", UID("uid-0"),
              "2") "," VICTIMS("t4-1", UID("y"), "0") "," VICTIMS("cpu-1", UID("z"), "0") "}}",
          200, "{'NodeNameToMetaVictims':{" VICTIMS("a100-1", UID("uid-0"), "2") "}}");
    assert_int_equal(counter_value(&extender->n_preempt_kept), 1);
    assert_int_equal(counter_value(&extender->n_preempt_vetoed), 2);
    assert_int_equal(counter_value(&extender->n_results[DECISION_PREEMPT][VERB_OK]), 1);
    check(harness, extender_preempt, "{" POD("8", "") ",'NodeNameToMetaVictims':{}}", 200,
          "{'NodeNameToMetaVictims':{}}");
    assert_int_equal(counter_value(&extender->n_results[DECISION_PREEMPT][VERB_NONE]), 1);
    check(harness, extender_preempt, "", 400,
          "{'error': 'gpu-extender: request: 1:1: the text ends here, should be a value'}\n");
    assert_int_equal(counter_value(&extender->n_results[DECISION_PREEMPT][VERB_MALFORMED]), 1);
    check_recorded(decisions);
    decisions_free(decisions);
}

static void check_bad_preempt(struct harness *harness, const char *candidates, const char *why)
{
    char *question = NULL;
    char *answer = NULL;
    assert_true(asprintf(&question, "{" POD("1", "") "%s}", candidates) > 0);
    assert_true(asprintf(&answer, "{'error': 'gpu-extender: request: %s'}\n", why) > 0);
    check(harness, extender_preempt, question, 400, answer);
    free(question);
    free(answer);
}

static void test_bad_arguments_of_preempt(void **state)
{
    check(*state, extender_preempt, "[]", 400,
          "{'error': 'gpu-extender: request: is an array, should be an ExtenderPreemptionArgs "
          "object'}\n");
    check(*state, extender_preempt, "{'NodeNameToVictims':{}}", 400,
          "{'error': 'gpu-extender: request: Pod: is missing, should be a Pod object'}\n");
    check_bad_preempt(*state, "",
                      "has neither NodeNameToMetaVictims nor NodeNameToVictims, should have one of "
                      "them");
    check_bad_preempt(*state, ",'NodeNameToMetaVictims':3",
                      "NodeNameToMetaVictims: is the number 3, should be an object");
    check_bad_preempt(*state, ",'NodeNameToVictims':[]",
                      "NodeNameToVictims: is an array, should be an object");
    check_bad_preempt(*state, ",'NodeNameToMetaVictims':{'a':7}",
                      "NodeNameToMetaVictims[a]: is a whole number, should be an object");
    check_bad_preempt(*state, ",'NodeNameToVictims':{'a':{'Pods':{}}}",
                      "NodeNameToVictims[a]: Pods: is an object, should be an array");
    check_bad_preempt(*state, ",'NodeNameToMetaVictims':{'a':{'NumPDBViolations':'1'}}",
                      "NodeNameToMetaVictims[a]: NumPDBViolations: is the string \\'1\\', should "
                      "be a whole number");
    check_bad_preempt(*state, ",'NodeNameToMetaVictims':{'a':{'Pods':[" UID("x") ",{'uid':'y'}]}}",
                      "NodeNameToMetaVictims[a]: Pods[1].UID: should be a string");
    check_bad_preempt(*state, ",'NodeNameToVictims':{'a':{'Pods':[{'UID':'y'}]}}",
                      "NodeNameToVictims[a]: Pods[0].metadata.uid: should be a string");
}

static void test_bind_reports_the_reason(void **state)
{
    check(*state, extender_bind, "{'PodName':'p','PodNamespace':'ml','PodUID':'u','Node':'t4-1'}",
          200,
          "{'Error':'gpu-extender: cannot bind: the inventory was read from a file, and there is "
          "no API server to bind through'}");
    check(*state, extender_bind, "{'PodName':'p','PodNamespace':'ml','PodUID':'u'}", 200,
          "{'Error':'gpu-extender: request: Node: is missing'}");
    check(*state, extender_bind, "", 200,
          "{'Error':'gpu-extender: request: 1:1: the text ends here, should be a value'}");
}

static void check_bad(struct harness *harness, const char *question, const char *why)
{
    char *filter = NULL;
    char *prioritize = NULL;
    assert_true(asprintf(&filter, "{'Error':'gpu-extender: request: %s'}", why) > 0);
    assert_true(asprintf(&prioritize, "{'error': 'gpu-extender: request: %s'}\n", why) > 0);
    check(harness, extender_filter, question, 200, filter);
    check(harness, extender_prioritize, question, 400, prioritize);
    free(filter);
    free(prioritize);
}

static void test_bad_arguments(void **state)
{
    check_bad(*state, "", "1:1: the text ends here, should be a value");
    check_bad(*state, "[]", "is an array, should be an ExtenderArgs object");
    check_bad(*state, "{'NodeNames':[]}", "Pod: is missing, should be a Pod object");
    check_bad(*state, "{'Pod':3,'NodeNames':[]}", "Pod: is the number 3, should be an object");
    check_bad(*state, "{" POD("1", "") "}",
              "has neither NodeNames nor Nodes, should have one of them");
    check_bad(*state, "{" POD("1", "") ",'NodeNames':['a',3]}",
              "NodeNames[1]: is a whole number, should be a string");
    check_bad(*state, "{" POD("1", "") ",'Nodes':{'items':[{}]}}",
              "Nodes.items[0].metadata.name: should be a string");
    check_bad(*state, "{" POD("1", "") ",'Nodes':{'items':3}}",
              "Nodes.items: is the number 3, should be an array");
}

static void test_not_ready(void **state)
{
    (void)state;
    struct harness harness;
    small_cluster_init(&harness.cluster, NULL);
    harness.extender = (struct extender){.inventory = harness.cluster.inventory};
    check(&harness, extender_filter, "{" POD("1", "") NAMES "}", 200,
          "{'Error':'gpu-extender: not ready: waiting for the cluster file'}");
    check(&harness, extender_prioritize, "{" POD("1", "") NAMES "}", 200, "[]");
    check(&harness, extender_preempt, "{" POD("1", "") ",'NodeNameToMetaVictims':{}}", 503,
          "{'error': 'gpu-extender: not ready: waiting for the cluster file'}\n");
    assert_int_equal(counter_value(&harness.extender.n_results[DECISION_PREEMPT][VERB_UNUSABLE]),
                     1);
    small_cluster_fini(&harness.cluster);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_filter_by_names),
        TEST(test_any_spelling_of_names_is_read),
        TEST(test_filter_by_nodes),
        TEST(test_filter_by_model),
        TEST(test_an_invalid_pod_fits_nowhere),
        TEST(test_prioritize),
        TEST(test_preempt),
        TEST(test_preempt_keeps_no_node_without_victims),
        TEST(test_preempt_is_counted_and_recorded),
        TEST(test_bad_arguments_of_preempt),
        TEST(test_bind_reports_the_reason),
        TEST(test_bad_arguments),
        cmocka_unit_test(test_not_ready),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
