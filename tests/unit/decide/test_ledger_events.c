/* The ledger event by event: nodes and pods that come, change, go and are listed again, in any
 * order. A test that guards against another project's mistake names the project (docs/MISTAKES.md).
 */
#include "given_question.h"
#include "unit.h"

#include <string.h>

#define GPU "nvidia.com/gpu"

/* gpushare: free = total - used in unsigned arithmetic; an over-full node looks nearly infinite. */
static void test_an_over_full_node_has_less_than_nothing(void **state)
{
    struct given *given = *state;
    given_node(given, "n1", "pods=110 " GPU "=2", "");
    given_pod(given, "p1", "n1", GPU "=2");
    given_pod(given, "p2", "n1", GPU "=3");
    assert_int_equal(given_used(given, "n1", GPU), 5);
    assert_int_equal(given_free(given, "n1", GPU), -3);
    assert_string_equal(given_verdict(given, "n1", GPU "=1"), "gpu_free");
}

/* The same at the limits of integers: sums saturate at INT64_MAX, and are exact again
 * afterwards. */
static void test_sums_that_do_not_fit_stop_at_the_end(void **state)
{
    struct given *given = *state;
    given_node(given, "n1", "pods=110 " GPU "=8", "");
    given_pod(given, "p1", "n1", GPU "=max");
    given_pod(given, "p2", "n1", GPU "=max");
    given_pod(given, "p3", "n1", GPU "=3");
    assert_int_equal(given_used(given, "n1", GPU), INT64_MAX);
    assert_int_equal(given_free(given, "n1", GPU), 8 - INT64_MAX);
    assert_string_equal(given_verdict(given, "n1", GPU "=1"), "gpu_free");
    given_no_pod(given, "p2");
    assert_int_equal(given_used(given, "n1", GPU), INT64_MAX);
    given_no_pod(given, "p1");
    assert_int_equal(given_used(given, "n1", GPU), 3);
    assert_int_equal(given_free(given, "n1", GPU), 5);
}

/* A cluster file may contain a negative allocatable: it must not wrap around. */
static void test_a_negative_allocatable_does_not_wrap(void **state)
{
    struct given *given = *state;
    given_node(given, "n1", "pods=110 " GPU "=-5", "");
    given_pod(given, "p1", "n1", GPU "=max");
    assert_int_equal(given_free(given, "n1", GPU), INT64_MIN);
    given_no_pod(given, "p1");
    assert_int_equal(given_free(given, "n1", GPU), -5);
}

/* gpushare: devices built once; a node that shrinks 8 -> 4 keeps 8. */
static void test_a_node_that_shrinks_has_less_at_once(void **state)
{
    struct given *given = *state;
    given_node(given, "n1", "pods=110 " GPU "=8", "");
    given_pod(given, "p1", "n1", GPU "=6");
    given_node(given, "n1", "pods=110 " GPU "=4", "");
    assert_int_equal(given_free(given, "n1", GPU), -2);
    assert_string_equal(given_verdict(given, "n1", GPU "=1"), "gpu_free");
    assert_string_equal(given_verdict(given, "n1", GPU "=5"), "gpu_total");
    given_node(given, "n1", "pods=110", ""); /* the device plugin is removed */
    assert_int_equal(given_free(given, "n1", GPU), -6);
    assert_string_equal(given_verdict(given, "n1", GPU "=1"), "gpu_absent");
    given_no_pod(given, "p1");
    assert_int_equal(given_used(given, "n1", GPU), -1);
    given_node(given, "n1", "pods=110 " GPU "=8", "");
    assert_int_equal(given_free(given, "n1", GPU), 8);
}

/* gpushare: if the count arrives before another attribute, that attribute is never read. */
static void test_the_count_may_come_before_the_model(void **state)
{
    struct given *given = *state;
    given_node(given, "n1", GPU "=8", "");
    assert_string_equal(node_traits(given_find(given, "n1"))->model.chip, "");
    given_node(given, "n1", GPU "=8", "nvidia.com/gpu.product=NVIDIA-H200");
    assert_string_equal(node_traits(given_find(given, "n1"))->model.chip, "H200");
    assert_int_equal(given_free(given, "n1", GPU), 8);
}

