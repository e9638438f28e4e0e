/* rank: the order of fitting nodes, and the scores for kube-scheduler. */
#include "decide/rank.h"
#include "decide/score.h"
#include "dice.h"
#include "fixture_question.h"
#include "fixture_random.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#define GPU "nvidia.com/gpu"
#define MAX_NODES 24

struct ranking {
    struct ranked_node nodes[MAX_NODES];
    size_t n;
};

/* All nodes in the ledger's order. */
static struct ranking all_nodes(struct fixture *fixture)
{
    struct ranking ranking = {.n = 0};
    for (const struct node *node = cluster_next_node(fixture->cluster, NULL); node;
         node = cluster_next_node(fixture->cluster, node)) {
        ranking.nodes[ranking.n].node = node;
        ranking.nodes[ranking.n].position = ranking.n;
        ranking.n++;
    }
    return ranking;
}

static void rank_for(struct cluster *cluster, const struct pod_shape *shape,
                     struct ranked_node *nodes, size_t n)
{
    const struct fit_question question = {.shape = shape};
    rank_nodes(cluster, &question, nodes, n);
}

static struct ranking rank(struct fixture *fixture, const struct shape_facts *facts)
{
    struct ranking ranking = all_nodes(fixture);
    gpu_demand_settle(fixture->cluster);
    rank_for(fixture->cluster, fixture_resolve(fixture, facts), ranking.nodes, ranking.n);
    return ranking;
}

static const char *text_of(struct fixture *fixture, const struct ranking *ranking)
{
    const char *text = "";
    for (size_t i = 0; i < ranking->n; i++) {
        const struct node *node = ranking->nodes[i].node;
        text = arena_printf(fixture->arena, "%s%s%s:%d", text, i > 0 ? " " : "",
                            node ? node_name(node) : "?", ranking->nodes[i].score);
    }
    return text;
}

/* "best:10 next:9 ..." */
static void check_ranking(struct fixture *fixture, const struct shape_facts *facts,
                          const char *wanted)
{
    const struct ranking ranking = rank(fixture, facts);
    assert_string_equal(text_of(fixture, &ranking), wanted);
}

static void check_demand(struct fixture *fixture, const char *demand, const char *wanted)
{
    const struct shape_facts facts = fixture_shape_facts(fixture, demand);
    check_ranking(fixture, &facts, wanted);
}

static void tainted_node(struct fixture *fixture, const char *name, const char *amounts,
                         const char *labels, const char *taints)
{
    struct node_facts facts = fixture_node_facts(fixture, name, amounts, labels);
    facts.taints = fixture_taints(fixture, taints, &facts.n_taints);
    fixture_put_node_facts(fixture, &facts);
}

static void test_empty_input_gives_an_empty_ranking(void **state)
{
    struct fixture *fixture = *state;
    const struct shape_facts facts = fixture_shape_facts(fixture, GPU "=1");
    gpu_demand_settle(fixture->cluster);
    rank_for(fixture->cluster, fixture_resolve(fixture, &facts), NULL, 0);
    check_demand(fixture, GPU "=1", "");
}

/* binpack: whole nodes stay free for large jobs. */
static void test_fewest_remaining_gpus_rank_first(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "empty", GPU "=8", "");
    fixture_put_node(fixture, "half", GPU "=8", "");
    fixture_put_node(fixture, "tight", GPU "=8", "");
    fixture_put_pod(fixture, "p1", "half", GPU "=4");
    fixture_put_pod(fixture, "p2", "tight", GPU "=6");
    check_demand(fixture, GPU "=2", "tight:10 half:6 empty:0");
    check_demand(fixture, "cpu=1", "tight:10 half:6 empty:0");
}

/* For a GPU pod only requested resources count; pods without GPUs avoid free GPUs. */
static void test_binpack_uses_the_requested_resources(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "a", GPU "=1 amd.com/gpu=8", "");
    fixture_put_node(fixture, "b", GPU "=2 amd.com/gpu=1", "");
    fixture_put_node(fixture, "c", "cpu=1", "");
    fixture_put_node(fixture, "d", GPU "=4", "");
    fixture_put_pod(fixture, "p1", "d", GPU "=5"); /* over-full: 0 free, not negative */
    check_demand(fixture, "cpu=1", "c:10 d:9 b:6 a:0");
    fixture_remove_node(fixture, "c");
    fixture_remove_node(fixture, "d");
    check_demand(fixture, GPU "=1", "a:10 b:0");
    check_demand(fixture, "amd.com/gpu=1", "b:10 a:0");
    check_demand(fixture, "amd.com/gpu=1 " GPU "=1", "b:10 a:0");
}

