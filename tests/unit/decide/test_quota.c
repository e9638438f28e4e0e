/* quota: limits on namespaces by model, and sums that follow the ledger. */
#include "decide/quota.h"
#include "decide/what_if.h"
#include "fixture_question.h"
#include "unit.h"

#include <string.h>

#define GPU "nvidia.com/gpu"
#define I915 "gpu.intel.com/i915"
#define L4 "nvidia.com/gpu.product=NVIDIA-L4"
#define FLEX "gpu.intel.com/product=Flex_170"
#define H100 "nvidia.com/gpu.product=NVIDIA-H100-80GB-HBM3"
#define A100_SXM "nvidia.com/gpu.product=NVIDIA-A100-SXM4-80GB"
#define A100_PCIE "nvidia.com/gpu.product=NVIDIA-A100-PCIE-40GB"

static const char *const NAMES_A[] = {"a", "a-dev"};
static const char *const NAMES_B[] = {"b"};

static void pod(struct fixture *fixture, const char *uid, const char *node, const char *demand)
{
    const struct pod_facts facts = fixture_facts_in_namespace(fixture, uid, node, demand);
    fixture_put_pod_facts(fixture, &facts);
}

/* Namespaces a and a-dev: 8 GPUs in total, 4 of them H100, 6 of them A100. */
static int setup(void **state)
{
    static const struct quota_limit LIMITS[] = {{.resource = GPU, .gpus = 8},
                                                {.resource = GPU, .model = "H100", .gpus = 4},
                                                {.resource = GPU, .model = "A100", .gpus = 6}};
    (void)fixture_setup(state);
    struct fixture *fixture = *state;
    fixture_add_quota(fixture, &(struct quota){.name = "team-a",
                                               .namespaces = NAMES_A,
                                               .n_namespaces = 2,
                                               .limits = LIMITS,
                                               .n_limits = 3});
    return 0;
}

static void three_nodes(struct fixture *fixture)
{
    fixture_put_node(fixture, "h", GPU "=8", H100);
    fixture_put_node(fixture, "s", GPU "=8", A100_SXM);
    fixture_put_node(fixture, "p", GPU "=8", A100_PCIE);
}

static struct fit_question question(struct fixture *fixture, const char *namespace_,
                                    const char *demand)
{
    const struct shape_facts facts = fixture_shape_facts(fixture, demand);
    struct fit_question question = fixture_question(fixture, &facts);
    question.scope = FIT_OURS;
    question.quota = quota_begin(fixture->cluster, namespace_,
                                 (struct quota_pod){question.shape, 0}, NULL, fixture->arena);
    return question;
}

/* "fits", or the message without its prefix. */
static const char *verdict(struct fixture *fixture, const char *namespace_, const char *demand,
                           const char *node)
{
    const struct fit_question asked = question(fixture, namespace_, demand);
    const struct node *on = fixture_find_node(fixture, node);
    const enum reason reason = fit_judge(on, &asked);
    return reason == REASON_FITS ? "fits" : fit_text(on, &asked, reason);
}

static int64_t used(const struct fixture *fixture, size_t quota, size_t limit)
{
    const struct quota *of = &fixture->policy.quotas[quota];
    return quota_used(fixture->cluster, of, &of->limits[limit]);
}

static void test_nodes_of_an_exhausted_model_are_refused(void **state)
{
    struct fixture *fixture = *state;
    three_nodes(fixture);
    assert_string_equal(verdict(fixture, "a", GPU "=4", "h"), "fits");
    assert_string_equal(verdict(fixture, "a", GPU "=5", "h"),
                        "quota team-a leaves too few GPUs of the node's model");
    pod(fixture, "a/1", "h", GPU "=3");
    assert_string_equal(verdict(fixture, "a-dev", GPU "=1", "h"), "fits");
    assert_string_equal(verdict(fixture, "a-dev", GPU "=2", "h"),
                        "quota team-a leaves too few GPUs of the node's model");
    assert_string_equal(verdict(fixture, "a-dev", GPU "=2", "s"), "fits");
    assert_string_equal(verdict(fixture, "other", GPU "=5", "h"), "fits");
    assert_string_equal(verdict(fixture, "a", "cpu=1", "h"), "fits");
}

