/* Sick nodes in the ledger: what counts as evidence there, and which pods are kept away. */
#include "decide/gang_plan.h"
#include "decide/topology.h"
#include "fixture_question.h"
#include "ledger/cluster_copy.h"
#include "ledger/quarantine.h"
#include "unit.h"

#include <string.h>

#define GPU "nvidia.com/gpu"
#define MINUTE INT64_C(60000)
#define BEGIN (20 * MINUTE)

static struct node_facts node_of(struct fixture *fixture, const char *name)
{
    return fixture_node_facts(fixture, name, "cpu=64000 memory=1000 pods=100 " GPU "=8",
                              "nvidia.com/gpu.product=NVIDIA-H100-80GB-HBM3");
}

static char *LEVELS[] = {(char[]){"nvidia.com/gpu.product"}};

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    fixture->policy.topology_levels = NULL;
    fixture->policy.n_topology_levels = 0;
    return fixture_teardown(state);
}

static int set_up(void **state)
{
    const int r = fixture_setup(state);
    struct fixture *fixture = *state;
    fixture->policy.topology_levels = LEVELS;
    fixture->policy.n_topology_levels = 1;
    fixture->policy.quarantine.mode = fixture->policy.shape_trap.mode = AVOIDANCE_AVOID;
    quarantine_begin(fixture->cluster);
    for (const char *const *name = (const char *const[]){"n1", "n2", "n3", NULL}; *name; name++) {
        const struct node_facts facts = node_of(fixture, *name);
        fixture_put_node_facts(fixture, &facts);
    }
    cluster_set_now(fixture->cluster, BEGIN);
    return r;
}

#define QTEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

static void wait_until(struct fixture *fixture, int64_t at_ms)
{
    cluster_set_now(fixture->cluster, at_ms);
    (void)quarantine_tick(fixture->cluster);
}

struct victim {
    const char *uid; /* "namespace/name" */
    const char *node, *demand, *controller;
    bool names_node, is_alien;
    enum refusal refusal;
};

static void lose(struct fixture *fixture, const struct victim *victim)
{
    struct pod_facts facts = fixture_facts_in_namespace(
        fixture, victim->uid, victim->names_node ? victim->node : "", victim->demand);
    facts.unstarted = true;
    facts.qos = QOS_GUARANTEED;
    facts.controller = victim->controller;
    fixture_put_pod_facts(fixture, &facts);
    facts.node_name = victim->node;
    fixture_put_pod_facts(fixture, &facts);
    fixture_remove_pod(fixture, victim->uid); /* its failure is seen later */
    quarantine_see_failed(fixture->cluster,
                          &(struct failed_pod_facts){.uid = victim->uid,
                                                     .refusal = victim->refusal,
                                                     .is_bound_by_us = !victim->is_alien});
    (void)quarantine_tick(fixture->cluster);
}

static void lose_plain(struct fixture *fixture, const char *uid, const char *controller)
{
    lose(fixture, &(struct victim){uid, "n1", GPU "=1", controller, .refusal = REFUSAL_DEVICES});
}

static void make_sick(struct fixture *fixture)
{
    lose_plain(fixture, "a/1", "Job/x");
    lose_plain(fixture, "a/2", "Job/y");
    lose_plain(fixture, "b/3", "Job/x");
}

static const char *verdict_of(struct fixture *fixture, const char *node, const struct asker *asker,
                              const char *tolerations)
{
    struct shape_facts facts = fixture_shape_facts(fixture, "cpu=1000 " GPU "=1");
    facts.tolerations = fixture_tolerations(fixture, tolerations, &facts.n_tolerations);
    struct fit_question question = fixture_question(fixture, &facts);
    question.asker = *asker;
    question.scope = FIT_OURS;
    return reason_name(fit_judge(fixture_find_node(fixture, node), &question));
}

static const char *on_n1(struct fixture *fixture)
{
    return verdict_of(fixture, "n1", &(struct asker){.uid = "c/9", .namespace_ = "c"}, "");
}

