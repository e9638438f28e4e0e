/* best: the best few equal the first of a full sort. */
#include "decide/best.h"
#include "given_question.h"
#include "given_random.h"
#include "unit.h"

#include <string.h>

#define GPU "nvidia.com/gpu"
#define MAX_NODES 60

/* The offered nodes, in this order. */
struct asked {
    const struct node *nodes[2 * MAX_NODES];
    size_t n;
};

static struct asked random_asked(struct given *given, struct dice *dice, bool with_twins)
{
    struct asked asked = {.n = 0};
    const unsigned n_nodes = 1 + dice_below(dice, MAX_NODES);
    for (unsigned i = 0; i < n_nodes; i++)
        given_random_node(given, dice, arena_printf(given->arena, "n%02u", i));
    for (const struct node *node = cluster_next_node(given->cluster, NULL); node;
         node = cluster_next_node(given->cluster, node)) {
        asked.nodes[asked.n++] = node;
        if (with_twins && dice_one_in(dice, 3))
            asked.nodes[asked.n++] = node;
    }
    for (size_t i = asked.n; i > 1; i--) {
        const size_t j = dice_below(dice, (unsigned)i);
        const struct node *last = asked.nodes[i - 1];
        asked.nodes[i - 1] = asked.nodes[j];
        asked.nodes[j] = last;
    }
    return asked;
}

/* The first nodes of a full sort, without duplicates. */
static size_t sort_all(struct given *given, const struct fit_question *question,
                       const struct asked *asked, struct ranked_node *ret_ranked)
{
    size_t n = 0;
    for (size_t i = 0; i < asked->n; i++)
        ret_ranked[i] = (struct ranked_node){.node = asked->nodes[i], .position = i};
    rank_nodes(given->cluster, question, ret_ranked, asked->n);
    for (size_t i = 0; i < asked->n; i++) {
        if (n == 0 || ret_ranked[n - 1].node != ret_ranked[i].node)
            ret_ranked[n++] = ret_ranked[i];
    }
    return n;
}

/* A duplicate of a kept node is always found: filter returns both names. */
static bool is_twice(const struct asked *asked, const struct node *node)
{
    size_t n = 0;
    for (size_t i = 0; i < asked->n; i++)
        n += asked->nodes[i] == node;
    return n > 1;
}

static void check_best(struct given *given, const struct fit_question *question,
                       const struct asked *asked, size_t n_most)
{
    struct ranked_node sorted[2 * MAX_NODES];
    const size_t n_sorted = sort_all(given, question, asked, sorted);
    struct best *best = best_begin(given->cluster, question, n_most, given->arena);
    for (size_t i = 0; i < asked->n; i++)
        best_add(best, asked->nodes[i], i);
    size_t n = 0;
    bool twins = false;
    const struct ranked_node *const *kept = best_end(best, &n);
    assert_int_equal(n, n_sorted < n_most ? n_sorted : n_most);
    for (size_t i = 0; i < n; i++) {
        assert_ptr_equal(kept[i]->node, sorted[i].node);
        assert_int_equal(kept[i]->position, sorted[i].position);
        twins |= is_twice(asked, kept[i]->node);
    }
    assert_true(best_saw_twins(best) || !twins);
}

static void check_many(struct given *given, bool with_twins)
{
    struct dice dice = {20261121 + with_twins};
    for (size_t round = 0; round < 300; round++) {
        struct given other = {.policy = given->policy, .arena = arena_new()};
        other.cluster = cluster_new(&other.policy);
        other.policy.placement = (enum placement_policy)dice_below(&dice, N_PLACEMENT_POLICIES);
        const struct asked asked = random_asked(&other, &dice, with_twins);
        const struct shape_facts facts = given_random_shape(&other, &dice);
        gpu_demand_settle(other.cluster);
        struct fit_question question = given_question(&other, &facts);
        question.replica_of = dice_one_in(&dice, 3) ? GIVEN_OWNER : NULL;
        check_best(&other, &question, &asked, 1 + dice_below(&dice, 20));
        cluster_free(other.cluster);
        arena_free(other.arena);
    }
}

