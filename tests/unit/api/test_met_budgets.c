/* met_budgets: which budgets evicted pods meet, and which nobody can judge. What each budget allows
 * is in tests/wire/test_what_if_drains.py. */
#include "api/what_if/changes.h"
#include "fixture.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static void put_budget(struct fixture *fixture, const char *namespace_, const char *name,
                       const char *selector, int64_t allowed)
{
    const struct budget_facts facts = {.namespace_ = namespace_,
                                       .name = name,
                                       .selector = fixture_term(fixture, selector),
                                       .allowed = allowed,
                                       .healthy = 2,
                                       .desired = 2};
    cluster_upsert_budget(fixture->cluster, &facts);
}

/* labels as the fixture has them; "NAMESPACE/NAME". */
static const struct pod *put_pod(struct fixture *fixture, const char *uid, const char *labels)
{
    struct pod_facts facts = fixture_facts_in_namespace(fixture, uid, "n1", "cpu=1");
    facts.peers.labels = fixture_labels(fixture, labels, &facts.peers.n_labels);
    facts.ready = true;
    fixture_put_pod_facts(fixture, &facts);
    return cluster_find_pod(fixture->cluster, facts.uid);
}

static void put_node(struct fixture *fixture)
{
    fixture_put_node(fixture, "n1", "cpu=1000 pods=1000", "");
}

/* Frees the budgets. */
static json_t *answer(struct met_budgets *budgets, const char *why)
{
    json_t *json = met_budgets_json(budgets, why);
    met_budgets_free(budgets);
    return json;
}

static const char *text(const json_t *json, const char *list, size_t i, const char *key)
{
    const json_t *item = json_array_get(json_object_get(json, list), i);
    return json_string_value(json_object_get(item, key));
}

static size_t size_of(const json_t *json, const char *list)
{
    return json_array_size(json_object_get(json, list));
}

static bool is_checked(const json_t *json)
{
    return json_is_true(json_object_get(json, "checked"));
}

static void test_met_budgets_are_named(void **state)
{
    struct fixture *fixture = *state;
    put_node(fixture);
    put_budget(fixture, "b", "web", "app In web", 1);
    put_budget(fixture, "a", "web", "app In web", 1);
    put_budget(fixture, "a", "other", "app In other", 1);
    struct met_budgets *budgets = met_budgets_new(fixture->cluster, fixture->arena);
    assert_string_equal(met_budgets_evict(budgets, put_pod(fixture, "a/p", "app=web")).names,
                        "web");
    assert_string_equal(met_budgets_evict(budgets, put_pod(fixture, "b/p", "app=web")).names,
                        "web");
    assert_string_equal(met_budgets_evict(budgets, put_pod(fixture, "b/q", "app=web")).names,
                        "web");
    assert_null(met_budgets_evict(budgets, put_pod(fixture, "a/q", "app=none")).names);
    assert_null(met_budgets_evict(budgets, put_pod(fixture, "c/p", "app=web")).names);
    json_auto_t *json = answer(budgets, NULL);
    assert_true(is_checked(json));
    assert_int_equal(size_of(json, "met"), 2);
    assert_string_equal(text(json, "met", 0, "namespace"), "a");
    assert_string_equal(text(json, "met", 0, "allows"), "all");
    assert_string_equal(text(json, "met", 1, "namespace"), "b");
    assert_string_equal(text(json, "met", 1, "allows"), "some");
}

static void test_many_names_are_counted(void **state)
{
    struct fixture *fixture = *state;
    put_node(fixture);
    for (size_t i = 0; i < 1002; i++)
        put_budget(fixture, "a", arena_printf(fixture->arena, "b%04zu", i), "", 0);
    struct met_budgets *budgets = met_budgets_new(fixture->cluster, fixture->arena);
    const char *names = met_budgets_evict(budgets, put_pod(fixture, "a/p", "app=web")).names;
    assert_non_null(strstr(names, " and 999 more"));
    json_auto_t *json = answer(budgets, NULL);
    assert_int_equal(size_of(json, "met"), 1000);
    assert_int_equal(json_integer_value(json_object_get(json, "omitted")), 2);
    assert_string_equal(text(json, "met", 999, "name"), "b0999");
}

