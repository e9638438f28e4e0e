/* replicas: the cost of being near replicas of the same owner, and the resulting placement. */
#include "decide/rank.h"
#include "decide/what_if.h"
#include "fixture_question.h"
#include "unit.h"

#include <math.h>
#include <string.h>

#define GPU "nvidia.com/gpu"
#define IN_A "accelerator=T4,topology.kubernetes.io/zone=a"
#define IN_B "accelerator=T4,topology.kubernetes.io/zone=b"
#define NO_ZONE "accelerator=T4"

/* Three nodes: two in one zone, one without; and one in another zone. */
static struct fixture *put_zones(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "a1", GPU "=8", IN_A);
    fixture_put_node(fixture, "a2", GPU "=8", IN_A);
    fixture_put_node(fixture, "b", GPU "=8", IN_B);
    fixture_put_node(fixture, "none", GPU "=8", NO_ZONE);
    return fixture;
}

static struct pod_facts replica(struct fixture *fixture, const char *uid, const char *node)
{
    struct pod_facts facts = fixture_pod_facts(fixture, uid, node, GPU "=1");
    facts.replica_of = "rs";
    return facts;
}

static void place(struct fixture *fixture, const char *uid, const char *node)
{
    const struct pod_facts facts = replica(fixture, uid, node);
    fixture_put_pod_facts(fixture, &facts);
}

static double near_cost(struct fixture *fixture, const char *node, const char *owner,
                        const char *own)
{
    const struct shape_facts facts = fixture_shape_facts(fixture, GPU "=1");
    const struct fit_question question = {
        .shape = fixture_resolve(fixture, &facts),
        .replica_of = owner,
        .own = own ? cluster_find_reservation(fixture->cluster, own) : NULL,
    };
    gpu_demand_settle(fixture->cluster);
    const struct score *score = score_begin(fixture->cluster, &question, fixture->arena);
    return score_cost(score, fixture_find_node(fixture, node), NULL).near;
}

static void check_near(struct fixture *fixture, const char *node, double should_be)
{
    const double is = near_cost(fixture, node, "rs", NULL);
    if (fabs(is - should_be) > 1e-9)
        fail_msg("%s costs %.12g, should be %.12g", node, is, should_be);
}

static void
test_it_costs_the_share_that_is_on_the_node_and_a_quarter_of_that_in_the_zone(void **state)
{
    struct fixture *fixture = put_zones(state);
    check_near(fixture, "a1", 0);
    place(fixture, "r1", "a1");
    check_near(fixture, "a1", 1 + 0.25);
    check_near(fixture, "a2", 0.25);
    check_near(fixture, "b", 0);
    place(fixture, "r2", "none");
    place(fixture, "r3", "none");
    place(fixture, "r4", "a2");
    check_near(fixture, "a1", 1.0 / 4 + 0.25 * 2 / 4);
    check_near(fixture, "none", 2.0 / 4);
    check_near(fixture, "b", 0);
}

static void test_other_and_ended_pods_do_not_count_as_replicas(void **state)
{
    struct fixture *fixture = put_zones(state);
    struct pod_facts facts = replica(fixture, "being-deleted", "a1");
    facts.terminating = true;
    fixture_put_pod_facts(fixture, &facts);
    facts = replica(fixture, "finished", "a1");
    facts.finished = true;
    fixture_put_pod_facts(fixture, &facts);
    facts = replica(fixture, "of-another", "a1");
    facts.replica_of = "other-rs";
    fixture_put_pod_facts(fixture, &facts);
    fixture_put_pod(fixture, "of-none", "a1", GPU "=1");
    place(fixture, "waits", "");
    check_near(fixture, "a1", 0);
    place(fixture, "r1", "b");
    check_near(fixture, "a1", 0);
    check_near(fixture, "b", 1.25);
    assert_true(near_cost(fixture, "b", "", NULL) == 0);
    assert_true(near_cost(fixture, "b", NULL, NULL) == 0);
}

static void test_a_removed_replica_no_longer_counts(void **state)
{
    struct fixture *fixture = put_zones(state);
    place(fixture, "r1", "a1");
    place(fixture, "r2", "b");
    fixture_remove_pod(fixture, "r1");
    check_near(fixture, "a1", 0);
    check_near(fixture, "b", 1.25);
    fixture_remove_pod(fixture, "r2");
    check_near(fixture, "b", 0);
}

