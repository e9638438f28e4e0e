/* Events that end a reservation, or do not: bound, finished, deleted, recreated, listed, swept. No
 * pod may count twice, and no pod that may still be bound may be missing. */
#include "decide/reserve.h"
#include "fixture_question.h"
#include "unit.h"

#define GPU "nvidia.com/gpu"

/* n1 and n2 with 8 GPUs each, and a reservation on n1 for pod p, which needs 6. */
static struct fixture *held(void **state)
{
    struct fixture *fixture = fixture_two_nodes(state);
    fixture_must_reserve(fixture, "p", "n1");
    return fixture;
}

static void assert_free(struct fixture *fixture, int64_t n1, int64_t n2, size_t n_reservations)
{
    assert_int_equal(fixture_free_amount(fixture, "n1", GPU), n1);
    assert_int_equal(fixture_free_amount(fixture, "n2", GPU), n2);
    assert_int_equal(cluster_n_reservations(fixture->cluster), n_reservations);
}

static void test_a_bound_pod_turns_its_reservation_into_usage(void **state)
{
    struct fixture *fixture = held(state);
    fixture_put_pod(fixture, "p", "n1", GPU "=6");
    assert_free(fixture, 2, 8, 0);
    assert_int_equal(fixture_used(fixture, "n1", GPU), 6);
    assert_int_equal(fixture_reserved(fixture, "n1", GPU), 0);
}

static void test_a_pod_bound_elsewhere_drops_its_reservation(void **state)
{
    struct fixture *fixture = held(state);
    fixture_put_pod(fixture, "p", "n2", GPU "=6");
    assert_free(fixture, 8, 2, 0);
}

static void test_a_changed_unbound_pod_keeps_its_reservation(void **state)
{
    struct fixture *fixture = held(state);
    struct pod_facts facts = fixture_pod_facts(fixture, "p", "", GPU "=6");
    facts.nominated_node = "n2";
    fixture_put_pod_facts(fixture, &facts);
    assert_free(fixture, 2, 8, 1);
    facts.shape =
        fixture_shape_facts(fixture, GPU "=2"); /* the reserved demand counts until the end */
    fixture_put_pod_facts(fixture, &facts);
    assert_free(fixture, 2, 8, 1);
    fixture_put_pod(fixture, "p", "n1", GPU "=2");
    assert_free(fixture, 6, 8, 0);
}

static void test_a_terminating_pod_drops_its_reservation(void **state)
{
    struct fixture *fixture = held(state);
    struct pod_facts facts = fixture_pod_facts(fixture, "p", "", GPU "=6");
    facts.terminating = true; /* the API server binds no pod that is being deleted */
    fixture_put_pod_facts(fixture, &facts);
    assert_free(fixture, 8, 8, 0);
}

static void test_a_finished_pod_drops_its_reservation(void **state)
{
    struct fixture *fixture = held(state);
    struct pod_facts facts = fixture_pod_facts(fixture, "p", "", GPU "=6");
    facts.finished = true;
    fixture_put_pod_facts(fixture, &facts);
    assert_free(fixture, 8, 8, 0);
}

static void test_a_deleted_pod_drops_its_reservation(void **state)
{
    struct fixture *fixture = held(state);
    fixture_remove_pod(fixture, "p");
    assert_free(fixture, 8, 8, 0);
}

/* Created from a GET; the watch shows only the deletion. */
static void test_deletion_of_an_unseen_pod_drops_its_reservation(void **state)
{
    struct fixture *fixture = held(state);
    const struct pod_facts facts = fixture_pod_facts(fixture, "new", "", GPU "=5");
    const struct reserve_question question = {.uid = "new", .node_name = "n2", .facts = &facts};
    struct reserve_result result = {0};
    assert_int_equal(reserve_room(fixture->cluster, &question, &result), RESERVE_HELD);
    assert_free(fixture, 2, 3, 2);
    fixture_remove_pod(fixture, "new");
    assert_free(fixture, 2, 8, 1);
}

static void test_a_pod_first_seen_on_its_node_turns_into_usage(void **state)
{
    struct fixture *fixture = held(state);
    const struct pod_facts facts = fixture_pod_facts(fixture, "new", "", GPU "=5");
    const struct reserve_question question = {.uid = "new", .node_name = "n2", .facts = &facts};
    struct reserve_result result = {0};
    assert_int_equal(reserve_room(fixture->cluster, &question, &result), RESERVE_HELD);
    fixture_put_pod(fixture, "new", "n2", GPU "=5");
    assert_free(fixture, 2, 3, 1);
    assert_int_equal(fixture_used(fixture, "n2", GPU), 5);
}

/* Its deletion was missed, and no event will name the old UID. */
static void test_a_recreated_pod_drops_the_old_reservation(void **state)
{
    struct fixture *fixture = held(state);
    struct pod_facts anew = fixture_pod_facts(fixture, "p-anew", "", GPU "=6");
    anew.name = "p";
    fixture_put_pod_facts(fixture, &anew);
    assert_free(fixture, 8, 8, 0);
    assert_null(cluster_find_pod(fixture->cluster, "p"));
    assert_int_equal(cluster_n_pods(fixture->cluster), 1);
}

