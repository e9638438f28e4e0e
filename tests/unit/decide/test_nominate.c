/* Nominations: the room they keep, the pods they exclude, and how they begin and end. */
#include "decide/what_if.h"
#include "fixture_question.h"
#include "ledger/nominate.h"
#include "unit.h"

#include <string.h>

#define GPU "nvidia.com/gpu"

/* A waiting pod of priority 10 with 6 GPUs, nominated to n1. */
static struct pod_facts promised(struct fixture *fixture)
{
    struct pod_facts facts = fixture_pod_facts(fixture, "p", "", GPU "=6");
    facts.nominated_node = "n1";
    facts.priority = 10;
    facts.created_s = 100;
    return facts;
}

static const char *verdict_of(struct fixture *fixture, const char *node, const char *demand,
                              const struct asker *asker)
{
    const struct shape_facts facts = fixture_shape_facts(fixture, demand);
    struct fit_question question = fixture_question(fixture, &facts);
    question.asker = *asker;
    const enum reason all = fit_judge(fixture_find_node(fixture, node), &question);
    question.scope = FIT_OURS;
    assert_int_equal(fit_judge(fixture_find_node(fixture, node), &question), all);
    return reason_name(all);
}

/* The verdict on n1 for an unknown pod of priority 10. */
static void check(struct fixture *fixture, const char *demand, const char *verdict)
{
    const struct asker asker = {.priority = 10};
    assert_string_equal(verdict_of(fixture, "n1", demand, &asker), verdict);
}

#define ALL_FREE "fits"
#define KEPT "gpu_nominated"

/* Nothing is kept on n1, or (from the start) on n2. */
static void check_kept(struct fixture *fixture, bool is_kept)
{
    check(fixture, GPU "=3", is_kept ? KEPT : ALL_FREE);
    check(fixture, GPU "=2", ALL_FREE);
}

static const struct row {
    const char *what;
    struct asker asker;
    const char *verdict;
} ROWS[] = {
    {"of no priority, nobody's", {.priority = 0}, KEPT},
    {"a little lower", {.uid = "q", .priority = 9, .created_s = 50, .nominated_node = ""}, KEPT},
    {"as high", {.uid = "q", .priority = 10, .created_s = 50, .nominated_node = ""}, KEPT},
    {"as high, promised elsewhere",
     {.uid = "q", .priority = 10, .created_s = 50, .nominated_node = "n2"},
     KEPT},
    {"higher", {.uid = "q", .priority = 11, .created_s = 500, .nominated_node = ""}, ALL_FREE},
    {"negative", {.uid = "q", .priority = -5, .created_s = 50, .nominated_node = "n1"}, KEPT},
    {"the pod itself",
     {.uid = "p", .priority = 10, .created_s = 100, .nominated_node = "n1"},
     ALL_FREE},
    {"the pod itself, as it is read now",
     {.uid = "p", .priority = 0, .created_s = 0, .nominated_node = ""},
     ALL_FREE},
    {"of two that were promised it, the older",
     {.uid = "q", .priority = 10, .created_s = 99, .nominated_node = "n1"},
     ALL_FREE},
    {"of two that were promised it, the younger",
     {.uid = "q", .priority = 10, .created_s = 101, .nominated_node = "n1"},
     KEPT},
    {"equally old, the lower UID",
     {.uid = "o", .priority = 10, .created_s = 100, .nominated_node = "n1"},
     ALL_FREE},
    {"equally old, the higher UID",
     {.uid = "q", .priority = 10, .created_s = 100, .nominated_node = "n1"},
     KEPT},
    {"promised it at a lower priority",
     {.uid = "o", .priority = 9, .created_s = 1, .nominated_node = "n1"},
     KEPT},
    {"promised it at a higher priority",
     {.uid = "q", .priority = 11, .created_s = 999, .nominated_node = "n1"},
     ALL_FREE},
};

static void test_room_is_kept_from_pods_of_no_higher_priority(void **state)
{
    struct fixture *fixture = fixture_two_nodes(state);
    const struct pod_facts facts = promised(fixture);
    fixture_put_pod_facts(fixture, &facts);
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        const char *verdict = verdict_of(fixture, "n1", GPU "=3", &ROWS[i].asker);
        if (strcmp(verdict, ROWS[i].verdict) != 0)
            fail_msg("%s: %s, should be %s", ROWS[i].what, verdict, ROWS[i].verdict);
        assert_string_equal(verdict_of(fixture, "n1", GPU "=2", &ROWS[i].asker), "fits");
        assert_string_equal(verdict_of(fixture, "n2", GPU "=8", &ROWS[i].asker), "fits");
    }
}

