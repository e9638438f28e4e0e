/* api: inventory and probes over the small cluster, without HTTP. */
#include "api/kubernetes.h"
#include "ask.h"

#include <errno.h>

static const json_t *node_called(const json_t *inventory, const char *name)
{
    size_t i = 0;
    json_t *node = NULL;
    json_array_foreach (json_object_get(inventory, "nodes"), i, node) {
        if (strcmp(json_string_value(json_object_get(node, "name")), name) == 0)
            return node;
    }
    fail_msg("there is no node %s", name);
    return NULL;
}

static void test_inventory_nodes(void **state)
{
    json_t *inventory = ask_json(*state, api_inventory, "");
    const json_t *node = node_called(inventory, "a100-1");
    assert_json(json_object_get(node, "model"), "'A100-SXM4-80GB'");
    assert_json(json_object_get(node, "modelLabel"),
                "'nvidia.com/gpu.product=NVIDIA-A100-SXM4-80GB'");
    assert_json(json_object_get(node, "ready"), "true");
    assert_json(json_object_get(node, "unschedulable"), "false");
    assert_json(json_object_get(json_object_get(node, "resources"), "nvidia.com/gpu"),
                "{'capacity':8,'allocatable':8,'used':5,'reserved':0,'free':3,'model':'A100-SXM4-"
                "80GB','sharing':'','unit':'gpu','lost':0,'usable':0,'stranded':3,'closed':0}");
    assert_json(json_object_get(json_object_get(node, "resources"), "cpu"),
                "{'capacity':64000,'allocatable':64000,'used':8000,'reserved':0,'free':56000}");
    assert_json(json_object_get(node, "holders"),
                "[{'namespace':'ml','pod':'train-0','uid':'uid-0','gpus':{'nvidia.com/gpu':5},"
                "'priority':0,'terminating':false,'created':null,'controller':null,'devices':{}}]");
    node = node_called(inventory, "cpu-1");
    assert_json(json_object_get(node, "model"), "''");
    assert_json(json_object_get(node, "holders"), "[]");
    json_decref(inventory);
}

/* Sorted by worth, then name, whatever the order of the file. */
static void test_inventory_order_and_totals(void **state)
{
    json_t *inventory = ask_json(*state, api_inventory, "");
    const json_t *nodes = json_object_get(inventory, "nodes");
    assert_int_equal(json_array_size(nodes), 4);
    assert_json(ask_member(nodes, 0, "name"), "'a100-1'");
    assert_json(ask_member(nodes, 2, "name"), "'t4-1'");
    assert_json(ask_member(nodes, 3, "name"), "'cpu-1'");
    assert_json(json_object_get(inventory, "models"),
                "[{'model':'A100-SXM4-80GB','resource':'nvidia.com/gpu','nodes':2,'capacity':16,"
                "'allocatable':16,'used':5,'reserved':0,'free':11,'usable':8,'stranded':3,'closed':"
                "0,'lost':0,'unit':'gpu'},"
                "{'model':'T4','resource':'nvidia.com/gpu','nodes':1,'capacity':4,"
                "'allocatable':4,'used':0,'reserved':0,'free':4,'usable':0,'stranded':4,'closed':0,"
                "'lost':0,'unit':'gpu'}]");
    assert_json(json_object_get(inventory, "problems"), "[]");
    assert_json(json_object_get(inventory, "problemCount"), "0");
    json_decref(inventory);
}

static void test_inventory_problems(void **state)
{
    struct ask *ask = *state;
    struct err err;
    assert_int_equal(small_cluster_load(&ask->cluster, "kind: Node\nmetadata: {}\n", &err), 0);
    json_t *inventory = ask_json(ask, api_inventory, "");
    assert_json(json_object_get(inventory, "problems"),
                "[{'kind':'Node','name':'(unnamed)','what':'has no metadata.name'}]");
    assert_json(json_object_get(inventory, "problemCount"), "1");
    assert_json(json_object_get(inventory, "nodes"), "[]");
    json_decref(inventory);
}

static void test_inventory_is_empty_without_nodes(void **state)
{
    (void)state;
    struct ask ask = {0};
    ask_init(&ask, NULL);
    json_t *inventory = ask_json(&ask, api_inventory, "");
    assert_json(json_object_get(inventory, "nodes"), "[]");
    json_decref(inventory);
    ask_fini(&ask);
}

