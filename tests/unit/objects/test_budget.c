/* budget: a PodDisruptionBudget as facts. */
#include "objects/kinds.h"

#include "fixture.h"

#define METADATA "'metadata': {'namespace': 'ml', 'name': 'web', 'generation': 2}"
#define SPEC "'spec': {'selector': {'matchLabels': {'app': 'web'}}}"
#define STATUS                                                                                     \
    "'status': {'observedGeneration': 2, 'disruptionsAllowed': 1, 'currentHealthy': 3, "           \
    "'desiredHealthy': 2}"

static struct budget_facts read(struct fixture *fixture, const char *text)
{
    struct budget_facts facts = {0};
    if (budget_from_json(fixture_json(fixture, text), fixture->arena, &facts, &fixture->err) < 0)
        fail_msg("%s", fixture->err.text);
    fixture_json(fixture, "{}"); /* nothing refers to the JSON */
    return facts;
}

static void test_a_whole_budget(void **state)
{
    const struct budget_facts facts = read(*state, "{" METADATA ", " SPEC ", " STATUS "}");
    assert_string_equal(facts.namespace_, "ml");
    assert_string_equal(facts.name, "web");
    assert_int_equal(facts.selector.n_requirements, 1);
    assert_string_equal(facts.selector.requirements[0].key, "app");
    assert_string_equal(facts.selector.requirements[0].values[0], "web");
    assert_true(facts.allowed == 1 && facts.healthy == 3 && facts.desired == 2);
    assert_false(facts.selects_none || facts.is_cut || facts.frees_unready || facts.is_outdated);
}

/* policy/v1: no selector selects no pod, an empty one selects all of the namespace. */
static void test_selectors(void **state)
{
    struct fixture *fixture = *state;
    assert_true(read(fixture, "{" METADATA ", 'spec': {}}").selects_none);
    assert_true(read(fixture, "{" METADATA ", 'spec': {'selector': null}}").selects_none);
    const struct budget_facts all = read(fixture, "{" METADATA ", 'spec': {'selector': {}}}");
    assert_false(all.selects_none);
    assert_int_equal(all.selector.n_requirements, 0);
    const struct budget_facts both =
        read(fixture, "{" METADATA ", 'spec': {'selector': {'matchLabels': {'a': 'b'}, "
                      "'matchExpressions': [{'key': 'c', 'operator': 'DoesNotExist'}]}}}");
    assert_int_equal(both.selector.n_requirements, 2);
}

static void test_policies_of_unready_pods(void **state)
{
    struct fixture *fixture = *state;
    const struct budget_facts free =
        read(fixture, "{" METADATA ", 'spec': {'unhealthyPodEvictionPolicy': 'AlwaysAllow'}}");
    const struct budget_facts held =
        read(fixture, "{" METADATA ", 'spec': {'unhealthyPodEvictionPolicy': 'IfHealthyBudget'}}");
    assert_true(free.frees_unready && !held.frees_unready);
}

/* The API server evicts nothing while the status is older than the spec. */
static void test_a_status_that_is_old_or_missing(void **state)
{
    struct fixture *fixture = *state;
    assert_true(read(fixture, "{" METADATA ", " SPEC "}").is_outdated);
    assert_true(
        read(fixture, "{" METADATA ", " SPEC ", 'status': {'observedGeneration': 1}}").is_outdated);
    assert_false(
        read(fixture, "{" METADATA ", " SPEC ", 'status': {'observedGeneration': 3}}").is_outdated);
    const struct budget_facts odd =
        read(fixture, "{'metadata': {'name': 'web'}, " SPEC ", 'status': {'disruptionsAllowed': "
                      "-9223372036854775808, 'currentHealthy': 9223372036854775807}}");
    assert_string_equal(odd.namespace_, "default");
    assert_true(odd.allowed == INT64_MIN && odd.healthy == INT64_MAX && odd.desired == 0);
}

static void test_what_cannot_be_read(void **state)
{
    static const struct {
        const char *text, *message;
    } CASES[] = {
        {"{'metadata': {'name': 1}}", "metadata.name"},
        {"{" METADATA ", 'spec': []}", "spec"},
        {"{" METADATA ", 'spec': {'selector': 'app=web'}}", "spec.selector"},
        {"{" METADATA ", 'spec': {'selector': {'matchLabels': {'app': 1}}}}", "spec.selector"},
        {"{" METADATA ", 'spec': {'selector': {'matchExpressions': [{'key': 'a', 'operator': "
         "'Near'}]}}}",
         "spec.selector"},
        {"{" METADATA ", 'spec': {'unhealthyPodEvictionPolicy': 1}}", "spec.unhealthy"},
        {"{" METADATA ", 'status': 'fine'}", "status"},
        {"{" METADATA ", 'status': {'disruptionsAllowed': '1'}}", "status.disruptionsAllowed"},
        {"{" METADATA ", 'status': {'currentHealthy': 1.5}}", "status.currentHealthy"},
        {"{" METADATA ", 'status': {'observedGeneration': {}}}", "status.observedGeneration"},
        {"{'metadata': {'name': 'web', 'generation': 'x'}}", "metadata.generation"},
    };
    struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct budget_facts facts;
        const int r = budget_from_json(fixture_json(fixture, CASES[i].text), fixture->arena, &facts,
                                       &fixture->err);
        if (r == 0)
            fail_msg("%s: was read", CASES[i].text);
        if (!strstr(fixture->err.text, CASES[i].message))
            fail_msg("%s: %s", CASES[i].text, fixture->err.text);
    }
}

int main(void)
{
    static const struct CMUnitTest TESTS[] = {
        FIXTURE_TEST(test_a_whole_budget),
        FIXTURE_TEST(test_selectors),
        FIXTURE_TEST(test_policies_of_unready_pods),
        FIXTURE_TEST(test_a_status_that_is_old_or_missing),
        FIXTURE_TEST(test_what_cannot_be_read),
    };
    return cmocka_run_group_tests(TESTS, NULL, NULL);
}
