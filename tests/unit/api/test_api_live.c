/* api, over an API server: what is reserved, how fresh it is, and why no pods are judged. */
#include "ask.h"
#include "base/text_time.h"
#include "live_cluster.h"

#include <inttypes.h>

struct live_ask {
    struct live_cluster live;
    struct ask ask; /* its api asks the live inventory */
};

static int set_up(void **state)
{
    struct live_ask *live = calloc(1, sizeof *live);
    if (!live)
        return -1;
    live_init(&live->live);
    live->ask.api = (struct api){
        .policy = &live->live.policy,
        .inventory = live->live.inventory,
        .max_object_bytes = 1 << 16,
        .max_replicas = ASK_MAX_REPLICAS,
        .more_metrics = ask_write_metrics,
    };
    *state = live;
    return 0;
}

static int tear_down(void **state)
{
    struct live_ask *live = *state;
    live_fini(&live->live);
    free(live);
    return 0;
}

static void reserve(struct live_ask *live, const char *uid, const char *node_name, int64_t age_ms)
{
    struct arena *arena = arena_new();
    struct reserve_result result;
    const struct reserve_question question = {
        .uid = uid, .node_name = node_name, .now_ms = clock_ms() - age_ms};
    assert_int_equal(inventory_reserve(live->live.inventory, &question, arena, &result),
                     RESERVE_HELD);
    arena_free(arena);
}

/* One pod that runs, one that is being bound. */
static void fill(struct live_ask *live)
{
    live_list_nothing(&live->live);
    LIST(&live->live, CLUSTER_NODES, NODE("a", "8"));
    LIST(&live->live, CLUSTER_PODS, POD("runs", "u1", "a", "3"), POD("waits", "u2", "", "2"));
    reserve(live, "u2", "a", 5000);
}

/* Ages move on while a test runs. */
static void take_age(json_t *object, json_int_t at_least)
{
    const json_t *age = json_object_get(object, "ageSeconds");
    assert_true(json_is_integer(age));
    if (json_integer_value(age) < at_least || json_integer_value(age) > at_least + 60)
        fail_msg("%s: ageSeconds should be %lld", json_dumps(object, 0), (long long)at_least);
    (void)json_object_del(object, "ageSeconds");
}

static void test_reservations_are_apart_from_usage(void **state)
{
    struct live_ask *live = *state;
    fill(live);
    json_t *inventory = ask_json(&live->ask, api_inventory, "");
    json_t *node = json_array_get(json_object_get(inventory, "nodes"), 0);
    assert_json(json_object_get(json_object_get(node, "resources"), "nvidia.com/gpu"),
                "{'capacity':8,'allocatable':8,'used':3,'reserved':2,'free':3}");
    assert_json(json_object_get(node, "holders"),
                "[{'namespace':'ml','pod':'runs','uid':'u1','gpus':{'nvidia.com/gpu':3}}]");
    take_age(json_array_get(json_object_get(node, "reservations"), 0), 5);
    assert_json(json_object_get(node, "reservations"),
                "[{'namespace':'ml','pod':'waits','uid':'u2','gpus':{'nvidia.com/gpu':2}}]");
    assert_json(json_object_get(inventory, "models"),
                "[{'model':'','resource':'nvidia.com/gpu','nodes':1,'capacity':8,'allocatable':8,"
                "'used':3,'reserved':2,'free':3}]");
    json_decref(inventory);
}

static void test_a_reservation_becomes_usage(void **state)
{
    struct live_ask *live = *state;
    fill(live);
    live_upsert(&live->live, CLUSTER_PODS, POD("waits", "u2", "a", "2"));
    json_t *inventory = ask_json(&live->ask, api_inventory, "");
    const json_t *node = json_array_get(json_object_get(inventory, "nodes"), 0);
    assert_json(json_object_get(json_object_get(node, "resources"), "nvidia.com/gpu"),
                "{'capacity':8,'allocatable':8,'used':5,'reserved':0,'free':3}");
    assert_json(json_object_get(node, "reservations"), "[]");
    json_decref(inventory);
}

static void make_stale(struct live_ask *live)
{
    live->live.statuses[CLUSTER_PODS].stale = true;
    live->live.statuses[CLUSTER_PODS].why = "no answer in 10 s";
    live->live.statuses[CLUSTER_PODS].fresh_ms = clock_ms() - 100000;
    live_flush(&live->live, CLUSTER_PODS);
}

/* As make_stale() makes it; the test may take its time. */
static void check_as_of(const json_t *as_of)
{
    int64_t as_of_s = 0;
    assert_int_equal(text_time_read(json_string_value(as_of), &as_of_s), 0);
    const int64_t age_s = (int64_t)time(NULL) - as_of_s;
    if (age_s < 99 || age_s > 160)
        fail_msg("%" PRId64 " s old", age_s);
}

