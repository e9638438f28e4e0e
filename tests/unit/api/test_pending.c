/* api: pending pods and the explanation of one pod, over a small cluster without HTTP. */
#include "ask.h"

#define NODE(name, gpus)                                                                           \
    "- {kind: Node, metadata: {name: " name                                                        \
    "}, status: {allocatable: {cpu: 8, memory: 8Gi, pods: "                                        \
    "9, nvidia.com/gpu: " gpus "}}}\n"
#define POD(name, meta, spec, gpus, status)                                                        \
    "- {kind: Pod, metadata: {name: " name ", namespace: ml, uid: u-" name meta "}, spec: {" spec  \
    "containers: [{name: c, resources: {limits: {cpu: 1, nvidia.com/gpu: " gpus                    \
    "}}}]}, status: {" status "}}\n"
#define SAYS(reason, message)                                                                      \
    "conditions: [{type: PodScheduled, status: 'False', reason: " reason ", message: " message "}" \
    "]"
/* clang-format off */
static const char CLUSTER[] =
    "apiVersion: v1\nkind: List\nitems:\n"
    NODE("a", "8") NODE("b", "4") "- {kind: Node, metadata: {name: bare}}\n"
    POD("runs", "", "nodeName: a, ", "5", "phase: Running")
    POD("leaves", ", deletionTimestamp: '2026-11-20T10:00:00Z'", "nodeName: gone, ", "1", "")
    POD("done", "", "", "1", "phase: Failed")
    POD("wide", ", creationTimestamp: '2026-11-20T10:00:00Z'",
        "priority: 7, priorityClassName: high, ", "6", SAYS("Unschedulable", "'0/3 nodes'"))
    POD("small", ", creationTimestamp: '2026-11-20T09:00:00Z'", "", "1", "")
    POD("alike", ", creationTimestamp: '2026-11-20T09:00:00Z'", "", "1", "")
    "- {kind: Pod, metadata: {name: plain, namespace: ml}, spec: {containers: []}}\n";
/* clang-format on */

static void load(struct ask *ask, const char *cluster)
{
    struct err err;
    if (small_cluster_load(&ask->cluster, cluster, &err) < 0)
        fail_msg("%s", err.text);
}

static json_t *pending(struct ask *ask, const char *cluster)
{
    load(ask, cluster);
    return ask_json(ask, api_pending, "");
}

static json_t *pod_of(const json_t *answer, size_t i)
{
    return json_array_get(json_object_get(answer, "pods"), i);
}

/* Checks and removes the age, which grows during the test. */
static void take_age(json_t *pod)
{
    assert_true(json_integer_value(json_object_get(pod, "ageSeconds")) > 0);
    (void)json_object_del(pod, "ageSeconds");
}

static void test_a_pending_pod(void **state)
{
    json_t *answer = pending(*state, CLUSTER);
    json_t *pod = pod_of(answer, 0);
    take_age(pod);
    assert_int_equal(json_array_size(json_object_get(pod, "remedies")), 3);
    (void)json_object_del(pod, "remedies");
    assert_json(
        pod,
        "{'namespace':'ml','name':'wide','uid':'u-wide','state':'pending','node':null,"
        "'summary':'ml/wide: 0 of 3 nodes fit (1 × the node has no GPUs of the requested resource; "
        "1 × the node has too few GPUs in total; 1 × the node has too few free GPUs now)',"
        "'schedulerSays':{'reason':'Unschedulable','message':'0/3 nodes'},"
        "'requests':{'nvidia.com/"
        "gpu':6,'cpu':1000},'gpuModels':null,'priority':7,'priorityClass':'high',"
        "'created':'2026-11-20T10:00:00Z','controller':null,'group':null,'gang':null,'borrows':"
        "null,'gated':"
        "false,'"
        "terminating':false,'"
        "refusal':null,"
        "'nominatedNode':null,'reservation':null,'notEvaluated':[],'judged':true,'fits':0,'fitsOn':"
        "[],'reasons':["
        "{'reason':'gpu_absent','message':'the node has no GPUs of the requested resource',"
        "'help':'request a GPU resource that the node has, or check its device plugin','nodes':1},"
        "{'reason':'gpu_total','message':'the node has too few GPUs in total',"
        "'help':'request fewer GPUs per pod, and use more pods','nodes':1},"
        "{'reason':'gpu_free','message':'the node has too few free GPUs now',"
        "'help':'wait until pods there end, or evict some','nodes':1}],"
        "'closest':{'node':'a','reason':'gpu_free','message':'the node has too few free GPUs now: "
        "nvidia.com/gpu','lacks':{'nvidia.com/"
        "gpu':3}},'claims':[],'remediesTried':'all','placedOn':null,"
        "'verdict':{'result':'doesNotFit','cause':'freeGpus','text':'No node has 6 GPUs free; a "
        "lacks 3.','node':'a','lacks':{'nvidia.com/gpu':3},'missing':{'pods':1,'gpus':6}}}");
    json_decref(answer);
}

