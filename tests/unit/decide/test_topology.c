/* topology: the domains of a group, against every other choice; and what whole domains cost. */
#include "decide/rank.h"
#include "decide/topology.h"
#include "dice.h"
#include "fixture_question.h"
#include "unit.h"

#include <string.h>

#define GPU "nvidia.com/gpu"
#define ROOMS_MAX 8
#define N_TRIALS 20000

static const char *const NAMES[ROOMS_MAX] = {"a", "b", "c", "d", "e", "f", "g", "h"};

struct trial {
    struct topology_room rooms[ROOMS_MAX];
    size_t n;
    int64_t n_members;
};

static struct trial random_trial(struct dice *dice)
{
    struct trial trial = {.n = dice_below(dice, ROOMS_MAX + 1)};
    trial.n_members = 1 + (int64_t)dice_below(dice, 12);
    for (size_t i = 0; i < trial.n; i++) {
        const int64_t n = dice_below(dice, 7);
        trial.rooms[i] = (struct topology_room){
            .id = (domain_id)i + 1,
            .name = NAMES[i],
            .n_members = n,
            .free_gpus = 8 * n + (int64_t)dice_below(dice, 8),
            .n_taken = (int64_t)dice_below(dice, 2)}; /* of a choice before */
    }
    return trial;
}

static int64_t taken(const struct trial *trial, size_t *ret_n)
{
    int64_t sum = 0;
    *ret_n = 0;
    for (size_t i = 0; i < trial->n; i++) {
        assert_in_range(trial->rooms[i].n_taken, 0, trial->rooms[i].n_members);
        sum += trial->rooms[i].n_taken;
        *ret_n += trial->rooms[i].n_taken > 0;
    }
    return sum;
}

/* The fewest domains with room for all; 0: not even all together. */
static size_t fewest_of_all_sets(const struct trial *trial)
{
    size_t fewest = 0;
    for (unsigned set = 1; set < 1U << trial->n; set++) {
        int64_t room = 0;
        for (size_t i = 0; i < trial->n; i++)
            room += set >> i & 1 ? trial->rooms[i].n_members : 0;
        const size_t n = (size_t)__builtin_popcount(set);
        if (room >= trial->n_members && (fewest == 0 || n < fewest))
            fewest = n;
    }
    return fewest;
}

static void check_require(struct trial *trial)
{
    size_t n = 0;
    const bool found = topology_require(trial->rooms, trial->n, trial->n_members);
    const struct topology_room *one = NULL;
    assert_int_equal(taken(trial, &n), found ? trial->n_members : 0);
    assert_int_equal(n, found);
    assert_int_equal(found, fewest_of_all_sets(trial) == 1);
    for (size_t i = 0; i < trial->n; i++)
        one = trial->rooms[i].n_taken > 0 ? &trial->rooms[i] : one;
    for (size_t i = 0; found && i < trial->n; i++)
        assert_true(trial->rooms[i].n_members < trial->n_members ||
                    trial->rooms[i].free_gpus >= one->free_gpus);
}

/* Each domain but one is taken whole, and that one fits best. */
static void check_prefer(struct trial *trial)
{
    size_t n = 0;
    const struct topology_room *rest = NULL;
    const size_t n_chosen = topology_prefer(trial->rooms, trial->n, trial->n_members);
    assert_int_equal(n_chosen, fewest_of_all_sets(trial));
    assert_int_equal(taken(trial, &n), n_chosen > 0 ? trial->n_members : 0);
    assert_int_equal(n, n_chosen);
    for (size_t i = 0; i < trial->n; i++) {
        const struct topology_room *room = &trial->rooms[i];
        if (room->n_taken == 0 || room->n_taken == room->n_members)
            continue;
        assert_null(rest);
        rest = room;
    }
    for (size_t i = 0; rest && i < trial->n; i++)
        assert_true(trial->rooms[i].n_taken > 0 || trial->rooms[i].n_members < rest->n_taken ||
                    trial->rooms[i].free_gpus >= rest->free_gpus);
}

