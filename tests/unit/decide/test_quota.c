/* quota: limits on namespaces by model, and sums that follow the ledger. */
#include "decide/quota.h"
#include "decide/what_if.h"
#include "given_question.h"
#include "unit.h"

#include <string.h>

#define GPU "nvidia.com/gpu"
#define H100 "nvidia.com/gpu.product=NVIDIA-H100-80GB-HBM3"
#define A100_SXM "nvidia.com/gpu.product=NVIDIA-A100-SXM4-80GB"
#define A100_PCIE "nvidia.com/gpu.product=NVIDIA-A100-PCIE-40GB"

static const char *const NAMES_A[] = {"a", "a-dev"};
static const char *const NAMES_B[] = {"b"};

static void pod(struct given *given, const char *uid, const char *node, const char *demand)
{
    const struct pod_facts facts = given_facts_in_namespace(given, uid, node, demand);
    given_pod_of(given, &facts);
}

/* Namespaces a and a-dev: 8 GPUs in total, 4 of them H100, 6 of them A100. */
static int setup(void **state)
{
    static const struct quota_limit LIMITS[] = {{.resource = GPU, .gpus = 8},
                                                {.resource = GPU, .model = "H100", .gpus = 4},
                                                {.resource = GPU, .model = "A100", .gpus = 6}};
    (void)given_setup(state);
    struct given *given = *state;
    given_quota(given, &(struct quota){.name = "team-a",
                                       .namespaces = NAMES_A,
                                       .n_namespaces = 2,
                                       .limits = LIMITS,
                                       .n_limits = 3});
    return 0;
}

static void three_nodes(struct given *given)
{
    given_node(given, "h", GPU "=8", H100);
    given_node(given, "s", GPU "=8", A100_SXM);
    given_node(given, "p", GPU "=8", A100_PCIE);
}

static struct fit_question question(struct given *given, const char *namespace_, const char *demand)
{
    const struct shape_facts facts = given_shape_facts(given, demand);
    struct fit_question question = given_question(given, &facts);
    question.scope = FIT_OURS;
    question.quota = quota_begin(given->cluster, namespace_, question.shape, NULL, given->arena);
    return question;
}

/* "fits", or the message without its prefix. */
static const char *verdict(struct given *given, const char *namespace_, const char *demand,
                           const char *node)
{
    const struct fit_question asked = question(given, namespace_, demand);
    const struct node *on = given_find(given, node);
    const enum reason reason = fit_judge(on, &asked);
    return reason == REASON_FITS ? "fits" : fit_text(on, &asked, reason);
}

static int64_t used(const struct given *given, size_t quota, size_t limit)
{
    const struct quota *of = &given->policy.quotas[quota];
    return quota_used(given->cluster, of, &of->limits[limit]);
}

static void test_nodes_of_an_exhausted_model_are_refused(void **state)
{
    struct given *given = *state;
    three_nodes(given);
    assert_string_equal(verdict(given, "a", GPU "=4", "h"), "fits");
    assert_string_equal(verdict(given, "a", GPU "=5", "h"),
                        "quota team-a leaves too few GPUs of the node's model");
    pod(given, "a/1", "h", GPU "=3");
    assert_string_equal(verdict(given, "a-dev", GPU "=1", "h"), "fits");
    assert_string_equal(verdict(given, "a-dev", GPU "=2", "h"),
                        "quota team-a leaves too few GPUs of the node's model");
    assert_string_equal(verdict(given, "a-dev", GPU "=2", "s"), "fits");
    assert_string_equal(verdict(given, "other", GPU "=5", "h"), "fits");
    assert_string_equal(verdict(given, "a", "cpu=1", "h"), "fits");
}

/* A limit without form or memory covers all models of the chip. */
static void test_a_limit_is_over_all_models_that_satisfy_it(void **state)
{
    struct given *given = *state;
    three_nodes(given);
    pod(given, "a/1", "s", GPU "=4");
    pod(given, "a/2", "p", GPU "=1");
    assert_int_equal(used(given, 0, 2), 5);
    assert_string_equal(verdict(given, "a", GPU "=1", "p"), "fits");
    assert_string_equal(verdict(given, "a", GPU "=2", "p"),
                        "quota team-a leaves too few GPUs of the node's model");
    assert_string_equal(verdict(given, "a", GPU "=2", "s"),
                        "quota team-a leaves too few GPUs of the node's model");
}