static void node_for_gpus(struct fixture *fixture, const char *name, bool cordoned)
{
    struct node_facts facts = fixture_node_facts(fixture, name, "cpu=64 " GPU "=8", "");
    facts.unschedulable = cordoned;
    fixture_put_node_facts(fixture, &facts);
}

/* Neither cost, nor GPUs in use, nor the name attract it to a GPU node. The model identifies one
 * whose GPUs are not advertised yet; a cordoned one comes last. */
static void test_a_pod_without_gpus_avoids_gpu_nodes(void **state)
{
    struct fixture *fixture = *state;
    node_for_gpus(fixture, "a-cordoned", true);
    fixture_put_node(fixture, "b-starts", "cpu=64", "nvidia.com/gpu.product=Tesla-T4");
    node_for_gpus(fixture, "c-full", false);
    node_for_gpus(fixture, "d-idle", false);
    fixture_put_node(fixture, "e-plain", "cpu=64", "");
    fixture_put_node(fixture, "f-plain", "cpu=64", "");
    fixture_put_pod(fixture, "p1", "c-full", GPU "=8");
    const struct shape_facts plain = fixture_shape_facts(fixture, "cpu=1");
    for (int placement = 0; placement < N_PLACEMENT_POLICIES; placement++) {
        fixture->policy.placement = (enum placement_policy)placement;
        const struct ranking ranking = rank(fixture, &plain);
        assert_string_equal(node_name(ranking.nodes[0].node), "e-plain");
        assert_string_equal(node_name(ranking.nodes[1].node), "f-plain");
        assert_string_equal(node_name(ranking.nodes[5].node), "a-cordoned");
        assert_true(ranking.nodes[1].score > ranking.nodes[2].score);
        assert_int_equal(ranking.nodes[5].score, 0);
    }
}

/* Exactly one node scores 10, even among equals: one point decides. */
static void test_only_the_very_best_gets_10(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "c", GPU "=8", "");
    fixture_put_node(fixture, "a", GPU "=8", "");
    fixture_put_node(fixture, "b", GPU "=8", "");
    check_demand(fixture, GPU "=1", "a:10 b:0 c:0");
    fixture_put_node(fixture, "z", GPU "=9", "");
    check_demand(fixture, GPU "=1", "a:10 b:9 c:9 z:0");
}

static void test_one_node_gets_10(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "a", GPU "=8", "");
    check_demand(fixture, GPU "=1", "a:10");
}

/* Costs are spread over the scores in proportion. */
static void test_many_costs_on_ten_levels(void **state)
{
    struct fixture *fixture = *state;
    const char *wanted = "n00:10";
    for (int i = 0; i <= 20; i++) {
        const char *name = arena_printf(fixture->arena, "n%02d", i);
        fixture_put_node(fixture, name, arena_printf(fixture->arena, GPU "=%d", i + 1), "");
        if (i > 0)
            wanted = arena_printf(fixture->arena, "%s %s:%d", wanted, name, (20 - i) / 2);
    }
    check_demand(fixture, GPU "=1", wanted);
}

static void test_pod_preferences_outrank_cost(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "a100-full", GPU "=1", "accelerator=A100");
    fixture_put_node(fixture, "h100-empty", GPU "=8", "accelerator=H100");
    fixture_put_node(fixture, "l4-full", GPU "=1", "accelerator=L4");
    struct shape_facts facts = fixture_shape_facts(fixture, GPU "=1");
    facts.wants.accept = fixture_models(fixture, "H100, A100, L4", &facts.wants.n_accept);
    check_ranking(fixture, &facts, "h100-empty:10 a100-full:5 l4-full:0");
}

/* A tier is a model. Within it costs decide, and scores of tiers do not overlap. */
static void test_costs_decide_within_a_tier(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "a1", GPU "=1", "accelerator=A100");
    fixture_put_node(fixture, "a8", GPU "=8", "accelerator=A100");
    fixture_put_node(fixture, "h4", GPU "=4", "accelerator=H100");
    fixture_put_node(fixture, "h8", GPU "=8", "accelerator=H100");
    struct shape_facts facts = fixture_shape_facts(fixture, GPU "=1");
    facts.wants.accept = fixture_models(fixture, "H100, A100", &facts.wants.n_accept);
    check_ranking(fixture, &facts, "h4:10 h8:5 a1:4 a8:0");
}

