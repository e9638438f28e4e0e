/* near_miss: single obstacles between a pod and a node. tests/wire/test_near_misses.py covers every
 * reason too. */
#include "decide/fit.h"
#include "decide/quota.h"
#include "fixture_question.h"
#include "ledger/claims.h"
#include "unit.h"

#define GPU "nvidia.com/gpu"

/* Whether the reason of fit_judge() is the only obstacle. */
static bool is_near(struct fixture *fixture, const struct fit_question *question)
{
    const struct node *node = fixture_find_node(fixture, "n");
    const enum reason reason = fit_judge(node, question);
    return near_miss_is(near_miss_of(question, fixture->arena), node, reason);
}

static void put_small_node(struct fixture *fixture)
{
    struct node_facts facts =
        fixture_node_facts(fixture, "n", GPU "=4 cpu=1000 pods=10", "accelerator=T4");
    facts.taints = fixture_taints(fixture, "team=ml:NoSchedule", &facts.n_taints);
    fixture_put_node_facts(fixture, &facts);
}

static struct shape_facts tolerant(struct fixture *fixture, const char *demand)
{
    struct shape_facts facts = fixture_shape_facts(fixture, demand);
    facts.tolerations = fixture_tolerations(fixture, "team", &facts.n_tolerations);
    return facts;
}

static void test_one_obstacle_is_a_near_miss_and_two_are_not(void **state)
{
    struct fixture *fixture = *state;
    put_small_node(fixture);
    struct shape_facts facts = fixture_shape_facts(fixture, GPU "=4");
    struct fit_question question = fixture_question(fixture, &facts);
    assert_true(is_near(fixture, &question));
    facts.node_selector = fixture_term(fixture, "zone In a");
    question = fixture_question(fixture, &facts);
    assert_false(is_near(fixture, &question));
    facts = tolerant(fixture, GPU "=4");
    facts.node_selector = fixture_term(fixture, "zone In a");
    question = fixture_question(fixture, &facts);
    assert_true(is_near(fixture, &question));
}

/* Missing amounts of one kind are one obstacle; of another kind, a second one. */
static void test_too_little_room_is_a_near_miss(void **state)
{
    struct fixture *fixture = *state;
    put_small_node(fixture);
    const struct {
        const char *demand;
        bool near;
    } ROWS[] = {
        {GPU "=5", true},
        {GPU "=5 cpu=2000", false},
        {GPU "=4 cpu=2000", true},
        {GPU "=4 cpu=2000 memory=1", false},
        {GPU "=4 memory=1", true},
        {GPU "=4 rdma/hca=1", true},
        {GPU "=4 memory=1 rdma/hca=1", false},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        const struct shape_facts facts = tolerant(fixture, ROWS[i].demand);
        const struct fit_question question = fixture_question(fixture, &facts);
        if (is_near(fixture, &question) != ROWS[i].near)
            fail_msg("%s", ROWS[i].demand);
    }
    fixture_put_pod(fixture, "p", "n", GPU "=2");
    const struct shape_facts facts = tolerant(fixture, GPU "=3");
    const struct fit_question question = fixture_question(fixture, &facts);
    assert_int_equal(fit_judge(fixture_find_node(fixture, "n"), &question), REASON_GPU_FREE);
    assert_true(is_near(fixture, &question));
}

/* No change of the node helps here. */
static void test_unchangeable_obstacles_are_no_near_miss(void **state)
{
    struct fixture *fixture = *state;
    put_small_node(fixture);
    const struct shape_facts amd = tolerant(fixture, "amd.com/gpu=1");
    struct fit_question question = fixture_question(fixture, &amd);
    assert_false(is_near(fixture, &question));
    const struct shape_facts facts = tolerant(fixture, GPU "=1");
    question = fixture_question(fixture, &facts);
    question.node_name = "elsewhere";
    assert_false(is_near(fixture, &question));
    question.node_name = NULL;
    question.refusal = "broken";
    assert_false(is_near(fixture, &question));
}

static bool is_near_in(struct fixture *fixture, const char *namespace_, enum reason expected)
{
    const struct shape_facts facts = tolerant(fixture, GPU "=1");
    struct fit_question question = fixture_question(fixture, &facts);
    question.quota = quota_begin(fixture->cluster, namespace_,
                                 (struct quota_pod){question.shape, 0}, NULL, fixture->arena);
    quota_promise(question.quota, fixture->cluster, &question.asker, 0, fixture->arena);
    assert_int_equal(fit_judge(fixture_find_node(fixture, "n"), &question), expected);
    return is_near(fixture, &question);
}

/* A quota is one obstacle, for each of its reasons. */
static void test_quotas(void **state)
{
    static const struct quota_limit LIMITS[] = {{.resource = GPU, .gpus = 4}};
    struct fixture *fixture = *state;
    fixture_add_quota(fixture, &(struct quota){.name = "team",
                                               .has_selector = true,
                                               .selector = fixture_term(fixture, "team Exists"),
                                               .limits = LIMITS,
                                               .n_limits = 1});
    struct namespace_facts of_team = {.name = "a"};
    of_team.labels = fixture_labels(fixture, "team=x", &of_team.n_labels);
    put_small_node(fixture);
    cluster_relist_begin(fixture->cluster, CLUSTER_NAMESPACES);
    cluster_upsert_namespace(fixture->cluster, &of_team);
    assert_true(is_near_in(fixture, "new", REASON_NAMESPACE_UNKNOWN));
    const struct pod_facts claims = fixture_facts_in_namespace(fixture, "a/1", "", GPU "=4");
    assert_true(
        quota_claim(fixture->cluster,
                    &(struct claim_question){.pod = &claims,
                                             .node_name = "n",
                                             .claims_version = claims_version(fixture->cluster),
                                             .now_ms = 0,
                                             .until_ms = 1000}));
    assert_true(is_near_in(fixture, "a", REASON_QUOTA_CLAIMED));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_one_obstacle_is_a_near_miss_and_two_are_not),
        TEST(test_too_little_room_is_a_near_miss),
        TEST(test_unchangeable_obstacles_are_no_near_miss),
        TEST(test_quotas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
