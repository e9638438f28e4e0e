/* gpu_time: GPU-seconds of pods, by namespace, model and how quotas count them. */
#include "fixture.h"
#include "ledger/cluster_copy.h"
#include "ledger/gpu_time.h"
#include "unit.h"

#include <inttypes.h>
#include <string.h>

#define GPU "nvidia.com/gpu"
#define H100 "nvidia.com/gpu.product=NVIDIA-H100-80GB-HBM3"

/* Namespace a: 8 H100 guaranteed, and 8 to borrow at a priority of 0 or less. */
static int setup(void **state)
{
    static const char *const NAMES[] = {"a"};
    static const struct quota_limit LIMITS[] = {
        {.model = "H100", .gpus = 8, .borrow = {.is_set = true, .gpus = 8}}};
    (void)fixture_setup(state);
    struct fixture *fixture = *state;
    fixture_add_quota(fixture, &(struct quota){.name = "team-a",
                                               .namespaces = NAMES,
                                               .n_namespaces = 1,
                                               .limits = LIMITS,
                                               .n_limits = 1});
    cluster_set_now(fixture->cluster, 1000000);
    fixture_put_node(fixture, "h", "pods=99 " GPU "=8", H100);
    return 0;
}

static void put(struct fixture *fixture, const char *uid, const char *node, const char *demand,
                int64_t priority)
{
    struct pod_facts facts = fixture_facts_in_namespace(fixture, uid, node, demand);
    facts.priority = priority;
    fixture_put_pod_facts(fixture, &facts);
}

/* "a H100-80GB guaranteed 4000" for each sum, in order, separated by commas. */
static void assert_times(const struct fixture *fixture, int64_t now_ms, const char *expected)
{
    struct gpu_time *times = NULL;
    const size_t n = gpu_time_copy(fixture->cluster, now_ms, fixture->arena, &times);
    const char *text = "";
    for (size_t i = 0; i < n; i++)
        text = arena_printf(fixture->arena, "%s%s%s %s %s %" PRId64, text, i > 0 ? ", " : "",
                            times[i].namespace_, times[i].model, times[i].kind, times[i].gpu_ms);
    assert_string_equal(text, expected);
}

static void test_time_is_summed_while_pods_have_gpus(void **state)
{
    struct fixture *fixture = *state;
    put(fixture, "a/high", "h", GPU "=4", 1);
    put(fixture, "a/low", "h", GPU "=2", 0);
    put(fixture, "b/any", "h", GPU "=1", 0);
    put(fixture, "b/waits", "", GPU "=1", 0);
    put(fixture, "b/cpu", "h", "cpu=1", 0);
    assert_times(fixture, 1000000,
                 "a H100-80GB-HBM3 guaranteed 0, a H100-80GB-HBM3 borrowed 0, b H100-80GB-HBM3 "
                 "unlimited 0");
    cluster_set_now(fixture->cluster, 1002000);
    fixture_remove_pod(fixture, "b/any");
    assert_times(fixture, 1003000,
                 "a H100-80GB-HBM3 guaranteed 12000, a H100-80GB-HBM3 borrowed 6000, b "
                 "H100-80GB-HBM3 unlimited 2000");
}

/* NVIDIA's feature discovery takes its labels off at each restart. */
static void test_a_node_keeps_its_model(void **state)
{
    struct fixture *fixture = *state;
    put(fixture, "b/any", "h", GPU "=1", 0);
    cluster_set_now(fixture->cluster, 1001000);
    fixture_put_node(fixture, "h", "pods=99 " GPU "=8", "");
    assert_times(fixture, 1002000, "b H100-80GB-HBM3 unlimited 2000");
    fixture_put_node(fixture, "h", "pods=99 " GPU "=8", "nvidia.com/gpu.product=Tesla-T4");
    assert_times(fixture, 1003000, "b H100-80GB-HBM3 unlimited 1000, b T4 unlimited 2000");
}

