/* api: dry runs over the small cluster, without HTTP: the form of the answer, its sums and errors.
 * Wire tests cover the results per manifest. */
#include "ask.h"

#define TEMPLATE                                                                                   \
    "{metadata: {labels: {app: web}}, spec: {containers: [{name: c, resources: {limits: {cpu: 1, " \
    "memory: 1Gi, nvidia.com/gpu: 2}}}]}}"
#define DEPLOYMENT(replicas)                                                                       \
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: ml}\n"                \
    "spec:\n  replicas: " replicas "\n  template: " TEMPLATE                                       \
    "\n  selector: {matchLabels: {app: web}}\n"

static json_t *dry_run(struct ask *ask, const char *manifest)
{
    return ask_json(ask, api_dry_run, manifest);
}

static const json_t *first_workload(const json_t *result)
{
    return json_array_get(json_object_get(result, "workloads"), 0);
}

static void test_placements(void **state)
{
    json_t *result = dry_run(*state, DEPLOYMENT("2"));
    const json_t *workload = first_workload(result);
    assert_json(json_object_get(workload, "kind"), "'Deployment'");
    assert_json(json_object_get(workload, "namespace"), "'ml'");
    assert_json(json_object_get(workload, "replicas"), "2");
    assert_json(json_object_get(workload, "placed"), "2");
    assert_json(json_object_get(workload, "moreReplicas"), "1");
    assert_json(json_object_get(workload, "placements"),
                "[{'replica':0,'node':'a100-1','score':10,'reason':'fits'},"
                "{'replica':1,'node':'t4-1','score':10,'reason':'fits'}]");
    assert_json(json_object_get(workload, "notEvaluated"), "[]");
    assert_json(json_object_get(result, "skipped"), "[]");
    assert_json(json_object_get(result, "summary"),
                "'Deployment ml/web: 2 of 2 replicas can be placed, and 1 more would fit'");
    json_decref(result);
}

static void test_nodes(void **state)
{
    json_t *result = dry_run(*state, DEPLOYMENT("1"));
    const json_t *nodes = json_object_get(first_workload(result), "nodes");
    assert_int_equal(json_array_size(nodes), 4);
    assert_json(json_array_get(nodes, 0),
                "{'node':'a100-1','model':'A100-SXM4-80GB','fits':true,'score':10,"
                "'reason':'fits','message':'the pod fits','help':'','lacks':{}}");
    assert_json(json_array_get(nodes, 1),
                "{'node':'a100-2','model':'A100-SXM4-80GB','fits':false,'score':null,'reason':'"
                "taint','message':'the node "
                "has a taint that the pod does not tolerate: dedicated=ml:NoSchedule','help':'add "
                "a toleration to the pod, or remove the taint from the node','lacks':{}}");
    assert_json(
        json_array_get(nodes, 2),
        "{'node':'cpu-1','model':'','fits':false,'score':null,'reason':'gpu_absent','message':'the "
        "node has no GPUs of the requested resource: "
        "nvidia.com/gpu','help':'request a GPU resource that the node has, or check its "
        "device plugin','lacks':{'nvidia.com/gpu':2}}");
    json_decref(result);
}

/* The ledger is unchanged: the same request gets the same answer. */
static void test_a_dry_run_leaves_no_trace(void **state)
{
    json_t *first = dry_run(*state, DEPLOYMENT("3"));
    json_t *again = dry_run(*state, DEPLOYMENT("3"));
    assert_true(json_equal(first, again));
    json_decref(first);
    json_decref(again);
}

static void test_too_many_replicas(void **state)
{
    static const char WHY[] = "0 of 4 nodes fit (1 × the node has a taint that the pod does not "
                              "tolerate; 1 × the node has no GPUs of the requested resource; 2 × "
                              "the node has too few free GPUs now)";
    json_t *result = dry_run(*state, DEPLOYMENT("5"));
    const json_t *workload = first_workload(result);
    assert_json(json_object_get(workload, "placed"), "3");
    assert_json(json_object_get(workload, "moreReplicas"), "0");
    const json_t *placement = json_array_get(json_object_get(workload, "placements"), 4);
    assert_json(json_object_get(placement, "node"), "null");
    assert_string_equal(json_string_value(json_object_get(placement, "reason")), WHY);
    json_decref(result);
}

static void test_replicas_beyond_the_limit_are_counted(void **state)
{
    json_t *result = dry_run(*state, DEPLOYMENT("25"));
    const json_t *workload = first_workload(result);
    assert_int_equal(json_array_size(json_object_get(workload, "placements")), ASK_MAX_REPLICAS);
    assert_json(json_object_get(workload, "replicas"), "25");
    assert_json(json_object_get(workload, "placed"), "3");
    assert_json(json_object_get(workload, "notEvaluated"),
                "['placements: only the first 20 replicas are listed (limits.dryRunReplicas); the "
                "others are counted']");
    json_decref(result);
}

