/* inventory: a reload is atomic, and forks outlive it. */
#include "shown.h"
#include "small_cluster.h"
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

static int set_up(void **state)
{
    struct small_cluster *cluster = calloc(1, sizeof *cluster);
    if (!cluster)
        return -1;
    small_cluster_init(cluster, SMALL_CLUSTER);
    *state = cluster;
    return 0;
}

static int tear_down(void **state)
{
    small_cluster_fini(*state);
    free(*state);
    return 0;
}

static const char ONE_NODE[] = "kind: Node\nmetadata: {name: new}\n";
static const char SMALL_SHOWN[] = "node a100-1 gpus=5/8\nnode a100-2 gpus=0/8\nnode t4-1 gpus=0/4\n"
                                  "node cpu-1\npod ml/train-0 a100-1\n";

static void check_shown(struct inventory *inventory, const char *expected)
{
    struct buf shown;
    buf_init(&shown, 1 << 16);
    const struct inventory_view view = inventory_read(inventory);
    shown_view(&view, &shown);
    inventory_done(&view);
    assert_string_equal(buf_text(&shown), expected);
    buf_fini(&shown);
}

static void test_the_inventory_waits_for_its_file(void **state)
{
    (void)state;
    struct small_cluster cluster;
    small_cluster_init(&cluster, NULL);
    assert_string_equal(inventory_waiting_for(cluster.inventory), "the cluster file");
    check_shown(cluster.inventory, "");
    struct err err;
    assert_int_equal(small_cluster_load(&cluster, ONE_NODE, &err), 0);
    assert_null(inventory_waiting_for(cluster.inventory));
    small_cluster_fini(&cluster);
}

static void test_a_view(void **state)
{
    struct small_cluster *cluster = *state;
    check_shown(cluster->inventory, SMALL_SHOWN);
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(cluster->inventory);
    assert_true(strncmp(view.source, "file:/", 6) == 0);
    assert_true(view.as_of_s > 0 && view.as_of_s <= (int64_t)time(NULL));
    assert_int_equal(view.n_problems, 0);
    assert_int_equal(view.n_all_problems, 0);
    assert_true(cluster_has_namespace(view.cluster, "ml"));
    int64_t priority = 0;
    assert_true(cluster_priority_of_class(view.cluster, "high", &priority));
    assert_int_equal(priority, 1000);
}

static void test_a_reload_replaces_all(void **state)
{
    struct small_cluster *cluster = *state;
    struct err err;
    assert_int_equal(small_cluster_load(cluster, ONE_NODE, &err), 0);
    check_shown(cluster->inventory, "node new\n");
    assert_int_equal(small_cluster_load(cluster, "{\"kind\":\"List\",\"items\":[]}", &err), 0);
    check_shown(cluster->inventory, "");
    assert_null(inventory_waiting_for(cluster->inventory));
}

static void test_a_failed_reload_keeps_the_old_inventory(void **state)
{
    struct small_cluster *cluster = *state;
    struct err err;
    assert_int_equal(small_cluster_load(cluster, "kind: Node\nmetadata: {name: x}\n---\n{", &err),
                     -EINVAL);
    check_shown(cluster->inventory, SMALL_SHOWN);
    assert_int_equal(small_cluster_load(cluster, "", &err), -EINVAL);
    check_shown(cluster->inventory, SMALL_SHOWN);
    assert_int_equal(inventory_load_file(cluster->inventory, "/nonexistent/file", &err), -ENOENT);
    assert_string_equal(err.text, "/nonexistent/file: cannot be read: No such file or directory");
    check_shown(cluster->inventory, SMALL_SHOWN);
    assert_int_equal(inventory_load_file(cluster->inventory, "/", &err), -EISDIR);
    check_shown(cluster->inventory, SMALL_SHOWN);
    assert_null(inventory_waiting_for(cluster->inventory));
}

