/* quota_replicas: replicas of a pod with resource claims take from quotas, on a fork. */
#include "decide/quota.h"
#include "fixture_devices.h"
#include "fixture_question.h"
#include "unit.h"

#define CLASS NVIDIA_DRIVER
enum { ALL, H100, N_LIMITS };

static int setup(void **state)
{
    static const char *const NAMES[] = {"default"};
    static const struct quota_limit LIMITS[N_LIMITS] = {
        [ALL] = {.gpus = 4},
        [H100] = {.model = "H100", .gpus = 2},
    };
    static const struct quota TEAM = {.name = "team",
                                      .namespaces = NAMES,
                                      .n_namespaces = 1,
                                      .limits = LIMITS,
                                      .n_limits = N_LIMITS};
    (void)fixture_setup(state);
    struct fixture *fixture = *state;
    fixture_add_quota(fixture, &TEAM);
    fixture_put_l4_and_h100(fixture);
    return 0;
}

#define CLAIM_TEST(function) cmocka_unit_test_setup_teardown(function, setup, fixture_teardown)

static void put_template_of_one(struct fixture *fixture)
{
    static const struct claim_want WANT = {CLASS, "", 1};
    static const struct claim_template_facts FACTS = {
        .namespace_ = "default", .name = "of-1", .wants = &WANT, .n_wants = 1};
    cluster_upsert_claim_template(fixture->cluster, &FACTS);
}

/* For replicas of a pod that names these claims. */
static struct quota_view *view_on(struct fixture *fixture, struct cluster *fork, const char *claims)
{
    const struct pod_facts facts = fixture_pod_facts(fixture, "p", "", "");
    const struct asker asker = asker_from_facts(&facts);
    const struct claims_question question = {
        .namespace_ = "default", .claims = claims, .asker = &asker};
    const struct quota_asked asked = {
        .shape = cluster_resolve(fork, &facts.shape, fixture->arena),
        .claims = question,
        .known = asked_claims_for_fork(fixture->cluster, &question, fixture->arena)};
    return quota_begin_asked(fork, &asked, fixture->arena);
}

static int64_t count_on(const struct cluster *fork, const struct quota_view *view, const char *node)
{
    return quota_count(view, cluster_find_node(fork, node));
}

static void take_on(const struct cluster *fork, struct quota_view *view, const char *node,
                    int64_t n)
{
    quota_take(view, cluster_find_node(fork, node), n);
}

static void test_each_replica_takes_the_claims_of_its_templates(void **state)
{
    struct fixture *fixture = *state;
    put_template_of_one(fixture);
    struct cluster *fork = cluster_fork(fixture->cluster);
    struct quota_view *view = view_on(fixture, fork, "/of-1\n");
    assert_int_equal(count_on(fork, view, "l4"), 4);
    assert_int_equal(count_on(fork, view, "both"), 4); /* the model is not sure */
    assert_int_equal(count_on(fork, view, "h100"), 2);
    take_on(fork, view, "h100", 1);
    assert_int_equal(count_on(fork, view, "l4"), 3);
    assert_int_equal(count_on(fork, view, "h100"), 1);
    take_on(fork, view, "both", 2);
    assert_int_equal(count_on(fork, view, "l4"), 1);
    assert_int_equal(count_on(fork, view, "h100"), 1);
    take_on(fork, view, "l4", 0);
    assert_int_equal(count_on(fork, view, "l4"), 1);
    take_on(fork, view, "l4", 1);
    assert_int_equal(count_on(fork, view, "l4"), 0);
    assert_int_equal(count_on(fork, view, "h100"), 0);
    cluster_fork_free(fork);
}

static void test_only_the_first_replica_takes_a_claim_that_all_name(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_unallocated_claim(fixture, "two", 2, CLASS);
    fixture_put_unallocated_claim(fixture, "five", 5, CLASS);
    put_template_of_one(fixture);
    struct cluster *fork = cluster_fork(fixture->cluster);
    struct quota_view *view = view_on(fixture, fork, "two\n");
    assert_int_equal(count_on(fork, view, "h100"), INT64_MAX);
    take_on(fork, view, "h100", 3);
    assert_int_equal(count_on(fork, view, "h100"), INT64_MAX);
    assert_int_equal(count_on(fork, view_on(fixture, fork, "five\n"), "l4"), 0);
    view = view_on(fixture, fork, "two\n/of-1\n");
    assert_int_equal(count_on(fork, view, "l4"), 2);
    assert_int_equal(count_on(fork, view, "h100"), 0);
    take_on(fork, view, "l4", 1);
    assert_int_equal(count_on(fork, view, "l4"), 1);
    take_on(fork, view, "l4", 1);
    assert_int_equal(count_on(fork, view, "l4"), 0);
    cluster_fork_free(fork);
}

static void test_a_fork_counts_the_claims_of_placed_replicas(void **state)
{
    struct fixture *fixture = *state;
    const struct quota *team = &fixture->policy.quotas[0];
    fixture_put_unallocated_claim(fixture, "one", 1, CLASS);
    put_template_of_one(fixture);
    struct cluster *fork = cluster_fork(fixture->cluster);
    struct quota_view *view = view_on(fixture, fork, "one\n/of-1\n");
    quota_place(fork, view, cluster_find_node(fork, "h100"), 1);
    assert_int_equal(quota_used(fork, team, &team->limits[ALL]), 2);
    assert_int_equal(quota_used(fork, team, &team->limits[H100]), 2);
    quota_place(fork, view, cluster_find_node(fork, "l4"), 2);
    assert_int_equal(quota_used(fork, team, &team->limits[ALL]), 4);
    assert_int_equal(quota_used(fork, team, &team->limits[H100]), 2);
    assert_int_equal(count_on(fork, view_on(fixture, fork, "/of-1\n"), "l4"), 0);
    assert_int_equal(quota_used(fixture->cluster, team, &team->limits[ALL]), 0);
    cluster_fork_free(fork);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM_TEST(test_each_replica_takes_the_claims_of_its_templates),
        CLAIM_TEST(test_only_the_first_replica_takes_a_claim_that_all_name),
        CLAIM_TEST(test_a_fork_counts_the_claims_of_placed_replicas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
