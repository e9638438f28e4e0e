/* best: the best few equal the first of a full sort. */
#include "decide/rank.h"
#include "fixture_devices.h"
#include "fixture_question.h"
#include "fixture_random.h"
#include "unit.h"

#include <string.h>

#define GPU "nvidia.com/gpu"
#define MAX_NODES 60

/* The offered nodes, in this order. */
struct asked {
    const struct node *nodes[2 * MAX_NODES];
    size_t n;
};

/* Some differ in the first character, others only behind twenty. */
static const char *name_of(struct fixture *fixture, unsigned i)
{
    return arena_printf(fixture->arena, "%.*s%02u", i % 3 == 0 ? (int)(i % 20) : 20,
                        "gpu-node-of-the-pool", i);
}

static struct asked random_asked(struct fixture *fixture, struct dice *dice, bool with_twins)
{
    struct asked asked = {.n = 0};
    const unsigned n_nodes = 1 + dice_below(dice, MAX_NODES);
    for (unsigned i = 0; i < n_nodes; i++)
        fixture_random_node(fixture, dice, name_of(fixture, i));
    for (const struct node *node = cluster_next_node(fixture->cluster, NULL); node;
         node = cluster_next_node(fixture->cluster, node)) {
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
static size_t sort_all(struct fixture *fixture, const struct fit_question *question,
                       const struct asked *asked, struct ranked_node *ret_ranked)
{
    size_t n = 0;
    for (size_t i = 0; i < asked->n; i++)
        ret_ranked[i] = (struct ranked_node){.node = asked->nodes[i], .position = i};
    rank_nodes(fixture->cluster, question, ret_ranked, asked->n);
    for (size_t i = 0; i < asked->n; i++) {
        if (n == 0 || ret_ranked[n - 1].node != ret_ranked[i].node)
            ret_ranked[n++] = ret_ranked[i];
    }
    return n;
}

static void check_best(struct fixture *fixture, const struct fit_question *question,
                       const struct asked *asked, size_t n_most)
{
    struct ranked_node sorted[2 * MAX_NODES];
    const size_t n_sorted = sort_all(fixture, question, asked, sorted);
    struct best *best = best_begin(fixture->cluster, question, n_most, asked->n, fixture->arena);
    for (size_t i = 0; i < asked->n; i++)
        best_add(best, asked->nodes[i], NULL, i);
    size_t n = 0;
    size_t at = 0;
    struct rank_place *const *kept = best_end(best, &n);
    for (size_t i = 0; i < n_sorted && i < n_most; i++) {
        assert_ptr_equal(kept[at]->node, sorted[i].node);
        assert_int_equal(kept[at]->position, sorted[i].position);
        assert_int_equal(kept[at]->ranked->score, sorted[i].score);
        /* Filter returns both names of a node that is offered twice. */
        for (size_t name = 0; name < asked->n; name++) {
            if (asked->nodes[name] == sorted[i].node)
                assert_int_equal(kept[at++]->position, name);
        }
    }
    assert_int_equal(at, n);
}

static void check_many(struct fixture *fixture, bool with_twins)
{
    struct dice dice = {20261121 + with_twins};
    for (size_t round = 0; round < 100; round++) {
        struct fixture other = {.policy = fixture->policy, .arena = arena_new()};
        other.cluster = cluster_new(&other.policy);
        other.policy.placement = (enum placement_policy)dice_below(&dice, N_PLACEMENT_POLICIES);
        const struct asked asked = random_asked(&other, &dice, with_twins);
        const struct shape_facts facts = fixture_random_shape(&other, &dice);
        gpu_demand_settle(other.cluster);
        struct fit_question question = fixture_question(&other, &facts);
        question.replica_of = dice_one_in(&dice, 3) ? FIXTURE_OWNER : NULL;
        check_best(&other, &question, &asked, 1 + dice_below(&dice, 20));
        cluster_free(other.cluster);
        arena_free(other.arena);
    }
}

static void check_one(struct fixture *fixture, const struct asked *asked, size_t n_most)
{
    const struct shape_facts facts = fixture_shape_facts(fixture, GPU "=1");
    gpu_demand_settle(fixture->cluster);
    const struct fit_question question = fixture_question(fixture, &facts);
    check_best(fixture, &question, asked, n_most);
}

static void test_the_best_few_equal_the_head_of_a_full_sort(void **state)
{
    check_many(*state, false);
}

static void test_a_node_named_twice_counts_once(void **state)
{
    check_many(*state, true);
}

/* Each node is better than all before it: most insertions and cuts. */
static void test_the_best_nodes_may_come_last(void **state)
{
    struct fixture *fixture = *state;
    struct asked asked = {.n = MAX_NODES};
    for (unsigned i = 0; i < MAX_NODES; i++) {
        const char *name = arena_printf(fixture->arena, "n%02u", MAX_NODES - i);
        fixture_put_node(fixture, name, GPU "=8", "");
        asked.nodes[i] = fixture_find_node(fixture, name);
    }
    check_one(fixture, &asked, 7);
}

static void test_empty_input_has_no_best(void **state)
{
    struct fixture *fixture = *state;
    check_one(fixture, &(struct asked){.n = 0}, 3);
}

static void check_first(struct fixture *fixture, const struct fit_question *question,
                        const char *name)
{
    struct best *best = best_begin(fixture->cluster, question, 1, cluster_n_nodes(fixture->cluster),
                                   fixture->arena);
    size_t n = 0;
    for (const struct node *node = cluster_next_node(fixture->cluster, NULL); node;
         node = cluster_next_node(fixture->cluster, node))
        best_add(best, node, NULL, n++);
    assert_string_equal(node_name(best_end(best, &n)[0]->node), name);
}

/* GPUs of a cordoned node are not offered, so these two have no pool. */
static void test_a_preference_decides_between_equal_nodes(void **state)
{
    struct fixture *fixture = *state;
    static const char *const LABELS[] = {"accelerator=A100", "accelerator=H100"};
    for (size_t i = 0; i < 2; i++) {
        struct node_facts facts =
            fixture_node_facts(fixture, i == 0 ? "a" : "b", GPU "=8", LABELS[i]);
        facts.unschedulable = true;
        fixture_put_node_facts(fixture, &facts);
    }
    struct shape_facts facts = fixture_shape_facts(fixture, GPU "=1");
    facts.wants.accept = fixture_models(fixture, "H100, A100", &facts.wants.n_accept);
    gpu_demand_settle(fixture->cluster);
    const struct fit_question question = fixture_question(fixture, &facts);
    check_first(fixture, &question, "b");
}

/* The hot part does not tell how many devices are free. */
static void test_free_devices_decide_between_equal_nodes(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < 2; i++) {
        const char *node = i == 0 ? "a" : "b";
        fixture_put_node(fixture, node, GPU "=8", "");
        fixture_put_slice(fixture, node, AMD_DRIVER, i == 0 ? "MI300X, MI300X" : "MI300X");
    }
    const struct shape_facts facts = fixture_shape_facts(fixture, GPU "=1");
    gpu_demand_settle(fixture->cluster);
    const struct fit_question question = fixture_question(fixture, &facts);
    check_first(fixture, &question, "b");
}

static void test_replicas_decide_between_equal_nodes(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < 2; i++) {
        const char *node = i == 0 ? "a" : "b";
        fixture_put_node(fixture, node, GPU "=8", "");
        struct pod_facts pod = fixture_pod_facts(fixture, i == 0 ? "p1" : "p2", node, GPU "=1");
        pod.replica_of = i == 0 ? FIXTURE_OWNER : "";
        fixture_put_pod_facts(fixture, &pod);
    }
    const struct shape_facts facts = fixture_shape_facts(fixture, GPU "=1");
    gpu_demand_settle(fixture->cluster);
    struct fit_question question = fixture_question(fixture, &facts);
    check_first(fixture, &question, "a");
    question.replica_of = FIXTURE_OWNER;
    check_first(fixture, &question, "b");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_best_few_equal_the_head_of_a_full_sort),
        TEST(test_a_node_named_twice_counts_once),
        TEST(test_the_best_nodes_may_come_last),
        TEST(test_empty_input_has_no_best),
        TEST(test_a_preference_decides_between_equal_nodes),
        TEST(test_free_devices_decide_between_equal_nodes),
        TEST(test_replicas_decide_between_equal_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
