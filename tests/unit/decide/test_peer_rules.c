/* peer_rules: affinity between pods and topology spread. tests/control-plane/test_agreement.py
 * compares the rules with kube-scheduler; here counts that change with each replica are compared
 * with counts from the pods. */
#include "decide/peer_rules.h"
#include "decide/what_if.h"
#include "fixture_question.h"
#include "ledger/reservation.h"
#include "unit.h"

#include <string.h>

static const char *const APP_WEB[] = {"web"};
static const struct requirement IS_WEB = {
    .key = "app", .op = SELECTOR_IN, .values = APP_WEB, .n_values = 1};
static const struct label WEB = {"app", "web"};
static const struct peer_term WEB_BY_ZONE = {.topology_key = "zone", .selector = {&IS_WEB, 1}};
static const struct peer_term WEB_BY_HOST = {.topology_key = "host", .selector = {&IS_WEB, 1}};
static const struct spread_constraint WEB_SPREAD = {
    .topology_key = "zone", .selector = {&IS_WEB, 1}, .max_skew = 1, .min_domains = 1};

static const struct peer_facts PLAIN = {.labels = &WEB, .n_labels = 1};
static const struct peer_facts APART = {
    .labels = &WEB, .n_labels = 1, .anti_affinity = &WEB_BY_ZONE, .n_anti_affinity = 1};
static const struct peer_facts APART_BY_HOST = {
    .labels = &WEB, .n_labels = 1, .anti_affinity = &WEB_BY_HOST, .n_anti_affinity = 1};
static const struct peer_facts TOGETHER = {
    .labels = &WEB, .n_labels = 1, .affinity = &WEB_BY_ZONE, .n_affinity = 1};
static const struct peer_facts SPREAD = {
    .labels = &WEB, .n_labels = 1, .spread = &WEB_SPREAD, .n_spread = 1};

/* Zones of two nodes, of one, and a node without a zone or host. */
static void four_nodes(struct fixture *fixture)
{
    fixture_put_node(fixture, "a1", "pods=10 cpu=10", "zone=a,host=a1");
    fixture_put_node(fixture, "a2", "pods=10 cpu=10", "zone=a,host=a2");
    fixture_put_node(fixture, "b1", "pods=10 cpu=10", "zone=b,host=b1");
    fixture_put_node(fixture, "none", "pods=10 cpu=10", "");
}

static void put(struct fixture *fixture, const char *uid, const char *node,
                const struct peer_facts *peers)
{
    struct pod_facts facts = fixture_pod_facts(fixture, uid, node, "cpu=1");
    facts.peers = *peers;
    fixture_put_pod_facts(fixture, &facts);
}

static struct peer_pod pod_of(const struct peer_facts *facts)
{
    return (struct peer_pod){"default", facts, peer_facts_have_terms(facts) ? facts : NULL};
}

static struct cluster *fork_of(struct fixture *fixture)
{
    return cluster_fork_with(fixture->cluster, PEERS_ALL);
}

/* "a1 fits a2 pod_affinity ..." */
static const char *verdicts_of(struct fixture *fixture, const struct cluster *fork,
                               const struct peer_rules *rules, const struct asker *asker)
{
    const char *text = "";
    for (const struct node *node = cluster_next_node(fork, NULL); node;
         node = cluster_next_node(fork, node))
        text = arena_printf(fixture->arena, "%s%s%s %s", text, text[0] ? ", " : "", node_name(node),
                            reason_name(peer_rules_judge(rules, node, asker)));
    return text;
}

static const char *judged_for(struct fixture *fixture, const struct peer_facts *facts,
                              const struct asker *asker)
{
    static const struct pod_shape ANY;
    struct cluster *fork = fork_of(fixture);
    const struct peer_pod pod = pod_of(facts);
    const struct peer_rules *rules = peer_rules_of(fork, &pod, &ANY, fixture->arena);
    const char *text = verdicts_of(fixture, fork, rules, asker);
    cluster_fork_free(fork);
    return text;
}