/* Two nominations exceed the room: one fits, so they never block each other for ever. */
static void test_one_of_several_nominated_pods_always_fits(void **state)
{
    struct fixture *fixture = fixture_two_nodes(state);
    struct pod_facts facts[3] = {promised(fixture), promised(fixture), promised(fixture)};
    facts[1].uid = facts[1].name = "q";
    facts[2].uid = facts[2].name = "r";
    facts[2].created_s = 5;
    for (size_t i = 0; i < 3; i++)
        fixture_put_pod_facts(fixture, &facts[i]);
    struct reserve_result result;
    assert_int_equal(fixture_reserve(fixture, "p", "n1", &result), RESERVE_REFUSED);
    assert_int_equal(result.reason, REASON_GPU_NOMINATED);
    assert_int_equal(fixture_reserve(fixture, "q", "n1", &result), RESERVE_REFUSED);
    fixture_must_reserve(fixture, "r", "n1");
    fixture_remove_pod(fixture, "r");
    assert_int_equal(fixture_reserve(fixture, "q", "n1", &result), RESERVE_REFUSED);
    fixture_must_reserve(fixture, "p", "n1");
}

static void test_several_nominations_add_up(void **state)
{
    struct fixture *fixture = fixture_two_nodes(state);
    struct pod_facts facts = promised(fixture);
    facts.shape = fixture_shape_facts(fixture, GPU "=3");
    fixture_put_pod_facts(fixture, &facts);
    facts.uid = facts.name = "q";
    facts.priority = 20;
    fixture_put_pod_facts(fixture, &facts);
    check(fixture, GPU "=2", "fits");
    check(fixture, GPU "=3", KEPT);
    const struct asker between = {.priority = 15};
    assert_string_equal(verdict_of(fixture, "n1", GPU "=5", &between), "fits");
    assert_string_equal(verdict_of(fixture, "n1", GPU "=6", &between), KEPT);
    facts.uid = facts.name = "r";
    facts.shape = fixture_shape_facts(fixture, GPU "=max");
    fixture_put_pod_facts(fixture, &facts);
    check(fixture, GPU "=1", KEPT);
}

/* "Too few free" stays the reason, whatever is kept. */
static void test_missing_room_keeps_its_own_reason(void **state)
{
    struct fixture *fixture = fixture_two_nodes(state);
    const struct pod_facts facts = promised(fixture);
    fixture_put_pod_facts(fixture, &facts);
    fixture_put_pod(fixture, "x", "n1", GPU "=6");
    check(fixture, GPU "=3", "gpu_free");
    check(fixture, GPU "=2", KEPT);
    check(fixture, GPU "=9", "gpu_total");
}

static void test_scope_all_keeps_other_resources_too(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "pods=9 cpu=1000 " GPU "=8", "");
    struct pod_facts facts = promised(fixture);
    facts.shape = fixture_shape_facts(fixture, "cpu=600 " GPU "=1");
    fixture_put_pod_facts(fixture, &facts);
    const struct shape_facts asked = fixture_shape_facts(fixture, "cpu=500 " GPU "=1");
    struct fit_question question = fixture_question(fixture, &asked);
    assert_int_equal(fit_judge(fixture_find_node(fixture, "n1"), &question), REASON_CPU);
    assert_int_equal(
        fit_lack(fixture_find_node(fixture, "n1"), &question, &question.shape->needs[1]), 100);
    assert_int_equal(fit_count(fixture_find_node(fixture, "n1"), &question), 0);
    question.scope = FIT_OURS;
    assert_int_equal(fit_judge(fixture_find_node(fixture, "n1"), &question), REASON_FITS);
    assert_int_equal(fit_count(fixture_find_node(fixture, "n1"), &question), 7);
    question.asker.priority = 11;
    assert_int_equal(fit_count(fixture_find_node(fixture, "n1"), &question), 8);
}

/* How a nomination ends, and pods without one. */

static void change_and_check(struct fixture *fixture, const struct pod_facts *facts, bool is_kept)
{
    const uint64_t version = cluster_version(fixture->cluster);
    fixture_put_pod_facts(fixture, facts);
    assert_true(cluster_version(fixture->cluster) > version);
    check_kept(fixture, is_kept);
}

static void test_a_nomination_ends_with_the_field(void **state)
{
    struct fixture *fixture = fixture_two_nodes(state);
    struct pod_facts facts = promised(fixture);
    change_and_check(fixture, &facts, true);
    facts.nominated_node = "";
    change_and_check(fixture, &facts, false);
    facts.nominated_node = "n1";
    change_and_check(fixture, &facts, true);
    facts.nominated_node = "n2";
    change_and_check(fixture, &facts, false);
    const struct asker asker = {.priority = 10};
    assert_string_equal(verdict_of(fixture, "n2", GPU "=3", &asker), KEPT);
}

