/* Relists beyond well-read nodes and pods: unreadable objects, namespaces, priority classes. And
 * lookups of pods by name. */
#include "fixture.h"
#include "unit.h"

#include <stdio.h>

#define GPU "nvidia.com/gpu"

static void test_an_unreadable_node_stays(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", GPU "=8", "");
    fixture_put_node(fixture, "n2", GPU "=8", "");
    uint64_t version = cluster_version(fixture->cluster);
    cluster_relist_begin(fixture->cluster, CLUSTER_NODES);
    cluster_keep_node(fixture->cluster, "n1");
    cluster_keep_node(fixture->cluster, "unheard-of");
    assert_int_equal(cluster_version(fixture->cluster), version);
    cluster_relist_end(fixture->cluster, CLUSTER_NODES);
    assert_int_equal(cluster_n_nodes(fixture->cluster), 1);
    assert_int_equal(fixture_free_amount(fixture, "n1", GPU), 8);
    assert_null(cluster_find_node(fixture->cluster, "n2"));
}

static void test_an_unreadable_pod_stays(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", GPU "=8", "");
    fixture_put_pod(fixture, "p", "n1", GPU "=2");
    fixture_put_pod(fixture, "q", "n1", GPU "=1");
    cluster_relist_begin(fixture->cluster, CLUSTER_PODS);
    cluster_keep_pod(fixture->cluster, "p");
    cluster_keep_pod(fixture->cluster, "unheard-of");
    cluster_relist_end(fixture->cluster, CLUSTER_PODS);
    assert_int_equal(cluster_n_pods(fixture->cluster), 1);
    assert_int_equal(fixture_used(fixture, "n1", GPU), 2);
    cluster_relist_begin(fixture->cluster, CLUSTER_PODS); /* keeping applies to one list only */
    cluster_relist_end(fixture->cluster, CLUSTER_PODS);
    assert_int_equal(cluster_n_pods(fixture->cluster), 0);
}

static void test_an_unreadable_object_of_any_kind_stays(void **state)
{
    struct fixture *fixture = *state;
    struct cluster *cluster = fixture->cluster;
    cluster_upsert_namespace(cluster, &(struct namespace_facts){.name = "a"});
    cluster_upsert_priority_class(cluster, &(struct priority_class_facts){.name = "a"});
    cluster_upsert_device_class(cluster, &(struct device_class_facts){.name = "a"});
    for (int kind = CLUSTER_NAMESPACES; kind <= CLUSTER_DEVICE_CLASSES; kind++) {
        cluster_relist_begin(cluster, (enum cluster_kind)kind);
        cluster_keep(cluster, (enum cluster_kind)kind, "a");
        cluster_keep(cluster, (enum cluster_kind)kind, "unheard-of");
        cluster_relist_end(cluster, (enum cluster_kind)kind);
        assert_int_equal(cluster_n_objects(cluster, (enum cluster_kind)kind), 1);
    }
}

static void test_namespaces_come_and_go(void **state)
{
    struct fixture *fixture = *state;
    struct cluster *cluster = fixture->cluster;
    cluster_upsert_namespace(cluster, &(struct namespace_facts){.name = "a"});
    cluster_upsert_namespace(cluster, &(struct namespace_facts){.name = "b"});
    uint64_t version = cluster_version(cluster);
    cluster_upsert_namespace(cluster, &(struct namespace_facts){.name = "a"});
    cluster_delete_namespace(cluster, "unheard-of");
    assert_int_equal(cluster_version(cluster), version);
    cluster_delete_namespace(cluster, "a");
    assert_true(cluster_version(cluster) > version);
    assert_false(cluster_has_namespace(cluster, "a"));
    cluster_relist_begin(cluster, CLUSTER_NAMESPACES);
    cluster_upsert_namespace(cluster, &(struct namespace_facts){.name = "c"});
    assert_true(cluster_has_namespace(cluster, "b"));
    cluster_relist_end(cluster, CLUSTER_NAMESPACES);
    assert_false(cluster_has_namespace(cluster, "b"));
    assert_true(cluster_has_namespace(cluster, "c"));
    cluster_relist_end(cluster, CLUSTER_NAMESPACES); /* no list was begun */
    assert_int_equal(cluster_n_namespaces(cluster), 1);
}

