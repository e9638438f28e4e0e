/*
 * binds with many threads: some call, one answers for the API server (and loses answers), one
 * ticks, one reads metrics. Each call is answered exactly once, "bound" is true, and no GPU is
 * assigned twice. A separate executable, because it also runs under ThreadSanitizer.
 */
#include "bind_harness.h"
#include "kube_answers.h"

#include <pthread.h>
#include <stdatomic.h>

#define N_CALLERS 3
#define N_CALLS 300
#define N_PODS 3
#define STEP_MS 20

static const char *const NODES[] = {"a", "b"};

struct crowd {
    struct bind_harness *harness;
    atomic_llong now_ms;
    atomic_uint n_answered;
    atomic_uint n_wrong;
    atomic_bool ended;
    pthread_mutex_t lock;            /* guards node_of */
    const char *node_of[N_PODS + 1]; /* state of the API server; NULL: unbound */
};

struct one_call {
    struct crowd *crowd;
    unsigned pod;
    const char *node;
    atomic_uint n_answers;
};

struct calling {
    struct crowd *crowd;
    struct one_call calls[N_CALLS];
    unsigned seed;
};

static unsigned dice(unsigned *seed)
{
    *seed = *seed * 1103515245U + 12345U;
    return *seed >> 16U;
}

static const char *node_of(struct crowd *crowd, unsigned pod)
{
    (void)pthread_mutex_lock(&crowd->lock);
    const char *node = crowd->node_of[pod];
    (void)pthread_mutex_unlock(&crowd->lock);
    return node;
}

static void take_answer(void *context, const char *error)
{
    struct one_call *one = context;
    const char *node = node_of(one->crowd, one->pod);
    atomic_fetch_add(&one->crowd->n_wrong, !error && (!node || strcmp(node, one->node) != 0));
    atomic_fetch_add(&one->crowd->n_wrong, atomic_fetch_add(&one->n_answers, 1) != 0);
    atomic_fetch_add(&one->crowd->n_answered, 1);
}

static void *call_many(void *context)
{
    struct calling *calling = context;
    struct crowd *crowd = calling->crowd;
    for (unsigned i = 0; i < N_CALLS; i++) {
        struct one_call *one = &calling->calls[i];
        char uid[16];
        char name[16];
        one->crowd = crowd;
        one->pod = 1 + dice(&calling->seed) % N_PODS;
        one->node = NODES[dice(&calling->seed) % 2];
        (void)snprintf(uid, sizeof uid, "u-%u", one->pod);
        (void)snprintf(name, sizeof name, "p-%u", one->pod);
        const struct bind_args args = {
            .uid = uid, .namespace_ = "ml", .name = name, .node_name = one->node};
        binds_call(crowd->harness->binds, &args, atomic_load(&crowd->now_ms), take_answer, one);
    }
    return NULL;
}

/* Like the API server: the first binding wins. Some requests and some answers are lost. */
static unsigned bind_pod(struct crowd *crowd, unsigned pod, const char *body)
{
    const char *wanted = strstr(body, "\"Node\",\"name\":\"a\"") ? "a" : "b";
    (void)pthread_mutex_lock(&crowd->lock);
    const bool is_first = !crowd->node_of[pod];
    if (is_first)
        crowd->node_of[pod] = wanted;
    (void)pthread_mutex_unlock(&crowd->lock);
    return is_first ? 201 : 409;
}

static void show_pod(struct crowd *crowd, unsigned pod, char *text, size_t size)
{
    const char *node = node_of(crowd, pod);
    (void)snprintf(text, size,
                   "{\"metadata\":{\"name\":\"p-%u\",\"namespace\":\"ml\",\"uid\":\"u-%u\"},"
                   "\"spec\":{\"nodeName\":\"%s\"}}",
                   pod, pod, node ? node : "");
}