static void test_the_node_is_left_out(void **state)
{
    struct fixture *fixture = *state;
    const uint64_t version = cluster_version(fixture->cluster);
    assert_string_equal(on_n1(fixture), "fits");
    make_sick(fixture);
    assert_string_equal(on_n1(fixture), "quarantine");
    assert_true(cluster_version(fixture->cluster) > version);
    assert_string_equal(node_mark_word(node_mark(fixture_find_node(fixture, "n1"))), "quarantine");
    assert_null(node_mark_word(node_mark(fixture_find_node(fixture, "n2"))));
    const struct asker nominated = {.uid = "c/9", .nominated_node = "n1"};
    assert_string_equal(verdict_of(fixture, "n1", &nominated, ""), "fits");
    assert_string_equal(verdict_of(fixture, "n2", &(struct asker){.uid = "c/9"}, ""), "fits");
    assert_string_equal(verdict_of(fixture, "n1", &(struct asker){0}, QUARANTINE_TOLERATION),
                        "fits");
    struct shape_facts plain = fixture_shape_facts(fixture, "cpu=1000");
    struct fit_question question = fixture_question(fixture, &plain);
    assert_int_equal(fit_judge(fixture_find_node(fixture, "n1"), &question), REASON_FITS);
}

static void test_named_and_bound(void **state)
{
    struct fixture *fixture = *state;
    make_sick(fixture);
    const struct shape_facts facts = fixture_shape_facts(fixture, GPU "=1");
    struct fit_question question = fixture_question(fixture, &facts);
    const struct node *node = fixture_find_node(fixture, "n1");
    assert_int_equal(fit_judge(node, &question), REASON_QUARANTINE);
    question.binds = true;
    assert_int_equal(fit_judge(node, &question), REASON_FITS);
    question.binds = false;
    question.node_name = "n1";
    assert_int_equal(fit_judge(node, &question), REASON_FITS);
}

static void test_what_is_no_evidence(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < 8; i++) {
        const char *uid = arena_printf(fixture->arena, "%c/%zu", (char)('a' + i), i);
        lose(fixture, &(struct victim){uid, "n1", GPU "=1", "Job/x", .names_node = true,
                                       .refusal = REFUSAL_DEVICES});
        lose(fixture, &(struct victim){uid, "n1", GPU "=9", "Job/x", .refusal = REFUSAL_GPUS});
        lose(fixture, &(struct victim){uid, "n1", GPU "=1", "Job/x", .refusal = REFUSAL_OTHER});
        lose(fixture, &(struct victim){uid, "n1", "cpu=1", "Job/x", .refusal = REFUSAL_DEVICES});
        lose(fixture, &(struct victim){uid, "n1", GPU "=1", "Job/x", .is_alien = true,
                                       .refusal = REFUSAL_DEVICES});
        lose(fixture,
             &(struct victim){"a/same", "n1", GPU "=1", "Job/x", .refusal = REFUSAL_DEVICES});
        lose_plain(fixture, "a/bare", NULL); /* of one namespace: one owner */
    }
    assert_string_equal(on_n1(fixture), "fits");
}

static struct pod_facts started(struct fixture *fixture, const char *node)
{
    return fixture_facts_in_namespace(fixture, "z/runs", node, GPU "=1");
}

static void test_a_started_pod(void **state)
{
    struct fixture *fixture = *state;
    lose_plain(fixture, "a/1", "Job/x");
    lose_plain(fixture, "a/2", "Job/y");
    struct pod_facts facts = started(fixture, "n1");
    facts.unstarted = true;
    fixture_put_pod_facts(fixture, &facts);
    facts.unstarted = false;
    fixture_put_pod_facts(fixture, &facts);
    lose_plain(fixture, "b/3", "Job/x");
    assert_string_equal(on_n1(fixture), "fits");
}