static void test_a_reload_replaces_the_problems(void **state)
{
    struct small_cluster *cluster = *state;
    struct err err;
    assert_int_equal(small_cluster_load(cluster, "kind: Node\nmetadata: {}\n", &err), 0);
    check_shown(cluster->inventory, "problem Node (unnamed): has no metadata.name\n");
    assert_int_equal(small_cluster_load(cluster, "{", &err), -EINVAL);
    check_shown(cluster->inventory, "problem Node (unnamed): has no metadata.name\n");
    assert_int_equal(small_cluster_load(cluster, ONE_NODE, &err), 0);
    check_shown(cluster->inventory, "node new\n");
}

static void test_problems_beyond_the_stored_ones_are_counted(void **state)
{
    struct small_cluster *cluster = *state;
    struct err err;
    struct buf text;
    buf_init(&text, 1 << 20);
    for (int i = 0; i < 1500; i++)
        buf_add_text(&text, "{\"kind\":\"Node\",\"metadata\":{}}\n");
    assert_int_equal(small_cluster_load(cluster, buf_text(&text), &err), 0);
    const struct inventory_view view = inventory_read(cluster->inventory);
    assert_int_equal(view.n_problems, 1000);
    assert_int_equal(view.n_all_problems, 1500);
    inventory_done(&view);
    buf_fini(&text);
}

static void check_fork(const struct cluster *fork)
{
    const struct node *node = cluster_find_node(fork, "a100-1");
    assert_non_null(node);
    assert_string_equal(node_traits(node)->gpus.value, "NVIDIA-A100-SXM4-80GB");
    assert_int_equal(cluster_n_nodes(fork), 4);
    struct buf shown;
    buf_init(&shown, 1 << 16);
    shown_node(node, &shown);
    assert_string_equal(buf_text(&shown), "node a100-1 gpus=5/8\n");
    buf_fini(&shown);
}

static void test_forks_outlive_reloads(void **state)
{
    struct small_cluster *cluster = *state;
    struct err err;
    struct cluster *first = inventory_fork(cluster->inventory, PEERS_REPELLING);
    struct cluster *second = inventory_fork(cluster->inventory, PEERS_REPELLING);
    assert_int_equal(small_cluster_load(cluster, ONE_NODE, &err), 0);
    struct cluster *third = inventory_fork(cluster->inventory, PEERS_REPELLING);
    check_fork(first);
    inventory_fork_free(cluster->inventory, first);
    assert_int_equal(small_cluster_load(cluster, SMALL_CLUSTER, &err), 0);
    assert_int_equal(cluster_n_nodes(third), 1);
    check_fork(second);
    inventory_fork_free(cluster->inventory, third);
    inventory_fork_free(cluster->inventory, second);
    check_shown(cluster->inventory, SMALL_SHOWN);
}

static void test_metrics(void **state)
{
    struct small_cluster *cluster = *state;
    struct buf text;
    buf_init(&text, 1 << 20);
    inventory_metrics(cluster->inventory, &text);
    static const char *const LINES[] = {
        "\ngpu_extender_node_gpus{node=\"a100-1\",model=\"A100-SXM4-80GB\","
        "resource=\"nvidia.com/gpu\",state=\"used\"} 5\n",
        "gpu_extender_node_gpus{node=\"a100-1\",model=\"A100-SXM4-80GB\","
        "resource=\"nvidia.com/gpu\",state=\"free\"} 3\n",
        "gpu_extender_node_gpus{node=\"t4-1\",model=\"T4\",resource=\"nvidia.com/gpu\","
        "state=\"free\"} 4\n",
        "\ngpu_extender_nodes 4\n",
        "\ngpu_extender_pods 1\n",
        "\ngpu_extender_inventory_problems 0\n",
    };
    for (size_t i = 0; i < sizeof LINES / sizeof *LINES; i++) {
        if (!strstr(buf_text(&text), LINES[i]))
            fail_msg("%s is not in\n%s", LINES[i], buf_text(&text));
    }
    assert_null(strstr(buf_text(&text), "cpu-1"));
    buf_fini(&text);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_inventory_waits_for_its_file),
        TEST(test_a_view),
        TEST(test_a_reload_replaces_all),
        TEST(test_a_failed_reload_keeps_the_old_inventory),
        TEST(test_a_reload_replaces_the_problems),
        TEST(test_problems_beyond_the_stored_ones_are_counted),
        TEST(test_forks_outlive_reloads),
        TEST(test_metrics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