/* A limit without form or memory covers all models of the chip. */
static void test_a_limit_covers_all_models_that_match_it(void **state)
{
    struct fixture *fixture = *state;
    three_nodes(fixture);
    pod(fixture, "a/1", "s", GPU "=4");
    pod(fixture, "a/2", "p", GPU "=1");
    assert_int_equal(used(fixture, 0, 2), 5);
    assert_string_equal(verdict(fixture, "a", GPU "=1", "p"), "fits");
    assert_string_equal(verdict(fixture, "a", GPU "=2", "p"),
                        "quota team-a leaves too few GPUs of the node's model");
    assert_string_equal(verdict(fixture, "a", GPU "=2", "s"),
                        "quota team-a leaves too few GPUs of the node's model");
}

/* The memory is the model's, or the one that a label states. */
static void test_a_limit_with_memory(void **state)
{
    static const struct quota_limit LIMITS[] = {{.resource = GPU, .model = "A100-80GB", .gpus = 2}};
    struct fixture *fixture = *state;
    fixture_add_quota(fixture, &(struct quota){.name = "large",
                                               .namespaces = NAMES_A,
                                               .n_namespaces = 2,
                                               .limits = LIMITS,
                                               .n_limits = 1});
    fixture_put_node(fixture, "small", GPU "=8", "nvidia.com/gpu.product=NVIDIA-A100-SXM4-40GB");
    fixture_put_node(fixture, "large", GPU "=8", "nvidia.com/gpu.product=NVIDIA-A100-SXM4-80GB");
    fixture_put_node(fixture, "labelled", GPU "=8",
                     "nvidia.com/gpu.product=NVIDIA-A100,nvidia.com/gpu.memory=81920");
    pod(fixture, "a/1", "small", GPU "=1");
    assert_int_equal(used(fixture, 1, 0), 0);
    pod(fixture, "a/2", "large", GPU "=1");
    assert_int_equal(used(fixture, 1, 0), 1);
    pod(fixture, "a/3", "labelled", GPU "=1");
    assert_int_equal(used(fixture, 1, 0), 2);
    assert_string_equal(verdict(fixture, "a", GPU "=1", "small"), "fits");
    assert_string_equal(verdict(fixture, "a", GPU "=1", "labelled"),
                        "quota large leaves too few GPUs of the node's model");
}

static void test_an_exhausted_total_rejects_all_nodes(void **state)
{
    struct fixture *fixture = *state;
    three_nodes(fixture);
    fixture_put_node(fixture, "unnamed", GPU "=8", "");
    pod(fixture, "a/1", "h", GPU "=4");
    pod(fixture, "a/2", "unnamed", GPU "=4");
    assert_int_equal(used(fixture, 0, 0), 8);
    assert_int_equal(used(fixture, 0, 1), 4);
    assert_string_equal(verdict(fixture, "a", GPU "=1", "s"),
                        "quota team-a leaves too few GPUs in total");
    assert_string_equal(verdict(fixture, "a", GPU "=1", "unnamed"),
                        "quota team-a leaves too few GPUs in total");
    assert_string_equal(verdict(fixture, "b", GPU "=1", "unnamed"), "fits");
}

/* The order of reasons is that of the enum. */
static void test_quota_reason_precedes_temporary_and_follows_permanent_ones(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "h", GPU "=8", H100);
    pod(fixture, "b/1", "h", GPU "=8");
    assert_string_equal(verdict(fixture, "a", GPU "=5", "h"),
                        "quota team-a leaves too few GPUs of the node's model");
    assert_string_equal(verdict(fixture, "a", GPU "=4", "h"), "the node has too few free GPUs now");
    assert_string_equal(verdict(fixture, "a", GPU "=9", "h"), "the node has too few GPUs in total");
}

