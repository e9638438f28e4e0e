/* devices: what GPUs that come by dynamic resource allocation mean for the pods that the extender
 * judges: pods without GPUs, and pods that request an extended resource. */
#include "decide/fragmentation.h"
#include "decide/rank.h"
#include "decide/what_if.h"
#include "fixture_devices.h"
#include "fixture_question.h"
#include "unit.h"

#include <string.h>

#define GPU "nvidia.com/gpu"

/* Pods that request the extended resource get devices. */
static void map_gpus(struct fixture *fixture)
{
    cluster_upsert_device_class(fixture->cluster,
                                &(struct device_class_facts){"gpu.nvidia.com", .resource = GPU});
    fixture_check(fixture);
}

/* "best next ...": all nodes, ranked for a pod with that demand. */
static const char *ranking(struct fixture *fixture, const char *demand)
{
    const struct shape_facts facts = fixture_shape_facts(fixture, demand);
    const struct fit_question question = fixture_question(fixture, &facts);
    struct ranked_node nodes[8] = {{0}};
    size_t n = 0;
    for (const struct node *node = cluster_next_node(fixture->cluster, NULL); node;
         node = cluster_next_node(fixture->cluster, node))
        nodes[n++].node = node;
    gpu_demand_settle(fixture->cluster);
    rank_nodes(fixture->cluster, &question, nodes, n);
    const char *text = "";
    for (size_t i = 0; i < n; i++)
        text = arena_printf(fixture->arena, "%s%s%s", text, i > 0 ? " " : "",
                            node_name(nodes[i].node));
    return text;
}

static void test_pods_without_gpus_avoid_nodes_with_devices(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "a-devices", "cpu=8000 pods=9", "");
    fixture_put_node(fixture, "b-plain", "cpu=8000 pods=9", "");
    assert_string_equal(ranking(fixture, "cpu=1"), "a-devices b-plain");
    fixture_put_slice(fixture, "a-devices", NVIDIA_DRIVER, "H100");
    assert_string_equal(ranking(fixture, "cpu=1"), "b-plain a-devices");
    fixture_put_claim(fixture, "c", "a-devices", NVIDIA_DRIVER, "gpu-0");
    assert_string_equal(ranking(fixture, "cpu=1"), "b-plain a-devices");
    fixture_put_slice(fixture, "a-devices", NVIDIA_DRIVER, "H100!"); /* nobody gets it now */
    assert_string_equal(ranking(fixture, "cpu=1"), "b-plain a-devices");
}

/* binpack: fewest free GPUs first. */
static void test_free_devices_count_for_binpack(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "a-free", "cpu=8000 pods=9", "");
    fixture_put_slice(fixture, "a-free", NVIDIA_DRIVER, "H100, H100");
    fixture_put_node(fixture, "b-plugin", "cpu=8000 pods=9 " GPU "=1", "");
    fixture_put_node(fixture, "c-used", "cpu=8000 pods=9", "");
    fixture_put_slice(fixture, "c-used", NVIDIA_DRIVER, "H100, H100");
    fixture_put_claim(fixture, "c", "c-used", NVIDIA_DRIVER, "gpu-0, gpu-1");
    assert_string_equal(ranking(fixture, "cpu=1"), "c-used b-plugin a-free");
}

/* Verdicts. */

static const char *verdicts(struct fixture *fixture)
{
    const char *text = "";
    for (size_t n = 1; n <= 4; n++)
        text = arena_printf(
            fixture->arena, "%s%s%s", text, n > 1 ? " " : "",
            fixture_verdict(fixture, "n1", arena_printf(fixture->arena, GPU "=%zu", n)));
    return text;
}

static void test_devices_change_no_verdict_beside_a_device_plugin(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "cpu=8000 pods=9 " GPU "=3", "");
    fixture_put_pod(fixture, "p", "n1", GPU "=1");
    static const char WANTED[] = "fits fits gpu_free gpu_total";
    assert_string_equal(verdicts(fixture), WANTED);
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "H100, H100, H100");
    assert_string_equal(verdicts(fixture), WANTED);
    fixture_put_claim(fixture, "c", "n1", NVIDIA_DRIVER, "gpu-0, gpu-1");
    assert_string_equal(verdicts(fixture), WANTED);
    fixture_put_slice(fixture, "n1", AMD_DRIVER, "MI300X");
    assert_string_equal(verdicts(fixture), WANTED);
    map_gpus(fixture);
    assert_string_equal(verdicts(fixture), WANTED);
}

