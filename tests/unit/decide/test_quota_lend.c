/* quota: limits with `borrow`: two counts by priority, and what is taken back from borrowers. */
#include "decide/preempt.h"
#include "decide/quota.h"
#include "fixture_devices.h"
#include "fixture_question.h"
#include "ledger/claims.h"
#include "unit.h"

#include <string.h>

#define GPU "nvidia.com/gpu"
#define H100 "nvidia.com/gpu.product=NVIDIA-H100-80GB-HBM3"

static const char *const NAMES_A[] = {"a"};
static const char *const NAMES_B[] = {"b"};
static const struct quota_limit LIMITS_A[] = {
    {.resource = GPU,
     .model = "H100",
     .gpus = 4,
     .borrow = {.is_set = true, .gpus = 6, .max_priority = 0}},
};
static const struct quota_limit LIMITS_B[] = {{.resource = GPU, .model = "H100", .gpus = 8}};
static const struct quota QUOTAS[] = {
    {.name = "team-a", .namespaces = NAMES_A, .n_namespaces = 1, .limits = LIMITS_A, .n_limits = 1},
    {.name = "team-b", .namespaces = NAMES_B, .n_namespaces = 1, .limits = LIMITS_B, .n_limits = 1},
};

/* Namespace a: 4 H100 guaranteed, 6 to borrow at a priority of 0 or less; b: 8 guaranteed. */
static int setup(void **state)
{
    (void)fixture_setup(state);
    struct fixture *fixture = *state;
    fixture_add_quota(fixture, &QUOTAS[0]);
    fixture_add_quota(fixture, &QUOTAS[1]);
    fixture_put_node(fixture, "h1", "pods=99 " GPU "=8", H100);
    fixture_put_node(fixture, "h2", "pods=99 " GPU "=8", H100);
    return 0;
}

static void put(struct fixture *fixture, const char *uid, const char *node, int gpus,
                int64_t priority)
{
    struct pod_facts facts = fixture_facts_in_namespace(
        fixture, uid, node, arena_printf(fixture->arena, GPU "=%d", gpus));
    facts.priority = priority;
    fixture_put_pod_facts(fixture, &facts);
}

static struct fit_question question_of(struct fixture *fixture, const char *uid, bool binds)
{
    const struct pod *pod = cluster_find_pod(fixture->cluster, uid);
    const struct fit_question wanted = {.shape = pod->shape,
                                        .scope = FIT_OURS,
                                        .asker = asker_from_pod(pod),
                                        .group = pod->group,
                                        .binds = binds,
                                        .own = cluster_find_reservation(fixture->cluster, uid)};
    return fit_question_of(fixture->cluster, pod->namespace_, &wanted, 1, fixture->arena);
}

/* "fits", or the message without its prefix, for a waiting pod of a with so many GPUs. */
static const char *verdict(struct fixture *fixture, int gpus, int64_t priority)
{
    const struct node *node = fixture_find_node(fixture, "h2");
    put(fixture, "a/asks", "", gpus, priority);
    const struct fit_question asked = question_of(fixture, "a/asks", false);
    const enum reason reason = fit_judge(node, &asked);
    return reason == REASON_FITS ? "fits" : fit_text(node, &asked, reason);
}

#define TOO_FEW "quota team-a leaves too few GPUs of the node's model"

static void test_each_class_has_its_limit(void **state)
{
    struct fixture *fixture = *state;
    assert_string_equal(verdict(fixture, 4, 1), "fits");
    assert_string_equal(verdict(fixture, 5, 1), TOO_FEW);
    assert_string_equal(verdict(fixture, 6, 0), "fits");
    assert_string_equal(verdict(fixture, 7, 0), TOO_FEW " to borrow");
    put(fixture, "a/low", "h1", 5, -10);
    assert_string_equal(verdict(fixture, 4, 1), "fits");
    assert_string_equal(verdict(fixture, 1, 0), "fits");
    assert_string_equal(verdict(fixture, 2, 0), TOO_FEW " to borrow");
    put(fixture, "a/high", "h1", 3, 1000);
    assert_string_equal(verdict(fixture, 2, 1), TOO_FEW);
    assert_string_equal(verdict(fixture, 1, 0), "fits");
}

/* A scheduler that does not ask, or a limit that was lowered: 9 of 6 are borrowed. */
static void test_both_classes_together_have_a_limit(void **state)
{
    struct fixture *fixture = *state;
    put(fixture, "a/low", "h1", 8, 0);
    put(fixture, "a/low-2", "h2", 1, 0);
    assert_string_equal(verdict(fixture, 1, 1), "fits");
    assert_string_equal(verdict(fixture, 2, 1), TOO_FEW);
}