static void test_running_and_terminating_pods_count(void **state)
{
    struct fixture *fixture = *state;
    three_nodes(fixture);
    struct pod_facts facts = fixture_facts_in_namespace(fixture, "a/1", "h", GPU "=2");
    fixture_put_pod_facts(fixture, &facts);
    facts.terminating = true;
    fixture_put_pod_facts(fixture, &facts);
    assert_int_equal(used(fixture, 0, 1), 2);
    facts.finished = true;
    fixture_put_pod_facts(fixture, &facts);
    assert_int_equal(used(fixture, 0, 1), 0);
    pod(fixture, "a/waits", "", GPU "=2");
    assert_int_equal(used(fixture, 0, 0), 0);
    assert_int_equal(fixture_reserve(fixture, "a/waits", "h", NULL), RESERVE_HELD);
    assert_int_equal(used(fixture, 0, 1), 2);
    pod(fixture, "a/waits", "h", GPU "=2");
    assert_int_equal(used(fixture, 0, 1), 2);
    fixture_remove_pod(fixture, "a/waits");
    assert_int_equal(used(fixture, 0, 0), 0);
}

static void test_reservations_cannot_exceed_the_quota(void **state)
{
    struct fixture *fixture = *state;
    struct reserve_result result;
    three_nodes(fixture);
    pod(fixture, "a/1", "", GPU "=3");
    pod(fixture, "a/2", "", GPU "=2");
    assert_int_equal(fixture_reserve(fixture, "a/1", "h", NULL), RESERVE_HELD);
    assert_int_equal(fixture_reserve(fixture, "a/2", "h", &result), RESERVE_REFUSED);
    assert_int_equal(result.reason, REASON_QUOTA);
    assert_string_equal(result.why, "quota team-a leaves too few GPUs of the node's model");
    assert_int_equal(fixture_reserve(fixture, "a/1", "h", NULL), RESERVE_HELD); /* repeated */
    fixture_remove_pod(fixture, "a/1");
    assert_int_equal(fixture_reserve(fixture, "a/2", "h", NULL), RESERVE_HELD);
}

static void test_a_pods_own_reservation_does_not_count_against_it(void **state)
{
    struct fixture *fixture = *state;
    three_nodes(fixture);
    pod(fixture, "a/1", "", GPU "=3");
    assert_int_equal(fixture_reserve(fixture, "a/1", "h", NULL), RESERVE_HELD);
    assert_string_equal(verdict(fixture, "a", GPU "=3", "h"),
                        "quota team-a leaves too few GPUs of the node's model");
    const struct shape_facts facts = fixture_shape_facts(fixture, GPU "=3");
    const struct pod_shape *shape = fixture_resolve(fixture, &facts);
    const struct reservation *own = cluster_find_reservation(fixture->cluster, "a/1");
    const struct quota_view *view =
        quota_begin(fixture->cluster, "a", (struct quota_pod){shape, 0}, own, fixture->arena);
    assert_int_equal(quota_judge(view, fixture_find_node(fixture, "h")), REASON_FITS);
}

static void test_usage_follows_a_node_that_changes_its_model(void **state)
{
    struct fixture *fixture = *state;
    three_nodes(fixture);
    pod(fixture, "a/1", "h", GPU "=2");
    pod(fixture, "a/2", "", GPU "=1");
    assert_int_equal(fixture_reserve(fixture, "a/2", "h", NULL), RESERVE_HELD);
    fixture_put_node(fixture, "h", GPU "=8", A100_SXM);
    assert_int_equal(used(fixture, 0, 1), 0);
    assert_int_equal(used(fixture, 0, 2), 3);
    fixture_remove_node(fixture, "h");
    assert_int_equal(used(fixture, 0, 0), 3);
    assert_int_equal(used(fixture, 0, 2), 0);
    fixture_put_node(fixture, "h", GPU "=8", H100);
    assert_int_equal(used(fixture, 0, 1), 3);
}

