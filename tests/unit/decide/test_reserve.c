/* Reservations: verdicts, contents and release. Events that end one: test_settle.c. */
#include "decide/reserve.h"
#include "fixture_question.h"
#include "unit.h"

#include <string.h>

#define GPU "nvidia.com/gpu"

static void test_reserved_amounts_are_not_free(void **state)
{
    struct fixture *fixture = fixture_two_nodes(state);
    struct reserve_result result = {0};
    assert_int_equal(fixture_reserve(fixture, "p", "n1", &result), RESERVE_HELD);
    assert_true(result.serial > 0);
    assert_null(result.node_name);
    assert_int_equal(result.reason, REASON_FITS);
    assert_int_equal(fixture_used(fixture, "n1", GPU), 0);
    assert_int_equal(fixture_reserved(fixture, "n1", GPU), 6);
    assert_int_equal(fixture_reserved(fixture, "n1", "pods"), 1);
    assert_int_equal(fixture_free_amount(fixture, "n1", GPU), 2);
    assert_int_equal(fixture_free_amount(fixture, "n2", GPU), 8);
    assert_string_equal(fixture_verdict(fixture, "n1", GPU "=3"), "gpu_free");
    assert_string_equal(fixture_verdict(fixture, "n1", GPU "=2"), "fits");
    reservation_release(fixture->cluster, "p", result.serial);
    assert_int_equal(fixture_reserved(fixture, "n1", GPU), 0);
    assert_int_equal(fixture_free_amount(fixture, "n1", GPU), 8);
}

static void test_two_pods_do_not_get_the_same_room(void **state)
{
    struct fixture *fixture = fixture_two_nodes(state);
    struct reserve_result result = {0};
    fixture_put_pod(fixture, "q", "", GPU "=3");
    fixture_must_reserve(fixture, "p", "n1");
    assert_int_equal(fixture_reserve(fixture, "q", "n1", &result), RESERVE_REFUSED);
    assert_int_equal(result.reason, REASON_GPU_FREE);
    assert_int_equal(result.serial, 0);
    assert_int_equal(fixture_reserved(fixture, "n1", GPU), 6);
    assert_int_equal(cluster_n_reservations(fixture->cluster), 1);
    fixture_must_reserve(fixture, "q", "n2");
}

static void test_reserving_again_holds_once_with_a_new_serial(void **state)
{
    struct fixture *fixture = fixture_two_nodes(state);
    struct reserve_question question = {.uid = "p", .node_name = "n1", .now_ms = 1000};
    struct reserve_result first = {0};
    struct reserve_result second = {0};
    assert_int_equal(reserve_room(fixture->cluster, &question, &first), RESERVE_HELD);
    uint64_t version = cluster_version(fixture->cluster);
    question.now_ms = 2000;
    assert_int_equal(reserve_room(fixture->cluster, &question, &second), RESERVE_HELD);
    assert_true(second.serial > first.serial);
    assert_int_equal(fixture_reserved(fixture, "n1", GPU), 6);
    assert_int_equal(cluster_n_reservations(fixture->cluster), 1);
    assert_int_equal(cluster_version(fixture->cluster), version); /* no decision changes */
    const struct reservation *held = cluster_find_reservation(fixture->cluster, "p");
    assert_int_equal(held->made_ms, 1000);
    assert_int_equal(held->serial, second.serial);

    reservation_release(fixture->cluster, "p", first.serial); /* another reservation by now */
    assert_int_equal(fixture_reserved(fixture, "n1", GPU), 6);
    reservation_release(fixture->cluster, "p", second.serial);
    assert_int_equal(fixture_reserved(fixture, "n1", GPU), 0);
    reservation_release(fixture->cluster, "p", second.serial);
    assert_int_equal(cluster_n_reservations(fixture->cluster), 0);
}

/* A serial is never reused, for any pod. */
static void test_a_serial_of_an_earlier_reservation_releases_nothing(void **state)
{
    struct fixture *fixture = fixture_two_nodes(state);
    struct reserve_result first = {0};
    assert_int_equal(fixture_reserve(fixture, "p", "n1", &first), RESERVE_HELD);
    reservation_release(fixture->cluster, "p", first.serial);
    fixture_must_reserve(fixture, "p", "n2");
    reservation_release(fixture->cluster, "p", first.serial);
    assert_int_equal(fixture_reserved(fixture, "n2", GPU), 6);
}

