/* score: costs of the placement policies, computed by hand. */
#include "base/mem.h"
#include "decide/rank.h"
#include "dice.h"
#include "fixture_question.h"
#include "unit.h"

#include <math.h>
#include <string.h>

#define GPU "nvidia.com/gpu"
#define T4 "accelerator=T4"
#define A100 "accelerator=A100"

static const struct score *score_of(struct fixture *fixture, const char *demand)
{
    gpu_demand_settle(fixture->cluster);
    const struct shape_facts facts = fixture_shape_facts(fixture, demand);
    const struct fit_question question = {.shape = fixture_resolve(fixture, &facts)};
    return score_begin(fixture->cluster, &question, fixture->arena);
}

static struct cost cost_on(struct fixture *fixture, const char *node, const char *demand)
{
    return score_cost(score_of(fixture, demand), fixture_find_node(fixture, node), NULL);
}

/* "slotsLost=2 drain=0.175": the terms for a pod with one GPU on that node. */
static void check_terms(struct fixture *fixture, const char *node, const char *expected)
{
    const struct score *score = score_of(fixture, GPU "=1");
    struct score_term terms[SCORE_TERMS_MAX];
    const size_t n = score_terms(score, fixture_find_node(fixture, node), terms);
    const struct cost cost = score_cost(score, fixture_find_node(fixture, node), NULL);
    const char *text = "";
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        text = arena_printf(fixture->arena, "%s%s%s=%.4g", text, text[0] ? " " : "", terms[i].name,
                            terms[i].value);
        sum += terms[i].value;
    }
    assert_string_equal(text, expected);
    assert_true(sum == cost_sum(&cost));
}

static void check_cost(struct fixture *fixture, const char *node, const char *demand, double own,
                       double price)
{
    const struct cost cost = cost_on(fixture, node, demand);
    if (fabs(cost.own - own) > 1e-9 || fabs(cost.price - price) > 1e-9)
        fail_msg("%s costs %.12g and %.12g, should be %.12g and %.12g", node, cost.own, cost.price,
                 own, price);
}

static struct fixture *fixture_with_policy(void **state, enum placement_policy placement)
{
    struct fixture *fixture = *state;
    fixture->policy.placement = placement;
    return fixture;
}

/* A pending pod that only A100 nodes may take. */
static struct pod_facts confined_facts(struct fixture *fixture, const char *uid, const char *demand)
{
    struct pod_facts facts = fixture_pod_facts(fixture, uid, "", demand);
    facts.shape.wants.accept = fixture_models(fixture, "A100", &facts.shape.wants.n_accept);
    return facts;
}

static void confined_pod(struct fixture *fixture, const char *uid, const char *demand)
{
    const struct pod_facts facts = confined_facts(fixture, uid, demand);
    fixture_put_pod_facts(fixture, &facts);
}

/* Typical pods need 3 or 4 GPUs. 5 free GPUs fit one of either, so do 4; 3 fit no pod of 4. So half
 * of the pods lose 4 GPUs. The drain term is 0.2 x (free^2 - left^2) / 8. */
static void test_slot_price_charges_lost_slots_and_broken_nodes(void **state)
{
    struct fixture *fixture = fixture_with_policy(state, PLACEMENT_SLOT_PRICE);
    fixture_put_node(fixture, "five", GPU "=8", T4);
    fixture_put_node(fixture, "four", GPU "=8", T4);
    fixture_put_pod(fixture, "on-five", "five", GPU "=3");
    fixture_put_pod(fixture, "on-four", "four", GPU "=4");
    const double price = 3 * 500 * 0.33 / 507;
    check_cost(fixture, "five", GPU "=1", 0 + 0.2 * (25 - 16) / 8, price);
    check_cost(fixture, "four", GPU "=1", 4.0 / 2 + 0.2 * (16 - 9) / 8, price);
}

/* Waiting pods: three with 1 GPU, one with 4. */
static struct fixture *three_small_one_large(void **state)
{
    struct fixture *fixture = fixture_with_policy(state, PLACEMENT_SLOT_PRICE);
    fixture_put_node(fixture, "n", GPU "=8", T4);
    fixture_put_pod(fixture, "a", "", GPU "=1");
    fixture_put_pod(fixture, "b", "", GPU "=1");
    fixture_put_pod(fixture, "c", "", GPU "=1");
    fixture_put_pod(fixture, "d", "", GPU "=4");
    return fixture;
}

/* Losses are weighed by the number of pods. */
static void test_slot_price_weighs_classes_by_their_pods(void **state)
{
    struct fixture *fixture = three_small_one_large(state);
    const double lost = (3.0 * 1 * 1 + 1.0 * 4 * 1) / 4;
    check_cost(fixture, "n", GPU "=1", lost + 0.2 * (64 - 49) / 8, 3 * 500 * 0.33 / 507);
}