/* Sorted by priority, age and name; only pods that wait for GPUs. */
static void test_pending_pods_are_sorted_by_priority_and_age(void **state)
{
    json_t *answer = pending(*state, CLUSTER);
    const json_t *pods = json_object_get(answer, "pods");
    assert_int_equal(json_array_size(pods), 3);
    assert_json(ask_member(pods, 0, "name"), "'wide'");
    assert_json(ask_member(pods, 1, "name"), "'alike'");
    assert_json(ask_member(pods, 2, "name"), "'small'");
    assert_json(ask_member(pods, 2, "summary"),
                "'ml/small: would fit on 2 of 3 nodes now, best on a'");
    assert_json(ask_member(pods, 2, "fitsOn"), "['a','b']");
    assert_json(ask_member(pods, 2, "fits"), "2");
    assert_json(ask_member(pods, 2, "closest"), "null");
    assert_json(ask_member(pods, 2, "schedulerSays"), "null");
    assert_json(json_object_get(answer, "nodeCount"), "3");
    assert_json(json_object_get(answer, "podCount"), "3");
    assert_json(json_object_get(answer, "omitted"), "0");
    assert_json(json_object_get(answer, "notJudged"), "0");
    assert_json(json_object_get(answer, "usable"), "true");
    assert_json(json_object_get(answer, "live"), "false");
    json_decref(answer);
}

/* The closest node lacks only room. A node whose total is too small is closest only if there is no
 * other. */
static void test_the_closest_node(void **state)
{
    static const struct {
        const char *gpus, *closest;
    } CASES[] = {
        {"'6'", "'a'"}, /* lacks 3 of 8, while b lacks 2 of 4 */
        {"'9'", "'b'"}, /* both totals are too small; b has 4 free, a 3 */
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct arena *arena = arena_new();
        json_t *answer = pending(
            *state,
            arena_printf(arena,
                         "kind: List\napiVersion: v1\nitems:\n" NODE("a", "8") NODE("b", "4")
                             POD("runs", "", "nodeName: a, ", "5", "") POD("p", "", "", "%s", ""),
                         CASES[i].gpus));
        assert_json(json_object_get(json_object_get(pod_of(answer, 0), "closest"), "node"),
                    CASES[i].closest);
        json_decref(answer);
        arena_free(arena);
    }
}

#define TOO_SMALL "'ml/c: 0 of 1 nodes fit (1 × the node has too few GPUs in total)"

static void test_gates_deletion_and_nominations_are_reported(void **state)
{
    static const char *const SUMMARIES[] = {
        "'ml/a: waits until its scheduling gates are removed; would fit on 1 of 1 nodes now as far "
        "as evaluated, best on g'",
        TOO_SMALL "; room is being made for it on h'",
    };
    json_t *answer = pending(
        *state, "kind: List\napiVersion: v1\nitems:\n" NODE("g", "1")
                    POD("a", "", "schedulingGates: [{name: g}], ", "1",
                        "") POD("b", ", deletionTimestamp: '2026-11-20T10:00:00Z'", "", "1", "")
                        POD("c", "", "", "2", "nominatedNodeName: h")
                            POD("d", ", annotations: {gpu-extender.io/models: '?'}", "", "1", ""));
    const json_t *pods = json_object_get(answer, "pods");
    for (size_t i = 0; i < sizeof SUMMARIES / sizeof *SUMMARIES; i++)
        assert_json(ask_member(pods, i, "summary"), SUMMARIES[i]);
    assert_non_null(strstr(json_string_value(ask_member(pods, 2, "summary")),
                           "ml/d: cannot run on any node: annotation gpu-extender.io/models: "));
    assert_json(ask_member(pods, 0, "gated"), "true");
    assert_json(ask_member(pods, 1, "nominatedNode"), "'h'");
    assert_json(ask_member(json_object_get(json_array_get(pods, 2), "reasons"), 0, "reason"),
                "'pod_invalid'");
    assert_json(ask_member(pods, 2, "created"), "null");
    json_decref(answer);
}

