/* fragmentation: useless free GPUs, computed by hand. */
#include "decide/fragmentation.h"
#include "fixture_question.h"
#include "unit.h"

#define GPU "nvidia.com/gpu"
#define T4 "accelerator=T4"
#define A100 "accelerator=A100"

/* One line each: "RESOURCE MODEL: FRAGMENTED of FREE, largest LARGEST, whole WHOLE/NODES". */
static const char *told(struct fixture *fixture, const struct cluster *cluster)
{
    const struct fragmentations all = fragmentation_of(cluster, fixture->arena);
    const char *text = "";
    for (size_t i = 0; i < all.n; i++) {
        const struct fragmentation *item = &all.items[i];
        text = arena_printf(fixture->arena, "%s%s %s: %.4g of %lld, largest %lld, whole %zu/%zu\n",
                            text, item->resource, item->model, item->fragmented,
                            (long long)free_gpus_sum(&item->free), (long long)item->largest_block,
                            item->n_whole, item->n_nodes);
    }
    return text;
}

static void check(struct fixture *fixture, const char *expected)
{
    gpu_demand_settle(fixture->cluster);
    assert_string_equal(told(fixture, fixture->cluster), expected);
}

/* Demand: 6 GPUs by pods of 6, and 2 by pods of 1. The 2 free GPUs on "two" are useless to three
 * quarters of it. */
static void test_fragments_are_weighed_by_requested_gpus(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "two", GPU "=8", T4);
    fixture_put_node(fixture, "eight", GPU "=8", T4);
    fixture_put_pod(fixture, "six", "two", GPU "=6");
    fixture_put_pod(fixture, "a", "", GPU "=1");
    fixture_put_pod(fixture, "b", "", GPU "=1");
    check(fixture, GPU " T4: 1.5 of 10, largest 8, whole 1/2\n");
}

/* GPUs without CPU are useless too. */
static void test_other_resources_limit_usable_gpus(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n", GPU "=8 cpu=8000", T4);
    fixture_put_pod(fixture, "cpu-only", "n", "cpu=7500");
    fixture_put_pod(fixture, "typical", "", GPU "=1 cpu=1000");
    check(fixture, GPU " T4: 8 of 8, largest 8, whole 1/1\n");
}

/* Sorted by resource and model. Each resource has its own typical pods, and a pod confined to a
 * model cannot use others. */
static void test_by_resource_and_model(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "t4", GPU "=4", T4);
    fixture_put_node(fixture, "a100", GPU "=8", A100);
    fixture_put_node(fixture, "amd", "amd.com/gpu=4", "accelerator=MI300X");
    struct pod_facts confined = fixture_pod_facts(fixture, "p", "", GPU "=2");
    confined.shape.wants.accept = fixture_models(fixture, "A100", &confined.shape.wants.n_accept);
    fixture_put_pod_facts(fixture, &confined);
    fixture_put_pod(fixture, "q", "", GPU "=6");
    fixture_put_pod(fixture, "r", "", "amd.com/gpu=1");
    check(fixture,
          "amd.com/gpu MI300X: 0 of 4, largest 4, whole 1/1\n" GPU
          " A100: 0 of 8, largest 8, whole 1/1\n" GPU " T4: 4 of 4, largest 4, whole 1/1\n");
}

static void test_no_demand_means_no_fragmentation(void **state)
{
    struct fixture *fixture = *state;
    check(fixture, "");
    fixture_put_node(fixture, "n", GPU "=8", T4);
    check(fixture, GPU " T4: 0 of 8, largest 8, whole 1/1\n");
}

/* GPUs of cordoned nodes are closed; an over-full one has nothing free. */
static void test_cordoned_and_over_full_nodes_are_no_block(void **state)
{
    struct fixture *fixture = *state;
    struct node_facts cordoned = fixture_node_facts(fixture, "cordoned", GPU "=8", T4);
    cordoned.unschedulable = true;
    fixture_put_node_facts(fixture, &cordoned);
    fixture_put_node(fixture, "over", GPU "=4", T4);
    fixture_put_pod(fixture, "p", "over", GPU "=6");
    check(fixture, GPU " T4: 0 of 8, largest 0, whole 0/1\n");
}

/* Nodes with the largest possible number of GPUs. */
static void test_sums_saturate(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "a", GPU "=max", T4);
    fixture_put_node(fixture, "b", GPU "=max", T4);
    fixture_put_pod(fixture, "p", "", GPU "=1");
    check(fixture, GPU " T4: 0 of 2199023255552, largest 1099511627776, whole 2/2\n");
}

/* Before and after a placement on a fork. */
static void test_a_fork_has_its_own_fragmentation(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n", GPU "=8", T4);
    fixture_put_pod(fixture, "typical", "", GPU "=4");
    struct cluster *fork = cluster_fork(fixture->cluster);
    const struct shape_facts facts = fixture_shape_facts(fixture, GPU "=5");
    const struct pod_shape *shape = cluster_resolve(fork, &facts, fixture->arena);
    assert_string_equal(told(fixture, fork), GPU " T4: 0 of 8, largest 8, whole 1/1\n");
    cluster_place(fork, cluster_find_node(fork, "n"), shape, 1);
    assert_string_equal(told(fixture, fork), GPU " T4: 3 of 3, largest 3, whole 0/1\n");
    cluster_fork_free(fork);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_fragments_are_weighed_by_requested_gpus),
        TEST(test_other_resources_limit_usable_gpus),
        TEST(test_by_resource_and_model),
        TEST(test_no_demand_means_no_fragmentation),
        TEST(test_cordoned_and_over_full_nodes_are_no_block),
        TEST(test_sums_saturate),
        TEST(test_a_fork_has_its_own_fragmentation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
