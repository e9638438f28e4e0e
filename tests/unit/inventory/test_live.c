/* live: the ledger shows the objects of the API server. */
#include "live_shown.h"

static void test_the_view_is_live(void **state)
{
    struct live_cluster *live = *state;
    struct inventory_view view CLEANUP(inventory_done) = inventory_read(live->inventory);
    assert_true(view.live);
    assert_string_equal(view.source, LIVE_SERVER);
    assert_int_equal(view.as_of_s, 0);
    inventory_done(&view);
    live_list_nothing(live);
    view = inventory_read(live->inventory);
    assert_in_range(view.as_of_s, time(NULL) - 60, time(NULL));
}

static void test_listed_objects_are_shown(void **state)
{
    struct live_cluster *live = *state;
    live_list_nothing(live);
    LIST(live, CLUSTER_NODES, NODE("a", "8"), NODE("b", "4"));
    LIST(live, CLUSTER_PODS, POD("one", "u1", "a", "3"), POD("two", "u2", "", "1"));
    LIST(live, CLUSTER_NAMESPACES, NAMED("ml"));
    LIST(live, CLUSTER_PRIORITY_CLASSES, CLASS("high", "7"));
    LIST(live, CLUSTER_POD_GROUPS, "{'metadata':{'name':'g','namespace':'ml'},'spec':{}}");
    live_check_shown(live, "node a gpus=3/8\nnode b gpus=0/4\npod ml/one a\npod ml/two \n");
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(live->inventory);
    int64_t value = 0;
    assert_true(cluster_has_namespace(view.cluster, "ml"));
    assert_true(cluster_priority_of_class(view.cluster, "high", &value));
    assert_int_equal(value, 7);
    assert_int_equal(cluster_n_objects(view.cluster, CLUSTER_POD_GROUPS), 1);
}

static void test_events(void **state)
{
    struct live_cluster *live = *state;
    live_list_nothing(live);
    live_upsert(live, CLUSTER_NODES, NODE("a", "8"));
    live_upsert(live, CLUSTER_PODS, POD("one", "u1", "", "3"));
    live_check_shown(live, "node a gpus=0/8\npod ml/one \n");
    live_upsert(live, CLUSTER_PODS, POD("one", "u1", "a", "3"));
    live_check_shown(live, "node a gpus=3/8\npod ml/one a\n");
    live_upsert(live, CLUSTER_NODES, NODE("a", "2"));
    live_check_shown(live, "node a gpus=3/2\npod ml/one a\n");
    live_remove(live, CLUSTER_NODES, NODE("a", "2"));
    live_check_shown(live, "pod ml/one a\n");
    live_upsert(live, CLUSTER_NODES, NODE("a", "8"));
    live_check_shown(live, "node a gpus=3/8\npod ml/one a\n");
    live_remove(live, CLUSTER_PODS, POD("one", "u1", "a", "3"));
    live_check_shown(live, "node a gpus=0/8\n");
}

static void test_namespaces_and_classes_are_removed(void **state)
{
    struct live_cluster *live = *state;
    live_upsert(live, CLUSTER_NAMESPACES, NAMED("ml"));
    live_upsert(live, CLUSTER_PRIORITY_CLASSES, CLASS("high", "7"));
    live_remove(live, CLUSTER_NAMESPACES, NAMED("ml"));
    live_remove(live, CLUSTER_PRIORITY_CLASSES, CLASS("high", "7"));
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(live->inventory);
    assert_int_equal(cluster_n_namespaces(view.cluster), 0);
    assert_int_equal(cluster_n_objects(view.cluster, CLUSTER_PRIORITY_CLASSES), 0);
}

/* Node a with 8 GPUs, and pod ml/one on it, which uses 3. */
static void begin_with_one_pod(struct live_cluster *live)
{
    live_list_nothing(live);
    live_upsert(live, CLUSTER_NODES, NODE("a", "8"));
    live_upsert(live, CLUSTER_PODS, POD("one", "u1", "a", "3"));
}

/* A finished pod is no longer selected. It arrives as DELETED in its former state. */
static void test_deleted_with_previous_content(void **state)
{
    struct live_cluster *live = *state;
    begin_with_one_pod(live);
    live_remove(live, CLUSTER_PODS, POD("one", "u1", "", "3"));
    live_check_shown(live, "node a gpus=0/8\n");
}

static void test_deleting_an_unknown_object_changes_nothing(void **state)
{
    struct live_cluster *live = *state;
    begin_with_one_pod(live);
    live_remove(live, CLUSTER_PODS, POD("one", "u0", "a", "3"));
    live_remove(live, CLUSTER_PODS, POD("two", "u2", "a", "3"));
    live_remove(live, CLUSTER_NODES, NODE("b", "8"));
    live_check_shown(live, "node a gpus=3/8\npod ml/one a\n");
}

