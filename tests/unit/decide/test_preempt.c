/* Room that evictions give a pod: cases, and an independent computation over random clusters. */
#include "decide/preempt.h"
#include "decide/quota.h"
#include "dice.h"
#include "fixture_question.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

#define GPU "nvidia.com/gpu"
#define H100 "nvidia.com/gpu.product=NVIDIA-H100-80GB-HBM3"
#define A100 "nvidia.com/gpu.product=NVIDIA-A100-SXM4-80GB"
#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char *judge(struct fixture *fixture, const char *node, const char *demand,
                         const char *const *victims, size_t n_victims)
{
    const struct shape_facts facts = fixture_shape_facts(fixture, demand);
    struct fit_question question = fixture_question(fixture, &facts);
    question.asker = (struct asker){.uid = "p", .priority = 10};
    return reason_name(preempt_judge(fixture->cluster, cluster_find_node(fixture->cluster, node),
                                     &question, victims, n_victims, fixture->arena));
}

#define JUDGE(node, demand, ...)                                                                   \
    judge(fixture, node, demand, (const char *const[]){__VA_ARGS__},                               \
          COUNT(((const char *const[]){__VA_ARGS__})))

/* n1 with 8 GPUs: a uses 3, b 4, c none; n2 with 8: d uses 8. */
static struct fixture *put_busy_nodes(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "cpu=64 pods=9 " GPU "=8", "");
    fixture_put_node(fixture, "n2", "cpu=64 pods=9 " GPU "=8", "");
    fixture_put_pod(fixture, "a", "n1", GPU "=3");
    fixture_put_pod(fixture, "b", "n1", GPU "=4");
    fixture_put_pod(fixture, "c", "n1", "cpu=1");
    fixture_put_pod(fixture, "d", "n2", GPU "=8");
    return fixture;
}

static void test_victims_free_their_gpus(void **state)
{
    struct fixture *fixture = put_busy_nodes(state);
    assert_string_equal(JUDGE("n1", GPU "=4", "a"), "fits");
    assert_string_equal(JUDGE("n1", GPU "=5", "a"), "gpu_free");
    assert_string_equal(JUDGE("n1", GPU "=5", "b"), "fits");
    assert_string_equal(JUDGE("n1", GPU "=8", "a", "b"), "fits");
    assert_string_equal(JUDGE("n1", GPU "=8", "b", "c", "a"), "fits");
    assert_string_equal(JUDGE("n1", GPU "=9", "a", "b"), "gpu_total");
    assert_string_equal(JUDGE("n1", "amd.com/gpu=1", "a", "b"), "gpu_absent");
    assert_string_equal(JUDGE("n1", "cpu=1000", "c"), "fits"); /* not ours to judge */
    assert_string_equal(JUDGE("n3", GPU "=1", "a"), "node_unknown");
    assert_int_equal(fixture_used(fixture, "n1", GPU), 7); /* nothing changed */
}

static void test_victims_elsewhere_free_nothing(void **state)
{
    struct fixture *fixture = put_busy_nodes(state);
    assert_string_equal(JUDGE("n1", GPU "=2", "d"), "gpu_free");
    assert_string_equal(JUDGE("n1", GPU "=2", "nobody", "c"), "gpu_free");
    assert_string_equal(JUDGE("n1", GPU "=5", "a", "a", "a"), "gpu_free");
    fixture_put_pod(fixture, "p", "n1", GPU "=1"); /* itself */
    assert_string_equal(JUDGE("n1", GPU "=1", "p"), "gpu_free");
    fixture_put_pod(fixture, "w", "", GPU "=3"); /* it waits */
    assert_string_equal(JUDGE("n1", GPU "=1", "w"), "gpu_free");
}

/* kube-scheduler treats a pod being bound like a bound one. */
static void test_a_victims_reservation_is_subtracted(void **state)
{
    struct fixture *fixture = fixture_two_nodes(state);
    fixture_must_reserve(fixture, "p", "n1");
    const struct shape_facts facts = fixture_shape_facts(fixture, GPU "=8");
    struct fit_question question = fixture_question(fixture, &facts);
    const char *const victims[] = {"p"};
    question.asker = (struct asker){.uid = "q", .priority = 10};
    assert_int_equal(preempt_judge(fixture->cluster, fixture_find_node(fixture, "n1"), &question,
                                   victims, 1, fixture->arena),
                     REASON_FITS);
    fixture_put_pod(fixture, "x", "n2", GPU "=8");
    assert_int_equal(preempt_judge(fixture->cluster, fixture_find_node(fixture, "n2"), &question,
                                   victims, 1, fixture->arena),
                     REASON_GPU_FREE);
}

