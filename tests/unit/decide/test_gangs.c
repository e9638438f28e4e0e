/* gangs: what a group's state allows its pods, and the places that a plan keeps for them. */
#include "decide/fit.h"
#include "decide/gang_plan.h"
#include "decide/reserve.h"
#include "fixture.h"
#include "ledger/cluster_copy.h"
#include "ledger/reservation.h"
#include "unit.h"

#include <string.h>

#define GPU "nvidia.com/gpu"
#define KEY "ml/train"
#define NOW 1000

/* n1 and n2 with 8 GPUs each. */
static int setup(void **state)
{
    (void)fixture_setup(state);
    struct fixture *fixture = *state;
    fixture->policy.gangs.mode = GANGS_PLAN;
    fixture_put_node(fixture, "n1", "cpu=64000 pods=100 " GPU "=8", "");
    fixture_put_node(fixture, "n2", "cpu=64000 pods=100 " GPU "=8", "");
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    fixture->policy.topology_levels = NULL;
    fixture->policy.n_topology_levels = 0;
    return fixture_teardown(state);
}

#define GANG_TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

static void put(struct fixture *fixture, const char *uid, int gpus, int64_t size)
{
    struct pod_facts facts = fixture_facts_in_namespace(
        fixture, uid, "", arena_printf(fixture->arena, "cpu=1000 " GPU "=%d", gpus));
    facts.gang = "train";
    facts.gang_size = size;
    fixture_put_pod_facts(fixture, &facts);
}

static void put_four(struct fixture *fixture)
{
    for (int i = 0; i < 4; i++)
        put(fixture, arena_printf(fixture->arena, "ml/%d", i), 4, 4);
}

static struct gang gang(const struct fixture *fixture)
{
    return gangs_find(fixture->cluster, "ml", "train");
}

static enum reason judge(struct fixture *fixture, const char *uid, const char *node)
{
    const struct pod *pod = cluster_find_pod(fixture->cluster, uid);
    const struct fit_question wanted = {.shape = pod->shape,
                                        .scope = FIT_OURS,
                                        .asker = asker_from_pod(pod),
                                        .gang = pod->gang,
                                        .own = cluster_find_reservation(fixture->cluster, uid)};
    const struct fit_question question =
        fit_question_of(fixture->cluster, pod->namespace_, &wanted, NOW, fixture->arena);
    return fit_judge(fixture_find_node(fixture, node), &question);
}

static enum reserve_verdict reserve(struct fixture *fixture, const char *uid, const char *node,
                                    struct reserve_result *ret_result)
{
    const struct reserve_question question = {.uid = uid, .node_name = node, .now_ms = NOW};
    return reserve_room(fixture->cluster, &question, ret_result);
}

static bool avoids_node(const void *context, const char *node)
{
    return context && strcmp(context, node) == 0;
}

static enum gang_choice choose(struct fixture *fixture, const char *avoided,
                               struct gang_plan *ret_plan)
{
    enum gang_choice choice = GANG_NO_ROOM;
    *ret_plan = gang_plan_members(fixture->cluster, KEY, fixture->arena);
    do {
        struct cluster *fork =
            cluster_fork_with(fixture->cluster, ret_plan->has_terms ? PEERS_ALL : PEERS_REPELLING);
        choice = gang_plan_choose(fork, ret_plan, avoids_node, avoided, fixture->arena);
        cluster_fork_free(fork);
    } while (choice != GANG_CHOSEN && ret_plan->has_more);
    return choice;
}

static void plan(struct fixture *fixture)
{
    struct gang_plan plan = {0};
    assert_int_equal(choose(fixture, NULL, &plan), GANG_CHOSEN);
    assert_true(gang_plan_keep(fixture->cluster, &plan, NOW));
    fixture_check(fixture);
}

static const char *place_of(const struct fixture *fixture, const char *uid)
{
    return cluster_find_pod(fixture->cluster, uid)->planned_node;
}

static void put_stranger(struct fixture *fixture, int gpus, int64_t priority)
{
    struct pod_facts facts = fixture_facts_in_namespace(
        fixture, "ml/stranger", "", arena_printf(fixture->arena, GPU "=%d", gpus));
    facts.priority = priority;
    fixture_put_pod_facts(fixture, &facts);
}

static void test_a_group_without_a_plan(void **state)
{
    struct fixture *fixture = *state;
    struct reserve_result result = {0};
    put(fixture, "ml/0", 4, 2);
    assert_int_equal(judge(fixture, "ml/0", "n1"), REASON_GANG_FORMING);
    put(fixture, "ml/1", 4, 2);
    assert_int_equal(judge(fixture, "ml/0", "n1"), REASON_GANG_WAITING);
    assert_int_equal(reserve(fixture, "ml/0", "n1", &result), RESERVE_REFUSED);
    assert_string_equal(result.why, "the group does not fit now");
    put_stranger(fixture, 8, 0);
    assert_int_equal(judge(fixture, "ml/stranger", "n1"), REASON_FITS);
}

