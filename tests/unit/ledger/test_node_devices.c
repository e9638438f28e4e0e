/* node_devices: the devices that a node's groups count, and when the device plugin's GPUs count
 * instead. */
#include "fixture_devices.h"
#include "ledger/gpu_demand.h"
#include "ledger/node_hot.h"
#include "unit.h"

#include <string.h>

#define GPU "nvidia.com/gpu"
#define AMD_GPU "amd.com/gpu"

static const char *groups_on(struct fixture *fixture, const char *node)
{
    return fixture_groups(fixture, fixture_find_node(fixture, node));
}

static void test_claims_use_the_devices_of_slices(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "cpu=8000", "");
    assert_string_equal(groups_on(fixture, "n1"), "");
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "H100, H100, H100!, L4");
    assert_string_equal(groups_on(fixture, "n1"), "gpu.nvidia.com H100 3: 0 allocated, 2 free; "
                                                  "gpu.nvidia.com L4 1: 0 allocated, 1 free");
    fixture_put_claim(fixture, "c", "n1", NVIDIA_DRIVER, "gpu-0, gpu-3");
    assert_string_equal(groups_on(fixture, "n1"), "gpu.nvidia.com H100 3: 1 allocated, 1 free; "
                                                  "gpu.nvidia.com L4 1: 1 allocated, 0 free");
    fixture_put_claim(fixture, "c", "n1", NVIDIA_DRIVER, "");
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "H100");
    assert_string_equal(groups_on(fixture, "n1"), "gpu.nvidia.com H100 1: 0 allocated, 1 free");
    fixture_remove_slice(fixture, "n1", NVIDIA_DRIVER);
    assert_string_equal(groups_on(fixture, "n1"), "");
}

static void test_groups_are_sorted_by_driver_and_model(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "cpu=8000", "");
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "L4, ?, H100");
    fixture_put_slice(fixture, "n1", AMD_DRIVER, "MI300X");
    assert_string_equal(groups_on(fixture, "n1"), "gpu.amd.com MI300X 1: 0 allocated, 1 free; "
                                                  "gpu.nvidia.com  1: 0 allocated, 1 free; "
                                                  "gpu.nvidia.com H100 1: 0 allocated, 1 free; "
                                                  "gpu.nvidia.com L4 1: 0 allocated, 1 free");
    assert_int_equal(node_free_gpus(fixture_find_node(fixture, "n1")), 4);
}

/* The watches of nodes, slices and claims deliver in any order. */
static void test_a_node_that_appears_last_has_its_devices(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_claim(fixture, "c", "n1", NVIDIA_DRIVER, "gpu-1");
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "H100, H100");
    fixture_put_node(fixture, "n1", "cpu=8000", "");
    assert_string_equal(groups_on(fixture, "n1"), "gpu.nvidia.com H100 2: 1 allocated, 1 free");
}

static const char *model_of(struct fixture *fixture, const char *node)
{
    char text[2 * GPU_MODEL_TEXT_MAX];
    const struct node_traits *traits = node_traits(fixture_find_node(fixture, node));
    return arena_printf(fixture->arena, "%s by %s", gpu_model_text(&traits->gpus.model, text),
                        traits->gpus.driver[0] ? traits->gpus.driver : traits->gpus.label);
}

static void test_a_node_has_the_one_model_of_its_devices(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_slice(fixture, "early", NVIDIA_DRIVER, "H100");
    fixture_put_node(fixture, "early", "cpu=8000", "");
    assert_string_equal(model_of(fixture, "early"), "H100 by gpu.nvidia.com");
    fixture_put_node(fixture, "n1", "cpu=8000", "");
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "H100, H100!");
    assert_string_equal(model_of(fixture, "n1"), "H100 by gpu.nvidia.com");
    fixture_put_claim(fixture, "c", "n1", NVIDIA_DRIVER, "gpu-0");
    assert_string_equal(model_of(fixture, "n1"), "H100 by gpu.nvidia.com");
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "H100, L4");
    assert_string_equal(model_of(fixture, "n1"), " by ");
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "H100, ?");
    assert_string_equal(model_of(fixture, "n1"), " by ");
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "L4");
    fixture_put_slice(fixture, "n1", AMD_DRIVER, "MI300X");
    assert_string_equal(model_of(fixture, "n1"), " by ");
    fixture_remove_slice(fixture, "n1", AMD_DRIVER);
    assert_string_equal(model_of(fixture, "n1"), "L4 by gpu.nvidia.com");
    fixture_put_node(fixture, "n1", "cpu=8000", "accelerator=nvidia-a100");
    assert_string_equal(model_of(fixture, "n1"), "A100 by accelerator");
    fixture_put_node(fixture, "n1", "cpu=8000", "");
    assert_string_equal(model_of(fixture, "n1"), "L4 by gpu.nvidia.com");
    fixture_remove_slice(fixture, "n1", NVIDIA_DRIVER);
    assert_string_equal(model_of(fixture, "n1"), " by ");
}