static void test_a_reservation_counts_but_not_against_its_own_pod(void **state)
{
    struct fixture *fixture = put_zones(state);
    place(fixture, "r1", "");
    place(fixture, "r2", "");
    struct reserve_result result;
    const struct reserve_question question = {.uid = "r1", .node_name = "a1"};
    assert_int_equal(reserve_room(fixture->cluster, &question, &result), RESERVE_HELD);
    check_near(fixture, "a1", 1.25);
    assert_true(near_cost(fixture, "a1", "rs", "r1") == 0);
    assert_true(near_cost(fixture, "a2", "rs", "r1") == 0);
    reservation_release(fixture->cluster, "r1", result.serial);
    check_near(fixture, "a1", 0);
}

static void test_the_policy_sets_the_weight(void **state)
{
    struct fixture *fixture = put_zones(state);
    place(fixture, "r1", "a1");
    fixture->policy.replica_spread_milli = 2500;
    check_near(fixture, "a1", 2.5 * 1.25);
    fixture->policy.replica_spread_milli = 0;
    check_near(fixture, "a1", 0);
}

/* "a1 b a2": the nodes of n replicas in order. */
static const char *placed(struct fixture *fixture, const char *owner, size_t n)
{
    const struct node *nodes[8];
    const struct shape_facts facts = fixture_shape_facts(fixture, GPU "=1");
    struct cluster *fork = cluster_fork(fixture->cluster);
    const struct fit_question question = {.shape = cluster_resolve(fork, &facts, fixture->arena),
                                          .replica_of = owner};
    const char *text = "";
    assert_int_equal(what_if_place(fork, &question, n, nodes), n);
    for (size_t i = 0; i < n; i++)
        text = arena_printf(fixture->arena, "%s%s%s", text, i > 0 ? " " : "", node_name(nodes[i]));
    cluster_fork_free(fork);
    return text;
}

/* First across zones, then nodes, then again. Without an owner (a Job's) they pack. */
static void test_replicas_on_equal_nodes_are_spread(void **state)
{
    struct fixture *fixture = *state;
    fixture->policy.placement = PLACEMENT_SLOT_PRICE;
    fixture_put_node(fixture, "a1", GPU "=8", IN_A);
    fixture_put_node(fixture, "a2", GPU "=8", IN_A);
    fixture_put_node(fixture, "b", GPU "=8", IN_B);
    for (int i = 0; i < 12; i++) {
        static const char *const NODES[] = {"a1", "a2", "b"};
        fixture_put_pod(fixture, arena_printf(fixture->arena, "p%d", i), NODES[i % 3], GPU "=1");
    }
    assert_string_equal(placed(fixture, "rs", 3), "a1 b a2");
    assert_string_equal(placed(fixture, "", 3), "a1 a1 a1");
}

/* If typical pods need whole nodes, breaking one costs more than two replicas on one node. */
static void test_a_whole_node_is_not_broken_for_it(void **state)
{
    struct fixture *fixture = *state;
    fixture->policy.placement = PLACEMENT_SLOT_PRICE;
    fixture_put_node(fixture, "half", GPU "=8", IN_A);
    fixture_put_node(fixture, "whole", GPU "=8", IN_B);
    fixture_put_pod(fixture, "p1", "half", GPU "=4");
    for (int i = 0; i < 4; i++)
        fixture_put_pod(fixture, arena_printf(fixture->arena, "large-%d", i), "", GPU "=8");
    assert_string_equal(placed(fixture, "rs", 3), "half half half");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_it_costs_the_share_that_is_on_the_node_and_a_quarter_of_that_in_the_zone),
        TEST(test_other_and_ended_pods_do_not_count_as_replicas),
        TEST(test_a_removed_replica_no_longer_counts),
        TEST(test_a_reservation_counts_but_not_against_its_own_pod),
        TEST(test_the_policy_sets_the_weight),
        TEST(test_replicas_on_equal_nodes_are_spread),
        TEST(test_a_whole_node_is_not_broken_for_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
