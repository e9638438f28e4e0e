/* claims: quota that pods are about to use, and quota of nominated pods. */
#include "decide/quota.h"
#include "fixture_question.h"
#include "ledger/claims.h"
#include "ledger/cluster_copy.h"
#include "unit.h"

#include <string.h>

#define GPU "nvidia.com/gpu"
#define H100 "nvidia.com/gpu.product=NVIDIA-H100-80GB-HBM3"
#define UNTIL_MS 60000

static const char *const NAMES[] = {"a"};

/* Namespace a: 16 GPUs, 8 of them H100; nodes with 16 of each model. */
static int setup(void **state)
{
    static const struct quota_limit LIMITS[] = {{.resource = GPU, .gpus = 16},
                                                {.resource = GPU, .model = "H100", .gpus = 8}};
    (void)fixture_setup(state);
    struct fixture *fixture = *state;
    const struct quota quota = {
        .name = "team-a", .namespaces = NAMES, .n_namespaces = 1, .limits = LIMITS, .n_limits = 2};
    fixture_add_quota(fixture, &quota);
    fixture_put_node(fixture, "h", GPU "=16", H100);
    fixture_put_node(fixture, "t", GPU "=16", "nvidia.com/gpu.product=Tesla-T4");
    return 0;
}

/* A waiting pod of namespace a, or of the one before the '/'. */
static struct pod_facts facts_of(struct fixture *fixture, const char *uid, const char *demand)
{
    return fixture_facts_in_namespace(fixture, uid, "", demand);
}

static void put(struct fixture *fixture, const char *uid, const char *demand)
{
    const struct pod_facts facts = facts_of(fixture, uid, demand);
    fixture_put_pod_facts(fixture, &facts);
}

static void nominate(struct fixture *fixture, const char *uid, const char *demand, const char *node,
                     int64_t priority)
{
    struct pod_facts facts = facts_of(fixture, uid, demand);
    facts.nominated_node = node;
    facts.priority = priority;
    fixture_put_pod_facts(fixture, &facts);
}

static bool claim_at(struct fixture *fixture, const char *uid, const char *demand, const char *node,
                     int64_t now_ms)
{
    struct err err = {""};
    const struct pod_facts facts = facts_of(fixture, uid, demand);
    const bool is_done =
        quota_claim(fixture->cluster,
                    &(struct claim_question){.pod = &facts,
                                             .node_name = node,
                                             .claims_version = claims_version(fixture->cluster),
                                             .now_ms = now_ms,
                                             .until_ms = now_ms + UNTIL_MS});
    if (cluster_check_in_place(fixture->cluster, &err) != 0)
        fail_msg("the ledger's self-check: %s", err.text);
    return is_done;
}

static void claim(struct fixture *fixture, const char *uid, const char *demand, const char *node)
{
    assert_true(claim_at(fixture, uid, demand, node, 0));
}

/* The verdict on this pod at that time: "fits", "quota", "quota_claimed" ... */
static const char *judge_of(struct fixture *fixture, const struct pod_facts *facts,
                            const char *node, int64_t now_ms)
{
    struct fit_question question = fixture_question(fixture, &facts->shape);
    question.scope = FIT_OURS;
    question.asker = asker_from_facts(facts);
    question.quota = quota_begin(fixture->cluster, facts->namespace_,
                                 (struct quota_pod){question.shape, 0}, NULL, fixture->arena);
    quota_promise(question.quota, fixture->cluster, &question.asker, now_ms, fixture->arena);
    struct fit_round round = fit_round_of(&question);
    const enum reason reason = fit_judge(fixture_find_node(fixture, node), &question);
    assert_int_equal(fit_judge_next(&round, fixture_find_node(fixture, node)), reason);
    return reason_name(reason);
}

static const char *judge(struct fixture *fixture, const char *uid, const char *demand,
                         const char *node)
{
    const struct pod_facts facts = facts_of(fixture, uid, demand);
    return judge_of(fixture, &facts, node, 1);
}