/* Where pods wait for such a node, they learn of it. */
static void test_the_model_of_devices_is_a_change_of_the_node(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "cpu=8000", "");
    cluster_set_now(fixture->cluster, 5000);
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "H100");
    assert_int_equal(node_changed_ms(fixture_find_node(fixture, "n1")), 5000);
    cluster_set_now(fixture->cluster, 6000);
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "H100, H100");
    assert_int_equal(node_changed_ms(fixture_find_node(fixture, "n1")), 5000);
}

static const struct node *find_missing(const struct fixture *fixture, const char *name)
{
    const struct node *node = cluster_next_missing_node(fixture->cluster, NULL);
    while (node && strcmp(node_name(node), name) != 0)
        node = cluster_next_missing_node(fixture->cluster, node);
    return node;
}

static void test_a_deleted_node_that_a_pod_names_has_no_devices(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "cpu=8000", "");
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "H100");
    fixture_put_pod(fixture, "p", "n1", "cpu=1");
    fixture_remove_node(fixture, "n1");
    assert_string_equal(fixture_groups(fixture, find_missing(fixture, "n1")), "");
    fixture_put_claim(fixture, "c", "n1", NVIDIA_DRIVER, "gpu-0");
    assert_string_equal(fixture_groups(fixture, find_missing(fixture, "n1")), "");
    fixture_put_node(fixture, "n1", "cpu=8000", "");
    assert_string_equal(groups_on(fixture, "n1"), "gpu.nvidia.com H100 1: 1 allocated, 0 free");
}

/* Another resource of the node, or its first pod, must not change the devices' numbers. */
static void test_rows_and_devices_are_apart(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "cpu=8000", "");
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "H100, H100");
    fixture_put_claim(fixture, "c", "n1", NVIDIA_DRIVER, "gpu-0");
    fixture_put_pod(fixture, "p", "n1", GPU "=1");
    fixture_put_node(fixture, "n1", "cpu=8000 memory=5 example.com/fpga=1", "");
    assert_string_equal(groups_on(fixture, "n1"), "gpu.nvidia.com H100 2: 1 allocated, 1 free");
    assert_int_equal(node_free_gpus(fixture_find_node(fixture, "n1")), 1);
    size_t n = 0;
    const struct node_resource *rows = node_resources(fixture_find_node(fixture, "n1"), &n);
    for (size_t i = 0; i < n; i++)
        assert_string_not_equal(rows[i].resource->name, NVIDIA_DRIVER);
    assert_null(cluster_find_resource(fixture->cluster, NVIDIA_DRIVER));
}

/* Published both ways. */

static void test_the_device_plugin_of_the_same_vendor_shadows(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "cpu=8000 " GPU "=2", "");
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "H100, H100");
    const struct node *node = fixture_find_node(fixture, "n1");
    assert_string_equal(groups_on(fixture, "n1"),
                        "gpu.nvidia.com H100 2: 0 allocated, 2 free, shadowed");
    assert_true(node_publishes_twice(node));
    assert_int_equal(node_free_gpus(node), 2);
    assert_non_null(node_hot(node)->gpus);
    assert_false(node_hot(node)->has_devices);
    /* The plugin goes, the devices stay; and back. */
    fixture_put_node(fixture, "n1", "cpu=8000", "");
    assert_string_equal(groups_on(fixture, "n1"), "gpu.nvidia.com H100 2: 0 allocated, 2 free");
    assert_false(node_publishes_twice(node));
    assert_true(node_hot(node)->has_devices);
    assert_int_equal(node_free_gpus(node), 2);
    fixture_put_node(fixture, "n1", "cpu=8000 nvidia.com/mig-1g.10gb=7", "");
    assert_true(node_publishes_twice(node));
    assert_int_equal(node_free_gpus(node), 7);
}

