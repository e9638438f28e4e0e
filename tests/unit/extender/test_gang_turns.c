/* Turns of groups: one rule a test. The ledger is what each test says that it shows. */
#include "unit.h"

#include "extender/gangs/gang_turns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000)
#define MODEL 7

struct fixture {
    struct gang_turns *turns;
    int64_t now_ms;
};

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    fixture->turns = gang_turns_new();
    fixture->now_ms = 1000 * SECOND;
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    gang_turns_free(fixture->turns);
    free(fixture);
    return 0;
}

static struct gang_sight sight(const char *key, size_t bound, size_t unbound, size_t planned)
{
    return (struct gang_sight){.key = key,
                               .namespace_ = "ml",
                               .gang = {.size = 4,
                                        .n_bound = bound,
                                        .n_placed = bound,
                                        .n_unbound = unbound,
                                        .n_planned = planned}};
}

static void see(struct fixture *fixture, const struct gang_sight *sights, size_t n)
{
    gang_turns_see(fixture->turns, sights, n, fixture->now_ms);
}

static void see_one(struct fixture *fixture, size_t bound, size_t unbound, size_t planned)
{
    const struct gang_sight one = sight("ml/a", bound, unbound, planned);
    see(fixture, &one, 1);
}

static struct gang_step next(struct fixture *fixture)
{
    return gang_turns_next(fixture->turns, fixture->now_ms, fixture->now_ms);
}

static enum gang_wait allow(struct fixture *fixture, const char *key, int64_t gpus)
{
    const struct gang_kept kept = {.model = MODEL, .gpus = gpus, .total = 100};
    return gang_turns_allow(fixture->turns, key, &kept, 1, fixture->now_ms);
}

static void assert_rests(struct fixture *fixture)
{
    assert_int_equal(next(fixture).next, GANG_REST);
}

static void assert_plans(struct fixture *fixture, const char *key)
{
    const struct gang_step step = next(fixture);
    assert_int_equal(step.next, GANG_PLAN);
    assert_string_equal(step.key, key);
}

static void assert_drops(struct fixture *fixture, enum gang_end why)
{
    const struct gang_step step = next(fixture);
    assert_int_equal(step.next, GANG_DROP);
    assert_int_equal(step.why, why);
}

static void plan_one(struct fixture *fixture)
{
    see_one(fixture, 0, 4, 0);
    assert_plans(fixture, "ml/a");
    assert_int_equal(allow(fixture, "ml/a", 4), GANG_WAIT_NONE);
}

static void pass(struct fixture *fixture, int64_t ms)
{
    fixture->now_ms += ms;
}

static void test_states(void **state)
{
    static const struct {
        size_t bound, unbound, planned;
        enum gang_state expected;
    } ROWS[] = {
        {0, 0, 0, GANG_FORMING}, {0, 3, 0, GANG_FORMING}, {0, 3, 3, GANG_FORMING},
        {0, 4, 0, GANG_WAITING}, {0, 9, 0, GANG_WAITING}, {0, 4, 4, GANG_PLANNED},
        {1, 3, 0, GANG_PARTIAL}, {1, 3, 3, GANG_PARTIAL}, {3, 2, 0, GANG_PARTIAL},
        {1, 2, 0, GANG_RUNNING}, {3, 0, 0, GANG_RUNNING}, {4, 0, 0, GANG_RUNNING},
        {4, 2, 0, GANG_RUNNING}, {5, 0, 0, GANG_RUNNING},
    };
    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        const struct gang_sight row =
            sight("ml/a", ROWS[i].bound, ROWS[i].unbound, ROWS[i].planned);
        assert_int_equal(gang_state_of(&row.gang), ROWS[i].expected);
    }
}

static void test_a_complete_group_is_planned_once_a_second(void **state)
{
    struct fixture *fixture = *state;
    see_one(fixture, 0, 3, 0);
    assert_rests(fixture);
    see_one(fixture, 0, 4, 0);
    assert_plans(fixture, "ml/a");
    gang_turns_failed(fixture->turns, "ml/a", GANG_WAIT_ROOM);
    assert_rests(fixture);
    assert_int_equal(gang_turns_find(fixture->turns, "ml/a").wait, GANG_WAIT_ROOM);
    pass(fixture, 999);
    assert_rests(fixture);
    pass(fixture, 1);
    assert_plans(fixture, "ml/a");
}

