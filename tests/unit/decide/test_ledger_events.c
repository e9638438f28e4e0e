/* The ledger event by event: nodes and pods that come, change, go and are listed again, in any
 * order. A test that guards against another project's mistake names the project
 * (docs/dev/MISTAKES.md).
 */
#include "fixture_question.h"
#include "unit.h"

#include <string.h>

#define GPU "nvidia.com/gpu"

/* gpushare: free = total - used in unsigned arithmetic; an over-full node looks nearly infinite. */
static void test_an_over_full_node_has_negative_free(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "pods=110 " GPU "=2", "");
    fixture_put_pod(fixture, "p1", "n1", GPU "=2");
    fixture_put_pod(fixture, "p2", "n1", GPU "=3");
    assert_int_equal(fixture_used(fixture, "n1", GPU), 5);
    assert_int_equal(fixture_free_amount(fixture, "n1", GPU), -3);
    assert_string_equal(fixture_verdict(fixture, "n1", GPU "=1"), "gpu_free");
}

/* The same at the limits of integers: sums saturate at INT64_MAX, and are exact again
 * afterwards. */
static void test_overflowing_sums_saturate(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "pods=110 " GPU "=8", "");
    fixture_put_pod(fixture, "p1", "n1", GPU "=max");
    fixture_put_pod(fixture, "p2", "n1", GPU "=max");
    fixture_put_pod(fixture, "p3", "n1", GPU "=3");
    assert_int_equal(fixture_used(fixture, "n1", GPU), INT64_MAX);
    assert_int_equal(fixture_free_amount(fixture, "n1", GPU), 8 - INT64_MAX);
    assert_string_equal(fixture_verdict(fixture, "n1", GPU "=1"), "gpu_free");
    fixture_remove_pod(fixture, "p2");
    assert_int_equal(fixture_used(fixture, "n1", GPU), INT64_MAX);
    fixture_remove_pod(fixture, "p1");
    assert_int_equal(fixture_used(fixture, "n1", GPU), 3);
    assert_int_equal(fixture_free_amount(fixture, "n1", GPU), 5);
}

/* A cluster file may contain a negative allocatable: it must not wrap around. */
static void test_a_negative_allocatable_does_not_wrap(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "pods=110 " GPU "=-5", "");
    fixture_put_pod(fixture, "p1", "n1", GPU "=max");
    assert_int_equal(fixture_free_amount(fixture, "n1", GPU), INT64_MIN);
    fixture_remove_pod(fixture, "p1");
    assert_int_equal(fixture_free_amount(fixture, "n1", GPU), -5);
}

/* gpushare: devices built once; a node that shrinks 8 -> 4 keeps 8. */
static void test_a_shrunk_node_has_less_at_once(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "pods=110 " GPU "=8", "");
    fixture_put_pod(fixture, "p1", "n1", GPU "=6");
    fixture_put_node(fixture, "n1", "pods=110 " GPU "=4", "");
    assert_int_equal(fixture_free_amount(fixture, "n1", GPU), -2);
    assert_string_equal(fixture_verdict(fixture, "n1", GPU "=1"), "gpu_free");
    assert_string_equal(fixture_verdict(fixture, "n1", GPU "=5"), "gpu_total");
    fixture_put_node(fixture, "n1", "pods=110", ""); /* the device plugin is removed */
    assert_int_equal(fixture_free_amount(fixture, "n1", GPU), -6);
    assert_string_equal(fixture_verdict(fixture, "n1", GPU "=1"), "gpu_absent");
    fixture_remove_pod(fixture, "p1");
    assert_int_equal(fixture_used(fixture, "n1", GPU), -1);
    fixture_put_node(fixture, "n1", "pods=110 " GPU "=8", "");
    assert_int_equal(fixture_free_amount(fixture, "n1", GPU), 8);
}

/* gpushare: if the count arrives before another attribute, that attribute is never read. */
static void test_the_count_may_come_before_the_model(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", GPU "=8", "");
    assert_string_equal(node_traits(fixture_find_node(fixture, "n1"))->gpus.model.chip, "");
    fixture_put_node(fixture, "n1", GPU "=8", "nvidia.com/gpu.product=NVIDIA-H200");
    assert_string_equal(node_traits(fixture_find_node(fixture, "n1"))->gpus.model.chip, "H200");
    assert_int_equal(fixture_free_amount(fixture, "n1", GPU), 8);
}