/* kube-scheduler allocates by a claim where none is allocatable. */
static void test_an_idle_device_plugin_shadows_nothing(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "cpu=8000 " GPU "=0", "");
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "H100");
    assert_false(node_publishes_twice(fixture_find_node(fixture, "n1")));
    assert_int_equal(node_free_gpus(fixture_find_node(fixture, "n1")), 1);
}

static void test_the_device_plugin_of_another_vendor_adds_up(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "cpu=8000 " AMD_GPU "=4", "");
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "H100");
    const struct node *node = fixture_find_node(fixture, "n1");
    assert_false(node_publishes_twice(node));
    assert_int_equal(node_free_gpus(node), 5);
    assert_string_equal(node_hot(node)->gpus->name, AMD_GPU);
    fixture_put_pod(fixture, "p", "n1", AMD_GPU "=6");
    assert_int_equal(node_free_gpus(node), 1);
}

/* Pools. */

static const struct gpu_demand *demand_for(struct fixture *fixture, const char *resource)
{
    gpu_demand_settle(fixture->cluster);
    const struct resource *known = cluster_find_resource(fixture->cluster, resource);
    return known ? gpu_demand_find(fixture->cluster, known) : NULL;
}

/* Pods that request the extended resource get devices. */
static void map_gpus(struct fixture *fixture)
{
    cluster_upsert_device_class(fixture->cluster,
                                &(struct device_class_facts){"gpu.nvidia.com", .resource = GPU});
    fixture_check(fixture);
}

/* -1: no such pool. */
static int64_t free_in_pool(struct fixture *fixture, const char *resource, const char *model)
{
    const struct gpu_demand *demand = demand_for(fixture, resource);
    for (size_t i = 0; demand && i < demand->n_pools; i++) {
        if (strcmp(demand->pools[i]->model, model) == 0)
            return demand->pools[i]->free;
    }
    return -1;
}

static void test_free_devices_are_in_the_pools_of_their_models(void **state)
{
    struct fixture *fixture = *state;
    map_gpus(fixture);
    fixture_put_node(fixture, "n1", "cpu=8000", "");
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "H100, H100, L4");
    fixture_put_node(fixture, "n2", "cpu=8000 " GPU "=4", "accelerator=H100");
    assert_int_equal(free_in_pool(fixture, GPU, "H100"), 6);
    assert_int_equal(free_in_pool(fixture, GPU, "L4"), 1);
    assert_int_equal(demand_for(fixture, GPU)->max_gpus, 4);
    fixture_put_claim(fixture, "c", "n1", NVIDIA_DRIVER, "gpu-0, gpu-2");
    assert_int_equal(free_in_pool(fixture, GPU, "H100"), 5);
    assert_int_equal(free_in_pool(fixture, GPU, "L4"), 0);
    fixture_remove_slice(fixture, "n1", NVIDIA_DRIVER);
    assert_int_equal(free_in_pool(fixture, GPU, "H100"), 4);
    assert_int_equal(free_in_pool(fixture, GPU, "L4"), -1);
}

static void test_a_cordoned_node_offers_no_devices(void **state)
{
    struct fixture *fixture = *state;
    struct node_facts facts = fixture_node_facts(fixture, "n1", "cpu=8000", "");
    map_gpus(fixture);
    fixture_put_node_facts(fixture, &facts);
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "H100");
    assert_int_equal(free_in_pool(fixture, GPU, "H100"), 1);
    facts.unschedulable = true;
    fixture_put_node_facts(fixture, &facts);
    assert_int_equal(free_in_pool(fixture, GPU, "H100"), -1);
}

static void test_shadowed_devices_are_in_no_pool(void **state)
{
    struct fixture *fixture = *state;
    map_gpus(fixture);
    fixture_put_node(fixture, "n1", "cpu=8000 " GPU "=2", "accelerator=A100");
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "H100, H100");
    assert_int_equal(free_in_pool(fixture, GPU, "H100"), -1);
    assert_int_equal(free_in_pool(fixture, GPU, "A100"), 2);
}