static void test_a_reservation_has_its_pods_class(void **state)
{
    struct fixture *fixture = *state;
    const struct quota *quota = &cluster_policy(fixture->cluster)->quotas[0];
    put(fixture, "a/low", "", 6, 0);
    put(fixture, "a/low-2", "", 1, 0);
    put(fixture, "a/high", "", 4, 1);
    fixture_must_reserve(fixture, "a/low", "h1");
    assert_int_equal(quota_borrowed(fixture->cluster, quota, quota->limits), 6);
    assert_int_equal(fixture_reserve(fixture, "a/low-2", "h2", NULL), RESERVE_REFUSED);
    fixture_must_reserve(fixture, "a/high", "h2");
    assert_int_equal(quota_used(fixture->cluster, quota, quota->limits), 4);
}

/* What filter has promised to borrowers is not taken from the guarantee, and the reverse. */
static void test_claims_and_nominations_have_their_class(void **state)
{
    struct fixture *fixture = *state;
    struct pod_facts low = fixture_facts_in_namespace(fixture, "a/low", "", GPU "=5");
    const struct claim_question claim = {.pod = &low, .node_name = "h1", .until_ms = 100};
    fixture_put_pod_facts(fixture, &low);
    assert_true(quota_claim(fixture->cluster, &claim));
    assert_string_equal(verdict(fixture, 4, 1), "fits");
    assert_string_equal(verdict(fixture, 2, 0), "the rest of the quota is claimed by pods that "
                                                "are being bound");
    struct pod_facts high = fixture_facts_in_namespace(fixture, "a/high", "", GPU "=4");
    high.priority = 9;
    high.nominated_node = "h1";
    fixture_put_pod_facts(fixture, &high);
    assert_string_equal(verdict(fixture, 1, 1), TOO_FEW);
    assert_string_equal(verdict(fixture, 1, 0), "fits");
}

/* Members that must be bound together, in both classes. */
static void test_a_group_of_both_classes(void **state)
{
    struct fixture *fixture = *state;
    cluster_upsert(fixture->cluster, CLUSTER_POD_GROUPS, &(struct pod_group_facts){"a", "ring", 3});
    for (int i = 0; i < 3; i++) {
        struct pod_facts facts = fixture_facts_in_namespace(
            fixture, arena_printf(fixture->arena, "a/%d", i), "", GPU "=2");
        facts.group = "ring";
        facts.priority = i > 0 ? 1 : 0;
        fixture_put_pod_facts(fixture, &facts);
    }
    const struct node *node = fixture_find_node(fixture, "h1");
    struct fit_question question = question_of(fixture, "a/0", false);
    assert_int_equal(fit_judge(node, &question), REASON_FITS);
    put(fixture, "a/high", "h2", 1, 1);
    question = question_of(fixture, "a/0", false);
    assert_int_equal(fit_judge(node, &question), REASON_QUOTA);
}

/* A member of a low priority that has room to borrow, and one whose guarantee is used up. */
static void test_what_others_of_a_group_lack_is_of_their_class(void **state)
{
    struct fixture *fixture = *state;
    cluster_upsert(fixture->cluster, CLUSTER_POD_GROUPS, &(struct pod_group_facts){"a", "ring", 2});
    for (int i = 0; i < 2; i++) {
        struct pod_facts facts = fixture_facts_in_namespace(
            fixture, arena_printf(fixture->arena, "a/%d", i), "", GPU "=2");
        facts.group = "ring";
        facts.priority = i;
        fixture_put_pod_facts(fixture, &facts);
    }
    put(fixture, "a/high", "h2", 4, 1);
    const struct node *node = fixture_find_node(fixture, "h1");
    const struct fit_question question = question_of(fixture, "a/0", false);
    assert_int_equal(fit_judge(node, &question), REASON_QUOTA);
    assert_string_equal(fit_text(node, &question, REASON_QUOTA), TOO_FEW);
}

/* Claims have no priority. */
static void test_standing_of_pods(void **state)
{
    struct fixture *fixture = *state;
    const struct shape_facts facts = fixture_shape_facts(fixture, GPU "=1");
    const struct pod_shape *shape = fixture_resolve(fixture, &facts);
    const struct {
        const char *namespace_;
        int64_t priority;
        const char *quota;
        bool borrows;
    } ROWS[] = {{"a", 0, "team-a", true},
                {"a", 1, "team-a", false},
                {"b", -9, "team-b", false},
                {"free", 0, NULL, false}};
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        const struct quota_standing standing =
            namespace_usage_standing(fixture->cluster, ROWS[i].namespace_,
                                     (struct quota_pod){shape, ROWS[i].priority}, NULL);
        assert_int_equal(standing.borrows, ROWS[i].borrows);
        assert_int_equal(standing.limit != NULL, ROWS[i].quota != NULL);
        if (ROWS[i].quota)
            assert_string_equal(standing.quota->name, ROWS[i].quota);
    }
}