static void test_the_model_may_come_before_the_count(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "", "nvidia.com/gpu.product=NVIDIA-H200");
    fixture_put_node(fixture, "n1", GPU "=0", "nvidia.com/gpu.product=NVIDIA-H200");
    assert_int_equal(fixture_free_amount(fixture, "n1", GPU), 0);
    fixture_put_node(fixture, "n1", GPU "=8", "nvidia.com/gpu.product=NVIDIA-H200");
    assert_int_equal(fixture_free_amount(fixture, "n1", GPU), 8);
    assert_string_equal(node_traits(fixture_find_node(fixture, "n1"))->gpus.model.chip, "H200");
}

static void test_a_changed_model_replaces_the_old(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", GPU "=8", "accelerator=Tesla-K80");
    fixture_put_pod(fixture, "p1", "n1", GPU "=1");
    fixture_put_node(fixture, "n1", GPU "=8", "accelerator=Tesla-V100");
    assert_string_equal(node_traits(fixture_find_node(fixture, "n1"))->gpus.model.chip, "V100");
    fixture_put_node(fixture, "n1", GPU "=8", "");
    assert_string_equal(node_traits(fixture_find_node(fixture, "n1"))->gpus.model.chip, "");
    assert_int_equal(fixture_free_amount(fixture, "n1", GPU), 7);
}

/* gpushare: startup fails if a pod names a deleted node. */
static void test_a_pod_may_name_an_absent_node(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_pod(fixture, "p1", "gone", GPU "=2");
    fixture_put_pod(fixture, "p2", "gone", GPU "=1");
    assert_int_equal(cluster_n_nodes(fixture->cluster), 0);
    assert_int_equal(cluster_n_pods(fixture->cluster), 2);
    assert_null(cluster_find_node(fixture->cluster, "gone"));
    assert_null(cluster_next_node(fixture->cluster, NULL));
    assert_string_equal(fixture_verdict(fixture, "gone", GPU "=1"), "node_unknown");
    fixture_put_node(fixture, "gone", GPU "=8", ""); /* it counts when the node appears */
    assert_int_equal(fixture_used(fixture, "gone", GPU), 3);
    assert_int_equal(fixture_free_amount(fixture, "gone", GPU), 5);
}

static void test_a_returning_node_has_correct_sums(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "cpu=8000 " GPU "=8", "accelerator=Tesla-K80");
    fixture_put_pod(fixture, "p1", "n1", "cpu=500 " GPU "=2");
    fixture_put_pod(fixture, "p2", "n1", "cpu=500 " GPU "=3");
    fixture_remove_node(fixture, "n1");
    assert_null(cluster_find_node(fixture->cluster, "n1"));
    assert_int_equal(cluster_n_nodes(fixture->cluster), 0);
    assert_int_equal(cluster_n_pods(fixture->cluster), 2);
    fixture_remove_pod(fixture, "p1"); /* deleted while the node is away */
    fixture_put_node(fixture, "n1", "cpu=8000 " GPU "=4", "accelerator=Tesla-V100");
    assert_int_equal(fixture_used(fixture, "n1", GPU), 3);
    assert_int_equal(fixture_free_amount(fixture, "n1", GPU), 1);
    assert_string_equal(node_traits(fixture_find_node(fixture, "n1"))->gpus.model.chip, "V100");
}

/* gpushare: a terminating pod counts as finished; its GPU is reassigned during its grace period. */
static void test_a_terminating_pod_still_counts(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "pods=110 " GPU "=2", "");
    struct pod_facts facts = fixture_pod_facts(fixture, "p1", "n1", GPU "=2");
    facts.terminating = true;
    fixture_put_pod_facts(fixture, &facts);
    assert_int_equal(fixture_free_amount(fixture, "n1", GPU), 0);
    assert_string_equal(fixture_verdict(fixture, "n1", GPU "=1"), "gpu_free");
    facts.finished = true;
    fixture_put_pod_facts(fixture, &facts);
    assert_int_equal(fixture_free_amount(fixture, "n1", GPU), 2);
}