static void test_inventory_table(void **state)
{
    static const char EXPECTED[] =
        "8 of 20 GPUs are usable; 7 are stranded, 5 in use\n"
        "NODE    MODEL           GPUS  USED  FREE  USABLE  STATE     CPU  MEMORY  PODS\n"
        "a100-1  A100-SXM4-80GB     8     5     3       0  stranded   56    56Gi  ml/train-0 (5)\n"
        "a100-2  A100-SXM4-80GB     8     0     8       8  Ready      64    64Gi  -\n"
        "t4-1    T4                 4     0     4       0  stranded    4    64Gi  -\n"
        "The same in each row: RESOURCE nvidia.com/gpu.\n"
        "Without GPUs: cpu-1.\n"
        "\n"
        "MODEL           NODES  GPUS  USED  USABLE  STRANDED\n"
        "A100-SXM4-80GB      2    16     5       8         3\n"
        "T4                  1     4     0       0         4\n"
        "The same in each row: RESOURCE nvidia.com/gpu.\n"
        "\nfile:";
    char *table = ask_text(*state, api_inventory, "", "wide", 200, "text/plain; charset=utf-8");
    if (strncmp(table, EXPECTED, sizeof EXPECTED - 1) != 0)
        fail_msg("%s", table);
    assert_ptr_equal(strchr(table + sizeof EXPECTED - 1, '\n'), table + strlen(table) - 1);
    free(table);
}

static void check_line(struct ask *ask, handle_exchange *handle, unsigned status, const char *line)
{
    char *text = ask_text(ask, handle, "", NULL, status, "text/plain; charset=utf-8");
    assert_string_equal(text, line);
    free(text);
}

static void test_probes(void **state)
{
    struct ask waiting = {0};
    ask_init(&waiting, NULL);
    check_line(&waiting, api_livez, 200, "ok\n");
    check_line(&waiting, api_readyz, 503, "waiting for the cluster file\n");
    ask_fini(&waiting);
    check_line(*state, api_livez, 200, "ok\n");
    check_line(*state, api_readyz, 200, "ok\n");
}

static bool is_alive(void *context, struct err *ret_why)
{
    const bool *alive = context;
    if (!*alive)
        (void)err_set(ret_why, EAGAIN, "the write loop is stuck");
    return *alive;
}

/* The liveness probe restarts a process that answers users but stopped following the API server. */
static void test_livez_fails_when_the_write_loop_is_stuck(void **state)
{
    struct ask *ask = *state;
    bool alive = true;
    ask->api.alive = is_alive;
    ask->api.alive_context = &alive;
    check_line(ask, api_livez, 200, "ok\n");
    alive = false;
    check_line(ask, api_livez, 503, "the write loop is stuck\n");
}

static void test_metrics(void **state)
{
    char *text =
        ask_text(*state, api_metrics, "", NULL, 200, "text/plain; version=0.0.4; charset=utf-8");
    assert_non_null(strstr(text, "gpu_extender_build_info{version="));
    assert_non_null(strstr(text, "\ngpu_extender_nodes 4\n"));
    assert_non_null(strstr(text, "\ngpu_extender_ready 1\n"));
    assert_non_null(strstr(text, "\nprocess_open_fds "));
    assert_non_null(strstr(text, "\nmore 1\n"));
    free(text);
}

#define APIS "/apis/visibility.gpu-extender.io/v1alpha1/"