static void test_a_changed_node(void **state)
{
    struct fixture *fixture = *state;
    make_sick(fixture);
    struct node_facts facts = node_of(fixture, "n1");
    facts.boot_id = 7;
    fixture_put_node_facts(fixture, &facts);
    assert_string_equal(on_n1(fixture), "fits");
    make_sick(fixture); /* too soon */
    assert_string_equal(on_n1(fixture), "fits");
    wait_until(fixture, BEGIN + 5 * MINUTE);
    make_sick(fixture);
    assert_string_equal(on_n1(fixture), "quarantine");
    facts.lifted = 7;
    fixture_put_node_facts(fixture, &facts);
    assert_string_equal(on_n1(fixture), "fits");
}

static void test_probation(void **state)
{
    struct fixture *fixture = *state;
    make_sick(fixture);
    wait_until(fixture, BEGIN + 10 * MINUTE);
    assert_string_equal(on_n1(fixture), "fits");
    struct pod_facts facts = fixture_facts_in_namespace(fixture, "c/tries", "", GPU "=1");
    facts.unstarted = true;
    fixture_put_pod_facts(fixture, &facts);
    fixture_must_reserve(fixture, "c/tries", "n1");
    assert_string_equal(on_n1(fixture), "quarantine"); /* before the watch shows it */
    facts.node_name = "n1";
    fixture_put_pod_facts(fixture, &facts);
    assert_string_equal(on_n1(fixture), "quarantine");
    facts.unstarted = false;
    fixture_put_pod_facts(fixture, &facts);
    assert_string_equal(on_n1(fixture), "fits");
}

static void test_observe_counts(void **state)
{
    struct fixture *fixture = *state;
    fixture->policy.quarantine.mode = AVOIDANCE_OBSERVE;
    make_sick(fixture);
    assert_string_equal(on_n1(fixture), "fits");
    assert_int_equal(quarantine_n_let_pass(fixture->cluster, REASON_QUARANTINE), 0);
    lose_plain(fixture, "d/1", "Job/x");
    assert_int_equal(quarantine_n_let_pass(fixture->cluster, REASON_QUARANTINE), 1);
    assert_int_equal(quarantine_n_let_pass(fixture->cluster, REASON_SHAPE_TRAP), 0);
}

static void test_the_free_gpus_of_a_domain(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(topology_sums(fixture->cluster, 0).free_gpus, 24);
    make_sick(fixture);
    assert_int_equal(topology_sums(fixture->cluster, 0).free_gpus, 16);
}

static void test_shape_trap(void **state)
{
    struct fixture *fixture = *state;
    const struct asker same = {
        .uid = "a/2", .namespace_ = "a", .controller = "Job/x", .qos = QOS_GUARANTEED};
    struct asker other = same;
    lose(fixture,
         &(struct victim){"a/1", "n1", "cpu=1000 " GPU "=1", "Job/x", .refusal = REFUSAL_TOPOLOGY});
    assert_string_equal(verdict_of(fixture, "n1", &same, ""), "shape_trap");
    other.controller = "Job/y";
    assert_string_equal(verdict_of(fixture, "n1", &other, ""), "fits");
    other = same;
    other.qos = QOS_UNKNOWN;
    assert_string_equal(verdict_of(fixture, "n1", &other, ""), "fits");
    struct pod_facts facts = started(fixture, "n1");
    fixture_put_pod_facts(fixture, &facts);
    assert_string_equal(verdict_of(fixture, "n1", &same, ""), "fits");
    lose(fixture,
         &(struct victim){"a/1", "n1", "cpu=1000 " GPU "=1", "Job/x", .refusal = REFUSAL_TOPOLOGY});
    assert_string_equal(verdict_of(fixture, "n1", &same, ""), "shape_trap");
    fixture_remove_pod(fixture, "z/runs");
    assert_string_equal(verdict_of(fixture, "n1", &same, ""), "fits");
}

