/* Random groups, and a world that binds, deletes and ignores as it likes: the limits hold. Then one
 * limit at a time is planted wrong, and must be noticed. */
#include "unit.h"

#include "dice.h"
#include "extender/gangs/gang_turns.h"

#include <stdio.h>
#include <string.h>

#define N_GROUPS 6
#define N_SECONDS 4000
#define SIZE 4
#define TOTAL 64
#define SECOND INT64_C(1000)
#define HOUR 3600

struct group {
    char key[16];
    size_t bound, unbound, planned;
    int64_t planned_at, progress_at, began_at, not_before; /* seconds; 0: none */
    int n_pauses;
};

struct world {
    struct dice dice;
    struct gang_turns *turns;
    struct group groups[N_GROUPS];
    int64_t now;
    int64_t kept[N_SECONDS]; /* GPUs, of each second; all groups are of one namespace */
    int64_t sum;             /* of the last hour */
    const char *fault;       /* NULL: none */
};

static void fail_if(struct world *world, bool is_wrong, const char *fault)
{
    if (is_wrong && !world->fault)
        world->fault = fault;
}

static size_t missing(const struct group *group)
{
    return group->bound < SIZE ? SIZE - group->bound : 0;
}

/* Pods come, bind where they have a place, end, or are deleted. */
static void live(struct world *world, struct group *group, bool binds)
{
    struct dice *dice = &world->dice;
    if (group->bound + group->unbound < SIZE && dice_one_in(dice, 3))
        group->unbound++;
    if (group->planned > 0 && binds && dice_one_in(dice, 3)) {
        group->planned--;
        group->unbound--;
        group->bound++;
        group->progress_at = world->now;
    }
    if (group->unbound > 0 && dice_one_in(dice, 60)) {
        group->unbound--;
        group->planned -= group->planned > group->unbound;
    }
    if (group->bound > 0 && group->unbound == 0 && dice_one_in(dice, 20))
        group->bound--;
}

static void see(struct world *world)
{
    struct gang_sight sights[N_GROUPS];
    size_t n = 0;
    for (size_t i = 0; i < N_GROUPS; i++) {
        struct group *group = &world->groups[i];
        const struct gang gang = {.size = SIZE,
                                  .n_bound = group->bound,
                                  .n_placed = group->bound,
                                  .n_unbound = group->unbound,
                                  .n_planned = group->planned};
        if (gang_state_of(&gang) == GANG_RUNNING) {
            group->n_pauses = 0;
            group->not_before = 0;
            continue;
        }
        sights[n++] = (struct gang_sight){.key = group->key, .namespace_ = "ml", .gang = gang};
    }
    gang_turns_see(world->turns, sights, n, world->now * SECOND);
}

static struct group *find(struct world *world, const char *key)
{
    size_t i = 0;
    while (strcmp(world->groups[i].key, key) != 0)
        i++;
    return &world->groups[i];
}

static void drop(struct world *world, const struct gang_step *step)
{
    struct group *group = find(world, step->key);
    group->planned = 0;
    if (step->why != GANG_END_IDLE && step->why != GANG_END_LONG)
        return;
    int64_t pause = 10;
    for (int i = 0; i < group->n_pauses && pause < 300; i++)
        pause *= 2;
    group->n_pauses++;
    group->not_before = world->now + (pause < 300 ? pause : 300);
    group->began_at = 0;
}

static int64_t kept_now(const struct world *world)
{
    int64_t gpus = 0;
    for (size_t i = 0; i < N_GROUPS; i++)
        gpus += (int64_t)world->groups[i].planned;
    return gpus * 2;
}

