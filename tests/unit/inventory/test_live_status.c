/* live: usability, age of the data, and metrics. */
#include "live_cluster.h"

static void test_the_inventory_waits_for_every_first_list(void **state)
{
    struct live_cluster *live = *state;
    for (int kind = 0; kind < N_CLUSTER_KINDS; kind++) {
        char what[100];
        char why[200];
        (void)snprintf(what, sizeof what, "the first list of %s",
                       INVENTORY_KINDS[kind].listed.name);
        assert_string_equal(inventory_waiting_for(live->inventory), what);
        (void)snprintf(why, sizeof why, "not ready: waiting for %s", what);
        live_check_usable(live, why);
        live_begin(live, (enum cluster_kind)kind);
        live_flush(live, (enum cluster_kind)kind);
        live_check_usable(live, why);
        live_end(live, (enum cluster_kind)kind);
    }
    assert_null(inventory_waiting_for(live->inventory));
    live_check_usable(live, NULL);
}

static void test_the_wait_names_its_cause(void **state)
{
    struct live_cluster *live = *state;
    char refused[] = "GET /api/v1/nodes: 403: \xe4\nno";
    live->statuses[CLUSTER_NODES].why = refused;
    live_flush(live, CLUSTER_NODES);
    memset(refused, 'x', sizeof refused - 1); /* it was valid during the call only */
    live_check_usable(live, "not ready: waiting for the first list of nodes: "
                            "GET /api/v1/nodes: 403: ??no");
    assert_string_equal(inventory_waiting_for(live->inventory), "the first list of nodes");
}

static void test_stale_data_makes_the_ledger_unusable(void **state)
{
    struct live_cluster *live = *state;
    live_list_nothing(live);
    live->statuses[CLUSTER_PODS].stale = true;
    live_flush(live, CLUSTER_PODS);
    live_check_usable(live, "the pods are stale");
    live->statuses[CLUSTER_PODS].why = "no answer for 10 s";
    live_flush(live, CLUSTER_PODS);
    live_check_usable(live, "the pods are stale: no answer for 10 s");
    assert_null(inventory_waiting_for(live->inventory));
    live_upsert(live, CLUSTER_NODES, NODE("a", "8"));
    live_check_usable(live, "the pods are stale: no answer for 10 s");
    live->statuses[CLUSTER_PODS].stale = false;
    live->statuses[CLUSTER_PODS].why = NULL;
    live_flush(live, CLUSTER_PODS);
    live_check_usable(live, NULL);
}

/* Calls on a change of usability. */
struct turns {
    struct inventory *inventory;
    int n;
    bool is_usable;
};

static void on_turn(void *context)
{
    struct turns *turns = context;
    struct err why;
    turns->n++;
    turns->is_usable = inventory_usable(turns->inventory, &why);
}

static void test_changes_of_usability_are_reported(void **state)
{
    struct live_cluster *live = *state;
    struct turns turns = {.inventory = live->inventory};
    inventory_on_turn(live->inventory, on_turn, &turns);
    live_begin(live, CLUSTER_PODS);
    live_flush(live, CLUSTER_PODS);
    assert_int_equal(turns.n, 0);
    live_list_nothing(live);
    assert_int_equal(turns.n, 1);
    assert_true(turns.is_usable);
    live->statuses[CLUSTER_PODS].stale = true;
    live_flush(live, CLUSTER_PODS);
    assert_int_equal(turns.n, 2);
    assert_false(turns.is_usable);
}

