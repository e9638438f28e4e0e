/* live: unreadable objects, and more objects than allowed. */
#include "live_shown.h"

#define PROBLEM_ONE "problem Pod ml/one: spec.containers: is the number 7, should be an array\n"

static void test_an_unreadable_object_is_a_problem_and_keeps_its_old_facts(void **state)
{
    struct live_cluster *live = *state;
    live_list_nothing(live);
    live_upsert(live, CLUSTER_NODES, NODE("a", "8"));
    live_upsert(live, CLUSTER_PODS, POD("one", "u1", "a", "3"));
    live_upsert(live, CLUSTER_PODS, UNREADABLE_POD("one", "u1"));
    live_upsert(live, CLUSTER_PODS, UNREADABLE_POD("one", "u1"));
    live_check_shown(live, "node a gpus=3/8\npod ml/one a\n" PROBLEM_ONE);
    live_upsert(live, CLUSTER_PODS, POD("one", "u1", "a", "2"));
    live_check_shown(live, "node a gpus=2/8\npod ml/one a\n");
}

static void test_a_too_large_object_is_a_problem_and_keeps_its_old_facts(void **state)
{
    struct live_cluster *live = *state;
    live_list_nothing(live);
    live_upsert(live, CLUSTER_NODES, NODE("a", "8"));
    live_upsert(live, CLUSTER_PODS, POD("one", "u1", "a", "3"));
    live_too_large(live, CLUSTER_PODS, "{'metadata':{'name':'one','namespace':'ml','uid':'u1'}}");
    live_check_shown(live, "node a gpus=3/8\npod ml/one a\n"
                           "problem Pod ml/one: is larger than 4096 bytes (limits.objectBytes)\n");
    live_check_usable(live, NULL);
    live_too_large(live, CLUSTER_PODS, "{}");
    live_upsert(live, CLUSTER_PODS, POD("one", "u1", "a", "2"));
    live_check_shown(live,
                     "node a gpus=2/8\npod ml/one a\n"
                     "problem Pod (unnamed): is larger than 4096 bytes (limits.objectBytes)\n");
}

static void test_a_problem_survives_a_relist(void **state)
{
    struct live_cluster *live = *state;
    live_list_nothing(live);
    live_upsert(live, CLUSTER_NODES, NODE("a", "8"));
    live_upsert(live, CLUSTER_PODS, POD("one", "u1", "a", "3"));
    LIST(live, CLUSTER_PODS, UNREADABLE_POD("one", "u1"));
    live_check_shown(live, "node a gpus=3/8\npod ml/one a\n" PROBLEM_ONE);
    LIST(live, CLUSTER_NODES, UNREADABLE_NODE("a"));
    live_check_shown(live, "node a gpus=3/8\npod ml/one a\n" PROBLEM_ONE
                           "problem Node a: status: is the number 7, should be an object\n");
    live_check_usable(live, NULL);
}

static void test_a_problem_ends_with_its_object(void **state)
{
    struct live_cluster *live = *state;
    live_list_nothing(live);
    LIST(live, CLUSTER_PODS, UNREADABLE_POD("one", "u1"), UNREADABLE_POD("two", "u2"));
    live_remove(live, CLUSTER_PODS, UNREADABLE_POD("two", "u2"));
    live_check_shown(live, PROBLEM_ONE);
    LIST_NOTHING(live, CLUSTER_NODES);
    live_check_shown(live, PROBLEM_ONE);
    LIST_NOTHING(live, CLUSTER_PODS);
    live_check_shown(live, "");
}

static void test_a_changed_problem_replaces_the_old(void **state)
{
    struct live_cluster *live = *state;
    live_list_nothing(live);
    live_upsert(live, CLUSTER_NODES, UNREADABLE_NODE("a"));
    live_upsert(live, CLUSTER_NODES, "{'metadata':{'name':'a'},'spec':7}");
    live_check_shown(live, "problem Node a: spec: is the number 7, should be an object\n");
}

static void test_nameless_objects_are_a_problem(void **state)
{
    static const char *const OBJECTS[] = {"7", "{}", "{'metadata':7}", "{'metadata':{'name':7}}",
                                          "{'metadata':{'uid':'u1'}}"};
    struct live_cluster *live = *state;
    live_list_nothing(live);
    for (int kind = 0; kind < N_CLUSTER_KINDS; kind++) {
        for (size_t i = 0; i < sizeof OBJECTS / sizeof *OBJECTS; i++) {
            live_upsert(live, (enum cluster_kind)kind, OBJECTS[i]);
            live_remove(live, (enum cluster_kind)kind, OBJECTS[i]);
        }
    }
    struct buf expected;
    buf_init(&expected, 4096);
    for (int kind = 0; kind < N_CLUSTER_KINDS; kind++)
        buf_printf(&expected, "problem %s (unnamed): has no metadata.name\n",
                   INVENTORY_KINDS[kind].kind);
    live_check_shown(live, buf_text(&expected));
    buf_fini(&expected);
    live_list_nothing(live);
    live_check_shown(live, "");
}

static void put_many(struct live_cluster *live, enum cluster_kind kind, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        live_put(live, kind, live_numbered(text, i));
    }
}