/* The memory is the model's, or the one that a label states. */
static void test_a_limit_with_memory(void **state)
{
    static const struct quota_limit LIMITS[] = {{.resource = GPU, .model = "A100-80GB", .gpus = 2}};
    struct given *given = *state;
    given_quota(given, &(struct quota){.name = "large",
                                       .namespaces = NAMES_A,
                                       .n_namespaces = 2,
                                       .limits = LIMITS,
                                       .n_limits = 1});
    given_node(given, "small", GPU "=8", "nvidia.com/gpu.product=NVIDIA-A100-SXM4-40GB");
    given_node(given, "large", GPU "=8", "nvidia.com/gpu.product=NVIDIA-A100-SXM4-80GB");
    given_node(given, "labelled", GPU "=8",
               "nvidia.com/gpu.product=NVIDIA-A100,nvidia.com/gpu.memory=81920");
    pod(given, "a/1", "small", GPU "=1");
    assert_int_equal(used(given, 1, 0), 0);
    pod(given, "a/2", "large", GPU "=1");
    assert_int_equal(used(given, 1, 0), 1);
    pod(given, "a/3", "labelled", GPU "=1");
    assert_int_equal(used(given, 1, 0), 2);
    assert_string_equal(verdict(given, "a", GPU "=1", "small"), "fits");
    assert_string_equal(verdict(given, "a", GPU "=1", "labelled"),
                        "quota large leaves too few GPUs of the node's model");
}

static void test_the_total_refuses_all_nodes(void **state)
{
    struct given *given = *state;
    three_nodes(given);
    given_node(given, "unnamed", GPU "=8", "");
    pod(given, "a/1", "h", GPU "=4");
    pod(given, "a/2", "unnamed", GPU "=4");
    assert_int_equal(used(given, 0, 0), 8);
    assert_int_equal(used(given, 0, 1), 4);
    assert_string_equal(verdict(given, "a", GPU "=1", "s"),
                        "quota team-a leaves too few GPUs in total");
    assert_string_equal(verdict(given, "a", GPU "=1", "unnamed"),
                        "quota team-a leaves too few GPUs in total");
    assert_string_equal(verdict(given, "b", GPU "=1", "unnamed"), "fits");
}

/* The order of reasons is that of the enum. */
static void test_quota_comes_after_what_is_for_ever_and_before_what_is_now(void **state)
{
    struct given *given = *state;
    given_node(given, "h", GPU "=8", H100);
    pod(given, "b/1", "h", GPU "=8");
    assert_string_equal(verdict(given, "a", GPU "=5", "h"),
                        "quota team-a leaves too few GPUs of the node's model");
    assert_string_equal(verdict(given, "a", GPU "=4", "h"), "the node has too few free GPUs now");
    assert_string_equal(verdict(given, "a", GPU "=9", "h"), "the node has too few GPUs in total");
}

static void test_who_counts(void **state)
{
    struct given *given = *state;
    three_nodes(given);
    struct pod_facts facts = given_facts_in_namespace(given, "a/1", "h", GPU "=2");
    given_pod_of(given, &facts);
    facts.terminating = true;
    given_pod_of(given, &facts);
    assert_int_equal(used(given, 0, 1), 2);
    facts.finished = true;
    given_pod_of(given, &facts);
    assert_int_equal(used(given, 0, 1), 0);
    pod(given, "a/waits", "", GPU "=2");
    assert_int_equal(used(given, 0, 0), 0);
    assert_int_equal(given_reserve(given, "a/waits", "h", NULL), RESERVE_HELD);
    assert_int_equal(used(given, 0, 1), 2);
    pod(given, "a/waits", "h", GPU "=2");
    assert_int_equal(used(given, 0, 1), 2);
    given_no_pod(given, "a/waits");
    assert_int_equal(used(given, 0, 0), 0);
}

