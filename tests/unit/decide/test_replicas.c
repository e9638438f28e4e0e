/* replicas: the cost of being near replicas of the same owner, and the resulting placement. */
#include "decide/rank.h"
#include "decide/what_if.h"
#include "given_question.h"
#include "unit.h"

#include <math.h>
#include <string.h>

#define GPU "nvidia.com/gpu"
#define IN_A "accelerator=T4,topology.kubernetes.io/zone=a"
#define IN_B "accelerator=T4,topology.kubernetes.io/zone=b"
#define NO_ZONE "accelerator=T4"

/* Three nodes: two in one zone, one without; and one in another zone. */
static struct given *given_zones(void **state)
{
    struct given *given = *state;
    given_node(given, "a1", GPU "=8", IN_A);
    given_node(given, "a2", GPU "=8", IN_A);
    given_node(given, "b", GPU "=8", IN_B);
    given_node(given, "none", GPU "=8", NO_ZONE);
    return given;
}

static struct pod_facts replica(struct given *given, const char *uid, const char *node)
{
    struct pod_facts facts = given_pod_facts(given, uid, node, GPU "=1");
    facts.replica_of = "rs";
    return facts;
}

static void place(struct given *given, const char *uid, const char *node)
{
    const struct pod_facts facts = replica(given, uid, node);
    given_pod_of(given, &facts);
}

static double near_cost(struct given *given, const char *node, const char *owner, const char *own)
{
    const struct shape_facts facts = given_shape_facts(given, GPU "=1");
    const struct fit_question question = {
        .shape = given_resolved(given, &facts),
        .replica_of = owner,
        .own = own ? cluster_find_reservation(given->cluster, own) : NULL,
    };
    gpu_demand_settle(given->cluster);
    const struct score *score = score_begin(given->cluster, &question, given->arena);
    return score_cost(score, given_find(given, node)).near;
}

static void check_near(struct given *given, const char *node, double should_be)
{
    const double is = near_cost(given, node, "rs", NULL);
    if (fabs(is - should_be) > 1e-9)
        fail_msg("%s costs %.12g, should be %.12g", node, is, should_be);
}

static void
test_it_costs_the_share_that_is_on_the_node_and_a_quarter_of_that_in_the_zone(void **state)
{
    struct given *given = given_zones(state);
    check_near(given, "a1", 0);
    place(given, "r1", "a1");
    check_near(given, "a1", 1 + 0.25);
    check_near(given, "a2", 0.25);
    check_near(given, "b", 0);
    place(given, "r2", "none");
    place(given, "r3", "none");
    place(given, "r4", "a2");
    check_near(given, "a1", 1.0 / 4 + 0.25 * 2 / 4);
    check_near(given, "none", 2.0 / 4);
    check_near(given, "b", 0);
}

static void test_who_is_no_replica_of_it_does_not_count(void **state)
{
    struct given *given = given_zones(state);
    struct pod_facts facts = replica(given, "being-deleted", "a1");
    facts.terminating = true;
    given_pod_of(given, &facts);
    facts = replica(given, "finished", "a1");
    facts.finished = true;
    given_pod_of(given, &facts);
    facts = replica(given, "of-another", "a1");
    facts.replica_of = "other-rs";
    given_pod_of(given, &facts);
    given_pod(given, "of-none", "a1", GPU "=1");
    place(given, "waits", "");
    check_near(given, "a1", 0);
    place(given, "r1", "b");
    check_near(given, "a1", 0);
    check_near(given, "b", 1.25);
    assert_true(near_cost(given, "b", "", NULL) == 0);
    assert_true(near_cost(given, "b", NULL, NULL) == 0);
}

static void test_one_that_goes_counts_no_longer(void **state)
{
    struct given *given = given_zones(state);
    place(given, "r1", "a1");
    place(given, "r2", "b");
    given_no_pod(given, "r1");
    check_near(given, "a1", 0);
    check_near(given, "b", 1.25);
    given_no_pod(given, "r2");
    check_near(given, "b", 0);
}

static void test_a_reservation_counts_but_not_against_its_own_pod(void **state)
{
    struct given *given = given_zones(state);
    place(given, "r1", "");
    place(given, "r2", "");
    struct reserve_result result;
    const struct reserve_question question = {.uid = "r1", .node_name = "a1"};
    assert_int_equal(reserve_room(given->cluster, &question, &result), RESERVE_HELD);
    check_near(given, "a1", 1.25);
    assert_true(near_cost(given, "a1", "rs", "r1") == 0);
    assert_true(near_cost(given, "a2", "rs", "r1") == 0);
    reservation_release(given->cluster, "r1", result.serial);
    check_near(given, "a1", 0);
}

static void test_the_policy_has_its_weight(void **state)
{
    struct given *given = given_zones(state);
    place(given, "r1", "a1");
    given->policy.replica_spread_milli = 2500;
    check_near(given, "a1", 2.5 * 1.25);
    given->policy.replica_spread_milli = 0;
    check_near(given, "a1", 0);
}

/* "a1 b a2": the nodes of n replicas in order. */
static const char *placed(struct given *given, const char *owner, size_t n)
{
    const struct node *nodes[8];
    const struct shape_facts facts = given_shape_facts(given, GPU "=1");
    struct cluster *fork = cluster_fork(given->cluster);
    const struct fit_question question = {.shape = cluster_resolve(fork, &facts, given->arena),
                                          .replica_of = owner};
    const char *text = "";
    assert_int_equal(what_if_place(fork, &question, n, nodes), n);
    for (size_t i = 0; i < n; i++)
        text = arena_printf(given->arena, "%s%s%s", text, i > 0 ? " " : "", node_name(nodes[i]));
    cluster_fork_free(fork);
    return text;
}

/* First across zones, then nodes, then again. Without an owner (a Job's) they pack. */
static void test_replicas_on_equal_nodes_are_spread(void **state)
{
    struct given *given = *state;
    given->policy.placement = PLACEMENT_SLOT_PRICE;
    given_node(given, "a1", GPU "=8", IN_A);
    given_node(given, "a2", GPU "=8", IN_A);
    given_node(given, "b", GPU "=8", IN_B);
    for (int i = 0; i < 12; i++) {
        static const char *const NODES[] = {"a1", "a2", "b"};
        given_pod(given, arena_printf(given->arena, "p%d", i), NODES[i % 3], GPU "=1");
    }
    assert_string_equal(placed(given, "rs", 3), "a1 b a2");
    assert_string_equal(placed(given, "", 3), "a1 a1 a1");
}

/* If typical pods need whole nodes, breaking one costs more than two replicas on one node. */
static void test_a_whole_node_is_not_broken_for_it(void **state)
{
    struct given *given = *state;
    given->policy.placement = PLACEMENT_SLOT_PRICE;
    given_node(given, "half", GPU "=8", IN_A);
    given_node(given, "whole", GPU "=8", IN_B);
    given_pod(given, "p1", "half", GPU "=4");
    for (int i = 0; i < 4; i++)
        given_pod(given, arena_printf(given->arena, "large-%d", i), "", GPU "=8");
    assert_string_equal(placed(given, "rs", 3), "half half half");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, given_setup, given_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_it_costs_the_share_that_is_on_the_node_and_a_quarter_of_that_in_the_zone),
        TEST(test_who_is_no_replica_of_it_does_not_count),
        TEST(test_one_that_goes_counts_no_longer),
        TEST(test_a_reservation_counts_but_not_against_its_own_pod),
        TEST(test_the_policy_has_its_weight),
        TEST(test_replicas_on_equal_nodes_are_spread),
        TEST(test_a_whole_node_is_not_broken_for_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
