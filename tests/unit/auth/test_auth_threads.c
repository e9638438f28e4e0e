/*
 * auth with many threads: some bring tokens, one answers for the API server. Each call gets one
 * answer, the one its token deserves. A separate executable, because it also runs under
 * ThreadSanitizer.
 */
#include "auth_harness.h"
#include "kube_answers.h"

#include <pthread.h>
#include <stdatomic.h>

#define N_THREADS 3
#define N_GUESTS 400

struct crowd {
    struct auth_harness *harness;
    atomic_uint n_in_doors;
    struct guest guests[N_THREADS][N_GUESTS];
    char tokens[N_THREADS][N_GUESTS];
};

struct row {
    struct crowd *crowd;
    unsigned number;
};

static const char TOKENS_OF[] = "gfx"; /* valid; not allowed; unknown */

static void *come_all(void *context)
{
    const struct row *row = context;
    struct crowd *crowd = row->crowd;
    for (unsigned i = 0; i < N_GUESTS; i++) {
        const char token[2] = {TOKENS_OF[(i + row->number) % 3], '\0'};
        crowd->tokens[row->number][i] = *token;
        crowd->guests[row->number][i] =
            come(crowd->harness, i % 2 ? "/metrics" : "/v1/quota", token);
    }
    atomic_fetch_add(&crowd->n_in_doors, 1);
    return NULL;
}

static void serve(struct fake_request *request)
{
    const bool is_good = strstr(request->body, "\"g\"");
    const char *text = is_good
                           ? "{\"kind\":\"SubjectAccessReview\",\"status\":{\"allowed\":true}}"
                           : "{\"kind\":\"SubjectAccessReview\",\"status\":{\"allowed\":false}}";
    if (strcmp(request->path, TOKENS) == 0 && strstr(request->body, "\"x\""))
        text = "{\"kind\":\"TokenReview\",\"status\":{}}";
    else if (strcmp(request->path, TOKENS) == 0 && is_good)
        text = "{\"kind\":\"TokenReview\",\"status\":{\"authenticated\":true,"
               "\"user\":{\"username\":\"g\"}}}";
    else if (strcmp(request->path, TOKENS) == 0)
        text = "{\"kind\":\"TokenReview\",\"status\":{\"authenticated\":true,"
               "\"user\":{\"username\":\"f\"}}}";
    const struct kube_answer reply = kube_answered(1000, 201, text);
    fake_request_answer(request, &reply);
}

/* Once all threads have come, each answer leads to at most one more request. */
static void *serve_all(void *context)
{
    struct crowd *crowd = context;
    for (bool all = false; !all;) {
        all = atomic_load(&crowd->n_in_doors) == N_THREADS;
        struct fake_request *request = NULL;
        while ((request = fake_sender_take(&crowd->harness->server)))
            serve(request);
        (void)metric(crowd->harness, "gpu_extender_auth_reviews_open ");
    }
    return NULL;
}

static void test_many_threads_get_consistent_verdicts(void **state)
{
    static struct crowd crowd;
    pthread_t threads[N_THREADS + 1];
    struct row rows[N_THREADS];
    double n_turned_away = 0;
    crowd.harness = *state;
    assert_int_equal(pthread_create(&threads[N_THREADS], NULL, serve_all, &crowd), 0);
    for (unsigned i = 0; i < N_THREADS; i++) {
        rows[i] = (struct row){&crowd, i};
        assert_int_equal(pthread_create(&threads[i], NULL, come_all, &rows[i]), 0);
    }
    for (unsigned i = 0; i <= N_THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (unsigned i = 0; i < N_THREADS * N_GUESTS; i++) {
        const char token = crowd.tokens[i / N_GUESTS][i % N_GUESTS];
        struct fake_answer reply = fake_end(crowd.guests[i / N_GUESTS][i % N_GUESTS].exchange);
        const unsigned deserved = token == 'g' ? FAKE_PASSED : token == 'f' ? 403 : 401;
        n_turned_away += reply.status == 503;
        if (reply.status != 503)
            assert_int_equal(reply.status, deserved);
        fake_answer_fini(&reply);
    }
    assert_float_equal(metric(crowd.harness, "gpu_extender_auth_lookups_total{result=\"busy\"} "),
                       n_turned_away, 0);
    /* Two paths, one review per token and path; an unknown token needs no second review. */
    assert_int_equal(crowd.harness->server.n_sent, 2 * (2 + 2 + 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(
        test_many_threads_get_consistent_verdicts, auth_harness_setup, auth_harness_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
