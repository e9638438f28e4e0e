/* worker: long answers beside a single thread for all sockets. The first of them stays on the
 * worker's thread until server_harness_let_go(). */
#include "client.h"
#include "server_harness.h"
#include "unit.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* As in src/http/worker.h. */
#define N_PLACES 16
#define GET_NOW "GET /now HTTP/1.1\r\nHost: [::1]\r\n\r\n"
#define POST(target) "POST " target " HTTP/1.1\r\nHost: [::1]\r\nContent-Length: 4\r\n\r\nbody"

static int start(void **state)
{
    struct server_harness *harness = NULL;
    struct err err = {""};
    const struct server_settings settings = {.verbs = "127.0.0.1:0",
                                             .people = "127.0.0.1:0",
                                             .probes = "127.0.0.1:0",
                                             .max_body_bytes = 10000,
                                             .max_user_body_bytes = 10000,
                                             .max_bodies_bytes = 20000,
                                             .max_connections = 512,
                                             .idle_timeout_s = 300,
                                             .request_timeout_s = 300,
                                             .n_threads = 1};
    if (server_harness_start_with(&settings, &harness, &err) < 0)
        fail_msg("%s", err.text);
    *state = harness;
    return 0;
}

static int stop(void **state)
{
    server_harness_free(*state, 10000);
    return 0;
}

static void wait_for_waiting(const struct server_harness *harness, size_t n)
{
    char line[128];
    (void)snprintf(line, sizeof line, "\ngpu_extender_http_waiting_requests %zu\n", n);
    server_harness_wait_for_metric(harness, line);
}

static int ask_long(const struct server_harness *harness, const char *target)
{
    char text[256];
    int fd = server_harness_client(harness, LISTEN_PEOPLE);
    (void)snprintf(text, sizeof text, POST("%s"), target);
    client_send(fd, text);
    return fd;
}

/* Asks for as many as have a place, and for one that is computed; returns the latter. */
static struct exchange *fill(struct server_harness *harness, int ret_fds[N_PLACES + 1])
{
    ret_fds[0] = ask_long(harness, "/long");
    struct exchange *first = server_harness_next(harness);
    for (size_t i = 1; i <= N_PLACES; i++) {
        ret_fds[i] = ask_long(harness, "/long");
        wait_for_waiting(harness, i);
    }
    return first;
}

static void expect(int fd, unsigned status)
{
    struct reply reply;
    client_read(fd, &reply);
    assert_int_equal(reply.status, status);
    (void)close(fd);
}

static void expect_all(const int fds[N_PLACES + 1], unsigned status)
{
    for (size_t i = 0; i <= N_PLACES; i++)
        expect(fds[i], status);
}

/* The one that is computed, and those that wait. */
static void answer_all_of(struct server_harness *harness, struct exchange *first)
{
    server_harness_let_go(harness);
    server_harness_answer(first);
    for (size_t i = 1; i <= N_PLACES; i++)
        server_harness_answer(server_harness_next(harness));
}

static void expect_answer_now(const struct server_harness *harness)
{
    int fd = server_harness_client(harness, LISTEN_PROBES);
    client_send(fd, GET_NOW);
    expect(fd, 200);
}

static void test_others_are_answered_meanwhile(void **state)
{
    struct server_harness *harness = *state;
    int fds[N_PLACES + 1];
    struct exchange *first = fill(harness, fds);
    expect_answer_now(harness);
    answer_all_of(harness, first);
    expect_all(fds, 200);
}

/* It gets its place on the same connection when there is one. */
static void test_a_request_without_a_place_is_answered_at_once(void **state)
{
    struct server_harness *harness = *state;
    struct reply reply;
    int fds[N_PLACES + 1];
    struct exchange *first = fill(harness, fds);
    int fd = server_harness_client(harness, LISTEN_PEOPLE);
    for (int i = 0; i < 2; i++) {
        client_ask(fd, POST("/long"), &reply);
        assert_int_equal(reply.status, 503);
        assert_true(reply_has(&reply, "Retry-After", "1"));
        assert_false(reply_has(&reply, "Connection", "close"));
    }
    answer_all_of(harness, first);
    wait_for_waiting(harness, 0);
    client_send(fd, POST("/long"));
    server_harness_answer(server_harness_next(harness));
    expect(fd, 200);
    expect_all(fds, 200);
}

