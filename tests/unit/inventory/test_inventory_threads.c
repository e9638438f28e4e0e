/*
 * inventory with many threads: readers see one ledger or the other, never a mixture; forks are
 * private. A separate executable, because it also runs under ThreadSanitizer.
 */
#include "base/clock.h"
#include "small_cluster.h"
#include "unit.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define N_ROUNDS 200
#define N_READERS 2

/* Everything read must belong to one of these. */
static const char ONE_NODE[] = "kind: Node\nmetadata: {name: new}\n";
#define N_NODES_OF_ONE 1
#define N_NODES_OF_SMALL 4

struct shared {
    struct small_cluster cluster;
    atomic_bool reloads_ended;
    atomic_uint n_wrong;
};

static void *reload(void *context)
{
    struct shared *shared = context;
    struct err err;
    for (int i = 0; i < N_ROUNDS; i++) {
        const char *text = i % 3 == 0 ? "{" : i % 3 == 1 ? ONE_NODE : SMALL_CLUSTER;
        int r = small_cluster_load(&shared->cluster, text, &err);
        atomic_fetch_add(&shared->n_wrong, (r < 0) != (i % 3 == 0));
    }
    atomic_store(&shared->reloads_ended, true);
    return NULL;
}

static bool is_whole(const struct cluster *cluster)
{
    size_t n = 0;
    for (const struct node *node = cluster_next_node(cluster, NULL); node;
         node = cluster_next_node(cluster, node))
        n += strlen(node_name(node)) > 0;
    const bool is_small = cluster_find_node(cluster, "a100-1") != NULL;
    return n == cluster_n_nodes(cluster) && n == (is_small ? N_NODES_OF_SMALL : N_NODES_OF_ONE);
}

static void *look(void *context)
{
    struct shared *shared = context;
    while (!atomic_load(&shared->reloads_ended)) {
        const struct inventory_view view = inventory_read(shared->cluster.inventory);
        bool right = is_whole(view.cluster) && cluster_check(view.cluster, NULL) == 0;
        right &= cluster_n_pods(view.cluster) == (cluster_n_nodes(view.cluster) > 1);
        right &= strncmp(view.source, "file:", 5) == 0;
        inventory_done(&view);
        right &= inventory_waiting_for(shared->cluster.inventory) == NULL;
        atomic_fetch_add(&shared->n_wrong, !right);
    }
    return NULL;
}

/* Uses a GPU of every node in the fork, invisible to others. */
static void use_fork(struct cluster *fork)
{
    const struct amount one_gpu = {"nvidia.com/gpu", 1};
    const struct shape_facts facts = {.demand = &one_gpu, .n_demand = 1};
    struct arena *arena = arena_new();
    const struct pod_shape *shape = cluster_resolve(fork, &facts, arena);
    for (const struct node *node = cluster_next_node(fork, NULL); node;
         node = cluster_next_node(fork, node))
        cluster_place(fork, node, shape, 1);
    arena_free(arena);
}

static void *fork_and_place(void *context)
{
    struct shared *shared = context;
    struct cluster *kept = inventory_fork(shared->cluster.inventory, PEERS_REPELLING);
    while (!atomic_load(&shared->reloads_ended)) {
        struct cluster *fork = inventory_fork(shared->cluster.inventory, PEERS_REPELLING);
        use_fork(fork);
        atomic_fetch_add(&shared->n_wrong, !is_whole(fork) + !is_whole(kept));
        inventory_fork_free(shared->cluster.inventory, kept);
        kept = fork;
    }
    inventory_fork_free(shared->cluster.inventory, kept);
    return NULL;
}

static void *write_metrics(void *context)
{
    struct shared *shared = context;
    while (!atomic_load(&shared->reloads_ended)) {
        struct buf text;
        buf_init(&text, 1 << 20);
        inventory_metrics(shared->cluster.inventory, &text);
        atomic_fetch_add(&shared->n_wrong, !strstr(buf_text(&text), "gpu_extender_nodes "));
        buf_fini(&text);
    }
    return NULL;
}

