/* shape_limits: the parts kept of a shape over a limit, and each namespace's share. */
#include "decide/reserve.h"
#include "given_question.h"
#include "ledger.h"
#include "ledger/gpu_demand.h"
#include "ledger/shape_copy.h"
#include "ledger/shape_limits.h"
#include "unit.h"

#include <string.h>

#define GPU "nvidia.com/gpu"
#define KI ((size_t)1024)

/* A selector with n values of 16 bytes each. */
static struct node_selector long_selector(struct given *given, const char *mark, size_t n)
{
    struct selector_term *term = ARENA_NEW(given->arena, struct selector_term);
    struct requirement *requirement = ARENA_NEW(given->arena, struct requirement);
    const char **values = ARENA_ARRAY(given->arena, const char *, n);
    for (size_t i = 0; i < n; i++)
        values[i] = arena_printf(given->arena, "%.6s-%08zu", mark, i);
    *requirement = (struct requirement){
        .key = "kubernetes.io/hostname", .op = SELECTOR_IN, .values = values, .n_values = n};
    *term = (struct selector_term){requirement, 1};
    return (struct node_selector){true, term, 1};
}

static struct pod_facts pod_of(struct given *given, const char *namespace_, const char *uid,
                               size_t n_values)
{
    struct pod_facts facts = given_pod_facts(given, uid, "", GPU "=1");
    facts.namespace_ = namespace_;
    facts.name = uid;
    if (n_values > 0)
        facts.shape.affinity = long_selector(given, uid, n_values);
    return facts;
}

static const struct shape_facts *kept_of(const struct given *given, const char *uid)
{
    return &cluster_find_pod(given->cluster, uid)->shape->facts;
}

static size_t kept_bytes(const struct given *given)
{
    return cluster_shape_use(given->cluster).bytes;
}

/* Reduces like objects/. */
static void add(struct given *given, struct pod_facts *facts)
{
    shape_limit(&facts->shape, &given->policy);
    given_pod_of(given, facts);
}

static void test_a_shape_costs_what_it_is_said_to(void **state)
{
    struct given *given = *state;
    struct pod_facts facts = pod_of(given, "a", "p1", 100);
    facts.shape.tolerations = given_tolerations(given, "a=b", &facts.shape.n_tolerations);
    facts.shape.wants.accept = given_models(given, "A100, H100", &facts.shape.wants.n_accept);
    facts.shape.legacy_affinity = given_legacy_selector(given, "accelerator In A100");
    const size_t said = shape_bytes(&facts.shape, &given->policy, SIZE_MAX);
    add(given, &facts);
    assert_in_range(kept_bytes(given), said, said + 512);
    assert_int_equal(kept_of(given, "p1")->over, SHAPE_LIMIT_NONE);
    given_no_pod(given, "p1");
    assert_int_equal(kept_bytes(given), 0);
}

/* 200,000 values: some hundred bytes remain, and what filter and bind judge. */
static void test_a_huge_shape_is_reduced_to_what_we_judge(void **state)
{
    struct given *given = *state;
    struct pod_facts facts = pod_of(given, "a", "huge", 200000);
    facts.shape.wants.accept = given_models(given, "A100", &facts.shape.wants.n_accept);
    add(given, &facts);
    const struct shape_facts *kept = kept_of(given, "huge");
    assert_in_range(kept_bytes(given), 1, 4 * KI);
    assert_int_equal(kept->over, SHAPE_LIMIT_POD);
    assert_false(kept->affinity.present);
    assert_int_equal(kept->wants.n_accept, 1);
    assert_int_equal(shape_demand(kept, GPU), 1);
    assert_int_equal(cluster_shape_use(given->cluster).n_pods_over[SHAPE_LIMIT_POD], 1);
    given_no_pod(given, "huge");
    assert_int_equal(cluster_shape_use(given->cluster).n_pods_over[SHAPE_LIMIT_POD], 0);
    assert_int_equal(kept_bytes(given), 0);
}

/* Adds pods with shapes of their own, about 4 KiB each, until one is reduced. */
static size_t fill(struct given *given, const char *namespace_, size_t n)
{
    size_t n_whole = 0;
    for (size_t i = 0; i < n; i++) {
        const char *uid = arena_printf(given->arena, "%s%zu", namespace_, i);
        struct pod_facts facts = pod_of(given, namespace_, uid, 128);
        add(given, &facts);
        n_whole += kept_of(given, uid)->over == SHAPE_LIMIT_NONE;
    }
    return n_whole;
}

static void empty(struct given *given, const char *namespace_, size_t n)
{
    for (size_t i = 0; i < n; i++)
        given_no_pod(given, arena_printf(given->arena, "%s%zu", namespace_, i));
}

static size_t kept_by(const struct given *given, const char *namespace_)
{
    return shape_accounts_kept(&given->cluster->shapes->accounts, namespace_);
}