static void test_the_greatest_size_counts(void **state)
{
    struct fixture *fixture = *state;
    put(fixture, "ml/0", 4, 1);
    put(fixture, "ml/1", 4, 3);
    assert_int_equal(judge(fixture, "ml/0", "n1"), REASON_GANG_FORMING);
    fixture_remove_pod(fixture, "ml/1");
    assert_int_equal(judge(fixture, "ml/0", "n1"), REASON_GANG_WAITING);
}

static void test_a_plan_keeps_a_place_for_each(void **state)
{
    struct fixture *fixture = *state;
    put_four(fixture);
    plan(fixture);
    assert_int_equal(gang_state_of(&(struct gang){.size = 4, .n_unbound = 4, .n_planned = 4}),
                     GANG_PLANNED);
    assert_int_equal(gang(fixture).n_planned, 4);
    put_stranger(fixture, 1, 0);
    assert_int_equal(judge(fixture, "ml/stranger", "n1"), REASON_GPU_KEPT);
    put_stranger(fixture, 1, 10);
    assert_int_equal(judge(fixture, "ml/stranger", "n1"), REASON_FITS);
    gangs_drop(fixture->cluster, KEY);
    fixture_check(fixture);
    put_stranger(fixture, 8, 0);
    assert_int_equal(judge(fixture, "ml/stranger", "n1"), REASON_FITS);
}

static void test_a_change_of_a_pod_keeps_its_place(void **state)
{
    struct fixture *fixture = *state;
    put_four(fixture);
    plan(fixture);
    struct pod_facts facts = fixture_facts_in_namespace(fixture, "ml/0", "", "cpu=1000 " GPU "=4");
    facts.gang = "train";
    facts.gang_size = 4;
    facts.unscheduled_reason = facts.unscheduled_message = "other";
    fixture_put_pod_facts(fixture, &facts);
    assert_int_equal(gang(fixture).n_planned, 4);
    facts.terminating = true;
    fixture_put_pod_facts(fixture, &facts);
    assert_int_equal(gang(fixture).n_planned, 3);
    put_stranger(fixture, 4, 0);
    const bool fits = judge(fixture, "ml/stranger", "n1") == REASON_FITS ||
                      judge(fixture, "ml/stranger", "n2") == REASON_FITS;
    assert_true(fits);
}

static void test_places_of_equal_pods_are_exchanged(void **state)
{
    struct fixture *fixture = *state;
    struct reserve_result result = {0};
    put_four(fixture);
    plan(fixture);
    const char *mine = place_of(fixture, "ml/0");
    const char *other = strcmp(mine, "n1") == 0 ? "n2" : "n1";
    assert_int_equal(judge(fixture, "ml/0", other), REASON_FITS);
    assert_int_equal(reserve(fixture, "ml/0", other, &result), RESERVE_HELD);
    fixture_check(fixture);
    const struct gang after = gang(fixture);
    assert_int_equal(after.n_bound, 1);
    assert_int_equal(after.n_planned, 3);
    assert_true(gang_plan_holds(fixture->cluster, KEY, NOW));
}

static void test_the_first_is_bound_alone(void **state)
{
    struct fixture *fixture = *state;
    struct reserve_result first = {0};
    struct reserve_result result = {0};
    put_four(fixture);
    plan(fixture);
    const char *node = place_of(fixture, "ml/1");
    assert_int_equal(reserve(fixture, "ml/0", place_of(fixture, "ml/0"), &first), RESERVE_HELD);
    assert_int_equal(reserve(fixture, "ml/1", node, &result), RESERVE_AWAITS_FIRST);
    fixture_put_pod(fixture, "other", "", GPU "=1");
    /* It failed: its place is kept again. */
    reservation_release(fixture->cluster, "ml/0", first.serial);
    assert_int_equal(gang(fixture).n_planned, 4);
    assert_int_equal(reserve(fixture, "ml/1", node, &result), RESERVE_HELD);
    struct pod_facts facts =
        fixture_facts_in_namespace(fixture, "ml/1", node, "cpu=1000 " GPU "=4");
    facts.gang = "train";
    facts.gang_size = 4;
    fixture_put_pod_facts(fixture, &facts);
    assert_int_equal(reserve(fixture, "ml/0", place_of(fixture, "ml/0"), &first), RESERVE_HELD);
    assert_int_equal(reserve(fixture, "ml/2", place_of(fixture, "ml/2"), &first), RESERVE_HELD);
}