static void test_a_plan_without_progress_ends(void **state)
{
    struct fixture *fixture = *state;
    plan_one(fixture);
    pass(fixture, 29 * SECOND);
    see_one(fixture, 0, 4, 4);
    assert_rests(fixture);
    gang_turns_offered(fixture->turns, "ml/a", 1, fixture->now_ms);
    pass(fixture, 29 * SECOND);
    see_one(fixture, 0, 4, 4);
    assert_rests(fixture);
    gang_turns_offered(fixture->turns, "ml/a", 1, fixture->now_ms); /* not for the first time */
    pass(fixture, SECOND);
    assert_drops(fixture, GANG_END_IDLE);
}

static void test_a_binding_is_progress(void **state)
{
    struct fixture *fixture = *state;
    plan_one(fixture);
    pass(fixture, 25 * SECOND);
    see_one(fixture, 1, 3, 3);
    pass(fixture, 29 * SECOND);
    see_one(fixture, 1, 3, 3);
    assert_rests(fixture);
    pass(fixture, SECOND);
    assert_drops(fixture, GANG_END_IDLE);
}

static void test_no_plan_lasts_longer(void **state)
{
    struct fixture *fixture = *state;
    plan_one(fixture);
    for (uint64_t i = 0; i < 8; i++) {
        pass(fixture, 15 * SECOND - (i == 0));
        see_one(fixture, 0, 4, 4);
        assert_rests(fixture);
        gang_turns_offered(fixture->turns, "ml/a", i, fixture->now_ms);
    }
    pass(fixture, 1);
    assert_drops(fixture, GANG_END_LONG);
}

static void test_pauses_double(void **state)
{
    static const int64_t PAUSES[] = {10, 20, 40, 80, 160, 300, 300};
    struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof PAUSES / sizeof *PAUSES; i++) {
        plan_one(fixture);
        pass(fixture, 30 * SECOND);
        assert_drops(fixture, GANG_END_IDLE);
        see_one(fixture, 0, 4, 0);
        pass(fixture, PAUSES[i] * SECOND - 1);
        see_one(fixture, 0, 4, 0);
        assert_rests(fixture);
        assert_int_equal(gang_turns_find(fixture->turns, "ml/a").wait, GANG_WAIT_PAUSE);
        pass(fixture, 1);
    }
}

/* A running group is not among the sights, so it begins anew. */
static void test_a_running_group_is_forgotten(void **state)
{
    struct fixture *fixture = *state;
    plan_one(fixture);
    pass(fixture, 30 * SECOND);
    assert_drops(fixture, GANG_END_IDLE);
    see(fixture, NULL, 0);
    assert_int_equal(gang_turns_find(fixture->turns, "ml/a").since_ms, 0);
    plan_one(fixture);
}

static void test_a_plan_ends_with_its_group(void **state)
{
    struct fixture *fixture = *state;
    plan_one(fixture);
    see(fixture, NULL, 0);
    assert_drops(fixture, GANG_END_CHANGED);
    see(fixture, NULL, 0);
    assert_rests(fixture);
}

static void test_a_changed_group_is_planned_again_within_its_time(void **state)
{
    struct fixture *fixture = *state;
    plan_one(fixture);
    pass(fixture, 10 * SECOND);
    see_one(fixture, 0, 4, 3);
    assert_drops(fixture, GANG_END_CHANGED);
    assert_plans(fixture, "ml/a");
    assert_int_equal(allow(fixture, "ml/a", 4), GANG_WAIT_NONE);
    pass(fixture, 20 * SECOND);
    see_one(fixture, 0, 4, 4);
    assert_drops(fixture, GANG_END_IDLE);
}

