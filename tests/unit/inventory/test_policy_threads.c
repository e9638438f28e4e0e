/*
 * policies with many threads: one puts new ones in force, others read, fork, claim, reserve and
 * hold policies meanwhile. A separate executable, because it also runs under ThreadSanitizer.
 */
#include "decide/quota.h"
#include "ledger/claims.h"
#include "live_cluster.h"

#include <pthread.h>
#include <stdatomic.h>

#define N_CHANGES 50
#define N_PODS 40

struct shared {
    struct live_cluster live;
    atomic_bool ended;
    atomic_uint n_wrong, n_freed;
};

static struct shared *the_shared; /* for free_policy() */

static void check(struct shared *shared, bool right)
{
    atomic_fetch_add(&shared->n_wrong, !right);
}

static void free_policy(struct policy *policy)
{
    policy_fini(policy);
    free(policy);
    atomic_fetch_add(&the_shared->n_freed, 1);
}

static struct policy *new_policy(int64_t gpus)
{
    static const char *const ML[] = {"ml"};
    const struct quota_limit limit = {.gpus = gpus};
    const struct quota quota = {
        .name = "q", .namespaces = ML, .n_namespaces = 1, .limits = &limit, .n_limits = 1};
    struct policy *policy = calloc(1, sizeof *policy);
    assert_non_null(policy);
    policy_init(policy);
    policy->unheld = free_policy;
    assert_int_equal(policy_add_quota(policy, &quota, NULL), 0);
    return policy;
}

static void *change(void *context)
{
    struct shared *shared = context;
    for (int i = 0; i < N_CHANGES; i++) {
        inventory_take_policy(shared->live.inventory, new_policy(100 + i));
        inventory_free_replaced(shared->live.inventory);
        live_upsert(&shared->live, CLUSTER_NODES, i % 2 ? NODE("a", "200") : NODE("a", "4"));
        (void)inventory_self_check(shared->live.inventory, INT64_C(10000) * (i + 1));
    }
    atomic_store(&shared->ended, true);
    return NULL;
}

static void *look(void *context)
{
    struct shared *shared = context;
    while (!atomic_load(&shared->ended)) {
        const struct policy *held = inventory_hold_policy(shared->live.inventory);
        {
            const struct inventory_view view CLEANUP(inventory_done) =
                inventory_read_settled(shared->live.inventory);
            const struct policy *policy = cluster_policy(view.cluster);
            check(shared, cluster_check(view.cluster, NULL) == 0);
            check(shared, policy->n_quotas == 0 || strcmp(policy->quotas[0].name, "q") == 0);
        }
        check(shared, held->n_quotas <= 1);
        policy_drop(held);
    }
    return NULL;
}

static void *fork_and_look(void *context)
{
    struct shared *shared = context;
    while (!atomic_load(&shared->ended)) {
        struct cluster *fork = inventory_fork(shared->live.inventory, PEERS_ALL);
        size_t n = 0;
        const struct node *node = cluster_find_node(fork, "a");
        check(shared, node && node_resources(node, &n) && n > 0);
        check(shared, cluster_policy(fork)->n_quotas <= 1);
        inventory_fork_free(shared->live.inventory, fork);
    }
    return NULL;
}

static const struct amount DEMAND[] = {{"nvidia.com/gpu", 1}, {"pods", 1}};

static struct pod_facts facts_of(const char *uid)
{
    return (struct pod_facts){.uid = uid,
                              .namespace_ = "ml",
                              .name = uid,
                              .node_name = "",
                              .nominated_node = "",
                              .priority_class = "",
                              .shape = {.demand = DEMAND, .n_demand = 2}};
}

static void *reserve(void *context)
{
    struct shared *shared = context;
    while (!atomic_load(&shared->ended)) {
        struct arena *arena = arena_new();
        struct reserve_result result;
        const struct pod_facts facts = facts_of("u-reserved");
        const struct reserve_question question = {
            .uid = facts.uid, .node_name = "a", .facts = &facts, .now_ms = 1};
        if (inventory_reserve(shared->live.inventory, &question, arena, &result) == RESERVE_HELD)
            inventory_release(shared->live.inventory, facts.uid, result.serial);
        arena_free(arena);
    }
    return NULL;
}

static uint64_t version_of_claims(struct shared *shared)
{
    const struct inventory_view view CLEANUP(inventory_done) =
        inventory_read(shared->live.inventory);
    return claims_version(view.cluster);
}

static void *claim(void *context)
{
    struct shared *shared = context;
    for (size_t i = 0; !atomic_load(&shared->ended); i = (i + 1) % N_PODS) {
        char uid[32];
        (void)snprintf(uid, sizeof uid, "u-%zu", i);
        const struct pod_facts facts = facts_of(uid);
        const struct claim_question question = {.pod = &facts,
                                                .node_name = "a",
                                                .claims_version = version_of_claims(shared),
                                                .now_ms = 1,
                                                .until_ms = 2};
        (void)inventory_claim(shared->live.inventory, &question);
        inventory_end_claim(shared->live.inventory, uid);
    }
    return NULL;
}

static void test_policies_change_beside_all_readers(void **state)
{
    static void *(*const WORK[])(void *) = {change, look, fork_and_look, reserve, claim};
    pthread_t threads[sizeof WORK / sizeof *WORK];
    struct shared shared = {.n_wrong = 0};
    (void)state;
    the_shared = &shared;
    live_init(&shared.live);
    live_list_nothing(&shared.live);
    LIST(&shared.live, CLUSTER_NODES, NODE("a", "200"));
    live_begin(&shared.live, CLUSTER_PODS);
    for (size_t i = 0; i < N_PODS; i++)
        live_upsert(&shared.live, CLUSTER_PODS,
                    live_numbered(
                        i % 2 == 0 ? POD("p-#", "u-#", "a", "1") : POD("p-#", "u-#", "", "1"), i));
    live_end(&shared.live, CLUSTER_PODS);
    for (size_t i = 0; i < sizeof WORK / sizeof *WORK; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, WORK[i], &shared), 0);
    for (size_t i = 0; i < sizeof WORK / sizeof *WORK; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(shared.n_wrong, 0);
    assert_int_equal(shared.n_freed, N_CHANGES - 1);
    live_fini(&shared.live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_policies_change_beside_all_readers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