static void test_assumed_pods_count(void **state)
{
    struct fixture *fixture = *state;
    claim(fixture, "a/1", GPU "=8", "t");
    assert_string_equal(judge(fixture, "a/2", GPU "=8", "t"), "fits");
    claim(fixture, "a/2", GPU "=8", "t");
    assert_string_equal(judge(fixture, "a/3", GPU "=8", "t"), "quota_claimed");
    assert_string_equal(judge(fixture, "a/2", GPU "=8", "t"), "fits"); /* its own claim */
    assert_string_equal(judge(fixture, "b/1", GPU "=8", "t"), "fits");
}

static void test_a_claim_counts_for_the_model_of_its_node(void **state)
{
    struct fixture *fixture = *state;
    claim(fixture, "a/1", GPU "=8", "h");
    assert_string_equal(judge(fixture, "a/2", GPU "=1", "h"), "quota_claimed");
    assert_string_equal(judge(fixture, "a/2", GPU "=8", "t"), "fits");
    claim(fixture, "a/1", GPU "=8", "t"); /* the next filter call replaces it */
    assert_string_equal(judge(fixture, "a/2", GPU "=8", "h"), "fits");
}

static void test_usage_still_causes_rejection(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_pod(fixture, "x", "t", GPU "=16");
    claim(fixture, "a/1", GPU "=16", "h");
    assert_string_equal(judge(fixture, "a/2", GPU "=1", "t"), "gpu_free");
    fixture_remove_pod(fixture, "x");
    struct pod_facts used = facts_of(fixture, "a/used", GPU "=16");
    used.node_name = "t";
    fixture_put_pod_facts(fixture, &used);
    assert_string_equal(judge(fixture, "a/2", GPU "=1", "h"), "quota");
}

static void test_a_claim_lapses(void **state)
{
    struct fixture *fixture = *state;
    const struct pod_facts asks = facts_of(fixture, "a/2", GPU "=1");
    claim(fixture, "a/1", GPU "=16", "t");
    assert_string_equal(judge_of(fixture, &asks, "t", UNTIL_MS - 1), "quota_claimed");
    assert_string_equal(judge_of(fixture, &asks, "t", UNTIL_MS), "fits");
    assert_true(claim_at(fixture, "a/2", GPU "=1", "t", UNTIL_MS));
    assert_false(claims_has(fixture->cluster, "a/1"));
}

/* Bind judges by actual use. */
static void test_bind_ignores_claims_of_others(void **state)
{
    struct fixture *fixture = *state;
    claim(fixture, "a/1", GPU "=16", "t");
    put(fixture, "a/2", GPU "=8");
    assert_int_equal(fixture_reserve(fixture, "a/2", "t", NULL), RESERVE_HELD);
}

/* Bound, else reserved, else nominated, else claimed; a deleted pod counts nowhere. */
static void test_a_pod_counts_once(void **state)
{
    struct fixture *fixture = *state;
    put(fixture, "a/1", GPU "=8");
    claim(fixture, "a/1", GPU "=8", "t");
    assert_int_equal(fixture_reserve(fixture, "a/1", "t", NULL), RESERVE_HELD);
    assert_false(claims_has(fixture->cluster, "a/1"));
    claim(fixture, "a/1", GPU "=8", "t");
    assert_false(claims_has(fixture->cluster, "a/1"));
    assert_string_equal(judge(fixture, "a/2", GPU "=8", "t"), "fits");

    put(fixture, "a/3", GPU "=8");
    claim(fixture, "a/3", GPU "=8", "t");
    nominate(fixture, "a/3", GPU "=8", "h", 0);
    assert_false(claims_has(fixture->cluster, "a/3"));
    claim(fixture, "a/3", GPU "=8", "t");
    assert_false(claims_has(fixture->cluster, "a/3"));

    put(fixture, "a/4", GPU "=8");
    claim(fixture, "a/4", GPU "=8", "t");
    fixture_remove_pod(fixture, "a/4");
    assert_false(claims_has(fixture->cluster, "a/4"));
    claim(fixture, "a/5", GPU "=8", "t"); /* the watch has not shown it yet */
    put(fixture, "a/5", GPU "=8");
    assert_true(claims_has(fixture->cluster, "a/5"));
    claims_end(fixture->cluster, "a/5");
    assert_false(claims_has(fixture->cluster, "a/5"));
}

