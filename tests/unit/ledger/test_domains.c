/* domains: which node is in which, as nodes and their labels come, change and go. */
#include "fixture.h"
#include "ledger/pod_groups.h"
#include "unit.h"

#include <string.h>

#define GPU "nvidia.com/gpu"

/* "rack=r1: 2 nodes, 2 with GPUs, 1 whole" of each domain in use, by id. */
static const char *domains_of(struct fixture *fixture, const struct cluster *cluster)
{
    const char *text = "";
    for (domain_id id = 1; id < cluster_end_of_domains(cluster); id++) {
        const struct node_domain *domain = cluster_domain(cluster, id);
        if (domain->n_nodes == 0)
            continue;
        text = arena_printf(fixture->arena, "%s%s%s%s%s %u/%u/%u", text, text[0] ? ", " : "",
                            domain->outer ? cluster_domain(cluster, domain->outer)->name : "",
                            domain->outer ? "/" : "", domain->name, domain->n_nodes,
                            domain->n_gpu_nodes, domain->n_whole);
    }
    return text;
}

static void check(struct fixture *fixture, const char *expected)
{
    assert_string_equal(domains_of(fixture, fixture->cluster), expected);
    fixture_check(fixture);
}

static const char *domain_of(const struct fixture *fixture, const char *node, size_t level)
{
    const domain_id id = node_domain(fixture_find_node(fixture, node), level);
    return id ? cluster_domain(fixture->cluster, id)->name : "";
}

static void test_without_levels_there_are_none(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", GPU "=8", "rack=r1");
    check(fixture, "");
    assert_int_equal(node_domain(fixture_find_node(fixture, "n1"), 0), 0);
}

static void test_nodes_come_move_and_go(void **state)
{
    struct fixture *fixture = *state;
    fixture_set_levels(fixture, "rack");
    fixture_put_node(fixture, "n1", GPU "=8", "rack=r1");
    fixture_put_node(fixture, "n2", GPU "=8", "rack=r1");
    fixture_put_node(fixture, "n3", "cpu=8", "rack=r2");
    fixture_put_node(fixture, "n4", GPU "=8", "");
    fixture_put_node(fixture, "n5", GPU "=8", "rack=");
    check(fixture, "r1 2/2/2, r2 1/0/0");
    fixture_put_node(fixture, "n2", GPU "=8", "rack=r2");
    check(fixture, "r1 1/1/1, r2 2/1/1");
    fixture_put_node(fixture, "n1", GPU "=8", "rack=r3");
    check(fixture, "r2 2/1/1, r3 1/1/1");
    fixture_put_node(fixture, "n4", GPU "=8", "rack=r1");
    check(fixture, "r1 1/1/1, r2 2/1/1, r3 1/1/1");
    fixture_remove_node(fixture, "n1");
    fixture_remove_node(fixture, "n4");
    check(fixture, "r2 2/1/1");
}

static void test_pods_and_cordons_break_nodes(void **state)
{
    struct fixture *fixture = *state;
    fixture_set_levels(fixture, "rack");
    fixture_put_pod(fixture, "early", "n2", GPU "=1");
    fixture_put_node(fixture, "n1", GPU "=8", "rack=r1");
    fixture_put_node(fixture, "n2", GPU "=8", "rack=r1");
    check(fixture, "r1 2/2/1");
    fixture_put_pod(fixture, "p", "n1", GPU "=8");
    fixture_put_pod(fixture, "cpu", "n1", "cpu=1");
    check(fixture, "r1 2/2/0");
    fixture_remove_pod(fixture, "early");
    fixture_remove_pod(fixture, "p");
    check(fixture, "r1 2/2/2");
    struct node_facts facts = fixture_node_facts(fixture, "n1", GPU "=8", "rack=r1");
    facts.unschedulable = true;
    fixture_put_node_facts(fixture, &facts);
    check(fixture, "r1 2/1/1");
    facts.unschedulable = false;
    facts.ready = false;
    fixture_put_node_facts(fixture, &facts);
    check(fixture, "r1 2/1/1");
    fixture_remove_node(fixture, "n2");
    check(fixture, "r1 1/0/0");
}

/* A rack's number may repeat in each block. */
static void test_inner_domains_are_within_their_outer_one(void **state)
{
    struct fixture *fixture = *state;
    fixture_set_levels(fixture, "block,rack");
    fixture_put_node(fixture, "n1", GPU "=8", "block=a,rack=1");
    fixture_put_node(fixture, "n2", GPU "=8", "block=b,rack=1");
    fixture_put_node(fixture, "n3", GPU "=8", "block=b");
    fixture_put_node(fixture, "n4", GPU "=8", "rack=1");
    check(fixture, "a 1/1/1, a/1 1/1/1, b 2/2/2, b/1 1/1/1, 1 1/1/1");
    assert_string_equal(domain_of(fixture, "n2", 0), "b");
    assert_string_equal(domain_of(fixture, "n2", 1), "1");
    assert_string_equal(domain_of(fixture, "n3", 1), "");
    assert_string_equal(domain_of(fixture, "n4", 0), "");
    assert_int_not_equal(node_domain(fixture_find_node(fixture, "n1"), 1),
                         node_domain(fixture_find_node(fixture, "n2"), 1));
    fixture_put_node(fixture, "n2", GPU "=8", "block=a,rack=1");
    check(fixture, "a 2/2/2, a/1 2/2/2, b 1/1/1, 1 1/1/1");
}

static void test_too_long_names_are_none(void **state)
{
    char label[sizeof "rack=" + DOMAIN_NAME_MAX + 1] = "rack=";
    struct fixture *fixture = *state;
    fixture_set_levels(fixture, "rack");
    memset(label + strlen("rack="), 'x', DOMAIN_NAME_MAX);
    fixture_put_node(fixture, "n1", GPU "=8", label);
    assert_int_equal(strlen(domain_of(fixture, "n1", 0)), DOMAIN_NAME_MAX);
    memset(label + strlen("rack="), 'x', DOMAIN_NAME_MAX + 1);
    fixture_put_node(fixture, "n1", GPU "=8", label);
    check(fixture, "");
}

static void test_forks_have_domains_of_their_own(void **state)
{
    struct fixture *fixture = *state;
    fixture_set_levels(fixture, "rack");
    fixture_put_node(fixture, "n1", GPU "=8", "rack=r1");
    fixture_put_node(fixture, "n2", GPU "=8", "rack=r1");
    struct cluster *fork = cluster_fork(fixture->cluster);
    const struct shape_facts facts = fixture_shape_facts(fixture, GPU "=1");
    const struct pod_shape *shape = cluster_resolve(fork, &facts, fixture->arena);
    cluster_fork_mark(fork);
    cluster_place(fork, cluster_find_node(fork, "n1"), shape, 2);
    assert_string_equal(domains_of(fixture, fork), "r1 2/2/1");
    check(fixture, "r1 2/2/2");
    cluster_fork_rewind(fork);
    assert_string_equal(domains_of(fixture, fork), "r1 2/2/2");
    fixture_put_node(fixture, "n1", GPU "=8", "rack=r2");
    assert_string_equal(domains_of(fixture, fork), "r1 2/2/2");
    cluster_fork_free(fork);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_without_levels_there_are_none),
        TEST(test_nodes_come_move_and_go),
        TEST(test_pods_and_cordons_break_nodes),
        TEST(test_inner_domains_are_within_their_outer_one),
        TEST(test_too_long_names_are_none),
        TEST(test_forks_have_domains_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
