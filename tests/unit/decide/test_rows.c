/* rows: the resources for which a node keeps sums, whatever tenants request, and their
 * exactness. */
#include "decide/preempt.h"
#include "fixture_question.h"
#include "ledger.h"
#include "unit.h"

#define GPU "nvidia.com/gpu"
#define MIG "nvidia.com/mig-1g.5gb"
#define N_NAMES 250

static size_t n_rows(struct fixture *fixture, const char *node)
{
    size_t n = 0;
    (void)node_resources(fixture_find_node(fixture, node), &n);
    return n;
}

/* "PREFIX0=1 PREFIX1=1 ...". */
static const char *invented(struct fixture *fixture, const char *prefix)
{
    const char *text = "";
    for (size_t i = 0; i < N_NAMES; i++)
        text = arena_printf(fixture->arena, "%s %s%zu=1", text, prefix, i);
    return text;
}

static void test_invented_resource_names_have_no_row(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "pods=110 cpu=8000 " GPU "=8", "");
    fixture_put_pod(fixture, "p1", "n1", invented(fixture, "example.com/x"));
    fixture_put_pod(fixture, "p2", "n1", invented(fixture, "nvidia.com/mig-x"));
    assert_int_equal(n_rows(fixture, "n1"), 3);
    assert_int_equal(node_unlisted_gpus(fixture_find_node(fixture, "n1")), N_NAMES);
    fixture_put_pod(fixture, "p3", "n1",
                    "amd.com/gpu=1 memory=1"); /* core resource, and an exact name */
    assert_int_equal(n_rows(fixture, "n1"), 5);
    fixture_remove_pod(fixture, "p3");
    fixture_remove_pod(fixture, "p2");
    assert_int_equal(n_rows(fixture, "n1"), 3);
    assert_int_equal(node_unlisted_gpus(fixture_find_node(fixture, "n1")), 0);
}

static void test_the_hot_part_has_only_advertised_resources(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "pods=110 " GPU "=8", "");
    fixture_put_pod(fixture, "p1", "n1", invented(fixture, "nvidia.com/mig-x"));
    fixture_put_pod(fixture, "p2", "n1", "amd.com/gpu=1 " GPU "=3");
    const struct node_hot *hot = node_hot(fixture_find_node(fixture, "n1"));
    assert_non_null(hot->gpus);
    assert_string_equal(hot->gpus->name, GPU);
    assert_int_equal(hot->free_gpus, 5);
    assert_int_equal(node_free_gpus(fixture_find_node(fixture, "n1")), 5);
    fixture_put_node(fixture, "n1", "pods=110 " GPU "=8 " MIG "=2", "");
    assert_null(node_hot(fixture_find_node(fixture, "n1"))->gpus);
}

/* By these words a decision knows that two nodes are alike. */
static void test_nodes_of_long_model_names_differ_by_memory(void **state)
{
    struct fixture *fixture = *state;
    static const char LABELS[] =
        "nvidia.com/gpu.product=A-card-whose-name-takes-nearly-all-the-room-that-there-is-here,"
        "nvidia.com/gpu.memory=%d";
    fixture_put_node(fixture, "small", GPU "=8", arena_printf(fixture->arena, LABELS, 40960));
    fixture_put_node(fixture, "twin", GPU "=8", arena_printf(fixture->arena, LABELS, 40960));
    fixture_put_node(fixture, "large", GPU "=8", arena_printf(fixture->arena, LABELS, 81920));
    const char *word = node_hot(fixture_find_node(fixture, "small"))->model_word;
    assert_ptr_equal(node_hot(fixture_find_node(fixture, "twin"))->model_word, word);
    assert_ptr_not_equal(node_hot(fixture_find_node(fixture, "large"))->model_word, word);
}

static void test_a_fork_has_the_resource_names_of_nodes(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "pods=110 " GPU "=8", "");
    fixture_put_pod(fixture, "p1", "n1", invented(fixture, "example.com/x"));
    fixture_put_pod(fixture, "p2", "", invented(fixture, "example.com/y"));
    struct cluster *fork = cluster_fork(fixture->cluster);
    assert_int_equal(HASH_COUNT(fork->fork_resources), 2);
    assert_non_null(cluster_find_resource(fork, GPU));
    assert_null(cluster_find_resource(fork, "example.com/x1"));
    cluster_fork_free(fork);
}

/* Evicting a pod frees nothing of a resource that the node lacks. */
static void test_no_pod_is_evicted_for_an_absent_resource(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "pods=110 cpu=8000", "");
    fixture_put_pod(fixture, "low", "n1", "example.com/fpga=3");
    const struct shape_facts facts = fixture_shape_facts(fixture, "example.com/fpga=1");
    struct cluster *fork = cluster_fork(fixture->cluster);
    const struct cluster *const rooms[] = {fixture->cluster, fork};
    for (size_t i = 0; i < 2; i++) {
        const struct fit_question question = {.shape =
                                                  cluster_resolve(rooms[i], &facts, fixture->arena),
                                              .scope = FIT_ALL,
                                              .asker = {.priority = 5}};
        assert_null(evict_for(fixture->cluster, rooms[i], &question, fixture->arena).node);
    }
    cluster_fork_free(fork);
}