static void test_freed_room_may_be_kept_for_another_pod(void **state)
{
    struct fixture *fixture = put_busy_nodes(state);
    struct pod_facts other = fixture_pod_facts(fixture, "o", "", GPU "=4");
    other.nominated_node = "n1";
    other.priority = 10;
    fixture_put_pod_facts(fixture, &other);
    assert_string_equal(JUDGE("n1", GPU "=4", "a"), "gpu_nominated");
    assert_string_equal(JUDGE("n1", GPU "=4", "a", "b"), "fits");
    assert_string_equal(JUDGE("n1", GPU "=5", "a", "b"), "gpu_nominated");
    other.priority = 9;
    fixture_put_pod_facts(fixture, &other);
    assert_string_equal(JUDGE("n1", GPU "=4", "a"), "fits");
}

static void test_eviction_helps_no_wrong_model_or_invalid_pod(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "t4", "pods=9 " GPU "=8", "accelerator=Tesla-T4");
    fixture_put_pod(fixture, "a", "t4", GPU "=8");
    struct shape_facts facts = fixture_shape_facts(fixture, GPU "=4");
    facts.wants.accept = fixture_models(fixture, "A100", &facts.wants.n_accept);
    struct fit_question question = fixture_question(fixture, &facts);
    const char *const victims[] = {"a"};
    const struct node *t4 = fixture_find_node(fixture, "t4");
    assert_int_equal(preempt_judge(fixture->cluster, t4, &question, victims, 1, fixture->arena),
                     REASON_MODEL_NOT_WANTED);
    facts.wants.n_accept = 0;
    question = fixture_question(fixture, &facts);
    question.refusal = "half a GPU";
    assert_int_equal(preempt_judge(fixture->cluster, t4, &question, victims, 1, fixture->arena),
                     REASON_POD_INVALID);
    question.refusal = NULL;
    assert_int_equal(preempt_judge(fixture->cluster, t4, &question, victims, 1, fixture->arena),
                     REASON_FITS);
}

static void test_a_saturated_sum_frees_nothing(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "pods=9 " GPU "=8", "");
    fixture_put_pod(fixture, "a", "n1", GPU "=max");
    fixture_put_pod(fixture, "b", "n1", GPU "=max");
    assert_string_equal(JUDGE("n1", GPU "=1", "a"), "gpu_free");
    assert_string_equal(JUDGE("n1", GPU "=1", "a", "b"), "gpu_free");
    fixture_remove_pod(fixture, "b");
    fixture_put_pod(fixture, "b", "n1", GPU "=1");
    fixture_remove_pod(fixture, "a");
    fixture_put_pod(fixture, "a", "n1", GPU "=7");
    assert_string_equal(JUDGE("n1", GPU "=8", "a", "b"), "fits");
}

#define QUOTA_IN_TOTAL 12
#define QUOTA_OF_H100 6

/* For namespace default. */
static void team_quota(struct fixture *fixture)
{
    static const char *const NAMESPACES[] = {"default"};
    static const struct quota_limit LIMITS[] = {
        {.resource = GPU, .gpus = QUOTA_IN_TOTAL},
        {.resource = GPU, .model = "H100", .gpus = QUOTA_OF_H100}};
    const struct quota quota = {.name = "team",
                                .namespaces = NAMESPACES,
                                .n_namespaces = COUNT(NAMESPACES),
                                .limits = LIMITS,
                                .n_limits = COUNT(LIMITS)};
    fixture_add_quota(fixture, &quota);
}

static struct pod_facts others_pod(struct fixture *fixture, const char *uid, const char *node,
                                   const char *demand)
{
    struct pod_facts facts = fixture_pod_facts(fixture, uid, node, demand);
    facts.namespace_ = "others";
    return facts;
}

