/* evict: victims like DefaultPreemption in kube-scheduler. */
#include "decide/peer_rules.h"
#include "decide/preempt.h"
#include "decide/quota.h"
#include "fixture_question.h"
#include "unit.h"

#include <string.h>

#define GPU "nvidia.com/gpu"

static void running(struct fixture *fixture, const char *uid, const char *node, const char *demand,
                    int64_t priority, int64_t started_s)
{
    struct pod_facts facts = fixture_pod_facts(fixture, uid, node, demand);
    facts.priority = priority;
    facts.started_s = started_s;
    facts.created_s = 1000 - started_s; /* decides nothing */
    fixture_put_pod_facts(fixture, &facts);
}

/* "a: p1 p2": the node and its victims; "": eviction would not help. */
static const char *evicted_on(struct fixture *fixture, const struct cluster *room,
                              const char *demand, int64_t priority)
{
    const struct shape_facts facts = fixture_shape_facts(fixture, demand);
    const struct pod_shape *shape = cluster_resolve(room, &facts, fixture->arena);
    const struct fit_question question = {
        .shape = shape,
        .scope = FIT_ALL,
        .asker = {.priority = priority},
        .quota = quota_begin(room, "ml", (struct quota_pod){shape, 0}, NULL, fixture->arena)};
    const struct eviction eviction = evict_for(fixture->cluster, room, &question, fixture->arena);
    if (!eviction.node)
        return "";
    const char *text = arena_printf(fixture->arena, "%s:", node_name(eviction.node));
    for (size_t i = 0; i < eviction.n_victims; i++)
        text = arena_printf(fixture->arena, "%s %s", text, eviction.victims[i]->uid);
    return text;
}

static void check(struct fixture *fixture, const char *demand, int64_t priority,
                  const char *expected)
{
    assert_string_equal(evicted_on(fixture, fixture->cluster, demand, priority), expected);
}

static void put_gpu_node(struct fixture *fixture, const char *name)
{
    fixture_put_node(fixture, name, GPU "=8 cpu=8000 pods=10", "");
}

/* The most important pods are kept while there is room; the rest are victims. */
static void test_no_needless_victims_are_chosen(void **state)
{
    struct fixture *fixture = *state;
    put_gpu_node(fixture, "a");
    running(fixture, "high", "a", GPU "=2", 5, 1);
    running(fixture, "low-old", "a", GPU "=2", 1, 1);
    running(fixture, "low-new", "a", GPU "=2", 1, 2);
    running(fixture, "low-big", "a", GPU "=2", 1, 3);
    check(fixture, GPU "=2", 10, "a: low-big");
    check(fixture, GPU "=4", 10, "a: low-new low-big");
    check(fixture, GPU "=8", 10, "a: high low-old low-new low-big");
    check(fixture, GPU "=8", 5, "");
    check(fixture, GPU "=6", 5, "a: low-old low-new low-big");
    check(fixture, GPU "=2", 1, "");
    check(fixture, GPU "=9", 10, "");
}

/* A pod that does not matter stays, even if a more important one must go. */
static void test_only_pods_that_block_the_pod_are_victims(void **state)
{
    struct fixture *fixture = *state;
    put_gpu_node(fixture, "a");
    running(fixture, "cpu-only", "a", "cpu=1000", 0, 1);
    running(fixture, "gpus", "a", GPU "=8", 3, 1);
    check(fixture, GPU "=8", 10, "a: gpus");
    check(fixture, GPU "=1 cpu=8000", 10, "a: gpus cpu-only");
}

