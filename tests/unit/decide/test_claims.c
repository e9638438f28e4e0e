/* claims: quota that pods are about to use, and quota of nominated pods. */
#include "decide/quota.h"
#include "given_question.h"
#include "ledger/claims.h"
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
    (void)given_setup(state);
    struct given *given = *state;
    const struct quota quota = {
        .name = "team-a", .namespaces = NAMES, .n_namespaces = 1, .limits = LIMITS, .n_limits = 2};
    given_quota(given, &quota);
    given_node(given, "h", GPU "=16", H100);
    given_node(given, "t", GPU "=16", "nvidia.com/gpu.product=Tesla-T4");
    return 0;
}

/* A waiting pod of namespace a, or of the one before the '/'. */
static struct pod_facts facts_of(struct given *given, const char *uid, const char *demand)
{
    return given_facts_in_namespace(given, uid, "", demand);
}

static void put(struct given *given, const char *uid, const char *demand)
{
    const struct pod_facts facts = facts_of(given, uid, demand);
    given_pod_of(given, &facts);
}

static void nominate(struct given *given, const char *uid, const char *demand, const char *node,
                     int64_t priority)
{
    struct pod_facts facts = facts_of(given, uid, demand);
    facts.nominated_node = node;
    facts.priority = priority;
    given_pod_of(given, &facts);
}

static bool claim_at(struct given *given, const char *uid, const char *demand, const char *node,
                     int64_t now_ms)
{
    struct err err = {""};
    const struct pod_facts facts = facts_of(given, uid, demand);
    const bool is_done = quota_claim(
        given->cluster, &(struct claim_question){.pod = &facts,
                                                 .node_name = node,
                                                 .claims_version = claims_version(given->cluster),
                                                 .now_ms = now_ms,
                                                 .until_ms = now_ms + UNTIL_MS});
    if (cluster_check(given->cluster, &err) != 0)
        fail_msg("the ledger's self-check: %s", err.text);
    return is_done;
}

static void claim(struct given *given, const char *uid, const char *demand, const char *node)
{
    assert_true(claim_at(given, uid, demand, node, 0));
}

/* The verdict on this pod at that time: "fits", "quota", "quota_claimed" ... */
static const char *judge_of(struct given *given, const struct pod_facts *facts, const char *node,
                            int64_t now_ms)
{
    struct fit_question question = given_question(given, &facts->shape);
    question.scope = FIT_OURS;
    question.asker = asker_from_facts(facts);
    question.quota =
        quota_begin(given->cluster, facts->namespace_, question.shape, NULL, given->arena);
    quota_promise(question.quota, given->cluster, &question.asker, now_ms, given->arena);
    struct fit_round round = {.question = &question};
    const enum reason reason = fit_judge(given_find(given, node), &question);
    assert_int_equal(fit_judge_next(&round, given_find(given, node)), reason);
    return reason_name(reason);
}

static const char *judge(struct given *given, const char *uid, const char *demand, const char *node)
{
    const struct pod_facts facts = facts_of(given, uid, demand);
    return judge_of(given, &facts, node, 1);
}

static void test_assumed_pods_count(void **state)
{
    struct given *given = *state;
    claim(given, "a/1", GPU "=8", "t");
    assert_string_equal(judge(given, "a/2", GPU "=8", "t"), "fits");
    claim(given, "a/2", GPU "=8", "t");
    assert_string_equal(judge(given, "a/3", GPU "=8", "t"), "quota_claimed");
    assert_string_equal(judge(given, "a/2", GPU "=8", "t"), "fits"); /* its own claim */
    assert_string_equal(judge(given, "b/1", GPU "=8", "t"), "fits");
}

static void test_a_claim_is_under_the_model_of_its_node(void **state)
{
    struct given *given = *state;
    claim(given, "a/1", GPU "=8", "h");
    assert_string_equal(judge(given, "a/2", GPU "=1", "h"), "quota_claimed");
    assert_string_equal(judge(given, "a/2", GPU "=8", "t"), "fits");
    claim(given, "a/1", GPU "=8", "t"); /* the next filter call replaces it */
    assert_string_equal(judge(given, "a/2", GPU "=8", "h"), "fits");
}