static void test_the_model_may_come_before_the_count(void **state)
{
    struct given *given = *state;
    given_node(given, "n1", "", "nvidia.com/gpu.product=NVIDIA-H200");
    given_node(given, "n1", GPU "=0", "nvidia.com/gpu.product=NVIDIA-H200");
    assert_int_equal(given_free(given, "n1", GPU), 0);
    given_node(given, "n1", GPU "=8", "nvidia.com/gpu.product=NVIDIA-H200");
    assert_int_equal(given_free(given, "n1", GPU), 8);
    assert_string_equal(node_traits(given_find(given, "n1"))->model.chip, "H200");
}

static void test_a_model_that_changes_is_the_new_one(void **state)
{
    struct given *given = *state;
    given_node(given, "n1", GPU "=8", "accelerator=Tesla-K80");
    given_pod(given, "p1", "n1", GPU "=1");
    given_node(given, "n1", GPU "=8", "accelerator=Tesla-V100");
    assert_string_equal(node_traits(given_find(given, "n1"))->model.chip, "V100");
    given_node(given, "n1", GPU "=8", "");
    assert_string_equal(node_traits(given_find(given, "n1"))->model.chip, "");
    assert_int_equal(given_free(given, "n1", GPU), 7);
}

/* gpushare: startup fails if a pod names a deleted node. */
static void test_a_pod_may_name_a_node_that_is_not_there(void **state)
{
    struct given *given = *state;
    given_pod(given, "p1", "gone", GPU "=2");
    given_pod(given, "p2", "gone", GPU "=1");
    assert_int_equal(cluster_n_nodes(given->cluster), 0);
    assert_int_equal(cluster_n_pods(given->cluster), 2);
    assert_null(cluster_find_node(given->cluster, "gone"));
    assert_null(cluster_next_node(given->cluster, NULL));
    assert_string_equal(given_verdict(given, "gone", GPU "=1"), "node_unknown");
    given_node(given, "gone", GPU "=8", ""); /* it counts when the node appears */
    assert_int_equal(given_used(given, "gone", GPU), 3);
    assert_int_equal(given_free(given, "gone", GPU), 5);
}

static void test_a_node_that_returns_is_right_at_once(void **state)
{
    struct given *given = *state;
    given_node(given, "n1", "cpu=8000 " GPU "=8", "accelerator=Tesla-K80");
    given_pod(given, "p1", "n1", "cpu=500 " GPU "=2");
    given_pod(given, "p2", "n1", "cpu=500 " GPU "=3");
    given_no_node(given, "n1");
    assert_null(cluster_find_node(given->cluster, "n1"));
    assert_int_equal(cluster_n_nodes(given->cluster), 0);
    assert_int_equal(cluster_n_pods(given->cluster), 2);
    given_no_pod(given, "p1"); /* deleted while the node is away */
    given_node(given, "n1", "cpu=8000 " GPU "=4", "accelerator=Tesla-V100");
    assert_int_equal(given_used(given, "n1", GPU), 3);
    assert_int_equal(given_free(given, "n1", GPU), 1);
    assert_string_equal(node_traits(given_find(given, "n1"))->model.chip, "V100");
}

/* gpushare: a terminating pod counts as finished; its GPU is reassigned during its grace period. */
static void test_a_terminating_pod_uses_what_it_has(void **state)
{
    struct given *given = *state;
    given_node(given, "n1", "pods=110 " GPU "=2", "");
    struct pod_facts facts = given_pod_facts(given, "p1", "n1", GPU "=2");
    facts.terminating = true;
    given_pod_of(given, &facts);
    assert_int_equal(given_free(given, "n1", GPU), 0);
    assert_string_equal(given_verdict(given, "n1", GPU "=1"), "gpu_free");
    facts.finished = true;
    given_pod_of(given, &facts);
    assert_int_equal(given_free(given, "n1", GPU), 2);
}