static void test_a_displaced_plan(void **state)
{
    struct fixture *fixture = *state;
    struct gang_sight one = sight("ml/a", 0, 4, 4);
    plan_one(fixture);
    one.is_displaced = true;
    see(fixture, &one, 1);
    assert_drops(fixture, GANG_END_DISPLACED);
}

static void test_nodes_that_are_not_offered_are_avoided(void **state)
{
    struct fixture *fixture = *state;
    plan_one(fixture);
    gang_turns_not_offered(fixture->turns, "ml/a", 5);
    see_one(fixture, 0, 4, 4);
    assert_rests(fixture); /* at most once a second */
    pass(fixture, SECOND);
    see_one(fixture, 0, 4, 4);
    assert_drops(fixture, GANG_END_NOT_OFFERED);
    assert_true(gang_turns_avoids(fixture->turns, "ml/a", 5));
    assert_false(gang_turns_avoids(fixture->turns, "ml/a", 6));
}

static void test_who_comes_later_is_tried_later(void **state)
{
    struct fixture *fixture = *state;
    const struct gang_sight both[] = {sight("ml/a", 0, 4, 0), sight("ml/b", 0, 4, 0)};
    see(fixture, both, 1);
    assert_plans(fixture, "ml/a");
    gang_turns_failed(fixture->turns, "ml/a", GANG_WAIT_ROOM);
    assert_rests(fixture);
    for (int i = 0; i < 3; i++) {
        pass(fixture, SECOND);
        see(fixture, both, 2);
        assert_plans(fixture, "ml/a");
        gang_turns_failed(fixture->turns, "ml/a", GANG_WAIT_ROOM);
        assert_plans(fixture, "ml/b");
        gang_turns_failed(fixture->turns, "ml/b", GANG_WAIT_ROOM);
        assert_rests(fixture);
    }
}

/* Without room elsewhere, no plan would ever be made again that could end. */
static void test_nodes_are_avoided_for_a_while(void **state)
{
    struct fixture *fixture = *state;
    plan_one(fixture);
    gang_turns_not_offered(fixture->turns, "ml/a", 5);
    pass(fixture, SECOND);
    see_one(fixture, 0, 4, 4);
    assert_drops(fixture, GANG_END_NOT_OFFERED);
    see_one(fixture, 0, 4, 0);
    assert_plans(fixture, "ml/a");
    assert_true(gang_turns_avoids(fixture->turns, "ml/a", 5));
    gang_turns_failed(fixture->turns, "ml/a", GANG_WAIT_ROOM);
    pass(fixture, 30 * SECOND);
    see_one(fixture, 0, 4, 0);
    assert_plans(fixture, "ml/a");
    assert_false(gang_turns_avoids(fixture->turns, "ml/a", 5));
}

/* A new leader's ledger has no places; a copy under a new policy neither. */
static void test_a_plan_that_is_not_known_ends(void **state)
{
    struct fixture *fixture = *state;
    see_one(fixture, 0, 4, 4);
    assert_drops(fixture, GANG_END_CHANGED);
}

static void test_order(void **state)
{
    struct fixture *fixture = *state;
    struct gang_sight sights[] = {sight("ml/first", 0, 4, 0), sight("ml/partial", 2, 2, 0),
                                  sight("ml/urgent", 0, 4, 0), sight("ml/last", 0, 4, 0)};
    static const char *const ORDER[] = {"ml/urgent", "ml/partial", "ml/first", "ml/last"};
    sights[2].priority = 10;
    see(fixture, sights, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_plans(fixture, ORDER[i]);
        gang_turns_failed(fixture->turns, ORDER[i], GANG_WAIT_ROOM);
    }
    assert_rests(fixture);
}

/* Where planning is slow, groups without room do not take all turns, and a group that comes first
 * in the order has every other one. */