static void test_what_is_used_is_refused_as_before(void **state)
{
    struct given *given = *state;
    given_pod(given, "x", "t", GPU "=16");
    claim(given, "a/1", GPU "=16", "h");
    assert_string_equal(judge(given, "a/2", GPU "=1", "t"), "gpu_free");
    given_no_pod(given, "x");
    struct pod_facts used = facts_of(given, "a/used", GPU "=16");
    used.node_name = "t";
    given_pod_of(given, &used);
    assert_string_equal(judge(given, "a/2", GPU "=1", "h"), "quota");
}

static void test_a_claim_lapses(void **state)
{
    struct given *given = *state;
    const struct pod_facts asks = facts_of(given, "a/2", GPU "=1");
    claim(given, "a/1", GPU "=16", "t");
    assert_string_equal(judge_of(given, &asks, "t", UNTIL_MS - 1), "quota_claimed");
    assert_string_equal(judge_of(given, &asks, "t", UNTIL_MS), "fits");
    assert_true(claim_at(given, "a/2", GPU "=1", "t", UNTIL_MS));
    assert_false(claims_has(given->cluster, "a/1"));
}

/* Bind judges by actual use. */
static void test_bind_ignores_claims_of_others(void **state)
{
    struct given *given = *state;
    claim(given, "a/1", GPU "=16", "t");
    put(given, "a/2", GPU "=8");
    assert_int_equal(given_reserve(given, "a/2", "t", NULL), RESERVE_HELD);
}

/* Bound, else reserved, else nominated, else claimed; a deleted pod counts nowhere. */
static void test_a_pod_counts_once(void **state)
{
    struct given *given = *state;
    put(given, "a/1", GPU "=8");
    claim(given, "a/1", GPU "=8", "t");
    assert_int_equal(given_reserve(given, "a/1", "t", NULL), RESERVE_HELD);
    assert_false(claims_has(given->cluster, "a/1"));
    claim(given, "a/1", GPU "=8", "t");
    assert_false(claims_has(given->cluster, "a/1"));
    assert_string_equal(judge(given, "a/2", GPU "=8", "t"), "fits");

    put(given, "a/3", GPU "=8");
    claim(given, "a/3", GPU "=8", "t");
    nominate(given, "a/3", GPU "=8", "h", 0);
    assert_false(claims_has(given->cluster, "a/3"));
    claim(given, "a/3", GPU "=8", "t");
    assert_false(claims_has(given->cluster, "a/3"));

    put(given, "a/4", GPU "=8");
    claim(given, "a/4", GPU "=8", "t");
    given_no_pod(given, "a/4");
    assert_false(claims_has(given->cluster, "a/4"));
    claim(given, "a/5", GPU "=8", "t"); /* the watch has not shown it yet */
    put(given, "a/5", GPU "=8");
    assert_true(claims_has(given->cluster, "a/5"));
    claims_end(given->cluster, "a/5");
    assert_false(claims_has(given->cluster, "a/5"));
}

/* Two kube-schedulers: a claim made meanwhile by the other was not judged. */
static void test_a_claim_is_made_only_by_the_claims_that_were_judged(void **state)
{
    struct given *given = *state;
    const struct pod_facts facts = facts_of(given, "a/2", GPU "=16");
    const struct claim_question question = {.pod = &facts,
                                            .node_name = "t",
                                            .claims_version = claims_version(given->cluster),
                                            .until_ms = UNTIL_MS};
    claim(given, "a/1", GPU "=16", "t");
    assert_false(quota_claim(given->cluster, &question));
    assert_false(claims_has(given->cluster, "a/2"));
    assert_string_equal(judge(given, "a/2", GPU "=16", "t"), "quota_claimed");
}

static void test_none_is_made_where_no_quota_limits_the_pod(void **state)
{
    struct given *given = *state;
    claim(given, "b/1", GPU "=8", "t");
    claim(given, "a/1", "cpu=1", "t");
    claim(given, "a/2", GPU "=8", "gone");
    assert_false(claims_has(given->cluster, "b/1"));
    assert_false(claims_has(given->cluster, "a/1"));
    assert_false(claims_has(given->cluster, "a/2"));
}