static void test_freshness(void **state)
{
    struct live_cluster *live = *state;
    struct inventory_freshness kinds[N_CLUSTER_KINDS];
    assert_int_equal(inventory_freshness(live->inventory, kinds), N_CLUSTER_KINDS);
    assert_string_equal(kinds[CLUSTER_PODS].kind, "pods");
    assert_false(kinds[CLUSTER_PODS].synced);
    assert_int_equal(kinds[CLUSTER_PODS].age_ms, -1);
    live_list_nothing(live);
    const int64_t minute_ms = 60000;
    live->statuses[CLUSTER_PODS].fresh_ms = clock_ms() - 10 * minute_ms;
    live->statuses[CLUSTER_PODS].stale = true;
    live->statuses[CLUSTER_PODS].why = "no answer";
    live->statuses[CLUSTER_PODS].trouble = TROUBLE_UNREACHABLE;
    live_flush(live, CLUSTER_PODS);
    assert_int_equal(inventory_freshness(live->inventory, kinds), N_CLUSTER_KINDS);
    assert_true(kinds[CLUSTER_PODS].synced && kinds[CLUSTER_PODS].stale);
    assert_string_equal(kinds[CLUSTER_PODS].why.text, "no answer");
    assert_string_equal(kinds[CLUSTER_PODS].trouble, "unreachable");
    assert_string_equal(kinds[CLUSTER_NODES].trouble, "");
    assert_int_equal(kinds[CLUSTER_PODS].age_ms, 10 * minute_ms);
    assert_int_equal(kinds[CLUSTER_NODES].age_ms, 0);
    assert_false(kinds[CLUSTER_NODES].stale);
    const time_t before_s = time(NULL);
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(live->inventory);
    assert_in_range(view.as_of_s, before_s - 600, time(NULL) - 600); /* of the oldest kind */
}

/* Corrupts the sum of a node. */
static void spoil(struct live_cluster *live, const char *name, int64_t by)
{
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(live->inventory);
    size_t n = 0;
    const struct node_resource *resources =
        node_resources(cluster_find_node(view.cluster, name), &n);
    assert_true(n > 0);
    ((struct node_resource *)(uintptr_t)resources)->used += by;
}

static void check_metric(struct live_cluster *live, const char *line)
{
    struct buf text;
    buf_init(&text, 1 << 20);
    inventory_live_metrics(live->inventory, &text);
    if (!strstr(buf_text(&text), line))
        fail_msg("%s is not in\n%s", line, buf_text(&text));
    buf_fini(&text);
}

static void check_self_checks(struct live_cluster *live, int n)
{
    char line[100];
    (void)snprintf(line, sizeof line, "\ngpu_extender_self_checks_total %d\n", n);
    check_metric(live, line);
}

static void test_the_self_check_finds_a_difference_after_a_list(void **state)
{
    struct live_cluster *live = *state;
    live_list_nothing(live);
    live_upsert(live, CLUSTER_NODES, NODE("a", "8"));
    check_self_checks(live, N_CLUSTER_KINDS);
    check_metric(live, "\ngpu_extender_self_check_differences_total 0\n");
    spoil(live, "a", 1);
    LIST_NOTHING(live, CLUSTER_NAMESPACES);
    spoil(live, "a", -1);
    check_self_checks(live, N_CLUSTER_KINDS + 1);
    /* also the model's free GPUs, and the hot part */
    check_metric(live, "\ngpu_extender_self_check_differences_total 3\n");
}

static void test_the_slow_self_check(void **state)
{
    enum { N = 450 };
    struct live_cluster *live = *state;
    for (size_t i = 0; i < N; i++) {
        live_upsert(live, CLUSTER_NODES, live_numbered(NODE("n-#", "1"), i));
    }
    spoil(live, "n-449", 1);
    check_self_checks(live, 0);
    int64_t next_ms = inventory_self_check(live->inventory, 5000);
    assert_in_range(next_ms, 6000, INT64_MAX - 1);
    assert_int_equal(inventory_self_check(live->inventory, 5000), next_ms); /* woken early */
    check_self_checks(live, 1);
    /* the sum, the hot part and the model's free GPUs */
    check_metric(live, "\ngpu_extender_self_check_differences_total 3\n");
    spoil(live, "n-449", -1);
    (void)inventory_self_check(live->inventory, next_ms);
    check_self_checks(live, 2);
    check_metric(live, "\ngpu_extender_self_check_differences_total 3\n");
}

static void test_metrics(void **state)
{
    struct live_cluster *live = *state;
    struct reflector_status *pods = &live->statuses[CLUSTER_PODS];
    live_list_nothing(live);
    live_upsert(live, CLUSTER_PODS, UNREADABLE_POD("one", "u1"));
    pods->relists[RELIST_GONE] = 2;
    pods->watches = 3;
    pods->events[WATCH_BOOKMARK] = 4;
    pods->probes = 5;
    pods->stale = true;
    live_upsert(live, CLUSTER_PODS, UNREADABLE_POD("one", "u1"));
    check_metric(live, "\ngpu_extender_watch_relists_total{kind=\"pods\",cause=\"gone\"} 2\n");
    check_metric(live, "\ngpu_extender_watch_relists_total{kind=\"nodes\",cause=\"gone\"} 0\n");
    check_metric(live, "\ngpu_extender_watches_total{kind=\"pods\"} 3\n");
    check_metric(live, "\ngpu_extender_watch_events_total{kind=\"pods\",type=\"bookmark\"} 4\n");
    check_metric(live, "\ngpu_extender_watch_probes_total{kind=\"pods\"} 5\n");
    check_metric(live, "\ngpu_extender_objects_unreadable_total{kind=\"pods\"} 2\n");
    check_metric(live, "\ngpu_extender_data_stale{kind=\"pods\"} 1\n");
    check_metric(live, "\ngpu_extender_data_stale{kind=\"nodes\"} 0\n");
    check_metric(live, "\ngpu_extender_data_age_seconds{kind=\"pods\"} 0");
}