static void test_each_group_has_a_turn(void **state)
{
    struct fixture *fixture = *state;
    struct gang_sight sights[] = {sight("ml/a", 0, 4, 0), sight("ml/b", 0, 4, 0),
                                  sight("ml/urgent", 0, 4, 0)};
    static const char *const ORDER[] = {"ml/urgent", "ml/a", "ml/urgent", "ml/b",
                                        "ml/urgent", "ml/a", "ml/urgent", "ml/b"};
    sights[2].priority = 10;
    for (size_t i = 0; i < 8; i++) {
        see(fixture, sights, 3);
        assert_plans(fixture, ORDER[i]);
        gang_turns_failed(fixture->turns, ORDER[i], GANG_WAIT_ROOM);
        gang_turns_cost(fixture->turns, fixture->now_ms, 100);
        assert_rests(fixture);
        pass(fixture, 2 * SECOND);
    }
}

/* Of each second 50 ms, whatever is done in between. */
static void test_planning_takes_its_share_of_time(void **state)
{
    struct fixture *fixture = *state;
    struct gang_sight sights[40];
    char keys[40][16];
    size_t n_planned = 0;
    for (size_t i = 0; i < 40; i++) {
        (void)snprintf(keys[i], sizeof keys[i], "ml/%zu", i);
        sights[i] = sight(keys[i], 0, 4, 0);
    }
    for (size_t second = 0; second < 10; second++) {
        see(fixture, sights, 40);
        for (struct gang_step step = next(fixture); step.next == GANG_PLAN; step = next(fixture)) {
            n_planned++;
            gang_turns_failed(fixture->turns, step.key, GANG_WAIT_ROOM);
            gang_turns_cost(fixture->turns, fixture->now_ms, 5);
            gang_turns_cost(fixture->turns, fixture->now_ms, 0);
        }
        pass(fixture, SECOND);
    }
    assert_int_equal(n_planned, 100);
}

static void test_no_plan_without_a_wake(void **state)
{
    struct fixture *fixture = *state;
    see_one(fixture, 0, 4, 0);
    const int64_t late_ms = fixture->now_ms + GANG_LIMITS.wake_soon_ms + 1;
    assert_int_equal(gang_turns_next(fixture->turns, fixture->now_ms, late_ms).next, GANG_REST);
    assert_plans(fixture, "ml/a");
}

static void test_share(void **state)
{
    struct fixture *fixture = *state;
    const struct gang_sight sights[] = {sight("ml/a", 0, 4, 0), sight("ml/b", 0, 4, 0),
                                        sight("ml/c", 0, 4, 0)};
    see(fixture, sights, 3);
    assert_int_equal(allow(fixture, "ml/a", 15), GANG_WAIT_NONE);
    assert_int_equal(allow(fixture, "ml/b", 11), GANG_WAIT_SHARE);
    assert_int_equal(gang_turns_find(fixture->turns, "ml/b").wait, GANG_WAIT_SHARE);
    assert_int_equal(allow(fixture, "ml/c", 10), GANG_WAIT_NONE);
}

static void test_a_larger_plan_is_made_alone(void **state)
{
    struct fixture *fixture = *state;
    const struct gang_sight sights[] = {sight("ml/a", 0, 4, 0), sight("ml/b", 0, 4, 0)};
    const struct gang_sight planned[] = {sight("ml/a", 0, 4, 4), sight("ml/b", 0, 4, 0)};
    see(fixture, sights, 2);
    assert_int_equal(allow(fixture, "ml/a", 60), GANG_WAIT_NONE);
    assert_int_equal(allow(fixture, "ml/b", 1), GANG_WAIT_SHARE);
    pass(fixture, 30 * SECOND);
    see(fixture, planned, 2);
    assert_drops(fixture, GANG_END_IDLE);
    pass(fixture, 599 * SECOND);
    see(fixture, sights, 2);
    assert_int_equal(allow(fixture, "ml/b", 60), GANG_WAIT_SHARE);
    pass(fixture, 2 * SECOND);
    see(fixture, sights, 2);
    assert_int_equal(allow(fixture, "ml/b", 60), GANG_WAIT_NONE);
}

