/* topology: the domains of a group, against every other choice. */
#include "decide/topology.h"
#include "dice.h"
#include "unit.h"

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
    const struct topology_room *one = trial->rooms;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_other_choice_is_better),
        cmocka_unit_test(test_the_name_decides_between_equals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