/* The deletion in between was missed. */
static void test_a_recreated_pod_replaces_the_old(void **state)
{
    struct live_cluster *live = *state;
    begin_with_one_pod(live);
    live_upsert(live, CLUSTER_PODS, POD("one", "u2", "a", "1"));
    live_check_shown(live, "node a gpus=1/8\npod ml/one a\n");
    live_remove(live, CLUSTER_PODS, POD("one", "u1", "a", "3"));
    live_check_shown(live, "node a gpus=1/8\npod ml/one a\n");
}

static void test_a_relist_removes_absent_objects(void **state)
{
    struct live_cluster *live = *state;
    live_list_nothing(live);
    LIST(live, CLUSTER_NODES, NODE("a", "8"), NODE("b", "4"));
    LIST(live, CLUSTER_PODS, POD("one", "u1", "a", "3"), POD("two", "u2", "a", "1"));
    LIST(live, CLUSTER_NAMESPACES, NAMED("ml"), NAMED("web"));
    LIST(live, CLUSTER_PRIORITY_CLASSES, CLASS("high", "7"), CLASS("low", "1"));
    LIST(live, CLUSTER_NODES, NODE("a", "8"));
    LIST(live, CLUSTER_PODS, POD("two", "u2", "a", "1"));
    LIST(live, CLUSTER_NAMESPACES, NAMED("web"));
    LIST(live, CLUSTER_PRIORITY_CLASSES, CLASS("low", "1"));
    live_check_shown(live, "node a gpus=1/8\npod ml/two a\n");
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(live->inventory);
    int64_t value = 0;
    assert_false(cluster_has_namespace(view.cluster, "ml"));
    assert_true(cluster_has_namespace(view.cluster, "web"));
    assert_false(cluster_priority_of_class(view.cluster, "high", &value));
    assert_true(cluster_priority_of_class(view.cluster, "low", &value));
}

static void test_a_broken_list_removes_nothing(void **state)
{
    struct live_cluster *live = *state;
    live_list_nothing(live);
    LIST(live, CLUSTER_NODES, NODE("a", "8"), NODE("b", "4"));
    live_begin(live, CLUSTER_NODES);
    live_upsert(live, CLUSTER_NODES, NODE("b", "4"));
    live_check_shown(live, "node a gpus=0/8\nnode b gpus=0/4\n");
    LIST(live, CLUSTER_NODES, NODE("a", "8"));
    live_check_shown(live, "node a gpus=0/8\n");
}

/* More than a batch; all are there after the flush. */
static void test_long_lists(void **state)
{
    struct live_cluster *live = *state;
    enum { N = 150 };
    live_list_nothing(live);
    for (size_t n_kept = N; n_kept > 0; n_kept -= N / 3) {
        live_begin(live, CLUSTER_PODS);
        for (size_t i = 0; i < n_kept; i++) {
            live_put(live, CLUSTER_PODS, live_numbered(POD("p-#", "u-#", "a", "1"), i));
        }
        live_end(live, CLUSTER_PODS);
        const struct inventory_view view CLEANUP(inventory_done) = inventory_read(live->inventory);
        assert_int_equal(cluster_n_pods(view.cluster), n_kept);
    }
}

static void test_reservations(void **state)
{
    struct live_cluster *live = *state;
    struct arena *arena = arena_new();
    live_list_nothing(live);
    live_upsert(live, CLUSTER_NODES, NODE("a", "8"));
    live_upsert(live, CLUSTER_NODES, NODE("b", "8"));
    live_upsert(live, CLUSTER_PODS, POD("one", "u1", "", "3"));
    struct reserve_question question = {.uid = "u1", .node_name = "a", .now_ms = 1};
    struct reserve_result first = {0};
    struct reserve_result other = {0};
    assert_int_equal(inventory_reserve(live->inventory, &question, arena, &first), RESERVE_HELD);
    question.node_name = "b";
    assert_int_equal(inventory_reserve(live->inventory, &question, arena, &other),
                     RESERVE_HELD_ELSEWHERE);
    live_remove(live, CLUSTER_NODES, NODE("a", "8"));
    inventory_release(live->inventory, "u1", first.serial);
    assert_string_equal(other.node_name, "a"); /* although nothing refers to it any more */
    assert_int_equal(inventory_reserve(live->inventory, &question, arena, &other), RESERVE_HELD);
    const struct inventory_view view = inventory_read(live->inventory);
    assert_int_equal(cluster_n_reservations(view.cluster), 1);
    inventory_done(&view);
    live_upsert(live, CLUSTER_PODS, POD("one", "u1", "b", "3"));
    live_check_shown(live, "node b gpus=3/8\npod ml/one b\n");
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIVE_TEST(test_the_view_is_live),
        LIVE_TEST(test_listed_objects_are_shown),
        LIVE_TEST(test_events),
        LIVE_TEST(test_namespaces_and_classes_are_removed),
        LIVE_TEST(test_deleted_with_previous_content),
        LIVE_TEST(test_deleting_an_unknown_object_changes_nothing),
        LIVE_TEST(test_a_recreated_pod_replaces_the_old),
        LIVE_TEST(test_a_relist_removes_absent_objects),
        LIVE_TEST(test_a_broken_list_removes_nothing),
        LIVE_TEST(test_long_lists),
        LIVE_TEST(test_reservations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