static void test_no_pod_without_a_whole_plan(void **state)
{
    struct fixture *fixture = *state;
    struct reserve_result result = {0};
    put_four(fixture);
    plan(fixture);
    const char *node = place_of(fixture, "ml/0");
    fixture_remove_pod(fixture, "ml/3");
    assert_int_equal(judge(fixture, "ml/0", node), REASON_GANG_FORMING);
    assert_int_equal(reserve(fixture, "ml/0", node, &result), RESERVE_REFUSED);
    put(fixture, "ml/4", 4, 4);
    assert_int_equal(judge(fixture, "ml/0", node), REASON_GANG_WAITING);
    gangs_drop(fixture->cluster, KEY);
    plan(fixture);
    assert_int_equal(reserve(fixture, "ml/0", place_of(fixture, "ml/0"), &result), RESERVE_HELD);
}

static void test_no_repeated_binding_without_a_whole_plan(void **state)
{
    struct fixture *fixture = *state;
    struct reserve_result result = {0};
    put_four(fixture);
    plan(fixture);
    const char *node = place_of(fixture, "ml/0");
    assert_int_equal(reserve(fixture, "ml/0", node, &result), RESERVE_HELD);
    assert_int_equal(reserve(fixture, "ml/0", node, &result), RESERVE_HELD);
    fixture_remove_pod(fixture, "ml/3");
    assert_int_equal(reserve(fixture, "ml/0", node, &result), RESERVE_HELD_REFUSED);
    assert_string_equal(result.why, "the group does not fit now");
    gangs_treat(fixture->cluster, KEY, GANG_ORDINARY);
    assert_int_equal(reserve(fixture, "ml/0", node, &result), RESERVE_HELD);
}

static void test_a_plan_that_others_took(void **state)
{
    struct fixture *fixture = *state;
    put_four(fixture);
    plan(fixture);
    assert_true(gang_plan_holds(fixture->cluster, KEY, NOW));
    fixture_put_pod(fixture, "ml/thief", "n1", GPU "=1");
    assert_false(gang_plan_holds(fixture->cluster, KEY, NOW));
    fixture_put_pod(fixture, "ml/thief", "n1", "cpu=63000");
    assert_false(gang_plan_holds(fixture->cluster, KEY, NOW));
    fixture_put_pod(fixture, "ml/thief", "n1", "cpu=1000");
    assert_true(gang_plan_holds(fixture->cluster, KEY, NOW));
}

/* Whatever the node: before it is noticed that the plan has to be made again. */
static void test_no_first_binding_once_others_took_a_place(void **state)
{
    struct fixture *fixture = *state;
    struct reserve_result result = {0};
    put_four(fixture);
    plan(fixture);
    fixture_put_pod(fixture, "ml/thief", "n1", GPU "=1");
    for (int i = 0; i < 4; i++) {
        const char *uid = arena_printf(fixture->arena, "ml/%d", i);
        assert_int_equal(reserve(fixture, uid, place_of(fixture, uid), &result), RESERVE_REFUSED);
    }
    fixture_remove_pod(fixture, "ml/thief");
    assert_int_equal(reserve(fixture, "ml/0", place_of(fixture, "ml/0"), &result), RESERVE_HELD);
    fixture_put_pod(fixture, "ml/thief", "n1", GPU "=1");
    fixture_put_pod(fixture, "ml/another", "n2", GPU "=1");
    assert_int_equal(reserve(fixture, "ml/0", place_of(fixture, "ml/0"), &result),
                     RESERVE_HELD_REFUSED);
}

static void test_a_choice_that_is_late_is_not_kept(void **state)
{
    struct fixture *fixture = *state;
    struct gang_plan plan = {0};
    put_four(fixture);
    assert_int_equal(choose(fixture, NULL, &plan), GANG_CHOSEN);
    fixture_put_pod(fixture, "thief", "n2", GPU "=8");
    assert_false(gang_plan_keep(fixture->cluster, &plan, NOW));
    assert_int_equal(gang(fixture).n_planned, 0);
    fixture_remove_pod(fixture, "thief");
    fixture_remove_pod(fixture, "ml/3");
    assert_false(gang_plan_keep(fixture->cluster, &plan, NOW));
    assert_int_equal(gang(fixture).n_planned, 0);
}

static void test_no_room(void **state)
{
    struct fixture *fixture = *state;
    struct gang_plan plan = {0};
    put_four(fixture);
    assert_int_equal(choose(fixture, "n2", &plan), GANG_NO_ROOM);
    fixture_put_pod(fixture, "other", "n1", GPU "=1");
    assert_int_equal(choose(fixture, NULL, &plan), GANG_NO_ROOM);
    put(fixture, "ml/4", 4, 5);
    assert_int_equal(choose(fixture, NULL, &plan), GANG_NEVER_FITS);
}