/* elastic: a retry skips the ledger because the pod is "known"; two pods, one GPU. */
static void test_a_rebound_pod_is_counted(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", GPU "=1", "");
    fixture_put_node(fixture, "n2", GPU "=1", "");
    fixture_put_pod(fixture, "p1", "", GPU "=1");
    fixture_put_pod(fixture, "p1", "n1", GPU "=1");
    fixture_put_pod(fixture, "p1", "", GPU "=1"); /* the binding failed */
    assert_int_equal(fixture_free_amount(fixture, "n1", GPU), 1);
    fixture_put_pod(fixture, "p1", "n2", GPU "=1"); /* the retry */
    assert_int_equal(fixture_free_amount(fixture, "n1", GPU), 1);
    assert_int_equal(fixture_free_amount(fixture, "n2", GPU), 0);
}

/* elastic: a container without GPU request gets GPU 0. */
static void test_a_pod_without_gpu_request_uses_none(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "cpu=8000 pods=110 " GPU "=1", "");
    fixture_put_pod(fixture, "p1", "n1", "cpu=500");
    fixture_put_pod(fixture, "p2", "n1", "");
    struct pod_facts bare = fixture_pod_facts(fixture, "p3", "n1", "");
    bare.shape = (struct shape_facts){0};
    fixture_put_pod_facts(fixture, &bare);
    assert_int_equal(fixture_used(fixture, "n1", GPU), 0);
    assert_int_equal(fixture_used(fixture, "n1", "cpu"), 500);
    assert_int_equal(fixture_used(fixture, "n1", "pods"), 2);
}

/* GAS: succeeded pods count again after a restart. */
static void test_a_finished_pod_uses_nothing(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", GPU "=2", "");
    struct pod_facts facts = fixture_pod_facts(fixture, "p1", "n1", GPU "=2");
    fixture_put_pod_facts(fixture, &facts);
    assert_int_equal(fixture_free_amount(fixture, "n1", GPU), 0);
    facts.finished = true;
    fixture_put_pod_facts(fixture, &facts);
    assert_int_equal(fixture_free_amount(fixture, "n1", GPU), 2);
    fixture_put_pod_facts(fixture, &facts); /* the first list after a restart contains it again */
    assert_int_equal(fixture_free_amount(fixture, "n1", GPU), 2);
    assert_null(node_next_pod(fixture_find_node(fixture, "n1"), NULL));
    assert_int_equal(cluster_n_pods(fixture->cluster), 1);
    fixture_remove_pod(fixture, "p1");
    assert_int_equal(fixture_free_amount(fixture, "n1", GPU), 2);
}

/* GAS: force-deleted pods are never released, because no update reports them finished. */
static void test_a_force_deleted_pod_is_released(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", GPU "=2", "");
    fixture_put_pod(fixture, "p1", "n1", GPU "=2");
    fixture_remove_pod(fixture, "p1");
    assert_int_equal(fixture_free_amount(fixture, "n1", GPU), 2);
    assert_int_equal(cluster_n_pods(fixture->cluster), 0);
    fixture_remove_pod(fixture, "p1"); /* a repeated event */
    assert_int_equal(fixture_free_amount(fixture, "n1", GPU), 2);
}

/* GAS: state keyed by name; a recreated pod inherits it or collides. The earlier pod was deleted,
 * with or without an event: a name is one pod at a time. */
static void test_a_pod_of_the_same_name_is_another_pod(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", GPU "=8", "");
    struct pod_facts first = fixture_pod_facts(fixture, "uid-1", "n1", GPU "=2");
    struct pod_facts second = fixture_pod_facts(fixture, "uid-2", "", GPU "=3");
    first.name = second.name = "train-0";
    fixture_put_pod_facts(fixture, &first);
    assert_int_equal(fixture_used(fixture, "n1", GPU), 2);
    fixture_put_pod_facts(fixture, &second); /* the first one's deletion was missed or is late */
    assert_int_equal(fixture_free_amount(fixture, "n1", GPU), 8);
    assert_null(cluster_find_pod(fixture->cluster, "uid-1"));
    second.node_name = "n1";
    fixture_put_pod_facts(fixture, &second);
    fixture_remove_pod(fixture, "uid-1");
    assert_int_equal(fixture_used(fixture, "n1", GPU), 3);
    assert_string_equal(cluster_find_pod(fixture->cluster, "uid-2")->name, "train-0");
}