static void test_sums_are_exact_beyond_the_reported_maximum(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "pods=110 " GPU "=8", "");
    fixture_put_pod(fixture, "p1", "n1", GPU "=9223372036854775807");
    fixture_put_pod(fixture, "p2", "n1", GPU "=9223372036854775807");
    fixture_put_pod(fixture, "p3", "n1", GPU "=9223372036854775807");
    fixture_put_pod(fixture, "p4", "n1", GPU "=3");
    assert_int_equal(fixture_used(fixture, "n1", GPU), INT64_MAX);
    fixture_remove_pod(fixture, "p1");
    fixture_remove_pod(fixture, "p3");
    assert_int_equal(fixture_used(fixture, "n1", GPU), INT64_MAX);
    fixture_remove_pod(fixture, "p2");
    assert_int_equal(fixture_used(fixture, "n1", GPU), 3);
}

static void test_nodes_named_only_by_pods_are_separate(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_pod(fixture, "p1", "invented", GPU "=1");
    fixture_put_node(fixture, "n1", "pods=110 " GPU "=8", "");
    fixture_put_pod(fixture, "p2", "n1", GPU "=1");
    const struct cluster *cluster = fixture->cluster;
    const struct node *node = cluster_next_node(cluster, NULL);
    assert_string_equal(node_name(node), "n1");
    assert_null(cluster_next_node(cluster, node));
    node = cluster_next_missing_node(cluster, NULL);
    assert_string_equal(node_name(node), "invented");
    assert_null(cluster_next_missing_node(cluster, node));
    fixture_remove_node(fixture, "n1");
    assert_null(cluster_next_node(cluster, NULL));
    assert_string_equal(node_name(cluster_next_missing_node(cluster, node)), "n1");
    fixture_put_node(fixture, "n1", "pods=110 " GPU "=8", "");
    assert_int_equal(fixture_used(fixture, "n1", GPU), 1);
    fixture_remove_pod(fixture, "p1");
    assert_null(cluster_next_missing_node(cluster, NULL));
}

/* ---- the check in steps ---- */

#define N_MANY 2000

static void fill(struct fixture *fixture)
{
    fixture_put_node(fixture, "n1", "pods=110 " GPU "=8", "");
    for (size_t i = 0; i < N_MANY; i++)
        fixture_put_pod(fixture, arena_printf(fixture->arena, "p%zu", i), "n1", "cpu=1 " GPU "=1");
}

static void test_a_node_of_many_pods_is_checked_in_steps(void **state)
{
    struct fixture *fixture = *state;
    struct err err = {""};
    size_t n_differences = 0;
    size_t n_steps = 1;
    fill(fixture);
    while (!cluster_check_some(fixture->cluster, 300, &n_differences, &err))
        n_steps++;
    assert_in_range(n_steps, N_MANY * 3 / 300, 2 * N_MANY * 3 / 300);
    assert_int_equal(n_differences, 0);
    size_t n = 0;
    struct node_resource *rows =
        (struct node_resource *)(uintptr_t)node_resources(fixture_find_node(fixture, "n1"), &n);
    rows[0].used--;
    while (!cluster_check_some(fixture->cluster, 300, &n_differences, &err)) {
    }
    rows[0].used++;
    assert_int_equal(n_differences, 2); /* the sum, and its copy in the hot part */
}

static void test_changes_between_two_steps_are_no_differences(void **state)
{
    struct fixture *fixture = *state;
    struct err err = {""};
    size_t n_differences = 0;
    size_t i = 0;
    fill(fixture);
    fixture_put_node(fixture, "n2", "pods=110 " GPU "=8", "");
    for (; !cluster_check_some(fixture->cluster, 300, &n_differences, &err); i++) {
        fixture_remove_pod(fixture, arena_printf(fixture->arena, "p%zu", i));
        assert_true(i < 50); /* a node that changes all the time is skipped */
    }
    assert_int_equal(n_differences, 0);
    assert_false(cluster_check_some(fixture->cluster, 300, &n_differences, &err));
    fixture_remove_node(fixture, "n1"); /* the current node of the check */
    while (!cluster_check_some(fixture->cluster, 300, &n_differences, &err)) {
    }
    assert_int_equal(n_differences, 0);
}

/* ---- the sweep at the end of a list ---- */

static void test_a_list_ends_in_steps(void **state)
{
    struct fixture *fixture = *state;
    fill(fixture);
    cluster_relist_begin(fixture->cluster, CLUSTER_PODS);
    fixture_put_pod(fixture, "p7", "n1", "cpu=1 " GPU "=1");
    assert_false(
        cluster_relist_sweep(fixture->cluster, CLUSTER_PODS, (size_t)10 * CLUSTER_SWEEP_DELETION));
    assert_int_equal(cluster_n_pods(fixture->cluster), N_MANY - 10);
    fixture_remove_pod(fixture, "p11"); /* the next one */
    fixture_put_pod(fixture, "new", "n1", GPU "=1");
    while (!cluster_relist_sweep(fixture->cluster, CLUSTER_PODS,
                                 (size_t)10 * CLUSTER_SWEEP_DELETION)) {
    }
    assert_int_equal(cluster_n_pods(fixture->cluster), 2);
    assert_int_equal(fixture_used(fixture, "n1", GPU), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_invented_resource_names_have_no_row),
        TEST(test_the_hot_part_has_only_advertised_resources),
        TEST(test_nodes_of_long_model_names_differ_by_memory),
        TEST(test_a_fork_has_the_resource_names_of_nodes),
        TEST(test_no_pod_is_evicted_for_an_absent_resource),
        TEST(test_sums_are_exact_beyond_the_reported_maximum),
        TEST(test_nodes_named_only_by_pods_are_separate),
        TEST(test_a_node_of_many_pods_is_checked_in_steps),
        TEST(test_changes_between_two_steps_are_no_differences),
        TEST(test_a_list_ends_in_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