/* 20 of 100 GPUs for 30 s each time: 600 GPU-seconds. An hour allows 18,000. */
static void test_a_namespace_is_charged(void **state)
{
    struct fixture *fixture = *state;
    int n_plans = 0;
    enum gang_wait wait = GANG_WAIT_NONE;
    char key[] = "ml/a000";
    for (int i = 0; i < 90 && wait != GANG_WAIT_CHARGED; i++) {
        key[5] = (char)('0' + i / 10);
        key[6] = (char)('0' + i % 10);
        const struct gang_sight fresh = sight(key, 0, 4, 0);
        see(fixture, &fresh, 1);
        wait = allow(fixture, key, 20);
        n_plans += wait == GANG_WAIT_NONE;
        const struct gang_sight planned = sight(key, 0, 4, wait == GANG_WAIT_NONE ? 4 : 0);
        see(fixture, &planned, 1);
        pass(fixture, 30 * SECOND);
        see(fixture, &planned, 1);
        (void)next(fixture);
    }
    assert_int_equal(wait, GANG_WAIT_CHARGED);
    assert_in_range(n_plans, 15, 30);
    assert_in_range(gang_turns_kept_s(fixture->turns), 9000, 18000);
}

/* What the namespace has left need not be enough for a plan that takes all of its time: the plan
 * ends with it. */
static void test_a_plan_ends_with_what_its_namespace_may_keep(void **state)
{
    struct fixture *fixture = *state;
    const struct gang_sight planned = sight("ml/b", 0, 4, 4);
    int64_t seconds = 0;
    see_one(fixture, 0, 4, 0);
    assert_int_equal(allow(fixture, "ml/a", 100), GANG_WAIT_NONE);
    see_one(fixture, 0, 4, 4);
    pass(fixture, 29 * SECOND);
    see_one(fixture, 4, 0, 0); /* bound after 29 of 120 s */
    see(fixture, NULL, 0);
    assert_drops(fixture, GANG_END_CHANGED);
    see(fixture, &planned, 1);
    assert_int_equal(allow(fixture, "ml/b", 100), GANG_WAIT_NONE);
    for (; seconds < 120 && next(fixture).next == GANG_REST; seconds++) {
        see(fixture, &planned, 1);
        gang_turns_offered(fixture->turns, "ml/b", (uint64_t)seconds + 1, fixture->now_ms);
        pass(fixture, SECOND);
    }
    assert_in_range(seconds, 85, 95);
}

static void test_too_many_members_wait(void **state)
{
    struct fixture *fixture = *state;
    const struct gang_sight sights[] = {sight("ml/a", 0, 200, 0), sight("ml/b", 0, 57, 0),
                                        sight("ml/c", 0, 56, 0)};
    see(fixture, sights, 3);
    assert_int_equal(gang_turns_find(fixture->turns, "ml/a").treatment, GANG_BY_STATE);
    assert_int_equal(gang_turns_find(fixture->turns, "ml/b").treatment, GANG_BEYOND);
    assert_int_equal(gang_turns_find(fixture->turns, "ml/c").treatment, GANG_BY_STATE);
    assert_plans(fixture, "ml/a");
    gang_turns_failed(fixture->turns, "ml/a", GANG_WAIT_ROOM);
    assert_plans(fixture, "ml/b");
    (void)allow(fixture, "ml/b", 1);
    assert_int_equal(gang_turns_find(fixture->turns, "ml/b").treatment, GANG_BY_STATE);
}

static void test_an_incomplete_group_is_given_up(void **state)
{
    struct fixture *fixture = *state;
    see_one(fixture, 0, 3, 0);
    pass(fixture, 299 * SECOND);
    see_one(fixture, 0, 3, 0);
    assert_int_equal(gang_turns_find(fixture->turns, "ml/a").treatment, GANG_BY_STATE);
    pass(fixture, SECOND);
    see_one(fixture, 0, 3, 0);
    assert_int_equal(gang_turns_find(fixture->turns, "ml/a").treatment, GANG_ORDINARY);
    see_one(fixture, 0, 4, 0);
    assert_int_equal(gang_turns_find(fixture->turns, "ml/a").treatment, GANG_BY_STATE);
}