/* Replicas that are only counted take their room too. */
static void test_counted_replicas_leave_less_for_the_next(void **state)
{
    json_t *result = dry_run(*state, DEPLOYMENT("25") "---\n" DEPLOYMENT("1"));
    const json_t *workloads = json_object_get(result, "workloads");
    assert_json(ask_member(workloads, 0, "placed"), "3");
    assert_json(ask_member(workloads, 1, "placed"), "0");
    json_decref(result);
    static const char CPU_ONLY[] =
        "kind: Deployment\nmetadata: {name: many}\nspec: {replicas: 20, template: {spec: "
        "{containers: [{name: c, resources: {requests: {cpu: 1m}}}]}}}\n";
    char *both = NULL;
    assert_true(asprintf(&both, "%s---\n%s---\n%s", CPU_ONLY, DEPLOYMENT("2"), DEPLOYMENT("2")) >
                0);
    result = dry_run(*state, both);
    workloads = json_object_get(result, "workloads");
    assert_json(ask_member(workloads, 1, "placed"), "2");
    assert_json(ask_member(workloads, 2, "placed"), "1");
    json_decref(result);
    free(both);
}

/* A pod with nodeName fits no other node. */
static void test_pod_with_node_name_is_judged_on_that_node(void **state)
{
    static const char POD[] = "kind: Pod\nmetadata: {name: p}\nspec: {nodeName: %s, containers: "
                              "[{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]}\n";
    static const char *const NODES[][2] = {{"t4-1", "'t4-1'"}, {"cpu-1", "null"}, {"no", "null"}};
    for (size_t i = 0; i < sizeof NODES / sizeof *NODES; i++) {
        char body[512];
        (void)snprintf(body, sizeof body, POD, NODES[i][0]);
        json_t *result = dry_run(*state, body);
        const json_t *placements = json_object_get(first_workload(result), "placements");
        assert_json(ask_member(placements, 0, "node"), NODES[i][1]);
        json_decref(result);
    }
}

static void test_unreadable_workload_is_reported(void **state)
{
    json_t *result = dry_run(*state, "kind: Deployment\nmetadata: {name: d}\nspec: {}\n");
    const char *summary = json_string_value(json_object_get(result, "summary"));
    assert_non_null(strstr(summary, "0 of 1 replicas can be placed: no pod template"));
    json_decref(result);
    result =
        dry_run(*state, "kind: Deployment\nmetadata: {name: d}\nspec: {}\n---\n" DEPLOYMENT("1"));
    assert_json(json_object_get(result, "summary"), "'1 of 2 workloads can be placed completely'");
    json_decref(result);
}

static void test_daemon_set_answer_gives_the_reason(void **state)
{
    json_t *result = dry_run(
        *state, "kind: DaemonSet\nmetadata: {name: d}\nspec: {template: {spec: {containers: "
                "[{name: c, resources: {limits: {nvidia.com/gpu: '1.5'}}}]}}}\n");
    const char *summary = json_string_value(json_object_get(result, "summary"));
    assert_non_null(strstr(summary, "\"1.5\" is not whole"));
    json_decref(result);
}

/* Items of the API's typed lists omit their kind. */
static void test_items_of_a_typed_list_are_read(void **state)
{
    json_t *result =
        dry_run(*state, "{\"kind\":\"PodList\",\"items\":[{\"metadata\":{\"name\":\"p\"},"
                        "\"spec\":{\"containers\":[{\"name\":\"c\"}]}}]}");
    assert_json(json_object_get(first_workload(result), "kind"), "'Pod'");
    assert_json(json_object_get(result, "skipped"), "[]");
    json_decref(result);
}

/* Workloads are placed in order: room of the first is not available to the second. */
static void test_several_workloads(void **state)
{
    json_t *result = dry_run(
        *state, DEPLOYMENT("3") "---\n" DEPLOYMENT(
                    "1") "---\nkind: Service\nmetadata: {name: s}\n---\nkind: PodTemplate\n"
                         "metadata: {name: t}\ntemplate: {spec: {containers: [{name: c}]}}\n");
    const json_t *workloads = json_object_get(result, "workloads");
    assert_int_equal(json_array_size(workloads), 3);
    assert_json(ask_member(workloads, 0, "placed"), "3");
    assert_json(ask_member(workloads, 1, "placed"), "0");
    assert_json(ask_member(workloads, 2, "placed"), "1");
    assert_json(ask_member(json_object_get(result, "skipped"), 0, "kind"), "'Service'");
    assert_json(json_object_get(result, "summary"), "'2 of 3 workloads can be placed completely'");
    json_decref(result);
}