/* elastic: a retry skips the ledger because the pod is "known"; two pods, one GPU. */
static void test_a_known_pod_that_is_bound_again_is_counted(void **state)
{
    struct given *given = *state;
    given_node(given, "n1", GPU "=1", "");
    given_node(given, "n2", GPU "=1", "");
    given_pod(given, "p1", "", GPU "=1");
    given_pod(given, "p1", "n1", GPU "=1");
    given_pod(given, "p1", "", GPU "=1"); /* the binding failed */
    assert_int_equal(given_free(given, "n1", GPU), 1);
    given_pod(given, "p1", "n2", GPU "=1"); /* the retry */
    assert_int_equal(given_free(given, "n1", GPU), 1);
    assert_int_equal(given_free(given, "n2", GPU), 0);
}

/* elastic: a container without GPU request gets GPU 0. */
static void test_a_pod_that_asks_for_no_gpu_uses_none(void **state)
{
    struct given *given = *state;
    given_node(given, "n1", "cpu=8000 pods=110 " GPU "=1", "");
    given_pod(given, "p1", "n1", "cpu=500");
    given_pod(given, "p2", "n1", "");
    struct pod_facts bare = given_pod_facts(given, "p3", "n1", "");
    bare.shape = (struct shape_facts){0};
    given_pod_of(given, &bare);
    assert_int_equal(given_used(given, "n1", GPU), 0);
    assert_int_equal(given_used(given, "n1", "cpu"), 500);
    assert_int_equal(given_used(given, "n1", "pods"), 2);
}

/* GAS: succeeded pods count again after a restart. */
static void test_a_finished_pod_uses_nothing(void **state)
{
    struct given *given = *state;
    given_node(given, "n1", GPU "=2", "");
    struct pod_facts facts = given_pod_facts(given, "p1", "n1", GPU "=2");
    given_pod_of(given, &facts);
    assert_int_equal(given_free(given, "n1", GPU), 0);
    facts.finished = true;
    given_pod_of(given, &facts);
    assert_int_equal(given_free(given, "n1", GPU), 2);
    given_pod_of(given, &facts); /* the first list after a restart contains it again */
    assert_int_equal(given_free(given, "n1", GPU), 2);
    assert_null(node_next_pod(given_find(given, "n1"), NULL));
    assert_int_equal(cluster_n_pods(given->cluster), 1);
    given_no_pod(given, "p1");
    assert_int_equal(given_free(given, "n1", GPU), 2);
}

/* GAS: force-deleted pods are never released, because no update reports them finished. */
static void test_a_force_deleted_pod_is_released(void **state)
{
    struct given *given = *state;
    given_node(given, "n1", GPU "=2", "");
    given_pod(given, "p1", "n1", GPU "=2");
    given_no_pod(given, "p1");
    assert_int_equal(given_free(given, "n1", GPU), 2);
    assert_int_equal(cluster_n_pods(given->cluster), 0);
    given_no_pod(given, "p1"); /* a repeated event */
    assert_int_equal(given_free(given, "n1", GPU), 2);
}

/* GAS: state keyed by name; a recreated pod inherits it or collides. The earlier pod was deleted,
 * with or without an event: a name is one pod at a time. */
static void test_a_pod_of_the_same_name_is_another_pod(void **state)
{
    struct given *given = *state;
    given_node(given, "n1", GPU "=8", "");
    struct pod_facts first = given_pod_facts(given, "uid-1", "n1", GPU "=2");
    struct pod_facts second = given_pod_facts(given, "uid-2", "", GPU "=3");
    first.name = second.name = "train-0";
    given_pod_of(given, &first);
    assert_int_equal(given_used(given, "n1", GPU), 2);
    given_pod_of(given, &second); /* the first one's deletion was missed or is late */
    assert_int_equal(given_free(given, "n1", GPU), 8);
    assert_null(cluster_find_pod(given->cluster, "uid-1"));
    second.node_name = "n1";
    given_pod_of(given, &second);
    given_no_pod(given, "uid-1");
    assert_int_equal(given_used(given, "n1", GPU), 3);
    assert_string_equal(cluster_find_pod(given->cluster, "uid-2")->name, "train-0");
}

