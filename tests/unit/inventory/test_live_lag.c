/* live: unread events make the data unusable at the policy's limit, even if the reading thread is
 * stuck; a kind that has caught up never lags. */
#include "hand_clock.h"
#include "live_cluster.h"

#include <pthread.h>
#include <stdatomic.h>

#define MAX_LAG_MS 10000
#define WHY                                                                                        \
    "the pods are behind: events of the API server have waited unread for more than 10 s "         \
    "(kubernetes.watchLagSeconds)"

static int set_up(void **state)
{
    static const struct inventory_limits LIMITS = {.max_object_bytes = 4096,
                                                   .max_nodes = LIVE_MAX_NODES,
                                                   .max_pods = LIVE_MAX_PODS,
                                                   .max_lag_ms = MAX_LAG_MS};
    struct live_cluster *live = calloc(1, sizeof *live);
    if (!live)
        return -1;
    live_init_limited(live, &LIMITS);
    live_list_nothing(live);
    *state = live;
    return 0;
}

static void lags_since(struct live_cluster *live, enum cluster_kind kind, int64_t since_ms)
{
    live->stores[kind].lags(live->stores[kind].context, since_ms);
}

static void caught_up(struct live_cluster *live)
{
    for (int kind = 0; kind < N_CLUSTER_KINDS; kind++)
        lags_since(live, (enum cluster_kind)kind, clock_ms());
}

static struct inventory_freshness of_pods(struct live_cluster *live)
{
    struct inventory_freshness kinds[N_CLUSTER_KINDS];
    assert_int_equal(inventory_freshness(live->inventory, kinds), N_CLUSTER_KINDS);
    return kinds[CLUSTER_PODS];
}

static void test_a_lag_over_the_limit_makes_the_ledger_unusable(void **state)
{
    struct live_cluster *live = *state;
    caught_up(live);
    live_check_usable(live, NULL);
    lags_since(live, CLUSTER_PODS, clock_ms() - MAX_LAG_MS / 2);
    live_check_usable(live, NULL);
    assert_false(of_pods(live).behind);
    assert_int_equal(of_pods(live).lag_ms, MAX_LAG_MS / 2);
    lags_since(live, CLUSTER_PODS, clock_ms() - MAX_LAG_MS);
    live_check_usable(live, NULL);
    lags_since(live, CLUSTER_PODS, clock_ms() - MAX_LAG_MS - 1);
    live_check_usable(live, WHY);
    assert_true(of_pods(live).behind);
    caught_up(live);
    live_check_usable(live, NULL);
}

/* The lag stands still while no watch is open. */
static void test_a_constant_lag_counts_too(void **state)
{
    struct live_cluster *live = *state;
    caught_up(live);
    lags_since(live, CLUSTER_PODS, -MAX_LAG_MS);
    live_check_usable(live, NULL);
    lags_since(live, CLUSTER_PODS, -MAX_LAG_MS - 1);
    live_check_usable(live, WHY);
    lags_since(live, CLUSTER_PODS, 0);
    live_check_usable(live, NULL);
}

static void test_no_limit_only_reports_the_lag(void **state)
{
    struct live_cluster live;
    (void)state;
    live_init(&live);
    live_list_nothing(&live);
    lags_since(&live, CLUSTER_PODS, 1);
    live_check_usable(&live, NULL);
    assert_false(of_pods(&live).behind);
    assert_true(of_pods(&live).lag_ms > 0);
    live_fini(&live);
}

static void on_turn(void *context)
{
    atomic_fetch_add((atomic_int *)context, 1);
}

static void test_changes_of_usability_are_reported(void **state)
{
    struct live_cluster *live = *state;
    atomic_int n = 0;
    inventory_on_turn(live->inventory, on_turn, &n);
    caught_up(live);
    assert_int_equal(atomic_load(&n), 0);
    lags_since(live, CLUSTER_PODS, 1);
    assert_int_equal(atomic_load(&n), 1);
    lags_since(live, CLUSTER_PODS, 1);
    live_upsert(live, CLUSTER_NODES, NODE("a", "8"));
    assert_int_equal(atomic_load(&n), 1);
    caught_up(live);
    assert_int_equal(atomic_load(&n), 2);
}

/* It exceeds the limit without a call. A query sees it, and the next tick reports it. */
static void test_time_alone_makes_it_unusable(void **state)
{
    struct live_cluster *live = *state;
    const int64_t since_ms = clock_ms();
    atomic_int n = 0;
    inventory_on_turn(live->inventory, on_turn, &n);
    hand_clock_pass(MAX_LAG_MS);
    caught_up(live);
    lags_since(live, CLUSTER_PODS, since_ms);
    live_check_usable(live, NULL);
    hand_clock_pass(1);
    live_check_usable(live, WHY);
    assert_int_equal(atomic_load(&n), 0);
    lags_since(live, CLUSTER_PODS, since_ms);
    assert_int_equal(atomic_load(&n), 1);
}

static void *ask_often(void *context)
{
    struct live_cluster *live = context;
    struct err why;
    for (int i = 0; i < 20000; i++)
        (void)inventory_usable(live->inventory, &why);
    return NULL;
}

/* For ThreadSanitizer. */
static void test_other_threads_may_read_the_lag(void **state)
{
    struct live_cluster *live = *state;
    pthread_t threads[2];
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask_often, live), 0);
    for (int i = 0; i < 2000; i++)
        lags_since(live, CLUSTER_PODS, i % 2 ? clock_ms() : 1);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    caught_up(live);
    live_check_usable(live, NULL);
}

#define LAG_TEST(test) cmocka_unit_test_setup_teardown(test, set_up, live_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LAG_TEST(test_a_lag_over_the_limit_makes_the_ledger_unusable),
        LAG_TEST(test_a_constant_lag_counts_too),
        cmocka_unit_test(test_no_limit_only_reports_the_lag),
        LAG_TEST(test_changes_of_usability_are_reported),
        LAG_TEST(test_time_alone_makes_it_unusable),
        LAG_TEST(test_other_threads_may_read_the_lag),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
