/* api on a ledger that follows an API server: reservations, freshness, and why pods are not
 * judged. */
#include "ask.h"
#include "base/clock.h"
#include "live_cluster.h"

#include <inttypes.h>

struct live_ask {
    struct live_cluster live;
    struct ask ask; /* its api uses the live inventory */
};

static int set_up(void **state)
{
    struct live_ask *live = calloc(1, sizeof *live);
    if (!live)
        return -1;
    live_init(&live->live);
    live->ask.api = (struct api){
        .inventory = live->live.inventory,
        .max_object_bytes = 1 << 16,
        .max_object_values = 50000,
        .request_budget = {.max_values = 200000, .max_tree_bytes = 32 << 20, .max_depth = 110},
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

/* One running pod, and one being bound. */
static void fill(struct live_ask *live)
{
    live_list_nothing(&live->live);
    LIST(&live->live, CLUSTER_NODES, NODE("a", "8"));
    LIST(&live->live, CLUSTER_PODS, POD("runs", "u1", "a", "3"), POD("waits", "u2", "", "2"));
    reserve(live, "u2", "a", 5000);
}

static void test_reservations_are_reported_apart_from_usage(void **state)
{
    struct live_ask *live = *state;
    fill(live);
    json_t *inventory = ask_json(&live->ask, api_inventory, "");
    json_t *node = json_array_get(json_object_get(inventory, "nodes"), 0);
    assert_json(json_object_get(json_object_get(node, "resources"), "nvidia.com/gpu"),
                "{'capacity':8,'allocatable':8,'used':3,'reserved':2,'free':3,'model':'','sharing':"
                "'','unit':'gpu','lost':0,'usable':0,'stranded':0,'closed':3}");
    assert_json(json_object_get(node, "holders"),
                "[{'namespace':'ml','pod':'runs','uid':'u1','gpus':{'nvidia.com/gpu':3},"
                "'priority':0,'terminating':false,'created':null,'controller':null,'devices':{}}]");
    assert_json(json_object_get(node, "reservations"),
                "[{'namespace':'ml','pod':'waits','uid':'u2','gpus':{'nvidia.com/gpu':2},"
                "'ageSeconds':5}]");
    assert_json(json_object_get(inventory, "models"),
                "[{'model':'','resource':'nvidia.com/gpu','nodes':1,'capacity':8,'allocatable':8,"
                "'used':3,'reserved':2,'free':3,'unit':'gpu','usable':0,'stranded':0,'closed':3,'"
                "lost':0}]");
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
                "{'capacity':8,'allocatable':8,'used':5,'reserved':0,'free':3,'model':'','sharing':"
                "'','unit':'gpu','lost':0,'usable':0,'stranded':0,'closed':3}");
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

static void make_fresh(struct live_ask *live)
{
    live->live.statuses[CLUSTER_PODS] = live->live.statuses[CLUSTER_NODES];
    live_flush(&live->live, CLUSTER_PODS);
}

/* As after make_stale(); the test may be slow. */
static void check_as_of(const json_t *as_of)
{
    int64_t as_of_s = 0;
    assert_int_equal(text_time_read(json_string_value(as_of), &as_of_s), 0);
    const int64_t age_s = (int64_t)time(NULL) - as_of_s;
    if (age_s < 99 || age_s > 160)
        fail_msg("%" PRId64 " s old", age_s);
}

/* Checks the warning above a table and the data's age; returns the rest. */
static const char *after_warning(const char *table)
{
    static const char FIRST[] = "NO DECISIONS ARE MADE: the pods are stale: no answer in 10 s\n"
                                "The data below is from 20";
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

/* A pod being bound is shown as such; its reservation is no obstacle to it. */
static void test_pending_pod_with_a_reservation_is_reported(void **state)
{
    struct live_ask *live = *state;
    fill(live);
    json_t *pending = ask_json(&live->ask, api_pending, "");
    json_t *pod = json_array_get(json_object_get(pending, "pods"), 0);
    assert_json(json_object_get(pod, "reservation"), "{'node':'a','ageSeconds':5}");
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

static void test_pending_pods_are_reported_from_stale_data(void **state)
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

static void test_dry_run_reports_stale_data(void **state)
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

static const char *tell_role(void *context)
{
    return context;
}

static void test_answer_names_the_replica(void **state)
{
    static char role[] = "becoming the leader";
    struct live_ask *live = *state;
    fill(live);
    json_t *inventory = ask_json(&live->ask, api_inventory, "");
    assert_true(json_is_null(json_object_get(inventory, "role")));
    json_decref(inventory);
    live->ask.api.role = tell_role;
    live->ask.api.role_context = role;
    inventory = ask_json(&live->ask, api_inventory, "");
    assert_json(json_object_get(inventory, "role"), "'becoming the leader'");
    json_decref(inventory);
    char *table =
        ask_text(&live->ask, api_inventory, "", "table", 200, "text/plain; charset=utf-8");
    assert_non_null(strstr(table, "\n" LIVE_SERVER "\nthis replica: becoming the leader\n"));
    free(table);
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
                "{'kind':'pods','synced':false,'stale':false,'ageSeconds':null,"
                "'lagSeconds':0.0,'why':''}");
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
    assert_json(json_array_get(kinds, 0),
                "{'kind':'nodes','synced':true,'stale':false,'ageSeconds':0,'lagSeconds':0.0,"
                "'why':''}");
    assert_json(json_array_get(kinds, 1),
                "{'kind':'pods','synced':true,'stale':true,'ageSeconds':100,'lagSeconds':0.0,"
                "'why':'no answer in 10 s'}");
    assert_int_equal(json_array_size(kinds), N_CLUSTER_KINDS);
    json_decref(inventory);
}

/* Any client of the port may read the answer, which must contain no word of this. */
static const char SAID[] =
    "GET /api/v1/nodes: 401: the API server refused the token of /etc/secret/token";

static void test_readyz_names_missing_lists(void **state)
{
    struct live_ask *live = *state;
    struct reflector_status *nodes = &live->live.statuses[CLUSTER_NODES];
    nodes->why = SAID;
    nodes->trouble = TROUBLE_REFUSED;
    live_flush(&live->live, CLUSTER_NODES);
    struct buf expected;
    buf_init(&expected, 4096);
    for (int kind = 0; kind < N_CLUSTER_KINDS; kind++)
        buf_printf(&expected, "%s: never listed%s\n", INVENTORY_KINDS[kind].listed.name,
                   kind == CLUSTER_NODES ? ": refused" : "");
    check_readyz(live, 503, buf_text(&expected));
    buf_fini(&expected);
    nodes->why = NULL;
    nodes->trouble = TROUBLE_NONE;
    fill(live);
    check_readyz(live, 200, "ok\n");
    nodes->why = SAID;
    nodes->trouble = TROUBLE_UNREACHABLE;
    live_flush(&live->live, CLUSTER_NODES);
    check_readyz(live, 200, "ok\n");
}

static void test_readyz_is_ok_while_claims_are_not_counted(void **state)
{
    struct live_ask *live = *state;
    struct live_cluster *cluster = &live->live;
    for (int kind = CLUSTER_NODES; kind <= CLUSTER_DEVICE_CLASSES; kind++)
        LIST_NOTHING(cluster, (enum cluster_kind)kind);
    struct buf refused;
    struct buf expected;
    buf_init(&refused, 4096);
    buf_init(&expected, 4096);
    for (int kind = CLUSTER_SLICES; kind < N_CLUSTER_KINDS; kind++) {
        if (kind == CLUSTER_DEVICE_TAINTS)
            continue;
        cluster->statuses[kind].trouble = TROUBLE_REFUSED;
        live_flush(cluster, (enum cluster_kind)kind);
        buf_printf(&refused, "%s: %s: never listed: refused\n", INVENTORY_KINDS[kind].use->without,
                   INVENTORY_KINDS[kind].listed.name);
    }
    buf_printf(&expected, "devicetaintrules: never listed\n%s", buf_text(&refused));
    check_readyz(live, 503, buf_text(&expected));
    LIST_NOTHING(cluster, CLUSTER_DEVICE_TAINTS);
    buf_clear(&expected);
    buf_printf(&expected, "ok\n%s", buf_text(&refused));
    check_readyz(live, 200, buf_text(&expected));
    buf_fini(&refused);
    buf_fini(&expected);
}

static void test_readyz_reports_the_age_of_stale_data(void **state)
{
    static const char BEFORE[] = "pods: stale since ";
    struct live_ask *live = *state;
    int64_t since_s = 0;
    fill(live);
    make_stale(live);
    live->live.statuses[CLUSTER_PODS].trouble = TROUBLE_UNREACHABLE;
    live_flush(&live->live, CLUSTER_PODS);
    const int64_t now_s = (int64_t)time(NULL);
    char *text = ask_text(&live->ask, api_readyz, "", NULL, 503, "text/plain; charset=utf-8");
    char *since = text + sizeof BEFORE - 1;
    assert_memory_equal(text, BEFORE, sizeof BEFORE - 1);
    char *after = strchr(since, 'Z');
    assert_non_null(after);
    assert_string_equal(after, "Z: unreachable\n");
    after[1] = '\0';
    assert_int_equal(text_time_read(since, &since_s), 0);
    assert_in_range(since_s, now_s - 110, now_s - 100);
    free(text);
}

static void test_readyz_names_kinds_over_their_limit(void **state)
{
    static const char EXPECTED[] = "nodes: too many\n";
    struct live_ask *live = *state;
    fill(live);
    LIST(&live->live, CLUSTER_NODES, NODE("a", "8"), NODE("b", "8"), NODE("c", "8"),
         NODE("d", "8"));
    check_readyz(live, 200, "ok\n");
    live_upsert(&live->live, CLUSTER_NODES, NODE("e", "8"));
    check_readyz(live, 503, EXPECTED);
}

static void test_table(void **state)
{
    static const char EXPECTED[] =
        "0 of 8 GPUs are usable; 3 are on closed nodes, 3 in use, 2 reserved\n"
        "NODE  GPUS  USED  FREE  USABLE  STATE     RESOURCE        PODS         RESERVED FOR\n"
        "a        8     3     3       0  NotReady  nvidia.com/gpu  ml/runs (3)  ml/waits (2)\n"
        "\n"
        "MODEL  NODES  GPUS  USED  USABLE  CLOSED  RESERVED  RESOURCE\n"
        "-          1     8     3       0       3         2  nvidia.com/gpu\n"
        "\n" LIVE_SERVER "\n"
        "KIND                    STATE     SECONDS OLD  WHY\n";
    struct live_ask *live = *state;
    fill(live);
    make_stale(live);
    char *table = ask_text(&live->ask, api_inventory, "", "wide", 200, "text/plain; charset=utf-8");
    const char *text = after_warning(table);
    const char *rest = text + sizeof EXPECTED - 1;
    if (strncmp(text, EXPECTED, sizeof EXPECTED - 1) != 0)
        fail_msg("%s", table);
    assert_non_null(strstr(rest, "pods                    stale             10"));
    assert_non_null(strstr(rest, "  no answer in 10 s\nnamespaces"));
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

/* ---- a change in mid-answer ---- */

struct mid_answer {
    struct live_ask *live;
    unsigned n_calls, stale_at;
};

/* An answer with a tag asks for the role when it begins, which a deferred one does again, and last
 * before it ends. */
static const char *make_stale_when_asked_again(void *context)
{
    struct mid_answer *mid_answer = context;
    if (++mid_answer->n_calls == mid_answer->stale_at)
        make_stale(mid_answer->live);
    return NULL;
}

static bool has_tag(struct live_ask *live, handle_exchange *handle)
{
    const struct fake_question question = {.path = "/v1/pods/ml/runs/explain"};
    struct fake_answer answer = fake_ask(handle, &live->ask.api, &question);
    const bool has_tag = answer.has_tag;
    assert_int_equal(answer.status, 200);
    fake_answer_fini(&answer);
    return has_tag;
}

/* Else the client would keep the answer for as long as the data are stale. */
static void test_a_kind_that_turns_stale_in_mid_answer_drops_the_tag(void **state)
{
    static handle_exchange *const HANDLES[] = {
        api_inventory, api_pending,     api_fragmentation, api_quota,
        api_snapshot,  api_node_groups, api_explain,
    };
    struct live_ask *live = *state;
    fill(live);
    for (size_t i = 0; i < sizeof HANDLES / sizeof(handle_exchange *); i++) {
        struct mid_answer mid_answer = {.live = live};
        live->ask.api.role = make_stale_when_asked_again;
        live->ask.api.role_context = &mid_answer;
        make_fresh(live);
        assert_true(has_tag(live, HANDLES[i]));
        mid_answer = (struct mid_answer){.live = live, .stale_at = mid_answer.n_calls};
        assert_false(has_tag(live, HANDLES[i]));
        assert_int_equal(mid_answer.n_calls, mid_answer.stale_at);
    }
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_reservations_are_reported_apart_from_usage),
        TEST(test_a_reservation_becomes_usage),
        TEST(test_pending_pod_with_a_reservation_is_reported),
        TEST(test_pending_pods_are_reported_from_stale_data),
        TEST(test_dry_run_reports_stale_data),
        TEST(test_freshness),
        TEST(test_answer_names_the_replica),
        TEST(test_readyz_names_missing_lists),
        TEST(test_readyz_is_ok_while_claims_are_not_counted),
        TEST(test_readyz_reports_the_age_of_stale_data),
        TEST(test_readyz_names_kinds_over_their_limit),
        TEST(test_a_kind_that_turns_stale_in_mid_answer_drops_the_tag),
        TEST(test_table),
        TEST(test_metrics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