/* The binding in progress may still take effect. */
static void test_reserved_room_stays_reserved(void **state)
{
    struct fixture *fixture = fixture_two_nodes(state);
    fixture_must_reserve(fixture, "p", "n1");
    fixture_put_node(fixture, "n1", "pods=110 " GPU "=2", "");
    assert_int_equal(fixture_free_amount(fixture, "n1", GPU), -4);
    fixture_must_reserve(fixture, "p", "n1");
    fixture_remove_node(fixture, "n1");
    fixture_must_reserve(fixture, "p", "n1");
    assert_int_equal(cluster_n_nodes(fixture->cluster), 1);
    fixture_put_node(fixture, "n1", "pods=110 " GPU "=8", "");
    assert_int_equal(fixture_free_amount(fixture, "n1", GPU), 2);
}

static void test_a_pod_holds_room_on_one_node_only(void **state)
{
    struct fixture *fixture = fixture_two_nodes(state);
    struct reserve_result result = {0};
    fixture_must_reserve(fixture, "p", "n1");
    assert_int_equal(fixture_reserve(fixture, "p", "n2", &result), RESERVE_HELD_ELSEWHERE);
    assert_string_equal(result.node_name, "n1");
    assert_int_equal(result.serial, 0);
    assert_int_equal(fixture_reserved(fixture, "n2", GPU), 0);
}

static void test_a_bound_pod_needs_no_room(void **state)
{
    struct fixture *fixture = fixture_two_nodes(state);
    struct reserve_result result = {0};
    fixture_put_pod(fixture, "p", "n1", GPU "=6");
    assert_int_equal(fixture_reserve(fixture, "p", "n1", &result), RESERVE_BOUND_HERE);
    assert_null(result.node_name);
    assert_int_equal(fixture_reserve(fixture, "p", "n2", &result), RESERVE_BOUND_ELSEWHERE);
    assert_string_equal(result.node_name, "n1");
    assert_int_equal(cluster_n_reservations(fixture->cluster), 0);

    struct pod_facts facts = fixture_pod_facts(fixture, "p", "n1", GPU "=6");
    facts.finished = facts.terminating = true; /* the node decides before the phase */
    fixture_put_pod_facts(fixture, &facts);
    assert_int_equal(fixture_reserve(fixture, "p", "n1", NULL), RESERVE_BOUND_HERE);
    assert_int_equal(fixture_reserve(fixture, "p", "n2", NULL), RESERVE_BOUND_ELSEWHERE);
}

static void test_a_terminating_or_finished_pod_cannot_reserve(void **state)
{
    struct fixture *fixture = fixture_two_nodes(state);
    struct pod_facts facts = fixture_pod_facts(fixture, "p", "", GPU "=6");
    facts.terminating = true;
    fixture_put_pod_facts(fixture, &facts);
    assert_int_equal(fixture_reserve(fixture, "p", "n1", NULL), RESERVE_POD_GONE);
    facts.terminating = false;
    facts.finished = true;
    fixture_put_pod_facts(fixture, &facts);
    assert_int_equal(fixture_reserve(fixture, "p", "n1", NULL), RESERVE_POD_GONE);
    assert_int_equal(cluster_n_reservations(fixture->cluster), 0);
}

static void test_an_unfit_pod_is_rejected_with_its_reason(void **state)
{
    struct fixture *fixture = fixture_two_nodes(state);
    struct reserve_result result = {0};
    assert_int_equal(fixture_reserve(fixture, "p", "n9", &result), RESERVE_REFUSED);
    assert_int_equal(result.reason, REASON_NODE_UNKNOWN);
    fixture_put_pod(fixture, "q", "n9", GPU "=1"); /* only a pod names the node */
    assert_int_equal(fixture_reserve(fixture, "p", "n9", &result), RESERVE_REFUSED);
    assert_int_equal(result.reason, REASON_NODE_UNKNOWN);
    fixture_put_node(fixture, "n1", "pods=110 " GPU "=4", "");
    assert_int_equal(fixture_reserve(fixture, "p", "n1", &result), RESERVE_REFUSED);
    assert_int_equal(result.reason, REASON_GPU_TOTAL);

    struct pod_facts facts = fixture_pod_facts(fixture, "p", "", GPU "=6");
    facts.refusal = "half a GPU";
    fixture_put_pod_facts(fixture, &facts);
    assert_int_equal(fixture_reserve(fixture, "p", "n2", &result), RESERVE_REFUSED);
    assert_int_equal(result.reason, REASON_POD_INVALID);
    assert_int_equal(cluster_n_reservations(fixture->cluster), 0);
}