/* kube-scheduler judges claims, with fresher data. */
static void test_devices_change_no_verdict_where_they_are_alone(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "cpu=8000 pods=9", "");
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "H100, H100, H100");
    assert_string_equal(verdicts(fixture), "gpu_absent gpu_absent gpu_absent gpu_absent");
    map_gpus(fixture);
    assert_string_equal(verdicts(fixture), "fits fits fits fits");
    fixture_put_claim(fixture, "c", "n1", NVIDIA_DRIVER, "gpu-0, gpu-1, gpu-2");
    assert_string_equal(verdicts(fixture), "fits fits fits fits");
    const struct shape_facts facts = fixture_shape_facts(fixture, GPU "=1");
    const struct fit_question question = fixture_question(fixture, &facts);
    assert_int_equal(fit_count(fixture_find_node(fixture, "n1"), &question), 0);
}

/* Supply. */

static struct fixture *fixture_with_slot_price(void **state)
{
    struct fixture *fixture = *state;
    fixture->policy.placement = PLACEMENT_SLOT_PRICE;
    return fixture;
}

/* "slotsLost=2 drain=0.175": the terms of the cost on that node. */
static const char *terms(struct fixture *fixture, const char *node, const char *demand)
{
    const struct shape_facts facts = fixture_shape_facts(fixture, demand);
    const struct fit_question question = fixture_question(fixture, &facts);
    struct score_term found[SCORE_TERMS_MAX];
    gpu_demand_settle(fixture->cluster);
    const struct score *score = score_begin(fixture->cluster, &question, fixture->arena);
    const size_t n = score_terms(score, fixture_find_node(fixture, node), found);
    const char *text = "";
    for (size_t i = 0; i < n; i++)
        text = arena_printf(fixture->arena, "%s%s%s=%.4g", text, i > 0 ? " " : "", found[i].name,
                            found[i].value);
    return text;
}

static void check_alike(struct fixture *fixture, const char *demand)
{
    assert_string_equal(terms(fixture, "devices", demand), terms(fixture, "plugin", demand));
}

/* Four GPUs each, of which one is in use. */
static void test_free_devices_cost_like_a_device_plugins_gpus(void **state)
{
    static const char *const DEMANDS[] = {GPU "=1", GPU "=2 cpu=1000", "cpu=7000"};
    struct fixture *fixture = *state;
    map_gpus(fixture);
    fixture_put_node(fixture, "plugin", "cpu=8000 pods=9 " GPU "=4", "accelerator=H100");
    fixture_put_pod(fixture, "p", "plugin", GPU "=1");
    fixture_put_node(fixture, "devices", "cpu=8000 pods=9", "");
    fixture_put_slice(fixture, "devices", NVIDIA_DRIVER, "H100, H100, H100, H100");
    fixture_put_claim(fixture, "c", "devices", NVIDIA_DRIVER, "gpu-3");
    fixture_put_pod(fixture, "typical", "", GPU "=3 cpu=2000");
    for (int policy = 0; policy < N_PLACEMENT_POLICIES; policy++) {
        fixture->policy.placement = (enum placement_policy)policy;
        for (size_t i = 0; i < sizeof DEMANDS / sizeof *DEMANDS; i++)
            check_alike(fixture, DEMANDS[i]);
    }
    fixture->policy.placement = PLACEMENT_SLOT_PRICE;
    assert_non_null(strstr(terms(fixture, "devices", "cpu=7000"), "slotsLost=1.5"));
}

/* The kubelet keeps the name of a device plugin that is gone, with 0 GPUs. */
static void test_a_leftover_row_of_a_device_plugin_hides_no_devices(void **state)
{
    struct fixture *fixture = fixture_with_slot_price(state);
    map_gpus(fixture);
    fixture_put_node(fixture, "plugin", "cpu=8000 pods=9 " GPU "=4", "accelerator=H100");
    fixture_put_node(fixture, "devices", "cpu=8000 pods=9 " GPU "=0", "");
    fixture_put_slice(fixture, "devices", NVIDIA_DRIVER, "H100, H100, H100, H100");
    fixture_put_pod(fixture, "typical", "", GPU "=3 cpu=2000");
    check_alike(fixture, "cpu=7000");
    check_alike(fixture, GPU "=2 cpu=1000");
}

/* Without a device class, plain pods do not get GPUs of the node "devices". */
static void test_devices_that_no_class_maps_change_no_price(void **state)
{
    struct fixture *fixture = fixture_with_slot_price(state);
    fixture_put_node(fixture, "a100", "cpu=8000 pods=9 " GPU "=4", "accelerator=A100");
    fixture_put_node(fixture, "h100", "cpu=8000 pods=9 " GPU "=4", "accelerator=H100");
    fixture_put_node(fixture, "devices", "cpu=8000 pods=9", "");
    fixture_put_pod(fixture, "typical", "", GPU "=2");
    const char *before = terms(fixture, "a100", GPU "=1");
    fixture_put_slice(fixture, "devices", NVIDIA_DRIVER, "A100, A100, L4, L4");
    assert_string_equal(terms(fixture, "a100", GPU "=1"), before);
    map_gpus(fixture);
    assert_string_not_equal(terms(fixture, "a100", GPU "=1"), before);
    cluster_delete(fixture->cluster, CLUSTER_DEVICE_CLASSES, "gpu.nvidia.com");
    fixture_check(fixture);
    assert_string_equal(terms(fixture, "a100", GPU "=1"), before);
}