static void test_who_takes_back_from_whom(void **state)
{
    struct fixture *fixture = *state;
    const struct node *node = fixture_find_node(fixture, "h1");
    const char *const borrower[] = {"a/low"};
    const char *const mixed[] = {"a/low", "free/low"};
    put(fixture, "a/low", "h1", 4, 0);
    put(fixture, "free/low", "h1", 4, 0);
    put(fixture, "b/asks", "", 4, 5);
    put(fixture, "free/asks", "", 4, 5);
    put(fixture, "a/asks", "", 4, 0);
    struct fit_question question = question_of(fixture, "b/asks", false);
    assert_true(quota_takes_back(question.quota));
    question = question_of(fixture, "free/asks", false);
    assert_false(quota_takes_back(question.quota));
    question = question_of(fixture, "a/asks", false);
    assert_false(quota_takes_back(question.quota));
    assert_true(preempt_all_borrow(fixture->cluster, node, borrower, 1));
    assert_false(preempt_all_borrow(fixture->cluster, node, mixed, 2));
    assert_false(
        preempt_all_borrow(fixture->cluster, fixture_find_node(fixture, "h2"), borrower, 1));
}

/* What the dry run foretells: h1 would cost less, but only h2 has borrowers alone. */
static void test_borrowers_are_evicted_first(void **state)
{
    struct fixture *fixture = *state;
    put(fixture, "free/low", "h1", 8, -5);
    put(fixture, "a/low", "h2", 5, 0);
    put(fixture, "b/high", "h2", 3, 9);
    put(fixture, "b/asks", "", 4, 5);
    const struct fit_question question = question_of(fixture, "b/asks", false);
    const struct eviction eviction =
        evict_for(fixture->cluster, fixture->cluster, &question, fixture->arena);
    assert_string_equal(node_name(eviction.node), "h2");
    assert_int_equal(eviction.n_victims, 1);
}

/* A quota's pods borrow only what a limit of it lends them: c has more of each kind. */
static void test_who_borrows_of_a_kind(void **state)
{
    static const char *const NAMES[] = {"c"};
    static const struct quota_limit LIMITS[] = {
        {.resource = GPU,
         .model = "A100-80GB",
         .gpus = 8,
         .borrow = {.is_set = true, .gpus = 8, .max_priority = 0}},
        {.resource = GPU, .model = "H100", .gpus = 8},
        {.resource = "nvidia.com/mig-*", .gpus = 8},
    };
    static const struct {
        struct quota_limit limit;
        int64_t borrowed;
    } ROWS[] = {{{.resource = GPU, .model = "A100-80GB"}, 2},
                {{.resource = GPU, .model = "A100"}, 2},
                {{.model = "A100-80GB"}, 2},
                {{.resource = GPU}, 2},
                {{.resource = GPU, .model = "H100"}, 0},
                {{.resource = "nvidia.com/mig-*"}, 0}};
    struct fixture *fixture = *state;
    fixture_add_quota(fixture, &(struct quota){.name = "team-c",
                                               .namespaces = NAMES,
                                               .n_namespaces = 1,
                                               .limits = LIMITS,
                                               .n_limits = 3});
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        fixture_add_quota(fixture, &(struct quota){.name = "asks",
                                                   .namespaces = NAMES_B,
                                                   .n_namespaces = 1,
                                                   .limits = &ROWS[i].limit,
                                                   .n_limits = 1});
    fixture_put_node(fixture, "h1", "pods=99 " GPU "=8", H100);
    fixture_put_node(fixture, "a1", "pods=99 " GPU "=8 nvidia.com/mig-1g.5gb=8",
                     "nvidia.com/gpu.product=NVIDIA-A100-SXM4-80GB");
    put(fixture, "c/low", "h1", 3, 0);
    put(fixture, "c/low-2", "a1", 2, 0);
    put(fixture, "c/high", "a1", 1, 1);
    const struct quota *quotas = cluster_policy(fixture->cluster)->quotas;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        assert_int_equal(quota_borrowed_of(fixture->cluster, quotas[3 + i].limits, &quotas[2]),
                         ROWS[i].borrowed);
}

/* Pods that request an extended resource may get them, too (DRA). */
static void test_devices_are_gpus_that_are_there(void **state)
{
    struct fixture *fixture = *state;
    const struct quota_limit *limit = cluster_policy(fixture->cluster)->quotas[0].limits;
    fixture_put_l4_and_h100(fixture);
    assert_int_equal(quota_gpus_there(fixture->cluster, limit, false), 8 + 8 + 4);
    fixture_put_claim(fixture, "one", "h100", NVIDIA_DRIVER, "gpu-0");
    assert_int_equal(quota_gpus_there(fixture->cluster, limit, true), 8 + 8 + 3);
}

#define LEND_TEST(function) cmocka_unit_test_setup_teardown(function, setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LEND_TEST(test_each_class_has_its_limit),
        LEND_TEST(test_both_classes_together_have_a_limit),
        LEND_TEST(test_a_reservation_has_its_pods_class),
        LEND_TEST(test_claims_and_nominations_have_their_class),
        LEND_TEST(test_a_group_of_both_classes),
        LEND_TEST(test_what_others_of_a_group_lack_is_of_their_class),
        LEND_TEST(test_standing_of_pods),
        LEND_TEST(test_who_takes_back_from_whom),
        LEND_TEST(test_borrowers_are_evicted_first),
        LEND_TEST(test_who_borrows_of_a_kind),
        LEND_TEST(test_devices_are_gpus_that_are_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
