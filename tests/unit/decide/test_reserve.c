/* Reservations: verdicts, contents and release. Events that end one: test_settle.c. */
#include "decide/reserve.h"
#include "given_question.h"
#include "unit.h"

#include <string.h>

#define GPU "nvidia.com/gpu"

static void test_what_is_reserved_is_not_free(void **state)
{
    struct given *given = given_two_nodes(state);
    struct reserve_result result = {0};
    assert_int_equal(given_reserve(given, "p", "n1", &result), RESERVE_HELD);
    assert_true(result.serial > 0);
    assert_null(result.node_name);
    assert_int_equal(result.reason, REASON_FITS);
    assert_int_equal(given_used(given, "n1", GPU), 0);
    assert_int_equal(given_reserved(given, "n1", GPU), 6);
    assert_int_equal(given_reserved(given, "n1", "pods"), 1);
    assert_int_equal(given_free(given, "n1", GPU), 2);
    assert_int_equal(given_free(given, "n2", GPU), 8);
    assert_string_equal(given_verdict(given, "n1", GPU "=3"), "gpu_free");
    assert_string_equal(given_verdict(given, "n1", GPU "=2"), "fits");
    reservation_release(given->cluster, "p", result.serial);
    assert_int_equal(given_reserved(given, "n1", GPU), 0);
    assert_int_equal(given_free(given, "n1", GPU), 8);
}

static void test_two_pods_do_not_get_the_same_room(void **state)
{
    struct given *given = given_two_nodes(state);
    struct reserve_result result = {0};
    given_pod(given, "q", "", GPU "=3");
    given_reservation(given, "p", "n1");
    assert_int_equal(given_reserve(given, "q", "n1", &result), RESERVE_REFUSED);
    assert_int_equal(result.reason, REASON_GPU_FREE);
    assert_int_equal(result.serial, 0);
    assert_int_equal(given_reserved(given, "n1", GPU), 6);
    assert_int_equal(cluster_n_reservations(given->cluster), 1);
    given_reservation(given, "q", "n2");
}

static void test_reserving_again_holds_once_with_a_new_serial(void **state)
{
    struct given *given = given_two_nodes(state);
    struct reserve_question question = {.uid = "p", .node_name = "n1", .now_ms = 1000};
    struct reserve_result first = {0};
    struct reserve_result second = {0};
    assert_int_equal(reserve_room(given->cluster, &question, &first), RESERVE_HELD);
    uint64_t version = cluster_version(given->cluster);
    question.now_ms = 2000;
    assert_int_equal(reserve_room(given->cluster, &question, &second), RESERVE_HELD);
    assert_true(second.serial > first.serial);
    assert_int_equal(given_reserved(given, "n1", GPU), 6);
    assert_int_equal(cluster_n_reservations(given->cluster), 1);
    assert_int_equal(cluster_version(given->cluster), version); /* no decision changes */
    const struct reservation *held = cluster_find_reservation(given->cluster, "p");
    assert_int_equal(held->made_ms, 1000);
    assert_int_equal(held->serial, second.serial);

    reservation_release(given->cluster, "p", first.serial); /* another reservation by now */
    assert_int_equal(given_reserved(given, "n1", GPU), 6);
    reservation_release(given->cluster, "p", second.serial);
    assert_int_equal(given_reserved(given, "n1", GPU), 0);
    reservation_release(given->cluster, "p", second.serial);
    assert_int_equal(cluster_n_reservations(given->cluster), 0);
}

/* A serial is never reused, for any pod. */
static void test_a_serial_of_an_earlier_reservation_releases_nothing(void **state)
{
    struct given *given = given_two_nodes(state);
    struct reserve_result first = {0};
    assert_int_equal(given_reserve(given, "p", "n1", &first), RESERVE_HELD);
    reservation_release(given->cluster, "p", first.serial);
    given_reservation(given, "p", "n2");
    reservation_release(given->cluster, "p", first.serial);
    assert_int_equal(given_reserved(given, "n2", GPU), 6);
}