static void test_the_oldest_makes_room(void **state)
{
    struct given *given = *state;
    for (size_t i = 0; i <= CLAIMS_MAX; i++) {
        const struct pod_facts facts =
            facts_of(given, arena_printf(given->arena, "a/%zu", i), GPU "=1");
        const struct claim_question question = {.pod = &facts,
                                                .node_name = "t",
                                                .claims_version = claims_version(given->cluster),
                                                .until_ms = UNTIL_MS};
        assert_true(quota_claim(given->cluster, &question));
    }
    assert_false(claims_has(given->cluster, "a/0"));
    assert_true(claims_has(given->cluster, "a/1"));
}

/* Nominations. */

static void test_a_nomination_counts_against_pods_that_it_outranks(void **state)
{
    struct given *given = *state;
    struct pod_facts higher = facts_of(given, "a/2", GPU "=16");
    struct reserve_result result;
    higher.priority = 6;
    nominate(given, "a/1", GPU "=8", "t", 5);
    assert_string_equal(judge(given, "a/3", GPU "=9", "h"), "quota");
    assert_string_equal(judge(given, "a/3", GPU "=8", "t"), "fits");
    assert_string_equal(judge_of(given, &higher, "h", 1), "quota"); /* 8 H100 */
    assert_string_equal(judge(given, "b/1", GPU "=8", "t"), "fits");
    higher.shape = given_shape_facts(given, GPU "=16");
    given_node(given, "t2", GPU "=16", "nvidia.com/gpu.product=Tesla-T4");
    assert_string_equal(judge_of(given, &higher, "t2", 1), "fits");
    put(given, "a/4", GPU "=9");
    assert_int_equal(given_reserve(given, "a/4", "t2", &result), RESERVE_REFUSED);
    assert_int_equal(result.reason, REASON_QUOTA);
}

/* Nominations are not validated. Of any two pods one ranks first. */
static void test_two_nominated_pods_do_not_exclude_each_other(void **state)
{
    struct given *given = *state;
    struct pod_facts older = facts_of(given, "a/1", GPU "=16");
    struct pod_facts younger = facts_of(given, "a/2", GPU "=16");
    older.nominated_node = younger.nominated_node = "t";
    older.created_s = 1;
    younger.created_s = 2;
    given_node(given, "t2", GPU "=16", "nvidia.com/gpu.product=Tesla-T4");
    given_pod_of(given, &older);
    given_pod_of(given, &younger);
    assert_string_equal(judge_of(given, &older, "t2", 1), "fits");
    assert_string_equal(judge_of(given, &younger, "t2", 1), "quota");
}

static void test_a_fork_has_nominations_and_no_claims(void **state)
{
    struct given *given = *state;
    nominate(given, "a/1", GPU "=8", "t", 5);
    claim(given, "a/2", GPU "=8", "t");
    struct cluster *fork = cluster_fork(given->cluster);
    const struct pod_facts facts = facts_of(given, "a/3", GPU "=8");
    const struct asker asker = asker_from_facts(&facts);
    const struct pod_shape *shape = cluster_resolve(fork, &facts.shape, given->arena);
    struct quota_view *view = quota_begin(fork, "a", shape, NULL, given->arena);
    quota_promise(view, fork, &asker, 1, given->arena);
    assert_int_equal(quota_count(view, cluster_find_node(fork, "t")), 1);
    cluster_fork_free(fork);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, given_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_assumed_pods_count),
        TEST(test_a_claim_is_under_the_model_of_its_node),
        TEST(test_what_is_used_is_refused_as_before),
        TEST(test_a_claim_lapses),
        TEST(test_bind_ignores_claims_of_others),
        TEST(test_a_pod_counts_once),
        TEST(test_a_claim_is_made_only_by_the_claims_that_were_judged),
        TEST(test_none_is_made_where_no_quota_limits_the_pod),
        TEST(test_the_oldest_makes_room),
        TEST(test_a_nomination_counts_against_pods_that_it_outranks),
        TEST(test_two_nominated_pods_do_not_exclude_each_other),
        TEST(test_a_fork_has_nominations_and_no_claims),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
