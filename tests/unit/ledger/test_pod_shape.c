/* pod_shape: shapes are kept once, copied, and resolved against the ledger's resources. */
#include "fixture.h"
#include "ledger/cluster.h"
#include "unit.h"

#include <string.h>

#define GPU "nvidia.com/gpu"

/* Sets one fact, a different one for each i. */
static void with_selector(struct fixture *fixture, struct shape_facts *facts, size_t i)
{
    switch (i) {
    case 0:
        facts->node_selector = fixture_term(fixture, "zone In a");
        break;
    case 1:
        facts->affinity = fixture_selector(fixture, "zone In a");
        break;
    case 2:
        facts->affinity = fixture_selector(fixture, "zone NotIn a");
        break;
    case 3:
        facts->affinity = fixture_selector(fixture, "");
        break;
    case 4:
        facts->legacy_affinity = fixture_selector(fixture, "accelerator In A100");
        break;
    case 5:
        facts->legacy_affinity = fixture_legacy_selector(fixture, "accelerator In A100");
        break;
    default:
        facts->affinity = fixture_selector(fixture, "@zone In a");
        break;
    }
}

static void with_preference(struct fixture *fixture, struct shape_facts *facts, int64_t weight)
{
    struct preferred_term *preferred = ARENA_NEW(fixture->arena, struct preferred_term);
    *preferred = (struct preferred_term){weight, fixture_term(fixture, "zone In a")};
    facts->preferred = preferred;
    facts->n_preferred = 1;
}

static void shape_with(struct fixture *fixture, struct shape_facts *facts, size_t i)
{
    switch (i) {
    case 7:
        facts->tolerations = fixture_tolerations(fixture, "a=b", &facts->n_tolerations);
        break;
    case 8:
        facts->tolerations = fixture_tolerations(fixture, "a=b:NoExecute", &facts->n_tolerations);
        break;
    case 9:
        facts->tolerations = fixture_tolerations(fixture, "*", &facts->n_tolerations);
        break;
    case 10:
        facts->wants.accept = fixture_models(fixture, "A100, H100", &facts->wants.n_accept);
        break;
    case 11:
        facts->wants.accept = fixture_models(fixture, "H100, A100", &facts->wants.n_accept);
        break;
    case 12:
        facts->wants.exclude = fixture_models(fixture, "A100, H100", &facts->wants.n_exclude);
        break;
    case 13:
        facts->wants.min_memory_bytes = 1;
        break;
    case 14: /* only its demand */
        break;
    case 15:
    case 16:
        with_preference(fixture, facts, (int64_t)i);
        break;
    case 17:
        facts->allow_shared = ALLOW_SHARED_YES;
        break;
    case 18:
        facts->allow_shared = ALLOW_SHARED_NO;
        break;
    default:
        with_selector(fixture, facts, i);
        break;
    }
}

/* Shapes with any difference are distinct; equal ones are one, wherever their facts are stored. */
static void test_shapes_are_equal_only_if_all_facts_are(void **state)
{
    enum { N = 19 };
    struct fixture *fixture = *state;
    const struct pod_shape *shapes[N] = {NULL};
    for (size_t i = 0; i < N; i++) {
        const char *uid = arena_printf(fixture->arena, "p%zu", i);
        const char *twin = arena_printf(fixture->arena, "twin%zu", i);
        struct pod_facts facts = fixture_pod_facts(fixture, uid, "", GPU "=1");
        shape_with(fixture, &facts.shape, i);
        fixture_put_pod_facts(fixture, &facts);
        shapes[i] = cluster_find_pod(fixture->cluster, uid)->shape;
        facts = fixture_pod_facts(fixture, twin, "", GPU "=1");
        shape_with(fixture, &facts.shape, i);
        fixture_put_pod_facts(fixture, &facts);
        assert_ptr_equal(cluster_find_pod(fixture->cluster, twin)->shape, shapes[i]);
        for (size_t j = 0; j < i; j++) {
            if (shapes[i] == shapes[j])
                fail_msg("shapes %zu and %zu should be two", j, i);
        }
    }
}