/* The binding in progress may still take effect. */
static void test_room_that_is_held_stays_held(void **state)
{
    struct given *given = given_two_nodes(state);
    given_reservation(given, "p", "n1");
    given_node(given, "n1", "pods=110 " GPU "=2", "");
    assert_int_equal(given_free(given, "n1", GPU), -4);
    given_reservation(given, "p", "n1");
    given_no_node(given, "n1");
    given_reservation(given, "p", "n1");
    assert_int_equal(cluster_n_nodes(given->cluster), 1);
    given_node(given, "n1", "pods=110 " GPU "=8", "");
    assert_int_equal(given_free(given, "n1", GPU), 2);
}

static void test_a_pod_holds_room_on_one_node_only(void **state)
{
    struct given *given = given_two_nodes(state);
    struct reserve_result result = {0};
    given_reservation(given, "p", "n1");
    assert_int_equal(given_reserve(given, "p", "n2", &result), RESERVE_HELD_ELSEWHERE);
    assert_string_equal(result.node_name, "n1");
    assert_int_equal(result.serial, 0);
    assert_int_equal(given_reserved(given, "n2", GPU), 0);
}

static void test_a_bound_pod_needs_no_room(void **state)
{
    struct given *given = given_two_nodes(state);
    struct reserve_result result = {0};
    given_pod(given, "p", "n1", GPU "=6");
    assert_int_equal(given_reserve(given, "p", "n1", &result), RESERVE_BOUND_HERE);
    assert_null(result.node_name);
    assert_int_equal(given_reserve(given, "p", "n2", &result), RESERVE_BOUND_ELSEWHERE);
    assert_string_equal(result.node_name, "n1");
    assert_int_equal(cluster_n_reservations(given->cluster), 0);

    struct pod_facts facts = given_pod_facts(given, "p", "n1", GPU "=6");
    facts.finished = facts.terminating = true; /* the node decides before the phase */
    given_pod_of(given, &facts);
    assert_int_equal(given_reserve(given, "p", "n1", NULL), RESERVE_BOUND_HERE);
    assert_int_equal(given_reserve(given, "p", "n2", NULL), RESERVE_BOUND_ELSEWHERE);
}

static void test_a_pod_that_goes_gets_no_room(void **state)
{
    struct given *given = given_two_nodes(state);
    struct pod_facts facts = given_pod_facts(given, "p", "", GPU "=6");
    facts.terminating = true;
    given_pod_of(given, &facts);
    assert_int_equal(given_reserve(given, "p", "n1", NULL), RESERVE_POD_GONE);
    facts.terminating = false;
    facts.finished = true;
    given_pod_of(given, &facts);
    assert_int_equal(given_reserve(given, "p", "n1", NULL), RESERVE_POD_GONE);
    assert_int_equal(cluster_n_reservations(given->cluster), 0);
}

static void test_what_does_not_fit_is_refused_with_its_reason(void **state)
{
    struct given *given = given_two_nodes(state);
    struct reserve_result result = {0};
    assert_int_equal(given_reserve(given, "p", "n9", &result), RESERVE_REFUSED);
    assert_int_equal(result.reason, REASON_NODE_UNKNOWN);
    given_pod(given, "q", "n9", GPU "=1"); /* only a pod names the node */
    assert_int_equal(given_reserve(given, "p", "n9", &result), RESERVE_REFUSED);
    assert_int_equal(result.reason, REASON_NODE_UNKNOWN);
    given_node(given, "n1", "pods=110 " GPU "=4", "");
    assert_int_equal(given_reserve(given, "p", "n1", &result), RESERVE_REFUSED);
    assert_int_equal(result.reason, REASON_GPU_TOTAL);

    struct pod_facts facts = given_pod_facts(given, "p", "", GPU "=6");
    facts.refusal = "half a GPU";
    given_pod_of(given, &facts);
    assert_int_equal(given_reserve(given, "p", "n2", &result), RESERVE_REFUSED);
    assert_int_equal(result.reason, REASON_POD_INVALID);
    assert_int_equal(cluster_n_reservations(given->cluster), 0);
}