static const char *judged(struct fixture *fixture, const struct peer_facts *facts)
{
    return judged_for(fixture, facts, &(struct asker){0});
}

static void test_the_first_pod_of_a_group_may_go_anywhere_with_the_key(void **state)
{
    struct fixture *fixture = *state;
    four_nodes(fixture);
    assert_string_equal(judged(fixture, &TOGETHER), "a1 fits, a2 fits, b1 fits, none pod_affinity");
    put(fixture, "p", "b1", &PLAIN);
    assert_string_equal(judged(fixture, &TOGETHER),
                        "a1 pod_affinity, a2 pod_affinity, b1 fits, none pod_affinity");
}

static void test_anti_affinity_counts_in_both_directions(void **state)
{
    struct fixture *fixture = *state;
    four_nodes(fixture);
    put(fixture, "p", "a1", &APART);
    assert_string_equal(judged(fixture, &PLAIN),
                        "a1 pod_repelled, a2 pod_repelled, b1 fits, none fits");
    put(fixture, "p", "a1", &PLAIN);
    assert_string_equal(judged(fixture, &APART),
                        "a1 pod_anti_affinity, a2 pod_anti_affinity, b1 fits, none fits");
    put(fixture, "p", "none", &PLAIN);
    assert_string_equal(judged(fixture, &APART), "a1 fits, a2 fits, b1 fits, none fits");
}

static void test_spread_counts_empty_domains_and_no_terminating_pods(void **state)
{
    struct fixture *fixture = *state;
    four_nodes(fixture);
    put(fixture, "p", "a1", &PLAIN);
    assert_string_equal(judged(fixture, &SPREAD),
                        "a1 topology_spread, a2 topology_spread, b1 fits, none topology_spread");
    struct pod_facts ends = fixture_pod_facts(fixture, "p", "a1", "cpu=1");
    ends.peers = PLAIN;
    ends.terminating = true;
    fixture_put_pod_facts(fixture, &ends);
    assert_string_equal(judged(fixture, &SPREAD),
                        "a1 fits, a2 fits, b1 fits, none topology_spread");
}

static void test_an_empty_selector_of_spread_counts_by_version(void **state)
{
    static const struct spread_constraint OVER_ALL = {
        .topology_key = "zone", .max_skew = 1, .min_domains = 1};
    static const struct peer_facts SPREADS = {.spread = &OVER_ALL, .n_spread = 1};
    struct fixture *fixture = *state;
    four_nodes(fixture);
    put(fixture, "p", "a1", &PLAIN);
    cluster_set_minor(fixture->cluster, 37);
    assert_string_equal(judged(fixture, &SPREADS),
                        "a1 fits, a2 fits, b1 fits, none topology_spread");
    cluster_set_minor(fixture->cluster, 38);
    assert_string_equal(judged(fixture, &SPREADS),
                        "a1 topology_spread, a2 topology_spread, b1 fits, none topology_spread");
}

/* How many of ten replicas are placed; how many more the dry run counted before. */
static void check_placed(struct fixture *fixture, const struct peer_facts *facts, size_t expected)
{
    struct cluster *fork = fork_of(fixture);
    const struct shape_facts shape = fixture_shape_facts(fixture, "cpu=1");
    const struct peer_pod pod = pod_of(facts);
    struct fit_question question = {
        .shape = cluster_resolve(fork, &shape, fixture->arena), .scope = FIT_ALL, .peer = &pod};
    const struct node *nodes[10];
    question.peers = peer_rules_of(fork, &pod, question.shape, fixture->arena);
    assert_int_equal(what_if_more(fork, &question).n, expected);
    assert_int_equal(what_if_place(fork, &question, 10, nodes), expected < 10 ? expected : 10);
    const struct peer_rules *anew = peer_rules_of(fork, &pod, question.shape, fixture->arena);
    assert_string_equal(verdicts_of(fixture, fork, question.peers, &question.asker),
                        verdicts_of(fixture, fork, anew, &question.asker));
    cluster_fork_free(fork);
}