static void test_preferred_affinity(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "a", GPU "=1", "zone=a");
    fixture_put_node(fixture, "b", GPU "=4", "zone=b");
    fixture_put_node(fixture, "c", GPU "=8", "zone=b,disk=fast");
    struct shape_facts facts = fixture_shape_facts(fixture, GPU "=1");
    struct preferred_term terms[2] = {{10, fixture_term(fixture, "zone In b")},
                                      {1, fixture_term(fixture, "disk In fast")}};
    facts.preferred = terms;
    facts.n_preferred = 2;
    check_ranking(fixture, &facts, "c:10 b:5 a:0");
    terms[0].weight = 1;
    terms[0].term = fixture_term(fixture, "zone In a");
    terms[1].weight = 100;
    check_ranking(fixture, &facts, "c:10 a:5 b:0");
}

static void test_preferences_are_ranked_in_order(void **state)
{
    struct fixture *fixture = *state;
    tainted_node(fixture, "first", GPU "=8", "accelerator=H100", "a=1:PreferNoSchedule");
    tainted_node(fixture, "second", GPU "=8", "accelerator=A100,zone=a", "a=1:PreferNoSchedule");
    tainted_node(fixture, "third", GPU "=8", "accelerator=A100", "");
    tainted_node(fixture, "fourth", GPU "=1", "accelerator=A100", "a=1:PreferNoSchedule");
    tainted_node(fixture, "fifth", GPU "=1", "accelerator=A100",
                 "a=1:PreferNoSchedule b=1:PreferNoSchedule");
    struct shape_facts facts = fixture_shape_facts(fixture, GPU "=1");
    facts.wants.accept = fixture_models(fixture, "H100, A100", &facts.wants.n_accept);
    const struct preferred_term term = {1, fixture_term(fixture, "zone Exists")};
    facts.preferred = &term;
    facts.n_preferred = 1;
    check_ranking(fixture, &facts, "first:10 second:8 third:5 fourth:3 fifth:0");
    facts.tolerations = fixture_tolerations(fixture, "a b", &facts.n_tolerations);
    check_ranking(fixture, &facts, "first:10 second:5 fifth:4 fourth:4 third:0");
}

/* A best node alone uses none of the ten scores below it. */
static void test_eleven_tiers_have_a_score_each(void **state)
{
    static const char *const MODELS[] = {"A1", "A2",  "A10", "A16", "A30", "A40", "A100",
                                         "L4", "L40", "T4",  "P4",  "P40", "V100"};
    static const int SCORES[] = {10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0};
    struct fixture *fixture = *state;
    struct shape_facts facts = fixture_shape_facts(fixture, GPU "=1");
    const char *accept = "";
    for (size_t n = 1; n <= 13; n++) {
        const char *labels = arena_printf(fixture->arena, "accelerator=%s", MODELS[n - 1]);
        fixture_put_node(fixture, MODELS[n - 1], arena_printf(fixture->arena, GPU "=%zu", 20 - n),
                         labels);
        accept = arena_printf(fixture->arena, "%s%s,", accept, MODELS[n - 1]);
        facts.wants.accept = fixture_models(fixture, accept, &facts.wants.n_accept);
        const struct ranking ranking = rank(fixture, &facts);
        assert_int_equal(ranking.n, n);
        for (size_t i = 0; i < n; i++) {
            assert_string_equal(node_name(ranking.nodes[i].node), MODELS[i]);
            if (n >= 11)
                assert_int_equal(ranking.nodes[i].score, SCORES[i]);
            if (n < 11 && i > 0)
                assert_true(ranking.nodes[i].score < ranking.nodes[i - 1].score);
        }
    }
}

/* Unknown nodes come last, in the given order. */
static void test_unknown_nodes_get_0_and_come_last(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "a", GPU "=8", "");
    fixture_put_node(fixture, "b", GPU "=4", "");
    const struct shape_facts facts = fixture_shape_facts(fixture, GPU "=1");
    const struct pod_shape *shape = fixture_resolve(fixture, &facts);
    struct ranked_node nodes[5] = {0};
    for (size_t i = 0; i < 5; i++)
        nodes[i] = (struct ranked_node){.position = i, .score = 77, .cost.own = -1e9};
    nodes[1].node = fixture_find_node(fixture, "a");
    nodes[3].node = fixture_find_node(fixture, "b");
    gpu_demand_settle(fixture->cluster);
    rank_for(fixture->cluster, shape, nodes, 5);
    static const size_t POSITIONS[] = {3, 1, 0, 2, 4};
    static const int SCORES[] = {10, 0, 0, 0, 0};
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(nodes[i].position, POSITIONS[i]);
        assert_int_equal(nodes[i].score, SCORES[i]);
    }
    gpu_demand_settle(fixture->cluster);
    rank_for(fixture->cluster, shape, &nodes[2], 3);
    for (size_t i = 2; i < 5; i++)
        assert_int_equal(nodes[i].score, 0);
}

