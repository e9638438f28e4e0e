/* gate: routes that are opened, closed or reviewed before their handler gets the request. */
#include "client.h"
#include "server_harness.h"
#include "unit.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POST(target) "POST " target " HTTP/1.1\r\nHost: [::1]\r\nContent-Length: 4\r\n\r\nbody"
#define ECHO(path) "POST " path " q=(none) x-test=(none) 4 body"

static void test_an_open_gate_changes_nothing(void **state)
{
    struct reply reply;
    int fd = server_harness_client(*state, LISTEN_VERBS);
    for (int i = 0; i < 2; i++) {
        client_ask(fd, POST("/gated/now?gate=open"), &reply);
        assert_int_equal(reply.status, 200);
        assert_string_equal(reply.body, ECHO("/gated/now"));
    }
    (void)close(fd);
}

static void expect_401(int fd, const char *connection)
{
    struct reply reply;
    client_read(fd, &reply);
    assert_int_equal(reply.status, 401);
    assert_string_equal(reply.body, "{\"error\": \"who are you?\"}\n");
    assert_true(reply_has(&reply, "WWW-Authenticate", "Bearer"));
    assert_int_equal(reply_has(&reply, "Connection", connection), connection[0] != '\0');
}

static void test_a_closed_gate_does_not_wait_for_the_body(void **state)
{
    static const char *const HEADERS[] = {"Content-Length: 4", "Content-Length: 10000",
                                          "Transfer-Encoding: chunked"};
    for (size_t i = 0; i < sizeof HEADERS / sizeof *HEADERS; i++) {
        char text[128];
        int fd = server_harness_client(*state, LISTEN_VERBS);
        (void)snprintf(text, sizeof text,
                       "POST /gated/now?gate=closed HTTP/1.1\r\nHost: [::1]\r\n%s\r\n\r\n",
                       HEADERS[i]);
        client_send(fd, text);
        expect_401(fd, "close");
        assert_true(client_at_end(fd));
        (void)close(fd);
    }
}

static void test_a_closed_gate_keeps_a_connection_without_a_body(void **state)
{
    int fd = server_harness_client(*state, LISTEN_VERBS);
    for (int i = 0; i < 2; i++) {
        client_send(
            fd, "POST /gated/now?gate=closed HTTP/1.1\r\nHost: [::1]\r\nContent-Length: 0\r\n\r\n");
        expect_401(fd, "");
    }
    (void)close(fd);
}

/* Like most clients: sends the whole body before it reads the answer. */
static void test_a_client_that_sends_the_whole_body_reads_the_401(void **state)
{
    enum { LEN = 1000000 };
    char head[128];
    char *body = calloc(LEN, 1);
    assert_non_null(body);
    int fd = server_harness_client(*state, LISTEN_VERBS);
    (void)snprintf(
        head, sizeof head,
        "POST /gated/now?gate=closed HTTP/1.1\r\nHost: [::1]\r\nContent-Length: %d\r\n\r\n", LEN);
    client_send(fd, head);
    client_send_bytes(fd, body, LEN);
    expect_401(fd, "close");
    assert_true(client_at_end(fd));
    free(body);
    (void)close(fd);
}

static void test_a_reviewing_gate_may_pass_at_once(void **state)
{
    struct reply reply;
    int fd = server_harness_client(*state, LISTEN_VERBS);
    client_ask(fd, POST("/gated/now?gate=pass"), &reply);
    assert_string_equal(reply.body, ECHO("/gated/now"));
    client_send(fd, POST("/gated/later?gate=pass"));
    server_harness_answer(server_harness_next(*state));
    client_read(fd, &reply);
    assert_string_equal(reply.body, ECHO("/gated/later"));
    (void)close(fd);
}

static void test_a_reviewing_gate_may_reject(void **state)
{
    struct reply reply;
    int fd = server_harness_client(*state, LISTEN_VERBS);
    client_send(fd, POST("/gated/now?gate=ask"));
    exchange_answer_error(server_harness_next(*state), 403, "not you");
    client_read(fd, &reply);
    assert_int_equal(reply.status, 403);
    assert_string_equal(reply.body, "{\"error\": \"not you\"}\n");
    assert_false(reply_has(&reply, "WWW-Authenticate", "Bearer"));
    client_ask(fd, POST("/now"), &reply);
    assert_int_equal(reply.status, 200);
    (void)close(fd);
}