/* Changes. */

/* filter takes verdicts on nodes that changed lately for verdicts of a late watch. */
static void test_allocation_changes_no_node(void **state)
{
    struct fixture *fixture = *state;
    cluster_set_now(fixture->cluster, 1);
    fixture_put_node(fixture, "n1", "cpu=8000", "");
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "H100, H100");
    gpu_demand_settle(fixture->cluster);
    cluster_set_now(fixture->cluster, 2);
    uint64_t version = cluster_version(fixture->cluster);
    fixture_put_claim(fixture, "c", "n1", NVIDIA_DRIVER, "gpu-0");
    assert_true(cluster_version(fixture->cluster) > version);
    assert_int_equal(cluster_nodes_changed_ms(fixture->cluster), 1);
    assert_true(gpu_demand_is_settled(fixture->cluster));
    version = cluster_version(fixture->cluster);
    fixture_put_claim(fixture, "c", "n1", NVIDIA_DRIVER, "gpu-0");
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "H100, H100");
    fixture_put_claim(fixture, "of-no-node", "unheard-of", NVIDIA_DRIVER, "gpu-0");
    assert_int_equal(cluster_version(fixture->cluster), version);
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "H100");
    assert_true(cluster_version(fixture->cluster) > version);
}

/* No verdict depends on devices, but for the model, so none is late because they changed. */
static void test_devices_make_no_verdict_late(void **state)
{
    struct fixture *fixture = *state;
    cluster_set_now(fixture->cluster, 1);
    fixture_put_node(fixture, "n1", "cpu=8000", "");
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "H100");
    gpu_demand_settle(fixture->cluster);
    const uint64_t version = cluster_version(fixture->cluster);
    cluster_set_now(fixture->cluster, 2);
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "H100, H100");
    assert_true(cluster_version(fixture->cluster) > version);
    assert_false(gpu_demand_is_settled(fixture->cluster));
    assert_int_equal(cluster_nodes_changed_ms(fixture->cluster), 1);
    assert_int_equal(node_changed_ms(fixture_find_node(fixture, "n1")), 1);
}

/* Pods that request the resource get devices only through a class that maps it. */
static void test_a_device_class_settles_demand_anew(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "cpu=8000", "");
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "H100");
    assert_int_equal(free_in_pool(fixture, GPU, "H100"), -1);
    map_gpus(fixture);
    assert_int_equal(free_in_pool(fixture, GPU, "H100"), 1);
    cluster_relist_begin(fixture->cluster, CLUSTER_DEVICE_CLASSES);
    cluster_relist_end(fixture->cluster, CLUSTER_DEVICE_CLASSES);
    fixture_check(fixture);
    assert_int_equal(free_in_pool(fixture, GPU, "H100"), -1);
}

/* Lists. */

static void test_what_a_list_does_not_name_is_deleted(void **state)
{
    struct fixture *fixture = *state;
    struct cluster *cluster = fixture->cluster;
    fixture_put_node(fixture, "n1", "cpu=8000", "");
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "H100, H100, H100");
    fixture_put_slice(fixture, "n1", AMD_DRIVER, "MI300X");
    fixture_put_claim(fixture, "kept", "n1", NVIDIA_DRIVER, "gpu-0");
    fixture_put_claim(fixture, "listed", "n1", NVIDIA_DRIVER, "gpu-1");
    fixture_put_claim(fixture, "gone", "n1", NVIDIA_DRIVER, "gpu-2");
    cluster_relist_begin(cluster, CLUSTER_CLAIMS);
    fixture_put_claim(fixture, "listed", "n1", NVIDIA_DRIVER, "gpu-1");
    cluster_keep_resource_claim(cluster, "default", "kept");
    cluster_relist_end(cluster, CLUSTER_CLAIMS);
    fixture_check(fixture);
    assert_string_equal(groups_on(fixture, "n1"), "gpu.amd.com MI300X 1: 0 allocated, 1 free; "
                                                  "gpu.nvidia.com H100 3: 2 allocated, 1 free");
    cluster_relist_begin(cluster, CLUSTER_SLICES);
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "H100, H100, H100");
    cluster_relist_end(cluster, CLUSTER_SLICES);
    fixture_check(fixture);
    assert_string_equal(groups_on(fixture, "n1"), "gpu.nvidia.com H100 3: 2 allocated, 1 free");
}