static void test_no_nodes_and_no_pods(void **state)
{
    json_t *answer =
        pending(*state, "kind: List\napiVersion: v1\nitems:\n" POD("a", "", "", "1", ""));
    assert_json(json_object_get(pod_of(answer, 0), "summary"), "'ml/a: there are no nodes'");
    json_decref(answer);
    answer = pending(*state, "kind: Namespace\napiVersion: v1\nmetadata: {name: x}\n");
    assert_json(json_object_get(answer, "pods"), "[]");
    json_decref(answer);
}

static json_t *explain(struct ask *ask, const char *path)
{
    ask->path = path;
    return ask_json(ask, api_explain, "");
}

static void test_a_pending_pod_explained(void **state)
{
    load(*state, CLUSTER);
    json_t *answer = explain(*state, "/v1/pods/ml/wide/explain");
    const json_t *nodes = json_object_get(answer, "nodes");
    assert_json(json_object_get(json_object_get(answer, "pod"), "name"), "'wide'");
    assert_int_equal(json_array_size(nodes), 3);
    assert_json(json_array_get(nodes, 0),
                "{'node':'a','model':'','fits':false,'score':null,'reason':'gpu_free','message':'"
                "the node has "
                "too few free GPUs now: nvidia.com/gpu',"
                "'help':'wait until pods there end, or evict some','lacks':{'nvidia.com/gpu':3}}");
    json_decref(answer);
    answer = explain(*state, "/v1/pods/ml/plain/explain");
    assert_json(json_object_get(json_object_get(answer, "pod"), "state"), "'pending'");
    assert_json(json_object_get(json_object_get(answer, "pod"), "fits"), "2");
    json_decref(answer);
}

static void check_explained(struct ask *ask, const char *path, const char *state,
                            const char *summary)
{
    json_t *answer = explain(ask, path);
    const json_t *pod = json_object_get(answer, "pod");
    assert_json(json_object_get(pod, "state"), state);
    assert_json(json_object_get(pod, "summary"), summary);
    assert_json(json_object_get(pod, "judged"), "false");
    assert_json(json_object_get(answer, "nodes"), "[]");
    json_decref(answer);
}

static void test_bound_and_finished_pods_are_not_pending(void **state)
{
    load(*state, CLUSTER);
    check_explained(*state, "/v1/pods/ml/runs/explain", "'bound'",
                    "'ml/runs: is on the node a and uses 5 nvidia.com/gpu there'");
    check_explained(*state, "/v1/pods/ml/leaves/explain", "'bound'",
                    "'ml/leaves: is on the node gone and uses 1 nvidia.com/gpu there until it is "
                    "gone: it is being deleted; that node is not in the inventory'");
    check_explained(*state, "/v1/pods/ml/done/explain", "'finished'",
                    "'ml/done: has ended and uses nothing'");
}

static void check_not_found(struct ask *ask, const char *path, const char *expected)
{
    ask->path = path;
    char *text = ask_text(ask, api_explain, "", NULL, 404, "application/json");
    if (!strstr(text, expected))
        fail_msg("%s: %s", path, text);
    free(text);
}

static void test_malformed_paths_are_not_found(void **state)
{
    static const char *const PATHS[] = {
        "/v1/pods/",
        "/v1/pods/ml",
        "/v1/pods/ml/wide",
        "/v1/pods/ml/wide/",
        "/v1/pods/ml/wide/explain/",
        "/v1/pods/ml/wide/explains",
        "/v1/pods/ml/wide/explain/more",
        "/v1/pods//wide/explain",
        "/v1/pods/ml//explain",
        "/v1/pods///explain",
        "/v1/pods/ml/a/b/explain",
        "/v1/pods/explain",
        "/v1/podsml/wide/explain",
    };
    load(*state, CLUSTER);
    for (size_t i = 0; i < sizeof PATHS / sizeof *PATHS; i++)
        check_not_found(*state, PATHS[i], "should be /v1/pods/NAMESPACE/NAME/explain");
}