/* kube-scheduler judged cordon, taints and CPU with newer data; we judge the GPUs. */
static void test_reserve_judges_only_gpus(void **state)
{
    struct fixture *fixture = *state;
    struct node_facts node = fixture_node_facts(fixture, "n1", "cpu=100 " GPU "=8", "");
    node.unschedulable = true;
    fixture_put_node_facts(fixture, &node);
    fixture_put_pod(fixture, "p", "", "cpu=4000 " GPU "=1");
    fixture_must_reserve(fixture, "p", "n1");
    assert_int_equal(fixture_reserved(fixture, "n1", "cpu"), 4000);
    assert_int_equal(fixture_free_amount(fixture, "n1", "cpu"), -3900);
}

static void test_an_unseen_pod_is_reserved_from_its_facts(void **state)
{
    struct fixture *fixture = fixture_two_nodes(state);
    struct pod_facts facts = fixture_pod_facts(fixture, "new", "", GPU "=5");
    struct reserve_question question = {.uid = "new", .node_name = "n1"};
    struct reserve_result result = {0};
    facts.namespace_ = "ml";
    facts.name = "train-0";
    assert_int_equal(reserve_room(fixture->cluster, &question, &result), RESERVE_POD_UNKNOWN);
    question.facts = &facts;
    question.uid = "other";
    assert_int_equal(reserve_room(fixture->cluster, &question, &result), RESERVE_POD_UNKNOWN);
    question.uid = "new";
    assert_int_equal(reserve_room(fixture->cluster, &question, &result), RESERVE_HELD);
    assert_int_equal(fixture_reserved(fixture, "n1", GPU), 5);
    assert_int_equal(cluster_n_pods(fixture->cluster), 1);
    const struct reservation *held = cluster_find_reservation(fixture->cluster, "new");
    assert_string_equal(held->uid, "new");
    assert_string_equal(held->namespace_, "ml");
    assert_string_equal(held->name, "train-0");
    assert_string_equal(held->node_name, "n1");
    assert_int_equal(shape_demand(&held->shape->facts, GPU), 5);
    fixture_put_pod_facts(fixture, &facts); /* now it is seen: no change */
    assert_int_equal(fixture_reserved(fixture, "n1", GPU), 5);
    assert_int_equal(fixture_used(fixture, "n1", GPU), 0);
}

static void test_facts_are_judged_like_a_pod_of_the_ledger(void **state)
{
    struct fixture *fixture = fixture_two_nodes(state);
    struct pod_facts facts = fixture_pod_facts(fixture, "new", "n1", GPU "=9");
    struct reserve_question question = {.uid = "new", .node_name = "n1", .facts = &facts};
    struct reserve_result result = {0};
    assert_int_equal(reserve_room(fixture->cluster, &question, &result), RESERVE_BOUND_HERE);
    question.node_name = "n2";
    assert_int_equal(reserve_room(fixture->cluster, &question, &result), RESERVE_BOUND_ELSEWHERE);
    assert_string_equal(result.node_name, "n1");
    facts.node_name = "";
    facts.terminating = true;
    assert_int_equal(reserve_room(fixture->cluster, &question, &result), RESERVE_POD_GONE);
    facts.terminating = false;
    assert_int_equal(reserve_room(fixture->cluster, &question, &result), RESERVE_REFUSED);
    assert_int_equal(result.reason, REASON_GPU_TOTAL);
    assert_null(result.node_name);
}

static void test_the_ledger_overrides_the_callers_facts(void **state)
{
    struct fixture *fixture = fixture_two_nodes(state);
    struct pod_facts facts = fixture_pod_facts(fixture, "p", "", GPU "=1");
    struct reserve_question question = {.uid = "p", .node_name = "n1", .facts = &facts};
    struct reserve_result result = {0};
    assert_int_equal(reserve_room(fixture->cluster, &question, &result), RESERVE_HELD);
    assert_int_equal(fixture_reserved(fixture, "n1", GPU), 6);
    reservation_release(fixture->cluster, "p", result.serial);
    fixture_put_pod(fixture, "p", "n2", GPU "=6");
    assert_int_equal(reserve_room(fixture->cluster, &question, &result), RESERVE_BOUND_ELSEWHERE);
}