static void test_no_other_choice_is_better(void **state)
{
    (void)state;
    struct dice dice = {20261130};
    for (int i = 0; i < N_TRIALS; i++) {
        struct trial trial = random_trial(&dice);
        check_require(&trial);
        check_prefer(&trial);
    }
}

static void test_the_name_decides_between_equals(void **state)
{
    (void)state;
    struct topology_room rooms[] = {
        {1, "b", 4, 32, 0}, {2, "a", 4, 32, 0}, {3, "c", 5, 32, 0}, {4, "d", 9, 72, 0}};
    assert_true(topology_require(rooms, 4, 4));
    assert_int_equal(rooms[1].n_taken, 4);
    assert_int_equal(topology_prefer(rooms, 4, 13), 2);
    assert_int_equal(rooms[3].n_taken, 9);
    assert_int_equal(rooms[1].n_taken, 4);
}

/* The best node for a pod of that many GPUs. */
static const char *best_for(struct fixture *fixture, const char *demand)
{
    struct ranked_node nodes[8];
    size_t n = 0;
    const struct shape_facts facts = fixture_shape_facts(fixture, demand);
    gpu_demand_settle(fixture->cluster);
    const struct fit_question question = {.shape = fixture_resolve(fixture, &facts),
                                          .scope = FIT_ALL};
    for (const struct node *node = cluster_next_node(fixture->cluster, NULL); node;
         node = cluster_next_node(fixture->cluster, node)) {
        if (fit_judge(node, &question) == REASON_FITS)
            nodes[n++] = (struct ranked_node){.node = node};
    }
    rank_nodes(fixture->cluster, &question, nodes, n);
    return node_name(nodes[0].node);
}

/* Two racks with two nodes each; one pod is on a node of the second. */
static void put_racks(struct fixture *fixture)
{
    fixture->policy.placement = PLACEMENT_SLOT_PRICE;
    static const char *const NODES[] = {"a1", "a2", "b1", "b2"};
    for (size_t i = 0; i < 4; i++)
        fixture_put_node(fixture, NODES[i], GPU "=8 pods=100", i < 2 ? "rack=a" : "rack=b");
    fixture_put_pod(fixture, "p", "b1", GPU "=8");
}

static void test_a_broken_rack_is_better_than_a_whole_one(void **state)
{
    struct fixture *fixture = *state;
    put_racks(fixture);
    assert_string_equal(best_for(fixture, GPU "=8"), "a1");
    fixture_set_levels(fixture, "rack");
    put_racks(fixture);
    assert_string_equal(best_for(fixture, GPU "=8"), "b2");
    assert_string_equal(best_for(fixture, GPU "=1"), "b2");
    fixture_put_pod(fixture, "q", "a1", GPU "=1");
    assert_string_equal(best_for(fixture, GPU "=1"), "a1");
}

/* drainWeight times the node's GPUs, for each level: (n^2 - (n - 1)^2) / N whole nodes. */
static void test_the_cost_is_the_drain_one_level_up(void **state)
{
    struct fixture *fixture = *state;
    struct score_term terms[SCORE_TERMS_MAX];
    fixture_set_levels(fixture, "rack");
    put_racks(fixture);
    gpu_demand_settle(fixture->cluster);
    const struct shape_facts facts = fixture_shape_facts(fixture, GPU "=1");
    const struct fit_question question = {.shape = fixture_resolve(fixture, &facts)};
    const struct score *score = score_begin(fixture->cluster, &question, fixture->arena);
    static const struct {
        const char *node;
        double cost;
    } ROWS[] = {{"a1", 0.2 * 8 * 3 / 2}, {"b2", 0.2 * 8 * 1 / 2}, {"b1", 0}};
    for (size_t i = 0; i < 3; i++) {
        const struct node *node = fixture_find_node(fixture, ROWS[i].node);
        const size_t n = score_terms(score, node, terms);
        assert_string_equal(terms[n - 1].name, "domains");
        assert_float_equal(terms[n - 1].value, ROWS[i].cost, 1e-9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_other_choice_is_better),
        cmocka_unit_test(test_the_name_decides_between_equals),
        TEST(test_a_broken_rack_is_better_than_a_whole_one),
        TEST(test_the_cost_is_the_drain_one_level_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
