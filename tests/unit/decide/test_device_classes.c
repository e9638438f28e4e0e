/* device_classes: resources by claim, in judging, ranking, reserving and forks. */
#include "decide/rank.h"
#include "decide/what_if.h"
#include "fixture_question.h"
#include "ledger/cluster_copy.h"
#include "unit.h"

#include <string.h>

#define GPU "nvidia.com/gpu"

static struct fixture *put_class(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "counted", "cpu=8000 pods=9 " GPU "=4", "accelerator=T4");
    fixture_put_node(fixture, "claims", "cpu=8000 pods=9", "accelerator=T4");
    cluster_upsert_device_class(fixture->cluster,
                                &(struct device_class_facts){"gpu.nvidia.com", .resource = GPU});
    return fixture;
}

static void test_device_classes_are_stored_and_removed(void **state)
{
    struct fixture *fixture = put_class(state);
    struct cluster *cluster = fixture->cluster;
    uint64_t version = cluster_version(cluster);
    cluster_upsert_device_class(cluster,
                                &(struct device_class_facts){"gpu.nvidia.com", .resource = GPU});
    cluster_delete(cluster, CLUSTER_DEVICE_CLASSES, "unheard-of");
    assert_int_equal(cluster_version(cluster), version);
    cluster_upsert_device_class(cluster, &(struct device_class_facts){"second", .resource = GPU});
    cluster_upsert_device_class(
        cluster, &(struct device_class_facts){"gpu.nvidia.com", .resource = "amd.com/gpu"});
    assert_true(cluster_version(cluster) > version);
    assert_string_equal(fixture_verdict(fixture, "claims", GPU "=1"), "fits");
    assert_string_equal(fixture_verdict(fixture, "claims", "amd.com/gpu=1"), "fits");
    cluster_relist_begin(cluster, CLUSTER_DEVICE_CLASSES);
    cluster_upsert_device_class(cluster,
                                &(struct device_class_facts){"gpu.nvidia.com", .resource = ""});
    cluster_relist_end(cluster, CLUSTER_DEVICE_CLASSES);
    assert_int_equal(cluster_n_objects(cluster, CLUSTER_DEVICE_CLASSES), 1);
    assert_string_equal(fixture_verdict(fixture, "claims", GPU "=1"), "gpu_absent");
    assert_string_equal(fixture_verdict(fixture, "claims", "amd.com/gpu=1"), "gpu_absent");
}

static void test_resources_served_by_claims_are_not_counted(void **state)
{
    struct fixture *fixture = put_class(state);
    const struct shape_facts facts = fixture_shape_facts(fixture, "cpu=1 " GPU "=100");
    const struct fit_question question = fixture_question(fixture, &facts);
    const struct node *node = fixture_find_node(fixture, "claims");
    assert_int_equal(fit_judge(node, &question), REASON_FITS);
    assert_int_equal(fit_count(node, &question), 0);
    assert_int_equal(fit_lack(node, &question, &question.shape->needs[0]), 0);
    assert_ptr_equal(fit_by_claim(node, question.shape), &question.shape->needs[0]);
    assert_null(fit_by_claim(fixture_find_node(fixture, "counted"), question.shape));
    assert_string_equal(fixture_verdict(fixture, "claims", "cpu=9000 " GPU "=1"), "cpu");
    fixture_put_pod(fixture, "running", "claims", GPU "=3");
    assert_int_equal(fit_judge(node, &question), REASON_FITS);
    fixture_put_node(fixture, "claims", "cpu=8000 pods=9 " GPU "=4", "accelerator=T4");
    assert_string_equal(fixture_verdict(fixture, "claims", GPU "=1"), "fits");
    assert_string_equal(fixture_verdict(fixture, "claims", GPU "=2"), "gpu_free");
}

/* kube-scheduler goes by allocatable, whatever the capacity. */
static void test_a_node_with_nothing_to_allocate(void **state)
{
    struct fixture *fixture = put_class(state);
    struct node_facts facts =
        fixture_node_facts(fixture, "broken", "cpu=8000 pods=9 " GPU "=4", "");
    facts.allocatable = fixture_amounts(fixture, "cpu=8000 pods=9 " GPU "=0", &facts.n_allocatable);
    fixture_put_node_facts(fixture, &facts);
    assert_string_equal(fixture_verdict(fixture, "broken", GPU "=1"), "fits");
    cluster_delete(fixture->cluster, CLUSTER_DEVICE_CLASSES, "gpu.nvidia.com");
    assert_string_equal(fixture_verdict(fixture, "broken", GPU "=1"), "gpu_total");
}

/* Labels of shares and slices describe what a device plugin offers. */
static void test_labels_of_shared_gpus_do_not_apply_to_claims(void **state)
{
    struct fixture *fixture = put_class(state);
    fixture_put_node(fixture, "claims", "cpu=8000 pods=9",
                     "nvidia.com/gpu.product=Tesla-T4-SHARED");
    assert_string_equal(fixture_verdict(fixture, "claims", GPU "=1"), "fits");
}

