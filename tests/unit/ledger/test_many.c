/* The self-check visits the whole ledger under the lock after every list. Objects that a tenant can
 * multiply must cost only linear time. */
#include "compare_count.h"
#include "fixture.h"
#include "unit.h"

#include <stdio.h>

#define GPU "nvidia.com/gpu"
#define N_PODS 5000
#define COMPARES_PER_POD 30

static void put_pods(struct fixture *fixture, bool of_one_owner)
{
    struct pod_facts facts = fixture_pod_facts(fixture, "p", "n", GPU "=1");
    for (int i = 0; i < N_PODS; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "p%d", i);
        facts.uid = facts.name = name;
        if (of_one_owner)
            facts.replica_of = "web";
        else
            facts.namespace_ = name;
        cluster_upsert_pod(fixture->cluster, &facts);
    }
}

static void check_with_little_work(struct fixture *fixture)
{
    struct err err = {""};
    const size_t n_before = compare_count();
    if (cluster_check_in_place(fixture->cluster, &err) != 0)
        fail_msg("%s", err.text);
    assert_in_range(compare_count() - n_before, 1, COMPARES_PER_POD * N_PODS);
}

static void test_many_namespaces_are_found(void **state)
{
    static const struct quota_limit LIMITS[] = {{.gpus = 4}};
    const struct quota all = {.name = "all", .has_selector = true, .limits = LIMITS, .n_limits = 1};
    struct fixture *fixture = *state;
    fixture_add_quota(fixture, &all);
    put_pods(fixture, false);
    check_with_little_work(fixture);
}

static void test_many_replicas_on_one_node_are_counted(void **state)
{
    struct fixture *fixture = *state;
    put_pods(fixture, true);
    check_with_little_work(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_many_namespaces_are_found),
        TEST(test_many_replicas_on_one_node_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