static void test_a_running_group_is_as_other_pods(void **state)
{
    struct fixture *fixture = *state;
    struct pod_facts facts = fixture_facts_in_namespace(fixture, "ml/0", "n1", GPU "=4");
    facts.gang = "train";
    facts.gang_size = 4;
    fixture_put_pod_facts(fixture, &facts);
    put(fixture, "ml/1", 4, 4);
    assert_int_equal(judge(fixture, "ml/1", "n1"), REASON_FITS);
    put(fixture, "ml/2", 4, 4);
    put(fixture, "ml/3", 4, 4);
    assert_int_equal(judge(fixture, "ml/1", "n1"), REASON_GANG_WAITING);
    gangs_treat(fixture->cluster, KEY, GANG_ORDINARY);
    assert_int_equal(judge(fixture, "ml/1", "n1"), REASON_FITS);
}

static void test_observing_has_no_effect(void **state)
{
    struct fixture *fixture = *state;
    put(fixture, "ml/0", 4, 2);
    fixture->policy.gangs.mode = GANGS_OBSERVE;
    assert_int_equal(judge(fixture, "ml/0", "n1"), REASON_FITS);
    fixture->policy.gangs.mode = GANGS_PLAN;
    fixture->policy.mode = MODE_OBSERVE;
    assert_int_equal(judge(fixture, "ml/0", "n1"), REASON_FITS);
}

static void test_a_quota_counts_for_the_sum(void **state)
{
    static const char *const NAMES[] = {"ml"};
    static const struct quota_limit LIMITS[] = {{.resource = GPU, .gpus = 12}};
    (void)fixture_setup(state);
    struct fixture *fixture = *state;
    struct gang_plan plan = {0};
    const struct quota quota = {
        .name = "ml", .namespaces = NAMES, .n_namespaces = 1, .limits = LIMITS, .n_limits = 1};
    fixture->policy.gangs.mode = GANGS_PLAN;
    fixture_add_quota(fixture, &quota);
    fixture_put_node(fixture, "n1", "cpu=64000 pods=100 " GPU "=8", "");
    fixture_put_node(fixture, "n2", "cpu=64000 pods=100 " GPU "=8", "");
    put_four(fixture);
    assert_int_equal(choose(fixture, NULL, &plan), GANG_NEVER_FITS);
    assert_string_equal(plan.lacks, "quota ml allows 12 GPUs, and its pods ask for 16");
    for (int i = 0; i < 3; i++)
        put(fixture, arena_printf(fixture->arena, "ml/%d", i), 4, 3);
    fixture_remove_pod(fixture, "ml/3");
    assert_int_equal(choose(fixture, NULL, &plan), GANG_CHOSEN);
    assert_true(gang_plan_keep(fixture->cluster, &plan, NOW));
    put_stranger(fixture, 1, 0);
    assert_int_equal(judge(fixture, "ml/stranger", "n1"), REASON_QUOTA);
}

static void test_two_kinds_that_never_fit_together(void **state)
{
    (void)fixture_setup(state);
    struct fixture *fixture = *state;
    struct gang_plan plan = {0};
    fixture->policy.gangs.mode = GANGS_PLAN;
    fixture_put_node(fixture, "n1", "cpu=64000 pods=100 " GPU "=8", "");
    put(fixture, "ml/0", 3, 2);
    put(fixture, "ml/1", 6, 2);
    assert_int_equal(choose(fixture, NULL, &plan), GANG_NEVER_FITS);
    assert_string_equal(plan.lacks, "its pods ask for 9 GPUs, and their nodes have 8");
    put(fixture, "ml/1", 5, 2);
    fixture_put_pod(fixture, "ml/other", "n1", GPU "=1");
    assert_int_equal(choose(fixture, NULL, &plan), GANG_NO_ROOM);
}

/* ---- domains ---- */

static char *LEVELS[] = {(char[]){"example.com/rack"}};

/* Nodes of 8 GPUs: r1 has two, r2 three, r3 one. */
static void put_racks(struct fixture *fixture)
{
    static const char *const RACKS[] = {"r1", "r1", "r2", "r2", "r2", "r3"};
    fixture->policy.topology_levels = LEVELS;
    fixture->policy.n_topology_levels = 1;
    for (size_t i = 0; i < sizeof RACKS / sizeof *RACKS; i++)
        fixture_put_node(fixture, arena_printf(fixture->arena, "%s-%zu", RACKS[i], i),
                         "cpu=64000 pods=100 " GPU "=8",
                         arena_printf(fixture->arena, "example.com/rack=%s", RACKS[i]));
}