static void test_a_repeated_event_changes_nothing(void **state)
{
    struct fixture *fixture = *state;
    const struct node_facts node =
        fixture_node_facts(fixture, "n1", "cpu=1 " GPU "=8", "zone=a,accelerator=A100");
    struct node_facts shuffled =
        fixture_node_facts(fixture, "n1", GPU "=8 cpu=1", "accelerator=A100,zone=a");
    const struct pod_facts pod = fixture_pod_facts(fixture, "p1", "n1", GPU "=2");
    fixture_put_node_facts(fixture, &node);
    fixture_put_pod_facts(fixture, &pod);
    uint64_t version = cluster_version(fixture->cluster);
    fixture_put_pod_facts(fixture, &pod);
    fixture_put_pod(fixture, "p1", "n1", GPU "=2");
    fixture_put_node_facts(fixture, &node);
    fixture_put_node_facts(fixture, &shuffled);
    fixture_remove_pod(fixture, "unheard-of");
    fixture_remove_node(fixture, "unheard-of");
    assert_int_equal(cluster_version(fixture->cluster), version);
    assert_int_equal(fixture_used(fixture, "n1", GPU), 2);
    assert_int_equal(fixture_used(fixture, "n1", "pods"), 1);
    fixture_remove_pod(fixture, "p1");
    fixture_remove_node(fixture, "n1");
    version = cluster_version(fixture->cluster);
    fixture_remove_pod(fixture, "p1");
    fixture_remove_node(fixture, "n1");
    assert_int_equal(cluster_version(fixture->cluster), version);
}

/* A cache without deletion after a relist: objects deleted unseen stay for ever. */
static void test_a_relist_removes_absent_objects(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", GPU "=8", "");
    fixture_put_node(fixture, "n2", GPU "=8", "");
    fixture_put_pod(fixture, "p1", "n1", GPU "=1");
    fixture_put_pod(fixture, "p2", "n1", GPU "=2");
    fixture_put_pod(fixture, "p3", "", GPU "=4");

    cluster_relist_begin(fixture->cluster, CLUSTER_PODS);
    fixture_put_pod(fixture, "p1", "n1", GPU "=1"); /* unchanged, but seen */
    assert_int_equal(fixture_used(fixture, "n1", GPU), 3);
    fixture_put_pod(fixture, "p4", "n2", GPU "=8");
    cluster_relist_end(fixture->cluster, CLUSTER_PODS);
    assert_int_equal(cluster_n_pods(fixture->cluster), 2);
    assert_int_equal(fixture_used(fixture, "n1", GPU), 1);
    assert_int_equal(fixture_used(fixture, "n2", GPU), 8);
    assert_int_equal(cluster_n_nodes(fixture->cluster), 2);

    cluster_relist_begin(fixture->cluster, CLUSTER_NODES);
    fixture_put_node(fixture, "n2", GPU "=8", "");
    cluster_relist_end(fixture->cluster, CLUSTER_NODES);
    assert_null(cluster_find_node(fixture->cluster, "n1"));
    assert_int_equal(cluster_n_nodes(fixture->cluster), 1);
    assert_int_equal(cluster_n_pods(fixture->cluster), 2);
    fixture_put_node(fixture, "n1", GPU "=8", "");
    assert_int_equal(fixture_used(fixture, "n1", GPU), 1);
}

