/* device_classes: resources by claim, in judging, ranking, reserving and forks. */
#include "decide/rank.h"
#include "decide/what_if.h"
#include "given_question.h"
#include "unit.h"

#include <string.h>

#define GPU "nvidia.com/gpu"

static struct given *given_a_class(void **state)
{
    struct given *given = *state;
    given_node(given, "counted", "cpu=8000 pods=9 " GPU "=4", "accelerator=T4");
    given_node(given, "claims", "cpu=8000 pods=9", "accelerator=T4");
    cluster_upsert_device_class(given->cluster, "gpu.nvidia.com", GPU);
    return given;
}

static void test_the_table_of_classes(void **state)
{
    struct given *given = given_a_class(state);
    struct cluster *cluster = given->cluster;
    uint64_t version = cluster_version(cluster);
    cluster_upsert_device_class(cluster, "gpu.nvidia.com", GPU);
    cluster_delete_device_class(cluster, "unheard-of");
    assert_int_equal(cluster_version(cluster), version);
    cluster_upsert_device_class(cluster, "second", GPU);
    cluster_upsert_device_class(cluster, "gpu.nvidia.com", "amd.com/gpu");
    assert_true(cluster_version(cluster) > version);
    assert_string_equal(given_verdict(given, "claims", GPU "=1"), "fits");
    assert_string_equal(given_verdict(given, "claims", "amd.com/gpu=1"), "fits");
    cluster_relist_begin(cluster, CLUSTER_DEVICE_CLASSES);
    cluster_upsert_device_class(cluster, "gpu.nvidia.com", "");
    cluster_relist_end(cluster, CLUSTER_DEVICE_CLASSES);
    assert_int_equal(cluster_n_device_classes(cluster), 1);
    assert_string_equal(given_verdict(given, "claims", GPU "=1"), "gpu_absent");
    assert_string_equal(given_verdict(given, "claims", "amd.com/gpu=1"), "gpu_absent");
}

static void test_what_comes_by_a_claim_is_not_counted(void **state)
{
    struct given *given = given_a_class(state);
    const struct shape_facts facts = given_shape_facts(given, "cpu=1 " GPU "=100");
    const struct fit_question question = given_question(given, &facts);
    const struct node *node = given_find(given, "claims");
    assert_int_equal(fit_judge(node, &question), REASON_FITS);
    assert_int_equal(fit_count(node, &question), 0);
    assert_int_equal(fit_lack(node, &question, &question.shape->needs[0]), 0);
    assert_ptr_equal(fit_by_claim(node, question.shape), &question.shape->needs[0]);
    assert_null(fit_by_claim(given_find(given, "counted"), question.shape));
    assert_string_equal(given_verdict(given, "claims", "cpu=9000 " GPU "=1"), "cpu");
    given_pod(given, "running", "claims", GPU "=3");
    assert_int_equal(fit_judge(node, &question), REASON_FITS);
    given_node(given, "claims", "cpu=8000 pods=9 " GPU "=4", "accelerator=T4");
    assert_string_equal(given_verdict(given, "claims", GPU "=1"), "fits");
    assert_string_equal(given_verdict(given, "claims", GPU "=2"), "gpu_free");
}

/* kube-scheduler goes by allocatable, whatever the capacity. */
static void test_a_node_with_nothing_to_allocate(void **state)
{
    struct given *given = given_a_class(state);
    struct node_facts facts = given_node_facts(given, "broken", "cpu=8000 pods=9 " GPU "=4", "");
    facts.allocatable = given_amounts(given, "cpu=8000 pods=9 " GPU "=0", &facts.n_allocatable);
    given_node_of(given, &facts);
    assert_string_equal(given_verdict(given, "broken", GPU "=1"), "fits");
    cluster_delete_device_class(given->cluster, "gpu.nvidia.com");
    assert_string_equal(given_verdict(given, "broken", GPU "=1"), "gpu_total");
}

/* Labels of shares and slices describe what a device plugin offers. */
static void test_labels_of_shares_are_not_about_claims(void **state)
{
    struct given *given = given_a_class(state);
    given_node(given, "claims", "cpu=8000 pods=9", "nvidia.com/gpu.product=Tesla-T4-SHARED");
    assert_string_equal(given_verdict(given, "claims", GPU "=1"), "fits");
}

static void test_room_is_held_where_claims_would_be_made(void **state)
{
    struct given *given = given_a_class(state);
    given_pod(given, "p", "", GPU "=2");
    given_reservation(given, "p", "claims");
    assert_int_equal(given_reserved(given, "claims", GPU), 2);
}

static void test_known_room_ranks_first(void **state)
{
    struct given *given = given_a_class(state);
    const struct shape_facts facts = given_shape_facts(given, GPU "=1");
    struct ranked_node nodes[] = {{.node = given_find(given, "claims")},
                                  {.node = given_find(given, "counted")}};
    const struct fit_question question = given_question(given, &facts);
    gpu_demand_settle(given->cluster);
    rank_nodes(given->cluster, &question, nodes, 2);
    assert_string_equal(node_name(nodes[0].node), "counted");
    assert_int_equal(nodes[0].score, RANK_BEST_SCORE);
    assert_true(nodes[1].score < RANK_BEST_SCORE);
}

/* Five replicas in turn: four are counted, the fifth would need a claim. */
static void test_a_fork_knows_the_classes(void **state)
{
    struct given *given = given_a_class(state);
    struct cluster *fork = cluster_fork(given->cluster);
    cluster_delete_device_class(given->cluster, "gpu.nvidia.com");
    const struct shape_facts facts = given_shape_facts(given, GPU "=1");
    const struct fit_question question = {.shape = cluster_resolve(fork, &facts, given->arena),
                                          .scope = FIT_ALL};
    const struct node *nodes[5] = {NULL};
    assert_int_equal(what_if_more(fork, &question), 4);
    assert_int_equal(what_if_place(fork, &question, 5, nodes), 5);
    assert_string_equal(node_name(nodes[3]), "counted");
    assert_string_equal(node_name(nodes[4]), "claims");
    assert_int_equal(what_if_more(fork, &question), 0);
    cluster_fork_free(fork);
    assert_string_equal(given_verdict(given, "claims", GPU "=1"), "gpu_absent");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, given_setup, given_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_table_of_classes),
        TEST(test_what_comes_by_a_claim_is_not_counted),
        TEST(test_a_node_with_nothing_to_allocate),
        TEST(test_labels_of_shares_are_not_about_claims),
        TEST(test_room_is_held_where_claims_would_be_made),
        TEST(test_known_room_ranks_first),
        TEST(test_a_fork_knows_the_classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