static void serve(struct crowd *crowd, struct fake_request *request, unsigned fate)
{
    char text[256] = "{\"kind\":\"Status\"}";
    const unsigned pod = (unsigned)(strstr(request->path, "/p-")[3] - '0');
    unsigned status = 200;
    if (fate == 0)
        ; /* the request is lost */
    else if (*request->body)
        status = bind_pod(crowd, pod, request->body);
    else
        show_pod(crowd, pod, text, sizeof text);
    const int64_t now_ms = atomic_load(&crowd->now_ms);
    const struct kube_answer answer = fate <= 1 ? kube_unanswered(now_ms, KUBE_UNKNOWN, "lost")
                                                : kube_answered(now_ms, status, text);
    fake_request_answer(request, &answer);
}

static void *serve_all(void *context)
{
    struct crowd *crowd = context;
    unsigned seed = 5;
    while (!atomic_load(&crowd->ended)) {
        struct fake_request *request = fake_sender_take(&crowd->harness->server);
        if (request)
            serve(crowd, request, dice(&seed) % 6);
    }
    return NULL;
}

static void *tick_all(void *context)
{
    struct crowd *crowd = context;
    while (!atomic_load(&crowd->ended)) {
        const int64_t now_ms = atomic_fetch_add(&crowd->now_ms, STEP_MS) + STEP_MS;
        (void)binds_tick(crowd->harness->binds, now_ms);
        if (atomic_load(&crowd->n_answered) == N_CALLERS * N_CALLS)
            atomic_store(&crowd->ended, true);
    }
    return NULL;
}

static void *read_metrics(void *context)
{
    struct crowd *crowd = context;
    while (!atomic_load(&crowd->ended))
        (void)metric(crowd->harness, "gpu_extender_bind_attempts_open ");
    return NULL;
}

static void test_many_threads_bind_each_pod_once(void **state)
{
    struct bind_harness *harness = *state;
    static struct calling callings[N_CALLERS];
    struct crowd crowd = {.harness = harness, .now_ms = harness->now_ms};
    void *(*const work[])(void *) = {serve_all, tick_all, read_metrics};
    pthread_t threads[3 + N_CALLERS];
    (void)pthread_mutex_init(&crowd.lock, NULL);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work[i], &crowd), 0);
    for (unsigned i = 0; i < N_CALLERS; i++) {
        callings[i].crowd = &crowd;
        callings[i].seed = i;
        assert_int_equal(pthread_create(&threads[3 + i], NULL, call_many, &callings[i]), 0);
    }
    for (size_t i = 0; i < 3 + N_CALLERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(crowd.n_wrong, 0);
    size_t n_on_a = 0;
    for (unsigned pod = 1; pod <= N_PODS; pod++)
        n_on_a += crowd.node_of[pod] && strcmp(crowd.node_of[pod], "a") == 0;
    assert_in_range(n_on_a, 0, 1);
    (void)pthread_mutex_destroy(&crowd.lock);
}

/* Stops binds while calls and answers are in progress. */
static void *stop(void *context)
{
    binds_stop(context);
    return NULL;
}

static void test_stop_during_calls_answers_them(void **state)
{
    struct bind_harness *harness = *state;
    static struct calling calling;
    struct crowd crowd = {.harness = harness, .now_ms = harness->now_ms};
    pthread_t threads[2];
    (void)pthread_mutex_init(&crowd.lock, NULL);
    calling.crowd = &crowd;
    assert_int_equal(pthread_create(&threads[0], NULL, call_many, &calling), 0);
    assert_int_equal(pthread_create(&threads[1], NULL, stop, harness->binds), 0);
    (void)pthread_join(threads[1], NULL);
    const size_t n_sent = harness->server.n_sent;
    (void)pthread_join(threads[0], NULL);
    assert_int_equal(harness->server.n_sent, n_sent);
    assert_int_equal(crowd.n_answered, N_CALLS);
    assert_int_equal(crowd.n_wrong, 0);
    (void)pthread_mutex_destroy(&crowd.lock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {BIND_TEST(test_many_threads_bind_each_pod_once),
                                       BIND_TEST(test_stop_during_calls_answers_them)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