static void test_a_client_that_leaves_before_its_review_leaks_nothing(void **state)
{
    struct reply reply;
    int fd = server_harness_client(*state, LISTEN_VERBS);
    client_send(
        fd, "POST /gated/now?gate=ask HTTP/1.1\r\nHost: [::1]\r\nContent-Length: 40\r\n\r\nhalf");
    (void)close(fd);
    fd = server_harness_client(*state, LISTEN_VERBS);
    client_ask(fd, POST("/gated/now?gate=open"), &reply);
    assert_int_equal(reply.status, 200);
    (void)close(fd);
}

#define N_CLIENTS 64
#define N_ROUNDS 20

static void *pass_many(void *harness)
{
    for (int i = 0; i < N_CLIENTS * N_ROUNDS; i++)
        exchange_pass(server_harness_next(harness));
    return NULL;
}

/* Some calls pass during the review, some while the connection is being parked, some afterwards. */
static void test_passes_come_later_from_another_thread(void **state)
{
    int clients[N_CLIENTS];
    pthread_t thread;
    struct reply reply;
    for (int i = 0; i < N_CLIENTS; i++)
        clients[i] = server_harness_client(*state, LISTEN_VERBS);
    assert_int_equal(pthread_create(&thread, NULL, pass_many, *state), 0);
    for (int round = 0; round < N_ROUNDS; round++) {
        for (int i = 0; i < N_CLIENTS; i++)
            client_send(clients[i], POST("/gated/now?gate=ask"));
        for (int i = 0; i < N_CLIENTS; i++) {
            client_read(clients[i], &reply);
            assert_string_equal(reply.body, ECHO("/gated/now"));
        }
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    for (int i = 0; i < N_CLIENTS; i++)
        (void)close(clients[i]);
}

static void test_a_passed_request_may_be_parked_again(void **state)
{
    struct reply reply;
    int fd = server_harness_client(*state, LISTEN_VERBS);
    client_send(fd, POST("/gated/later?gate=ask"));
    exchange_pass(server_harness_next(*state));
    server_harness_answer(server_harness_next(*state));
    client_read(fd, &reply);
    assert_string_equal(reply.body, ECHO("/gated/later"));
    (void)close(fd);
}

static void test_a_stop_answers_requests_waiting_at_the_gate(void **state)
{
    (void)state;
    struct server_harness *harness = server_harness_new();
    struct exchange *exchanges[8];
    struct reply reply;
    int fds[8];
    for (int i = 0; i < 8; i++) {
        fds[i] = server_harness_client(harness, LISTEN_VERBS);
        client_send(fds[i], POST("/gated/now?gate=ask"));
        exchanges[i] = server_harness_next(harness);
    }
    server_stop(server_harness_take_server(harness), 0);
    for (int i = 0; i < 8; i++) {
        client_read(fds[i], &reply);
        assert_int_equal(reply.status, 503);
        assert_true(client_at_end(fds[i]));
        (void)close(fds[i]);
        assert_string_equal(exchange_body(exchanges[i], NULL), "body");
        if (i % 2 == 0) /* both too late */
            exchange_pass(exchanges[i]);
        else
            server_harness_answer(exchanges[i]);
    }
    server_harness_free(harness, 0);
}

/* Each client gets one whole answer, from the handler or from the stop. */
static void test_passes_race_with_the_stop(void **state)
{
    (void)state;
    server_harness_race_with_stop(POST("/gated/now?gate=ask"), exchange_pass);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_an_open_gate_changes_nothing),
        TEST(test_a_closed_gate_does_not_wait_for_the_body),
        TEST(test_a_closed_gate_keeps_a_connection_without_a_body),
        TEST(test_a_client_that_sends_the_whole_body_reads_the_401),
        TEST(test_a_reviewing_gate_may_pass_at_once),
        TEST(test_a_reviewing_gate_may_reject),
        TEST(test_a_client_that_leaves_before_its_review_leaks_nothing),
        TEST(test_passes_come_later_from_another_thread),
        TEST(test_a_passed_request_may_be_parked_again),
        cmocka_unit_test(test_a_stop_answers_requests_waiting_at_the_gate),
        cmocka_unit_test(test_passes_race_with_the_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