static void test_daemon_set_gets_one_pod_per_node(void **state)
{
    json_t *result = dry_run(*state, "kind: DaemonSet\nmetadata: {name: agent}\n"
                                     "spec: {template: {spec: {containers: [{name: c}]}}}\n");
    const json_t *workload = first_workload(result);
    assert_json(json_object_get(workload, "replicas"), "3");
    assert_json(json_object_get(workload, "placed"), "3");
    assert_json(json_object_get(result, "summary"),
                "'DaemonSet default/agent: 3 of 3 eligible nodes get a pod'");
    json_decref(result);
}

static void test_notes_name_what_admission_would_reject(void **state)
{
    json_t *result = dry_run(*state, "kind: Pod\nmetadata: {name: p, namespace: gone}\n"
                                     "spec: {priorityClassName: high, containers: [{name: c}]}\n");
    const json_t *notes = json_object_get(first_workload(result), "notEvaluated");
    const size_t n = json_array_size(notes);
    assert_true(n >= 1);
    assert_json(json_array_get(notes, n - 1),
                "'namespace gone: is not in the cluster, the API server would reject the pods'");
    assert_json(json_object_get(result, "summary"),
                "'Pod gone/p: 1 of 1 replicas can be placed, but the API server would reject the "
                "pods (there is no namespace gone), and 328 more would fit'");
    json_decref(result);
}

static void check_refused(struct ask *ask, const char *manifest, unsigned status,
                          const char *expected)
{
    char *text = ask_text(ask, api_dry_run, manifest, NULL, status, "application/json");
    assert_string_equal(text, expected);
    free(text);
    if (status != 400)
        return;
    text = ask_text(ask, api_dry_run, manifest, "table", status, "text/plain; charset=utf-8");
    assert_memory_equal(text, "MISTAKE  manifest", strlen("MISTAKE  manifest"));
    assert_non_null(strstr(text, "\n         Nothing was judged.\n"));
    free(text);
}

static void test_refusals(void **state)
{
    check_refused(*state, "", 400,
                  "{\"error\": \"manifest: is empty, should be one or more manifests\"}\n");
    check_refused(*state, "kind: Pod\nkind: Pod\n", 400,
                  "{\"error\": \"manifest: 2:1: the key \\\"kind\\\" is here twice; it stands at "
                  "1:1 too\"}\n");
    check_refused(*state, "{\"kind\": \"Pod\"", 400,
                  "{\"error\": \"manifest: 1:15: the text ends here, should be ',' or '}'\"}\n");
    check_refused(*state, "kind: Service\n---\na: [\n---\nkind: Service\n", 400,
                  "{\"error\": \"manifest: 4:1: did not find expected node content (while "
                  "parsing a flow node that begins at 4:1)\"}\n");
    check_refused(*state, "hello", 400,
                  "{\"error\": \"manifest: 1:1: is a string, should be an object\"}\n");
}

/* The others are answered; where none is readable, test_refusals. */
static void test_an_unreadable_object_is_skipped(void **state)
{
    static const char MANIFEST[] = "metadata: {name: x}\n---\nkind: Service\nmetadata: {name: 3}\n"
                                   "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"
                                   "spec: {containers: [{name: c}], node: a}\n";
    json_t *result = dry_run(*state, MANIFEST);
    const json_t *skipped = json_object_get(result, "skipped");
    assert_json(json_object_get(first_workload(result), "placed"), "1");
    assert_int_equal(json_array_size(skipped), 2);
    assert_json(json_array_get(skipped, 0),
                "{'kind': '', 'name': 'x', 'why': 'unreadable: 1:1: kind: is missing'}");
    assert_json(ask_member(skipped, 1, "kind"), "'Service'");
    assert_json(json_object_get(result, "summary"),
                "'2 objects are unreadable; Pod default/p: 1 of 1 replicas can be placed, and 328 "
                "more would fit'");
    assert_json(ask_member(json_object_get(result, "warnings"), 0, "path"),
                "'Pod default/p: spec.node'");
    json_decref(result);
    char *text = ask_text(*state, api_dry_run, MANIFEST, "table", 200, "text/plain; charset=utf-8");
    assert_non_null(strstr(text, "2 objects are unreadable\n"));
    free(text);
}

