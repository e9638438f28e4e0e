/* budgets: PodDisruptionBudgets in the ledger, their lists, and what they may take. */
#include "fixture.h"
#include "ledger/cluster_copy.h"
#include "unit.h"

#include <string.h>

static struct budget_facts budget_of(struct fixture *fixture, const char *namespace_,
                                     const char *name, const char *selector)
{
    return (struct budget_facts){.namespace_ = namespace_,
                                 .name = name,
                                 .selector = fixture_term(fixture, selector),
                                 .allowed = 1};
}

static void put(struct fixture *fixture, const char *namespace_, const char *name,
                const char *selector)
{
    const struct budget_facts facts = budget_of(fixture, namespace_, name, selector);
    cluster_upsert_budget(fixture->cluster, &facts);
}

static const struct budget_facts *find(const struct cluster *cluster, const char *namespace_,
                                       const char *name)
{
    const struct budget_facts *facts = NULL;
    while ((facts = cluster_next_budget(cluster, facts))) {
        if (strcmp(facts->namespace_, namespace_) == 0 && strcmp(facts->name, name) == 0)
            return facts;
    }
    return NULL;
}

/* One value of n bytes. */
static const char *long_selector(struct fixture *fixture, size_t n)
{
    char *value = arena_alloc(fixture->arena, n + 1);
    memset(value, 'x', n);
    value[n] = '\0';
    return arena_printf(fixture->arena, "app In %s", value);
}

static void test_the_facts_are_kept(void **state)
{
    struct fixture *fixture = *state;
    struct cluster *cluster = fixture->cluster;
    struct budget_facts facts = budget_of(fixture, "ml", "web", "app In a|b AND tier Exists");
    facts.frees_unready = facts.is_outdated = true;
    facts.allowed = 3;
    facts.healthy = 5;
    facts.desired = 2;
    cluster_upsert_budget(cluster, &facts);
    put(fixture, "ml", "all", "");
    const struct budget_facts *kept = find(cluster, "ml", "web");
    assert_int_equal(kept->selector.n_requirements, 2);
    assert_string_equal(kept->selector.requirements[0].values[1], "b");
    assert_true(kept->frees_unready && kept->is_outdated && !kept->is_cut && !kept->selects_none);
    assert_true(kept->allowed == 3 && kept->healthy == 5 && kept->desired == 2);
    assert_false(find(cluster, "ml", "all")->is_cut);
    assert_int_equal(cluster_n_objects(cluster, CLUSTER_BUDGETS), 2);
    cluster_delete(cluster, CLUSTER_BUDGETS, "ml/web");
    cluster_delete(cluster, CLUSTER_BUDGETS, "ml/gone");
    assert_null(find(cluster, "ml", "web"));
    assert_int_equal(cluster_n_objects(cluster, CLUSTER_BUDGETS), 1);
}

/* Readers see each change of a budget, and no change where none is. */
static void test_the_edition_grows_with_changes_only(void **state)
{
    struct fixture *fixture = *state;
    struct cluster *cluster = fixture->cluster;
    uint64_t before = cluster_edition(cluster);
    put(fixture, "ml", "web", "app In a");
    assert_true(cluster_edition(cluster) != before);
    before = cluster_edition(cluster);
    const struct budget_facts *kept = find(cluster, "ml", "web");
    put(fixture, "ml", "web", "app In a");
    assert_int_equal(cluster_edition(cluster), before);
    assert_ptr_equal(find(cluster, "ml", "web"), kept);
    put(fixture, "ml", "web", "app NotIn a");
    assert_true(cluster_edition(cluster) != before);
    assert_int_equal(cluster_n_objects(cluster, CLUSTER_BUDGETS), 1);
}