static void plan(struct world *world, const char *key)
{
    struct group *group = find(world, key);
    const int64_t n_gpus = 2 * (int64_t)missing(group);
    const struct gang_kept kept = {.model = 1, .gpus = n_gpus, .total = TOTAL};
    fail_if(world, world->now < group->not_before, "a plan during the pause");
    fail_if(world, group->bound + group->unbound < SIZE, "a plan for pods that do not exist");
    if (dice_one_in(&world->dice, 4)) {
        gang_turns_failed(world->turns, key, GANG_WAIT_ROOM);
        return;
    }
    if (gang_turns_allow(world->turns, key, &kept, 1, world->now * SECOND) != GANG_WAIT_NONE)
        return;
    group->planned = missing(group);
    group->planned_at = group->progress_at = world->now;
    group->began_at = group->began_at > 0 ? group->began_at : world->now;
    fail_if(world, kept_now(world) * 4 > TOTAL, "more than the share is kept");
}

static void act(struct world *world)
{
    struct gang_step step = {0};
    while ((step = gang_turns_next(world->turns, world->now * SECOND, 0)).next != GANG_REST) {
        if (step.next == GANG_DROP)
            drop(world, &step);
        else
            plan(world, step.key);
    }
}

static void check(struct world *world, size_t second)
{
    for (size_t i = 0; i < N_GROUPS; i++) {
        const struct group *group = &world->groups[i];
        if (group->planned == 0)
            continue;
        fail_if(world, group->planned < missing(group), "a plan that is not whole");
        fail_if(world, world->now - group->progress_at > 30, "a plan without progress");
        fail_if(world, world->now - group->planned_at > 120, "a plan beyond its time");
    }
    world->kept[second] = kept_now(world);
    world->sum += world->kept[second] - (second >= HOUR ? world->kept[second - HOUR] : 0);
    fail_if(world, world->sum * 20 > (int64_t)TOTAL * HOUR, "a namespace keeps more than 5 %");
}

/* Half of the seeds bind nothing, as those who only want to keep GPUs. */
static const char *run(uint64_t seed, const struct gang_limits *limits)
{
    static struct world world;
    world = (struct world){.dice = {seed}, .now = 1000};
    world.turns = gang_turns_new();
    gang_turns_limit(world.turns, limits);
    for (int i = 0; i < N_GROUPS; i++)
        (void)snprintf(world.groups[i].key, sizeof world.groups[i].key, "ml/%d", i);
    for (size_t second = 0; second < N_SECONDS && !world.fault; second++, world.now++) {
        for (size_t i = 0; i < N_GROUPS; i++)
            live(&world, &world.groups[i], seed % 2 == 0);
        /* A group that is given up is made again under a name that may not be new. */
        see(&world);
        act(&world);
        check(&world, second);
        if (seed % 2 == 1 && second % 60 == 59)
            world.groups[second / 60 % N_GROUPS] = (struct group){.key = "ml/n"};
        for (int i = 0; i < N_GROUPS; i++)
            (void)snprintf(world.groups[i].key, sizeof world.groups[i].key, "ml/%d%s", i,
                           seed % 2 == 1 ? "n" : "");
    }
    gang_turns_free(world.turns);
    return world.fault;
}

static const char *first_fault(const struct gang_limits *limits, uint64_t n_seeds)
{
    const char *fault = NULL;
    for (uint64_t seed = 1; seed <= n_seeds && !fault; seed++)
        fault = run(seed, limits);
    return fault;
}

static void test_limits_hold(void **state)
{
    (void)state;
    const char *fault = first_fault(&GANG_LIMITS, dice_number_from("GANG_SEEDS", 20));
    if (fault)
        fail_msg("%s", fault);
}

static void test_planted_faults_are_noticed(void **state)
{
    struct gang_limits planted[6];
    (void)state;
    for (size_t i = 0; i < 6; i++)
        planted[i] = GANG_LIMITS;
    planted[0].idle_ms = 40 * SECOND;
    planted[1].plan_ms = planted[1].idle_ms = 200 * SECOND;
    planted[2].pause_ms = 5 * SECOND;
    planted[3].pause_most_ms = 20 * SECOND;
    planted[4].share_milli = 400;
    planted[5].burst_s = 1000;
    planted[5].share_milli = 250;
    for (size_t i = 0; i < 6; i++) {
        const char *fault = first_fault(&planted[i], 20);
        if (!fault)
            fail_msg("planted fault %zu is not noticed", i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits_hold),
        cmocka_unit_test(test_planted_faults_are_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