/* Everything that a thread of the server computes itself delays /apis and /livez. */
static void test_long_answers_are_deferred(void **state)
{
    static const struct {
        handle_exchange *handle;
        const char *method, *path; /* path NULL: not below /apis */
        bool is_deferred;
    } ROWS[] = {
        {api_dry_run, "POST", NULL, true},
        {api_what_if, "POST", NULL, true},
        {api_node_groups, "GET", NULL, true},
        {api_pending, "GET", NULL, true},
        {api_snapshot, "GET", NULL, true},
        {api_explain, "GET", "/v1/pods/ml/train-0/explain", true},
        {api_inventory, "GET", NULL, false},
        {api_quota, "GET", NULL, true},
        {api_livez, "GET", NULL, false},
        {api_metrics, "GET", NULL, false},
        {kubernetes_handle, "POST", APIS "namespaces/ml/dryruns", true},
        {kubernetes_handle, "GET", APIS "namespaces/ml/gpupending", true},
        {kubernetes_handle, "GET", APIS "namespaces/ml/gpupods/train-0/explain", true},
        {kubernetes_handle, "POST", APIS "views/what-if", true},
        {kubernetes_handle, "GET", APIS "views/node-groups", true},
        {kubernetes_handle, "GET", APIS "views/inventory", false},
        {kubernetes_handle, "GET", APIS "gpunodes", false},
        {kubernetes_handle, "GET", "/apis", false},
        {kubernetes_handle, "GET", "/apis/visibility.gpu-extender.io/v1alpha1", false},
        {kubernetes_handle, "GET", "/openapi/v2", false},
    };
    struct ask *ask = *state;
    struct route routes[API_N_ROUTES + 1] = {0};
    struct kubernetes kubernetes = {&ask->api, routes};
    api_routes(&ask->api, NULL, routes);
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        const bool is_below = ROWS[i].handle == kubernetes_handle;
        const struct fake_question question = {
            .body = "{}", .len = 2, .method = ROWS[i].method, .path = ROWS[i].path};
        struct fake_answer answer =
            fake_ask(ROWS[i].handle, is_below ? (void *)&kubernetes : (void *)&ask->api, &question);
        if (answer.was_deferred != ROWS[i].is_deferred)
            fail_msg("row %zu: %u %s", i, answer.status, answer.body);
        fake_answer_fini(&answer);
    }
}

/* More nodes than are copied in one hold of the lock, in src/api/cluster/inventory_json.c. */
#define N_MANY_NODES 2100

static void check_has_all_nodes(const char *inventory)
{
    char wanted[32];
    const char *at = inventory;
    for (size_t i = 0; i < N_MANY_NODES; i++) {
        (void)snprintf(wanted, sizeof wanted, "\"name\": \"n-%04zu\"", i);
        at = strstr(at, wanted);
        assert_non_null(at);
    }
}

/* A list in one namespace takes as long: it goes through all of them. */
static void test_lists_of_a_large_cluster_are_deferred(void **state)
{
    static const char *const PATHS[] = {APIS "views/inventory", APIS "gpunodes",
                                        APIS "gpupods",         APIS "namespaces/ml/gpupods",
                                        APIS "gpuclaims",       APIS "gpuquotas"};
    static const struct inventory_limits LIMITS = {
        .max_file_bytes = 1 << 20, .max_object_bytes = 1 << 16, .max_nodes = 3000, .max_pods = 1};
    (void)state;
    struct ask ask;
    struct route routes[API_N_ROUTES + 1] = {0};
    struct kubernetes kubernetes = {&ask.api, routes};
    struct buf cluster;
    struct err err;
    buf_init(&cluster, LIMITS.max_file_bytes);
    for (size_t i = 0; i < N_MANY_NODES; i++)
        buf_printf(&cluster, "---\n{apiVersion: v1, kind: Node, metadata: {name: n-%04zu}}\n", i);
    ask_init(&ask, NULL);
    inventory_free(ask.cluster.inventory);
    ask.api.inventory = ask.cluster.inventory = inventory_new(&ask.cluster.policy, &LIMITS);
    if (small_cluster_load(&ask.cluster, buf_text(&cluster), &err) < 0)
        fail_msg("%s", err.text);
    api_routes(&ask.api, NULL, routes);
    for (size_t i = 0; i < sizeof PATHS / sizeof *PATHS; i++) {
        const struct fake_question question = {.method = "GET", .path = PATHS[i]};
        struct fake_answer answer = fake_ask(kubernetes_handle, &kubernetes, &question);
        assert_int_equal(answer.status, 200);
        assert_int_equal(answer.was_deferred, strcmp(PATHS[i], APIS "gpuquotas") != 0);
        if (i == 0)
            check_has_all_nodes(answer.body);
        fake_answer_fini(&answer);
    }
    buf_fini(&cluster);
    ask_fini(&ask);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ASK_TEST(test_inventory_nodes),
        ASK_TEST(test_inventory_order_and_totals),
        ASK_TEST(test_inventory_problems),
        cmocka_unit_test(test_inventory_is_empty_without_nodes),
        ASK_TEST(test_inventory_table),
        ASK_TEST(test_probes),
        ASK_TEST(test_livez_fails_when_the_write_loop_is_stuck),
        ASK_TEST(test_metrics),
        ASK_TEST(test_long_answers_are_deferred),
        cmocka_unit_test(test_lists_of_a_large_cluster_are_deferred),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