/* Two kube-schedulers: a claim made meanwhile by the other was not judged. */
static void test_a_claim_needs_unchanged_claims_since_the_verdict(void **state)
{
    struct fixture *fixture = *state;
    const struct pod_facts facts = facts_of(fixture, "a/2", GPU "=16");
    const struct claim_question question = {.pod = &facts,
                                            .node_name = "t",
                                            .claims_version = claims_version(fixture->cluster),
                                            .until_ms = UNTIL_MS};
    claim(fixture, "a/1", GPU "=16", "t");
    assert_false(quota_claim(fixture->cluster, &question));
    assert_false(claims_has(fixture->cluster, "a/2"));
    assert_string_equal(judge(fixture, "a/2", GPU "=16", "t"), "quota_claimed");
}

/* Its nomination counts, so nothing changes for others: they need not judge again. */
static void test_a_nominated_pod_makes_no_new_version(void **state)
{
    struct fixture *fixture = *state;
    nominate(fixture, "a/1", GPU "=8", "h", 0);
    const uint64_t version = claims_version(fixture->cluster);
    claim(fixture, "a/1", GPU "=8", "t");
    assert_true(claims_version(fixture->cluster) == version);
}

static void test_a_pod_without_quota_makes_no_claim(void **state)
{
    struct fixture *fixture = *state;
    claim(fixture, "b/1", GPU "=8", "t");
    claim(fixture, "a/1", "cpu=1", "t");
    claim(fixture, "a/2", GPU "=8", "gone");
    assert_false(claims_has(fixture->cluster, "b/1"));
    assert_false(claims_has(fixture->cluster, "a/1"));
    assert_false(claims_has(fixture->cluster, "a/2"));
}

static void test_the_oldest_claim_is_evicted(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i <= CLAIMS_MAX; i++) {
        const struct pod_facts facts =
            facts_of(fixture, arena_printf(fixture->arena, "a/%zu", i), GPU "=1");
        const struct claim_question question = {.pod = &facts,
                                                .node_name = "t",
                                                .claims_version = claims_version(fixture->cluster),
                                                .until_ms = UNTIL_MS};
        assert_true(quota_claim(fixture->cluster, &question));
    }
    assert_false(claims_has(fixture->cluster, "a/0"));
    assert_true(claims_has(fixture->cluster, "a/1"));
}

/* Nominations. */

static void test_a_nomination_counts_against_pods_that_it_outranks(void **state)
{
    struct fixture *fixture = *state;
    struct pod_facts higher = facts_of(fixture, "a/2", GPU "=16");
    struct reserve_result result;
    higher.priority = 6;
    nominate(fixture, "a/1", GPU "=8", "t", 5);
    assert_string_equal(judge(fixture, "a/3", GPU "=9", "h"), "quota");
    assert_string_equal(judge(fixture, "a/3", GPU "=8", "t"), "fits");
    assert_string_equal(judge_of(fixture, &higher, "h", 1), "quota"); /* 8 H100 */
    assert_string_equal(judge(fixture, "b/1", GPU "=8", "t"), "fits");
    higher.shape = fixture_shape_facts(fixture, GPU "=16");
    fixture_put_node(fixture, "t2", GPU "=16", "nvidia.com/gpu.product=Tesla-T4");
    assert_string_equal(judge_of(fixture, &higher, "t2", 1), "fits");
    put(fixture, "a/4", GPU "=9");
    assert_int_equal(fixture_reserve(fixture, "a/4", "t2", &result), RESERVE_REFUSED);
    assert_int_equal(result.reason, REASON_QUOTA);
}