static void put_member(struct fixture *fixture, const char *uid, int gpus, int64_t size,
                       const char *domain, const char *node)
{
    struct pod_facts facts = fixture_facts_in_namespace(
        fixture, uid, node, arena_printf(fixture->arena, "cpu=1000 " GPU "=%d", gpus));
    facts.gang = "train";
    facts.gang_size = size;
    facts.domain = domain;
    fixture_put_pod_facts(fixture, &facts);
}

static void put_members(struct fixture *fixture, int n, int gpus, const char *domain)
{
    for (int i = 0; i < n; i++)
        put_member(fixture, arena_printf(fixture->arena, "ml/%d", i), gpus, n, domain, "");
}

/* The racks of the plan, each once and sorted: "r1 r2"; else what the group lacks, or "never". */
static const char *racks(struct fixture *fixture)
{
    struct arena *arena = fixture->arena;
    struct gang_plan plan = {0};
    bool used[4] = {false};
    const char *text = "";
    const enum gang_choice choice = choose(fixture, NULL, &plan);
    for (size_t i = 0; i < plan.n && choice == GANG_CHOSEN; i++)
        used[plan.members[i].node[0] == 'r' ? plan.members[i].node[1] - '0' : 0] = true;
    for (size_t i = 0; i < 4; i++)
        text = used[i] ? arena_printf(arena, "%s%sr%zu", text, *text ? " " : "", i) : text;
    if (choice == GANG_NEVER_FITS)
        return arena_printf(arena, "never: %s", plan.lacks ? plan.lacks : "");
    return choice == GANG_CHOSEN ? text : plan.lacks;
}

static void test_one_domain_for_all(void **state)
{
    struct fixture *fixture = *state;
    put_racks(fixture);
    put_members(fixture, 2, 8, "require rack");
    assert_string_equal(racks(fixture), "r1"); /* the best fit */
    put_members(fixture, 3, 8, "require rack");
    assert_string_equal(racks(fixture), "r2");
    fixture_put_pod(fixture, "other", "r2-3", GPU "=1");
    assert_string_equal(racks(fixture),
                        "no rack has room for 3 pods of 8 GPUs; r2, with 23 free, fits 2");
    put_members(fixture, 4, 8, "require rack");
    assert_string_equal(racks(fixture),
                        "never: no rack has room for 4 pods of 8 GPUs; r2, with 23 free, fits 2");
}

static void test_the_fewest_domains(void **state)
{
    struct fixture *fixture = *state;
    put_racks(fixture);
    put_members(fixture, 4, 8, "prefer rack");
    assert_string_equal(racks(fixture), "r2 r3");
    put_members(fixture, 5, 8, "prefer rack");
    assert_string_equal(racks(fixture), "r1 r2");
    put_members(fixture, 6, 8, "prefer rack");
    assert_string_equal(racks(fixture), "r1 r2 r3");
}

/* Each of the two has room in every rack, and no rack has room for both. */
static void test_the_domains_that_are_tried_are_few(void **state)
{
    struct fixture *fixture = *state;
    struct gang_plan plan = {0};
    fixture->policy.topology_levels = LEVELS;
    fixture->policy.n_topology_levels = 1;
    fixture_remove_node(fixture, "n1");
    fixture_remove_node(fixture, "n2");
    for (size_t i = 0; i < GANG_TRIES_MAX + 2; i++)
        fixture_put_node(fixture, arena_printf(fixture->arena, "node-%zu", i),
                         "cpu=64000 pods=100 " GPU "=8",
                         arena_printf(fixture->arena, "example.com/rack=r%zu", i));
    put_member(fixture, "ml/0", 8, 2, "prefer rack", "");
    put_member(fixture, "ml/1", 7, 2, NULL, "");
    assert_int_equal(choose(fixture, NULL, &plan), GANG_CHOSEN);
    assert_int_equal(plan.n_tried, GANG_TRIES_MAX);
}

static void test_the_policys_domain(void **state)
{
    struct fixture *fixture = *state;
    put_racks(fixture);
    put_members(fixture, 3, 8, NULL);
    fixture->policy.gangs.domain = "require rack";
    assert_string_equal(racks(fixture), "r2");
    put_member(fixture, "ml/1", 8, 3, "prefer rack", "");
    fixture_put_pod(fixture, "other", "r2-3", GPU "=1");
    assert_string_equal(racks(fixture), "r1 r3"); /* the pod's goes first */
}

/* Each alone would have room in r1. */
static void test_members_that_differ(void **state)
{
    struct fixture *fixture = *state;
    put_racks(fixture);
    put_member(fixture, "ml/0", 8, 3, "require rack", "");
    put_member(fixture, "ml/1", 6, 3, NULL, "");
    put_member(fixture, "ml/2", 4, 3, NULL, "");
    assert_string_equal(racks(fixture), "r2");
    fixture_put_pod(fixture, "other", "r2-3", GPU "=1");
    fixture_put_pod(fixture, "more", "r2-4", GPU "=1");
    fixture_put_pod(fixture, "most", "r2-2", GPU "=1");
    assert_string_equal(racks(fixture), "no rack has room for all of its pods");
}

