/* quota_holds: quotas while labels of nodes (models) and namespaces change. */
#include "decide/quota.h"
#include "fixture_question.h"
#include "unit.h"

#include <string.h>

#define GPU "nvidia.com/gpu"
#define H100 "nvidia.com/gpu.product=NVIDIA-H100-80GB-HBM3"
#define A100 "nvidia.com/gpu.product=NVIDIA-A100-SXM4-80GB"

static const char *const NAMES[] = {"a"};

static void pod(struct fixture *fixture, const char *uid, const char *node, const char *demand)
{
    const struct pod_facts facts = fixture_facts_in_namespace(fixture, uid, node, demand);
    fixture_put_pod_facts(fixture, &facts);
}

/* Namespace a: 8 H100. */
static int setup(void **state)
{
    static const struct quota_limit LIMITS[] = {{.resource = GPU, .model = "H100", .gpus = 8}};
    (void)fixture_setup(state);
    fixture_add_quota(*state, &(struct quota){.name = "team-a",
                                              .namespaces = NAMES,
                                              .n_namespaces = 1,
                                              .limits = LIMITS,
                                              .n_limits = 1});
    return 0;
}

static int64_t used(const struct fixture *fixture)
{
    const struct quota *quota = &fixture->policy.quotas[0];
    return quota_used(fixture->cluster, quota, &quota->limits[0]);
}

/* NVIDIA's feature discovery removes its labels for about a minute at each restart. */
static void test_a_flapping_label_frees_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct reserve_result result;
    fixture_put_node(fixture, "h1", GPU "=8", H100);
    fixture_put_node(fixture, "h2", GPU "=8", H100);
    pod(fixture, "a/1", "h1", GPU "=8");
    pod(fixture, "a/2", "", GPU "=8");
    fixture_put_node(fixture, "h1", GPU "=8", "");
    fixture_put_node(fixture, "h2", GPU "=8", "");
    assert_int_equal(used(fixture), 8);
    assert_int_equal(fixture_reserve(fixture, "a/2", "h2", &result), RESERVE_REFUSED);
    assert_int_equal(result.reason, REASON_QUOTA);
    fixture_put_node(fixture, "h1", GPU "=8", H100);
    fixture_put_node(fixture, "h2", GPU "=8", H100);
    assert_int_equal(used(fixture), 8);
}

/* Same quota throughout: a label with another model is believed. */
static void test_a_relabelled_node_counts_for_its_new_model(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "h1", GPU "=8", H100);
    pod(fixture, "a/1", "h1", GPU "=8");
    fixture_put_node(fixture, "h1", GPU "=8", "");
    fixture_put_node(fixture, "h1", GPU "=8", A100);
    assert_int_equal(used(fixture), 0);
    fixture_put_node(fixture, "h1", GPU "=8", "");
    assert_int_equal(used(fixture), 0);
}

static void namespace(struct fixture *fixture, const char *name, const char *labels)
{
    struct namespace_facts facts = {.name = name};
    facts.labels = fixture_labels(fixture, labels, &facts.n_labels);
    cluster_upsert_namespace(fixture->cluster, &facts);
}

/* A live ledger with listed namespaces. */
static void list_namespaces(struct fixture *fixture)
{
    cluster_relist_begin(fixture->cluster, CLUSTER_NAMESPACES);
    namespace(fixture, "known", "");
    cluster_relist_end(fixture->cluster, CLUSTER_NAMESPACES);
}

static void select_by_label(struct fixture *fixture)
{
    static const struct quota_limit LIMITS[] = {{.resource = GPU, .gpus = 0}};
    fixture_add_quota(fixture,
                      &(struct quota){.name = "research",
                                      .has_selector = true,
                                      .selector = fixture_term(fixture, "tier In research"),
                                      .limits = LIMITS,
                                      .n_limits = 1});
    fixture_put_node(fixture, "h1", GPU "=8", H100);
}

static void test_an_unseen_namespace_is_not_exempt_from_quotas(void **state)
{
    struct fixture *fixture = *state;
    struct reserve_result result;
    select_by_label(fixture);
    list_namespaces(fixture);
    pod(fixture, "new/1", "", GPU "=1");
    assert_int_equal(fixture_reserve(fixture, "new/1", "h1", &result), RESERVE_REFUSED);
    assert_string_equal(
        result.why, "the pod's namespace is not in the inventory yet, and quotas select by label");
    namespace(fixture, "new", "tier=web");
    assert_int_equal(fixture_reserve(fixture, "new/1", "h1", &result), RESERVE_HELD);
    pod(fixture, "known/1", "", GPU "=1");
    assert_int_equal(fixture_reserve(fixture, "known/1", "h1", &result), RESERVE_HELD);
    pod(fixture, "newer/1", "", "cpu=1");
    assert_int_equal(fixture_reserve(fixture, "newer/1", "h1", &result), RESERVE_HELD);
}

/* A cluster may be saved without namespaces; then they have no labels. */
static void test_a_namespace_absent_from_the_file_has_no_labels(void **state)
{
    struct fixture *fixture = *state;
    struct reserve_result result;
    select_by_label(fixture);
    namespace(fixture, "known", "tier=web");
    pod(fixture, "new/1", "", GPU "=1");
    assert_int_equal(fixture_reserve(fixture, "new/1", "h1", &result), RESERVE_HELD);
}

static void test_quotas_without_namespace_labels_wait_for_no_namespace(void **state)
{
    static const struct quota_limit LIMITS[] = {{.resource = GPU, .gpus = 8}};
    struct fixture *fixture = *state;
    struct reserve_result result;
    fixture_add_quota(
        fixture,
        &(struct quota){.name = "all", .has_selector = true, .limits = LIMITS, .n_limits = 1});
    fixture_put_node(fixture, "h1", GPU "=8", H100);
    list_namespaces(fixture);
    pod(fixture, "new/1", "", GPU "=1");
    assert_int_equal(fixture_reserve(fixture, "new/1", "h1", &result), RESERVE_HELD);
}

int main(void)
{
#define SETUP_TEST(name) cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        SETUP_TEST(test_a_flapping_label_frees_nothing),
        SETUP_TEST(test_a_relabelled_node_counts_for_its_new_model),
        SETUP_TEST(test_an_unseen_namespace_is_not_exempt_from_quotas),
        SETUP_TEST(test_a_namespace_absent_from_the_file_has_no_labels),
        SETUP_TEST(test_quotas_without_namespace_labels_wait_for_no_namespace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