static void test_reservations_are_met_the_oldest_first(void **state)
{
    struct fixture *fixture = fixture_two_nodes(state);
    const struct cluster *cluster = fixture->cluster;
    fixture_put_pod(fixture, "q", "", GPU "=1");
    fixture_put_pod(fixture, "r", "", GPU "=1");
    assert_null(cluster_next_reservation(cluster, NULL));
    fixture_must_reserve(fixture, "r", "n1");
    fixture_must_reserve(fixture, "p", "n2");
    fixture_must_reserve(fixture, "q", "n1");
    fixture_must_reserve(fixture, "r", "n1"); /* renewed: keeps its age */
    const struct reservation *held = cluster_next_reservation(cluster, NULL);
    assert_string_equal(held->uid, "r");
    held = cluster_next_reservation(cluster, held);
    assert_string_equal(held->uid, "p");
    held = cluster_next_reservation(cluster, held);
    assert_string_equal(held->uid, "q");
    assert_null(cluster_next_reservation(cluster, held));
    assert_int_equal(cluster_n_reservations(cluster), 3);

    held = reservation_next_on(fixture_find_node(fixture, "n1"), NULL);
    assert_string_equal(held->uid, "r");
    held = reservation_next_on(fixture_find_node(fixture, "n1"), held);
    assert_string_equal(held->uid, "q");
    assert_null(reservation_next_on(fixture_find_node(fixture, "n1"), held));
}

/* A resource that the node does not advertise is summed once it does. */
static void test_a_resource_advertised_later_is_reserved_too(void **state)
{
    struct fixture *fixture = fixture_two_nodes(state);
    struct reserve_result result = {0};
    fixture_put_pod(fixture, "q", "", "example.com/fpga=3");
    assert_int_equal(fixture_reserve(fixture, "q", "n1", &result), RESERVE_HELD);
    assert_int_equal(fixture_used(fixture, "n1", "example.com/fpga"), -1);
    fixture_put_node(fixture, "n1", "pods=110 example.com/fpga=4", "");
    assert_int_equal(fixture_reserved(fixture, "n1", "example.com/fpga"), 3);
    assert_int_equal(fixture_free_amount(fixture, "n1", "example.com/fpga"), 1);
    fixture_put_node(fixture, "n1", "pods=110", "");
    assert_int_equal(fixture_used(fixture, "n1", "example.com/fpga"), -1);
    fixture_put_node(fixture, "n1", "pods=110 example.com/fpga=4", "");
    assert_int_equal(fixture_reserved(fixture, "n1", "example.com/fpga"), 3);
    reservation_release(fixture->cluster, "q", result.serial);
    assert_int_equal(fixture_reserved(fixture, "n1", "example.com/fpga"), 0);
}

static void test_sums_of_reservations_stop_at_the_end(void **state)
{
    struct fixture *fixture = *state;
    struct reserve_result p = {0};
    struct reserve_result q = {0};
    fixture_put_node(fixture, "n1", "cpu=8", "");
    fixture_put_pod(fixture, "p", "", "cpu=max");
    fixture_put_pod(fixture, "q", "", "cpu=max");
    fixture_put_pod(fixture, "r", "", "cpu=3");
    assert_int_equal(fixture_reserve(fixture, "p", "n1", &p), RESERVE_HELD);
    assert_int_equal(fixture_reserve(fixture, "q", "n1", &q), RESERVE_HELD);
    fixture_must_reserve(fixture, "r", "n1");
    assert_int_equal(fixture_reserved(fixture, "n1", "cpu"), INT64_MAX);
    assert_int_equal(fixture_free_amount(fixture, "n1", "cpu"), 8 - INT64_MAX);
    reservation_release(fixture->cluster, "p", p.serial);
    assert_int_equal(fixture_reserved(fixture, "n1", "cpu"), INT64_MAX);
    reservation_release(fixture->cluster, "q", q.serial);
    assert_int_equal(fixture_reserved(fixture, "n1", "cpu"), 3);
    fixture_put_pod(fixture, "s", "n1", "cpu=max");
    fixture_must_reserve(fixture, "p", "n1");
    assert_int_equal(fixture_free_amount(fixture, "n1", "cpu"), INT64_MIN);
}