/* A quota spans nodes: evicting on one makes room for the pod only there. */
static void test_only_victims_on_the_node_free_its_quota(void **state)
{
    static const struct {
        const char *node, *victims[2], *verdict;
    } ROWS[] = {
        {"h1", {"four"}, "fits"},
        {"h2", {"two"}, "quota"},    /* of H100: two are not enough */
        {"h2", {"theirs"}, "quota"}, /* frees GPUs, but none of the quota */
        {"h2", {"two", "theirs"}, "quota"},
        {"h2", {"four", "two"}, "quota"}, /* pods on other nodes stay */
        {"s", {"another"}, "fits"},       /* GPUs are free: only the total prevented it */
        {"s", {"small"}, "quota"},
        {"s", {"another", "small"}, "fits"},
        {"s", {"four"}, "quota"},
    };
    struct fixture *fixture = *state;
    team_quota(fixture);
    fixture_put_node(fixture, "h1", "pods=9 " GPU "=8", H100);
    fixture_put_node(fixture, "h2", "pods=9 " GPU "=8", H100);
    fixture_put_node(fixture, "s", "pods=9 " GPU "=16", A100);
    fixture_put_pod(fixture, "four", "h1", GPU "=4");
    fixture_put_pod(fixture, "two", "h2", GPU "=2");
    const struct pod_facts theirs = others_pod(fixture, "theirs", "h2", GPU "=5");
    fixture_put_pod_facts(fixture, &theirs);
    fixture_put_pod(fixture, "another", "s", GPU "=3");
    fixture_put_pod(fixture, "small", "s", GPU "=1");
    const struct shape_facts facts = fixture_shape_facts(fixture, GPU "=4");
    struct fit_question question = fixture_question(fixture, &facts);
    question.asker = (struct asker){.uid = "p", .priority = 10};
    question.quota = quota_begin(fixture->cluster, "default", (struct quota_pod){question.shape, 0},
                                 NULL, fixture->arena);
    for (size_t i = 0; i < 2 * COUNT(ROWS); i++) {
        const size_t row = i % COUNT(ROWS);
        const char *const *victims = ROWS[row].victims;
        const enum reason reason =
            preempt_judge(fixture->cluster, fixture_find_node(fixture, ROWS[row].node), &question,
                          victims, victims[1] ? 2 : 1, fixture->arena);
        if (strcmp(reason_name(reason), ROWS[row].verdict) != 0)
            fail_msg("row %zu: %s", row, reason_name(reason));
    }
}

static void test_a_victims_reservation_frees_its_quota(void **state)
{
    struct fixture *fixture = *state;
    team_quota(fixture);
    fixture_put_node(fixture, "h1", "pods=9 " GPU "=8", H100);
    fixture_put_pod(fixture, "held", "", GPU "=6");
    fixture_must_reserve(fixture, "held", "h1");
    const struct shape_facts facts = fixture_shape_facts(fixture, GPU "=2");
    struct fit_question question = fixture_question(fixture, &facts);
    const char *const victims[] = {"held"};
    const struct node *node = fixture_find_node(fixture, "h1");
    question.quota = quota_begin(fixture->cluster, "default", (struct quota_pod){question.shape, 0},
                                 NULL, fixture->arena);
    assert_int_equal(preempt_judge(fixture->cluster, node, &question, victims, 0, fixture->arena),
                     REASON_QUOTA);
    assert_int_equal(preempt_judge(fixture->cluster, node, &question, victims, 1, fixture->arena),
                     REASON_FITS);
}

/* Random clusters. */

#define N_NODES 4
#define N_PODS 24
#define N_ROUNDS 2000

struct random_pod {
    char uid[8];
    unsigned gpus;
    unsigned node; /* N_NODES: it waits */
    bool is_promised;
    bool is_ours; /* the quota counts it */
    unsigned priority;
    bool is_victim;
};

struct world {
    struct dice dice;
    unsigned room[N_NODES];
    struct random_pod pods[N_PODS];
};

static const char *const NAMES[] = {"n0", "n1", "n2", "n3", ""};

static bool is_h100(unsigned node)
{
    return node < N_NODES / 2;
}

static void make_world(struct world *world, struct fixture *fixture)
{
    struct dice *dice = &world->dice;
    for (unsigned i = 0; i < N_NODES; i++) {
        world->room[i] = 1 + dice_below(dice, 16);
        fixture_put_node(fixture, NAMES[i],
                         arena_printf(fixture->arena, GPU "=%u pods=99", world->room[i]),
                         is_h100(i) ? H100 : A100);
    }
    for (unsigned i = 0; i < N_PODS; i++) {
        struct random_pod *pod = &world->pods[i];
        (void)snprintf(pod->uid, sizeof pod->uid, "u%u", i);
        pod->gpus = 1 + dice_below(dice, 4);
        pod->node = dice_below(dice, N_NODES + 1);
        pod->priority = dice_below(dice, 3);
        pod->is_victim = dice_one_in(dice, 2);
        const unsigned nominated = dice_one_in(dice, 2) ? dice_below(dice, N_NODES) : N_NODES;
        struct pod_facts facts =
            fixture_pod_facts(fixture, pod->uid, NAMES[pod->node],
                              arena_printf(fixture->arena, GPU "=%u", pod->gpus));
        pod->is_promised = pod->node == N_NODES && nominated < N_NODES;
        if (pod->is_promised)
            facts.nominated_node = NAMES[pod->node = nominated];
        facts.priority = pod->priority;
        pod->is_ours = dice_one_in(dice, 4);
        facts.namespace_ = pod->is_ours ? "default" : "others";
        cluster_upsert_pod(fixture->cluster, &facts);
    }
}