static void test_a_list_deletes_what_it_does_not_name(void **state)
{
    struct fixture *fixture = *state;
    struct cluster *cluster = fixture->cluster;
    for (size_t i = 0; i < 10; i++)
        put(fixture, "ml", arena_printf(fixture->arena, "b%zu", i), "app In a");
    cluster_relist_begin(cluster, CLUSTER_BUDGETS);
    put(fixture, "ml", "b1", "app In a");
    cluster_keep(cluster, CLUSTER_BUDGETS, "ml/b2"); /* cannot be read */
    cluster_keep(cluster, CLUSTER_BUDGETS, "ml/unheard-of");
    assert_int_equal(cluster_n_objects(cluster, CLUSTER_BUDGETS), 10);
    assert_false(cluster_relist_sweep(cluster, CLUSTER_BUDGETS, 1));
    assert_int_equal(cluster_n_objects(cluster, CLUSTER_BUDGETS), 9);
    cluster_delete(cluster, CLUSTER_BUDGETS, "ml/b3"); /* where the sweep goes on */
    while (!cluster_relist_sweep(cluster, CLUSTER_BUDGETS, 1)) {
    }
    assert_int_equal(cluster_n_objects(cluster, CLUSTER_BUDGETS), 2);
    assert_non_null(find(cluster, "ml", "b1"));
    assert_non_null(find(cluster, "ml", "b2"));
    cluster_relist_begin(cluster, CLUSTER_BUDGETS);
    cluster_relist_end(cluster, CLUSTER_BUDGETS);
    assert_int_equal(cluster_n_objects(cluster, CLUSTER_BUDGETS), 0);
}

static void test_a_budget_is_bounded(void **state)
{
    struct fixture *fixture = *state;
    const size_t max = fixture->policy.pod_shape_bytes;
    put(fixture, "ml", "long", long_selector(fixture, max));
    put(fixture, "ml", "short", long_selector(fixture, max / 2));
    assert_true(find(fixture->cluster, "ml", "long")->is_cut);
    assert_int_equal(find(fixture->cluster, "ml", "long")->selector.n_requirements, 0);
    assert_false(find(fixture->cluster, "ml", "short")->is_cut);
    put(fixture, "ml", "long", "app In a");
    assert_false(find(fixture->cluster, "ml", "long")->is_cut);
}

/* A namespace gets at most half; others still find room; a cut one is whole again when there is
 * room. Names count, too. */
static void test_a_namespace_gets_its_share_only(void **state)
{
    struct fixture *fixture = *state;
    struct cluster *cluster = fixture->cluster;
    const size_t n = 100;
    size_t n_cut = 0;
    fixture->policy.pod_shapes_bytes = (size_t)CLUSTER_BUDGETS_SHARE * n * 1000;
    for (size_t i = 0; i < n; i++)
        put(fixture, "greedy", arena_printf(fixture->arena, "b%zu", i),
            long_selector(fixture, 500));
    for (size_t i = 0; i < n; i++)
        n_cut += find(cluster, "greedy", arena_printf(fixture->arena, "b%zu", i))->is_cut;
    assert_in_range(n_cut, n / 4, n / 2 + 10);
    put(fixture, "modest", "b", long_selector(fixture, 500));
    assert_false(find(cluster, "modest", "b")->is_cut);
    assert_true(find(cluster, "greedy", "b99")->is_cut);
    for (size_t i = 0; i < n / 2; i++)
        cluster_delete(cluster, CLUSTER_BUDGETS, arena_printf(fixture->arena, "greedy/b%zu", i));
    put(fixture, "greedy", "b99", long_selector(fixture, 500));
    assert_false(find(cluster, "greedy", "b99")->is_cut);
}

static void test_a_copy_has_the_budgets(void **state)
{
    struct fixture *fixture = *state;
    struct cluster *cluster = fixture->cluster;
    put(fixture, "ml", "web", "app In a");
    put(fixture, "ml", "long", long_selector(fixture, fixture->policy.pod_shape_bytes));
    cluster_set_known(cluster, CLUSTER_BUDGETS, false);
    struct cluster_copy *copying = cluster_copy_new(cluster, &fixture->policy);
    while (!cluster_copy_some(copying, 1)) {
    }
    struct cluster *copy = cluster_copy_end(copying);
    assert_string_equal(find(copy, "ml", "web")->selector.requirements[0].values[0], "a");
    assert_true(find(copy, "ml", "long")->is_cut);
    assert_false(cluster_knows(copy, CLUSTER_BUDGETS));
    cluster_free(copy);
}

int main(void)
{
    static const struct CMUnitTest TESTS[] = {
        TEST(test_the_facts_are_kept),
        TEST(test_the_edition_grows_with_changes_only),
        TEST(test_a_list_deletes_what_it_does_not_name),
        TEST(test_a_budget_is_bounded),
        TEST(test_a_namespace_gets_its_share_only),
        TEST(test_a_copy_has_the_budgets),
    };
    return cmocka_run_group_tests(TESTS, NULL, NULL);
}
