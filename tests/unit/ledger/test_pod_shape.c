/* pod_shape: shapes are kept once, copied, and resolved against the ledger's resources. */
#include "given.h"
#include "ledger/pod_shape.h"
#include "unit.h"

#include <string.h>

#define GPU "nvidia.com/gpu"

/* Sets one fact, a different one for each i. */
static void with_selector(struct given *given, struct shape_facts *facts, size_t i)
{
    switch (i) {
    case 0:
        facts->node_selector = given_term(given, "zone In a");
        break;
    case 1:
        facts->affinity = given_selector(given, "zone In a");
        break;
    case 2:
        facts->affinity = given_selector(given, "zone NotIn a");
        break;
    case 3:
        facts->affinity = given_selector(given, "");
        break;
    case 4:
        facts->legacy_affinity = given_selector(given, "accelerator In A100");
        break;
    case 5:
        facts->legacy_affinity = given_legacy_selector(given, "accelerator In A100");
        break;
    default:
        facts->affinity = given_selector(given, "@zone In a");
        break;
    }
}

static void with_preference(struct given *given, struct shape_facts *facts, int64_t weight)
{
    struct preferred_term *preferred = ARENA_NEW(given->arena, struct preferred_term);
    *preferred = (struct preferred_term){weight, given_term(given, "zone In a")};
    facts->preferred = preferred;
    facts->n_preferred = 1;
}

static void shape_with(struct given *given, struct shape_facts *facts, size_t i)
{
    switch (i) {
    case 7:
        facts->tolerations = given_tolerations(given, "a=b", &facts->n_tolerations);
        break;
    case 8:
        facts->tolerations = given_tolerations(given, "a=b:NoExecute", &facts->n_tolerations);
        break;
    case 9:
        facts->tolerations = given_tolerations(given, "*", &facts->n_tolerations);
        break;
    case 10:
        facts->wants.accept = given_models(given, "A100, H100", &facts->wants.n_accept);
        break;
    case 11:
        facts->wants.accept = given_models(given, "H100, A100", &facts->wants.n_accept);
        break;
    case 12:
        facts->wants.exclude = given_models(given, "A100, H100", &facts->wants.n_exclude);
        break;
    case 13:
        facts->wants.min_memory_bytes = 1;
        break;
    case 14: /* only its demand */
        break;
    case 15:
    case 16:
        with_preference(given, facts, (int64_t)i);
        break;
    case 17:
        facts->allow_shared = ALLOW_SHARED_YES;
        break;
    case 18:
        facts->allow_shared = ALLOW_SHARED_NO;
        break;
    default:
        with_selector(given, facts, i);
        break;
    }
}

/* Shapes with any difference are distinct; equal ones are one, wherever their facts are stored. */
static void test_shapes_are_equal_only_when_all_facts_are(void **state)
{
    enum { N = 19 };
    struct given *given = *state;
    const struct pod_shape *shapes[N] = {NULL};
    for (size_t i = 0; i < N; i++) {
        const char *uid = arena_printf(given->arena, "p%zu", i);
        const char *twin = arena_printf(given->arena, "twin%zu", i);
        struct pod_facts facts = given_pod_facts(given, uid, "", GPU "=1");
        shape_with(given, &facts.shape, i);
        given_pod_of(given, &facts);
        shapes[i] = cluster_find_pod(given->cluster, uid)->shape;
        facts = given_pod_facts(given, twin, "", GPU "=1");
        shape_with(given, &facts.shape, i);
        given_pod_of(given, &facts);
        assert_ptr_equal(cluster_find_pod(given->cluster, twin)->shape, shapes[i]);
        for (size_t j = 0; j < i; j++) {
            if (shapes[i] == shapes[j])
                fail_msg("shapes %zu and %zu should be two", j, i);
        }
    }
}

