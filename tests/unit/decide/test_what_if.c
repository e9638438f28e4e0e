/* what_if and forks: simulated placements never change the ledger. prop_fit.c tests properties over
 * all clusters. */
#include "decide/what_if.h"
#include "fixture_question.h"
#include "unit.h"

#include <string.h>

#define GPU "nvidia.com/gpu"

/* The question on the fork for this demand; judges everything. */
static struct fit_question question_on(struct fixture *fixture, const struct cluster *fork,
                                       const char *demand)
{
    const struct shape_facts facts = fixture_shape_facts(fixture, demand);
    return (struct fit_question){.shape = cluster_resolve(fork, &facts, fixture->arena),
                                 .scope = FIT_ALL};
}

/* All amounts of the ledger: "n1 cpu 8/8/2 nvidia.com/gpu 8/8/0; ..." */
static const char *numbers_of(struct fixture *fixture, const struct cluster *cluster)
{
    const char *text = "";
    for (const struct node *node = cluster_next_node(cluster, NULL); node;
         node = cluster_next_node(cluster, node)) {
        size_t n = 0;
        const struct node_resource *all = node_resources(node, &n);
        text = arena_printf(fixture->arena, "%s%s", text, node_name(node));
        for (size_t i = 0; i < n; i++)
            text = arena_printf(fixture->arena, "%s %s %lld/%lld/%lld", text, all[i].resource->name,
                                (long long)all[i].capacity, (long long)all[i].allocatable,
                                (long long)all[i].used);
        text = arena_printf(fixture->arena, "%s; ", text);
    }
    return text;
}

static const char *names_of(struct fixture *fixture, const struct node *const *nodes, size_t n)
{
    const char *text = "";
    for (size_t i = 0; i < n; i++)
        text = arena_printf(fixture->arena, "%s%s%s", text, i > 0 ? " " : "",
                            nodes[i] ? node_name(nodes[i]) : "-");
    return text;
}

static void three_nodes(struct fixture *fixture)
{
    fixture_put_node(fixture, "c", "pods=10 " GPU "=8", "accelerator=A100");
    fixture_put_node(fixture, "b", "pods=10 " GPU "=4", "accelerator=A100");
    fixture_put_node(fixture, "a", "pods=10 cpu=4", "");
    fixture_put_pod(fixture, "p1", "c", GPU "=1");
    fixture_put_pod(fixture, "p2", "b", GPU "=2");
    fixture_put_pod(fixture, "p3", "gone", GPU "=2");
}

static void test_replicas_go_one_after_another_to_the_best_node(void **state)
{
    struct fixture *fixture = *state;
    three_nodes(fixture);
    struct cluster *fork = cluster_fork(fixture->cluster);
    const struct node *nodes[6];
    const struct fit_question question = question_on(fixture, fork, GPU "=2");
    assert_int_equal(what_if_more(fork, &question).n, 4);
    assert_int_equal(what_if_place(fork, &question, 6, nodes), 4);
    assert_string_equal(names_of(fixture, nodes, 6), "b c c c - -");
    assert_int_equal(what_if_more(fork, &question).n, 0);
    assert_int_equal(what_if_place(fork, &question, 1, nodes), 0);
    assert_null(nodes[0]);
    assert_int_equal(what_if_place(fork, &question, 0, NULL), 0);
    cluster_fork_free(fork);
}

/* HAMi's bug: a dry run that treats every node as empty. */
static void test_running_pods_are_counted(void **state)
{
    struct fixture *fixture = *state;
    three_nodes(fixture);
    struct cluster *fork = cluster_fork(fixture->cluster);
    const struct fit_question question = question_on(fixture, fork, GPU "=8");
    enum reason verdicts[3] = {0};
    size_t n = 0;
    for (const struct node *node = cluster_next_node(fork, NULL); node;
         node = cluster_next_node(fork, node))
        verdicts[n++] = fit_judge(node, &question);
    assert_string_equal(reason_name(verdicts[0]), "gpu_free");
    assert_string_equal(reason_name(verdicts[1]), "gpu_total");
    assert_string_equal(reason_name(verdicts[2]), "gpu_absent");
    assert_int_equal(what_if_more(fork, &question).n, 0);
    cluster_fork_free(fork);
}