static void test_a_list_ends_in_steps(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "cpu=8000", "");
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "H100, H100, H100");
    fixture_put_claim(fixture, "a", "n1", NVIDIA_DRIVER, "gpu-0");
    fixture_put_claim(fixture, "b", "n1", NVIDIA_DRIVER, "gpu-1");
    fixture_put_claim(fixture, "c", "n1", NVIDIA_DRIVER, "gpu-2");
    cluster_relist_begin(fixture->cluster, CLUSTER_CLAIMS);
    size_t n_steps = 1;
    while (!cluster_relist_sweep(fixture->cluster, CLUSTER_CLAIMS, 1)) {
        fixture_check(fixture);
        n_steps++;
    }
    assert_true(n_steps > 1);
    assert_string_equal(groups_on(fixture, "n1"), "gpu.nvidia.com H100 3: 0 allocated, 3 free");
}

static void put_rule(struct fixture *fixture, const char *name, const char *driver)
{
    const struct device_taint_facts facts = {.name = name, .driver = driver};
    cluster_upsert_device_taint(fixture->cluster, &facts);
    fixture_check(fixture);
}

static void test_taint_rules(void **state)
{
    struct fixture *fixture = *state;
    struct cluster *cluster = fixture->cluster;
    fixture_put_node(fixture, "n1", "cpu=8000", "");
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "H100, H100");
    put_rule(fixture, "r", NVIDIA_DRIVER);
    assert_string_equal(groups_on(fixture, "n1"), "gpu.nvidia.com H100 2: 0 allocated, 0 free");
    cluster_relist_begin(cluster, CLUSTER_DEVICE_TAINTS);
    cluster_keep_device_taint(cluster, "r");
    cluster_relist_end(cluster, CLUSTER_DEVICE_TAINTS);
    assert_string_equal(groups_on(fixture, "n1"), "gpu.nvidia.com H100 2: 0 allocated, 0 free");
    cluster_delete_device_taint(cluster, "r");
    assert_string_equal(groups_on(fixture, "n1"), "gpu.nvidia.com H100 2: 0 allocated, 2 free");
    put_rule(fixture, "s", NVIDIA_DRIVER);
    cluster_relist_begin(cluster, CLUSTER_DEVICE_TAINTS);
    cluster_relist_end(cluster, CLUSTER_DEVICE_TAINTS);
    assert_string_equal(groups_on(fixture, "n1"), "gpu.nvidia.com H100 2: 0 allocated, 2 free");
}

/* Forks. */

static void test_a_fork_keeps_the_groups_that_its_origin_loses(void **state)
{
    struct fixture *fixture = *state;
    map_gpus(fixture);
    fixture_put_node(fixture, "n1", "cpu=8000", "");
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "H100, H100");
    fixture_put_claim(fixture, "c", "n1", NVIDIA_DRIVER, "gpu-0");
    struct cluster *fork = cluster_fork(fixture->cluster);
    fixture_remove_slice(fixture, "n1", NVIDIA_DRIVER);
    fixture_remove_claim(fixture, "c");
    gpu_demand_settle(fixture->cluster);
    const struct node *node = cluster_find_node(fork, "n1");
    assert_null(cluster_devices(fork));
    assert_string_equal(fixture_groups(fixture, node),
                        "gpu.nvidia.com H100 2: 1 allocated, 1 free");
    assert_int_equal(node_free_gpus(node), 1);
    const struct resource *gpu = cluster_find_resource(fork, GPU);
    assert_non_null(gpu);
    assert_non_null(node_find_devices(node, gpu));
    assert_int_equal(gpu_demand_find(fork, gpu)->pools[0]->free, 1);
    assert_ptr_equal(gpu_demand_find(fork, gpu)->pools[0], node_find_devices(node, gpu)->pool);
    cluster_fork_free(fork);
}