/* Kept in part: it is named if a pod of its namespace is evicted, and not otherwise. */
static void test_a_budget_without_its_selector_is_named(void **state)
{
    struct fixture *fixture = *state;
    char *value = arena_alloc(fixture->arena, fixture->policy.pod_shape_bytes + 1);
    memset(value, 'x', fixture->policy.pod_shape_bytes);
    value[fixture->policy.pod_shape_bytes] = '\0';
    const char *selector = arena_printf(fixture->arena, "app In %s", value);
    put_node(fixture);
    put_budget(fixture, "a", "long", selector, 1);
    put_budget(fixture, "b", "web", "app In web", 1);
    struct met_budgets *budgets = met_budgets_new(fixture->cluster, fixture->arena);
    (void)met_budgets_evict(budgets, put_pod(fixture, "b/p", "app=web"));
    json_auto_t *without = answer(budgets, NULL);
    assert_true(is_checked(without));
    assert_int_equal(size_of(without, "notJudged"), 0);
    budgets = met_budgets_new(fixture->cluster, fixture->arena);
    assert_null(met_budgets_evict(budgets, put_pod(fixture, "a/p", "app=web")).names);
    json_auto_t *json = answer(budgets, NULL);
    assert_false(is_checked(json));
    assert_string_equal(text(json, "notJudged", 0, "namespace"), "a");
    assert_string_equal(text(json, "notJudged", 0, "name"), "long");
    assert_non_null(strstr(text(json, "notJudged", 0, "reason"), "limits.podShapeBytes"));
    const char *why = json_string_value(json_object_get(json, "notCheckedBecause"));
    assert_non_null(strstr(why, "a/long"));
}

static void test_a_budget_that_could_not_be_read_is_named(void **state)
{
    struct fixture *fixture = *state;
    put_node(fixture);
    struct met_budgets *budgets = met_budgets_new(fixture->cluster, fixture->arena);
    (void)met_budgets_evict(budgets, put_pod(fixture, "a/p", "app=web"));
    met_budgets_add_unread(budgets, "b/elsewhere", "is bad");
    json_auto_t *without = answer(budgets, NULL);
    assert_true(is_checked(without));
    budgets = met_budgets_new(fixture->cluster, fixture->arena);
    (void)met_budgets_evict(budgets, put_pod(fixture, "a/p", "app=web"));
    met_budgets_add_unread(budgets, "a/here", "spec.selector: is bad");
    met_budgets_add_unread(budgets, "(unnamed)", "has no metadata.name");
    json_auto_t *json = answer(budgets, NULL);
    assert_false(is_checked(json));
    assert_int_equal(size_of(json, "notJudged"), 2);
    assert_string_equal(text(json, "notJudged", 1, "name"), "here");
    assert_string_equal(text(json, "notJudged", 1, "reason"), "spec.selector: is bad");
    assert_string_equal(text(json, "notJudged", 0, "namespace"), "");
    json_auto_t *idle = answer(met_budgets_new(fixture->cluster, fixture->arena), "no right");
    assert_string_equal(json_string_value(json_object_get(idle, "notCheckedBecause")), "no right");
    assert_int_equal(size_of(idle, "notJudged"), 0);
}

/* Each pod has labels of its own, and each budget a requirement of 100 values. */
static void test_comparisons_are_bounded(void **state)
{
    struct fixture *fixture = *state;
    const char *selector = "app NotIn v";
    put_node(fixture);
    for (size_t i = 0; i < 100; i++)
        selector = arena_printf(fixture->arena, "%s|v%zu", selector, i);
    for (size_t i = 0; i < 500; i++)
        put_budget(fixture, "a", arena_printf(fixture->arena, "b%zu", i), selector, 1);
    struct met_budgets *budgets = met_budgets_new(fixture->cluster, fixture->arena);
    for (size_t i = 0; i < 200; i++)
        (void)met_budgets_evict(budgets, put_pod(fixture, arena_printf(fixture->arena, "a/p%zu", i),
                                                 arena_printf(fixture->arena, "app=x%zu", i)));
    json_auto_t *json = answer(budgets, NULL);
    assert_false(is_checked(json));
    const char *why = json_string_value(json_object_get(json, "notCheckedBecause"));
    assert_non_null(strstr(why, "too many"));
    const json_t *met = json_array_get(json_object_get(json, "met"), 0);
    assert_in_range(json_integer_value(json_object_get(met, "pods")), 1, 199);
}

int main(void)
{
    static const struct CMUnitTest TESTS[] = {
        TEST(test_met_budgets_are_named),
        TEST(test_many_names_are_counted),
        TEST(test_a_budget_without_its_selector_is_named),
        TEST(test_a_budget_that_could_not_be_read_is_named),
        TEST(test_comparisons_are_bounded),
    };
    return cmocka_run_group_tests(TESTS, NULL, NULL);
}
