/* node_index: after any history each node is found by its name, and no other is. */
#include "dice.h"
#include "fixture.h"
#include "ledger/gpu_demand.h"
#include "ledger/peer.h"
#include "unit.h"

#include <string.h>

#define N_NAMES 100
#define N_STEPS 3000

/* Names of different lengths, many a prefix of others. */
static const char *name_of(struct fixture *fixture, unsigned i)
{
    return arena_printf(fixture->arena, "%.*s%u", (int)(i % 40),
                        "gpu-node-with-a-name-of-more-than-a-word", i);
}

static void assert_found(struct fixture *fixture, const struct hashed_text *names,
                         const bool *is_there)
{
    const struct node *found[N_NAMES];
    size_t n_there = 0;
    cluster_find_nodes(fixture->cluster, names, N_NAMES, found);
    for (size_t i = 0; i < N_NAMES; i++) {
        n_there += is_there[i];
        assert_int_equal(found[i] != NULL, is_there[i]);
        assert_ptr_equal(cluster_find_node(fixture->cluster, names[i].text), found[i]);
        if (found[i])
            assert_string_equal(node_name(found[i]), names[i].text);
    }
    assert_int_equal(cluster_n_nodes(fixture->cluster), n_there);
}

/* As by strcmp(), and within the bound. */
static void assert_ordered(const struct cluster *cluster)
{
    for (const struct node *a = NULL; (a = cluster_next_node(cluster, a));) {
        assert_in_range(node_order(a), 1, cluster_n_ordered(cluster));
        for (const struct node *b = NULL; (b = cluster_next_node(cluster, b));)
            assert_int_equal(node_order(a) < node_order(b), strcmp(node_name(a), node_name(b)) < 0);
    }
}

/* Repeatedly grows from few nodes to all and shrinks again, so slots are reused. */
static void test_added_and_removed_nodes_are_found(void **state)
{
    struct fixture *fixture = *state;
    struct dice dice = {1};
    struct hashed_text names[N_NAMES];
    bool is_there[N_NAMES] = {false};
    for (unsigned i = 0; i < N_NAMES; i++)
        names[i] = hash_of_text(name_of(fixture, i));
    for (unsigned step = 0; step < N_STEPS; step++) {
        const unsigned i = dice_below(&dice, N_NAMES);
        const bool grows = step / N_NAMES / 3 % 2 == 0;
        is_there[i] = dice_one_in(&dice, 8) != grows;
        if (is_there[i])
            fixture_put_node(fixture, names[i].text, "cpu=1", "");
        else
            cluster_delete_node(fixture->cluster, names[i].text);
        assert_found(fixture, names, is_there);
        if (!dice_one_in(&dice, 20))
            continue;
        gpu_demand_settle(fixture->cluster);
        assert_ordered(fixture->cluster);
        struct cluster *fork = cluster_fork_with(fixture->cluster, PEERS_NONE);
        assert_ordered(fork);
        cluster_free(fork);
    }
}

/* Constructed collision: the second word of each cancels the difference of the first. */
static void test_colliding_names_stay_separate(void **state)
{
    static const char *const NAMES[] = {"gpu-nodeapfavaaa", "gputp12dyxn89tr8"};
    const struct hashed_text names[] = {hash_of_text(NAMES[0]), hash_of_text(NAMES[1])};
    struct fixture *fixture = *state;
    const struct node *found[2];
    assert_int_equal(names[0].hash, names[1].hash);
    fixture_put_node(fixture, NAMES[0], "cpu=1", "");
    assert_null(cluster_find_node(fixture->cluster, NAMES[1]));
    fixture_put_node(fixture, NAMES[1], "cpu=1", "");
    cluster_find_nodes(fixture->cluster, names, 2, found);
    assert_string_equal(node_name(found[0]), NAMES[0]);
    assert_string_equal(node_name(found[1]), NAMES[1]);
    cluster_delete_node(fixture->cluster, NAMES[0]);
    cluster_find_nodes(fixture->cluster, names, 2, found);
    assert_null(found[0]);
    assert_string_equal(node_name(found[1]), NAMES[1]);
}

static void test_nodes_are_visited_in_insertion_order(void **state)
{
    static const char *const ORDER[] = {"n2", "n3", "n1"};
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "cpu=1", "");
    fixture_put_node(fixture, "n2", "cpu=1", "");
    fixture_put_node(fixture, "n3", "cpu=1", "");
    cluster_delete_node(fixture->cluster, "n1");
    fixture_put_node(fixture, "n1", "cpu=1", "");
    fixture_put_node(fixture, "n2", "cpu=2", ""); /* it existed */
    const struct node *node = NULL;
    for (size_t i = 0; i < 3; i++) {
        node = cluster_next_node(fixture->cluster, node);
        assert_non_null(node);
        assert_string_equal(node_name(node), ORDER[i]);
    }
    assert_null(cluster_next_node(fixture->cluster, node));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_added_and_removed_nodes_are_found),
        TEST(test_colliding_names_stay_separate),
        TEST(test_nodes_are_visited_in_insertion_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
