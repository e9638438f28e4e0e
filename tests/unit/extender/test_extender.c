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
    harness->extender = (struct extender){.policy = &harness->cluster.policy,
                                          .inventory = harness->cluster.inventory};
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
    "},'spec':{'containers':[{'name':'c','resources':{'limits':{'nvidia.com/gpu':'" gpus "'}}}]}}"
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
static void test_names_that_are_not_plain(void **state)
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

static void test_bind_says_why_not(void **state)
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
    harness.extender = (struct extender){.policy = &harness.cluster.policy,
                                         .inventory = harness.cluster.inventory};
    check(&harness, extender_filter, "{" POD("1", "") NAMES "}", 200,
          "{'Error':'gpu-extender: not ready: waiting for the cluster file'}");
    check(&harness, extender_prioritize, "{" POD("1", "") NAMES "}", 200, "[]");
    small_cluster_fini(&harness.cluster);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_filter_by_names),
        TEST(test_names_that_are_not_plain),
        TEST(test_filter_by_nodes),
        TEST(test_filter_by_model),
        TEST(test_an_invalid_pod_fits_nowhere),
        TEST(test_prioritize),
        TEST(test_bind_says_why_not),
        TEST(test_bad_arguments),
        cmocka_unit_test(test_not_ready),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