/* kube-scheduler judged cordon, taints and CPU with newer data; we judge the GPUs. */
static void test_only_what_is_ours_is_judged(void **state)
{
    struct given *given = *state;
    struct node_facts node = given_node_facts(given, "n1", "cpu=100 " GPU "=8", "");
    node.unschedulable = true;
    given_node_of(given, &node);
    given_pod(given, "p", "", "cpu=4000 " GPU "=1");
    given_reservation(given, "p", "n1");
    assert_int_equal(given_reserved(given, "n1", "cpu"), 4000);
    assert_int_equal(given_free(given, "n1", "cpu"), -3900);
}

static void test_a_pod_that_the_ledger_has_not_seen(void **state)
{
    struct given *given = given_two_nodes(state);
    struct pod_facts facts = given_pod_facts(given, "new", "", GPU "=5");
    struct reserve_question question = {.uid = "new", .node_name = "n1"};
    struct reserve_result result = {0};
    facts.namespace_ = "ml";
    facts.name = "train-0";
    assert_int_equal(reserve_room(given->cluster, &question, &result), RESERVE_POD_UNKNOWN);
    question.facts = &facts;
    question.uid = "other";
    assert_int_equal(reserve_room(given->cluster, &question, &result), RESERVE_POD_UNKNOWN);
    question.uid = "new";
    assert_int_equal(reserve_room(given->cluster, &question, &result), RESERVE_HELD);
    assert_int_equal(given_reserved(given, "n1", GPU), 5);
    assert_int_equal(cluster_n_pods(given->cluster), 1);
    const struct reservation *held = cluster_find_reservation(given->cluster, "new");
    assert_string_equal(held->uid, "new");
    assert_string_equal(held->namespace_, "ml");
    assert_string_equal(held->name, "train-0");
    assert_string_equal(held->node_name, "n1");
    assert_int_equal(shape_demand(&held->shape->facts, GPU), 5);
    given_pod_of(given, &facts); /* now it is seen: no change */
    assert_int_equal(given_reserved(given, "n1", GPU), 5);
    assert_int_equal(given_used(given, "n1", GPU), 0);
}

static void test_facts_are_judged_like_a_pod_of_the_ledger(void **state)
{
    struct given *given = given_two_nodes(state);
    struct pod_facts facts = given_pod_facts(given, "new", "n1", GPU "=9");
    struct reserve_question question = {.uid = "new", .node_name = "n1", .facts = &facts};
    struct reserve_result result = {0};
    assert_int_equal(reserve_room(given->cluster, &question, &result), RESERVE_BOUND_HERE);
    question.node_name = "n2";
    assert_int_equal(reserve_room(given->cluster, &question, &result), RESERVE_BOUND_ELSEWHERE);
    assert_string_equal(result.node_name, "n1");
    facts.node_name = "";
    facts.terminating = true;
    assert_int_equal(reserve_room(given->cluster, &question, &result), RESERVE_POD_GONE);
    facts.terminating = false;
    assert_int_equal(reserve_room(given->cluster, &question, &result), RESERVE_REFUSED);
    assert_int_equal(result.reason, REASON_GPU_TOTAL);
    assert_null(result.node_name);
}

static void test_what_the_ledger_knows_wins_over_facts(void **state)
{
    struct given *given = given_two_nodes(state);
    struct pod_facts facts = given_pod_facts(given, "p", "", GPU "=1");
    struct reserve_question question = {.uid = "p", .node_name = "n1", .facts = &facts};
    struct reserve_result result = {0};
    assert_int_equal(reserve_room(given->cluster, &question, &result), RESERVE_HELD);
    assert_int_equal(given_reserved(given, "n1", GPU), 6);
    reservation_release(given->cluster, "p", result.serial);
    given_pod(given, "p", "n2", GPU "=6");
    assert_int_equal(reserve_room(given->cluster, &question, &result), RESERVE_BOUND_ELSEWHERE);
}