static void test_replicas_count_against_each_other(void **state)
{
    struct fixture *fixture = *state;
    four_nodes(fixture);
    check_placed(fixture, &APART_BY_HOST, 13); /* 10 on the node without a host */
    check_placed(fixture, &APART, 12);
    check_placed(fixture, &TOGETHER, 20);
    check_placed(fixture, &SPREAD, 21); /* b1 is full with 10 */
}

/* More nodes in a zone than are looked at one by one. */
static void test_replicas_spread_over_a_large_and_a_small_zone(void **state)
{
    struct fixture *fixture = *state;
    for (unsigned i = 0; i < 20; i++)
        fixture_put_node(fixture, arena_printf(fixture->arena, "a%u", i), "pods=10 cpu=10",
                         "zone=a");
    fixture_put_node(fixture, "b", "pods=10 cpu=10", "zone=b");
    check_placed(fixture, &SPREAD, 21); /* b is full with 10 */
}

static void nominate(struct fixture *fixture, const char *uid, const char *node,
                     const struct peer_facts *peers)
{
    struct pod_facts facts = fixture_pod_facts(fixture, uid, "", "cpu=1");
    facts.peers = *peers;
    facts.nominated_node = node;
    facts.priority = 5;
    fixture_put_pod_facts(fixture, &facts);
}

/* Not on a2, in the same zone: kube-scheduler adds the pods that are nominated to the node that it
 * judges. */
static void test_a_nominated_pod_counts_on_its_node_for_pods_of_its_priority(void **state)
{
    static const char REPELLED[] = "a1 pod_repelled, a2 fits, b1 fits, none fits";
    static const char APART_FROM_IT[] = "a1 pod_anti_affinity, a2 fits, b1 fits, none fits";
    static const char FREE[] = "a1 fits, a2 fits, b1 fits, none fits";
    struct fixture *fixture = *state;
    four_nodes(fixture);
    nominate(fixture, "p", "a1", &APART);
    assert_string_equal(judged_for(fixture, &PLAIN, &(struct asker){.priority = 4}), REPELLED);
    assert_string_equal(judged_for(fixture, &PLAIN, &(struct asker){.priority = 5}), REPELLED);
    assert_string_equal(judged_for(fixture, &PLAIN, &(struct asker){.priority = 6}), FREE);
    assert_string_equal(judged_for(fixture, &APART, &(struct asker){.uid = "p", .priority = 5}),
                        FREE);
    nominate(fixture, "p", "a1", &PLAIN);
    assert_string_equal(judged(fixture, &APART), APART_FROM_IT);
}

/* It may go before it is bound. */
static void test_a_nominated_pod_satisfies_no_affinity(void **state)
{
    struct fixture *fixture = *state;
    four_nodes(fixture);
    put(fixture, "p", "a1", &PLAIN);
    nominate(fixture, "q", "b1", &PLAIN);
    assert_string_equal(judged(fixture, &TOGETHER),
                        "a1 fits, a2 fits, b1 pod_affinity, none pod_affinity");
}

/* With it, b is no longer the only zone with the lowest count. */
static void test_a_nominated_pod_raises_the_lowest_count(void **state)
{
    struct fixture *fixture = *state;
    four_nodes(fixture);
    put(fixture, "p", "a1", &PLAIN);
    nominate(fixture, "q", "b1", &PLAIN);
    assert_string_equal(judged(fixture, &SPREAD),
                        "a1 topology_spread, a2 topology_spread, b1 fits, none topology_spread");
    nominate(fixture, "r", "b1", &PLAIN);
    assert_string_equal(
        judged(fixture, &SPREAD),
        "a1 topology_spread, a2 topology_spread, b1 topology_spread, none topology_spread");
}