static void test_a_node_named_twice_is_ranked_twice(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "a", GPU "=4", "");
    fixture_put_node(fixture, "b", GPU "=8", "");
    const struct shape_facts facts = fixture_shape_facts(fixture, GPU "=1");
    struct ranked_node nodes[3] = {{.node = fixture_find_node(fixture, "a"), .position = 0},
                                   {.node = fixture_find_node(fixture, "b"), .position = 1},
                                   {.node = fixture_find_node(fixture, "a"), .position = 2}};
    gpu_demand_settle(fixture->cluster);
    rank_for(fixture->cluster, fixture_resolve(fixture, &facts), nodes, 3);
    assert_int_equal(nodes[0].position, 0);
    assert_int_equal(nodes[0].score, 10);
    assert_int_equal(nodes[1].position, 2);
    assert_int_equal(nodes[1].score, 9);
    assert_int_equal(nodes[2].position, 1);
}

/* Sums that a double cannot represent must not depend on their order. */
static void test_huge_amounts_rank_the_same_whatever_their_history(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "b", "amd.com/gpu=1", "");
    fixture_put_node(fixture, "b", GPU "=9007199254740992", "");
    fixture_put_node(fixture, "b",
                     GPU "=9007199254740992 amd.com/gpu=1 gpu.intel.com/xe=1 gpu.intel.com/i915=1",
                     "");
    fixture_put_node(fixture, "a",
                     GPU "=9007199254740992 amd.com/gpu=1 gpu.intel.com/xe=1 gpu.intel.com/i915=1",
                     "");
    const struct shape_facts facts = fixture_shape_facts(fixture, "cpu=1");
    const struct ranking ranking = rank(fixture, &facts);
    assert_true(ranking.nodes[0].cost.own == ranking.nodes[1].cost.own);
    assert_string_equal(node_name(ranking.nodes[0].node), "a");
    fixture_put_node(fixture, "c", GPU "=max amd.com/gpu=max", "");
    assert_string_equal(node_name(rank(fixture, &facts).nodes[2].node), "c");
}

/* Property: in any order of insertion or question the ranking is the same. The best alone scores
 * 10, others at most 9, and scores never rise down the list. */

static void shuffle(struct dice *dice, size_t *order, size_t n)
{
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    for (size_t i = n; i > 1; i--) {
        size_t j = dice_below(dice, (unsigned)i);
        size_t last = order[i - 1];
        order[i - 1] = order[j];
        order[j] = last;
    }
}

static void check_scores(const struct ranking *ranking)
{
    for (size_t i = 0; i < ranking->n; i++) {
        int score = ranking->nodes[i].score;
        assert_in_range(score, 0, i == 0 ? 10 : 9);
        if (i > 0)
            assert_true(score <= ranking->nodes[i - 1].score);
    }
    assert_int_equal(ranking->nodes[0].score, RANK_BEST_SCORE);
}

/* Equal nodes for equal seeds, inserted and offered in random order. */
static const char *rank_inserted_in_random_order(struct fixture *fixture, struct dice *dice,
                                                 size_t n, uint64_t nodes_seed, uint64_t shape_seed)
{
    size_t order[MAX_NODES];
    struct fixture other = {.policy = fixture->policy,
                            .arena = fixture->arena,
                            .cluster = cluster_new(&fixture->policy)};
    shuffle(dice, order, n);
    for (size_t i = 0; i < n; i++) {
        struct dice of_the_node = {nodes_seed + order[i]};
        fixture_random_node(&other, &of_the_node, arena_printf(fixture->arena, "n%zu", order[i]));
    }
    struct dice of_the_shape = {shape_seed};
    const struct shape_facts facts = fixture_random_shape(&other, &of_the_shape);
    struct ranking ranking = all_nodes(&other);
    shuffle(dice, order, n);
    struct ranking shuffled = {.n = n};
    for (size_t i = 0; i < n; i++)
        shuffled.nodes[i] = ranking.nodes[order[i]];
    gpu_demand_settle(other.cluster);
    rank_for(other.cluster, fixture_resolve(&other, &facts), shuffled.nodes, n);
    check_scores(&shuffled);
    const char *text = text_of(fixture, &shuffled);
    cluster_free(other.cluster);
    return text;
}

