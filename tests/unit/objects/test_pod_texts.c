/* Texts of a pod that the ledger keeps are short, whatever a tenant writes. */
#include "objects/pod.h"

#include "fixture.h"

#include <string.h>

#define REQUIRED                                                                                   \
    "'affinity': {'nodeAffinity': {'requiredDuringSchedulingIgnoredDuringExecution': "             \
    "{'nodeSelectorTerms': [{"

/* Text around a part of any length. */
static const struct {
    const char *before, *after;
} REFUSED[] = {
    {"{'spec': {'containers': [{'name': '",
     "', 'resources': {'limits': {'nvidia.com/gpu': '1.5'}}}]}}"},
    {"{'spec': {'containers': [{'resources': {'requests': {'nvidia.com/gpu': '9e", "'}}}]}}"},
    {"{'metadata': {'annotations': {'gpu-extender.io/models': '", "'}}}"},
    {"{'metadata': {'annotations': {'gpu-extender.io/allow-shared': '", "'}}}"},
    {"{'spec': {'tolerations': [{'key': 'a', 'effect': '", "'}]}}"},
    {"{'spec': {" REQUIRED "'matchExpressions': [{'key': 'a', 'operator': '", "'}]}]}}}}}"},
    {"{'spec': {" REQUIRED "'matchFields': [{'operator': 'In', 'key': '", "'}]}]}}}}}"},
};

static void test_refusal_texts_are_bounded(void **state)
{
    struct fixture *fixture = *state;
    static const size_t LENGTHS[] = {900, 100000};
    for (size_t i = 0; i < 2 * (sizeof REFUSED / sizeof *REFUSED); i++) {
        struct pod_facts facts = {0};
        char *text = arena_alloc(fixture->arena, LENGTHS[i % 2] + 1);
        memset(text, '7', LENGTHS[i % 2]);
        const json_t *pod =
            fixture_json(fixture, arena_printf(fixture->arena, "%s%s%s", REFUSED[i / 2].before,
                                               text, REFUSED[i / 2].after));
        if (pod_from_json(pod, &fixture->policy, fixture->arena, &facts, &fixture->err) < 0)
            fail_msg("%zu: %s", i, fixture->err.text);
        /* A long run of digits names a model. */
        if (facts.refusal)
            assert_in_range(strlen(facts.refusal), 1, 1024);
        assert_true(facts.refusal || facts.shape.wants.n_accept == 1);
    }
}

/* Names that no API server accepts. */
static void test_a_too_long_name_is_an_error(void **state)
{
    struct fixture *fixture = *state;
    static const char *const BEFORE[] = {
        "{'metadata': {'name': '", "{'metadata': {'uid': '", "{'spec': {'priorityClassName': '",
        "{'spec': {'nodeName': '", "{'status': {'nominatedNodeName': '"};
    char text[255];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    for (size_t i = 0; i < sizeof BEFORE / sizeof *BEFORE; i++) {
        struct pod_facts facts = {0};
        const json_t *pod =
            fixture_json(fixture, arena_printf(fixture->arena, "%s%s'}}", BEFORE[i], text));
        assert_int_equal(
            pod_from_json(pod, &fixture->policy, fixture->arena, &facts, &fixture->err), -EINVAL);
    }
}

/* A prefix of 253 bytes, "/" and 63 bytes are the most that the API server takes. */
static void test_a_resource_name_over_317_bytes_is_an_error(void **state)
{
    struct fixture *fixture = *state;
    for (int len = 317; len <= 318; len++) {
        struct pod_facts facts = {0};
        const char *name = arena_printf(fixture->arena, "nvidia.com/mig-%0*d", len - 15, 7);
        assert_int_equal(strlen(name), len);
        const json_t *pod = fixture_json(
            fixture,
            arena_printf(fixture->arena,
                         "{'spec': {'containers': [{'resources': {'limits': {'%s': '1.5'}}}]}}",
                         name));
        const int r = pod_from_json(pod, &fixture->policy, fixture->arena, &facts, &fixture->err);
        assert_int_equal(r, len == 317 ? 0 : -EINVAL);
        if (r == 0)
            assert_in_range(strlen(facts.refusal), 1, 1024);
    }
}

/* 5,000 host names: only kube-scheduler judges them, so the pod is not rejected. */
static void test_a_long_affinity_is_accepted(void **state)
{
    struct fixture *fixture = *state;
    struct pod_facts facts = {0};
    json_auto_t *values = json_array();
    for (size_t i = 0; i < 5000; i++)
        (void)json_array_append_new(values, json_sprintf("ip-10-0-%zu.example.internal", i));
    json_auto_t *pod = json_pack("{s:{s:{s:{s:{s:[{s:[{s:s, s:s, s:O}]}]}}}}}", "spec", "affinity",
                                 "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution",
                                 "nodeSelectorTerms", "matchExpressions", "key",
                                 "kubernetes.io/hostname", "operator", "In", "values", values);
    assert_int_equal(pod_from_json(pod, &fixture->policy, fixture->arena, &facts, &fixture->err),
                     0);
    assert_null(facts.refusal);
    assert_int_equal(facts.shape.over, SHAPE_LIMIT_POD);
    assert_false(facts.shape.affinity.present);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_refusal_texts_are_bounded),
        FIXTURE_TEST(test_a_too_long_name_is_an_error),
        FIXTURE_TEST(test_a_resource_name_over_317_bytes_is_an_error),
        FIXTURE_TEST(test_a_long_affinity_is_accepted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