static void test_priority_classes_come_and_go(void **state)
{
    struct fixture *fixture = *state;
    struct cluster *cluster = fixture->cluster;
    int64_t value = 0;
    cluster_upsert_namespace(cluster, &(struct namespace_facts){.name = "high"});
    cluster_upsert_priority_class(cluster,
                                  &(struct priority_class_facts){"high", 1000, false, false});
    cluster_upsert_priority_class(cluster,
                                  &(struct priority_class_facts){"usual", 10, true, false});
    uint64_t version = cluster_version(cluster);
    cluster_upsert_priority_class(cluster,
                                  &(struct priority_class_facts){"usual", 10, true, false});
    cluster_delete(cluster, CLUSTER_PRIORITY_CLASSES, "unheard-of");
    assert_int_equal(cluster_version(cluster), version);
    cluster_upsert_priority_class(cluster,
                                  &(struct priority_class_facts){"usual", 20, true, false});
    assert_true(cluster_version(cluster) > version);
    assert_true(cluster_priority_of_class(cluster, "", &value));
    assert_int_equal(value, 20);
    cluster_relist_begin(cluster, CLUSTER_PRIORITY_CLASSES);
    cluster_upsert_priority_class(cluster,
                                  &(struct priority_class_facts){"high", 1000, false, false});
    cluster_relist_end(cluster, CLUSTER_PRIORITY_CLASSES);
    assert_false(cluster_priority_of_class(cluster, "usual", &value));
    assert_false(cluster_priority_of_class(cluster, "", &value));
    cluster_delete(cluster, CLUSTER_PRIORITY_CLASSES, "high");
    assert_int_equal(cluster_n_objects(cluster, CLUSTER_PRIORITY_CLASSES), 0);
    assert_true(cluster_has_namespace(cluster, "high")); /* the other kind */
}

static void test_a_fork_has_the_version_of_its_origin(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", GPU "=8", "");
    cluster_upsert_namespace(fixture->cluster, &(struct namespace_facts){.name = "a"});
    cluster_upsert_priority_class(fixture->cluster,
                                  &(struct priority_class_facts){"high", 1000, false, false});
    struct cluster *fork = cluster_fork(fixture->cluster);
    assert_int_equal(cluster_version(fork), cluster_version(fixture->cluster));
    assert_true(cluster_has_namespace(fork, "a"));
    cluster_fork_free(fork);
}

/* More pods than the table's first size, so that it grows in use, and enough names in one namespace
 * to share chains. */
static void test_pods_are_found_by_their_names(void **state)
{
    struct fixture *fixture = *state;
    char uid[32];
    char name[32];
    char namespace_[32];
    for (int i = 0; i < 400; i++) {
        (void)snprintf(uid, sizeof uid, "uid-%d", i);
        (void)snprintf(name, sizeof name, "train-%d", i / 20);
        (void)snprintf(namespace_, sizeof namespace_, "team-%d", i % 20);
        struct pod_facts facts = fixture_pod_facts(fixture, uid, "", "");
        facts.name = name;
        facts.namespace_ = namespace_;
        fixture_put_pod_facts(fixture, &facts);
    }
    assert_int_equal(cluster_n_pods(fixture->cluster), 400);
    assert_string_equal(cluster_find_pod_named(fixture->cluster, "team-3", "train-7")->uid,
                        "uid-143");
    assert_string_equal(cluster_find_pod_named(fixture->cluster, "team-7", "train-3")->uid,
                        "uid-67");
    assert_null(cluster_find_pod_named(fixture->cluster, "team-20", "train-7"));
    assert_null(cluster_find_pod_named(fixture->cluster, "team-3", "train-20"));
    fixture_remove_pod(fixture, "uid-143");
    assert_null(cluster_find_pod_named(fixture->cluster, "team-3", "train-7"));
    assert_non_null(cluster_find_pod_named(fixture->cluster, "team-4", "train-7"));
}

static void test_lookup_in_an_empty_ledger_finds_no_pod(void **state)
{
    struct fixture *fixture = *state;
    assert_null(cluster_find_pod_named(fixture->cluster, "ml", "train-7"));
    fixture_put_pod(fixture, "p", "", "");
    fixture_remove_pod(fixture, "p");
    assert_null(cluster_find_pod_named(fixture->cluster, "default", "p"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_an_unreadable_node_stays),
        TEST(test_an_unreadable_pod_stays),
        TEST(test_an_unreadable_object_of_any_kind_stays),
        TEST(test_namespaces_come_and_go),
        TEST(test_priority_classes_come_and_go),
        TEST(test_a_fork_has_the_version_of_its_origin),
        TEST(test_pods_are_found_by_their_names),
        TEST(test_lookup_in_an_empty_ledger_finds_no_pod),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