/* 64 KiB hold about 16 of these shapes: the first namespace gets half, the next a third of the
 * rest, and each later one some too. Released bytes become available to others. */
static void test_the_sum_is_shared_by_namespaces(void **state)
{
    struct given *given = *state;
    given->policy.pod_shapes_bytes = 64 * KI;
    const size_t n_first = fill(given, "a", 40);
    assert_in_range(kept_by(given, "a"), 24 * KI, 32 * KI);
    const size_t n_second = fill(given, "b", 40);
    assert_in_range(n_second, 2, n_first - 1);
    assert_in_range(fill(given, "c", 40), 1, n_second);
    assert_int_equal(kept_of(given, "a39")->over, SHAPE_LIMIT_SUM);
    assert_true(kept_of(given, "a39")->demand_only);
    assert_int_equal(shape_demand(kept_of(given, "a39"), GPU), 1);
    empty(given, "a", 40);
    empty(given, "c", 40);
    assert_int_equal(kept_by(given, "a"), 0);
    assert_in_range(fill(given, "d", 40), n_second + 1, n_first);
    empty(given, "b", 40);
    empty(given, "d", 40);
    assert_int_equal(kept_bytes(given), 0);
}

/* The other owner of the shape keeps it when the first one's pod is deleted, and is still
 * charged. */
static void test_a_shape_of_two_namespaces_counts_for_both(void **state)
{
    struct given *given = *state;
    struct pod_facts mine = pod_of(given, "a", "mine", 128);
    struct pod_facts theirs = pod_of(given, "b", "theirs", 0);
    theirs.shape = mine.shape;
    add(given, &mine);
    const size_t bytes = kept_bytes(given);
    add(given, &theirs);
    assert_int_equal(kept_bytes(given), bytes);
    assert_int_equal(kept_by(given, "a"), bytes);
    assert_int_equal(kept_by(given, "b"), bytes);
    given_no_pod(given, "mine");
    assert_int_equal(kept_by(given, "a"), 0);
    assert_int_equal(kept_by(given, "b"), bytes);
}

/* Two namespaces cannot fill the sum by passing shapes to each other. */
static void test_taking_over_a_shape_is_counted(void **state)
{
    struct given *given = *state;
    given->policy.pod_shapes_bytes = 64 * KI;
    const size_t n = fill(given, "a", 8);
    for (size_t i = 0; i < n; i++) {
        struct pod_facts facts = pod_of(given, "a", arena_printf(given->arena, "a%zu", i), 128);
        facts.uid = facts.name = arena_printf(given->arena, "b%zu", i);
        facts.namespace_ = "b";
        add(given, &facts);
    }
    empty(given, "a", 8);
    assert_in_range(fill(given, "z", 8), 2, 7);
    assert_in_range(fill(given, "c", 40), 1, 8);
}

/* A reduced pod becomes whole with its next update, if there is room then. */
static void test_room_that_is_free_again_is_used(void **state)
{
    struct given *given = *state;
    given->policy.pod_shapes_bytes = 64 * KI;
    const size_t n = fill(given, "a", 40);
    assert_in_range(n, 2, 20);
    empty(given, "a", n);
    struct pod_facts last = pod_of(given, "a", "a39", 128);
    assert_int_equal(kept_of(given, "a39")->over, SHAPE_LIMIT_SUM);
    add(given, &last);
    assert_int_equal(kept_of(given, "a39")->over, SHAPE_LIMIT_NONE);
}

/* A reduced pod's demand omits names unknown to others, but keeps a few GPU names. */
static void test_a_demand_without_room_keeps_gpus(void **state)
{
    struct given *given = *state;
    given->policy.pod_shapes_bytes = 0;
    given_node(given, "n1", "cpu=8 example.com/fpga=2 " GPU "=8", "");
    struct pod_facts facts = given_pod_facts(
        given, "p", "n1",
        "cpu=1 example.com/fpga=1 example.com/other=1 nvidia.com/mig-1g.5gb=1 " GPU "=2");
    given_pod_of(given, &facts);
    const struct shape_facts *kept = kept_of(given, "p");
    assert_true(kept->demand_only);
    assert_int_equal(given_used(given, "n1", GPU), 2);
    assert_int_equal(given_used(given, "n1", "cpu"), 1);
    assert_int_equal(given_used(given, "n1", "example.com/fpga"), 1);
    assert_int_equal(shape_demand(kept, "nvidia.com/mig-1g.5gb"), 1);
    assert_int_equal(shape_demand(kept, "example.com/other"), 0);
}

/* Names used by other pods do not count as names of nodes. Otherwise a few pods could keep names
 * for any number of others, beyond both limits. */