/* Nominations are not validated. Of any two pods one ranks first. */
static void test_two_nominated_pods_do_not_exclude_each_other(void **state)
{
    struct fixture *fixture = *state;
    struct pod_facts older = facts_of(fixture, "a/1", GPU "=16");
    struct pod_facts younger = facts_of(fixture, "a/2", GPU "=16");
    older.nominated_node = younger.nominated_node = "t";
    older.created_s = 1;
    younger.created_s = 2;
    fixture_put_node(fixture, "t2", GPU "=16", "nvidia.com/gpu.product=Tesla-T4");
    fixture_put_pod_facts(fixture, &older);
    fixture_put_pod_facts(fixture, &younger);
    assert_string_equal(judge_of(fixture, &older, "t2", 1), "fits");
    assert_string_equal(judge_of(fixture, &younger, "t2", 1), "quota");
}

static void test_a_fork_has_nominations_and_no_claims(void **state)
{
    struct fixture *fixture = *state;
    nominate(fixture, "a/1", GPU "=8", "t", 5);
    claim(fixture, "a/2", GPU "=8", "t");
    struct cluster *fork = cluster_fork(fixture->cluster);
    const struct pod_facts facts = facts_of(fixture, "a/3", GPU "=8");
    const struct asker asker = asker_from_facts(&facts);
    const struct pod_shape *shape = cluster_resolve(fork, &facts.shape, fixture->arena);
    struct quota_view *view =
        quota_begin(fork, "a", (struct quota_pod){shape, 0}, NULL, fixture->arena);
    quota_promise(view, fork, &asker, 1, fixture->arena);
    assert_int_equal(quota_count(view, cluster_find_node(fork, "t")), 1);
    cluster_fork_free(fork);
}

static void check_claim(const struct claim *claim, const char *uid, const char *node)
{
    assert_non_null(claim);
    assert_string_equal(claim->uid, uid);
    assert_string_equal(claim->node_name, node);
}

/* One ends, one is renewed for another node, and one is new. */
static void test_claims_that_change_while_they_are_copied(void **state)
{
    static const char *const UIDS[] = {"a/1", "a/2", "a/3", "a/4"};
    struct fixture *fixture = *state;
    struct cluster *old = fixture->cluster;
    for (size_t i = 0; i < 4; i++)
        put(fixture, UIDS[i], GPU "=1");
    for (size_t i = 0; i < 3; i++)
        claim(fixture, UIDS[i], GPU "=1", "t");
    struct cluster_copy *copy = cluster_copy_new(old, cluster_policy(old));
    assert_true(cluster_copy_some(copy, 1000));
    assert_false(cluster_copy_claims(copy, 2));
    assert_true(cluster_copy_claims(copy, 2));
    claims_end(old, UIDS[0]);
    claim(fixture, UIDS[1], GPU "=1", "h");
    claim(fixture, UIDS[3], GPU "=1", "t");
    fixture->cluster = cluster_copy_end(copy);
    cluster_free(old);
    const struct claim *next = claims_next(fixture->cluster, NULL);
    check_claim(next, UIDS[2], "t");
    next = claims_next(fixture->cluster, next);
    check_claim(next, UIDS[1], "h");
    next = claims_next(fixture->cluster, next);
    check_claim(next, UIDS[3], "t");
    assert_null(claims_next(fixture->cluster, next));
}

int main(void)
{
#define SETUP_TEST(name) cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        SETUP_TEST(test_assumed_pods_count),
        SETUP_TEST(test_a_claim_counts_for_the_model_of_its_node),
        SETUP_TEST(test_usage_still_causes_rejection),
        SETUP_TEST(test_a_claim_lapses),
        SETUP_TEST(test_bind_ignores_claims_of_others),
        SETUP_TEST(test_a_pod_counts_once),
        SETUP_TEST(test_a_claim_needs_unchanged_claims_since_the_verdict),
        SETUP_TEST(test_a_nominated_pod_makes_no_new_version),
        SETUP_TEST(test_a_pod_without_quota_makes_no_claim),
        SETUP_TEST(test_the_oldest_claim_is_evicted),
        SETUP_TEST(test_a_nomination_counts_against_pods_that_it_outranks),
        SETUP_TEST(test_two_nominated_pods_do_not_exclude_each_other),
        SETUP_TEST(test_a_fork_has_nominations_and_no_claims),
        SETUP_TEST(test_claims_that_change_while_they_are_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