/* Order: lowest highest victim, smallest sum of priorities, fewest victims, latest start, name. */
static void test_the_node_with_the_cheapest_victims_is_chosen(void **state)
{
    struct fixture *fixture = *state;
    put_gpu_node(fixture, "b");
    put_gpu_node(fixture, "a");
    running(fixture, "b1", "b", GPU "=8", 4, 1);
    running(fixture, "a1", "a", GPU "=8", 5, 1);
    check(fixture, GPU "=8", 10, "b: b1");
    running(fixture, "a1", "a", GPU "=4", 4, 1);
    running(fixture, "a2", "a", GPU "=4", 3, 1);
    check(fixture, GPU "=8", 10, "b: b1");
    running(fixture, "b1", "b", GPU "=4", 4, 1);
    running(fixture, "b2", "b", GPU "=4", 2, 1);
    check(fixture, GPU "=8", 10, "b: b1 b2");
    running(fixture, "b2", "b", GPU "=4", 3, 1);
    check(fixture, GPU "=8", 10, "a: a1 a2");
    running(fixture, "b1", "b", GPU "=4", 4, 2);
    check(fixture, GPU "=8", 10, "b: b1 b2");
}

/* A pod without a start time counts as starting now: less important than those that run. */
static void test_pods_that_have_not_started(void **state)
{
    struct fixture *fixture = *state;
    put_gpu_node(fixture, "a");
    put_gpu_node(fixture, "b");
    running(fixture, "a1", "a", GPU "=4", 0, 0);
    running(fixture, "a2", "a", GPU "=4", 0, 5);
    running(fixture, "b1", "b", GPU "=8", 0, 6);
    check(fixture, GPU "=4", 10, "a: a1");
    running(fixture, "a1", "a", GPU "=8", 0, 0);
    cluster_delete_pod(fixture->cluster, "a2");
    check(fixture, GPU "=8", 10, "a: a1");
    running(fixture, "a1", "a", GPU "=8", 0, 5);
    check(fixture, GPU "=8", 10, "b: b1");
}

/* Priorities may be negative: more victims still give a larger sum. */
static void test_negative_priorities_are_compared(void **state)
{
    struct fixture *fixture = *state;
    put_gpu_node(fixture, "a");
    put_gpu_node(fixture, "b");
    running(fixture, "a1", "a", GPU "=4", -5, 1);
    running(fixture, "a2", "a", GPU "=4", -5, 1);
    running(fixture, "b1", "b", GPU "=8", -5, 1);
    check(fixture, GPU "=8", 0, "b: b1");
}

/* No victims if something other than room prevents the pod. */
static void test_no_victims_where_eviction_would_not_help(void **state)
{
    struct fixture *fixture = *state;
    struct node_facts facts = fixture_node_facts(fixture, "tainted", GPU "=8 pods=10", "");
    facts.taints = fixture_taints(fixture, "team=ml:NoSchedule", &facts.n_taints);
    fixture_put_node_facts(fixture, &facts);
    running(fixture, "p", "tainted", GPU "=8", 0, 1);
    check(fixture, GPU "=8", 10, "");
    put_gpu_node(fixture, "open");
    check(fixture, GPU "=8", 10, "");
    running(fixture, "q", "open", GPU "=1", 0, 1);
    check(fixture, GPU "=8", 10, "open: q");
    check(fixture, "amd.com/gpu=1", 10, "");
    check(fixture, GPU "=8 memory=1", 10, "");
}

/* Pods placed by a dry run cannot be evicted. */
static void test_placed_pods_of_a_fork_are_never_victims(void **state)
{
    struct fixture *fixture = *state;
    put_gpu_node(fixture, "a");
    running(fixture, "p", "a", GPU "=4", 0, 1);
    struct cluster *fork = cluster_fork(fixture->cluster);
    assert_string_equal(evicted_on(fixture, fork, GPU "=6", 10), "a: p");
    const struct shape_facts facts = fixture_shape_facts(fixture, GPU "=3");
    cluster_place(fork, cluster_find_node(fork, "a"), cluster_resolve(fork, &facts, fixture->arena),
                  1);
    assert_string_equal(evicted_on(fixture, fork, GPU "=6", 10), "");
    assert_string_equal(evicted_on(fixture, fork, GPU "=5", 10), "a: p");
    cluster_fork_free(fork);
}

/* More pods of lower priority than the initial buffer holds. */
static void test_victims_are_found_among_many_pods(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "a", GPU "=200 pods=1000", "");
    for (int i = 0; i < 200; i++)
        running(fixture, arena_printf(fixture->arena, "p%03d", i), "a", GPU "=1", 0, 1 + i);
    check(fixture, GPU "=2", 10, "a: p198 p199");
}