static void test_no_order_of_nodes_changes_the_ranking(void **state)
{
    struct fixture *fixture = *state;
    struct dice dice = {20240229};
    for (size_t round = 0; round < 100; round++) {
        size_t n = 1 + dice_below(&dice, MAX_NODES);
        uint64_t nodes_seed = dice_next(&dice);
        uint64_t shape_seed = dice_next(&dice);
        const char *first =
            rank_inserted_in_random_order(fixture, &dice, n, nodes_seed, shape_seed);
        for (size_t i = 0; i < 3; i++)
            assert_string_equal(
                rank_inserted_in_random_order(fixture, &dice, n, nodes_seed, shape_seed), first);
    }
}

/* Twelve kinds of nodes, as many as the pod has models, none of the first two: each kind scores one
 * less than the previous, down to 0. */
static void test_a_model_order_alone_gives_each_model_a_score(void **state)
{
    static const char *const MODELS[] = {"K80", "P4",  "P40", "P100", "V100", "T4",  "A10",
                                         "A16", "A30", "A40", "A100", "L4",   "L40", "H100"};
    struct fixture *fixture = *state;
    struct shape_facts facts = fixture_shape_facts(fixture, GPU "=1");
    facts.wants.accept = fixture_models(fixture,
                                        "K80, P4, P40, P100, V100, T4, A10, A16, A30, A40, A100, "
                                        "L4, L40, H100",
                                        &facts.wants.n_accept);
    const size_t n = sizeof MODELS / sizeof *MODELS;
    struct ranked_node nodes[14] = {{.node = NULL, .score = 7}};
    for (size_t i = 2; i < n; i++) {
        fixture_put_node(fixture, MODELS[i], GPU "=8",
                         arena_printf(fixture->arena, "accelerator=%s", MODELS[i]));
        nodes[i - 1].node = fixture_find_node(fixture, MODELS[i]);
    }
    assert_true(rank_by_models(fixture_resolve(fixture, &facts), nodes, n - 1));
    assert_int_equal(nodes[0].score, 0);
    for (size_t i = 1; i < n - 1; i++)
        assert_int_equal(nodes[i].score, i < 11 ? 11 - i : 0);
    assert_false(rank_by_models(fixture_resolve(fixture, &facts), nodes, 2));
}

/* Models that the pod does not name are the last rank. A pod that names none has one rank. */
static void test_the_order_of_models_ends_with_all_others(void **state)
{
    struct fixture *fixture = *state;
    struct shape_facts facts = fixture_shape_facts(fixture, GPU "=1");
    fixture_put_node(fixture, "a100", GPU "=8", "accelerator=A100");
    fixture_put_node(fixture, "t4", GPU "=8", "accelerator=T4");
    struct ranked_node nodes[] = {{.node = fixture_find_node(fixture, "t4")},
                                  {.node = fixture_find_node(fixture, "a100")}};
    assert_false(rank_by_models(fixture_resolve(fixture, &facts), nodes, 2));
    assert_int_equal(nodes[0].score, 10);
    assert_int_equal(nodes[1].score, 10);
    facts.wants.accept = fixture_models(fixture, "A100", &facts.wants.n_accept);
    assert_true(rank_by_models(fixture_resolve(fixture, &facts), nodes, 2));
    assert_int_equal(nodes[0].score, 9);
    assert_int_equal(nodes[1].score, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_empty_input_gives_an_empty_ranking),
        TEST(test_fewest_remaining_gpus_rank_first),
        TEST(test_binpack_uses_the_requested_resources),
        TEST(test_a_pod_without_gpus_avoids_gpu_nodes),
        TEST(test_only_the_very_best_gets_10),
        TEST(test_one_node_gets_10),
        TEST(test_many_costs_on_ten_levels),
        TEST(test_pod_preferences_outrank_cost),
        TEST(test_costs_decide_within_a_tier),
        TEST(test_preferred_affinity),
        TEST(test_preferences_are_ranked_in_order),
        TEST(test_eleven_tiers_have_a_score_each),
        TEST(test_unknown_nodes_get_0_and_come_last),
        TEST(test_a_node_named_twice_is_ranked_twice),
        TEST(test_huge_amounts_rank_the_same_whatever_their_history),
        TEST(test_no_order_of_nodes_changes_the_ranking),
        TEST(test_a_model_order_alone_gives_each_model_a_score),
        TEST(test_the_order_of_models_ends_with_all_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