static void test_a_demand_without_room_keeps_no_names_of_other_pods(void **state)
{
    enum { N_PODS = 200, N_NAMES = 256 };
    struct given *given = *state;
    given->policy.pod_shapes_bytes = 1024 * KI;
    for (size_t pod = 0; pod < N_PODS; pod++) {
        const char *uid = arena_printf(given->arena, "p%03zu", pod);
        struct amount *demand = ARENA_ARRAY(given->arena, struct amount, N_NAMES);
        /* The first ones name a few each, which are kept; the others name all. */
        const size_t n = pod < 8 ? N_NAMES / 8 : N_NAMES;
        for (size_t i = 0; i < n; i++) {
            const size_t name = pod < 8 ? pod * n + i : i;
            demand[i] = (struct amount){arena_printf(given->arena, "example.com/%0200zu", name),
                                        (int64_t)(pod + 1)};
        }
        struct pod_facts facts = pod_of(given, "a", uid, 0);
        facts.shape.demand = demand;
        facts.shape.n_demand = n;
        add(given, &facts);
    }
    assert_int_equal(kept_of(given, "p000")->n_demand, N_NAMES / 8);
    assert_true(kept_of(given, "p199")->demand_only);
    assert_int_equal(kept_of(given, "p199")->n_demand, 0);
    assert_in_range(kept_bytes(given), 1, 1024 * KI);
}

/* For such a pod bind uses the API server's current facts. */
static void test_bind_asks_for_what_is_not_kept(void **state)
{
    struct given *given = *state;
    struct reserve_result result = {0};
    given->policy.pod_shapes_bytes = 0;
    given_node(given, "t4", GPU "=8", "accelerator=T4");
    given_node(given, "a100", GPU "=8", "accelerator=A100");
    struct pod_facts facts = given_pod_facts(given, "p", "", GPU "=2");
    facts.shape.wants.accept = given_models(given, "A100", &facts.shape.wants.n_accept);
    given_pod_of(given, &facts);
    struct reserve_question question = {.uid = "p", .node_name = "t4"};
    assert_int_equal(reserve_room(given->cluster, &question, &result), RESERVE_POD_UNKNOWN);
    question.facts = &facts;
    assert_int_equal(reserve_room(given->cluster, &question, &result), RESERVE_REFUSED);
    assert_int_equal(result.reason, REASON_MODEL_NOT_WANTED);
    question.node_name = "a100";
    assert_int_equal(reserve_room(given->cluster, &question, &result), RESERVE_HELD);
    assert_int_equal(given_reserved(given, "a100", GPU), 2);
    question.facts = NULL;
    assert_int_equal(reserve_room(given->cluster, &question, &result), RESERVE_HELD);
}

static void test_prices_leave_out_what_is_not_known(void **state)
{
    struct given *given = *state;
    given_node(given, "n1", GPU "=8", "");
    struct pod_facts huge = pod_of(given, "a", "huge", 20000);
    struct pod_facts plain = pod_of(given, "a", "plain", 0);
    add(given, &huge);
    add(given, &plain);
    gpu_demand_settle(given->cluster);
    const struct gpu_demand *demand =
        gpu_demand_find(given->cluster, cluster_find_resource(given->cluster, GPU));
    assert_int_equal(demand->n_classes, 1);
    assert_ptr_equal(demand->classes[0].shape, cluster_find_pod(given->cluster, "plain")->shape);
}

/* Ties in a demand are ordered by contents, whatever the key. */
static void test_the_order_of_shapes_is_the_same_for_every_key(void **state)
{
    struct given *given = *state;
    const struct siphash_key key = hash_key();
    const struct shape_facts facts = given_shape_facts(given, GPU "=1");
    const uint64_t order = shape_order(&facts);
    const struct siphash128 digest = shape_digest(&facts);
    hash_set_key((struct siphash_key){1, 2});
    const struct siphash128 other = shape_digest(&facts);
    const uint64_t order_by_other = shape_order(&facts);
    hash_set_key(key);
    assert_int_equal(order_by_other, order);
    assert_int_not_equal(other.low, digest.low);
    assert_int_not_equal(other.high, digest.high);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, given_setup, given_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_shape_costs_what_it_is_said_to),
        TEST(test_a_huge_shape_is_reduced_to_what_we_judge),
        TEST(test_the_sum_is_shared_by_namespaces),
        TEST(test_a_shape_of_two_namespaces_counts_for_both),
        TEST(test_taking_over_a_shape_is_counted),
        TEST(test_room_that_is_free_again_is_used),
        TEST(test_a_demand_without_room_keeps_gpus),
        TEST(test_a_demand_without_room_keeps_no_names_of_other_pods),
        TEST(test_bind_asks_for_what_is_not_kept),
        TEST(test_prices_leave_out_what_is_not_known),
        TEST(test_the_order_of_shapes_is_the_same_for_every_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