static void check_one(struct given *given, const struct asked *asked, size_t n_most)
{
    const struct shape_facts facts = given_shape_facts(given, GPU "=1");
    gpu_demand_settle(given->cluster);
    const struct fit_question question = given_question(given, &facts);
    check_best(given, &question, asked, n_most);
}

static void test_the_best_few_are_those_of_a_sort_of_all(void **state)
{
    check_many(*state, false);
}

static void test_a_node_that_is_there_twice_counts_once(void **state)
{
    check_many(*state, true);
}

/* Each node is better than all before it: most insertions and cuts. */
static void test_the_best_come_last(void **state)
{
    struct given *given = *state;
    struct asked asked = {.n = MAX_NODES};
    for (unsigned i = 0; i < MAX_NODES; i++) {
        const char *name = arena_printf(given->arena, "n%02u", MAX_NODES - i);
        given_node(given, name, GPU "=8", "");
        asked.nodes[i] = given_find(given, name);
    }
    check_one(given, &asked, 7);
}

static void test_of_none_none_is_best(void **state)
{
    struct given *given = *state;
    check_one(given, &(struct asked){.n = 0}, 3);
}

static void check_first(struct given *given, const struct fit_question *question, const char *name)
{
    struct best *best = best_begin(given->cluster, question, 1, given->arena);
    size_t n = 0;
    for (const struct node *node = cluster_next_node(given->cluster, NULL); node;
         node = cluster_next_node(given->cluster, node))
        best_add(best, node, n++);
    assert_string_equal(node_name(best_end(best, &n)[0]->node), name);
}

/* GPUs of a cordoned node are not offered, so these two have no pool. */
static void test_a_wish_decides_among_nodes_that_are_alike_but_for_it(void **state)
{
    struct given *given = *state;
    static const char *const LABELS[] = {"accelerator=A100", "accelerator=H100"};
    for (size_t i = 0; i < 2; i++) {
        struct node_facts facts = given_node_facts(given, i == 0 ? "a" : "b", GPU "=8", LABELS[i]);
        facts.unschedulable = true;
        given_node_of(given, &facts);
    }
    struct shape_facts facts = given_shape_facts(given, GPU "=1");
    facts.wants.accept = given_models(given, "H100, A100", &facts.wants.n_accept);
    gpu_demand_settle(given->cluster);
    const struct fit_question question = given_question(given, &facts);
    check_first(given, &question, "b");
}

static void test_replicas_decide_among_nodes_that_are_alike_but_for_them(void **state)
{
    struct given *given = *state;
    for (size_t i = 0; i < 2; i++) {
        const char *node = i == 0 ? "a" : "b";
        given_node(given, node, GPU "=8", "");
        struct pod_facts pod = given_pod_facts(given, i == 0 ? "p1" : "p2", node, GPU "=1");
        pod.replica_of = i == 0 ? GIVEN_OWNER : "";
        given_pod_of(given, &pod);
    }
    const struct shape_facts facts = given_shape_facts(given, GPU "=1");
    gpu_demand_settle(given->cluster);
    struct fit_question question = given_question(given, &facts);
    check_first(given, &question, "a");
    question.replica_of = GIVEN_OWNER;
    check_first(given, &question, "b");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_best_few_are_those_of_a_sort_of_all, given_setup,
                                        given_teardown),
        cmocka_unit_test_setup_teardown(test_a_node_that_is_there_twice_counts_once, given_setup,
                                        given_teardown),
        cmocka_unit_test_setup_teardown(test_the_best_come_last, given_setup, given_teardown),
        cmocka_unit_test_setup_teardown(test_of_none_none_is_best, given_setup, given_teardown),
        cmocka_unit_test_setup_teardown(test_a_wish_decides_among_nodes_that_are_alike_but_for_it,
                                        given_setup, given_teardown),
        cmocka_unit_test_setup_teardown(
            test_replicas_decide_among_nodes_that_are_alike_but_for_them, given_setup,
            given_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