/* As kube-scheduler allocates them: to pods that request the extended resource. */
static void test_a_fork_places_pods_on_devices(void **state)
{
    struct fixture *fixture = *state;
    map_gpus(fixture);
    fixture_put_node(fixture, "n1", "cpu=8000 " GPU "=0", "");
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "H100, H100, H100, L4");
    fixture_put_claim(fixture, "c", "n1", NVIDIA_DRIVER, "gpu-0");
    struct cluster *fork = cluster_fork(fixture->cluster);
    const struct node *node = cluster_find_node(fork, "n1");
    const struct shape_facts facts = fixture_shape_facts(fixture, GPU "=1");
    const struct pod_shape *shape = cluster_resolve(fork, &facts, fixture->arena);
    const struct gpu_demand *demand = gpu_demand_find(fork, shape->needs[0].resource);
    cluster_place(fork, node, shape, 1);
    assert_string_equal(fixture_groups(fixture, node),
                        "gpu.nvidia.com H100 3: 2 allocated, 1 free; "
                        "gpu.nvidia.com L4 1: 0 allocated, 1 free");
    assert_int_equal(demand->pools[0]->free + demand->pools[1]->free, 2);
    cluster_place(fork, node, shape, 5);
    assert_string_equal(fixture_groups(fixture, node),
                        "gpu.nvidia.com H100 3: 3 allocated, 0 free; "
                        "gpu.nvidia.com L4 1: 1 allocated, 0 free");
    assert_int_equal(demand->pools[0]->free + demand->pools[1]->free, 0);
    assert_int_equal(node_free_gpus(node), 0);
    cluster_fork_free(fork);
}

/* Devices of unknown claims may be in use. */
static void test_no_device_is_free_while_claims_are_unknown(void **state)
{
    struct fixture *fixture = *state;
    map_gpus(fixture);
    cluster_set_known(fixture->cluster, CLUSTER_CLAIMS, false);
    fixture_put_node(fixture, "n1", "cpu=8000", "");
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "H100, H100, H100");
    fixture_put_claim(fixture, "c", "n1", NVIDIA_DRIVER, "gpu-0");
    assert_string_equal(groups_on(fixture, "n1"), "gpu.nvidia.com H100 3: 1 allocated, 0 free");
    assert_int_equal(free_in_pool(fixture, GPU, "H100"), 0);
    cluster_set_known(fixture->cluster, CLUSTER_CLAIMS, true);
    fixture_check(fixture);
    assert_string_equal(groups_on(fixture, "n1"), "gpu.nvidia.com H100 3: 1 allocated, 2 free");
    assert_int_equal(free_in_pool(fixture, GPU, "H100"), 2);
    cluster_set_known(fixture->cluster, CLUSTER_CLAIMS, false);
    fixture_check(fixture);
    assert_int_equal(free_in_pool(fixture, GPU, "H100"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_claims_use_the_devices_of_slices),
        TEST(test_groups_are_sorted_by_driver_and_model),
        TEST(test_a_node_that_appears_last_has_its_devices),
        TEST(test_a_node_has_the_one_model_of_its_devices),
        TEST(test_the_model_of_devices_is_a_change_of_the_node),
        TEST(test_a_deleted_node_that_a_pod_names_has_no_devices),
        TEST(test_rows_and_devices_are_apart),
        TEST(test_the_device_plugin_of_the_same_vendor_shadows),
        TEST(test_an_idle_device_plugin_shadows_nothing),
        TEST(test_the_device_plugin_of_another_vendor_adds_up),
        TEST(test_free_devices_are_in_the_pools_of_their_models),
        TEST(test_a_cordoned_node_offers_no_devices),
        TEST(test_shadowed_devices_are_in_no_pool),
        TEST(test_allocation_changes_no_node),
        TEST(test_devices_make_no_verdict_late),
        TEST(test_a_device_class_settles_demand_anew),
        TEST(test_what_a_list_does_not_name_is_deleted),
        TEST(test_a_list_ends_in_steps),
        TEST(test_taint_rules),
        TEST(test_a_fork_keeps_the_groups_that_its_origin_loses),
        TEST(test_a_fork_places_pods_on_devices),
        TEST(test_no_device_is_free_while_claims_are_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
