/* near_miss: single obstacles between a pod and a node. tests/wire/test_near_misses.py covers every
 * reason too. */
#include "decide/near_miss.h"
#include "decide/quota.h"
#include "given_question.h"
#include "ledger/claims.h"
#include "unit.h"

#define GPU "nvidia.com/gpu"

/* Whether the reason of fit_judge() is the only obstacle. */
static bool is_near(struct given *given, const struct fit_question *question)
{
    const struct node *node = given_find(given, "n");
    const enum reason reason = fit_judge(node, question);
    return near_miss_is(near_miss_of(question, given->arena), node, reason);
}

static void given_small_node(struct given *given)
{
    struct node_facts facts =
        given_node_facts(given, "n", GPU "=4 cpu=1000 pods=10", "accelerator=T4");
    facts.taints = given_taints(given, "team=ml:NoSchedule", &facts.n_taints);
    given_node_of(given, &facts);
}

static struct shape_facts tolerant(struct given *given, const char *demand)
{
    struct shape_facts facts = given_shape_facts(given, demand);
    facts.tolerations = given_tolerations(given, "team", &facts.n_tolerations);
    return facts;
}

static void test_one_thing_and_two(void **state)
{
    struct given *given = *state;
    given_small_node(given);
    struct shape_facts facts = given_shape_facts(given, GPU "=4");
    struct fit_question question = given_question(given, &facts);
    assert_true(is_near(given, &question));
    facts.node_selector = given_term(given, "zone In a");
    question = given_question(given, &facts);
    assert_false(is_near(given, &question));
    facts = tolerant(given, GPU "=4");
    facts.node_selector = given_term(given, "zone In a");
    question = given_question(given, &facts);
    assert_true(is_near(given, &question));
}

/* Missing amounts of one kind are one obstacle; of another kind, a second one. */
static void test_room(void **state)
{
    struct given *given = *state;
    given_small_node(given);
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
        const struct shape_facts facts = tolerant(given, ROWS[i].demand);
        const struct fit_question question = given_question(given, &facts);
        if (is_near(given, &question) != ROWS[i].near)
            fail_msg("%s", ROWS[i].demand);
    }
    given_pod(given, "p", "n", GPU "=2");
    const struct shape_facts facts = tolerant(given, GPU "=3");
    const struct fit_question question = given_question(given, &facts);
    assert_int_equal(fit_judge(given_find(given, "n"), &question), REASON_GPU_FREE);
    assert_true(is_near(given, &question));
}

/* No change of the node helps here. */
static void test_what_cannot_be_changed(void **state)
{
    struct given *given = *state;
    given_small_node(given);
    const struct shape_facts amd = tolerant(given, "amd.com/gpu=1");
    struct fit_question question = given_question(given, &amd);
    assert_false(is_near(given, &question));
    const struct shape_facts facts = tolerant(given, GPU "=1");
    question = given_question(given, &facts);
    question.node_name = "elsewhere";
    assert_false(is_near(given, &question));
    question.node_name = NULL;
    question.refusal = "broken";
    assert_false(is_near(given, &question));
}

static bool is_near_in(struct given *given, const char *namespace_, enum reason expected)
{
    const struct shape_facts facts = tolerant(given, GPU "=1");
    struct fit_question question = given_question(given, &facts);
    question.quota = quota_begin(given->cluster, namespace_, question.shape, NULL, given->arena);
    quota_promise(question.quota, given->cluster, &question.asker, 0, given->arena);
    assert_int_equal(fit_judge(given_find(given, "n"), &question), expected);
    return is_near(given, &question);
}

/* A quota is one obstacle, for each of its reasons. */
static void test_quotas(void **state)
{
    static const struct quota_limit LIMITS[] = {{.resource = GPU, .gpus = 4}};
    struct given *given = *state;
    given_quota(given, &(struct quota){.name = "team",
                                       .has_selector = true,
                                       .selector = given_term(given, "team Exists"),
                                       .limits = LIMITS,
                                       .n_limits = 1});
    struct namespace_facts of_team = {.name = "a"};
    of_team.labels = given_labels(given, "team=x", &of_team.n_labels);
    given_small_node(given);
    cluster_relist_begin(given->cluster, CLUSTER_NAMESPACES);
    cluster_upsert_namespace(given->cluster, &of_team);
    assert_true(is_near_in(given, "new", REASON_NAMESPACE_UNKNOWN));
    const struct pod_facts claims = given_facts_in_namespace(given, "a/1", "", GPU "=4");
    assert_true(quota_claim(
        given->cluster, &(struct claim_question){.pod = &claims,
                                                 .node_name = "n",
                                                 .claims_version = claims_version(given->cluster),
                                                 .now_ms = 0,
                                                 .until_ms = 1000}));
    assert_true(is_near_in(given, "a", REASON_QUOTA_CLAIMED));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, given_setup, given_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_one_thing_and_two),
        TEST(test_room),
        TEST(test_what_cannot_be_changed),
        TEST(test_quotas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