static void test_what_users_see(void **state)
{
    struct fixture *fixture = *state;
    const struct gang_lack lack = {.n_fit = 3, .text = "lacks 8 H100"};
    see_one(fixture, 0, 4, 0);
    assert_int_equal(gang_turns_find(fixture->turns, "ml/a").partial_ms, 0);
    gang_turns_lacks(fixture->turns, "ml/a", &lack);
    assert_string_equal(gang_turns_find(fixture->turns, "ml/a").lack->text, "lacks 8 H100");
    plan_one(fixture);
    assert_string_equal(gang_turns_find(fixture->turns, "ml/a").lack->text, "");
    gang_turns_not_offered(fixture->turns, "ml/a", 5);
    pass(fixture, 30 * SECOND);
    assert_drops(fixture, GANG_END_IDLE);
    assert_int_equal(gang_turns_find(fixture->turns, "ml/a").missed, 5);
    see_one(fixture, 1, 3, 0);
    const int64_t since_ms = fixture->now_ms;
    pass(fixture, SECOND);
    see_one(fixture, 2, 2, 0);
    assert_int_equal(gang_turns_find(fixture->turns, "ml/a").partial_ms, since_ms);
}

/* Incomplete groups of ml, twice as many as fit; two complete ones of it; and one of another
 * namespace. */
static void test_many_groups_of_a_namespace_take_no_turn_of_others(void **state)
{
    struct fixture *fixture = *state;
    const size_t n = 2 * GANG_TURNS_MAX;
    struct gang_sight *sights = calloc(n + 3, sizeof *sights);
    char(*keys)[16] = calloc(n, sizeof *keys);
    for (size_t i = 0; i < n; i++) {
        (void)snprintf(keys[i], sizeof keys[i], "ml/%zu", i);
        sights[i] = sight(keys[i], 0, 1, 0);
    }
    see(fixture, sights, n);
    sights[n] = sight("ml/whole", 0, 4, 0);
    sights[n + 1] = sight("other/a", 0, 4, 0);
    sights[n + 1].namespace_ = "other";
    sights[n + 2] = sight("ml/bound", 1, 3, 0);
    see(fixture, sights, n + 3);
    assert_int_not_equal(gang_turns_find(fixture->turns, "ml/whole").since_ms, 0);
    assert_int_not_equal(gang_turns_find(fixture->turns, "other/a").since_ms, 0);
    assert_int_not_equal(gang_turns_find(fixture->turns, "ml/bound").since_ms, 0);
    size_t n_known = 0;
    for (size_t i = 0; i < n; i++) {
        const struct gang_turn turn = gang_turns_find(fixture->turns, keys[i]);
        n_known += turn.since_ms != 0;
        assert_int_equal(turn.treatment == GANG_BEYOND, turn.since_ms == 0 || i >= 253);
    }
    assert_int_equal(n_known, GANG_TURNS_MAX - 3);
    free(keys);
    free(sights);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states),
        TEST(test_a_complete_group_is_planned_once_a_second),
        TEST(test_a_plan_without_progress_ends),
        TEST(test_a_binding_is_progress),
        TEST(test_no_plan_lasts_longer),
        TEST(test_pauses_double),
        TEST(test_a_running_group_is_forgotten),
        TEST(test_a_plan_ends_with_its_group),
        TEST(test_a_changed_group_is_planned_again_within_its_time),
        TEST(test_a_displaced_plan),
        TEST(test_nodes_that_are_not_offered_are_avoided),
        TEST(test_nodes_are_avoided_for_a_while),
        TEST(test_who_comes_later_is_tried_later),
        TEST(test_a_plan_that_is_not_known_ends),
        TEST(test_order),
        TEST(test_each_group_has_a_turn),
        TEST(test_planning_takes_its_share_of_time),
        TEST(test_no_plan_without_a_wake),
        TEST(test_share),
        TEST(test_a_larger_plan_is_made_alone),
        TEST(test_a_namespace_is_charged),
        TEST(test_a_plan_ends_with_what_its_namespace_may_keep),
        TEST(test_too_many_members_wait),
        TEST(test_an_incomplete_group_is_given_up),
        TEST(test_what_users_see),
        TEST(test_many_groups_of_a_namespace_take_no_turn_of_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