/* CPU alone makes GPUs useless too. A node without GPUs costs nothing. */
static void test_slot_price_charges_pods_without_gpus(void **state)
{
    struct fixture *fixture = fixture_with_policy(state, PLACEMENT_SLOT_PRICE);
    fixture_put_node(fixture, "gpus", GPU "=4 cpu=8000", T4);
    fixture_put_node(fixture, "plain", "cpu=8000", "");
    fixture_put_pod(fixture, "typical", "", GPU "=1 cpu=2000");
    check_cost(fixture, "gpus", "cpu=3000", 2, 0);
    check_cost(fixture, "gpus", "cpu=8000", 4, 0);
    check_cost(fixture, "plain", "cpu=3000", 0, 0);
}

/* 8 of 12 free GPUs are A100, and all wanted 8 GPUs are confined to them. With the prior of 500
 * GPUs, of which 165 are confined and spread over both models. */
static void test_slot_price_keeps_models_for_pods_confined_to_them(void **state)
{
    struct fixture *fixture = fixture_with_policy(state, PLACEMENT_SLOT_PRICE);
    fixture_put_node(fixture, "t4", GPU "=4", T4);
    fixture_put_node(fixture, "a100", GPU "=8", A100);
    confined_pod(fixture, "p", GPU "=8");
    const double all = 508;
    const double pressure_t4 = 82.5 / all * 12 / 4;
    const double pressure_a100 = 82.5 / all * 12 / 8 + 8 / all * 12 / 8;
    check_cost(fixture, "t4", GPU "=2", 0.2 * (16 - 4) / 8, 3 * 2 * pressure_t4);
    check_cost(fixture, "a100", GPU "=2", 8 + 0.2 * (64 - 36) / 8, 3 * 2 * pressure_a100);
}

static void test_slot_price_has_a_highest_pressure(void **state)
{
    struct fixture *fixture = fixture_with_policy(state, PLACEMENT_SLOT_PRICE);
    fixture_put_node(fixture, "t4", GPU "=100", T4);
    fixture_put_node(fixture, "a100", GPU "=8", A100);
    fixture_put_pod(fixture, "on-a100", "a100", GPU "=7");
    confined_pod(fixture, "p", GPU "=8");
    assert_true(fabs(cost_on(fixture, "a100", GPU "=1").price - 3 * 3) < 1e-9);
}

/* A pod may tolerate the cordon, but nothing attracts it to a node that is being drained. */
static void test_slot_price_attracts_no_pod_to_a_cordoned_node(void **state)
{
    struct fixture *fixture = fixture_with_policy(state, PLACEMENT_SLOT_PRICE);
    fixture_put_node(fixture, "open", GPU "=8", T4);
    fixture_put_pod(fixture, "typical", "", GPU "=1");
    struct node_facts cordoned = fixture_node_facts(fixture, "cordoned", GPU "=8", T4);
    cordoned.unschedulable = true;
    fixture_put_node_facts(fixture, &cordoned);
    const struct cost open = cost_on(fixture, "open", GPU "=1");
    const struct cost closed = cost_on(fixture, "cordoned", GPU "=1");
    assert_true(closed.own + closed.price > open.own + open.price);
}

/* A typical pod of 4: taking one of 4 free GPUs turns 3 into fragments. */
static void test_fgd_charges_new_fragments(void **state)
{
    struct fixture *fixture = fixture_with_policy(state, PLACEMENT_FGD);
    fixture_put_node(fixture, "four", GPU "=4", T4);
    fixture_put_node(fixture, "eight", GPU "=8", T4);
    fixture_put_node(fixture, "two", GPU "=2", T4);
    fixture_put_pod(fixture, "typical", "", GPU "=4");
    check_cost(fixture, "four", GPU "=1", 3, 0);
    check_cost(fixture, "eight", GPU "=1", 0, 0);
    check_cost(fixture, "two", GPU "=1", -1, 0);
}

static void test_spread_and_binpack_are_opposites(void **state)
{
    struct fixture *fixture = fixture_with_policy(state, PLACEMENT_SPREAD);
    fixture_put_node(fixture, "eight", GPU "=8", T4);
    fixture_put_node(fixture, "four", GPU "=4", T4);
    check_cost(fixture, "eight", GPU "=1", -7, 0);
    check_cost(fixture, "four", GPU "=1", -3, 0);
    fixture->policy.placement = PLACEMENT_BINPACK;
    check_cost(fixture, "eight", GPU "=1", 7, 0);
    check_cost(fixture, "four", GPU "=1", 3, 0);
}

static void test_every_policy_judges_an_empty_fleet(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "plain", "cpu=8000", "");
    fixture_put_node(fixture, "full", GPU "=1", T4);
    fixture_put_pod(fixture, "p", "full", GPU "=1");
    for (int placement = 0; placement < N_PLACEMENT_POLICIES; placement++) {
        fixture->policy.placement = (enum placement_policy)placement;
        assert_true(isfinite(cost_on(fixture, "plain", GPU "=1").own));
        assert_true(isfinite(cost_on(fixture, "full", "amd.com/gpu=1 " GPU "=1").price));
    }
}

/* As above: 3 pods of 1 GPU and one of 4 lose 7 GPUs of 4 pods; the pressure is that of the
 * prior. */