static void test_a_nomination_ends_when_the_pod_changes_state(void **state)
{
    struct fixture *fixture = fixture_two_nodes(state);
    for (int i = 0; i < 6; i++) {
        struct pod_facts facts = promised(fixture);
        change_and_check(fixture, &facts, true);
        facts.finished = i == 0;
        facts.terminating = i == 1;
        facts.gated = i == 2;
        facts.refusal = i == 3 ? "half a GPU" : NULL;
        facts.node_name = i == 4 ? "n2" : "";
        if (i == 5)
            fixture_remove_pod(fixture, "p");
        else
            change_and_check(fixture, &facts, false);
        check_kept(fixture, false);
        fixture_remove_pod(fixture, "p");
    }
}

/* A bound pod's use counts, and nothing is kept any more. */
static void test_a_bound_pod_counts_once(void **state)
{
    struct fixture *fixture = fixture_two_nodes(state);
    struct pod_facts facts = promised(fixture);
    fixture_put_pod_facts(fixture, &facts);
    facts.node_name = "n1";
    fixture_put_pod_facts(fixture, &facts);
    check(fixture, GPU "=2", "fits");
    check(fixture, GPU "=3", "gpu_free");
}

static void test_a_reservation_replaces_the_nomination(void **state)
{
    struct fixture *fixture = fixture_two_nodes(state);
    const struct pod_facts facts = promised(fixture);
    struct reserve_result result;
    fixture_put_pod_facts(fixture, &facts);
    assert_int_equal(fixture_reserve(fixture, "p", "n1", &result), RESERVE_HELD);
    check(fixture, GPU "=2", "fits");
    check(fixture, GPU "=3", "gpu_free");
    reservation_release(fixture->cluster, "p", result.serial);
    check_kept(fixture, true);
    assert_int_equal(fixture_reserve(fixture, "p", "n2", &result), RESERVE_HELD);
    check_kept(fixture, false);
    reservation_release(fixture->cluster, "p", result.serial);
    check_kept(fixture, true);
}

static void test_other_pods_cannot_reserve_kept_room(void **state)
{
    struct fixture *fixture = fixture_two_nodes(state);
    struct pod_facts facts = promised(fixture);
    struct reserve_result result;
    fixture_put_pod_facts(fixture, &facts);
    facts = fixture_pod_facts(fixture, "q", "", GPU "=3");
    facts.priority = 10;
    fixture_put_pod_facts(fixture, &facts);
    assert_int_equal(fixture_reserve(fixture, "q", "n1", &result), RESERVE_REFUSED);
    assert_int_equal(result.reason, REASON_GPU_NOMINATED);
    fixture_must_reserve(fixture, "q", "n2");
    /* A pod unknown to the ledger, from a GET. */
    struct pod_facts unseen = fixture_pod_facts(fixture, "r", "", GPU "=3");
    const struct reserve_question question = {.uid = "r", .node_name = "n1", .facts = &unseen};
    assert_int_equal(reserve_room(fixture->cluster, &question, &result), RESERVE_REFUSED);
    unseen.priority = 11;
    assert_int_equal(reserve_room(fixture->cluster, &question, &result), RESERVE_HELD);
}

static void test_a_later_node_has_its_nominations(void **state)
{
    struct fixture *fixture = *state;
    const struct pod_facts facts = promised(fixture);
    fixture_put_pod_facts(fixture, &facts);
    assert_null(cluster_find_node(fixture->cluster, "n1"));
    fixture_put_node(fixture, "n1", GPU "=8 pods=9", "");
    check_kept(fixture, true);
    fixture_remove_node(fixture, "n1");
    fixture_put_node(fixture, "n1", GPU "=8 pods=9", "");
    check_kept(fixture, true);
}

static void test_a_fork_gives_the_same_verdicts(void **state)
{
    struct fixture *fixture = fixture_two_nodes(state);
    const struct pod_facts facts = promised(fixture);
    fixture_put_pod_facts(fixture, &facts);
    struct cluster *fork = cluster_fork(fixture->cluster);
    fixture_remove_pod(fixture, "p"); /* the fork keeps its state */
    const struct shape_facts asked = fixture_shape_facts(fixture, GPU "=3");
    struct fit_question question = {.shape = cluster_resolve(fork, &asked, fixture->arena),
                                    .scope = FIT_ALL,
                                    .asker = {.priority = 10}};
    const struct node *n1 = cluster_find_node(fork, "n1");
    assert_int_equal(fit_judge(n1, &question), REASON_GPU_NOMINATED);
    assert_int_equal(what_if_more(fork, &question).n, 2); /* both on n2 */
    question.asker.priority = 11;
    assert_int_equal(fit_judge(n1, &question), REASON_FITS);
    assert_int_equal(what_if_more(fork, &question).n, 4);
    cluster_fork_free(fork);
}

/* Where victims still terminate. */