static void in_namespace(struct fixture *fixture, const char *namespace_, const char *uid,
                         const char *node)
{
    struct pod_facts facts = fixture_pod_facts(fixture, uid, node, GPU "=4");
    facts.namespace_ = namespace_;
    fixture_put_pod_facts(fixture, &facts);
}

/* kube-scheduler does not know quotas, but asks about its victims. Victims of other namespaces free
 * none of the quota. */
static void test_victims_release_their_quota(void **state)
{
    static const char *const NAMES[] = {"ml"};
    static const struct quota_limit LIMITS[] = {{.gpus = 4}};
    static const struct quota ML = {
        .name = "ml", .namespaces = NAMES, .n_namespaces = 1, .limits = LIMITS, .n_limits = 1};
    struct fixture *fixture = *state;
    fixture_add_quota(fixture, &ML);
    put_gpu_node(fixture, "a");
    put_gpu_node(fixture, "b");
    in_namespace(fixture, "others", "a1", "a");
    in_namespace(fixture, "others", "a2", "a");
    in_namespace(fixture, "others", "b1", "b");
    check(fixture, GPU "=6", 10, "");
    check(fixture, GPU "=4", 10, "a: a2");
    in_namespace(fixture, "ml", "b2", "b");
    check(fixture, GPU "=4", 10, "b: b2");
    check(fixture, GPU "=8", 10, "");
}

#define N_VALUES ((size_t)1000000)

/* The search runs under the lock of the ledger, so a pod with large terms must end it early. */
static void test_large_terms_end_the_search(void **state)
{
    struct fixture *fixture = *state;
    const struct label web = {"app", "web"};
    const char **values = ARENA_ARRAY(fixture->arena, const char *, N_VALUES);
    for (size_t i = 0; i < N_VALUES; i++)
        values[i] = "other";
    const struct requirement requirement = {
        .key = "app", .op = SELECTOR_IN, .values = values, .n_values = N_VALUES};
    const struct peer_term term = {.topology_key = "zone", .selector = {&requirement, 1}};
    const struct peer_facts facts = {.anti_affinity = &term, .n_anti_affinity = 1};
    fixture_put_node(fixture, "a", GPU "=8 cpu=8000 pods=10", "zone=a");
    for (char uid[] = "p1"; uid[1] < '9'; uid[1]++) {
        struct pod_facts pod = fixture_pod_facts(fixture, uid, "a", GPU "=1");
        pod.peers = (struct peer_facts){.labels = &web, .n_labels = 1};
        fixture_put_pod_facts(fixture, &pod);
    }
    struct cluster *fork = cluster_fork_with(fixture->cluster, PEERS_ALL);
    const struct peer_pod peer = {"default", NULL, &facts};
    const struct shape_facts demand = fixture_shape_facts(fixture, GPU "=2");
    struct fit_question question = {.shape = cluster_resolve(fork, &demand, fixture->arena),
                                    .scope = FIT_ALL,
                                    .asker = {.priority = 10},
                                    .peer = &peer};
    question.peers = peer_rules_of(fork, &peer, question.shape, fixture->arena);
    const struct eviction eviction = evict_for(fixture->cluster, fork, &question, fixture->arena);
    assert_null(eviction.node);
    assert_true(eviction.is_cut);
    cluster_fork_free(fork);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_no_needless_victims_are_chosen),
        TEST(test_only_pods_that_block_the_pod_are_victims),
        TEST(test_the_node_with_the_cheapest_victims_is_chosen),
        TEST(test_pods_that_have_not_started),
        TEST(test_negative_priorities_are_compared),
        TEST(test_no_victims_where_eviction_would_not_help),
        TEST(test_placed_pods_of_a_fork_are_never_victims),
        TEST(test_victims_are_found_among_many_pods),
        TEST(test_victims_release_their_quota),
        TEST(test_large_terms_end_the_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