static const char *fragments(struct fixture *fixture)
{
    gpu_demand_settle(fixture->cluster);
    const struct fragmentations all = fragmentation_of(fixture->cluster, fixture->arena);
    const char *text = "";
    for (size_t i = 0; i < all.n; i++)
        text = arena_printf(fixture->arena, "%s%s %s: %.4g of %lld, largest %lld, whole %zu/%zu\n",
                            text, all.items[i].resource, all.items[i].model,
                            all.items[i].fragmented, (long long)free_gpus_sum(&all.items[i].free),
                            (long long)all.items[i].largest_block, all.items[i].n_whole,
                            all.items[i].n_nodes);
    return text;
}

static void test_devices_are_fragments_to_typical_pods(void **state)
{
    struct fixture *fixture = *state;
    map_gpus(fixture);
    fixture_put_node(fixture, "n1", "cpu=8000 pods=9", "");
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "H100, H100, H100");
    fixture_put_node(fixture, "n2", "cpu=8000 pods=9", "");
    fixture_put_slice(fixture, "n2", NVIDIA_DRIVER, "H100, H100");
    fixture_put_claim(fixture, "c", "n1", NVIDIA_DRIVER, "gpu-0, gpu-1");
    fixture_put_node(fixture, "n3", "cpu=8000 pods=9 " GPU "=4", "accelerator=H100");
    assert_string_equal(fragments(fixture), GPU " H100: 0 of 7, largest 4, whole 2/3\n");
    fixture_put_pod(fixture, "typical", "", GPU "=2");
    assert_string_equal(fragments(fixture), GPU " H100: 1 of 7, largest 4, whole 2/3\n");
    fixture_put_slice(fixture, "n3", NVIDIA_DRIVER, "L4, L4, L4, L4"); /* shadowed */
    assert_string_equal(fragments(fixture), GPU " H100: 1 of 7, largest 4, whole 2/3\n");
}

static void test_devices_alone_are_fragments_too(void **state)
{
    struct fixture *fixture = *state;
    map_gpus(fixture);
    fixture_put_node(fixture, "n1", "cpu=8000 pods=9", "");
    fixture_put_slice(fixture, "n1", NVIDIA_DRIVER, "H100, H100, H100");
    fixture_put_node(fixture, "n2", "cpu=8000 pods=9", "");
    fixture_put_slice(fixture, "n2", NVIDIA_DRIVER, "H100, L4");
    fixture_put_pod(fixture, "typical", "", GPU "=3");
    fixture_put_pod(fixture, "too-large", "", GPU "=4");
    assert_string_equal(fragments(fixture), GPU " H100: 1 of 4, largest 3, whole 2/2\n" GPU
                                                " L4: 1 of 1, largest 1, whole 1/1\n");
}

/* Forks. */

static void test_a_fork_places_by_the_devices_of_its_origin(void **state)
{
    struct fixture *fixture = fixture_with_slot_price(state);
    map_gpus(fixture);
    fixture_put_node(fixture, "devices", "cpu=8000 pods=9", "");
    fixture_put_slice(fixture, "devices", NVIDIA_DRIVER, "H100, H100");
    fixture_put_node(fixture, "plain", "cpu=8000 pods=9", "");
    struct cluster *fork = cluster_fork(fixture->cluster);
    const struct shape_facts facts = fixture_shape_facts(fixture, "cpu=1");
    const struct fit_question question = {.shape = cluster_resolve(fork, &facts, fixture->arena),
                                          .scope = FIT_ALL};
    const struct node *node = NULL;
    assert_int_equal(what_if_place(fork, &question, 1, &node), 1);
    assert_string_equal(node_name(node), "plain");
    cluster_fork_free(fork);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_pods_without_gpus_avoid_nodes_with_devices),
        TEST(test_free_devices_count_for_binpack),
        TEST(test_devices_change_no_verdict_beside_a_device_plugin),
        TEST(test_devices_change_no_verdict_where_they_are_alone),
        TEST(test_free_devices_cost_like_a_device_plugins_gpus),
        TEST(test_a_leftover_row_of_a_device_plugin_hides_no_devices),
        TEST(test_devices_that_no_class_maps_change_no_price),
        TEST(test_devices_are_fragments_to_typical_pods),
        TEST(test_devices_alone_are_fragments_too),
        TEST(test_a_fork_places_by_the_devices_of_its_origin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