/* Two quotas: the first in policy order that leaves too little is named. */
static void test_all_quotas_apply_and_the_first_is_named(void **state)
{
    static const struct quota_limit LIMITS[] = {{.model = "H100", .gpus = 1}, {.gpus = 7}};
    struct fixture *fixture = *state;
    fixture_add_quota(
        fixture, &(struct quota){
                     .name = "everybody", .has_selector = true, .limits = LIMITS, .n_limits = 2});
    three_nodes(fixture);
    assert_string_equal(verdict(fixture, "a", GPU "=2", "h"),
                        "quota everybody leaves too few GPUs of the node's model");
    assert_string_equal(verdict(fixture, "a", GPU "=5", "h"),
                        "quota team-a leaves too few GPUs of the node's model");
    assert_string_equal(verdict(fixture, "unheard-of", GPU "=8", "s"),
                        "quota everybody leaves too few GPUs in total");
    pod(fixture, "b/1", "s", GPU "=7");
    assert_int_equal(used(fixture, 0, 0), 0);
    assert_int_equal(used(fixture, 1, 1), 7);
    assert_string_equal(verdict(fixture, "a", GPU "=1", "p"),
                        "quota everybody leaves too few GPUs in total");
}

static void test_each_resource_of_a_pod_is_checked(void **state)
{
    static const struct quota_limit LIMITS[] = {{.resource = "nvidia.com/mig-*", .gpus = 2}};
    struct fixture *fixture = *state;
    fixture_add_quota(fixture, &(struct quota){.name = "slices",
                                               .namespaces = NAMES_B,
                                               .n_namespaces = 1,
                                               .limits = LIMITS,
                                               .n_limits = 1});
    fixture_put_node(fixture, "n", GPU "=8 nvidia.com/mig-1g.5gb=7 nvidia.com/mig-2g.10gb=7", "");
    assert_string_equal(verdict(fixture, "b", GPU "=8 nvidia.com/mig-1g.5gb=2", "n"), "fits");
    assert_string_equal(verdict(fixture, "b", GPU "=8 nvidia.com/mig-1g.5gb=3", "n"),
                        "quota slices leaves too few GPUs in total");
    assert_string_equal(
        verdict(fixture, "b", "nvidia.com/mig-2g.10gb=2 nvidia.com/mig-1g.5gb=1", "n"),
        "quota slices leaves too few GPUs in total");
    pod(fixture, "b/1", "n", "nvidia.com/mig-2g.10gb=1 " GPU "=4");
    assert_int_equal(used(fixture, 1, 0), 1);
}

static void namespace(struct fixture *fixture, const char *name, const char *labels)
{
    struct namespace_facts facts = {.name = name};
    struct err err = {""};
    facts.labels = fixture_labels(fixture, labels, &facts.n_labels);
    cluster_upsert_namespace(fixture->cluster, &facts);
    if (cluster_check_in_place(fixture->cluster, &err) != 0)
        fail_msg("the ledger's self-check: %s", err.text);
}

/* Each resource counts under the model of its own vendor. */
static void test_a_limit_counts_the_resources_of_its_vendor(void **state)
{
    static const struct quota_limit LIMITS[] = {{.model = "L4", .gpus = 2},
                                                {.model = "Flex-170", .gpus = 2}};
    struct fixture *fixture = *state;
    fixture_add_quota(fixture, &(struct quota){.name = "both",
                                               .namespaces = NAMES_B,
                                               .n_namespaces = 1,
                                               .limits = LIMITS,
                                               .n_limits = 2});
    fixture_put_node(fixture, "n", I915 "=8 " GPU "=8", L4 "," FLEX);
    pod(fixture, "b/1", "n", I915 "=2 " GPU "=1");
    assert_int_equal(used(fixture, 1, 0), 1);
    assert_int_equal(used(fixture, 1, 1), 2);
    assert_string_equal(verdict(fixture, "b", GPU "=1", "n"), "fits");
    assert_string_equal(verdict(fixture, "b", I915 "=1", "n"),
                        "quota both leaves too few GPUs of the node's model");
    assert_string_equal(verdict(fixture, "b", I915 "=1 " GPU "=1", "n"),
                        "quota both leaves too few GPUs of the node's model");
    /* Feature discovery restarts: GPUs in use keep their models. */
    fixture_put_node(fixture, "n", I915 "=8 " GPU "=8", FLEX);
    assert_int_equal(used(fixture, 1, 0), 1);
    fixture_put_node(fixture, "n", I915 "=8 " GPU "=8", L4);
    assert_int_equal(used(fixture, 1, 1), 2);
    fixture_put_node(fixture, "n", I915 "=8 " GPU "=8", H100 "," FLEX);
    assert_int_equal(used(fixture, 1, 0), 0);
    assert_string_equal(verdict(fixture, "b", GPU "=4", "n"), "fits");
    fixture_remove_pod(fixture, "b/1");
    assert_int_equal(used(fixture, 1, 1), 0);
}