#define BOUND_POD(name, node)                                                                      \
    "{'metadata':{'name':'" name "','namespace':'ml','uid':'" name "'},'spec':{'nodeName':'" node  \
    "','containers':[]},'status':{'phase':'Pending'}}"

static void refuse_pod(struct live_cluster *live, const char *pod)
{
    live_upsert(live, CLUSTER_PODS, pod);
    live_remove(live, CLUSTER_PODS, pod);
    live_fail(live, pod);
}

static bool has_metric(struct live_cluster *live, const char *line)
{
    struct buf text;
    buf_init(&text, 1 << 20);
    inventory_live_metrics(live->inventory, &text);
    const bool found = strstr(buf_text(&text), line) != NULL;
    buf_fini(&text);
    return found;
}

/* Of existing nodes; a deleted one is forgotten, and returns as another. */
static void test_pods_rejected_by_a_kubelet_are_counted_by_node(void **state)
{
    struct live_cluster *live = *state;
    live_list_nothing(live);
    live_upsert(live, CLUSTER_NODES, NODE("a", "8"));
    live_upsert(live, CLUSTER_NODES, NODE("b", "8"));
    refuse_pod(live, BOUND_POD("one", "a"));
    refuse_pod(live, BOUND_POD("two", "a"));
    refuse_pod(live, BOUND_POD("three", "gone"));
    live_remove(live, CLUSTER_PODS, POD("ran", "ran", "b", "1"));
    live_remove(live, CLUSTER_NODES, BOUND_POD("no pod", "b"));
    check_metric(live, "\ngpu_extender_node_pods_refused_total{node=\"a\",cause=\"other\"} 2\n");
    assert_false(has_metric(live, "{node=\"b\""));
    assert_false(has_metric(live, "{node=\"gone\""));
    live_remove(live, CLUSTER_NODES, NODE("a", "8"));
    assert_false(has_metric(live, "{node=\"a\""));
    refuse_pod(live, BOUND_POD("four", "b"));
    live_upsert(live, CLUSTER_NODES, NODE("a", "8"));
    check_metric(live, "\ngpu_extender_node_pods_refused_total{node=\"b\",cause=\"other\"} 1\n");
    assert_false(has_metric(live, "{node=\"a\""));
}

static void test_a_file_has_no_live_metrics(void **state)
{
    static const struct inventory_limits LIMITS = {0};
    struct live_cluster *live = *state;
    struct inventory_freshness kinds[N_CLUSTER_KINDS];
    struct inventory *inventory = inventory_new(&live->policy, &LIMITS);
    struct buf text;
    buf_init(&text, 1 << 20);
    inventory_live_metrics(inventory, &text);
    assert_string_equal(buf_text(&text), "");
    assert_int_equal(inventory_freshness(inventory, kinds), 0);
    assert_true(inventory_self_check(inventory, 1) == CLOCK_NEVER);
    buf_fini(&text);
    inventory_free(inventory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIVE_TEST(test_the_inventory_waits_for_every_first_list),
        LIVE_TEST(test_the_wait_names_its_cause),
        LIVE_TEST(test_stale_data_makes_the_ledger_unusable),
        LIVE_TEST(test_changes_of_usability_are_reported),
        LIVE_TEST(test_freshness),
        LIVE_TEST(test_the_self_check_finds_a_difference_after_a_list),
        LIVE_TEST(test_the_slow_self_check),
        LIVE_TEST(test_metrics),
        LIVE_TEST(test_pods_rejected_by_a_kubelet_are_counted_by_node),
        LIVE_TEST(test_a_file_has_no_live_metrics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