static void reserve(struct fixture *fixture, const char *uid, const char *node)
{
    const struct shape_facts shape = fixture_shape_facts(fixture, "cpu=1");
    struct reservation_draft draft = {
        .uid = uid, .namespace_ = "default", .name = uid, .replica_of = "", .node_name = node};
    reservation_begin(fixture->cluster, &draft, &shape);
    (void)reservation_commit(fixture->cluster, &draft);
}

static void test_a_pod_that_is_being_bound_counts_as_one_on_the_node(void **state)
{
    struct fixture *fixture = *state;
    four_nodes(fixture);
    put(fixture, "p", "", &APART);
    reserve(fixture, "p", "a1");
    assert_string_equal(judged_for(fixture, &PLAIN, &(struct asker){.priority = 9}),
                        "a1 pod_repelled, a2 pod_repelled, b1 fits, none fits");
    assert_string_equal(judged(fixture, &APART),
                        "a1 pod_anti_affinity, a2 pod_anti_affinity, b1 fits, none fits");
    reserve(fixture, "not-shown", "b1");
    struct cluster *fork = fork_of(fixture);
    assert_int_equal(cluster_n_lacking_peers(fork), 1);
    cluster_fork_free(fork);
    struct err err;
    assert_int_equal(cluster_check_in_place(fixture->cluster, &err), 0);
}

/* The lock is free between two steps. */
static void test_pods_are_forked_in_steps(void **state)
{
    struct fixture *fixture = *state;
    four_nodes(fixture);
    put(fixture, "p1", "a1", &APART);
    put(fixture, "p2", "a2", &PLAIN);
    put(fixture, "p3", "b1", &PLAIN);
    struct cluster *fork = cluster_fork_begin(fixture->cluster, PEERS_ALL);
    assert_int_equal(cluster_fork_some(fork, fixture->cluster, 5), FORK_GOES_ON); /* all nodes */
    assert_int_equal(cluster_fork_some(fork, fixture->cluster, 1), FORK_GOES_ON);
    fixture_remove_pod(fixture, "p1");
    fixture_remove_node(fixture, "b1");
    put(fixture, "p4", "a2", &APART_BY_HOST);
    assert_true(cluster_is_fork_of(fork, fixture->cluster));
    assert_int_equal(cluster_fork_some(fork, fixture->cluster, SIZE_MAX), FORK_IS_COMPLETE);
    size_t n = 0;
    const struct peer *peers = cluster_peers(fork, PEERS_ALL, &n);
    assert_int_equal(n, 3); /* p1 was added before it went */
    for (size_t i = 0; i < n; i++)
        assert_string_not_equal(node_name(peers[i].node), "b1");
    assert_false(cluster_fork_peers_release(fork, 1));
    cluster_fork_free(fork);
    struct err err;
    assert_int_equal(cluster_check_in_place(fixture->cluster, &err), 0);
}

static void test_the_fork_of_a_replaced_ledger_is_none_of_the_new_one(void **state)
{
    struct fixture *fixture = *state;
    struct cluster *fork = cluster_fork(fixture->cluster);
    struct cluster *other = cluster_new(cluster_policy(fixture->cluster));
    assert_false(cluster_is_fork_of(fork, other));
    cluster_free(other);
    cluster_fork_free(fork);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_first_pod_of_a_group_may_go_anywhere_with_the_key),
        TEST(test_anti_affinity_counts_in_both_directions),
        TEST(test_spread_counts_empty_domains_and_no_terminating_pods),
        TEST(test_an_empty_selector_of_spread_counts_by_version),
        TEST(test_replicas_count_against_each_other),
        TEST(test_replicas_spread_over_a_large_and_a_small_zone),
        TEST(test_a_nominated_pod_counts_on_its_node_for_pods_of_its_priority),
        TEST(test_a_nominated_pod_satisfies_no_affinity),
        TEST(test_a_nominated_pod_raises_the_lowest_count),
        TEST(test_a_pod_that_is_being_bound_counts_as_one_on_the_node),
        TEST(test_pods_are_forked_in_steps),
        TEST(test_the_fork_of_a_replaced_ledger_is_none_of_the_new_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