static void test_the_same_event_twice_changes_nothing(void **state)
{
    struct given *given = *state;
    const struct node_facts node =
        given_node_facts(given, "n1", "cpu=1 " GPU "=8", "zone=a,accelerator=A100");
    struct node_facts shuffled =
        given_node_facts(given, "n1", GPU "=8 cpu=1", "accelerator=A100,zone=a");
    const struct pod_facts pod = given_pod_facts(given, "p1", "n1", GPU "=2");
    given_node_of(given, &node);
    given_pod_of(given, &pod);
    uint64_t version = cluster_version(given->cluster);
    given_pod_of(given, &pod);
    given_pod(given, "p1", "n1", GPU "=2");
    given_node_of(given, &node);
    given_node_of(given, &shuffled);
    given_no_pod(given, "unheard-of");
    given_no_node(given, "unheard-of");
    assert_int_equal(cluster_version(given->cluster), version);
    assert_int_equal(given_used(given, "n1", GPU), 2);
    assert_int_equal(given_used(given, "n1", "pods"), 1);
    given_no_pod(given, "p1");
    given_no_node(given, "n1");
    version = cluster_version(given->cluster);
    given_no_pod(given, "p1");
    given_no_node(given, "n1");
    assert_int_equal(cluster_version(given->cluster), version);
}

/* A cache without deletion after a relist: objects deleted unseen stay for ever. */
static void test_a_relist_sweeps_what_is_gone(void **state)
{
    struct given *given = *state;
    given_node(given, "n1", GPU "=8", "");
    given_node(given, "n2", GPU "=8", "");
    given_pod(given, "p1", "n1", GPU "=1");
    given_pod(given, "p2", "n1", GPU "=2");
    given_pod(given, "p3", "", GPU "=4");

    cluster_relist_begin(given->cluster, CLUSTER_PODS);
    given_pod(given, "p1", "n1", GPU "=1"); /* unchanged, but seen */
    assert_int_equal(given_used(given, "n1", GPU), 3);
    given_pod(given, "p4", "n2", GPU "=8");
    cluster_relist_end(given->cluster, CLUSTER_PODS);
    assert_int_equal(cluster_n_pods(given->cluster), 2);
    assert_int_equal(given_used(given, "n1", GPU), 1);
    assert_int_equal(given_used(given, "n2", GPU), 8);
    assert_int_equal(cluster_n_nodes(given->cluster), 2);

    cluster_relist_begin(given->cluster, CLUSTER_NODES);
    given_node(given, "n2", GPU "=8", "");
    cluster_relist_end(given->cluster, CLUSTER_NODES);
    assert_null(cluster_find_node(given->cluster, "n1"));
    assert_int_equal(cluster_n_nodes(given->cluster), 1);
    assert_int_equal(cluster_n_pods(given->cluster), 2);
    given_node(given, "n1", GPU "=8", "");
    assert_int_equal(given_used(given, "n1", GPU), 1);
}

static void test_a_list_that_broke_off_sweeps_nothing(void **state)
{
    struct given *given = *state;
    given_pod(given, "p1", "", "");
    given_pod(given, "p2", "", "");
    cluster_relist_end(given->cluster, CLUSTER_PODS); /* no list was begun */
    assert_int_equal(cluster_n_pods(given->cluster), 2);
    cluster_relist_begin(given->cluster, CLUSTER_PODS);
    given_pod(given, "p1", "", "");
    cluster_relist_begin(given->cluster, CLUSTER_PODS); /* interrupted and restarted */
    assert_int_equal(cluster_n_pods(given->cluster), 2);
    given_pod(given, "p2", "", "");
    given_no_pod(given, "p2"); /* a watch event in between */
    given_pod(given, "p3", "", "");
    cluster_relist_end(given->cluster, CLUSTER_PODS);
    assert_null(cluster_find_pod(given->cluster, "p1"));
    assert_null(cluster_find_pod(given->cluster, "p2"));
    assert_non_null(cluster_find_pod(given->cluster, "p3"));
    given_pod(given, "p4", "", "");
    cluster_relist_end(given->cluster, CLUSTER_PODS);
    assert_int_equal(cluster_n_pods(given->cluster), 2);
}