static void test_a_pods_own_reservation_does_not_block_it(void **state)
{
    struct fixture *fixture = fixture_two_nodes(state);
    const struct shape_facts facts = fixture_shape_facts(fixture, GPU "=6");
    struct fit_question question = fixture_question(fixture, &facts);
    fixture_must_reserve(fixture, "p", "n1");
    assert_int_equal(fit_judge(fixture_find_node(fixture, "n1"), &question), REASON_GPU_FREE);
    assert_int_equal(fit_count(fixture_find_node(fixture, "n1"), &question), 0);
    question.own = cluster_find_reservation(fixture->cluster, "p");
    assert_int_equal(fit_judge(fixture_find_node(fixture, "n1"), &question), REASON_FITS);
    assert_int_equal(fit_count(fixture_find_node(fixture, "n1"), &question), 1);
    question.scope = FIT_OURS;
    assert_int_equal(fit_judge(fixture_find_node(fixture, "n1"), &question), REASON_FITS);

    fixture_put_pod(fixture, "x", "n1", GPU "=3"); /* another pod took some of it */
    assert_int_equal(fit_judge(fixture_find_node(fixture, "n1"), &question), REASON_GPU_FREE);
    fixture_put_pod(fixture, "y", "n2", GPU "=3"); /* a reservation elsewhere is no room here */
    assert_int_equal(fit_judge(fixture_find_node(fixture, "n2"), &question), REASON_GPU_FREE);
}

static void test_a_pods_own_slot_and_cpu_count_as_free(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "pods=1 cpu=1000", "");
    fixture_put_pod(fixture, "p", "", "cpu=600");
    fixture_must_reserve(fixture, "p", "n1");
    const struct shape_facts facts = fixture_shape_facts(fixture, "cpu=600");
    struct fit_question question = fixture_question(fixture, &facts);
    assert_int_equal(fit_judge(fixture_find_node(fixture, "n1"), &question), REASON_CPU);
    question.own = cluster_find_reservation(fixture->cluster, "p");
    assert_int_equal(fit_judge(fixture_find_node(fixture, "n1"), &question), REASON_FITS);
}

/* A saturated sum cannot show the pod's own share. */
static void test_a_saturated_sum_hides_the_pods_own_share(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "pods=9 cpu=1000", "");
    fixture_put_pod(fixture, "p", "", "cpu=max");
    fixture_put_pod(fixture, "q", "", "cpu=999");
    fixture_must_reserve(fixture, "p", "n1");
    fixture_must_reserve(fixture, "q", "n1");
    const struct shape_facts facts = fixture_shape_facts(fixture, "cpu=5");
    struct fit_question question = fixture_question(fixture, &facts);
    question.own = cluster_find_reservation(fixture->cluster, "p");
    assert_int_equal(fit_judge(fixture_find_node(fixture, "n1"), &question), REASON_CPU);
}