static void test_a_broken_list_sweeps_nothing(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_pod(fixture, "p1", "", "");
    fixture_put_pod(fixture, "p2", "", "");
    cluster_relist_end(fixture->cluster, CLUSTER_PODS); /* no list was begun */
    assert_int_equal(cluster_n_pods(fixture->cluster), 2);
    cluster_relist_begin(fixture->cluster, CLUSTER_PODS);
    fixture_put_pod(fixture, "p1", "", "");
    cluster_relist_begin(fixture->cluster, CLUSTER_PODS); /* interrupted and restarted */
    assert_int_equal(cluster_n_pods(fixture->cluster), 2);
    fixture_put_pod(fixture, "p2", "", "");
    fixture_remove_pod(fixture, "p2"); /* a watch event in between */
    fixture_put_pod(fixture, "p3", "", "");
    cluster_relist_end(fixture->cluster, CLUSTER_PODS);
    assert_null(cluster_find_pod(fixture->cluster, "p1"));
    assert_null(cluster_find_pod(fixture->cluster, "p2"));
    assert_non_null(cluster_find_pod(fixture->cluster, "p3"));
    fixture_put_pod(fixture, "p4", "", "");
    cluster_relist_end(fixture->cluster, CLUSTER_PODS);
    assert_int_equal(cluster_n_pods(fixture->cluster), 2);
}

static void test_an_empty_relist_empties_the_ledger(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", GPU "=8", "");
    fixture_put_pod(fixture, "p1", "n1", GPU "=1");
    fixture_put_pod(fixture, "p2", "gone", GPU "=1");
    cluster_relist_begin(fixture->cluster, CLUSTER_NODES);
    cluster_relist_end(fixture->cluster, CLUSTER_NODES);
    assert_int_equal(cluster_n_nodes(fixture->cluster), 0);
    cluster_relist_begin(fixture->cluster, CLUSTER_PODS);
    cluster_relist_end(fixture->cluster, CLUSTER_PODS);
    assert_int_equal(cluster_n_pods(fixture->cluster), 0);
}

/* Without an advertised amount no sum is kept, because tenants may invent any number of names. The
 * pods' requests count once it is advertised. */
static void test_a_resource_is_counted_once_it_is_advertised(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "pods=110 cpu=8000", "");
    fixture_put_pod(fixture, "p1", "n1", "example.com/fpga=3 hugepages-2Mi=4 ephemeral-storage=5");
    assert_int_equal(fixture_used(fixture, "n1", "example.com/fpga"), -1);
    assert_int_equal(fixture_used(fixture, "n1", "hugepages-2Mi"), -1);
    assert_int_equal(fixture_used(fixture, "n1", "ephemeral-storage"), 5);
    assert_string_equal(fixture_verdict(fixture, "n1", "example.com/fpga=1"), "resource");
    fixture_put_node(fixture, "n1", "pods=110 cpu=8000 example.com/fpga=4", "");
    assert_int_equal(fixture_free_amount(fixture, "n1", "example.com/fpga"), 1);
    assert_string_equal(fixture_verdict(fixture, "n1", "example.com/fpga=1"), "fits");
    fixture_put_node(fixture, "n1", "pods=110 cpu=8000", "");
    assert_int_equal(fixture_used(fixture, "n1", "example.com/fpga"), -1);
    fixture_put_node(fixture, "n1", "pods=110 cpu=8000 example.com/fpga=4", "");
    assert_int_equal(fixture_free_amount(fixture, "n1", "example.com/fpga"), 1);
    fixture_remove_pod(fixture, "p1");
    assert_int_equal(fixture_free_amount(fixture, "n1", "example.com/fpga"), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_an_over_full_node_has_negative_free),
        TEST(test_overflowing_sums_saturate),
        TEST(test_a_negative_allocatable_does_not_wrap),
        TEST(test_a_shrunk_node_has_less_at_once),
        TEST(test_the_count_may_come_before_the_model),
        TEST(test_the_model_may_come_before_the_count),
        TEST(test_a_changed_model_replaces_the_old),
        TEST(test_a_pod_may_name_an_absent_node),
        TEST(test_a_returning_node_has_correct_sums),
        TEST(test_a_terminating_pod_still_counts),
        TEST(test_a_rebound_pod_is_counted),
        TEST(test_a_pod_without_gpu_request_uses_none),
        TEST(test_a_finished_pod_uses_nothing),
        TEST(test_a_force_deleted_pod_is_released),
        TEST(test_a_pod_of_the_same_name_is_another_pod),
        TEST(test_a_repeated_event_changes_nothing),
        TEST(test_a_relist_removes_absent_objects),
        TEST(test_a_broken_list_sweeps_nothing),
        TEST(test_an_empty_relist_empties_the_ledger),
        TEST(test_a_resource_is_counted_once_it_is_advertised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
