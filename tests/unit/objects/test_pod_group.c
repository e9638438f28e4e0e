/* pod_group: a PodGroup as facts, and which group a pod names. */
#include "objects/kinds.h"

#include "fixture.h"
#include "objects/pod.h"

#define METADATA "'metadata': {'namespace': 'ml', 'name': 'ring'}"

static int read(struct fixture *fixture, const char *text, struct pod_group_facts *ret_facts)
{
    const int r =
        pod_group_from_json(fixture_json(fixture, text), fixture->arena, ret_facts, &fixture->err);
    fixture_json(fixture, "{}"); /* nothing refers to the JSON */
    return r;
}

static int64_t min_count_of(struct fixture *fixture, const char *policy)
{
    struct pod_group_facts facts = {0};
    const char *text =
        arena_printf(fixture->arena, "{" METADATA ", 'spec': {'schedulingPolicy': %s}}", policy);
    if (read(fixture, text, &facts) < 0)
        fail_msg("%s", fixture->err.text);
    assert_string_equal(facts.namespace_, "ml");
    assert_string_equal(facts.name, "ring");
    return facts.min_count;
}

static void test_policies(void **state)
{
    assert_int_equal(min_count_of(*state, "{'gang': {'minCount': 4}}"), 4);
    assert_int_equal(min_count_of(*state, "{'basic': {}}"), 0);
    assert_int_equal(min_count_of(*state, "{}"), 0);
    assert_int_equal(min_count_of(*state, "{'gang': null}"), 0);
}

static void test_what_cannot_be_read(void **state)
{
    static const char *const GANGS[] = {"{'minCount': 0}",   "{'minCount': -1}",         "{}",
                                        "{'minCount': '4'}", "{'minCount': 4294967296}", "[]"};
    struct fixture *fixture = *state;
    struct pod_group_facts facts = {.name = "unchanged"};
    for (size_t i = 0; i < sizeof GANGS / sizeof *GANGS; i++) {
        const char *text = arena_printf(
            fixture->arena, "{" METADATA ", 'spec': {'schedulingPolicy': {'gang': %s}}}", GANGS[i]);
        assert_true(read(fixture, text, &facts) < 0);
        assert_non_null(strstr(fixture->err.text, "gang"));
    }
    assert_string_equal(facts.name, "unchanged");
}

static const char *group_in(struct fixture *fixture, const char *spec)
{
    struct pod_facts facts = {0};
    const json_t *pod = fixture_json(fixture, arena_printf(fixture->arena, "{'spec': {%s}}", spec));
    assert_int_equal(pod_from_json(pod, &fixture->policy, fixture->arena, &facts, &fixture->err),
                     0);
    fixture_json(fixture, "{}");
    return facts.group;
}

static void test_the_group_of_a_pod(void **state)
{
    struct fixture *fixture = *state;
    char *longest = arena_alloc(fixture->arena, 255);
    memset(longest, 'g', 254);
    longest[254] = '\0';
    const char *too_long =
        arena_printf(fixture->arena, "'schedulingGroup': {'podGroupName': '%s'}", longest);
    assert_string_equal(group_in(fixture, "'schedulingGroup': {'podGroupName': 'ring'}"), "ring");
    assert_null(group_in(fixture, ""));
    assert_null(group_in(fixture, "'schedulingGroup': null"));
    assert_null(group_in(fixture, "'schedulingGroup': {}"));
    assert_null(group_in(fixture, "'schedulingGroup': {'podGroupName': ''}"));
    assert_null(group_in(fixture, "'schedulingGroup': {'podGroupName': 7}"));
    assert_null(group_in(fixture, too_long));
}

int main(void)
{
    static const struct CMUnitTest TESTS[] = {
        FIXTURE_TEST(test_policies),
        FIXTURE_TEST(test_what_cannot_be_read),
        FIXTURE_TEST(test_the_group_of_a_pod),
    };
    return cmocka_run_group_tests(TESTS, NULL, NULL);
}