static void test_readers_and_forks_run_beside_reloads(void **state)
{
    (void)state;
    static void *(*const WORK[])(void *) = {reload, look, look, fork_and_place, write_metrics};
    pthread_t threads[sizeof WORK / sizeof *WORK];
    struct shared shared = {.n_wrong = 0};
    small_cluster_init(&shared.cluster, SMALL_CLUSTER);
    for (size_t i = 0; i < sizeof WORK / sizeof *WORK; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, WORK[i], &shared), 0);
    for (size_t i = 0; i < sizeof WORK / sizeof *WORK; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(shared.n_wrong, 0);
    const struct inventory_view view = inventory_read(shared.cluster.inventory);
    const struct node *node = cluster_find_node(view.cluster, "new");
    assert_non_null(node);
    inventory_done(&view);
    small_cluster_fini(&shared.cluster);
}

#define N_SETTLERS 4
#define LIMIT_MS INT64_C(600000)

struct settlers {
    struct small_cluster cluster;
    atomic_int thread_ids[1 + N_SETTLERS]; /* the reloading one first */
    pthread_mutex_t lock;
    pthread_cond_t more;
    unsigned n_held; /* simultaneous views */
    unsigned n_most;
};

static void *reload_once(void *context)
{
    struct settlers *settlers = context;
    atomic_store(&settlers->thread_ids[0], gettid());
    struct err err;
    return small_cluster_load(&settlers->cluster, SMALL_CLUSTER, &err) < 0 ? settlers : NULL;
}

/* Holds its view until all others hold theirs. */
static void *read_settled(void *context)
{
    struct settlers *settlers = context;
    for (size_t i = 1; i <= N_SETTLERS; i++) {
        int free_place = 0;
        if (atomic_compare_exchange_strong(&settlers->thread_ids[i], &free_place, gettid()))
            break;
    }
    const struct inventory_view view = inventory_read_settled(settlers->cluster.inventory);
    const struct timespec end = clock_moment(clock_ms() + LIMIT_MS);
    pthread_mutex_lock(&settlers->lock);
    settlers->n_held++;
    settlers->n_most = settlers->n_held > settlers->n_most ? settlers->n_held : settlers->n_most;
    pthread_cond_broadcast(&settlers->more);
    while (settlers->n_most < N_SETTLERS &&
           pthread_cond_timedwait(&settlers->more, &settlers->lock, &end) == 0)
        ;
    settlers->n_held--;
    pthread_mutex_unlock(&settlers->lock);
    inventory_done(&view);
    return NULL;
}

/* proc_pid_syscall(5): the number of the system call in which the thread blocks. */
static bool waits_for_a_lock(int thread_id)
{
    char path[64], text[64] = "";
    (void)snprintf(path, sizeof path, "/proc/self/task/%d/syscall", thread_id);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    (void)fread(text, 1, sizeof text - 1, file);
    (void)fclose(file);
    return strtol(text, NULL, 10) == SYS_futex;
}

static void wait_until_it_waits(atomic_int *thread_id)
{
    const int64_t end_ms = clock_ms() + LIMIT_MS;
    while (atomic_load(thread_id) == 0 || !waits_for_a_lock(atomic_load(thread_id))) {
        assert_true(clock_ms() < end_ms);
        (void)sched_yield();
    }
}

/* All find the ledger unsettled, because they waited for the change. One settles it; the others
 * must then read in parallel. */
static void test_readers_that_waited_for_a_change_run_in_parallel(void **state)
{
    (void)state;
    struct settlers settlers = {.lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_t threads[1 + N_SETTLERS];
    small_cluster_init(&settlers.cluster, SMALL_CLUSTER);
    clock_condition_init(&settlers.more);
    const struct inventory_view view = inventory_read(settlers.cluster.inventory);
    for (size_t i = 0; i <= N_SETTLERS; i++) {
        assert_int_equal(
            pthread_create(&threads[i], NULL, i == 0 ? reload_once : read_settled, &settlers), 0);
        wait_until_it_waits(&settlers.thread_ids[i]);
    }
    inventory_done(&view);
    for (size_t i = 0; i <= N_SETTLERS; i++) {
        void *failed;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    assert_int_equal(settlers.n_most, N_SETTLERS);
    (void)pthread_cond_destroy(&settlers.more);
    small_cluster_fini(&settlers.cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_readers_and_forks_run_beside_reloads),
        cmocka_unit_test(test_readers_that_waited_for_a_change_run_in_parallel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