/* Any number of times: what was placed, and what pods that end leave. */
static void test_a_marked_fork_can_be_rewound(void **state)
{
    struct fixture *fixture = *state;
    three_nodes(fixture);
    struct cluster *fork = cluster_fork(fixture->cluster);
    const struct node *nodes[6];
    const struct fit_question before = question_on(fixture, fork, GPU "=1");
    assert_int_equal(what_if_place(fork, &before, 1, nodes), 1);
    const char *numbers = numbers_of(fixture, fork);
    cluster_fork_mark(fork);
    for (size_t i = 0; i < 2; i++) {
        const struct fit_question question = question_on(fixture, fork, GPU "=2");
        const struct need freed = {question.shape->needs[0].resource, 1};
        cluster_vacate(fork, cluster_find_node(fork, "b"), &freed, 1);
        assert_int_equal(what_if_place(fork, &question, 6, nodes), 4);
        assert_int_equal(what_if_fill(fork, &before, 9).n, 1);
        assert_string_not_equal(numbers_of(fixture, fork), numbers);
        cluster_fork_rewind(fork);
        assert_string_equal(numbers_of(fixture, fork), numbers);
    }
    assert_int_equal(what_if_more(fork, &before).n, 8);
    cluster_fork_keep(fork);
    assert_int_equal(what_if_place(fork, &before, 1, nodes), 1);
    cluster_fork_free(fork);
}

/* The inner mark is forgotten, and what was placed since is of the outer one. */
static void test_marks_are_nested(void **state)
{
    struct fixture *fixture = *state;
    three_nodes(fixture);
    struct cluster *fork = cluster_fork(fixture->cluster);
    const struct node *nodes[2];
    const struct fit_question question = question_on(fixture, fork, GPU "=2");
    const char *before = numbers_of(fixture, fork);
    cluster_fork_mark(fork);
    assert_int_equal(what_if_place(fork, &question, 1, nodes), 1);
    const char *between = numbers_of(fixture, fork);
    for (size_t i = 0; i < 2; i++) {
        cluster_fork_mark(fork);
        assert_int_equal(what_if_place(fork, &question, 1, nodes), 1);
        cluster_fork_rewind(fork);
        assert_string_equal(numbers_of(fixture, fork), between);
        assert_int_equal(what_if_place(fork, &question, 1, nodes), 1);
        cluster_fork_keep(fork);
        cluster_fork_rewind(fork);
        assert_string_equal(numbers_of(fixture, fork), before);
        assert_int_equal(what_if_place(fork, &question, 1, nodes), 1);
    }
    cluster_fork_free(fork);
}

static void test_placing_never_changes_the_ledger(void **state)
{
    struct fixture *fixture = *state;
    three_nodes(fixture);
    const char *numbers = numbers_of(fixture, fixture->cluster);
    uint64_t version = cluster_version(fixture->cluster);
    struct cluster *fork = cluster_fork(fixture->cluster);
    assert_string_equal(numbers_of(fixture, fork), numbers);
    const struct node *nodes[20];
    const struct fit_question gpus = question_on(fixture, fork, GPU "=1");
    assert_int_equal(what_if_place(fork, &gpus, 4, nodes), 4);
    const struct fit_question new_name = question_on(fixture, fork, "unheard.of/thing=1");
    assert_int_equal(what_if_place(fork, &new_name, 4, nodes), 0);
    assert_string_not_equal(numbers_of(fixture, fork), numbers);
    assert_string_equal(numbers_of(fixture, fixture->cluster), numbers);
    assert_int_equal(cluster_version(fixture->cluster), version);
    assert_true(cluster_version(fork) > version);
    struct err err = {""};
    assert_int_equal(cluster_check_in_place(fixture->cluster, &err), 0);
    cluster_fork_free(fork);
    assert_string_equal(numbers_of(fixture, fixture->cluster), numbers);
    assert_int_equal(cluster_check_in_place(fixture->cluster, &err), 0);
}