static void test_namespace_labels_select_quotas(void **state)
{
    static const struct quota_limit LIMITS[] = {{.gpus = 4}};
    struct fixture *fixture = *state;
    fixture_add_quota(fixture,
                      &(struct quota){.name = "research",
                                      .has_selector = true,
                                      .selector = fixture_term(fixture, "tier In research|lab"),
                                      .limits = LIMITS,
                                      .n_limits = 1});
    three_nodes(fixture);
    pod(fixture, "x/1", "s", GPU "=3");
    assert_int_equal(used(fixture, 1, 0), 0);
    namespace(fixture, "x", "tier=research,z=1");
    assert_int_equal(used(fixture, 1, 0), 3);
    assert_string_equal(verdict(fixture, "x", GPU "=2", "s"),
                        "quota research leaves too few GPUs in total");
    const uint64_t version = cluster_version(fixture->cluster);
    namespace(fixture, "x", "tier=research,z=1");
    assert_int_equal(cluster_version(fixture->cluster), version);
    namespace(fixture, "x", "tier=web");
    assert_true(cluster_version(fixture->cluster) > version);
    assert_string_equal(verdict(fixture, "x", GPU "=5", "s"), "fits");
    namespace(fixture, "x", "tier=lab");
    assert_int_equal(used(fixture, 1, 0), 3);
    cluster_delete_namespace(fixture->cluster, "x"); /* its pods still exist */
    assert_int_equal(used(fixture, 1, 0), 0);
    assert_int_equal(cluster_n_namespaces(fixture->cluster), 0);
    fixture_remove_pod(fixture, "x/1");
}

static void test_a_lowered_quota_admits_nothing(void **state)
{
    struct fixture *fixture = *state;
    three_nodes(fixture);
    pod(fixture, "a/1", "h", GPU "=7"); /* above the limit: bound by another client */
    assert_int_equal(used(fixture, 0, 1), 7);
    assert_string_equal(verdict(fixture, "a", GPU "=1", "h"),
                        "quota team-a leaves too few GPUs of the node's model");
    const struct fit_question asked = question(fixture, "a", GPU "=1");
    assert_int_equal(quota_count(asked.quota, fixture_find_node(fixture, "h")), 0);
    assert_int_equal(fit_count(fixture_find_node(fixture, "s"), &asked), 1);
}

static void test_a_quota_view_without_victims_has_their_share(void **state)
{
    struct fixture *fixture = *state;
    three_nodes(fixture);
    pod(fixture, "a/1", "h", GPU "=4");
    pod(fixture, "b/1", "h", GPU "=4");
    const struct fit_question asked = question(fixture, "a", GPU "=1");
    const struct node *node = fixture_find_node(fixture, "h");
    const struct pod *own = cluster_find_pod(fixture->cluster, "a/1");
    struct quota_view *freed = quota_copy(asked.quota, fixture->arena);
    quota_give_back(freed, fixture->cluster, node, "b", (struct quota_pod){own->shape, 0});
    assert_int_equal(quota_judge(freed, node), REASON_QUOTA);
    quota_give_back(freed, fixture->cluster, node, "a", (struct quota_pod){own->shape, 0});
    assert_int_equal(quota_judge(freed, node), REASON_FITS);
    assert_int_equal(quota_count(freed, node), 4);
    assert_int_equal(quota_judge(asked.quota, node), REASON_QUOTA); /* unchanged */
}

