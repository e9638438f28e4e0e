/*
 * prop_gang_domains: a group's plan against all choices of domains, over random racks: require
 * takes one rack that has room for all, with the fewest free GPUs; and none only if no rack has
 * room. prefer takes the fewest racks. Members have one shape, or two; with two only what must
 * hold in any case is asserted.
 */
#include "decide/gang_plan.h"
#include "dice.h"
#include "fixture.h"
#include "unit.h"

#include <string.h>

#define GPU "nvidia.com/gpu"
#define CASES 1000
#define RACKS 5
#define NODES_MAX 3

struct racks {
    int n_nodes[RACKS], free[RACKS][NODES_MAX];
};

static char RACK_KEY[] = "example.com/rack";

static struct racks put_racks(struct fixture *fixture, struct dice *dice)
{
    struct racks racks = {{0}, {{0}}};
    for (int r = 0; r < RACKS; r++) {
        racks.n_nodes[r] = (int)dice_below(dice, NODES_MAX + 1);
        for (int i = 0; i < racks.n_nodes[r]; i++) {
            const char *name = arena_printf(fixture->arena, "%d-%d", r, i);
            const int used = (int)dice_below(dice, 9);
            racks.free[r][i] = 8 - used;
            fixture_put_node(fixture, name, "cpu=64000 pods=100 " GPU "=8",
                             arena_printf(fixture->arena, "example.com/rack=r%d", r));
            if (used > 0)
                fixture_put_pod(fixture, arena_printf(fixture->arena, "on-%s", name), name,
                                arena_printf(fixture->arena, GPU "=%d", used));
        }
    }
    return racks;
}

static void put_member(struct fixture *fixture, int i, int n, int gpus, const char *wish)
{
    struct pod_facts facts =
        fixture_facts_in_namespace(fixture, arena_printf(fixture->arena, "ml/%d", i), "",
                                   arena_printf(fixture->arena, GPU "=%d", gpus));
    facts.gang = "train";
    facts.gang_size = n;
    facts.domain = wish;
    fixture_put_pod_facts(fixture, &facts);
}

static bool avoids(const void *context, const char *node)
{
    (void)context;
    (void)node;
    return false;
}

static enum gang_choice choose(struct fixture *fixture, struct gang_plan *ret_plan)
{
    enum gang_choice choice = GANG_NO_ROOM;
    *ret_plan = gang_plan_members(fixture->cluster, "ml/train", fixture->arena);
    do {
        struct cluster *fork = cluster_fork_with(fixture->cluster, PEERS_REPELLING);
        choice = gang_plan_choose(fork, ret_plan, avoids, NULL, fixture->arena);
        cluster_fork_free(fork);
    } while (choice != GANG_CHOSEN && ret_plan->has_more);
    return choice;
}

static int room_of(const struct racks *racks, int rack, int gpus)
{
    int room = 0;
    for (int i = 0; i < racks->n_nodes[rack]; i++)
        room += racks->free[rack][i] / gpus;
    return room;
}

static int free_of(const struct racks *racks, int rack)
{
    return room_of(racks, rack, 1);
}

/* The racks of the plan, as bits; and no node holds more than it has. */
static unsigned used_racks(const struct racks *racks, const struct gang_plan *plan)
{
    struct racks left = *racks;
    unsigned used = 0;
    for (size_t i = 0; i < plan->n; i++) {
        const int rack = plan->members[i].node[0] - '0';
        int *room = &left.free[rack][plan->members[i].node[2] - '0'];
        *room -= (int)plan->members[i].gpus;
        assert_true(*room >= 0);
        used |= 1U << rack;
    }
    return used;
}

/* The fewest racks with room for n; 0: all have too little. */
static int fewest(const struct racks *racks, int n, int gpus)
{
    int best = 0;
    for (unsigned set = 1; set < 1U << RACKS; set++) {
        int room = 0;
        for (int r = 0; r < RACKS; r++)
            room += set & 1U << r ? room_of(racks, r, gpus) : 0;
        const int size = __builtin_popcount(set);
        if (room >= n && (best == 0 || size < best))
            best = size;
    }
    return best;
}

static void check_require(const struct racks *racks, enum gang_choice choice, unsigned used, int n,
                          int gpus)
{
    assert_int_equal(choice == GANG_CHOSEN, fewest(racks, n, gpus) == 1);
    if (choice != GANG_CHOSEN)
        return;
    assert_int_equal(__builtin_popcount(used), 1);
    for (int r = 0; r < RACKS; r++) {
        if (room_of(racks, r, gpus) >= n)
            assert_true(free_of(racks, __builtin_ctz(used)) <= free_of(racks, r));
    }
}

static void try_once(struct fixture *fixture, struct dice *dice)
{
    const bool requires_one = dice_one_in(dice, 2);
    const char *wish = requires_one ? "require rack" : "prefer rack";
    const int n = 1 + (int)dice_below(dice, 6);
    const int gpus = 1 + (int)dice_below(dice, 8);
    const bool differ = dice_one_in(dice, 4);
    const struct racks racks = put_racks(fixture, dice);
    struct gang_plan plan = {0};
    for (int i = 0; i < n; i++)
        put_member(fixture, i, n, differ && i == 0 ? 1 : gpus, wish);
    const enum gang_choice choice = choose(fixture, &plan);
    const unsigned used = choice == GANG_CHOSEN ? used_racks(&racks, &plan) : 0;
    if (choice == GANG_CHOSEN && requires_one)
        assert_int_equal(__builtin_popcount(used), 1);
    if (differ)
        return;
    if (requires_one)
        check_require(&racks, choice, used, n, gpus);
    else
        assert_int_equal(__builtin_popcount(used), fewest(&racks, n, gpus));
}

static void test_against_all_choices(void **state)
{
    struct dice dice = {1};
    for (int i = 0; i < CASES; i++) {
        (void)fixture_setup(state);
        struct fixture *fixture = *state;
        fixture->policy.gangs.mode = GANGS_PLAN;
        fixture_set_levels(fixture, RACK_KEY);
        try_once(fixture, &dice);
        (void)fixture_teardown(state);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_all_choices)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