static void check_counts(struct live_cluster *live, size_t n_listed, size_t n_all)
{
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(live->inventory);
    assert_int_equal(view.n_problems, n_listed);
    assert_int_equal(view.n_all_problems, n_all);
}

static void test_the_list_of_problems_is_bounded(void **state)
{
    struct live_cluster *live = *state;
    live_list_nothing(live);
    live_begin(live, CLUSTER_PODS);
    put_many(live, CLUSTER_PODS, UNREADABLE_POD("p-#", "u-#"), 1200);
    live_end(live, CLUSTER_PODS);
    check_counts(live, 1000, 1200);
    live_remove(live, CLUSTER_PODS, UNREADABLE_POD("p-3", "u-3"));
    live_remove(live, CLUSTER_PODS, UNREADABLE_POD("p-1100", "u-1100"));
    check_counts(live, 999, 1198);
    live_upsert(live, CLUSTER_PODS, UNREADABLE_POD("p-1101", "u-1101"));
    check_counts(live, 1000, 1198);
    LIST(live, CLUSTER_PODS, UNREADABLE_POD("p-1101", "u-1101"));
    check_counts(live, 1, 1);
}

#define TOO_MANY_NODES "there are more than 4 nodes (limits.nodes)"
#define NODE_LIST(live, n)                                                                         \
    do {                                                                                           \
        live_begin((live), CLUSTER_NODES);                                                         \
        put_many((live), CLUSTER_NODES, NODE("n-#", "1"), (n));                                    \
        live_end((live), CLUSTER_NODES);                                                           \
    } while (0)

static void test_too_many_nodes_make_the_ledger_unusable(void **state)
{
    struct live_cluster *live = *state;
    live_list_nothing(live);
    NODE_LIST(live, 4);
    live_check_usable(live, NULL);
    live_upsert(live, CLUSTER_NODES, NODE("one-more", "1"));
    live_check_usable(live, TOO_MANY_NODES);
    live_remove(live, CLUSTER_NODES, NODE("n-0", "1"));
    live_check_usable(live, NULL);
    live_check_shown(live, "node n-1 gpus=0/1\nnode n-2 gpus=0/1\nnode n-3 gpus=0/1\n"
                           "node one-more gpus=0/1\n");
    NODE_LIST(live, 5);
    live_check_usable(live, TOO_MANY_NODES);
    NODE_LIST(live, 3);
    live_check_usable(live, NULL);
    live_begin(live, CLUSTER_PODS);
    put_many(live, CLUSTER_PODS, POD("p-#", "u-#", "", "1"), LIVE_MAX_PODS + 1);
    live_end(live, CLUSTER_PODS);
    live_check_usable(live, "there are more than 200 pods (limits.pods)");
}

/* During a list the objects it replaces still count. */
static void test_a_list_that_replaces_all_objects_stays_usable(void **state)
{
    struct live_cluster *live = *state;
    live_list_nothing(live);
    NODE_LIST(live, 4);
    live_begin(live, CLUSTER_NODES);
    for (size_t i = 0; i < 4; i++) {
        live_upsert(live, CLUSTER_NODES, live_numbered(NODE("other-#", "1"), i));
        live_check_usable(live, NULL);
    }
    live_end(live, CLUSTER_NODES);
    live_check_usable(live, NULL);
}

/* Then the ledger accepts no more, and is incomplete until the next list. */
static void test_far_too_many_nodes_require_a_relist(void **state)
{
    enum { TAKEN = LIVE_MAX_NODES * 2 + 1000 };
    struct live_cluster *live = *state;
    live_list_nothing(live);
    NODE_LIST(live, TAKEN + 5);
    live_check_usable(live, TOO_MANY_NODES);
    const struct inventory_view view = inventory_read(live->inventory);
    assert_int_equal(cluster_n_nodes(view.cluster), TAKEN);
    inventory_done(&view);
    for (size_t i = 0; i < TAKEN; i++) {
        live_remove(live, CLUSTER_NODES, live_numbered(NODE("n-#", "1"), i));
    }
    live_check_shown(live, "");
    live_check_usable(live, TOO_MANY_NODES);
    live_upsert(live, CLUSTER_NODES, NODE("n-1", "2"));
    live_check_usable(live, TOO_MANY_NODES);
    NODE_LIST(live, 4);
    live_check_usable(live, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIVE_TEST(test_an_unreadable_object_is_a_problem_and_keeps_its_old_facts),
        LIVE_TEST(test_a_too_large_object_is_a_problem_and_keeps_its_old_facts),
        LIVE_TEST(test_a_problem_survives_a_relist),
        LIVE_TEST(test_a_problem_ends_with_its_object),
        LIVE_TEST(test_a_changed_problem_replaces_the_old),
        LIVE_TEST(test_nameless_objects_are_a_problem),
        LIVE_TEST(test_the_list_of_problems_is_bounded),
        LIVE_TEST(test_too_many_nodes_make_the_ledger_unusable),
        LIVE_TEST(test_a_list_that_replaces_all_objects_stays_usable),
        LIVE_TEST(test_far_too_many_nodes_require_a_relist),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