static void test_two_forks_are_independent(void **state)
{
    struct fixture *fixture = *state;
    three_nodes(fixture);
    struct cluster *one = cluster_fork(fixture->cluster);
    struct cluster *two = cluster_fork(fixture->cluster);
    const struct node *nodes[3];
    const struct fit_question question = question_on(fixture, one, GPU "=2");
    assert_int_equal(what_if_place(one, &question, 3, nodes), 3);
    const struct fit_question other = question_on(fixture, two, GPU "=2");
    assert_int_equal(what_if_more(two, &other).n, 4);
    struct cluster *of_a_fork = cluster_fork(one);
    const struct fit_question third = question_on(fixture, of_a_fork, GPU "=2");
    assert_int_equal(what_if_more(of_a_fork, &third).n, 1);
    cluster_fork_free(one);
    assert_int_equal(what_if_more(of_a_fork, &third).n, 1);
    cluster_fork_free(two);
    cluster_fork_free(of_a_fork);
}

static void test_later_events_do_not_change_a_fork(void **state)
{
    struct fixture *fixture = *state;
    three_nodes(fixture);
    struct cluster *fork = cluster_fork(fixture->cluster);
    const char *numbers = numbers_of(fixture, fork);
    fixture_remove_node(fixture, "c");
    fixture_remove_node(fixture, "b");
    fixture_put_node(fixture, "a", "pods=1", "accelerator=Tesla-K80");
    fixture_remove_pod(fixture, "p1");
    fixture_remove_pod(fixture, "p2");
    fixture_remove_pod(fixture, "p3"); /* now only the fork uses GPUs */
    assert_string_equal(numbers_of(fixture, fork), numbers);
    assert_string_equal(node_traits(cluster_find_node(fork, "b"))->gpus.model.chip, "A100");
    assert_int_equal(cluster_n_nodes(fork), 3);
    assert_int_equal(cluster_n_pods(fork), 0);
    const struct fit_question question = question_on(fixture, fork, GPU "=2");
    assert_int_equal(what_if_more(fork, &question).n, 4);
    cluster_fork_free(fork);
}

/* Reloading a file creates a new ledger while a dry run still uses the old one. */
static void test_a_fork_outlives_its_origin(void **state)
{
    struct fixture *fixture = *state;
    three_nodes(fixture);
    cluster_upsert_namespace(fixture->cluster, &(struct namespace_facts){.name = "ml"});
    cluster_upsert_priority_class(fixture->cluster,
                                  &(struct priority_class_facts){"high", 7, true, false});
    struct cluster *fork = cluster_fork(fixture->cluster);
    cluster_free(fixture->cluster);
    fixture->cluster = NULL;
    int64_t priority = 0;
    assert_true(cluster_has_namespace(fork, "ml"));
    assert_true(cluster_priority_of_class(fork, "", &priority));
    assert_int_equal(priority, 7);
    assert_ptr_equal(cluster_policy(fork), &fixture->policy);
    const struct node *nodes[6];
    const struct fit_question question = question_on(fixture, fork, GPU "=2");
    assert_int_equal(what_if_place(fork, &question, 6, nodes), 4);
    assert_string_equal(names_of(fixture, nodes, 6), "b c c c - -");
    assert_null(node_next_pod(nodes[0], NULL));
    cluster_fork_free(fork);
}

/* A node named only by pods is missing, in the fork like in the ledger. */
static void test_a_fork_has_the_present_nodes(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_pod(fixture, "p1", "gone", GPU "=1");
    struct cluster *fork = cluster_fork(fixture->cluster);
    assert_int_equal(cluster_n_nodes(fork), 0);
    assert_null(cluster_next_node(fork, NULL));
    const struct fit_question question = question_on(fixture, fork, GPU "=1");
    const struct node *node = NULL;
    assert_int_equal(what_if_place(fork, &question, 1, &node), 0);
    assert_int_equal(what_if_place_each(fork, &question, NULL, NULL), 0);
    assert_int_equal(what_if_more(fork, &question).n, 0);
    cluster_fork_free(fork);
}