/* Nobody waits for its answer, so it is not computed. */
static void test_a_client_that_left_is_passed_over(void **state)
{
    struct server_harness *harness = *state;
    int computed = ask_long(harness, "/long?q=1");
    struct exchange *first = server_harness_next(harness);
    int gone = ask_long(harness, "/long?q=2");
    wait_for_waiting(harness, 1);
    int waiting = ask_long(harness, "/long?q=3");
    wait_for_waiting(harness, 2);
    client_reset(gone);
    expect_answer_now(harness); /* by then the server's kernel knows */
    server_harness_let_go(harness);
    struct exchange *next = server_harness_next(harness);
    assert_string_equal(exchange_query(next, "q"), "3");
    server_harness_answer(first);
    server_harness_answer(next);
    expect(computed, 200);
    expect(waiting, 200);
}

static void test_clients_that_left_keep_no_places(void **state)
{
    struct server_harness *harness = *state;
    int fds[N_PLACES + 1];
    struct exchange *first = fill(harness, fds);
    for (size_t i = 2; i <= N_PLACES; i++)
        client_reset(fds[i]);
    expect_answer_now(harness);
    int fd = ask_long(harness, "/long?q=new");
    wait_for_waiting(harness, 2);
    server_harness_let_go(harness);
    server_harness_answer(first);
    server_harness_answer(server_harness_next(harness));
    struct exchange *last = server_harness_next(harness);
    assert_string_equal(exchange_query(last, "q"), "new");
    server_harness_answer(last);
    expect(fds[0], 200);
    expect(fds[1], 200);
    expect(fd, 200);
}

static void test_only_admitted_requests_get_a_place(void **state)
{
    struct server_harness *harness = *state;
    struct reply reply;
    int computed = ask_long(harness, "/long");
    struct exchange *first = server_harness_next(harness);
    int asked = ask_long(harness, "/gated/long?gate=ask");
    struct exchange *asks = server_harness_next(harness);
    int fd = server_harness_client(harness, LISTEN_PEOPLE);
    client_ask(fd, POST("/gated/long?gate=closed"), &reply);
    assert_int_equal(reply.status, 401);
    (void)close(fd);
    wait_for_waiting(harness, 0);
    exchange_pass(asks);
    wait_for_waiting(harness, 1);
    server_harness_let_go(harness);
    server_harness_answer(first);
    server_harness_answer(server_harness_next(harness));
    expect(computed, 200);
    expect(asked, 200);
}

/* Others still get theirs. Of no caller nobody knows whether it is the same. */
static void test_one_caller_gets_half_of_the_places(void **state)
{
    struct server_harness *harness = *state;
    struct reply reply;
    int fds[N_PLACES + 1] = {ask_long(harness, "/gated/long?gate=open&caller=1")};
    struct exchange *first = server_harness_next(harness);
    for (size_t i = 1; i <= N_PLACES; i++) {
        fds[i] = ask_long(harness, i <= N_PLACES / 2 ? "/gated/long?gate=open&caller=1"
                                                     : "/gated/long?gate=open&caller=2");
        wait_for_waiting(harness, i);
        if (i != N_PLACES / 2)
            continue;
        int refused = server_harness_client(harness, LISTEN_PEOPLE);
        client_ask(refused, POST("/gated/long?gate=open&caller=1"), &reply);
        assert_int_equal(reply.status, 503);
        assert_true(reply_has(&reply, "Retry-After", "1"));
        (void)close(refused);
    }
    answer_all_of(harness, first);
    expect_all(fds, 200);
}

/* In the order of their numbers. */
static void expect_order(struct server_harness *harness, const char *const *numbers, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct exchange *next = server_harness_next(harness);
        assert_string_equal(exchange_query(next, "q"), numbers[i]);
        server_harness_answer(next);
    }
}

static void test_callers_take_turns(void **state)
{
    struct server_harness *harness = *state;
    static const char *const TARGETS[] = {
        "/gated/long?gate=open&caller=1&q=1-2", "/gated/long?gate=open&caller=1&q=1-3",
        "/gated/long?gate=open&caller=1&q=1-4", "/gated/long?gate=open&caller=2&q=2-1",
        "/gated/long?gate=open&caller=2&q=2-2", "/gated/long?gate=open&caller=3&q=3-1"};
    static const char *const ORDER[] = {"2-1", "3-1", "1-2", "2-2", "1-3", "1-4"};
    enum { N = sizeof TARGETS / sizeof *TARGETS };
    int fds[N];
    int fd = ask_long(harness, "/gated/long?gate=open&caller=1");
    struct exchange *first = server_harness_next(harness);
    for (size_t i = 0; i < N; i++) {
        fds[i] = ask_long(harness, TARGETS[i]);
        wait_for_waiting(harness, i + 1);
    }
    server_harness_let_go(harness);
    server_harness_answer(first);
    expect_order(harness, ORDER, N);
    expect(fd, 200);
    for (size_t i = 0; i < N; i++)
        expect(fds[i], 200);
}