static void test_a_fork_has_the_reservations(void **state)
{
    struct fixture *fixture = fixture_two_nodes(state);
    struct reserve_result result = {0};
    assert_int_equal(fixture_reserve(fixture, "p", "n1", &result), RESERVE_HELD);
    struct cluster *fork = cluster_fork(fixture->cluster);
    reservation_release(fixture->cluster, "p", result.serial);
    const struct node *node = cluster_find_node(fork, "n1");
    const struct shape_facts facts = fixture_shape_facts(fixture, GPU "=1");
    const struct pod_shape *shape = cluster_resolve(fork, &facts, fixture->arena);
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

static void test_reserving_and_releasing_raise_the_version(void **state)
{
    struct fixture *fixture = fixture_two_nodes(state);
    struct reserve_result result = {0};
    uint64_t version = cluster_version(fixture->cluster);
    assert_int_equal(fixture_reserve(fixture, "p", "n1", &result), RESERVE_HELD);
    assert_true(cluster_version(fixture->cluster) > version);
    version = cluster_version(fixture->cluster);
    assert_int_equal(fixture_reserve(fixture, "p", "n2", NULL), RESERVE_HELD_ELSEWHERE);
    reservation_release(fixture->cluster, "p", result.serial + 1);
    reservation_release(fixture->cluster, "unheard-of", result.serial);
    assert_int_equal(cluster_version(fixture->cluster), version);
    reservation_release(fixture->cluster, "p", result.serial);
    assert_true(cluster_version(fixture->cluster) > version);
}

/* The ledger is freed with reservations: no leak (a sanitizer checks). */
static void test_a_ledger_is_freed_with_its_reservations(void **state)
{
    struct fixture *fixture = fixture_two_nodes(state);
    fixture_put_pod(fixture, "q", "", "example.com/fpga=3");
    fixture_must_reserve(fixture, "p", "n1");
    fixture_must_reserve(fixture, "q", "n2");
    fixture_remove_node(fixture, "n2");
    cluster_free(fixture->cluster);
    fixture->cluster = NULL;
}

static size_t n_differences_in_steps(struct fixture *fixture, struct err *err)
{
    size_t n = 0;
    while (!cluster_check_some(fixture->cluster, 1, &n, err)) {
    }
    return n;
}

static void test_the_self_check_covers_reservations(void **state)
{
    struct fixture *fixture = fixture_two_nodes(state);
    struct err err = {""};
    fixture_must_reserve(fixture, "p", "n1");
    size_t n = 0;
    const struct node *node = fixture_find_node(fixture, "n1");
    struct node_resource *all = (struct node_resource *)(uintptr_t)node_resources(node, &n);
    assert_int_equal(n_differences_in_steps(fixture, &err), 0);
    for (size_t i = 0; i < n; i++)
        all[i].reserved++;
    /* also the model's free GPUs, and the hot part */
    assert_int_equal(cluster_check_in_place(fixture->cluster, &err), n + 2);
    assert_int_equal(n_differences_in_steps(fixture, &err), n + 2);
    assert_non_null(strstr(err.text, "n1: what is reserved"));
    for (size_t i = 0; i < n; i++)
        all[i].reserved--;
}

/* With GPUs of two resources the models of the node count. */
static void test_again_under_a_quota_once_the_node_is_gone(void **state)
{
    struct fixture *fixture = *state;
    struct reserve_result result;
    static const char *const NAMES[] = {"default"};
    const struct quota_limit limit = {.resource = "nvidia.com/gpu", .gpus = 8};
    const struct quota quota = {.name = "all",
                                .namespaces = NAMES,
                                .n_namespaces = 1,
                                .limits =
                                    arena_copy(fixture->policy.arena, &limit, 1, sizeof limit),
                                .n_limits = 1};
    fixture_add_quota(fixture, &quota);
    fixture_put_node(fixture, "gone", "amd.com/gpu=8 nvidia.com/gpu=8", "");
    fixture_put_pod(fixture, "p", "", "amd.com/gpu=1 nvidia.com/gpu=1");
    fixture_must_reserve(fixture, "p", "gone");
    fixture_remove_node(fixture, "gone");
    const struct reserve_question again = {.uid = "p", .node_name = "gone"};
    assert_int_equal(reserve_room(fixture->cluster, &again, &result), RESERVE_HELD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_again_under_a_quota_once_the_node_is_gone),
        TEST(test_reserved_amounts_are_not_free),
        TEST(test_two_pods_do_not_get_the_same_room),
        TEST(test_reserving_again_holds_once_with_a_new_serial),
        TEST(test_a_serial_of_an_earlier_reservation_releases_nothing),
        TEST(test_reserved_room_stays_reserved),
        TEST(test_a_pod_holds_room_on_one_node_only),
        TEST(test_a_bound_pod_needs_no_room),
        TEST(test_a_terminating_or_finished_pod_cannot_reserve),
        TEST(test_an_unfit_pod_is_rejected_with_its_reason),
        TEST(test_reserve_judges_only_gpus),
        TEST(test_an_unseen_pod_is_reserved_from_its_facts),
        TEST(test_facts_are_judged_like_a_pod_of_the_ledger),
        TEST(test_the_ledger_overrides_the_callers_facts),
        TEST(test_reservations_are_met_the_oldest_first),
        TEST(test_a_resource_advertised_later_is_reserved_too),
        TEST(test_sums_of_reservations_stop_at_the_end),
        TEST(test_a_pods_own_reservation_does_not_block_it),
        TEST(test_a_pods_own_slot_and_cpu_count_as_free),
        TEST(test_a_saturated_sum_hides_the_pods_own_share),
        TEST(test_a_fork_has_the_reservations),
        TEST(test_reserving_and_releasing_raise_the_version),
        TEST(test_a_ledger_is_freed_with_its_reservations),
        TEST(test_the_self_check_covers_reservations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