static void test_absent_pods_are_not_found(void **state)
{
    char path[9000];
    load(*state, CLUSTER);
    check_not_found(*state, "/v1/pods/ml/narrow/explain",
                    "pod ml/narrow: is not in the inventory, should be NAMESPACE/NAME of a pod");
    check_not_found(*state, "/v1/pods/other/wide/explain", "pod other/wide: ");
    check_not_found(*state, "/v1/pods/m\xff/%00\n/explain", "pod m\\ufffd/%00\\n: ");
    (void)snprintf(path, sizeof path, "/v1/pods/%04000d/%04000d/explain", 0, 0);
    check_not_found(*state, path, "0: is not in the inventory");
}

static void test_requests_before_the_first_inventory_get_503(void **state)
{
    static const char EXPECTED[] = "{\"error\": \"not ready: waiting for the cluster file\"}\n";
    struct ask waiting = {.path = "/v1/pods/ml/wide/explain"};
    (void)state;
    ask_init(&waiting, NULL);
    char *text = ask_text(&waiting, api_pending, "", NULL, 503, "application/json");
    assert_string_equal(text, EXPECTED);
    free(text);
    text = ask_text(&waiting, api_explain, "", "table", 503, "application/json");
    assert_string_equal(text, EXPECTED);
    free(text);
    ask_fini(&waiting);
}

static char *table_of(struct ask *ask, handle_exchange *handle)
{
    return ask_text(ask, handle, "", "wide", 200, "text/plain; charset=utf-8");
}

/* Whether the text has the parts in this order. */
static void check_parts(char *text, const char *const *parts)
{
    const char *at = text;
    for (; *parts; parts++) {
        const char *found = strstr(at, *parts);
        if (!found)
            fail_msg("%s is not in\n%s", *parts, at);
        else
            at = found + strlen(*parts);
    }
    free(text);
}

/* The verdict, what would help, what the pod asks for; then where it does not fit. */
static void test_the_tables(void **state)
{
    struct ask *ask = *state;
    load(ask, CLUSTER);
    check_parts(table_of(ask, api_pending),
                (const char *[]){
                    "3 pods of 3 workloads wait for 8 GPUs\n\nDOES NOT FIT  Pod ml/wide",
                    "\n              No node has 6 GPUs free; a lacks 3.\n", "\nWhat would help",
                    "  asks for        6 nvidia.com/gpu, 1 CPU\n", "  priority        7 (high)\n",
                    "  kube-scheduler says: 0/3 nodes", "\n\nFITS  Pod ml/alike",
                    "\n\nFITS  Pod ml/small", "  fits on         a, b\n", NULL});
    ask->path = "/v1/pods/ml/wide/explain";
    check_parts(table_of(ask, api_explain),
                (const char *[]){"DOES NOT FIT  Pod ml/wide", "a lacks 3.\n",
                                 "2 GPUs lacking     b\n", "3 GPUs lacking     a\n", "bare\n",
                                 NULL});
}

/* Foreign text can neither start a line nor control a terminal. */
static void test_hostile_text_stays_on_its_line(void **state)
{
    struct ask *ask = *state;
    load(ask, "kind: List\napiVersion: v1\nitems:\n" POD(
                  "p", "", "", "1",
                  SAYS("R", "\"x\\n\\nml/fake: fits\\e[31m\\x7f\\u009b31m \\u00e9\"")));
    check_parts(table_of(ask, api_pending),
                (const char *[]){"1 pod of 1 workload waits for 1 GPU\n\nDOES NOT FIT  Pod ml/p\n",
                                 "  asks for        1 nvidia.com/gpu, 1 CPU\n",
                                 "  kube-scheduler says: x  ml/fake: fits [31m  31m é\n", NULL});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ASK_TEST(test_a_pending_pod),
        ASK_TEST(test_pending_pods_are_sorted_by_priority_and_age),
        ASK_TEST(test_the_closest_node),
        ASK_TEST(test_gates_deletion_and_nominations_are_reported),
        ASK_TEST(test_no_nodes_and_no_pods),
        ASK_TEST(test_a_pending_pod_explained),
        ASK_TEST(test_bound_and_finished_pods_are_not_pending),
        ASK_TEST(test_malformed_paths_are_not_found),
        ASK_TEST(test_absent_pods_are_not_found),
        cmocka_unit_test(test_requests_before_the_first_inventory_get_503),
        ASK_TEST(test_the_tables),
        ASK_TEST(test_hostile_text_stays_on_its_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
