/* shape_limits: the parts kept of a shape over a limit, and each namespace's share. */
#include "decide/reserve.h"
#include "fixture_question.h"
#include "ledger.h"
#include "ledger/gpu_demand.h"
#include "ledger/shape_limits.h"
#include "unit.h"

#include <string.h>

#define GPU "nvidia.com/gpu"
#define KI ((size_t)1024)

/* A selector with n values of 16 bytes each. */
static struct node_selector long_selector(struct fixture *fixture, const char *mark, size_t n)
{
    struct selector_term *term = ARENA_NEW(fixture->arena, struct selector_term);
    struct requirement *requirement = ARENA_NEW(fixture->arena, struct requirement);
    const char **values = ARENA_ARRAY(fixture->arena, const char *, n);
    for (size_t i = 0; i < n; i++)
        values[i] = arena_printf(fixture->arena, "%.6s-%08zu", mark, i);
    *requirement = (struct requirement){
        .key = "kubernetes.io/hostname", .op = SELECTOR_IN, .values = values, .n_values = n};
    *term = (struct selector_term){requirement, 1};
    return (struct node_selector){true, term, 1};
}

static struct pod_facts pod_of(struct fixture *fixture, const char *namespace_, const char *uid,
                               size_t n_values)
{
    struct pod_facts facts = fixture_pod_facts(fixture, uid, "", GPU "=1");
    facts.namespace_ = namespace_;
    facts.name = uid;
    if (n_values > 0)
        facts.shape.affinity = long_selector(fixture, uid, n_values);
    return facts;
}

static const struct shape_facts *kept_of(const struct fixture *fixture, const char *uid)
{
    return &cluster_find_pod(fixture->cluster, uid)->shape->facts;
}

static size_t kept_bytes(const struct fixture *fixture)
{
    return cluster_shape_use(fixture->cluster).bytes;
}

/* Reduces like objects/. */
static void add(struct fixture *fixture, struct pod_facts *facts)
{
    shape_limit(&facts->shape, &fixture->policy);
    fixture_put_pod_facts(fixture, facts);
}

static void test_a_shape_costs_its_stated_bytes(void **state)
{
    struct fixture *fixture = *state;
    struct pod_facts facts = pod_of(fixture, "a", "p1", 100);
    facts.shape.tolerations = fixture_tolerations(fixture, "a=b", &facts.shape.n_tolerations);
    facts.shape.wants.accept = fixture_models(fixture, "A100, H100", &facts.shape.wants.n_accept);
    facts.shape.legacy_affinity = fixture_legacy_selector(fixture, "accelerator In A100");
    const size_t said = shape_bytes(&facts.shape, &fixture->policy, SIZE_MAX);
    add(fixture, &facts);
    assert_in_range(kept_bytes(fixture), said, said + 512);
    assert_int_equal(kept_of(fixture, "p1")->over, SHAPE_LIMIT_NONE);
    fixture_remove_pod(fixture, "p1");
    assert_int_equal(kept_bytes(fixture), 0);
}

/* 200,000 values: some hundred bytes remain, and what filter and bind judge. */
static void test_a_huge_shape_is_reduced_to_its_judged_part(void **state)
{
    struct fixture *fixture = *state;
    struct pod_facts facts = pod_of(fixture, "a", "huge", 200000);
    facts.shape.wants.accept = fixture_models(fixture, "A100", &facts.shape.wants.n_accept);
    add(fixture, &facts);
    const struct shape_facts *kept = kept_of(fixture, "huge");
    assert_in_range(kept_bytes(fixture), 1, 4 * KI);
    assert_int_equal(kept->over, SHAPE_LIMIT_POD);
    assert_false(kept->affinity.present);
    assert_int_equal(kept->wants.n_accept, 1);
    assert_int_equal(shape_demand(kept, GPU), 1);
    assert_int_equal(cluster_shape_use(fixture->cluster).n_pods_over[SHAPE_LIMIT_POD], 1);
    fixture_remove_pod(fixture, "huge");
    assert_int_equal(cluster_shape_use(fixture->cluster).n_pods_over[SHAPE_LIMIT_POD], 0);
    assert_int_equal(kept_bytes(fixture), 0);
}

/* Adds pods with shapes of their own, about 4 KiB each, until one is reduced. */
static size_t fill(struct fixture *fixture, const char *namespace_, size_t n)
{
    size_t n_whole = 0;
    for (size_t i = 0; i < n; i++) {
        const char *uid = arena_printf(fixture->arena, "%s%zu", namespace_, i);
        struct pod_facts facts = pod_of(fixture, namespace_, uid, 128);
        add(fixture, &facts);
        n_whole += kept_of(fixture, uid)->over == SHAPE_LIMIT_NONE;
    }
    return n_whole;
}

static void empty(struct fixture *fixture, const char *namespace_, size_t n)
{
    for (size_t i = 0; i < n; i++)
        fixture_remove_pod(fixture, arena_printf(fixture->arena, "%s%zu", namespace_, i));
}