static void test_reservations_are_met_the_oldest_first(void **state)
{
    struct given *given = given_two_nodes(state);
    const struct cluster *cluster = given->cluster;
    given_pod(given, "q", "", GPU "=1");
    given_pod(given, "r", "", GPU "=1");
    assert_null(cluster_next_reservation(cluster, NULL));
    given_reservation(given, "r", "n1");
    given_reservation(given, "p", "n2");
    given_reservation(given, "q", "n1");
    given_reservation(given, "r", "n1"); /* renewed: keeps its age */
    const struct reservation *held = cluster_next_reservation(cluster, NULL);
    assert_string_equal(held->uid, "r");
    held = cluster_next_reservation(cluster, held);
    assert_string_equal(held->uid, "p");
    held = cluster_next_reservation(cluster, held);
    assert_string_equal(held->uid, "q");
    assert_null(cluster_next_reservation(cluster, held));
    assert_int_equal(cluster_n_reservations(cluster), 3);

    held = reservation_next_on(given_find(given, "n1"), NULL);
    assert_string_equal(held->uid, "r");
    held = reservation_next_on(given_find(given, "n1"), held);
    assert_string_equal(held->uid, "q");
    assert_null(reservation_next_on(given_find(given, "n1"), held));
}

/* A resource that the node does not advertise is summed once it does. */
static void test_what_is_advertised_later_is_held_too(void **state)
{
    struct given *given = given_two_nodes(state);
    struct reserve_result result = {0};
    given_pod(given, "q", "", "example.com/fpga=3");
    assert_int_equal(given_reserve(given, "q", "n1", &result), RESERVE_HELD);
    assert_int_equal(given_used(given, "n1", "example.com/fpga"), -1);
    given_node(given, "n1", "pods=110 example.com/fpga=4", "");
    assert_int_equal(given_reserved(given, "n1", "example.com/fpga"), 3);
    assert_int_equal(given_free(given, "n1", "example.com/fpga"), 1);
    given_node(given, "n1", "pods=110", "");
    assert_int_equal(given_used(given, "n1", "example.com/fpga"), -1);
    given_node(given, "n1", "pods=110 example.com/fpga=4", "");
    assert_int_equal(given_reserved(given, "n1", "example.com/fpga"), 3);
    reservation_release(given->cluster, "q", result.serial);
    assert_int_equal(given_reserved(given, "n1", "example.com/fpga"), 0);
}

static void test_sums_of_reservations_stop_at_the_end(void **state)
{
    struct given *given = *state;
    struct reserve_result p = {0};
    struct reserve_result q = {0};
    given_node(given, "n1", "cpu=8", "");
    given_pod(given, "p", "", "cpu=max");
    given_pod(given, "q", "", "cpu=max");
    given_pod(given, "r", "", "cpu=3");
    assert_int_equal(given_reserve(given, "p", "n1", &p), RESERVE_HELD);
    assert_int_equal(given_reserve(given, "q", "n1", &q), RESERVE_HELD);
    given_reservation(given, "r", "n1");
    assert_int_equal(given_reserved(given, "n1", "cpu"), INT64_MAX);
    assert_int_equal(given_free(given, "n1", "cpu"), 8 - INT64_MAX);
    reservation_release(given->cluster, "p", p.serial);
    assert_int_equal(given_reserved(given, "n1", "cpu"), INT64_MAX);
    reservation_release(given->cluster, "q", q.serial);
    assert_int_equal(given_reserved(given, "n1", "cpu"), 3);
    given_pod(given, "s", "n1", "cpu=max");
    given_reservation(given, "p", "n1");
    assert_int_equal(given_free(given, "n1", "cpu"), INT64_MIN);
}

