/* pending: kube-scheduler's message on a pod is reported, whether the pod came by list or watch:
 * the feed does not skip it. */
#include "ask.h"
#include "kube/reflector.h"
#include "live_cluster.h"

#define POD_TEXT(version, status)                                                                  \
    "{'metadata':{'name':'p','namespace':'ml','uid':'u','resourceVersion':'" version "'},"         \
    "'spec':{'containers':[{'name':'c','resources':{'limits':{'nvidia.com/gpu':'2'}}}]},"          \
    "'status':{'phase':'Pending','conditions':[" status "]}}"
#define PAGE(pod) "{'kind':'PodList','metadata':{'resourceVersion':'10'},'items':[" pod "]}"
#define EVENT(pod) "{'type':'MODIFIED','object':" pod "}\n"
#define SAYS(message)                                                                              \
    "{'type':'Other','status':'False','reason':'No','message':'of something else'},"               \
    "{'type':'PodScheduled','status':'False','lastProbeTime':null,"                                \
    "'lastTransitionTime':'2026-11-20T10:00:00Z','reason':'Unschedulable','message':'" message     \
    "'}"

struct fixture {
    struct live_cluster live;
    struct reflector *pods;
    struct ask ask;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    if (!fixture)
        return -1;
    live_init(&fixture->live);
    const struct reflector_settings settings = {.kind = &INVENTORY_KINDS[CLUSTER_PODS].listed,
                                                .page_size = 10,
                                                .silence_ms = 60000,
                                                .max_object_bytes = 10000};
    fixture->pods = reflector_new(&settings, &fixture->live.stores[CLUSTER_PODS]);
    fixture->ask.api = (struct api){.inventory = fixture->live.inventory};
    live_list_nothing(&fixture->live);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    reflector_free(fixture->pods);
    live_fini(&fixture->live);
    free(fixture);
    return 0;
}

/* Answers the reflector's next request and continues. text uses ' for ". */
static void answer(struct fixture *fixture, const char *text)
{
    const int64_t now_ms = clock_ms();
    char *copy = strdup(text);
    assert_non_null(copy);
    for (char *at = copy; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    assert_int_equal(reflector_next(fixture->pods, now_ms).want, REFLECTOR_REQUEST);
    reflector_head(fixture->pods, now_ms, 200, -1);
    reflector_bytes(fixture->pods, now_ms, copy, strlen(copy));
    free(copy);
}

static void end_answer(struct fixture *fixture)
{
    reflector_end(fixture->pods, clock_ms(), KUBE_ANSWERED, NULL);
}

static void check_says(struct fixture *fixture, const char *expected)
{
    json_t *pending = ask_json(&fixture->ask, api_pending, "");
    const json_t *pods = json_object_get(pending, "pods");
    assert_int_equal(json_array_size(pods), 1);
    assert_json(ask_member(pods, 0, "schedulerSays"), expected);
    json_decref(pending);
    fixture->ask.path = "/v1/pods/ml/p/explain";
    json_t *explanation = ask_json(&fixture->ask, api_explain, "");
    assert_json(json_object_get(json_object_get(explanation, "pod"), "schedulerSays"), expected);
    json_decref(explanation);
}

static void test_kube_scheduler_message_of_a_listed_pod_is_stored(void **state)
{
    answer(*state, PAGE(POD_TEXT("7", SAYS("0/3 nodes"))));
    end_answer(*state);
    check_says(*state, "{'reason':'Unschedulable','message':'0/3 nodes'}");
}

/* A message alone changes no decision, but is stored. */
static void test_kube_scheduler_message_of_a_watched_pod_is_stored(void **state)
{
    answer(*state, PAGE(POD_TEXT("7", "")));
    end_answer(*state);
    check_says(*state, "null");
    answer(*state, EVENT(POD_TEXT("11", SAYS("0/3 nodes"))));
    check_says(*state, "{'reason':'Unschedulable','message':'0/3 nodes'}");
    end_answer(*state);
    answer(*state, EVENT(POD_TEXT("12", SAYS("0/4 nodes"))));
    check_says(*state, "{'reason':'Unschedulable','message':'0/4 nodes'}");
    end_answer(*state);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_kube_scheduler_message_of_a_listed_pod_is_stored),
        TEST(test_kube_scheduler_message_of_a_watched_pod_is_stored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