static void test_an_invalid_pod_is_placed_nowhere(void **state)
{
    struct fixture *fixture = *state;
    three_nodes(fixture);
    struct cluster *fork = cluster_fork(fixture->cluster);
    struct fit_question question = question_on(fixture, fork, GPU "=1");
    question.refusal = "half a GPU";
    const struct node *nodes[3];
    enum reason verdicts[3] = {0};
    assert_int_equal(what_if_place(fork, &question, 2, nodes), 0);
    assert_int_equal(what_if_more(fork, &question).n, 0);
    assert_int_equal(what_if_place_each(fork, &question, nodes, verdicts), 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(verdicts[i], REASON_POD_INVALID);
    cluster_fork_free(fork);
}

/* A DaemonSet's pod goes to each node that admits it, whether it fits or not. */
static void test_a_daemon_set_is_placed_on_each_eligible_node(void **state)
{
    struct fixture *fixture = *state;
    three_nodes(fixture);
    struct node_facts cordoned = fixture_node_facts(fixture, "d", "pods=10 " GPU "=8", "");
    cordoned.unschedulable = true;
    fixture_put_node_facts(fixture, &cordoned);
    fixture_put_node(fixture, "e", "pods=10 " GPU "=8", "skip=yes");
    const char *numbers = numbers_of(fixture, fixture->cluster);
    struct cluster *fork = cluster_fork(fixture->cluster);
    struct shape_facts facts = fixture_shape_facts(fixture, GPU "=3");
    facts.node_selector = fixture_term(fixture, "skip DoesNotExist");
    const struct fit_question question = {.shape = cluster_resolve(fork, &facts, fixture->arena),
                                          .scope = FIT_ALL};
    const struct node *nodes[5];
    enum reason verdicts[5];
    assert_int_equal(what_if_place_each(fork, &question, nodes, verdicts), 3);
    assert_string_equal(names_of(fixture, nodes, 3), "c b a");
    assert_string_equal(reason_name(verdicts[0]), "fits");
    assert_string_equal(reason_name(verdicts[1]), "gpu_free");
    assert_string_equal(reason_name(verdicts[2]), "gpu_absent");
    assert_int_equal(what_if_place_each(fork, &question, nodes, verdicts),
                     3); /* another DaemonSet */
    assert_string_equal(reason_name(verdicts[0]), "fits");
    assert_int_equal(what_if_place_each(fork, &question, nodes, verdicts), 3);
    assert_string_equal(reason_name(verdicts[0]), "gpu_free");
    assert_string_equal(numbers_of(fixture, fixture->cluster), numbers);
    cluster_fork_free(fork);
}

/* In our scope only GPUs run out. */
static void test_placing_in_our_scope_judges_only_gpus(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "cpu=1 pods=1 " GPU "=3", "");
    struct cluster *fork = cluster_fork(fixture->cluster);
    struct fit_question question = question_on(fixture, fork, "cpu=9 x.y/z=1 " GPU "=1");
    assert_int_equal(what_if_more(fork, &question).n, 0);
    question.scope = FIT_OURS;
    assert_int_equal(what_if_more(fork, &question).n, 3);
    const struct node *nodes[5];
    assert_int_equal(what_if_place(fork, &question, 5, nodes), 3);
    assert_string_equal(names_of(fixture, nodes, 5), "n1 n1 n1 - -");
    cluster_fork_free(fork);
}

static void test_count_saturates(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "pods=max " GPU "=max", "");
    fixture_put_node(fixture, "n2", "pods=max " GPU "=max", "");
    struct cluster *fork = cluster_fork(fixture->cluster);
    const struct fit_question question = question_on(fixture, fork, GPU "=1");
    assert_int_equal(what_if_more(fork, &question).n, INT64_MAX);
    cluster_fork_free(fork);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_replicas_go_one_after_another_to_the_best_node),
        TEST(test_running_pods_are_counted),
        TEST(test_a_marked_fork_can_be_rewound),
        TEST(test_marks_are_nested),
        TEST(test_placing_never_changes_the_ledger),
        TEST(test_two_forks_are_independent),
        TEST(test_later_events_do_not_change_a_fork),
        TEST(test_a_fork_outlives_its_origin),
        TEST(test_a_fork_has_the_present_nodes),
        TEST(test_an_invalid_pod_is_placed_nowhere),
        TEST(test_a_daemon_set_is_placed_on_each_eligible_node),
        TEST(test_placing_in_our_scope_judges_only_gpus),
        TEST(test_count_saturates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