static void test_its_own_reservation_does_not_stand_in_a_pods_way(void **state)
{
    struct given *given = given_two_nodes(state);
    const struct shape_facts facts = given_shape_facts(given, GPU "=6");
    struct fit_question question = given_question(given, &facts);
    given_reservation(given, "p", "n1");
    assert_int_equal(fit_judge(given_find(given, "n1"), &question), REASON_GPU_FREE);
    assert_int_equal(fit_count(given_find(given, "n1"), &question), 0);
    question.own = cluster_find_reservation(given->cluster, "p");
    assert_int_equal(fit_judge(given_find(given, "n1"), &question), REASON_FITS);
    assert_int_equal(fit_count(given_find(given, "n1"), &question), 1);
    question.scope = FIT_OURS;
    assert_int_equal(fit_judge(given_find(given, "n1"), &question), REASON_FITS);

    given_pod(given, "x", "n1", GPU "=3"); /* another pod took some of it */
    assert_int_equal(fit_judge(given_find(given, "n1"), &question), REASON_GPU_FREE);
    given_pod(given, "y", "n2", GPU "=3"); /* a reservation elsewhere is no room here */
    assert_int_equal(fit_judge(given_find(given, "n2"), &question), REASON_GPU_FREE);
}

static void test_its_own_pod_slot_and_cpu_are_free_to_a_pod(void **state)
{
    struct given *given = *state;
    given_node(given, "n1", "pods=1 cpu=1000", "");
    given_pod(given, "p", "", "cpu=600");
    given_reservation(given, "p", "n1");
    const struct shape_facts facts = given_shape_facts(given, "cpu=600");
    struct fit_question question = given_question(given, &facts);
    assert_int_equal(fit_judge(given_find(given, "n1"), &question), REASON_CPU);
    question.own = cluster_find_reservation(given->cluster, "p");
    assert_int_equal(fit_judge(given_find(given, "n1"), &question), REASON_FITS);
}

/* A saturated sum cannot show the pod's own share. */
static void test_of_a_cut_sum_nothing_is_the_pods_own(void **state)
{
    struct given *given = *state;
    given_node(given, "n1", "pods=9 cpu=1000", "");
    given_pod(given, "p", "", "cpu=max");
    given_pod(given, "q", "", "cpu=999");
    given_reservation(given, "p", "n1");
    given_reservation(given, "q", "n1");
    const struct shape_facts facts = given_shape_facts(given, "cpu=5");
    struct fit_question question = given_question(given, &facts);
    question.own = cluster_find_reservation(given->cluster, "p");
    assert_int_equal(fit_judge(given_find(given, "n1"), &question), REASON_CPU);
}

static void test_a_fork_has_what_was_reserved(void **state)
{
    struct given *given = given_two_nodes(state);
    struct reserve_result result = {0};
    assert_int_equal(given_reserve(given, "p", "n1", &result), RESERVE_HELD);
    struct cluster *fork = cluster_fork(given->cluster);
    reservation_release(given->cluster, "p", result.serial);
    const struct node *node = cluster_find_node(fork, "n1");
    const struct shape_facts facts = given_shape_facts(given, GPU "=1");
    const struct pod_shape *shape = cluster_resolve(fork, &facts, given->arena);
    const struct node_resource *gpus = node_find_resource(node, shape->needs[0].resource);
    assert_int_equal(gpus->reserved, 6);
    assert_int_equal(node_resource_free(gpus), 2);
    cluster_place(fork, node, shape, 2);
    assert_int_equal(gpus->used, 2);
    assert_int_equal(gpus->reserved, 6);
    assert_int_equal(node_resource_free(gpus), 0);
    assert_null(reservation_next_on(node, NULL));
    assert_int_equal(cluster_n_reservations(fork), 0);
    cluster_fork_free(fork);
}