static size_t kept_by(const struct fixture *fixture, const char *namespace_)
{
    return shape_accounts_kept(&fixture->cluster->shapes->accounts, namespace_);
}

/* 64 KiB hold about 16 of these shapes: the first namespace gets half, the next a third of the
 * rest, and each later one some too. Released bytes become available to others. */
static void test_the_sum_is_shared_by_namespaces(void **state)
{
    struct fixture *fixture = *state;
    fixture->policy.pod_shapes_bytes = 64 * KI;
    const size_t n_first = fill(fixture, "a", 40);
    assert_in_range(kept_by(fixture, "a"), 24 * KI, 32 * KI);
    const size_t n_second = fill(fixture, "b", 40);
    assert_in_range(n_second, 2, n_first - 1);
    assert_in_range(fill(fixture, "c", 40), 1, n_second);
    assert_int_equal(kept_of(fixture, "a39")->over, SHAPE_LIMIT_SUM);
    assert_true(kept_of(fixture, "a39")->demand_only);
    assert_int_equal(shape_demand(kept_of(fixture, "a39"), GPU), 1);
    empty(fixture, "a", 40);
    empty(fixture, "c", 40);
    assert_int_equal(kept_by(fixture, "a"), 0);
    assert_in_range(fill(fixture, "d", 40), n_second + 1, n_first);
    empty(fixture, "b", 40);
    empty(fixture, "d", 40);
    assert_int_equal(kept_bytes(fixture), 0);
}

/* The other owner of the shape keeps it when the first one's pod is deleted, and is still
 * charged. */
static void test_a_shape_of_two_namespaces_counts_for_both(void **state)
{
    struct fixture *fixture = *state;
    struct pod_facts mine = pod_of(fixture, "a", "mine", 128);
    struct pod_facts theirs = pod_of(fixture, "b", "theirs", 0);
    theirs.shape = mine.shape;
    add(fixture, &mine);
    const size_t bytes = kept_bytes(fixture);
    add(fixture, &theirs);
    assert_int_equal(kept_bytes(fixture), bytes);
    assert_int_equal(kept_by(fixture, "a"), bytes);
    assert_int_equal(kept_by(fixture, "b"), bytes);
    fixture_remove_pod(fixture, "mine");
    assert_int_equal(kept_by(fixture, "a"), 0);
    assert_int_equal(kept_by(fixture, "b"), bytes);
}

/* Two namespaces cannot fill the sum by passing shapes to each other. */
static void test_taking_over_a_shape_is_counted(void **state)
{
    struct fixture *fixture = *state;
    fixture->policy.pod_shapes_bytes = 64 * KI;
    const size_t n = fill(fixture, "a", 8);
    for (size_t i = 0; i < n; i++) {
        struct pod_facts facts = pod_of(fixture, "a", arena_printf(fixture->arena, "a%zu", i), 128);
        facts.uid = facts.name = arena_printf(fixture->arena, "b%zu", i);
        facts.namespace_ = "b";
        add(fixture, &facts);
    }
    empty(fixture, "a", 8);
    assert_in_range(fill(fixture, "z", 8), 2, 7);
    assert_in_range(fill(fixture, "c", 40), 1, 8);
}

/* A reduced pod becomes whole with its next update, if there is room then. */
static void test_freed_budget_is_used_again(void **state)
{
    struct fixture *fixture = *state;
    fixture->policy.pod_shapes_bytes = 64 * KI;
    const size_t n = fill(fixture, "a", 40);
    assert_in_range(n, 2, 20);
    empty(fixture, "a", n);
    struct pod_facts last = pod_of(fixture, "a", "a39", 128);
    assert_int_equal(kept_of(fixture, "a39")->over, SHAPE_LIMIT_SUM);
    add(fixture, &last);
    assert_int_equal(kept_of(fixture, "a39")->over, SHAPE_LIMIT_NONE);
}

/* A reduced pod's demand omits names unknown to others, but keeps a few GPU names. */
static void test_a_demand_over_the_limit_keeps_gpus(void **state)
{
    struct fixture *fixture = *state;
    fixture->policy.pod_shapes_bytes = 0;
    fixture_put_node(fixture, "n1", "cpu=8 example.com/fpga=2 " GPU "=8", "");
    struct pod_facts facts = fixture_pod_facts(
        fixture, "p", "n1",
        "cpu=1 example.com/fpga=1 example.com/other=1 nvidia.com/mig-1g.5gb=1 " GPU "=2");
    fixture_put_pod_facts(fixture, &facts);
    const struct shape_facts *kept = kept_of(fixture, "p");
    assert_true(kept->demand_only);
    assert_int_equal(fixture_used(fixture, "n1", GPU), 2);
    assert_int_equal(fixture_used(fixture, "n1", "cpu"), 1);
    assert_int_equal(fixture_used(fixture, "n1", "example.com/fpga"), 1);
    assert_int_equal(shape_demand(kept, "nvidia.com/mig-1g.5gb"), 1);
    assert_int_equal(shape_demand(kept, "example.com/other"), 0);
}