static void test_a_fork_consumes_the_quota(void **state)
{
    struct fixture *fixture = *state;
    three_nodes(fixture);
    pod(fixture, "a/1", "h", GPU "=1");
    struct cluster *fork = cluster_fork(fixture->cluster);
    const struct shape_facts facts = fixture_shape_facts(fixture, GPU "=2");
    struct fit_question asked = {.shape = cluster_resolve(fork, &facts, fixture->arena),
                                 .scope = FIT_OURS};
    asked.quota = quota_begin(fork, "a", (struct quota_pod){asked.shape, 0}, NULL, fixture->arena);
    assert_int_equal(what_if_more(fork, &asked).n, 3);
    const struct node *nodes[5];
    assert_int_equal(what_if_place(fork, &asked, 2, nodes), 2);
    asked.quota =
        quota_begin(fork, "a-dev", (struct quota_pod){asked.shape, 0}, NULL, fixture->arena);
    assert_int_equal(what_if_more(fork, &asked).n, 1);
    assert_int_equal(what_if_place(fork, &asked, 3, nodes), 1);
    assert_null(nodes[1]);
    assert_int_equal(what_if_fill(fork, &asked, 5).n, 0);
    const struct quota *quota = &fixture->policy.quotas[0];
    assert_int_equal(quota_used(fork, quota, &quota->limits[0]), 7);
    assert_int_equal(used(fixture, 0, 0), 1);
    cluster_fork_free(fork);
}

static void test_a_pod_without_quota_has_no_view(void **state)
{
    struct fixture *fixture = *state;
    three_nodes(fixture);
    assert_null(question(fixture, "b", GPU "=1").quota);
    assert_null(question(fixture, "a", "cpu=1").quota);
    assert_null(question(fixture, "a", "amd.com/gpu=1").quota);
    assert_int_equal(quota_judge(NULL, fixture_find_node(fixture, "h")), REASON_FITS);
    assert_int_equal(quota_count(NULL, fixture_find_node(fixture, "h")), INT64_MAX);
}

static void test_the_number_of_quotas_is_bounded(void **state)
{
    struct fixture *fixture = *state;
    struct err err;
    struct quota_limit limit = {.gpus = 1};
    const struct quota quota = {.name = "q", .limits = &limit, .n_limits = 1};
    for (size_t i = fixture->policy.n_quota_models; i < QUOTA_MODELS_MAX; i++) {
        limit.model = arena_printf(fixture->arena, "M%zu", i);
        assert_int_equal(policy_add_quota(&fixture->policy, &quota, &err), 0);
    }
    limit.model = "One-More";
    assert_int_equal(policy_add_quota(&fixture->policy, &quota, &err), -E2BIG);
    assert_string_equal(
        err.text, "model One-More is over the limit of 63 different models in all quotas together");
    limit.model = NULL;
    for (size_t i = fixture->policy.n_quotas; i < QUOTAS_MAX; i++)
        assert_int_equal(policy_add_quota(&fixture->policy, &quota, &err), 0);
    assert_int_equal(policy_add_quota(&fixture->policy, &quota, &err), -E2BIG);
    policy_clear_quotas(&fixture->policy);
    cluster_free(fixture->cluster);
    fixture->cluster = NULL;
}

int main(void)
{
#define SETUP_TEST(name) cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        SETUP_TEST(test_nodes_of_an_exhausted_model_are_refused),
        SETUP_TEST(test_a_limit_covers_all_models_that_match_it),
        SETUP_TEST(test_a_limit_with_memory),
        SETUP_TEST(test_an_exhausted_total_rejects_all_nodes),
        SETUP_TEST(test_quota_reason_precedes_temporary_and_follows_permanent_ones),
        SETUP_TEST(test_running_and_terminating_pods_count),
        SETUP_TEST(test_reservations_cannot_exceed_the_quota),
        SETUP_TEST(test_a_pods_own_reservation_does_not_count_against_it),
        SETUP_TEST(test_usage_follows_a_node_that_changes_its_model),
        SETUP_TEST(test_all_quotas_apply_and_the_first_is_named),
        SETUP_TEST(test_each_resource_of_a_pod_is_checked),
        SETUP_TEST(test_a_limit_counts_the_resources_of_its_vendor),
        SETUP_TEST(test_namespace_labels_select_quotas),
        SETUP_TEST(test_a_lowered_quota_admits_nothing),
        SETUP_TEST(test_a_quota_view_without_victims_has_their_share),
        SETUP_TEST(test_a_fork_consumes_the_quota),
        SETUP_TEST(test_a_pod_without_quota_has_no_view),
        SETUP_TEST(test_the_number_of_quotas_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