static void test_fork(void **state)
{
    struct fixture *fixture = *state;
    make_sick(fixture);
    struct cluster *fork = cluster_fork(fixture->cluster);
    struct node_facts facts = node_of(fixture, "n1");
    facts.lifted = 7;
    fixture_put_node_facts(fixture, &facts);
    assert_null(node_mark(fixture_find_node(fixture, "n1")));
    assert_int_equal(node_mark(cluster_find_node(fork, "n1"))->state, QUARANTINE_CLOSED);
    cluster_fork_free(fork);
}

/* A plan keeps a place on the node: it is made again. */
static void test_a_plan_there_does_not_hold(void **state)
{
    struct fixture *fixture = *state;
    fixture->policy.gangs.mode = GANGS_PLAN;
    for (const char *const *uid = (const char *const[]){"ml/0", "ml/1", NULL}; *uid; uid++) {
        struct pod_facts facts = fixture_facts_in_namespace(fixture, *uid, "", GPU "=2");
        facts.gang = "train";
        facts.gang_size = 2;
        fixture_put_pod_facts(fixture, &facts);
        gangs_place(fixture->cluster, *uid, "n1", 1);
    }
    assert_true(gang_plan_holds(fixture->cluster, "ml/train", BEGIN));
    make_sick(fixture);
    assert_false(gang_plan_holds(fixture->cluster, "ml/train", BEGIN));
}

/* What-if: the copy of the ledger has the marks, of which one can be lifted. */
static void test_a_copy_of_ones_own(void **state)
{
    struct fixture *fixture = *state;
    make_sick(fixture);
    struct cluster_copy *copying = cluster_copy_new(fixture->cluster, &fixture->policy);
    while (!cluster_copy_some(copying, 1)) {
    }
    struct cluster *own = cluster_copy_end(copying);
    assert_null(node_mark(cluster_find_node(own, "n1")));
    quarantine_copy_marks(own, fixture->cluster);
    struct node_facts facts = node_of(fixture, "n1");
    facts.lifted = 7;
    fixture_put_node_facts(fixture, &facts);
    assert_int_equal(node_mark(cluster_find_node(own, "n1"))->state, QUARANTINE_CLOSED);
    assert_true(node_mark_is_avoided(cluster_find_node(own, "n1")));
    assert_false(node_mark_is_avoided(cluster_find_node(own, "n2")));
    const uint64_t version = cluster_version(own);
    quarantine_lift(own, "n2");
    quarantine_lift(own, "gone");
    assert_true(cluster_version(own) == version);
    quarantine_lift(own, "n1");
    assert_null(node_mark(cluster_find_node(own, "n1")));
    assert_true(cluster_version(own) > version);
    cluster_free(own);
}

/* Another policy: the state goes on, in the new ledger. */
static void test_another_policy(void **state)
{
    struct fixture *fixture = *state;
    make_sick(fixture);
    struct cluster_copy *copy = cluster_copy_new(fixture->cluster, &fixture->policy);
    while (!cluster_copy_some(copy, 1)) {
    }
    struct cluster *old = fixture->cluster;
    fixture->cluster = cluster_copy_end(copy);
    quarantine_move(fixture->cluster, old);
    cluster_free(old);
    assert_string_equal(on_n1(fixture), "quarantine");
    fixture_remove_node(fixture, "n1");
    cluster_set_now(fixture->cluster, BEGIN + 10 * MINUTE);
    assert_true(quarantine_tick(fixture->cluster) == INT64_MAX);
}

int main(void)
{
    static const struct CMUnitTest TESTS[] = {
        QTEST(test_the_node_is_left_out),
        QTEST(test_named_and_bound),
        QTEST(test_what_is_no_evidence),
        QTEST(test_a_started_pod),
        QTEST(test_a_changed_node),
        QTEST(test_probation),
        QTEST(test_observe_counts),
        QTEST(test_the_free_gpus_of_a_domain),
        QTEST(test_shape_trap),
        QTEST(test_fork),
        QTEST(test_a_plan_there_does_not_hold),
        QTEST(test_a_copy_of_ones_own),
        QTEST(test_another_policy),
    };
    return cmocka_run_group_tests(TESTS, NULL, NULL);
}