/* Free amount on the node, computed independently of the ledger. */
static int left_on(const struct world *world, unsigned node, unsigned priority)
{
    int left = (int)world->room[node];
    for (unsigned i = 0; i < N_PODS; i++) {
        const struct random_pod *pod = &world->pods[i];
        if (pod->node != node)
            continue;
        if (pod->is_promised ? pod->priority >= priority : !pod->is_victim)
            left -= (int)pod->gpus;
    }
    return left;
}

/* Remaining quota, likewise. */
static int left_of_quota(const struct world *world, unsigned node)
{
    int left = QUOTA_IN_TOTAL;
    int left_of_h100 = QUOTA_OF_H100;
    for (unsigned i = 0; i < N_PODS; i++) {
        const struct random_pod *pod = &world->pods[i];
        const bool is_gone = pod->is_victim && pod->node == node;
        if (!pod->is_ours || pod->is_promised || pod->node == N_NODES || is_gone)
            continue;
        left -= (int)pod->gpus;
        left_of_h100 -= is_h100(pod->node) ? (int)pod->gpus : 0;
    }
    return is_h100(node) && left_of_h100 < left ? left_of_h100 : left;
}

static void test_kept_nodes_fit_without_victims_and_vetoed_nodes_do_not(void **state)
{
    struct fixture *fixture = *state;
    struct world world = {.dice = {20261121}};
    size_t n_kept = 0;
    size_t n_vetoed = 0;
    team_quota(fixture);
    for (int round = 0; round < N_ROUNDS; round++) {
        make_world(&world, fixture);
        const unsigned gpus = 1 + dice_below(&world.dice, 8);
        const unsigned priority = dice_below(&world.dice, 3);
        const char *victims[N_PODS]; /* of all nodes: those elsewhere do not help */
        size_t n = 0;
        for (unsigned i = 0; i < N_PODS; i++) {
            if (world.pods[i].is_victim)
                victims[n++] = world.pods[i].uid;
        }
        const struct shape_facts facts =
            fixture_shape_facts(fixture, arena_printf(fixture->arena, GPU "=%u", gpus));
        struct fit_question question = fixture_question(fixture, &facts);
        question.asker.priority = priority;
        const bool is_ours = dice_one_in(&world.dice, 2);
        question.quota = quota_begin(fixture->cluster, is_ours ? "default" : "others",
                                     (struct quota_pod){question.shape, 0}, NULL, fixture->arena);
        for (unsigned node = 0; node < N_NODES; node++) {
            const bool fits =
                preempt_judge(fixture->cluster, fixture_find_node(fixture, NAMES[node]), &question,
                              victims, n, fixture->arena) == REASON_FITS;
            const bool has_quota = !is_ours || left_of_quota(&world, node) >= (int)gpus;
            if (fits != (has_quota && left_on(&world, node, priority) >= (int)gpus))
                fail_msg("round %d, %s: %d", round, NAMES[node], fits);
            n_kept += fits;
            n_vetoed += !fits;
        }
    }
    assert_true(n_kept > N_ROUNDS / 2 && n_vetoed > N_ROUNDS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_victims_free_their_gpus),
        TEST(test_victims_elsewhere_free_nothing),
        TEST(test_a_victims_reservation_is_subtracted),
        TEST(test_freed_room_may_be_kept_for_another_pod),
        TEST(test_eviction_helps_no_wrong_model_or_invalid_pod),
        TEST(test_only_victims_on_the_node_free_its_quota),
        TEST(test_a_victims_reservation_frees_its_quota),
        TEST(test_a_saturated_sum_frees_nothing),
        TEST(test_kept_nodes_fit_without_victims_and_vetoed_nodes_do_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
