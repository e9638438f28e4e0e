/* evict: victims like DefaultPreemption in kube-scheduler. */
#include "decide/evict.h"
#include "decide/quota.h"
#include "given_question.h"
#include "unit.h"

#include <string.h>

#define GPU "nvidia.com/gpu"

static void running(struct given *given, const char *uid, const char *node, const char *demand,
                    int64_t priority, int64_t started_s)
{
    struct pod_facts facts = given_pod_facts(given, uid, node, demand);
    facts.priority = priority;
    facts.started_s = started_s;
    facts.created_s = 1000 - started_s; /* decides nothing */
    given_pod_of(given, &facts);
}

/* "a: p1 p2": the node and its victims; "": eviction would not help. */
static const char *evicted_on(struct given *given, const struct cluster *room, const char *demand,
                              int64_t priority)
{
    const struct shape_facts facts = given_shape_facts(given, demand);
    const struct pod_shape *shape = cluster_resolve(room, &facts, given->arena);
    const struct fit_question question = {.shape = shape,
                                          .scope = FIT_ALL,
                                          .asker = {.priority = priority},
                                          .quota =
                                              quota_begin(room, "ml", shape, NULL, given->arena)};
    const struct eviction eviction = evict_for(given->cluster, room, &question, given->arena);
    if (!eviction.node)
        return "";
    const char *text = arena_printf(given->arena, "%s:", node_name(eviction.node));
    for (size_t i = 0; i < eviction.n_victims; i++)
        text = arena_printf(given->arena, "%s %s", text, eviction.victims[i]->uid);
    return text;
}

static void check(struct given *given, const char *demand, int64_t priority, const char *expected)
{
    assert_string_equal(evicted_on(given, given->cluster, demand, priority), expected);
}

static void given_gpu_node(struct given *given, const char *name)
{
    given_node(given, name, GPU "=8 cpu=8000 pods=10", "");
}

/* The most important pods are kept while there is room; the rest are victims. */
static void test_no_more_go_than_must(void **state)
{
    struct given *given = *state;
    given_gpu_node(given, "a");
    running(given, "high", "a", GPU "=2", 5, 1);
    running(given, "low-old", "a", GPU "=2", 1, 1);
    running(given, "low-new", "a", GPU "=2", 1, 2);
    running(given, "low-big", "a", GPU "=2", 1, 3);
    check(given, GPU "=2", 10, "a: low-big");
    check(given, GPU "=4", 10, "a: low-new low-big");
    check(given, GPU "=8", 10, "a: high low-old low-new low-big");
    check(given, GPU "=8", 5, "");
    check(given, GPU "=6", 5, "a: low-old low-new low-big");
    check(given, GPU "=2", 1, "");
    check(given, GPU "=9", 10, "");
}

/* A pod that does not matter stays, even if a more important one must go. */
static void test_only_those_that_are_in_the_way(void **state)
{
    struct given *given = *state;
    given_gpu_node(given, "a");
    running(given, "cpu-only", "a", "cpu=1000", 0, 1);
    running(given, "gpus", "a", GPU "=8", 3, 1);
    check(given, GPU "=8", 10, "a: gpus");
    check(given, GPU "=1 cpu=8000", 10, "a: gpus cpu-only");
}

/* Order: lowest highest victim, smallest sum of priorities, fewest victims, latest start, name. */
static void test_the_choice_of_the_node(void **state)
{
    struct given *given = *state;
    given_gpu_node(given, "b");
    given_gpu_node(given, "a");
    running(given, "b1", "b", GPU "=8", 4, 1);
    running(given, "a1", "a", GPU "=8", 5, 1);
    check(given, GPU "=8", 10, "b: b1");
    running(given, "a1", "a", GPU "=4", 4, 1);
    running(given, "a2", "a", GPU "=4", 3, 1);
    check(given, GPU "=8", 10, "b: b1");
    running(given, "b1", "b", GPU "=4", 4, 1);
    running(given, "b2", "b", GPU "=4", 2, 1);
    check(given, GPU "=8", 10, "b: b1 b2");
    running(given, "b2", "b", GPU "=4", 3, 1);
    check(given, GPU "=8", 10, "a: a1 a2");
    running(given, "b1", "b", GPU "=4", 4, 2);
    check(given, GPU "=8", 10, "b: b1 b2");
}