/* The last request of the caller that has most gets a 503. */
static void test_a_caller_without_a_place_gets_one_of_those_who_have_more(void **state)
{
    struct server_harness *harness = *state;
    int fds[N_PLACES + 1] = {ask_long(harness, "/gated/long?gate=open&caller=1")};
    struct exchange *first = server_harness_next(harness);
    for (size_t i = 1; i <= N_PLACES; i++) {
        fds[i] = ask_long(harness, i <= N_PLACES / 2 ? "/gated/long?gate=open&caller=1"
                                                     : "/gated/long?gate=open&caller=2");
        wait_for_waiting(harness, i);
    }
    int third = ask_long(harness, "/gated/long?gate=open&caller=3");
    expect(fds[N_PLACES / 2], 503);
    fds[N_PLACES / 2] = third;
    answer_all_of(harness, first);
    expect_all(fds, 200);
}

struct stop {
    struct server *server;
    unsigned drain_ms;
};

static void *stop_server(void *arg)
{
    const struct stop *stop = arg;
    server_stop(stop->server, stop->drain_ms);
    return NULL;
}

/* Those that wait are never computed: the harness would leak their exchanges. */
static void test_a_stop_without_a_drain_answers_those_that_wait(void **state)
{
    struct server_harness *harness = *state;
    struct stop stop = {.drain_ms = 0};
    pthread_t thread;
    int fds[N_PLACES + 1];
    struct exchange *first = fill(harness, fds);
    stop.server = server_harness_take_server(harness);
    assert_int_equal(pthread_create(&thread, NULL, stop_server, &stop), 0);
    expect_all(fds, 503);
    server_harness_let_go(harness);
    assert_int_equal(pthread_join(thread, NULL), 0);
    server_harness_answer(first);
}

static void test_a_drain_computes_those_that_wait(void **state)
{
    struct server_harness *harness = *state;
    struct stop stop = {.drain_ms = 100000};
    pthread_t thread;
    int fds[N_PLACES + 1];
    struct exchange *first = fill(harness, fds);
    stop.server = server_harness_take_server(harness);
    assert_int_equal(pthread_create(&thread, NULL, stop_server, &stop), 0);
    answer_all_of(harness, first);
    expect_all(fds, 200);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static void *answer_all(void *arg)
{
    struct server_harness *harness = arg;
    struct exchange *exchange = NULL;
    while ((exchange = server_harness_next(harness)) && !exchange_query(exchange, "last"))
        server_harness_answer(exchange);
    server_harness_answer(exchange);
    return NULL;
}

/* Clients that come, leave and get no place, while answers are computed. For ThreadSanitizer. */
static void test_clients_come_and_go(void **state)
{
    struct server_harness *harness = *state;
    pthread_t thread;
    server_harness_let_go(harness);
    assert_int_equal(pthread_create(&thread, NULL, answer_all, harness), 0);
    for (int i = 0; i < 300; i++) {
        int left = ask_long(harness, "/long");
        int stays = ask_long(harness, "/long");
        struct reply reply;
        client_reset(left);
        client_read(stays, &reply);
        assert_true(reply.status == 200 || reply.status == 503);
        (void)close(stays);
    }
    wait_for_waiting(harness, 0);
    expect(ask_long(harness, "/long?last=1"), 200);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

int main(void)
{
#define WORKER_TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        WORKER_TEST(test_others_are_answered_meanwhile),
        WORKER_TEST(test_a_request_without_a_place_is_answered_at_once),
        WORKER_TEST(test_a_client_that_left_is_passed_over),
        WORKER_TEST(test_clients_that_left_keep_no_places),
        WORKER_TEST(test_only_admitted_requests_get_a_place),
        WORKER_TEST(test_one_caller_gets_half_of_the_places),
        WORKER_TEST(test_callers_take_turns),
        WORKER_TEST(test_a_caller_without_a_place_gets_one_of_those_who_have_more),
        WORKER_TEST(test_a_stop_without_a_drain_answers_those_that_wait),
        WORKER_TEST(test_a_drain_computes_those_that_wait),
        WORKER_TEST(test_clients_come_and_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