static void test_bound_members_fix_the_domain(void **state)
{
    struct fixture *fixture = *state;
    put_racks(fixture);
    put_members(fixture, 3, 8, "require rack");
    put_member(fixture, "ml/0", 8, 3, "require rack", "r2-3");
    assert_string_equal(racks(fixture), "r2"); /* not r1, the best fit for the other two */
    put_member(fixture, "ml/0", 8, 3, "require rack", "r1-0");
    assert_string_equal(racks(fixture),
                        "the rack of its bound pods has no room for the other 2 pods of 8 GPUs");
}

static void test_a_plan_whose_nodes_leave_the_domain(void **state)
{
    struct fixture *fixture = *state;
    put_racks(fixture);
    put_members(fixture, 2, 8, "require rack");
    plan(fixture);
    assert_true(gang_plan_holds(fixture->cluster, KEY, NOW));
    gangs_place(fixture->cluster, "ml/0", "r1-0", 1);
    gangs_place(fixture->cluster, "ml/1", "r2-2", 1);
    assert_false(gang_plan_holds(fixture->cluster, KEY, NOW));
}

static void test_a_replacement_goes_to_the_domain_of_the_others(void **state)
{
    struct fixture *fixture = *state;
    put_racks(fixture);
    put_member(fixture, "ml/0", 8, 2, "require rack", "r2-2");
    put_member(fixture, "ml/1", 8, 2, "require rack", "r2-3");
    put_member(fixture, "ml/2", 8, 2, "require rack", "");
    assert_int_equal(judge(fixture, "ml/2", "r2-4"), REASON_FITS);
    assert_int_equal(judge(fixture, "ml/2", "r1-0"), REASON_GANG_PLACE);
    fixture_remove_pod(fixture, "ml/1");
    fixture->policy.gangs.domain = "require rack";
    put_member(fixture, "ml/0", 8, 2, NULL, "r2-2");
    put_member(fixture, "ml/2", 8, 1, NULL, "");
    put_member(fixture, "ml/0", 8, 1, NULL, "r2-2");
    assert_int_equal(judge(fixture, "ml/2", "r1-0"), REASON_GANG_PLACE);
    put_member(fixture, "ml/2", 8, 1, "prefer rack", "");
    assert_int_equal(judge(fixture, "ml/2", "r1-0"), REASON_FITS);
    put_member(fixture, "ml/2", 8, 1, "require rack", "");
    put_member(fixture, "ml/0", 8, 1, NULL, "n1"); /* in no rack */
    assert_int_equal(judge(fixture, "ml/2", "r1-0"), REASON_FITS);
}

/* ---- kinds of pods ---- */

/* A pod with the label role, or without; and with anti-affinity against pods of another role. */
static struct pod_facts with_role(struct fixture *fixture, const char *uid, const char *role,
                                  const char *repels)
{
    struct pod_facts facts = fixture_facts_in_namespace(fixture, uid, "", "cpu=1000 " GPU "=1");
    struct label *label = ARENA_NEW(fixture->arena, struct label);
    struct peer_term *term = ARENA_NEW(fixture->arena, struct peer_term);
    *label = (struct label){"role", role};
    facts.peers.labels = label;
    facts.peers.n_labels = role ? 1 : 0;
    if (!repels)
        return facts;
    *term = (struct peer_term){
        .topology_key = "host",
        .selector = fixture_term(fixture, arena_printf(fixture->arena, "role In %s", repels))};
    facts.peers.anti_affinity = term;
    facts.peers.n_anti_affinity = 1;
    return facts;
}

static void put_with_role(struct fixture *fixture, const char *uid, const char *role,
                          const char *repels)
{
    struct pod_facts facts = with_role(fixture, uid, role, repels);
    facts.gang = "train";
    facts.gang_size = 2;
    fixture_put_pod_facts(fixture, &facts);
}

static void put_running(struct fixture *fixture, const char *node, const char *role,
                        const char *repels)
{
    struct pod_facts facts =
        with_role(fixture, arena_printf(fixture->arena, "ml/on-%s", node), role, repels);
    facts.node_name = node;
    fixture_put_pod_facts(fixture, &facts);
}

static void put_hosts(struct fixture *fixture)
{
    fixture_put_node(fixture, "n1", "cpu=64000 pods=100 " GPU "=8", "host=n1");
    fixture_put_node(fixture, "n2", "cpu=64000 pods=100 " GPU "=8", "host=n2");
}