/* A pod without a start time counts as starting now: less important than those that run. */
static void test_pods_that_have_not_started(void **state)
{
    struct given *given = *state;
    given_gpu_node(given, "a");
    given_gpu_node(given, "b");
    running(given, "a1", "a", GPU "=4", 0, 0);
    running(given, "a2", "a", GPU "=4", 0, 5);
    running(given, "b1", "b", GPU "=8", 0, 6);
    check(given, GPU "=4", 10, "a: a1");
    running(given, "a1", "a", GPU "=8", 0, 0);
    cluster_delete_pod(given->cluster, "a2");
    check(given, GPU "=8", 10, "a: a1");
    running(given, "a1", "a", GPU "=8", 0, 5);
    check(given, GPU "=8", 10, "b: b1");
}

/* Priorities may be negative: more victims still give a larger sum. */
static void test_negative_priorities(void **state)
{
    struct given *given = *state;
    given_gpu_node(given, "a");
    given_gpu_node(given, "b");
    running(given, "a1", "a", GPU "=4", -5, 1);
    running(given, "a2", "a", GPU "=4", -5, 1);
    running(given, "b1", "b", GPU "=8", -5, 1);
    check(given, GPU "=8", 0, "b: b1");
}

/* No victims if something other than room prevents the pod. */
static void test_where_room_would_not_help(void **state)
{
    struct given *given = *state;
    struct node_facts facts = given_node_facts(given, "tainted", GPU "=8 pods=10", "");
    facts.taints = given_taints(given, "team=ml:NoSchedule", &facts.n_taints);
    given_node_of(given, &facts);
    running(given, "p", "tainted", GPU "=8", 0, 1);
    check(given, GPU "=8", 10, "");
    given_gpu_node(given, "open");
    check(given, GPU "=8", 10, "");
    running(given, "q", "open", GPU "=1", 0, 1);
    check(given, GPU "=8", 10, "open: q");
    check(given, "amd.com/gpu=1", 10, "");
    check(given, GPU "=8 memory=1", 10, "");
}

/* Pods placed by a dry run cannot be evicted. */
static void test_room_is_the_forks(void **state)
{
    struct given *given = *state;
    given_gpu_node(given, "a");
    running(given, "p", "a", GPU "=4", 0, 1);
    struct cluster *fork = cluster_fork(given->cluster);
    assert_string_equal(evicted_on(given, fork, GPU "=6", 10), "a: p");
    const struct shape_facts facts = given_shape_facts(given, GPU "=3");
    cluster_place(fork, cluster_find_node(fork, "a"), cluster_resolve(fork, &facts, given->arena),
                  1);
    assert_string_equal(evicted_on(given, fork, GPU "=6", 10), "");
    assert_string_equal(evicted_on(given, fork, GPU "=5", 10), "a: p");
    cluster_fork_free(fork);
}

/* More pods of lower priority than the initial buffer holds. */
static void test_many_pods(void **state)
{
    struct given *given = *state;
    given_node(given, "a", GPU "=200 pods=1000", "");
    for (int i = 0; i < 200; i++)
        running(given, arena_printf(given->arena, "p%03d", i), "a", GPU "=1", 0, 1 + i);
    check(given, GPU "=2", 10, "a: p198 p199");
}

static void in_namespace(struct given *given, const char *namespace_, const char *uid,
                         const char *node)
{
    struct pod_facts facts = given_pod_facts(given, uid, node, GPU "=4");
    facts.namespace_ = namespace_;
    given_pod_of(given, &facts);
}

/* kube-scheduler does not know quotas, but asks about its victims. Victims of other namespaces free
 * none of the quota. */
static void test_victims_give_back_their_quota(void **state)
{
    static const char *const NAMES[] = {"ml"};
    static const struct quota_limit LIMITS[] = {{.gpus = 4}};
    static const struct quota ML = {
        .name = "ml", .namespaces = NAMES, .n_namespaces = 1, .limits = LIMITS, .n_limits = 1};
    struct given *given = *state;
    given_quota(given, &ML);
    given_gpu_node(given, "a");
    given_gpu_node(given, "b");
    in_namespace(given, "others", "a1", "a");
    in_namespace(given, "others", "a2", "a");
    in_namespace(given, "others", "b1", "b");
    check(given, GPU "=6", 10, "");
    check(given, GPU "=4", 10, "a: a2");
    in_namespace(given, "ml", "b2", "b");
    check(given, GPU "=4", 10, "b: b2");
    check(given, GPU "=8", 10, "");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, given_setup, given_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_no_more_go_than_must),
        TEST(test_only_those_that_are_in_the_way),
        TEST(test_the_choice_of_the_node),
        TEST(test_pods_that_have_not_started),
        TEST(test_negative_priorities),
        TEST(test_where_room_would_not_help),
        TEST(test_room_is_the_forks),
        TEST(test_many_pods),
        TEST(test_victims_give_back_their_quota),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