/* A new policy: the sums go on, and pods may count otherwise from now on. */
static void test_a_copy_goes_on_with_the_sums(void **state)
{
    struct fixture *fixture = *state;
    struct cluster *old = fixture->cluster;
    struct policy policy;
    policy_init(&policy);
    put(fixture, "a/high", "h", GPU "=4", 1);
    cluster_set_now(old, 1001000);
    struct cluster_copy *copy = cluster_copy_new(old, &policy);
    while (!cluster_copy_some(copy, 10)) {
    }
    cluster_set_now(old, 1003000);
    assert_true(cluster_copy_claims(copy, 1));
    fixture->cluster = cluster_copy_end(copy);
    cluster_free(old);
    assert_times(fixture, 1003000,
                 "a H100-80GB-HBM3 unlimited 0, a H100-80GB-HBM3 guaranteed 12000");
    assert_times(fixture, 1004000,
                 "a H100-80GB-HBM3 unlimited 4000, a H100-80GB-HBM3 guaranteed 12000");
    cluster_free(fixture->cluster);
    fixture->cluster = NULL;
    policy_fini(&policy);
}

/* A cluster file has no time. */
static void test_nothing_is_summed_without_a_clock(void **state)
{
    struct fixture *fixture = *state;
    cluster_set_now(fixture->cluster, 0);
    put(fixture, "a/high", "h", GPU "=4", 1);
    assert_times(fixture, 1000000, "");
}

static void put_in_namespaces(struct fixture *fixture, size_t first, size_t n)
{
    for (size_t i = first; i < first + n; i++) {
        struct arena *arena = arena_new();
        struct pod_facts facts =
            fixture_facts_in_namespace(fixture, arena_printf(arena, "n%zu/pod", i), "h", GPU "=1");
        cluster_upsert_pod(fixture->cluster, &facts);
        arena_free(arena);
    }
}

static void test_the_number_of_sums_is_bounded(void **state)
{
    struct fixture *fixture = *state;
    struct gpu_time *times = NULL;
    put_in_namespaces(fixture, 0, GPU_TIME_MAX + 2);
    assert_int_equal(gpu_time_copy(fixture->cluster, 1001000, fixture->arena, &times),
                     GPU_TIME_MAX + 1);
    assert_string_equal(times[GPU_TIME_MAX].namespace_, "");
    assert_string_equal(times[GPU_TIME_MAX].model, "");
    assert_int_equal(times[GPU_TIME_MAX].gpu_ms, 2000);
    cluster_delete_pod(fixture->cluster, "n7/pod");
    cluster_delete_pod(fixture->cluster, "n8/pod");
    cluster_set_now(fixture->cluster, 1000000 + GPU_TIME_IDLE_MS);
    put_in_namespaces(fixture, GPU_TIME_MAX + 2, 1);
    assert_int_equal(gpu_time_copy(fixture->cluster, 1001000, fixture->arena, &times),
                     GPU_TIME_MAX + 1);
    assert_string_equal(times[7].namespace_, "n8");
    assert_string_equal(times[GPU_TIME_MAX].model, "H100-80GB-HBM3");
}

/* Each namespace counts otherwise under the new policy, so there is no room for both of its sums.
 * The sum of the others must not get what has a name: it would seem to be used all at once. */
static void test_a_copy_without_room_gives_others_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct cluster *old = fixture->cluster;
    struct gpu_time *times = NULL;
    struct policy policy;
    policy_init(&policy);
    put(fixture, "a/high", "h", GPU "=1", 1);
    put_in_namespaces(fixture, 0, GPU_TIME_MAX - 1);
    cluster_set_now(old, 1001000);
    struct cluster_copy *copy = cluster_copy_new(old, &policy);
    while (!cluster_copy_some(copy, 1000)) {
    }
    assert_true(cluster_copy_claims(copy, 1));
    fixture->cluster = cluster_copy_end(copy);
    cluster_free(old);
    const size_t n = gpu_time_copy(fixture->cluster, 1001000, fixture->arena, &times);
    for (size_t i = 0; i < n; i++)
        assert_true(times[i].namespace_[0] || times[i].gpu_ms == 0);
    cluster_free(fixture->cluster);
    fixture->cluster = NULL;
    policy_fini(&policy);
}

#define TIME_TEST(function) cmocka_unit_test_setup_teardown(function, setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TIME_TEST(test_time_is_summed_while_pods_have_gpus),
        TIME_TEST(test_a_node_keeps_its_model),
        TIME_TEST(test_a_copy_goes_on_with_the_sums),
        TIME_TEST(test_a_copy_without_room_gives_others_nothing),
        TIME_TEST(test_nothing_is_summed_without_a_clock),
        TIME_TEST(test_the_number_of_sums_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