/* A table begins with why nothing is decided, and with how old is what follows; gives the rest. */
static const char *after_warning(const char *table)
{
    static const char FIRST[] = "NO DECISIONS ARE MADE: the pods are stale: no answer in 10 s\n"
                                "What follows is as it was at 20";
    if (strncmp(table, FIRST, strlen(FIRST)) != 0)
        fail_msg("%s", table);
    const char *end = strstr(table, "Z, ");
    assert_non_null(end);
    if (strncmp(end, "Z, 1m ago.\n\n", strlen("Z, 1m ago.\n\n")) != 0 &&
        strncmp(end, "Z, 2m ago.\n\n", strlen("Z, 2m ago.\n\n")) != 0)
        fail_msg("%s", table);
    return strstr(end, "\n\n") + 2;
}

static void check_warning(struct live_ask *live, handle_exchange *handle, const char *body)
{
    char *table = ask_text(&live->ask, handle, body, "table", 200, "text/plain; charset=utf-8");
    assert_true(strlen(after_warning(table)) > 0);
    free(table);
}

/* What is being bound is said to be, and is not in its own way. */
static void test_a_pending_pod_that_is_being_bound(void **state)
{
    struct live_ask *live = *state;
    fill(live);
    json_t *pending = ask_json(&live->ask, api_pending, "");
    json_t *pod = json_array_get(json_object_get(pending, "pods"), 0);
    take_age(json_object_get(pod, "reservation"), 5);
    assert_json(json_object_get(pod, "reservation"), "{'node':'a'}");
    assert_json(json_object_get(pod, "judged"), "false");
    assert_json(json_object_get(pod, "summary"),
                "'ml/waits: is being bound to a, where room is held for it'");
    assert_json(json_object_get(pending, "notJudged"), "1");
    assert_json(json_object_get(pending, "live"), "true");
    json_decref(pending);
    live->ask.path = "/v1/pods/ml/waits/explain";
    json_t *explanation = ask_json(&live->ask, api_explain, "");
    assert_json(json_object_get(json_object_get(explanation, "pod"), "judged"), "false");
    assert_json(json_object_get(explanation, "nodes"), "[]");
    json_decref(explanation);
}

static void test_pending_pods_are_told_from_stale_data(void **state)
{
    struct live_ask *live = *state;
    fill(live);
    make_stale(live);
    json_t *pending = ask_json(&live->ask, api_pending, "");
    assert_json(json_object_get(pending, "usable"), "false");
    assert_non_null(strstr(json_string_value(json_object_get(pending, "unusableBecause")),
                           "no answer in 10 s"));
    assert_json(json_object_get(pending, "podCount"), "1");
    json_decref(pending);
    live->ask.path = "/v1/pods/ml/runs/explain";
    check_warning(live, api_explain, "");
    check_warning(live, api_pending, "");
}

static void test_a_dry_run_over_stale_data_says_so(void **state)
{
    static const char MANIFEST[] = "kind: Pod\nspec: {containers: []}\n";
    struct live_ask *live = *state;
    fill(live);
    json_t *result = ask_json(&live->ask, api_dry_run, MANIFEST);
    assert_json(json_object_get(result, "usable"), "true");
    assert_json(json_object_get(result, "unusableBecause"), "''");
    json_decref(result);
    make_stale(live);
    result = ask_json(&live->ask, api_dry_run, MANIFEST);
    assert_json(json_object_get(result, "live"), "true");
    assert_json(json_object_get(result, "source"), "'" LIVE_SERVER "'");
    assert_json(json_object_get(result, "usable"), "false");
    assert_json(json_object_get(result, "unusableBecause"),
                "'the pods are stale: no answer in 10 s'");
    check_as_of(json_object_get(result, "asOf"));
    json_decref(result);
    check_warning(live, api_dry_run, MANIFEST);
}

static void check_readyz(struct live_ask *live, unsigned status, const char *line)
{
    char *text = ask_text(&live->ask, api_readyz, "", NULL, status, "text/plain; charset=utf-8");
    assert_string_equal(text, line);
    free(text);
}