/* The ledger may be behind a GET: events of the earlier pod of that name prove nothing. */
static void test_events_of_the_old_pod_keep_the_new_reservation(void **state)
{
    struct fixture *fixture = held(state);
    struct pod_facts old = fixture_pod_facts(fixture, "old", "n2", GPU "=1");
    struct pod_facts anew = fixture_pod_facts(fixture, "anew", "", GPU "=5");
    const struct reserve_question question = {.uid = "anew", .node_name = "n2", .facts = &anew};
    struct reserve_result result = {0};
    old.name = anew.name = "train-0";
    fixture_put_pod_facts(fixture, &old);
    assert_int_equal(reserve_room(fixture->cluster, &question, &result), RESERVE_HELD);
    old.terminating = true;
    fixture_put_pod_facts(fixture, &old);
    assert_free(fixture, 2, 2, 2);
    fixture_remove_pod(fixture, "old");
    assert_free(fixture, 2, 3, 2);
    fixture_put_pod_facts(fixture, &anew);
    assert_free(fixture, 2, 3, 2);
}

static void test_the_same_name_in_another_namespace_is_another_pod(void **state)
{
    struct fixture *fixture = held(state);
    struct pod_facts other = fixture_pod_facts(fixture, "other", "", GPU "=1");
    other.name = "p";
    other.namespace_ = "ml";
    fixture_put_pod_facts(fixture, &other);
    assert_free(fixture, 2, 8, 1);
    assert_string_equal(cluster_find_pod_named(fixture->cluster, "default", "p")->uid, "p");
    assert_string_equal(cluster_find_pod_named(fixture->cluster, "ml", "p")->uid, "other");
}

static void test_a_list_with_the_pod_keeps_its_reservation(void **state)
{
    struct fixture *fixture = held(state);
    cluster_relist_begin(fixture->cluster, CLUSTER_PODS);
    fixture_put_pod(fixture, "p", "", GPU "=6");
    cluster_relist_end(fixture->cluster, CLUSTER_PODS);
    assert_free(fixture, 2, 8, 1);
}

static void test_a_swept_pod_drops_its_reservation(void **state)
{
    struct fixture *fixture = held(state);
    cluster_relist_begin(fixture->cluster, CLUSTER_PODS);
    fixture_put_pod(fixture, "q", "", GPU "=1");
    assert_free(fixture, 2, 8, 1);
    cluster_relist_end(fixture->cluster, CLUSTER_PODS);
    assert_free(fixture, 8, 8, 0);
}

/* The list may be older than the pod; its bind attempt will settle it. */
static void test_a_sweep_keeps_reservations_of_unseen_pods(void **state)
{
    struct fixture *fixture = held(state);
    const struct pod_facts facts = fixture_pod_facts(fixture, "new", "", GPU "=5");
    const struct reserve_question question = {.uid = "new", .node_name = "n2", .facts = &facts};
    struct reserve_result result = {0};
    assert_int_equal(reserve_room(fixture->cluster, &question, &result), RESERVE_HELD);
    cluster_relist_begin(fixture->cluster, CLUSTER_PODS);
    cluster_relist_end(fixture->cluster, CLUSTER_PODS);
    assert_free(fixture, 8, 3, 1);
    reservation_release(fixture->cluster, "new", result.serial);
    assert_free(fixture, 8, 8, 0);
}

/* A reservation on a deleted node holds when the node returns. */
static void test_a_returning_node_has_its_reservations(void **state)
{
    struct fixture *fixture = held(state);
    fixture_remove_node(fixture, "n1");
    assert_int_equal(cluster_n_reservations(fixture->cluster), 1);
    assert_string_equal(cluster_find_reservation(fixture->cluster, "p")->node_name, "n1");
    fixture_put_node(fixture, "n1", "pods=110 " GPU "=8", "");
    assert_free(fixture, 2, 8, 1);
    fixture_remove_node(fixture, "n1");
    fixture_remove_pod(fixture, "p");
    fixture_put_node(fixture, "n1", "pods=110 " GPU "=8", "");
    assert_free(fixture, 8, 8, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_bound_pod_turns_its_reservation_into_usage),
        TEST(test_a_pod_bound_elsewhere_drops_its_reservation),
        TEST(test_a_changed_unbound_pod_keeps_its_reservation),
        TEST(test_a_terminating_pod_drops_its_reservation),
        TEST(test_a_finished_pod_drops_its_reservation),
        TEST(test_a_deleted_pod_drops_its_reservation),
        TEST(test_deletion_of_an_unseen_pod_drops_its_reservation),
        TEST(test_a_pod_first_seen_on_its_node_turns_into_usage),
        TEST(test_a_recreated_pod_drops_the_old_reservation),
        TEST(test_events_of_the_old_pod_keep_the_new_reservation),
        TEST(test_the_same_name_in_another_namespace_is_another_pod),
        TEST(test_a_list_with_the_pod_keeps_its_reservation),
        TEST(test_a_swept_pod_drops_its_reservation),
        TEST(test_a_sweep_keeps_reservations_of_unseen_pods),
        TEST(test_a_returning_node_has_its_reservations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