static void test_reservations_cannot_pass_the_quota(void **state)
{
    struct given *given = *state;
    struct reserve_result result;
    three_nodes(given);
    pod(given, "a/1", "", GPU "=3");
    pod(given, "a/2", "", GPU "=2");
    assert_int_equal(given_reserve(given, "a/1", "h", NULL), RESERVE_HELD);
    assert_int_equal(given_reserve(given, "a/2", "h", &result), RESERVE_REFUSED);
    assert_int_equal(result.reason, REASON_QUOTA);
    assert_string_equal(result.why, "quota team-a leaves too few GPUs of the node's model");
    assert_int_equal(given_reserve(given, "a/1", "h", NULL), RESERVE_HELD); /* repeated */
    given_no_pod(given, "a/1");
    assert_int_equal(given_reserve(given, "a/2", "h", NULL), RESERVE_HELD);
}

static void test_its_own_reservation_is_left_to_the_pod(void **state)
{
    struct given *given = *state;
    three_nodes(given);
    pod(given, "a/1", "", GPU "=3");
    assert_int_equal(given_reserve(given, "a/1", "h", NULL), RESERVE_HELD);
    assert_string_equal(verdict(given, "a", GPU "=3", "h"),
                        "quota team-a leaves too few GPUs of the node's model");
    const struct shape_facts facts = given_shape_facts(given, GPU "=3");
    const struct pod_shape *shape = given_resolved(given, &facts);
    const struct reservation *own = cluster_find_reservation(given->cluster, "a/1");
    const struct quota_view *view = quota_begin(given->cluster, "a", shape, own, given->arena);
    assert_int_equal(quota_judge(view, given_find(given, "h")), REASON_FITS);
}

static void test_a_node_changes_its_model_and_goes(void **state)
{
    struct given *given = *state;
    three_nodes(given);
    pod(given, "a/1", "h", GPU "=2");
    pod(given, "a/2", "", GPU "=1");
    assert_int_equal(given_reserve(given, "a/2", "h", NULL), RESERVE_HELD);
    given_node(given, "h", GPU "=8", A100_SXM);
    assert_int_equal(used(given, 0, 1), 0);
    assert_int_equal(used(given, 0, 2), 3);
    given_no_node(given, "h");
    assert_int_equal(used(given, 0, 0), 3);
    assert_int_equal(used(given, 0, 2), 0);
    given_node(given, "h", GPU "=8", H100);
    assert_int_equal(used(given, 0, 1), 3);
}

/* Two quotas: the first in policy order that leaves too little is named. */
static void test_all_quotas_hold_and_the_first_is_named(void **state)
{
    static const struct quota_limit LIMITS[] = {{.model = "H100", .gpus = 1}, {.gpus = 7}};
    struct given *given = *state;
    given_quota(given,
                &(struct quota){
                    .name = "everybody", .has_selector = true, .limits = LIMITS, .n_limits = 2});
    three_nodes(given);
    assert_string_equal(verdict(given, "a", GPU "=2", "h"),
                        "quota everybody leaves too few GPUs of the node's model");
    assert_string_equal(verdict(given, "a", GPU "=5", "h"),
                        "quota team-a leaves too few GPUs of the node's model");
    assert_string_equal(verdict(given, "unheard-of", GPU "=8", "s"),
                        "quota everybody leaves too few GPUs in total");
    pod(given, "b/1", "s", GPU "=7");
    assert_int_equal(used(given, 0, 0), 0);
    assert_int_equal(used(given, 1, 1), 7);
    assert_string_equal(verdict(given, "a", GPU "=1", "p"),
                        "quota everybody leaves too few GPUs in total");
}