/* Names used by other pods do not count as names of nodes. Otherwise a few pods could keep names
 * for any number of others, beyond both limits. */
static void test_a_demand_over_the_limit_keeps_no_names_of_other_pods(void **state)
{
    enum { N_PODS = 200, N_NAMES = 256 };
    struct fixture *fixture = *state;
    fixture->policy.pod_shapes_bytes = 1024 * KI;
    for (size_t pod = 0; pod < N_PODS; pod++) {
        const char *uid = arena_printf(fixture->arena, "p%03zu", pod);
        struct amount *demand = ARENA_ARRAY(fixture->arena, struct amount, N_NAMES);
        /* The first ones name a few each, which are kept; the others name all. */
        const size_t n = pod < 8 ? N_NAMES / 8 : N_NAMES;
        for (size_t i = 0; i < n; i++) {
            const size_t name = pod < 8 ? pod * n + i : i;
            demand[i] = (struct amount){arena_printf(fixture->arena, "example.com/%0200zu", name),
                                        (int64_t)(pod + 1)};
        }
        struct pod_facts facts = pod_of(fixture, "a", uid, 0);
        facts.shape.demand = demand;
        facts.shape.n_demand = n;
        add(fixture, &facts);
    }
    assert_int_equal(kept_of(fixture, "p000")->n_demand, N_NAMES / 8);
    assert_true(kept_of(fixture, "p199")->demand_only);
    assert_int_equal(kept_of(fixture, "p199")->n_demand, 0);
    assert_in_range(kept_bytes(fixture), 1, 1024 * KI);
}

/* For such a pod bind uses the API server's current facts. */
static void test_bind_needs_facts_of_a_reduced_shape(void **state)
{
    struct fixture *fixture = *state;
    struct reserve_result result = {0};
    fixture->policy.pod_shapes_bytes = 0;
    fixture_put_node(fixture, "t4", GPU "=8", "accelerator=T4");
    fixture_put_node(fixture, "a100", GPU "=8", "accelerator=A100");
    struct pod_facts facts = fixture_pod_facts(fixture, "p", "", GPU "=2");
    facts.shape.wants.accept = fixture_models(fixture, "A100", &facts.shape.wants.n_accept);
    fixture_put_pod_facts(fixture, &facts);
    struct reserve_question question = {.uid = "p", .node_name = "t4"};
    assert_int_equal(reserve_room(fixture->cluster, &question, &result), RESERVE_POD_UNKNOWN);
    question.facts = &facts;
    assert_int_equal(reserve_room(fixture->cluster, &question, &result), RESERVE_REFUSED);
    assert_int_equal(result.reason, REASON_MODEL_NOT_WANTED);
    question.node_name = "a100";
    assert_int_equal(reserve_room(fixture->cluster, &question, &result), RESERVE_HELD);
    assert_int_equal(fixture_reserved(fixture, "a100", GPU), 2);
    question.facts = NULL;
    assert_int_equal(reserve_room(fixture->cluster, &question, &result), RESERVE_HELD);
}

static void test_prices_exclude_reduced_shapes(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", GPU "=8", "");
    struct pod_facts huge = pod_of(fixture, "a", "huge", 20000);
    struct pod_facts plain = pod_of(fixture, "a", "plain", 0);
    add(fixture, &huge);
    add(fixture, &plain);
    gpu_demand_settle(fixture->cluster);
    const struct gpu_demand *demand =
        gpu_demand_find(fixture->cluster, cluster_find_resource(fixture->cluster, GPU));
    assert_int_equal(demand->n_classes, 1);
    assert_ptr_equal(demand->classes[0].shape, cluster_find_pod(fixture->cluster, "plain")->shape);
}

/* Ties in a demand are ordered by contents, whatever the key. */
static void test_the_order_of_shapes_is_the_same_for_every_key(void **state)
{
    struct fixture *fixture = *state;
    const struct siphash_key key = hash_key();
    const struct shape_facts facts = fixture_shape_facts(fixture, GPU "=1");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_shape_costs_its_stated_bytes),
        TEST(test_a_huge_shape_is_reduced_to_its_judged_part),
        TEST(test_the_sum_is_shared_by_namespaces),
        TEST(test_a_shape_of_two_namespaces_counts_for_both),
        TEST(test_taking_over_a_shape_is_counted),
        TEST(test_freed_budget_is_used_again),
        TEST(test_a_demand_over_the_limit_keeps_gpus),
        TEST(test_a_demand_over_the_limit_keeps_no_names_of_other_pods),
        TEST(test_bind_needs_facts_of_a_reduced_shape),
        TEST(test_prices_exclude_reduced_shapes),
        TEST(test_the_order_of_shapes_is_the_same_for_every_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
