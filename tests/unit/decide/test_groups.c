/* groups: what is judged of pods of a PodGroup, and their quotas: together, or not at all. */
#include "decide/quota.h"
#include "fixture_question.h"
#include "ledger/claims.h"
#include "ledger/cluster_copy.h"
#include "unit.h"

#include <string.h>

#define GPU "nvidia.com/gpu"
#define H100 "nvidia.com/gpu.product=NVIDIA-H100-80GB-HBM3"
#define UNTIL_MS 60000

/* Namespace a: 16 GPUs, 8 of them H100; nodes with 16 of each model. */
static int setup(void **state)
{
    static const char *const NAMES[] = {"a"};
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

static void put_group(struct fixture *fixture, int64_t min_count)
{
    cluster_upsert(fixture->cluster, CLUSTER_POD_GROUPS,
                   &(struct pod_group_facts){"a", "ring", min_count});
}

/* A single pod if group is NULL. */
static void put(struct fixture *fixture, const char *uid, const char *node, int64_t gpus,
                const char *group)
{
    struct pod_facts facts = fixture_facts_in_namespace(
        fixture, uid, node, arena_printf(fixture->arena, GPU "=%d", (int)gpus));
    facts.group = group;
    fixture_put_pod_facts(fixture, &facts);
}

static void put_members(struct fixture *fixture, size_t n, int64_t gpus)
{
    for (size_t i = 0; i < n; i++)
        put(fixture, arena_printf(fixture->arena, "a/%zu", i), "", gpus, "ring");
}

static struct fit_question question_of(struct fixture *fixture, const char *uid, int64_t now_ms)
{
    const struct pod *pod = cluster_find_pod(fixture->cluster, uid);
    const struct fit_question wanted = {.shape = pod->shape,
                                        .scope = FIT_OURS,
                                        .asker = asker_from_pod(pod),
                                        .group = pod->group,
                                        .own = cluster_find_reservation(fixture->cluster, uid)};
    return fit_question_of(fixture->cluster, pod->namespace_, &wanted, now_ms, fixture->arena);
}

static const char *judge_at(struct fixture *fixture, const char *uid, const char *node,
                            int64_t now_ms)
{
    const struct fit_question question = question_of(fixture, uid, now_ms);
    struct fit_round round = fit_round_of(&question);
    const enum reason reason = fit_judge(fixture_find_node(fixture, node), &question);
    assert_int_equal(fit_judge_next(&round, fixture_find_node(fixture, node)), reason);
    return reason_name(reason);
}

static const char *judge(struct fixture *fixture, const char *uid, const char *node)
{
    return judge_at(fixture, uid, node, 1);
}

static void claim_at(struct fixture *fixture, const char *uid, const char *node, int64_t now_ms)
{
    const struct pod_facts facts = cluster_whole_pod_facts(cluster_find_pod(fixture->cluster, uid));
    assert_true(
        quota_claim(fixture->cluster,
                    &(struct claim_question){.pod = &facts,
                                             .node_name = node,
                                             .claims_version = claims_version(fixture->cluster),
                                             .now_ms = now_ms,
                                             .until_ms = now_ms + UNTIL_MS}));
    fixture_check(fixture);
}

/* "held", or the reason for the rejection. */
static const char *bind_at(struct fixture *fixture, const char *uid, const char *node,
                           int64_t now_ms)
{
    const struct reserve_question question = {.uid = uid, .node_name = node, .now_ms = now_ms};
    struct reserve_result result = {0};
    const enum reserve_verdict verdict = reserve_room(fixture->cluster, &question, &result);
    fixture_check(fixture);
    return verdict == RESERVE_HELD ? "held" : reason_name(result.reason);
}

static void test_members_are_judged_together(void **state)
{
    struct fixture *fixture = *state;
    put_group(fixture, 4);
    put_members(fixture, 4, 4);
    assert_string_equal(judge(fixture, "a/0", "t"), "fits");
    put(fixture, "a/x", "t", 1, NULL);
    assert_string_equal(judge(fixture, "a/0", "t"), "quota"); /* at the first one */
    assert_string_equal(bind_at(fixture, "a/0", "t", 1), "quota");
    put_group(fixture, 3);
    assert_string_equal(judge(fixture, "a/0", "t"), "fits");
    put_group(fixture, 0); /* policy basic */
    assert_string_equal(judge(fixture, "a/0", "t"), "fits");
}

static void test_bound_members_are_used_already(void **state)
{
    struct fixture *fixture = *state;
    put_group(fixture, 4);
    put_members(fixture, 4, 4);
    put(fixture, "a/0", "t", 4, "ring");
    put(fixture, "a/1", "t", 4, "ring");
    assert_string_equal(judge(fixture, "a/2", "t"), "fits");
    put(fixture, "a/x", "t", 1, NULL);
    assert_string_equal(judge(fixture, "a/2", "t"), "quota");
    put_group(fixture, 2); /* further members one by one */
    assert_string_equal(judge(fixture, "a/2", "t"), "fits");
}

static void test_the_cheapest_count(void **state)
{
    struct fixture *fixture = *state;
    put_group(fixture, 3);
    put(fixture, "a/0", "", 8, "ring");
    put(fixture, "a/1", "", 8, "ring");
    put(fixture, "a/2", "", 1, "ring");
    put(fixture, "a/3", "", 1, "ring");
    put(fixture, "a/4", "", 1, "ring");
    put(fixture, "a/x", "t", 8, NULL);
    assert_string_equal(judge(fixture, "a/2", "t"), "fits");
    assert_string_equal(judge(fixture, "a/0", "t"), "quota"); /* 8 and twice 1 */
    put(fixture, "a/x", "t", 6, NULL);
    assert_string_equal(judge(fixture, "a/0", "t"), "fits");
}

static void test_those_that_cannot_come_do_not_count(void **state)
{
    struct fixture *fixture = *state;
    put_group(fixture, 2);
    put(fixture, "a/0", "", 10, "ring");
    struct pod_facts gated = fixture_facts_in_namespace(fixture, "a/1", "", GPU "=10");
    gated.group = "ring";
    gated.gated = true;
    fixture_put_pod_facts(fixture, &gated);
    assert_string_equal(judge(fixture, "a/0", "t"), "fits");
    gated.gated = false;
    fixture_put_pod_facts(fixture, &gated);
    assert_string_equal(judge(fixture, "a/0", "t"), "quota");
    gated.terminating = true;
    fixture_put_pod_facts(fixture, &gated);
    assert_string_equal(judge(fixture, "a/0", "t"), "fits");
}

static void test_members_count_under_their_models(void **state)
{
    struct fixture *fixture = *state;
    put_group(fixture, 3);
    put_members(fixture, 3, 3);
    assert_string_equal(judge(fixture, "a/0", "h"), "quota"); /* 9 of 8 */
    assert_string_equal(judge(fixture, "a/0", "t"), "fits");
    claim_at(fixture, "a/1", "t", 1);
    assert_string_equal(judge(fixture, "a/0", "h"), "fits");
    claim_at(fixture, "a/0", "h", 1);
    assert_string_equal(judge(fixture, "a/2", "h"), "fits"); /* two on h, one on t */
    put(fixture, "a/x", "", 11, NULL);
    assert_string_equal(judge(fixture, "a/x", "t"), "quota_claimed");
    claim_at(fixture, "a/2", "h", 1);
    assert_string_equal(judge(fixture, "a/1", "h"), "quota");
}

/* One of another shape may go elsewhere: until it has been asked for, only totals count it. */
static void test_members_that_differ_count_in_totals(void **state)
{
    struct fixture *fixture = *state;
    put_group(fixture, 2);
    put(fixture, "a/0", "", 8, "ring");
    put(fixture, "a/1", "", 4, "ring");
    assert_string_equal(judge(fixture, "a/0", "h"), "fits");
    put(fixture, "a/x", "t", 5, NULL);
    assert_string_equal(judge(fixture, "a/0", "h"), "quota");
}

static void test_nominated_members_count_once(void **state)
{
    struct fixture *fixture = *state;
    put_group(fixture, 2);
    put(fixture, "a/0", "", 8, "ring");
    struct pod_facts nominated = fixture_facts_in_namespace(fixture, "a/1", "", GPU "=8");
    nominated.group = "ring";
    nominated.nominated_node = "t";
    fixture_put_pod_facts(fixture, &nominated);
    assert_string_equal(judge(fixture, "a/0", "t"), "fits");
    assert_string_equal(bind_at(fixture, "a/0", "t", 1), "held");
    assert_string_equal(bind_at(fixture, "a/1", "t", 1), "held");
}

/* Between the bindings of a group no other pod takes its quota, for half a minute. */
static void test_the_first_binding_holds_the_quota_of_all(void **state)
{
    struct fixture *fixture = *state;
    put_group(fixture, 4);
    put_members(fixture, 4, 4);
    put(fixture, "a/x", "", 1, NULL);
    claim_at(fixture, "a/0", "t", 1);
    claim_at(fixture, "a/1", "t", 1);
    claim_at(fixture, "a/2", "t", 1); /* of the last there is none, as after a change of leader */
    assert_string_equal(bind_at(fixture, "a/0", "t", 10), "held");
    assert_string_equal(bind_at(fixture, "a/x", "t", 11), "quota_claimed");
    assert_string_equal(judge_at(fixture, "a/x", "t", 11), "quota_claimed");
    assert_string_equal(bind_at(fixture, "a/3", "t", 12), "held");
    assert_string_equal(bind_at(fixture, "a/x", "t", 13), "quota_claimed");
    assert_string_equal(judge_at(fixture, "a/1", "t", 13), "fits");
    assert_string_equal(bind_at(fixture, "a/1", "t", 14), "held");
    assert_string_equal(bind_at(fixture, "a/x", "t", 15), "quota_claimed");
    assert_string_equal(bind_at(fixture, "a/x", "t", 15 + GROUP_CLAIMS_MS), "held");
    assert_string_equal(bind_at(fixture, "a/2", "t", 16 + GROUP_CLAIMS_MS), "quota");
}

static void test_a_held_quota_ends_with_its_pod(void **state)
{
    struct fixture *fixture = *state;
    put_group(fixture, 2);
    put_members(fixture, 2, 8);
    put(fixture, "a/x", "", 8, NULL);
    assert_string_equal(bind_at(fixture, "a/0", "t", 1), "held");
    assert_true(claims_has(fixture->cluster, "a/1"));
    assert_string_equal(bind_at(fixture, "a/x", "t", 1), "quota_claimed");
    fixture_remove_pod(fixture, "a/1");
    assert_false(claims_has(fixture->cluster, "a/1"));
    assert_string_equal(bind_at(fixture, "a/x", "h", 1), "held");
}

static void test_filter_keeps_a_held_quota_firm(void **state)
{
    struct fixture *fixture = *state;
    put_group(fixture, 2);
    put_members(fixture, 2, 8);
    put(fixture, "a/x", "", 1, NULL);
    assert_string_equal(bind_at(fixture, "a/0", "t", 1), "held");
    claim_at(fixture, "a/1", "h", 100);
    assert_string_equal(bind_at(fixture, "a/x", "t", 101), "quota_claimed");
    assert_int_equal(claims_find(fixture->cluster, "a/1")->firm_until_ms, 1 + GROUP_CLAIMS_MS);
}

static void test_a_copy_keeps_a_held_quota(void **state)
{
    struct fixture *fixture = *state;
    put_group(fixture, 2);
    put_members(fixture, 2, 8);
    assert_string_equal(bind_at(fixture, "a/0", "t", 1), "held");
    struct cluster_copy *copying = cluster_copy_new(fixture->cluster, &fixture->policy);
    while (!cluster_copy_some(copying, 1)) {
    }
    struct cluster *copy = cluster_copy_end(copying);
    const struct claim *claim = claims_find(copy, "a/1");
    assert_non_null(claim);
    assert_int_equal(claim->firm_until_ms, 1 + GROUP_CLAIMS_MS);
    assert_int_equal(claim->gpus[0], 8);
    cluster_free(copy);
}

/* Its members pass filter again and again, and are not bound: others get their turn. */
static void test_a_group_that_waits_claims_half_of_the_time(void **state)
{
    struct fixture *fixture = *state;
    put_group(fixture, 2);
    put_members(fixture, 2, 8);
    put(fixture, "a/x", "", 16, NULL);
    int64_t now_ms = 1;
    for (; now_ms < GROUP_CLAIMS_MS; now_ms += 1000) {
        claim_at(fixture, "a/0", "t", now_ms);
        assert_string_equal(judge_at(fixture, "a/x", "t", now_ms), "quota_claimed");
    }
    for (; now_ms <= 2 * GROUP_CLAIMS_MS; now_ms += 1000) {
        claim_at(fixture, "a/0", "t", now_ms);
        assert_false(claims_has(fixture->cluster, "a/0"));
        assert_string_equal(judge_at(fixture, "a/x", "t", now_ms), "fits");
    }
    claim_at(fixture, "a/0", "t", now_ms);
    assert_true(claims_has(fixture->cluster, "a/0"));
}

/* kube-scheduler counts the room of a group itself. */
static void test_room_is_judged_only_by_bind(void **state)
{
    struct fixture *fixture = *state;
    put_group(fixture, 2);
    put(fixture, "b/x", "t", 16, NULL);
    put_members(fixture, 2, 1);
    assert_string_equal(judge(fixture, "a/0", "t"), "fits");
    assert_string_equal(bind_at(fixture, "a/0", "t", 1), "gpu_free");
    put(fixture, "a/0", "", 17, "ring");
    assert_string_equal(judge(fixture, "a/0", "h"), "gpu_total");
}

static void test_gpus_kept_for_nominated_pods_are_not_there(void **state)
{
    struct fixture *fixture = *state;
    struct pod_facts nominated = fixture_facts_in_namespace(fixture, "b/n", "", GPU "=15");
    nominated.nominated_node = "t";
    fixture_put_pod_facts(fixture, &nominated);
    put_group(fixture, 2);
    put_members(fixture, 2, 2);
    assert_string_equal(judge(fixture, "a/0", "t"), "gpu_nominated");
    assert_string_equal(bind_at(fixture, "a/0", "t", 1), "held"); /* it was placed before that */
    nominated.priority = -1;
    fixture_put_pod_facts(fixture, &nominated);
    assert_string_equal(judge(fixture, "a/1", "t"), "fits");
}

static void test_without_a_pod_group_they_are_single_pods(void **state)
{
    struct fixture *fixture = *state;
    put_members(fixture, 4, 8);
    put(fixture, "b/x", "t", 16, NULL);
    assert_string_equal(judge(fixture, "a/0", "h"), "fits");
    assert_string_equal(judge(fixture, "a/0", "t"), "gpu_free");
    put_group(fixture, 4);
    assert_string_equal(judge(fixture, "a/0", "h"), "quota");
    cluster_delete(fixture->cluster, CLUSTER_POD_GROUPS, "a/ring");
    assert_string_equal(judge(fixture, "a/0", "h"), "fits");
}

#define QUOTA_TEST(function) cmocka_unit_test_setup_teardown(function, setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        QUOTA_TEST(test_members_are_judged_together),
        QUOTA_TEST(test_bound_members_are_used_already),
        QUOTA_TEST(test_the_cheapest_count),
        QUOTA_TEST(test_those_that_cannot_come_do_not_count),
        QUOTA_TEST(test_members_count_under_their_models),
        QUOTA_TEST(test_members_that_differ_count_in_totals),
        QUOTA_TEST(test_nominated_members_count_once),
        QUOTA_TEST(test_the_first_binding_holds_the_quota_of_all),
        QUOTA_TEST(test_a_held_quota_ends_with_its_pod),
        QUOTA_TEST(test_filter_keeps_a_held_quota_firm),
        QUOTA_TEST(test_a_copy_keeps_a_held_quota),
        QUOTA_TEST(test_a_group_that_waits_claims_half_of_the_time),
        QUOTA_TEST(test_room_is_judged_only_by_bind),
        QUOTA_TEST(test_gpus_kept_for_nominated_pods_are_not_there),
        QUOTA_TEST(test_without_a_pod_group_they_are_single_pods),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