/* The same letters in other words. */
static void test_shapes_differ_by_where_a_word_ends(void **state)
{
    struct given *given = *state;
    const char *const TERMS[] = {"zone In ab|c", "zone In a|bc", "zone In abc|d", "zonea In b|c"};
    const struct pod_shape *shapes[4] = {NULL};
    for (size_t i = 0; i < 4; i++) {
        const char *uid = arena_printf(given->arena, "p%zu", i);
        struct pod_facts facts = given_pod_facts(given, uid, "", GPU "=1");
        facts.shape.node_selector = given_term(given, TERMS[i]);
        given_pod_of(given, &facts);
        shapes[i] = cluster_find_pod(given->cluster, uid)->shape;
        for (size_t j = 0; j < i; j++)
            assert_ptr_not_equal(shapes[i], shapes[j]);
    }
}

/* The facts are in a request's arena, which is freed. */
static void test_facts_are_copied(void **state)
{
    struct given *given = *state;
    struct given request = {
        .policy = given->policy, .arena = arena_new(), .cluster = given->cluster};
    struct node_facts node = given_node_facts(&request, arena_strdup(request.arena, "n1"),
                                              GPU "=8 cpu=1", "zone=a,accelerator=A100");
    node.taints = given_taints(&request, "a=b:NoSchedule", &node.n_taints);
    given_node_of(&request, &node);
    struct pod_facts pod =
        given_pod_facts(&request, arena_strdup(request.arena, "p1"), "n1", GPU "=1");
    pod.refusal = arena_strdup(request.arena, "why");
    shape_with(&request, &pod.shape, 5);
    shape_with(&request, &pod.shape, 7);
    shape_with(&request, &pod.shape, 10);
    shape_with(&request, &pod.shape, 15);
    given_pod_of(&request, &pod);
    arena_free(request.arena);

    assert_string_equal(cluster_find_pod(given->cluster, "p1")->refusal, "why");
    const struct shape_facts *facts = &cluster_find_pod(given->cluster, "p1")->shape->facts;
    assert_string_equal(facts->legacy_affinity.terms[0].requirements[0].models[0].chip, "A100");
    assert_string_equal(facts->legacy_affinity.terms[0].requirements[0].values[0], "A100");
    assert_string_equal(facts->tolerations[0].value, "b");
    assert_string_equal(facts->wants.accept[1].chip, "H100");
    assert_string_equal(facts->preferred[0].term.requirements[0].key, "zone");
    assert_string_equal(node_traits(given_find(given, "n1"))->taints[0].key, "a");
    assert_string_equal(node_traits(given_find(given, "n1"))->model_value, "A100");
    assert_int_equal(given_used(given, "n1", GPU), 1);
}

/* Order of the demand's GPU resources, and names unknown to the ledger. */
static void test_a_resolved_shape(void **state)
{
    struct given *given = *state;
    given_node(given, "n1", "cpu=1 memory=1 " GPU "=8", "");
    const struct shape_facts facts = given_shape_facts(
        given, "cpu=1 amd.com/gpu=2 memory=3 nvidia.com/gpu=4 unheard.of/thing=5");
    const struct pod_shape *shape = given_resolved(given, &facts);
    assert_int_equal(shape->n_needs, 6);
    assert_int_equal(shape->n_gpu_needs, 2);
    assert_string_equal(shape->needs[0].resource->name, "amd.com/gpu");
    assert_int_equal(shape->needs[0].amount, 2);
    assert_string_equal(shape->needs[1].resource->name, GPU);
    assert_int_equal(shape->needs[1].amount, 4);
    const struct node *node = given_find(given, "n1");
    size_t n_known = 0;
    for (size_t i = 0; i < shape->n_needs; i++)
        n_known += node_find_resource(node, shape->needs[i].resource) != NULL;
    assert_int_equal(n_known, 3);
    const struct shape_facts nothing = {0};
    assert_int_equal(given_resolved(given, &nothing)->n_needs, 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, given_setup, given_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_shapes_are_equal_only_when_all_facts_are),
        TEST(test_shapes_differ_by_where_a_word_ends),
        TEST(test_facts_are_copied),
        TEST(test_a_resolved_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