static const char *chosen_for(struct fixture *fixture, const char *uid)
{
    struct gang_plan plan = {0};
    assert_int_equal(choose(fixture, NULL, &plan), GANG_CHOSEN);
    for (size_t i = 0; i < plan.n; i++) {
        if (strcmp(plan.members[i].uid, uid) == 0)
            return plan.members[i].node;
    }
    return "";
}

static void test_members_with_other_terms(void **state)
{
    struct fixture *fixture = *state;
    put_hosts(fixture);
    put_running(fixture, "n1", "web", NULL);
    put_running(fixture, "n2", "db", NULL);
    put_with_role(fixture, "ml/0", NULL, "web");
    put_with_role(fixture, "ml/1", NULL, "db");
    assert_string_equal(chosen_for(fixture, "ml/0"), "n2");
    assert_string_equal(chosen_for(fixture, "ml/1"), "n1");
}

static void test_members_with_other_labels(void **state)
{
    struct fixture *fixture = *state;
    put_hosts(fixture);
    put_running(fixture, "n1", "web", "server");
    put_running(fixture, "n2", "web", "worker");
    put_with_role(fixture, "ml/0", "worker", NULL);
    put_with_role(fixture, "ml/1", "server", NULL);
    assert_string_equal(chosen_for(fixture, "ml/0"), "n1");
    assert_string_equal(chosen_for(fixture, "ml/1"), "n2");
}

/* The one that needs more is planned first, whatever their order. */
static void test_terms_stay_with_their_member(void **state)
{
    struct fixture *fixture = *state;
    put_hosts(fixture);
    put_running(fixture, "n1", "web", NULL);
    put_with_role(fixture, "ml/0", NULL, "web");
    put(fixture, "ml/1", 2, 2);
    assert_string_equal(chosen_for(fixture, "ml/0"), "n2");
}

static void put_many(struct fixture *fixture, int n, bool differ)
{
    fixture_put_node(fixture, "large", "cpu=6400000 pods=100 " GPU "=100", "");
    for (int i = 0; i < n; i++) {
        const int cpu = 1000 + (differ ? i : 0);
        struct pod_facts facts =
            fixture_facts_in_namespace(fixture, arena_printf(fixture->arena, "ml/%d", i), "",
                                       arena_printf(fixture->arena, "cpu=%d " GPU "=1", cpu));
        const struct label label = {"index", arena_printf(fixture->arena, "%d", i)};
        facts.gang = "train";
        facts.gang_size = n;
        facts.peers.labels = &label;
        facts.peers.n_labels = 1;
        fixture_put_pod_facts(fixture, &facts);
    }
}

static void test_too_many_kinds(void **state)
{
    struct fixture *fixture = *state;
    struct gang_plan plan = {0};
    put_many(fixture, GANG_KINDS_MAX, true);
    assert_int_equal(choose(fixture, NULL, &plan), GANG_CHOSEN);
    put_many(fixture, GANG_KINDS_MAX + 1, true);
    assert_int_equal(choose(fixture, NULL, &plan), GANG_NEVER_FITS);
    assert_string_equal(plan.lacks, "its pods are of more than 64 kinds");
}

static void test_a_large_cluster_allows_fewer_kinds(void **state)
{
    struct fixture *fixture = *state;
    struct gang_plan plan = {0};
    put_many(fixture, GANG_KINDS_MAX, true);
    for (size_t i = 0; i < GANG_JUDGED_MAX / GANG_KINDS_MAX; i++) {
        const struct node_facts facts =
            fixture_node_facts(fixture, arena_printf(fixture->arena, "other-%zu", i), "cpu=1", "");
        cluster_upsert_node(fixture->cluster, &facts);
    }
    assert_int_equal(choose(fixture, NULL, &plan), GANG_NEVER_FITS);
    assert_string_equal(plan.lacks, "its pods are of more than 63 kinds");
}

static void test_labels_that_nobody_asks_for_make_no_kinds(void **state)
{
    struct fixture *fixture = *state;
    struct gang_plan plan = {0};
    put_many(fixture, GANG_KINDS_MAX + 1, false);
    assert_int_equal(choose(fixture, NULL, &plan), GANG_CHOSEN);
    for (size_t i = 0; i < plan.n; i++)
        assert_int_equal(plan.members[i].kind, 0);
}