static bool is_being_made(struct fixture *fixture, const char *node, const char *demand)
{
    const struct shape_facts facts = fixture_shape_facts(fixture, demand);
    const struct asker asker = {
        .uid = "p", .priority = 10, .created_s = 100, .nominated_node = "n1"};
    return nominate_is_being_made(fixture_find_node(fixture, node), &asker,
                                  fixture_resolve(fixture, &facts));
}

static void test_terminating_victims_count_as_room_in_progress(void **state)
{
    struct fixture *fixture = fixture_two_nodes(state);
    struct pod_facts victim = fixture_pod_facts(fixture, "v", "n1", GPU "=4");
    victim.priority = 9;
    fixture_put_pod_facts(fixture, &victim);
    assert_false(is_being_made(fixture, "n1", GPU "=6"));
    victim.terminating = true;
    fixture_put_pod_facts(fixture, &victim);
    assert_true(is_being_made(fixture, "n1", GPU "=6"));
    assert_false(is_being_made(fixture, "n1", "amd.com/gpu=6")); /* not its GPUs */
    assert_false(is_being_made(fixture, "n1", "cpu=1"));
    victim.priority = 10; /* not evicted for this pod */
    fixture_put_pod_facts(fixture, &victim);
    assert_false(is_being_made(fixture, "n1", GPU "=6"));
    victim.priority = 9;
    victim.node_name = "n2"; /* no nomination there */
    fixture_put_pod_facts(fixture, &victim);
    assert_false(is_being_made(fixture, "n1", GPU "=6"));
    assert_false(is_being_made(fixture, "n2", GPU "=6"));
}

/* kube-scheduler does not check what the victims use. */
static void test_victims_have_a_lower_priority(void **state)
{
    struct fixture *fixture = fixture_two_nodes(state);
    const struct asker asker = {
        .uid = "p", .priority = 10, .created_s = 100, .nominated_node = "n1"};
    struct pod_facts victim = fixture_pod_facts(fixture, "v", "n1", "cpu=1");
    victim.priority = 9;
    fixture_put_pod_facts(fixture, &victim);
    assert_false(nominate_has_victims(fixture_find_node(fixture, "n1"), &asker));
    victim.terminating = true;
    fixture_put_pod_facts(fixture, &victim);
    assert_true(nominate_has_victims(fixture_find_node(fixture, "n1"), &asker));
    assert_false(nominate_has_victims(fixture_find_node(fixture, "n2"), &asker));
    victim.priority = 10;
    fixture_put_pod_facts(fixture, &victim);
    assert_false(nominate_has_victims(fixture_find_node(fixture, "n1"), &asker));
}

static const char *blocker_of(struct fixture *fixture, int64_t priority, const char *demand)
{
    const struct shape_facts facts = fixture_shape_facts(fixture, demand);
    const struct asker asker = {
        .uid = "q", .priority = priority, .created_s = 500, .nominated_node = ""};
    const struct nomination *blocker = nominate_blocker(fixture_find_node(fixture, "n1"), &asker,
                                                        fixture_resolve(fixture, &facts));
    return blocker ? blocker->uid : "nobody";
}

static void test_the_reported_blocker_is_stable(void **state)
{
    struct fixture *fixture = fixture_two_nodes(state);
    struct pod_facts facts = promised(fixture);
    facts.uid = facts.name = "z";
    fixture_put_pod_facts(fixture, &facts);
    assert_string_equal(blocker_of(fixture, 10, GPU "=1"), "z");
    facts.uid = facts.name = "b";
    fixture_put_pod_facts(fixture, &facts);
    facts.uid = facts.name = "c";
    fixture_put_pod_facts(fixture, &facts);
    assert_string_equal(blocker_of(fixture, 10, GPU "=1"), "b");
    assert_string_equal(blocker_of(fixture, 11, GPU "=1"), "nobody");
    assert_string_equal(blocker_of(fixture, 10, "amd.com/gpu=1"), "nobody");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_room_is_kept_from_pods_of_no_higher_priority),
        TEST(test_one_of_several_nominated_pods_always_fits),
        TEST(test_several_nominations_add_up),
        TEST(test_missing_room_keeps_its_own_reason),
        TEST(test_scope_all_keeps_other_resources_too),
        TEST(test_a_nomination_ends_with_the_field),
        TEST(test_a_nomination_ends_when_the_pod_changes_state),
        TEST(test_a_bound_pod_counts_once),
        TEST(test_a_reservation_replaces_the_nomination),
        TEST(test_other_pods_cannot_reserve_kept_room),
        TEST(test_a_later_node_has_its_nominations),
        TEST(test_a_fork_gives_the_same_verdicts),
        TEST(test_terminating_victims_count_as_room_in_progress),
        TEST(test_victims_have_a_lower_priority),
        TEST(test_the_reported_blocker_is_stable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
