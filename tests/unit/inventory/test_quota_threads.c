/*
 * quota with many threads: no reader sees more use than the quota allows, and in the end it is used
 * up. A separate executable, because it also runs under ThreadSanitizer.
 */
#include "base/log.h"
#include "decide/quota.h"
#include "small_cluster.h"
#include "unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define N_THREADS 4
#define N_ROUNDS 200
#define QUOTA 9 /* of namespace ml, which uses 5 */

struct shared {
    struct small_cluster cluster;
    pthread_barrier_t last_round;
    atomic_uint n_held, n_refused, n_wrong;
};

struct worker {
    struct shared *shared;
    unsigned number;
};

static enum reserve_verdict reserve_one(struct worker *worker, unsigned round, struct arena *arena,
                                        const char *uid, struct reserve_result *ret_result)
{
    static const char *const NODES[] = {"a100-1", "a100-2", "t4-1"};
    const struct amount demand[] = {{"nvidia.com/gpu", 1}, {"pods", 1}};
    const struct pod_facts facts = {.uid = uid,
                                    .namespace_ = "ml",
                                    .name = uid,
                                    .node_name = "",
                                    .nominated_node = "",
                                    .priority_class = "",
                                    .shape = {.demand = demand, .n_demand = 2}};
    const struct reserve_question question = {
        .uid = uid, .node_name = NODES[(worker->number + round) % 3], .facts = &facts};
    return inventory_reserve(worker->shared->cluster.inventory, &question, arena, ret_result);
}

static int64_t used_now(struct shared *shared)
{
    const struct inventory_view view CLEANUP(inventory_done) =
        inventory_read(shared->cluster.inventory);
    const struct quota *quota = &shared->cluster.policy.quotas[0];
    const int64_t used = quota_used(view.cluster, quota, &quota->limits[0]);
    atomic_fetch_add(&shared->n_wrong, cluster_check(view.cluster, NULL) != 0);
    return used;
}

/* Releases what it reserves, except in the last round, which uses up the quota. */
static void *reserve_and_release(void *context)
{
    struct worker *worker = context;
    struct shared *shared = worker->shared;
    for (unsigned round = 0; round < N_ROUNDS; round++) {
        struct arena *arena = arena_new();
        if (round == N_ROUNDS - 1)
            (void)pthread_barrier_wait(&shared->last_round);
        for (unsigned i = 0; i < 3; i++) {
            struct reserve_result result;
            const char *uid = arena_printf(arena, "%u-%u-%u", worker->number, round, i);
            const bool held = reserve_one(worker, i, arena, uid, &result) == RESERVE_HELD;
            atomic_fetch_add(held ? &shared->n_held : &shared->n_refused, 1);
            if (!held)
                atomic_fetch_add(&shared->n_wrong,
                                 result.reason != REASON_QUOTA && result.reason != REASON_GPU_FREE);
            atomic_fetch_add(&shared->n_wrong, used_now(shared) > QUOTA);
            if (held && round < N_ROUNDS - 1)
                inventory_release(shared->cluster.inventory, uid, result.serial);
        }
        arena_free(arena);
    }
    return NULL;
}

static void set_up(struct shared *shared)
{
    static const struct inventory_limits LIMITS = {
        .max_file_bytes = 1 << 20, .max_object_bytes = 1 << 16, .max_nodes = 20, .max_pods = 20};
    static const struct quota_limit LIMIT[] = {{.resource = "*", .gpus = QUOTA}};
    static const char *const ML[] = {"ml"};
    const struct quota quota = {
        .name = "ml", .namespaces = ML, .n_namespaces = 1, .limits = LIMIT, .n_limits = 1};
    struct err err;
    log_configure(LOG_ERROR, LOG_KEY_VALUE);
    policy_init(&shared->cluster.policy);
    assert_int_equal(policy_add_quota(&shared->cluster.policy, &quota, &err), 0);
    shared->cluster.inventory = inventory_new(&shared->cluster.policy, &LIMITS);
    assert_int_equal(small_cluster_load(&shared->cluster, SMALL_CLUSTER, &err), 0);
}

static void test_reservations_never_exceed_the_quota(void **state)
{
    (void)state;
    struct shared shared = {.n_wrong = 0};
    struct worker workers[N_THREADS];
    pthread_t threads[N_THREADS];
    set_up(&shared);
    assert_int_equal(pthread_barrier_init(&shared.last_round, NULL, N_THREADS), 0);
    for (unsigned i = 0; i < N_THREADS; i++) {
        workers[i] = (struct worker){&shared, i};
        assert_int_equal(pthread_create(&threads[i], NULL, reserve_and_release, &workers[i]), 0);
    }
    for (unsigned i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(shared.n_wrong, 0);
    assert_true(shared.n_held > 0 && shared.n_refused > 0);
    assert_int_equal(used_now(&shared), QUOTA);
    (void)pthread_barrier_destroy(&shared.last_round);
    small_cluster_fini(&shared.cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reservations_never_exceed_the_quota)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