/* Of seven pods four are planned; two have room on a node. */
static void test_neighbours_by_index_are_near_each_other(void **state)
{
    struct fixture *fixture = *state;
    static const char *const INDEXES[] = {"3", "10", "2", "1", "12", "11", "0"};
    struct gang_plan plan = {0};
    for (size_t i = 0; i < 7; i++) {
        struct pod_facts facts = fixture_facts_in_namespace(
            fixture, arena_printf(fixture->arena, "ml/%zu", i), "", "cpu=1000 " GPU "=4");
        const struct label label = {"batch.kubernetes.io/job-completion-index", INDEXES[i]};
        facts.gang = "train";
        facts.gang_size = 4;
        facts.peers.labels = &label;
        facts.peers.n_labels = 1;
        fixture_put_pod_facts(fixture, &facts);
    }
    fixture->policy.placement = PLACEMENT_SPREAD;
    assert_int_equal(choose(fixture, NULL, &plan), GANG_CHOSEN);
    assert_int_equal(plan.n, 4);
    for (size_t i = 0; i < plan.n; i++) {
        static const char *const UIDS[] = {"ml/6", "ml/3", "ml/2", "ml/0"};
        assert_string_equal(plan.members[i].uid, UIDS[i]);
        assert_string_equal(plan.members[i].node, i < 2 ? "n1" : "n2");
    }
}

static void test_groups_that_are_never_planned(void **state)
{
    struct fixture *fixture = *state;
    struct gang_plan plan = {0};
    put_four(fixture);
    struct pod_facts facts = fixture_facts_in_namespace(fixture, "ml/3", "", "cpu=1000 " GPU "=4");
    facts.gang = "train";
    facts.gang_size = 4;
    facts.scheduler = "other";
    fixture_put_pod_facts(fixture, &facts);
    assert_int_equal(choose(fixture, NULL, &plan), GANG_NEVER_FITS);
    assert_string_equal(plan.lacks, "its pods have two schedulers");
    facts.scheduler = NULL;
    facts.claims = "one";
    fixture_put_pod_facts(fixture, &facts);
    assert_int_equal(choose(fixture, NULL, &plan), GANG_NEVER_FITS);
    assert_string_equal(plan.lacks, "its pods have resource claims, for which no places are kept");
    put(fixture, "ml/3", 4, 4);
    assert_int_equal(choose(fixture, NULL, &plan), GANG_CHOSEN);
}

/* A reload makes a copy: a group that was given up is still placed as any other pods. */
static void test_a_copy_keeps_the_treatment(void **state)
{
    struct fixture *fixture = *state;
    put(fixture, "ml/0", 4, 4);
    gangs_treat(fixture->cluster, KEY, GANG_ORDINARY);
    struct cluster_copy *copying = cluster_copy_new(fixture->cluster, &fixture->policy);
    while (!cluster_copy_some(copying, 1)) {
    }
    struct cluster *copy = cluster_copy_end(copying);
    const enum gang_treatment treatment = gangs_find(copy, "ml", "train").treatment;
    cluster_free(copy);
    assert_int_equal(treatment, GANG_ORDINARY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        GANG_TEST(test_a_group_without_a_plan),
        GANG_TEST(test_the_greatest_size_counts),
        GANG_TEST(test_a_plan_keeps_a_place_for_each),
        GANG_TEST(test_a_change_of_a_pod_keeps_its_place),
        GANG_TEST(test_places_of_equal_pods_are_exchanged),
        GANG_TEST(test_the_first_is_bound_alone),
        GANG_TEST(test_no_pod_without_a_whole_plan),
        GANG_TEST(test_no_repeated_binding_without_a_whole_plan),
        GANG_TEST(test_a_plan_that_others_took),
        GANG_TEST(test_no_first_binding_once_others_took_a_place),
        GANG_TEST(test_a_choice_that_is_late_is_not_kept),
        GANG_TEST(test_no_room),
        GANG_TEST(test_a_running_group_is_as_other_pods),
        GANG_TEST(test_observing_has_no_effect),
        cmocka_unit_test_teardown(test_a_quota_counts_for_the_sum, fixture_teardown),
        cmocka_unit_test_teardown(test_two_kinds_that_never_fit_together, fixture_teardown),
        GANG_TEST(test_one_domain_for_all),
        GANG_TEST(test_the_fewest_domains),
        GANG_TEST(test_the_domains_that_are_tried_are_few),
        GANG_TEST(test_the_policys_domain),
        GANG_TEST(test_members_that_differ),
        GANG_TEST(test_bound_members_fix_the_domain),
        GANG_TEST(test_a_plan_whose_nodes_leave_the_domain),
        GANG_TEST(test_a_replacement_goes_to_the_domain_of_the_others),
        GANG_TEST(test_members_with_other_terms),
        GANG_TEST(test_members_with_other_labels),
        GANG_TEST(test_terms_stay_with_their_member),
        GANG_TEST(test_too_many_kinds),
        GANG_TEST(test_groups_that_are_never_planned),
        GANG_TEST(test_neighbours_by_index_are_near_each_other),
        GANG_TEST(test_a_large_cluster_allows_fewer_kinds),
        GANG_TEST(test_a_copy_keeps_the_treatment),
        GANG_TEST(test_labels_that_nobody_asks_for_make_no_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