/* The same letters in other words. */
static void test_shapes_differ_by_where_a_word_ends(void **state)
{
    struct fixture *fixture = *state;
    const char *const TERMS[] = {"zone In ab|c", "zone In a|bc", "zone In abc|d", "zonea In b|c"};
    const struct pod_shape *shapes[4] = {NULL};
    for (size_t i = 0; i < 4; i++) {
        const char *uid = arena_printf(fixture->arena, "p%zu", i);
        struct pod_facts facts = fixture_pod_facts(fixture, uid, "", GPU "=1");
        facts.shape.node_selector = fixture_term(fixture, TERMS[i]);
        fixture_put_pod_facts(fixture, &facts);
        shapes[i] = cluster_find_pod(fixture->cluster, uid)->shape;
        for (size_t j = 0; j < i; j++)
            assert_ptr_not_equal(shapes[i], shapes[j]);
    }
}

/* The facts are in a request's arena, which is freed. */
static void test_facts_are_copied(void **state)
{
    struct fixture *fixture = *state;
    struct fixture request = {
        .policy = fixture->policy, .arena = arena_new(), .cluster = fixture->cluster};
    struct node_facts node = fixture_node_facts(&request, arena_strdup(request.arena, "n1"),
                                                GPU "=8 cpu=1", "zone=a,accelerator=A100");
    node.taints = fixture_taints(&request, "a=b:NoSchedule", &node.n_taints);
    fixture_put_node_facts(&request, &node);
    struct pod_facts pod =
        fixture_pod_facts(&request, arena_strdup(request.arena, "p1"), "n1", GPU "=1");
    pod.refusal = arena_strdup(request.arena, "why");
    shape_with(&request, &pod.shape, 5);
    shape_with(&request, &pod.shape, 7);
    shape_with(&request, &pod.shape, 10);
    shape_with(&request, &pod.shape, 15);
    fixture_put_pod_facts(&request, &pod);
    arena_free(request.arena);

    assert_string_equal(cluster_find_pod(fixture->cluster, "p1")->refusal, "why");
    const struct shape_facts *facts = &cluster_find_pod(fixture->cluster, "p1")->shape->facts;
    assert_string_equal(facts->legacy_affinity.terms[0].requirements[0].models[0].chip, "A100");
    assert_string_equal(facts->legacy_affinity.terms[0].requirements[0].values[0], "A100");
    assert_string_equal(facts->tolerations[0].value, "b");
    assert_string_equal(facts->wants.accept[1].chip, "H100");
    assert_string_equal(facts->preferred[0].term.requirements[0].key, "zone");
    assert_string_equal(node_traits(fixture_find_node(fixture, "n1"))->taints[0].key, "a");
    assert_string_equal(node_traits(fixture_find_node(fixture, "n1"))->gpus.value, "A100");
    assert_int_equal(fixture_used(fixture, "n1", GPU), 1);
}

/* Order of the demand's GPU resources, and names unknown to the ledger. */
static void test_a_resolved_shape(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "cpu=1 memory=1 " GPU "=8", "");
    const struct shape_facts facts = fixture_shape_facts(
        fixture, "cpu=1 amd.com/gpu=2 memory=3 nvidia.com/gpu=4 unheard.of/thing=5");
    const struct pod_shape *shape = fixture_resolve(fixture, &facts);
    assert_int_equal(shape->n_needs, 6);
    assert_int_equal(shape->n_gpu_needs, 2);
    assert_string_equal(shape->needs[0].resource->name, "amd.com/gpu");
    assert_int_equal(shape->needs[0].amount, 2);
    assert_string_equal(shape->needs[1].resource->name, GPU);
    assert_int_equal(shape->needs[1].amount, 4);
    const struct node *node = fixture_find_node(fixture, "n1");
    size_t n_known = 0;
    for (size_t i = 0; i < shape->n_needs; i++)
        n_known += node_find_resource(node, shape->needs[i].resource) != NULL;
    assert_int_equal(n_known, 3);
    const struct shape_facts nothing = {0};
    assert_int_equal(fixture_resolve(fixture, &nothing)->n_needs, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_shapes_are_equal_only_if_all_facts_are),
        TEST(test_shapes_differ_by_where_a_word_ends),
        TEST(test_facts_are_copied),
        TEST(test_a_resolved_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