static void test_holding_and_releasing_grow_the_version(void **state)
{
    struct given *given = given_two_nodes(state);
    struct reserve_result result = {0};
    uint64_t version = cluster_version(given->cluster);
    assert_int_equal(given_reserve(given, "p", "n1", &result), RESERVE_HELD);
    assert_true(cluster_version(given->cluster) > version);
    version = cluster_version(given->cluster);
    assert_int_equal(given_reserve(given, "p", "n2", NULL), RESERVE_HELD_ELSEWHERE);
    reservation_release(given->cluster, "p", result.serial + 1);
    reservation_release(given->cluster, "unheard-of", result.serial);
    assert_int_equal(cluster_version(given->cluster), version);
    reservation_release(given->cluster, "p", result.serial);
    assert_true(cluster_version(given->cluster) > version);
}

/* The ledger is freed with reservations: no leak (a sanitizer checks). */
static void test_a_ledger_may_go_with_its_reservations(void **state)
{
    struct given *given = given_two_nodes(state);
    given_pod(given, "q", "", "example.com/fpga=3");
    given_reservation(given, "p", "n1");
    given_reservation(given, "q", "n2");
    given_no_node(given, "n2");
    cluster_free(given->cluster);
    given->cluster = NULL;
}

static size_t n_differences_in_steps(struct given *given, struct err *err)
{
    size_t n = 0;
    while (!cluster_check_some(given->cluster, 1, &n, err)) {
    }
    return n;
}

static void test_the_self_check_sees_what_is_reserved(void **state)
{
    struct given *given = given_two_nodes(state);
    struct err err = {""};
    given_reservation(given, "p", "n1");
    size_t n = 0;
    const struct node *node = given_find(given, "n1");
    struct node_resource *all = (struct node_resource *)(uintptr_t)node_resources(node, &n);
    assert_int_equal(n_differences_in_steps(given, &err), 0);
    for (size_t i = 0; i < n; i++)
        all[i].reserved++;
    /* also the model's free GPUs, and the hot part */
    assert_int_equal(cluster_check(given->cluster, &err), n + 2);
    assert_int_equal(n_differences_in_steps(given, &err), n + 2);
    assert_non_null(strstr(err.text, "n1: what is reserved"));
    for (size_t i = 0; i < n; i++)
        all[i].reserved--;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, given_setup, given_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_what_is_reserved_is_not_free),
        TEST(test_two_pods_do_not_get_the_same_room),
        TEST(test_reserving_again_holds_once_with_a_new_serial),
        TEST(test_a_serial_of_an_earlier_reservation_releases_nothing),
        TEST(test_room_that_is_held_stays_held),
        TEST(test_a_pod_holds_room_on_one_node_only),
        TEST(test_a_bound_pod_needs_no_room),
        TEST(test_a_pod_that_goes_gets_no_room),
        TEST(test_what_does_not_fit_is_refused_with_its_reason),
        TEST(test_only_what_is_ours_is_judged),
        TEST(test_a_pod_that_the_ledger_has_not_seen),
        TEST(test_facts_are_judged_like_a_pod_of_the_ledger),
        TEST(test_what_the_ledger_knows_wins_over_facts),
        TEST(test_reservations_are_met_the_oldest_first),
        TEST(test_what_is_advertised_later_is_held_too),
        TEST(test_sums_of_reservations_stop_at_the_end),
        TEST(test_its_own_reservation_does_not_stand_in_a_pods_way),
        TEST(test_its_own_pod_slot_and_cpu_are_free_to_a_pod),
        TEST(test_of_a_cut_sum_nothing_is_the_pods_own),
        TEST(test_a_fork_has_what_was_reserved),
        TEST(test_holding_and_releasing_grow_the_version),
        TEST(test_a_ledger_may_go_with_its_reservations),
        TEST(test_the_self_check_sees_what_is_reserved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