static void test_terms_are_named_and_add_up(void **state)
{
    struct fixture *fixture = three_small_one_large(state);
    check_terms(fixture, "n", "slotsLost=1.75 drain=0.375 pressure=0.9763");
    fixture->policy.placement = PLACEMENT_FGD;
    check_terms(fixture, "n", "fragmentsAdded=0");
    fixture->policy.placement = PLACEMENT_BINPACK;
    check_terms(fixture, "n", "gpusLeft=7");
    fixture->policy.placement = PLACEMENT_SPREAD;
    check_terms(fixture, "n", "minusGpusLeft=-7");
}

#define N_ALIKE 4000

/* More kinds of nodes than cached losses, each kind several times. */
static void many_nodes(struct fixture *fixture)
{
    struct dice dice = {1};
    for (unsigned i = 0; i < N_ALIKE; i++) {
        const char *amounts =
            arena_printf(fixture->arena, GPU "=%u cpu=%u memory=%u", dice_below(&dice, 9),
                         1000 * dice_below(&dice, 3), dice_below(&dice, 1U << 30));
        const struct node_facts facts =
            fixture_node_facts(fixture, arena_printf(fixture->arena, "n%u", i), amounts,
                               dice_one_in(&dice, 2) ? T4 : A100);
        cluster_upsert_node(fixture->cluster, &facts);
    }
    fixture_put_pod(fixture, "one", "", GPU "=1 cpu=1000 memory=150000000");
    fixture_put_pod(fixture, "two", "", GPU "=2 cpu=2000 memory=90000000");
    confined_pod(fixture, "four", GPU "=4 memory=200000000");
    gpu_demand_settle(fixture->cluster);
}

/* A cached cost equals the node's own cost. */
static void check_each_as_if_alone(struct fixture *fixture, enum placement_policy placement)
{
    fixture->policy.placement = placement;
    const struct shape_facts facts =
        fixture_shape_facts(fixture, GPU "=1 cpu=1000 memory=90000000");
    const struct fit_question question = {.shape = fixture_resolve(fixture, &facts)};
    const struct score *score = score_begin(fixture->cluster, &question, fixture->arena);
    for (const struct node *node = cluster_next_node(fixture->cluster, NULL); node;
         node = cluster_next_node(fixture->cluster, node)) {
        struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
        const struct score *alone = score_begin(fixture->cluster, &question, arena);
        const double cost = score_cost(score, node, NULL).own;
        const double cost_alone = score_cost(alone, node, NULL).own;
        if (cost != cost_alone)
            fail_msg("%s costs %.12g, and %.12g alone", node_name(node), cost, cost_alone);
    }
}

static void test_earlier_requests_do_not_change_the_cost_of_a_node(void **state)
{
    struct fixture *fixture = *state;
    many_nodes(fixture);
    check_each_as_if_alone(fixture, PLACEMENT_SLOT_PRICE);
    check_each_as_if_alone(fixture, PLACEMENT_FGD);
}

static struct cost cost_to(struct fixture *fixture, const struct pod_facts *pod, const char *node)
{
    gpu_demand_settle(fixture->cluster);
    const struct fit_question question = {.shape = fixture_resolve(fixture, &pod->shape),
                                          .asker = {.uid = pod->uid}};
    const struct score *score = score_begin(fixture->cluster, &question, fixture->arena);
    return score_cost(score, fixture_find_node(fixture, node), NULL);
}

static void check_cost_stays(struct fixture *fixture, const char *uid, const char *node)
{
    const struct pod_facts pod = confined_facts(fixture, uid, GPU "=2");
    const struct cost before = cost_to(fixture, &pod, node);
    fixture_put_pod_facts(fixture, &pod);
    const struct cost after = cost_to(fixture, &pod, node);
    fixture_remove_pod(fixture, uid);
    assert_true(before.own == after.own && before.price == after.price);
}

static void test_a_pod_that_the_watch_has_not_shown_counts_as_if_it_had(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "t4", GPU "=4", T4);
    fixture_put_node(fixture, "a100", GPU "=8", A100);
    for (int i = 0; i < N_PLACEMENT_POLICIES; i++) {
        fixture->policy.placement = (enum placement_policy)i;
        check_cost_stays(fixture, "only", "t4");
        check_cost_stays(fixture, "only", "a100");
        confined_pod(fixture, "like", GPU "=2");
        check_cost_stays(fixture, "second", "a100");
        fixture_remove_pod(fixture, "like");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_slot_price_charges_lost_slots_and_broken_nodes),
        TEST(test_slot_price_weighs_classes_by_their_pods),
        TEST(test_slot_price_charges_pods_without_gpus),
        TEST(test_slot_price_keeps_models_for_pods_confined_to_them),
        TEST(test_slot_price_has_a_highest_pressure),
        TEST(test_slot_price_attracts_no_pod_to_a_cordoned_node),
        TEST(test_fgd_charges_new_fragments),
        TEST(test_spread_and_binpack_are_opposites),
        TEST(test_every_policy_judges_an_empty_fleet),
        TEST(test_terms_are_named_and_add_up),
        TEST(test_earlier_requests_do_not_change_the_cost_of_a_node),
        TEST(test_a_pod_that_the_watch_has_not_shown_counts_as_if_it_had),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
