/*
 * live with many threads: one feeds, others read, fork, reserve and write metrics. A separate
 * executable, because it also runs under ThreadSanitizer.
 */
#include "live_cluster.h"

#include <pthread.h>
#include <stdatomic.h>

#define N_ROUNDS 100
#define N_PODS 100 /* more than a batch */

struct shared {
    struct live_cluster live;
    json_t *nodes[2];
    json_t *pods[N_PODS];
    atomic_bool ended;
    atomic_uint n_wrong;
};

static void check(struct shared *shared, bool right)
{
    atomic_fetch_add(&shared->n_wrong, !right);
}

/* On node a, or on none. */
static void make_pods(struct shared *shared)
{
    for (size_t i = 0; i < N_PODS; i++)
        shared->pods[i] = live_object(live_numbered(
            i % 2 == 0 ? POD("p-#", "u-#", "a", "1") : POD("p-#", "u-#", "", "1"), i));
}

static void put(struct shared *shared, enum cluster_kind kind, const json_t *object)
{
    shared->live.stores[kind].upsert(shared->live.stores[kind].context, object);
}

/* Lists every step-th pod. */
static void list_pods(struct shared *shared, size_t step)
{
    live_begin(&shared->live, CLUSTER_PODS);
    for (size_t i = 0; i < N_PODS; i += step)
        put(shared, CLUSTER_PODS, shared->pods[i]);
    live_end(&shared->live, CLUSTER_PODS);
}

static void *feed(void *context)
{
    struct shared *shared = context;
    const struct reflector_store *pods = &shared->live.stores[CLUSTER_PODS];
    for (int round = 0; round < N_ROUNDS; round++) {
        list_pods(shared, round % 2 == 0 ? 1 : 2);
        for (size_t i = 0; i < N_PODS; i += 10) {
            pods->removed(pods->context, shared->pods[i]);
            live_flush(&shared->live, CLUSTER_PODS);
        }
        live_upsert(&shared->live, CLUSTER_PODS, UNREADABLE_POD("bad", "u-bad"));
        put(shared, CLUSTER_NODES, shared->nodes[round % 2]);
        shared->live.statuses[CLUSTER_NODES].stale = round % 3 == 0;
        shared->live.statuses[CLUSTER_NODES].why = round % 3 == 0 ? "no answer" : NULL;
        live_flush(&shared->live, CLUSTER_NODES);
        (void)inventory_self_check(shared->live.inventory, INT64_C(10000) * (round + 1));
    }
    atomic_store(&shared->ended, true);
    return NULL;
}

static void *look(void *context)
{
    struct shared *shared = context;
    while (!atomic_load(&shared->ended)) {
        const struct inventory_view view CLEANUP(inventory_done) =
            inventory_read(shared->live.inventory);
        check(shared, cluster_check(view.cluster, NULL) == 0);
        check(shared, view.n_problems == view.n_all_problems && view.n_problems <= 1);
        check(shared, view.n_problems == 0 || strcmp(view.problems[0].name, "ml/bad") == 0);
        check(shared, view.as_of_s > 0 && strcmp(view.source, LIVE_SERVER) == 0);
    }
    return NULL;
}

static void *fork_and_look(void *context)
{
    struct shared *shared = context;
    while (!atomic_load(&shared->ended)) {
        struct cluster *fork = inventory_fork(shared->live.inventory, PEERS_REPELLING);
        size_t n = 0;
        const struct node *node = cluster_find_node(fork, "a");
        check(shared, node != NULL);
        check(shared, node && node_resources(node, &n) && n > 0);
        inventory_fork_free(shared->live.inventory, fork);
    }
    return NULL;
}

/* Reserves for pods without a node, and releases. */
static void *reserve(void *context)
{
    struct shared *shared = context;
    for (size_t i = 1; !atomic_load(&shared->ended); i = (i + 2) % N_PODS) {
        char uid[32];
        (void)snprintf(uid, sizeof uid, "u-%zu", i);
        struct arena *arena = arena_new();
        struct reserve_result result;
        const struct reserve_question question = {.uid = uid, .node_name = "a", .now_ms = 1};
        if (inventory_reserve(shared->live.inventory, &question, arena, &result) == RESERVE_HELD) {
            check(shared, result.serial > 0);
            inventory_release(shared->live.inventory, uid, result.serial);
        }
        arena_free(arena);
    }
    return NULL;
}

static void *ask_how_it_is(void *context)
{
    struct shared *shared = context;
    while (!atomic_load(&shared->ended)) {
        struct err why = {""};
        if (!inventory_usable(shared->live.inventory, &why))
            check(shared, strcmp(why.text, "the nodes are stale: no answer") == 0);
        check(shared, inventory_waiting_for(shared->live.inventory) == NULL);
        struct buf text;
        buf_init(&text, 1 << 20);
        inventory_metrics(shared->live.inventory, &text);
        inventory_live_metrics(shared->live.inventory, &text);
        check(shared, strstr(buf_text(&text), "\ngpu_extender_self_check_differences_total 0\n"));
        buf_fini(&text);
    }
    return NULL;
}

static void test_the_feed_runs_beside_all_readers(void **state)
{
    static void *(*const WORK[])(void *) = {feed, look, fork_and_look, reserve, ask_how_it_is};
    pthread_t threads[sizeof WORK / sizeof *WORK];
    struct shared shared = {.n_wrong = 0};
    (void)state;
    live_init(&shared.live);
    shared.nodes[0] = live_object(NODE("a", "200"));
    shared.nodes[1] = live_object(NODE("a", "4"));
    make_pods(&shared);
    live_list_nothing(&shared.live);
    LIST(&shared.live, CLUSTER_NODES, NODE("a", "200"));
    for (size_t i = 0; i < sizeof WORK / sizeof *WORK; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, WORK[i], &shared), 0);
    for (size_t i = 0; i < sizeof WORK / sizeof *WORK; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(shared.n_wrong, 0);
    for (size_t i = 0; i < N_PODS; i++)
        json_decref(shared.pods[i]);
    json_decref(shared.nodes[0]);
    json_decref(shared.nodes[1]);
    live_fini(&shared.live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_feed_runs_beside_all_readers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