static void test_freshness(void **state)
{
    struct live_ask *live = *state;
    json_t *inventory = ask_json(&live->ask, api_inventory, "");
    assert_json(json_object_get(inventory, "usable"), "false");
    assert_json(json_object_get(inventory, "unusableBecause"),
                "'not ready: waiting for the first list of nodes'");
    assert_json(json_array_get(json_object_get(inventory, "freshness"), 1),
                "{'kind':'pods','synced':false,'stale':false,'ageSeconds':null,'why':''}");
    json_decref(inventory);
    fill(live);
    make_stale(live);
    inventory = ask_json(&live->ask, api_inventory, "");
    assert_json(json_object_get(inventory, "source"), "'" LIVE_SERVER "'");
    assert_json(json_object_get(inventory, "live"), "true");
    assert_json(json_object_get(inventory, "usable"), "false");
    assert_json(json_object_get(inventory, "unusableBecause"),
                "'the pods are stale: no answer in 10 s'");
    json_t *kinds = json_object_get(inventory, "freshness");
    take_age(json_array_get(kinds, 0), 0);
    take_age(json_array_get(kinds, 1), 100);
    assert_json(json_array_get(kinds, 0), "{'kind':'nodes','synced':true,'stale':false,'why':''}");
    assert_json(json_array_get(kinds, 1),
                "{'kind':'pods','synced':true,'stale':true,'why':'no answer in 10 s'}");
    assert_int_equal(json_array_size(kinds), N_CLUSTER_KINDS);
    json_decref(inventory);
}

static void test_readyz_says_what_is_missing(void **state)
{
    struct live_ask *live = *state;
    live->live.statuses[CLUSTER_NODES].why = "GET /api/v1/nodes: 403: no";
    live_flush(&live->live, CLUSTER_NODES);
    check_readyz(live, 503,
                 "not ready: waiting for the first list of nodes: GET /api/v1/nodes: 403: no\n"
                 "waiting for the first list of pods\n"
                 "waiting for the first list of namespaces\n"
                 "waiting for the first list of priorityclasses\n"
                 "waiting for the first list of deviceclasses\n");
    live->live.statuses[CLUSTER_NODES].why = NULL;
    fill(live);
    check_readyz(live, 200, "ok\n");
    make_stale(live);
    check_readyz(live, 503, "the pods are stale: no answer in 10 s\n");
    live->live.statuses[CLUSTER_NODES].stale = true;
    live_flush(&live->live, CLUSTER_NODES);
    check_readyz(live, 503, "the nodes are stale\nthe pods are stale: no answer in 10 s\n");
    live->live.statuses[CLUSTER_PODS].synced = false;
    live_flush(&live->live, CLUSTER_PODS);
    check_readyz(live, 503,
                 "not ready: waiting for the first list of pods: no answer in 10 s\n"
                 "the nodes are stale\n");
}

static void test_table(void **state)
{
    static const char EXPECTED[] =
        "NODE   STATE      MODEL   RESOURCE         TOTAL   USED   FREE   HELD BY       RESERVED "
        "FOR\n"
        "a      NotReady   -       nvidia.com/gpu   8       3      3      ml/runs (3)   ml/waits "
        "(2)\n"
        "\n"
        "MODEL   RESOURCE         NODES   TOTAL   USED   FREE   RESERVED\n"
        "-       nvidia.com/gpu   1       8       3      3      2\n"
        "\n" LIVE_SERVER "\n"
        "KIND              STATE      SECONDS OLD   WHY\n";
    struct live_ask *live = *state;
    fill(live);
    make_stale(live);
    char *table =
        ask_text(&live->ask, api_inventory, "", "table", 200, "text/plain; charset=utf-8");
    const char *text = after_warning(table);
    const char *rest = text + sizeof EXPECTED - 1;
    if (strncmp(text, EXPECTED, sizeof EXPECTED - 1) != 0)
        fail_msg("%s", table);
    assert_non_null(strstr(rest, "pods              stale      10"));
    assert_non_null(strstr(rest, "   no answer in 10 s\nnamespaces"));
    free(table);
}

static void test_metrics(void **state)
{
    struct live_ask *live = *state;
    fill(live);
    char *text = ask_text(&live->ask, api_metrics, "", NULL, 200,
                          "text/plain; version=0.0.4; charset=utf-8");
    assert_non_null(strstr(text, "\ngpu_extender_node_gpus{node=\"a\",model=\"\","
                                 "resource=\"nvidia.com/gpu\",state=\"reserved\"} 2\n"));
    assert_non_null(strstr(text, "\ngpu_extender_ready 1\n"));
    assert_non_null(strstr(text, "\ngpu_extender_self_check_differences_total 0\n"));
    free(text);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_reservations_are_apart_from_usage),
        TEST(test_a_reservation_becomes_usage),
        TEST(test_a_pending_pod_that_is_being_bound),
        TEST(test_pending_pods_are_told_from_stale_data),
        TEST(test_a_dry_run_over_stale_data_says_so),
        TEST(test_freshness),
        TEST(test_readyz_says_what_is_missing),
        TEST(test_table),
        TEST(test_metrics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
