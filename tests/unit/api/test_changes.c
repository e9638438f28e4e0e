/* changes: what added nodes may take; model_slices: which slices are those of a model. */
#include "api/what_if/changes.h"
#include "fixture.h"
#include "formats/json_values.h"
#include "types/device_facts.h"
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GPU "nvidia.com/gpu"
#define N_COUNTERS 32

/* Applies [{"addNodes": ...}] to the fixture's ledger. Returns the bytes, or a negative errno. */
static int64_t add(struct fixture *fixture, const char *like, int count, size_t max_bytes)
{
    struct change_list list = {0};
    struct applied applied;
    struct err err = {""};
    json_auto_t *json = json_pack("[{s:{s:s, s:i}}]", "addNodes", "like", like, "count", count);
    applied_init(&applied, fixture->arena);
    applied.max_bytes = max_bytes;
    int64_t r = changes_read(json, fixture->arena, &list, &err);
    if (r == 0)
        r = changes_apply(&list, fixture->cluster, &applied, &err);
    if (r == 0)
        r = (int64_t)applied.bytes;
    applied_fini(&applied);
    changes_fini(&list);
    return r;
}

/* Of the pool and generation 1, without devices. */
static struct slice_facts slice_of(const char *name, const char *driver, const char *node)
{
    return (struct slice_facts){.name = name,
                                .driver = driver,
                                .pool = name,
                                .generation = 1,
                                .n_slices = 1,
                                .node_name = node};
}

static void put_slices(struct fixture *fixture, const char *driver, const char *node, size_t n,
                       const struct counter_set *set)
{
    for (size_t i = 0; i < n; i++) {
        struct slice_facts slice =
            slice_of(arena_printf(fixture->arena, "%s-%s-%zu", node, driver, i), driver, node);
        slice.counter_sets = set;
        slice.n_counter_sets = set ? 1 : 0;
        cluster_upsert_slice(fixture->cluster, &slice);
    }
}

static void put_nodes(struct fixture *fixture)
{
    fixture_put_node(fixture, "plain", GPU "=8", "");
    fixture_put_node(fixture, "sliced", GPU "=8", "");
    fixture_put_node(fixture, "counted", GPU "=8", "");
    fixture_put_node(fixture, "labelled", GPU "=8", "");
    fixture_put_node(fixture, "served", GPU "=8", "");
}

/* Whatever an added node has takes memory: slices without devices, counters, labels, pods. */
static void test_all_that_added_nodes_have_is_counted(void **state)
{
    struct fixture *fixture = *state;
    struct device_counter counters[N_COUNTERS];
    const struct counter_set set = {"set", counters, N_COUNTERS};
    put_nodes(fixture);
    for (size_t i = 0; i < N_COUNTERS; i++)
        counters[i] = (struct device_counter){arena_printf(fixture->arena, "c%zu", i), 1};
    const int64_t plain = add(fixture, "plain", 1, SIZE_MAX);
    assert_true(plain > 0);
    /* The names may be longer. */
    assert_in_range(add(fixture, "plain", 10, SIZE_MAX), 10 * plain, 10 * plain + 10);
    put_slices(fixture, "nic.example.com", "sliced", 100, NULL);
    const int64_t sliced = add(fixture, "sliced", 1, SIZE_MAX);
    assert_true(sliced > plain + INT64_C(100) * 300);
    put_slices(fixture, "gpu.nvidia.com", "counted", 100, &set);
    const int64_t counted = add(fixture, "counted", 1, SIZE_MAX);
    assert_true(counted > sliced + INT64_C(100) * N_COUNTERS * 16);
    for (size_t i = 0; i < 100; i++) {
        const char *uid = arena_printf(fixture->arena, "p%zu", i);
        struct pod_facts pod = fixture_pod_facts(fixture, uid, "served", "cpu=1");
        pod.controller = "DaemonSet/agent";
        fixture_put_pod_facts(fixture, &pod);
    }
    assert_true(add(fixture, "served", 1, SIZE_MAX) > plain + INT64_C(100) * 300);
    struct node_facts node = fixture_node_facts(fixture, "labelled", GPU "=8", "a=b,c=d,e=f");
    fixture_put_node_facts(fixture, &node);
    assert_true(add(fixture, "labelled", 1, SIZE_MAX) > plain + INT64_C(3) * 16);
}

/* Nothing is added after the node that takes too much. */
static void test_added_nodes_are_bounded_in_bytes(void **state)
{
    struct fixture *fixture = *state;
    put_nodes(fixture);
    put_slices(fixture, "nic.example.com", "sliced", 10, NULL);
    const size_t one = (size_t)add(fixture, "sliced", 1, SIZE_MAX);
    const size_t n_before = cluster_n_nodes(fixture->cluster);
    assert_int_equal(add(fixture, "sliced", 5000, 20 * one), -E2BIG);
    assert_in_range(cluster_n_nodes(fixture->cluster) - n_before, 18, 21);
    assert_true(add(fixture, "plain", 20, 20 * one) > 0);
}

static void test_a_model_has_the_slices_of_its_node_alone(void **state)
{
    struct fixture *fixture = *state;
    struct model_slices *models = NULL;
    put_slices(fixture, "gpu.nvidia.com", "a", 3, NULL);
    put_slices(fixture, "nic.example.com", "a", 2, NULL);
    put_slices(fixture, "gpu.nvidia.com", "b", 4, NULL);
    put_slices(fixture, "gpu.nvidia.com", "", 1, NULL);
    model_slices_want(&models, "a", fixture->arena);
    model_slices_want(&models, "gone", fixture->arena);
    model_slices_want(&models, "a", fixture->arena);
    model_slices_read(models, fixture->cluster, fixture->arena);
    assert_int_equal(HASH_COUNT(models), 2);
    const struct edit_slices *slices = &model_slices_find(models, "a")->slices;
    assert_int_equal(slices->n, 5);
    assert_int_equal(slices->n_devices, 0);
    for (size_t i = 0; i < slices->n; i++)
        assert_string_equal(slices->items[i]->node_name, "a");
    assert_int_equal(model_slices_find(models, "gone")->slices.n, 0);
    assert_null(model_slices_find(models, "b"));
    HASH_CLEAR(hh, models);
}

int main(void)
{
    static const struct CMUnitTest TESTS[] = {
        TEST(test_all_that_added_nodes_have_is_counted),
        TEST(test_added_nodes_are_bounded_in_bytes),
        TEST(test_a_model_has_the_slices_of_its_node_alone),
    };
    return cmocka_run_group_tests(TESTS, NULL, NULL);
}