/* A document of YAML that is no JSON; where the text cannot be parsed, test_refusals. */
static void test_a_faulty_document_is_skipped(void **state)
{
    json_t *result =
        dry_run(*state, "kind: List\nitems:\n- kind: Service\n- spec: {}\n- a: {b: {c: 1, c: 2}}\n"
                        "---\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c}]}\n"
                        "---\nkind: Pod\nkind: Pod\n---\n? [a]\n: b\n---\nkind: Node\n");
    const json_t *skipped = json_object_get(result, "skipped");
    assert_json(json_object_get(first_workload(result), "placed"), "1");
    assert_int_equal(json_array_size(skipped), 5);
    assert_json(ask_member(skipped, 0, "kind"), "'Service'");
    assert_string_equal(json_string_value(ask_member(skipped, 1, "why")),
                        "unreadable: 5:17: the key \"c\" is here twice; it stands at 5:11 too");
    assert_string_equal(json_string_value(ask_member(skipped, 2, "why")),
                        "unreadable: 12:1: the key \"kind\" is here twice; it stands at 11:1 too");
    assert_json(ask_member(skipped, 4, "kind"), "'Node'");
    json_decref(result);
}

static void test_many_unreadable_objects_are_rejected(void **state)
{
    struct buf text;
    buf_init(&text, 1 << 16);
    buf_add_text(&text, "kind: Pod\nspec: {containers: [{name: c}]}\n");
    for (int i = 0; i < 101; i++)
        buf_add_text(&text, "---\na: b\n");
    check_refused(*state, buf_text(&text), 400,
                  "{\"error\": \"manifest: 204:1: kind: is missing\"}\n");
    buf_fini(&text);
}

static void test_object_over_the_limit_is_rejected(void **state)
{
    struct buf text;
    buf_init(&text, 1 << 20);
    buf_add_text(&text, "{\"kind\":\"Pod\",\"a\":\"");
    for (int i = 0; i < 1 << 16; i++)
        buf_add_text(&text, "x");
    buf_add_text(&text, "\"}");
    check_refused(*state, buf_text(&text), 413,
                  "{\"error\": \"manifest: 1:1: the object that begins here is larger than 65536 "
                  "bytes\"}\n");
    buf_fini(&text);
}

static void test_not_ready(void **state)
{
    (void)state;
    struct ask ask = {0};
    ask_init(&ask, NULL);
    check_refused(&ask, DEPLOYMENT("1"), 503,
                  "{\"error\": \"not ready: waiting for the cluster file\"}\n");
    ask_fini(&ask);
}

static void test_no_nodes(void **state)
{
    struct ask *ask = *state;
    struct err err;
    assert_int_equal(small_cluster_load(&ask->cluster, "{\"kind\":\"List\",\"items\":[]}", &err),
                     0);
    json_t *result = dry_run(ask, DEPLOYMENT("1"));
    assert_json(json_object_get(result, "summary"),
                "'Deployment ml/web: 0 of 1 replicas can be placed: there are no nodes'");
    json_decref(result);
}

static void test_table(void **state)
{
    static const char EXPECTED[] =
        "FITS  Deployment ml/web: 2 of 2 pods\n"
        "      1 more would fit. Asks for 2 nvidia.com/gpu, 1 CPU, 1Gi.\n"
        "\n"
        "PODS   GOES TO  ASKS FOR, EACH\n"
        "Pod 0  a100-1   2 nvidia.com/gpu, 1 CPU, 1Gi\n"
        "Pod 1  t4-1     2 nvidia.com/gpu, 1 CPU, 1Gi\n";
    char *table =
        ask_text(*state, api_dry_run, DEPLOYMENT("2"), "table", 200, "text/plain; charset=utf-8");
    assert_string_equal(table, EXPECTED);
    free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ASK_TEST(test_placements),
        ASK_TEST(test_nodes),
        ASK_TEST(test_a_dry_run_leaves_no_trace),
        ASK_TEST(test_too_many_replicas),
        ASK_TEST(test_replicas_beyond_the_limit_are_counted),
        ASK_TEST(test_counted_replicas_leave_less_for_the_next),
        ASK_TEST(test_pod_with_node_name_is_judged_on_that_node),
        ASK_TEST(test_unreadable_workload_is_reported),
        ASK_TEST(test_daemon_set_answer_gives_the_reason),
        ASK_TEST(test_items_of_a_typed_list_are_read),
        ASK_TEST(test_several_workloads),
        ASK_TEST(test_daemon_set_gets_one_pod_per_node),
        ASK_TEST(test_notes_name_what_admission_would_reject),
        ASK_TEST(test_refusals),
        ASK_TEST(test_an_unreadable_object_is_skipped),
        ASK_TEST(test_a_faulty_document_is_skipped),
        ASK_TEST(test_many_unreadable_objects_are_rejected),
        ASK_TEST(test_object_over_the_limit_is_rejected),
        cmocka_unit_test(test_not_ready),
        ASK_TEST(test_no_nodes),
        ASK_TEST(test_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