static void test_a_node_that_serves_claims_accepts_reservations(void **state)
{
    struct fixture *fixture = put_class(state);
    fixture_put_pod(fixture, "p", "", GPU "=2");
    fixture_must_reserve(fixture, "p", "claims");
    assert_int_equal(fixture_reserved(fixture, "claims", GPU), 2);
}

static void test_known_room_ranks_first(void **state)
{
    struct fixture *fixture = put_class(state);
    const struct shape_facts facts = fixture_shape_facts(fixture, GPU "=1");
    struct ranked_node nodes[] = {{.node = fixture_find_node(fixture, "claims")},
                                  {.node = fixture_find_node(fixture, "counted")}};
    const struct fit_question question = fixture_question(fixture, &facts);
    gpu_demand_settle(fixture->cluster);
    rank_nodes(fixture->cluster, &question, nodes, 2);
    assert_string_equal(node_name(nodes[0].node), "counted");
    assert_int_equal(nodes[0].score, RANK_BEST_SCORE);
    assert_true(nodes[1].score < RANK_BEST_SCORE);
}

/* Five replicas in turn: four are counted, the fifth would need a claim. */
static void test_a_fork_has_the_device_classes(void **state)
{
    struct fixture *fixture = put_class(state);
    struct cluster *fork = cluster_fork(fixture->cluster);
    cluster_delete(fixture->cluster, CLUSTER_DEVICE_CLASSES, "gpu.nvidia.com");
    const struct shape_facts facts = fixture_shape_facts(fixture, GPU "=1");
    const struct fit_question question = {.shape = cluster_resolve(fork, &facts, fixture->arena),
                                          .scope = FIT_ALL};
    const struct node *nodes[5] = {NULL};
    assert_int_equal(what_if_more(fork, &question).n, 4);
    assert_int_equal(what_if_place(fork, &question, 5, nodes), 5);
    assert_string_equal(node_name(nodes[3]), "counted");
    assert_string_equal(node_name(nodes[4]), "claims");
    assert_int_equal(what_if_more(fork, &question).n, 0);
    cluster_fork_free(fork);
    assert_string_equal(fixture_verdict(fixture, "claims", GPU "=1"), "gpu_absent");
}

static size_t n_selectors(const struct cluster *cluster, const char *name)
{
    return cluster_device_class_selectors(cluster, name)->n;
}

static void test_selectors_are_kept_and_copied(void **state)
{
    struct fixture *fixture = put_class(state);
    struct cluster *cluster = fixture->cluster;
    const char *const texts[] = {"device.driver == 'd'", "true"};
    const struct selector_texts two = {texts, 2, false};
    const struct selector_texts cut = {.is_cut = true};
    const uint64_t version = cluster_version(cluster);
    const struct device_class_facts with_two = {"gpu.nvidia.com", .resource = GPU,
                                                .selectors = two};
    cluster_upsert_device_class(cluster, &with_two);
    assert_true(cluster_version(cluster) > version);
    cluster_upsert_device_class(cluster, &(struct device_class_facts){"cut", .selectors = two});
    cluster_upsert_device_class(cluster, &(struct device_class_facts){"cut", .selectors = cut});
    assert_null(cluster_device_class_selectors(cluster, "unheard-of"));
    struct cluster_copy *copy = cluster_copy_new(cluster, cluster_policy(cluster));
    assert_true(cluster_copy_some(copy, 1000));
    struct cluster *copied = cluster_copy_end(copy);
    cluster_delete(cluster, CLUSTER_DEVICE_CLASSES, "gpu.nvidia.com");
    assert_null(cluster_device_class_selectors(cluster, "gpu.nvidia.com"));
    assert_int_equal(n_selectors(copied, "gpu.nvidia.com"), 2);
    assert_string_equal(cluster_device_class_selectors(copied, "gpu.nvidia.com")->texts[0],
                        texts[0]);
    assert_int_equal(n_selectors(copied, "cut"), 0);
    assert_true(cluster_device_class_selectors(copied, "cut")->is_cut);
    const uint64_t before = cluster_version(copied);
    cluster_upsert_device_class(copied, &with_two);
    assert_int_equal(cluster_version(copied), before);
    cluster_free(copied);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_device_classes_are_stored_and_removed),
        TEST(test_resources_served_by_claims_are_not_counted),
        TEST(test_a_node_with_nothing_to_allocate),
        TEST(test_labels_of_shared_gpus_do_not_apply_to_claims),
        TEST(test_a_node_that_serves_claims_accepts_reservations),
        TEST(test_known_room_ranks_first),
        TEST(test_a_fork_has_the_device_classes),
        TEST(test_selectors_are_kept_and_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
