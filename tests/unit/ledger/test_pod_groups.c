/* pod_groups: PodGroups and the members of each group, as pods come, are bound and go. */
#include "fixture.h"
#include "ledger/cluster_copy.h"
#include "ledger/pod_groups.h"
#include "ledger/reservation.h"
#include "unit.h"

#include <string.h>

#define GPU "nvidia.com/gpu"

static void put_group(struct fixture *fixture, const char *name, int64_t min_count)
{
    cluster_upsert(fixture->cluster, CLUSTER_POD_GROUPS,
                   &(struct pod_group_facts){"ml", name, min_count});
}

static struct pod_facts member(struct fixture *fixture, const char *uid, const char *node)
{
    struct pod_facts facts = fixture_facts_in_namespace(fixture, uid, node, GPU "=1");
    facts.group = "ring";
    return facts;
}

static void put_member(struct fixture *fixture, const char *uid, const char *node)
{
    const struct pod_facts facts = member(fixture, uid, node);
    fixture_put_pod_facts(fixture, &facts);
}

static void check(const struct cluster *cluster, size_t n_members, size_t n_bound)
{
    const struct pod_group group = pod_groups_find(cluster, "ml", "ring");
    assert_int_equal(group.n_members, n_members);
    assert_int_equal(group.n_bound, n_bound);
}

static void test_groups_come_and_go(void **state)
{
    struct fixture *fixture = *state;
    struct cluster *cluster = fixture->cluster;
    assert_false(pod_groups_find(cluster, "ml", "ring").is_known);
    assert_false(pod_groups_find(cluster, "ml", NULL).is_known);
    put_group(fixture, "ring", 4);
    const uint64_t version = cluster_version(cluster);
    put_group(fixture, "ring", 4);
    assert_int_equal(cluster_version(cluster), version);
    assert_int_equal(pod_groups_find(cluster, "ml", "ring").min_count, 4);
    put_group(fixture, "ring", 0);
    assert_true(cluster_version(cluster) > version);
    assert_int_equal(pod_groups_find(cluster, "ml", "ring").min_count, 0);
    assert_true(pod_groups_find(cluster, "ml", "ring").is_known);
    assert_false(pod_groups_find(cluster, "web", "ring").is_known);
    put_group(fixture, "other", 2);
    cluster_relist_begin(cluster, CLUSTER_POD_GROUPS);
    put_group(fixture, "other", 2);
    cluster_relist_end(cluster, CLUSTER_POD_GROUPS);
    assert_false(pod_groups_find(cluster, "ml", "ring").is_known);
    cluster_delete(cluster, CLUSTER_POD_GROUPS, "ml/other");
    assert_int_equal(cluster_n_objects(cluster, CLUSTER_POD_GROUPS), 0);
}

static void test_members_are_counted(void **state)
{
    struct fixture *fixture = *state;
    struct cluster *cluster = fixture->cluster;
    fixture_put_node(fixture, "n1", GPU "=8", "");
    put_member(fixture, "ml/0", "");
    put_member(fixture, "ml/1", "n1");
    put_member(fixture, "web/2", ""); /* of another group of that name */
    check(cluster, 2, 1);
    assert_int_equal(pod_groups_n_unknown(cluster), 3);
    put_group(fixture, "ring", 2);
    assert_int_equal(pod_groups_n_unknown(cluster), 1);
    put_member(fixture, "ml/0", "n1");
    check(cluster, 2, 2);
    struct pod_facts ends = member(fixture, "ml/0", "n1");
    ends.terminating = true;
    fixture_put_pod_facts(fixture, &ends);
    check(cluster, 1, 1);
    ends.terminating = false;
    ends.finished = true;
    fixture_put_pod_facts(fixture, &ends);
    check(cluster, 1, 1);
    ends = member(fixture, "ml/1", "n1");
    ends.group = NULL;
    fixture_put_pod_facts(fixture, &ends);
    check(cluster, 0, 0);
    fixture_remove_pod(fixture, "ml/0");
    fixture_remove_pod(fixture, "web/2");
    assert_int_equal(pod_groups_n_unknown(cluster), 0);
}

static void test_a_reservation_binds_a_member(void **state)
{
    struct fixture *fixture = *state;
    struct cluster *cluster = fixture->cluster;
    fixture_put_node(fixture, "n1", GPU "=8", "");
    put_member(fixture, "ml/0", "");
    const struct pod *pod = cluster_find_pod(cluster, "ml/0");
    struct reservation_draft draft = {
        .uid = "ml/0", .namespace_ = "ml", .name = "ml/0", .node_name = "n1", .shape = pod->shape};
    reservation_begin(cluster, &draft, NULL);
    const uint64_t serial = reservation_commit(cluster, &draft);
    check(cluster, 1, 1);
    put_member(fixture, "ml/0", ""); /* an update of the pod */
    check(cluster, 1, 1);
    reservation_release(cluster, "ml/0", serial);
    check(cluster, 1, 0);
}

static void test_a_copy_has_groups_and_members_and_a_fork_has_none(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", GPU "=8", "");
    put_group(fixture, "ring", 3);
    put_member(fixture, "ml/0", "");
    put_member(fixture, "ml/1", "n1");
    struct cluster_copy *copying = cluster_copy_new(fixture->cluster, &fixture->policy);
    while (!cluster_copy_some(copying, 1)) {
    }
    struct cluster *copy = cluster_copy_end(copying);
    check(copy, 2, 1);
    assert_int_equal(pod_groups_find(copy, "ml", "ring").min_count, 3);
    assert_string_equal(cluster_find_pod(copy, "ml/0")->group, "ring");
    cluster_free(copy);
    struct cluster *fork = cluster_fork(fixture->cluster);
    assert_false(pod_groups_find(fork, "ml", "ring").is_known);
    cluster_fork_free(fork);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_groups_come_and_go),
        TEST(test_members_are_counted),
        TEST(test_a_reservation_binds_a_member),
        TEST(test_a_copy_has_groups_and_members_and_a_fork_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