static void test_each_resource_of_a_pod_is_checked(void **state)
{
    static const struct quota_limit LIMITS[] = {{.resource = "nvidia.com/mig-*", .gpus = 2}};
    struct given *given = *state;
    given_quota(given, &(struct quota){.name = "slices",
                                       .namespaces = NAMES_B,
                                       .n_namespaces = 1,
                                       .limits = LIMITS,
                                       .n_limits = 1});
    given_node(given, "n", GPU "=8 nvidia.com/mig-1g.5gb=7 nvidia.com/mig-2g.10gb=7", "");
    assert_string_equal(verdict(given, "b", GPU "=8 nvidia.com/mig-1g.5gb=2", "n"), "fits");
    assert_string_equal(verdict(given, "b", GPU "=8 nvidia.com/mig-1g.5gb=3", "n"),
                        "quota slices leaves too few GPUs in total");
    assert_string_equal(
        verdict(given, "b", "nvidia.com/mig-2g.10gb=2 nvidia.com/mig-1g.5gb=1", "n"),
        "quota slices leaves too few GPUs in total");
    pod(given, "b/1", "n", "nvidia.com/mig-2g.10gb=1 " GPU "=4");
    assert_int_equal(used(given, 1, 0), 1);
}

static void namespace(struct given *given, const char *name, const char *labels)
{
    struct namespace_facts facts = {.name = name};
    struct err err = {""};
    facts.labels = given_labels(given, labels, &facts.n_labels);
    cluster_upsert_namespace(given->cluster, &facts);
    if (cluster_check(given->cluster, &err) != 0)
        fail_msg("the ledger's self-check: %s", err.text);
}

static void test_labels_of_namespaces(void **state)
{
    static const struct quota_limit LIMITS[] = {{.gpus = 4}};
    struct given *given = *state;
    given_quota(given, &(struct quota){.name = "research",
                                       .has_selector = true,
                                       .selector = given_term(given, "tier In research|lab"),
                                       .limits = LIMITS,
                                       .n_limits = 1});
    three_nodes(given);
    pod(given, "x/1", "s", GPU "=3");
    assert_int_equal(used(given, 1, 0), 0);
    namespace(given, "x", "tier=research,z=1");
    assert_int_equal(used(given, 1, 0), 3);
    assert_string_equal(verdict(given, "x", GPU "=2", "s"),
                        "quota research leaves too few GPUs in total");
    const uint64_t version = cluster_version(given->cluster);
    namespace(given, "x", "tier=research,z=1");
    assert_int_equal(cluster_version(given->cluster), version);
    namespace(given, "x", "tier=web");
    assert_true(cluster_version(given->cluster) > version);
    assert_string_equal(verdict(given, "x", GPU "=5", "s"), "fits");
    namespace(given, "x", "tier=lab");
    assert_int_equal(used(given, 1, 0), 3);
    cluster_delete_namespace(given->cluster, "x"); /* its pods still exist */
    assert_int_equal(used(given, 1, 0), 0);
    assert_int_equal(cluster_n_namespaces(given->cluster), 0);
    given_no_pod(given, "x/1");
}

static void test_a_lowered_quota_lets_nothing_in(void **state)
{
    struct given *given = *state;
    three_nodes(given);
    pod(given, "a/1", "h", GPU "=7"); /* above the limit: bound by another client */
    assert_int_equal(used(given, 0, 1), 7);
    assert_string_equal(verdict(given, "a", GPU "=1", "h"),
                        "quota team-a leaves too few GPUs of the node's model");
    const struct fit_question asked = question(given, "a", GPU "=1");
    assert_int_equal(quota_count(asked.quota, given_find(given, "h")), 0);
    assert_int_equal(fit_count(given_find(given, "s"), &asked), 1);
}

static void test_as_if_pods_were_gone(void **state)
{
    struct given *given = *state;
    three_nodes(given);
    pod(given, "a/1", "h", GPU "=4");
    pod(given, "b/1", "h", GPU "=4");
    const struct fit_question asked = question(given, "a", GPU "=1");
    const struct node *node = given_find(given, "h");
    const struct pod *own = cluster_find_pod(given->cluster, "a/1");
    struct quota_view *freed = quota_copy(asked.quota, given->arena);
    quota_give_back(freed, given->cluster, node, "b", own->shape);
    assert_int_equal(quota_judge(freed, node), REASON_QUOTA);
    quota_give_back(freed, given->cluster, node, "a", own->shape);
    assert_int_equal(quota_judge(freed, node), REASON_FITS);
    assert_int_equal(quota_count(freed, node), 4);
    assert_int_equal(quota_judge(asked.quota, node), REASON_QUOTA); /* unchanged */
}