static void test_an_empty_relist_empties_the_ledger(void **state)
{
    struct given *given = *state;
    given_node(given, "n1", GPU "=8", "");
    given_pod(given, "p1", "n1", GPU "=1");
    given_pod(given, "p2", "gone", GPU "=1");
    cluster_relist_begin(given->cluster, CLUSTER_NODES);
    cluster_relist_end(given->cluster, CLUSTER_NODES);
    assert_int_equal(cluster_n_nodes(given->cluster), 0);
    cluster_relist_begin(given->cluster, CLUSTER_PODS);
    cluster_relist_end(given->cluster, CLUSTER_PODS);
    assert_int_equal(cluster_n_pods(given->cluster), 0);
}

/* Without an advertised amount no sum is kept, because tenants may invent any number of names. The
 * pods' requests count once it is advertised. */
static void test_a_resource_is_counted_once_it_is_advertised(void **state)
{
    struct given *given = *state;
    given_node(given, "n1", "pods=110 cpu=8000", "");
    given_pod(given, "p1", "n1", "example.com/fpga=3 hugepages-2Mi=4 ephemeral-storage=5");
    assert_int_equal(given_used(given, "n1", "example.com/fpga"), -1);
    assert_int_equal(given_used(given, "n1", "hugepages-2Mi"), -1);
    assert_int_equal(given_used(given, "n1", "ephemeral-storage"), 5);
    assert_string_equal(given_verdict(given, "n1", "example.com/fpga=1"), "resource");
    given_node(given, "n1", "pods=110 cpu=8000 example.com/fpga=4", "");
    assert_int_equal(given_free(given, "n1", "example.com/fpga"), 1);
    assert_string_equal(given_verdict(given, "n1", "example.com/fpga=1"), "fits");
    given_node(given, "n1", "pods=110 cpu=8000", "");
    assert_int_equal(given_used(given, "n1", "example.com/fpga"), -1);
    given_node(given, "n1", "pods=110 cpu=8000 example.com/fpga=4", "");
    assert_int_equal(given_free(given, "n1", "example.com/fpga"), 1);
    given_no_pod(given, "p1");
    assert_int_equal(given_free(given, "n1", "example.com/fpga"), 4);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, given_setup, given_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_an_over_full_node_has_less_than_nothing),
        TEST(test_sums_that_do_not_fit_stop_at_the_end),
        TEST(test_a_negative_allocatable_does_not_wrap),
        TEST(test_a_node_that_shrinks_has_less_at_once),
        TEST(test_the_count_may_come_before_the_model),
        TEST(test_the_model_may_come_before_the_count),
        TEST(test_a_model_that_changes_is_the_new_one),
        TEST(test_a_pod_may_name_a_node_that_is_not_there),
        TEST(test_a_node_that_returns_is_right_at_once),
        TEST(test_a_terminating_pod_uses_what_it_has),
        TEST(test_a_known_pod_that_is_bound_again_is_counted),
        TEST(test_a_pod_that_asks_for_no_gpu_uses_none),
        TEST(test_a_finished_pod_uses_nothing),
        TEST(test_a_force_deleted_pod_is_released),
        TEST(test_a_pod_of_the_same_name_is_another_pod),
        TEST(test_the_same_event_twice_changes_nothing),
        TEST(test_a_relist_sweeps_what_is_gone),
        TEST(test_a_list_that_broke_off_sweeps_nothing),
        TEST(test_an_empty_relist_empties_the_ledger),
        TEST(test_a_resource_is_counted_once_it_is_advertised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