static void test_a_fork_spends_the_quota(void **state)
{
    struct given *given = *state;
    three_nodes(given);
    pod(given, "a/1", "h", GPU "=1");
    struct cluster *fork = cluster_fork(given->cluster);
    const struct shape_facts facts = given_shape_facts(given, GPU "=2");
    struct fit_question asked = {.shape = cluster_resolve(fork, &facts, given->arena),
                                 .scope = FIT_OURS};
    asked.quota = quota_begin(fork, "a", asked.shape, NULL, given->arena);
    assert_int_equal(what_if_more(fork, &asked), 3);
    const struct node *nodes[5];
    assert_int_equal(what_if_place(fork, &asked, 2, nodes), 2);
    asked.quota = quota_begin(fork, "a-dev", asked.shape, NULL, given->arena);
    assert_int_equal(what_if_more(fork, &asked), 1);
    assert_int_equal(what_if_place(fork, &asked, 3, nodes), 1);
    assert_null(nodes[1]);
    assert_int_equal(what_if_fill(fork, &asked, 5), 0);
    const struct quota *quota = &given->policy.quotas[0];
    assert_int_equal(quota_used(fork, quota, &quota->limits[0]), 7);
    assert_int_equal(used(given, 0, 0), 1);
    cluster_fork_free(fork);
}

static void test_where_no_quota_limits_it_there_is_no_view(void **state)
{
    struct given *given = *state;
    three_nodes(given);
    assert_null(question(given, "b", GPU "=1").quota);
    assert_null(question(given, "a", "cpu=1").quota);
    assert_null(question(given, "a", "amd.com/gpu=1").quota);
    assert_int_equal(quota_judge(NULL, given_find(given, "h")), REASON_FITS);
    assert_int_equal(quota_count(NULL, given_find(given, "h")), INT64_MAX);
}

static void test_there_are_so_many_at_the_most(void **state)
{
    struct given *given = *state;
    struct err err;
    struct quota_limit limit = {.gpus = 1};
    const struct quota quota = {.name = "q", .limits = &limit, .n_limits = 1};
    for (size_t i = given->policy.n_quota_models; i < QUOTA_MODELS_MAX; i++) {
        limit.model = arena_printf(given->arena, "M%zu", i);
        assert_int_equal(policy_add_quota(&given->policy, &quota, &err), 0);
    }
    limit.model = "One-More";
    assert_int_equal(policy_add_quota(&given->policy, &quota, &err), -E2BIG);
    assert_string_equal(
        err.text, "model One-More is over the limit of 63 different models in all quotas together");
    limit.model = NULL;
    for (size_t i = given->policy.n_quotas; i < QUOTAS_MAX; i++)
        assert_int_equal(policy_add_quota(&given->policy, &quota, &err), 0);
    assert_int_equal(policy_add_quota(&given->policy, &quota, &err), -E2BIG);
    policy_clear_quotas(&given->policy);
    cluster_free(given->cluster);
    given->cluster = NULL;
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, given_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_nodes_of_an_exhausted_model_are_refused),
        TEST(test_a_limit_is_over_all_models_that_satisfy_it),
        TEST(test_a_limit_with_memory),
        TEST(test_the_total_refuses_all_nodes),
        TEST(test_quota_comes_after_what_is_for_ever_and_before_what_is_now),
        TEST(test_who_counts),
        TEST(test_reservations_cannot_pass_the_quota),
        TEST(test_its_own_reservation_is_left_to_the_pod),
        TEST(test_a_node_changes_its_model_and_goes),
        TEST(test_all_quotas_hold_and_the_first_is_named),
        TEST(test_each_resource_of_a_pod_is_checked),
        TEST(test_labels_of_namespaces),
        TEST(test_a_lowered_quota_lets_nothing_in),
        TEST(test_as_if_pods_were_gone),
        TEST(test_a_fork_spends_the_quota),
        TEST(test_where_no_quota_limits_it_there_is_no_view),
        TEST(test_there_are_so_many_at_the_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
