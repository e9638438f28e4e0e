/* connections: slow clients, many clients, and closing on command, over real sockets. Tests wait
 * for an end that must come; the server has its shortest times. */
#include "base/mem.h"
#include "client.h"
#include "server_harness.h"
#include "unit.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOOPBACK "127.0.0.1:0"
#define GET_NOW "GET /now HTTP/1.1\r\nHost: [::1]\r\n\r\n"
#define LATER "POST /later HTTP/1.1\r\nHost: [::1]\r\nContent-Length: 4\r\n\r\nbody"
#define HALF_A_BODY "POST /now HTTP/1.1\r\nHost: [::1]\r\nContent-Length: 4\r\n\r\nbo"

static struct server_harness *start_with(const char *people, unsigned max_connections)
{
    struct server_harness *harness = NULL;
    struct err err = {""};
    const struct server_settings settings = {.verbs = LOOPBACK,
                                             .people = people,
                                             .max_body_bytes = 10000,
                                             .max_user_body_bytes = 10000,
                                             .max_bodies_bytes = 20000,
                                             .max_connections = max_connections,
                                             .idle_timeout_s = 300,
                                             .request_timeout_s = 1,
                                             .n_threads = 2};
    if (server_harness_start_with(&settings, &harness, &err) < 0)
        fail_msg("%s", err.text);
    return harness;
}

/* Two sockets. */
static int start(void **state)
{
    *state = start_with("127.0.0.2:0", 512);
    return 0;
}

static int stop(void **state)
{
    server_harness_free(*state, 10000);
    return 0;
}

static void expect_ended(int fd)
{
    assert_true(client_drained(fd));
    (void)close(fd);
}

/* Waits as long as a slow connection may last. */
static void wait_a_time(struct server_harness *harness)
{
    expect_ended(server_harness_client(harness, LISTEN_PEOPLE));
}

static void expect_served(int fd)
{
    struct reply reply;
    client_ask(fd, GET_NOW, &reply);
    assert_int_equal(reply.status, 200);
    assert_false(reply_has(&reply, "Connection", "close"));
}

static void test_a_silent_connection_is_dropped(void **state)
{
    wait_a_time(*state);
    server_harness_wait_for_metric(
        *state, "\ngpu_extender_http_connections_closed_total{cause=\"silent\"} 1\n");
}

/* kube-scheduler may still use it. */
static void test_a_new_connection_of_the_verbs_may_wait(void **state)
{
    int fd = server_harness_client(*state, LISTEN_VERBS);
    wait_a_time(*state);
    wait_a_time(*state);
    expect_served(fd);
    (void)close(fd);
}

static void test_a_slow_header_is_dropped(void **state)
{
    int first = server_harness_client(*state, LISTEN_VERBS);
    int later = server_harness_client(*state, LISTEN_VERBS);
    expect_served(later);
    client_send(first, "GET /now HTTP/1.1\r\nHo");
    client_send(later, "G");
    expect_ended(first);
    expect_ended(later);
    server_harness_wait_for_metric(
        *state, "\ngpu_extender_http_connections_closed_total{cause=\"slow_request\"} 2\n");
}

static void test_a_slow_body_is_dropped(void **state)
{
    int fd = server_harness_client(*state, LISTEN_VERBS);
    expect_served(fd);
    client_send(fd, HALF_A_BODY);
    expect_ended(fd);
    server_harness_wait_for_metric(*state, "\ngpu_extender_http_body_bytes{for=\"verbs\"} 0\n");
}

/* Single bytes now and then do not keep it open. */
static void test_a_trickling_request_is_dropped(void **state)
{
    int fd = server_harness_client(*state, LISTEN_VERBS);
    struct pollfd end = {.fd = fd, .events = POLLIN};
    client_send(fd, "GET /now HTTP/1.1\r\nX: ");
    while (poll(&end, 1, 50) == 0)
        (void)client_try_send(fd, "x", 1);
    expect_ended(fd);
}

/* The answer exceeds the kernel's buffers. */
static void test_a_client_that_reads_no_answer_is_dropped(void **state)
{
    int fd = server_harness_client(*state, LISTEN_VERBS);
    struct pollfd end = {.fd = fd};
    client_send(fd, "GET /much HTTP/1.1\r\nHost: [::1]\r\n\r\n");
    assert_int_equal(poll(&end, 1, 600000), 1);
    assert_true(end.revents & (POLLHUP | POLLERR));
    (void)close(fd);
    server_harness_wait_for_metric(
        *state, "\ngpu_extender_http_connections_closed_total{cause=\"slow_reader\"} 1\n");
}

static void test_a_served_connection_stays_open(void **state)
{
    int fd = server_harness_client(*state, LISTEN_VERBS);
    expect_served(fd);
    wait_a_time(*state);
    wait_a_time(*state);
    expect_served(fd);
    (void)close(fd);
}

static void test_a_client_waiting_for_its_answer_is_not_late(void **state)
{
    struct reply reply;
    int fd = server_harness_client(*state, LISTEN_VERBS);
    client_send(fd, LATER);
    struct exchange *exchange = server_harness_next(*state);
    wait_a_time(*state);
    wait_a_time(*state);
    server_harness_answer(exchange);
    client_read(fd, &reply);
    assert_int_equal(reply.status, 200);
    expect_served(fd);
    (void)close(fd);
}

static void test_connections_are_closed_on_request(void **state)
{
    struct reply reply;
    struct server_harness *harness = *state;
    int fresh = server_harness_client(harness, LISTEN_VERBS);
    int idle = server_harness_client(harness, LISTEN_VERBS);
    int asking = server_harness_client(harness, LISTEN_VERBS);
    int parked = server_harness_client(harness, LISTEN_VERBS);
    int other = server_harness_client(harness, LISTEN_PEOPLE);
    client_ask(other, "GET /below/ HTTP/1.1\r\nHost: [::1]\r\n\r\n", &reply);
    expect_served(asking);
    client_send(asking, HALF_A_BODY);
    client_send(parked, LATER);
    struct exchange *exchange = server_harness_next(harness);
    expect_served(idle);

    server_close_idle(server_harness_server(harness), LISTEN_VERBS);
    assert_true(client_at_end(idle));
    client_ask(fresh, GET_NOW, &reply); /* its first request may have been on the way */
    assert_int_equal(reply.status, 200);
    assert_true(reply_has(&reply, "Connection", "close"));
    client_send(asking, "dy");
    client_read(asking, &reply);
    assert_int_equal(reply.status, 200);
    assert_true(reply_has(&reply, "Connection", "close"));
    assert_true(client_at_end(asking));
    server_harness_answer(exchange);
    client_read(parked, &reply);
    assert_int_equal(reply.status, 200);
    assert_true(reply_has(&reply, "Connection", "close"));
    assert_true(client_at_end(parked));
    server_harness_wait_for_metric(
        harness, "\ngpu_extender_http_connections_closed_total{cause=\"told\"} 1\n");

    client_ask(other, "GET /below/ HTTP/1.1\r\nHost: [::1]\r\n\r\n", &reply);
    assert_int_equal(reply.status, 200);
    int new = server_harness_client(harness, LISTEN_VERBS);
    expect_served(new);
    const int fds[] = {fresh, idle, asking, parked, other, new};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        (void)close(fds[i]);
}

#define N_STRANGERS 200

/* Idle ones, rejected ones and half requests, far more than there are places. */
static void test_unknown_connections_keep_no_known_one_out(void **state)
{
    (void)state;
    struct server_harness *harness = start_with(LOOPBACK, 64);
    struct reply reply;
    int strangers[N_STRANGERS];
    int known = server_harness_client(harness, LISTEN_VERBS);
    expect_served(known);
    for (int i = 0; i < N_STRANGERS; i++) {
        strangers[i] = server_harness_client(harness, LISTEN_VERBS);
        if (i % 3 == 0)
            client_ask(strangers[i], "GET /no HTTP/1.1\r\nHost: [::1]\r\n\r\n", &reply);
        else if (i % 3 == 1)
            client_send(strangers[i], "GET /no");
    }
    expect_served(known);
    int new = server_harness_client(harness, LISTEN_VERBS);
    expect_served(new);
    for (int i = 0; i < N_STRANGERS / 2; i++)
        expect_ended(strangers[i]);
    for (int i = N_STRANGERS / 2; i < N_STRANGERS; i++)
        (void)close(strangers[i]);
    expect_served(new);
    expect_served(known);
    (void)close(new);
    (void)close(known);
    server_harness_free(harness, 10000);
}

static void send_part(int fd, const char *path, size_t len, size_t sent)
{
    char text[10200];
    int n = snprintf(text, sizeof text,
                     "POST %s HTTP/1.1\r\nHost: [::1]\r\nContent-Length: %zu\r\n\r\n", path, len);
    memset(text + n, 'x', sent);
    client_send_bytes(fd, text, (size_t)n + sent);
}

#define HELD(n, m)                                                                                 \
    "\ngpu_extender_http_body_bytes{for=\"verbs\"} " n                                             \
    "\ngpu_extender_http_body_bytes{for=\"others\"} " m                                            \
    "\ngpu_extender_http_body_bytes{for=\"answers\"} 0\n"

/* 20000 bytes in total, at most 10000 of them outside the verbs. */
static void test_all_bodies_share_a_limit(void **state)
{
    struct server_harness *harness = NULL;
    struct err err = {""};
    struct reply reply;
    if (server_harness_start(LOOPBACK, LOOPBACK, LOOPBACK, &harness, &err) < 0)
        fail_msg("%s", err.text);
    (void)state;
    int verbs = server_harness_client(harness, LISTEN_VERBS);
    int other = server_harness_client(harness, LISTEN_PEOPLE);
    int third = server_harness_client(harness, LISTEN_PEOPLE);
    send_part(other, "/below/deep/", 10000, 9000);
    server_harness_wait_for_metric(harness, HELD("0", "9000"));
    send_part(third, "/below/deep/", 1001, 1001);
    client_read(third, &reply);
    assert_int_equal(reply.status, 503);
    assert_true(reply_has(&reply, "Retry-After", "1"));
    assert_string_equal(
        reply.body, "{\"error\": \"requests in progress fill limits.bodiesBytes: try again\"}\n");
    send_part(third, "/below/deep/", 1000, 1000); /* on the same connection */
    client_read(third, &reply);
    assert_int_equal(reply.status, 200);
    send_part(verbs, "/now", 10000, 10000); /* the others' half is full, this one is not */
    client_read(verbs, &reply);
    assert_int_equal(reply.status, 200);
    send_part(verbs, "/now", 10000, 9000);
    server_harness_wait_for_metric(harness, HELD("9000", "9000"));
    send_part(third, "/now", 2001, 2001);
    client_read(third, &reply);
    assert_int_equal(reply.status, 503);
    (void)close(other);
    (void)close(verbs);
    server_harness_wait_for_metric(harness, HELD("0", "0"));
    (void)close(third);
    server_harness_free(harness, 10000);
}

static void answer_much(void *context, struct exchange *exchange)
{
    (void)context;
    char *body = mem_new_array(SERVER_HARNESS_MUCH_BYTES, 1);
    memset(body, 'm', SERVER_HARNESS_MUCH_BYTES);
    exchange_answer(exchange, 200, "text/plain", body, SERVER_HARNESS_MUCH_BYTES, 0);
}

static enum gate_verdict take_caller(void *context, struct exchange *exchange)
{
    (void)context;
    const char *caller = exchange_query(exchange, "caller");
    exchange_set_caller(exchange, strtoull(caller, NULL, 10));
    return GATE_OPEN;
}

#define ASK_MUCH(caller) "GET /much?caller=" caller " HTTP/1.1\r\nHost: [::1]\r\n\r\n"

/* Two fit. One above the limit would do too if it were alone. */
static void test_large_answers_share_a_limit(void **state)
{
    (void)state;
    static const char *const ASKS[] = {ASK_MUCH("1"), ASK_MUCH("2"), ASK_MUCH("3")};
    const struct gate gate = {.judge = take_caller};
    const struct route routes[] = {
        {"GET", "/much", LISTEN_PEOPLE, "much", answer_much, NULL, &gate, NULL}, {0}};
    struct server_settings settings = {.people = LOOPBACK,
                                       .max_body_bytes = 1,
                                       .max_user_body_bytes = 1,
                                       .max_bodies_bytes = 2 * SERVER_HARNESS_MUCH_BYTES,
                                       .max_connections = 10,
                                       .idle_timeout_s = 300,
                                       .request_timeout_s = 300};
    struct reply reply;
    for (int n_fit = 2; n_fit > 0; n_fit--) {
        struct server *server = NULL;
        struct err err = {""};
        int fds[3];
        assert_int_equal(server_start(&settings, routes, &server, &err), 0);
        for (int i = 0; i <= n_fit; i++) {
            fds[i] = client_open(server_address(server, LISTEN_PEOPLE));
            client_send(fds[i], ASKS[i]);
            client_read_head(fds[i], &reply);
            assert_int_equal(reply.status, i < n_fit ? 200 : 503);
        }
        assert_true(reply_has(&reply, "Retry-After", "1"));
        client_expect_all(fds[0], 'm', SERVER_HARNESS_MUCH_BYTES);
        do { /* the first one's end is counted slightly later */
            (void)close(fds[0]);
            fds[0] = client_open(server_address(server, LISTEN_PEOPLE));
            client_send(fds[0], ASKS[2]);
            client_read_head(fds[0], &reply);
        } while (reply.status == 503);
        assert_int_equal(reply.status, 200);
        for (int i = 0; i <= n_fit; i++)
            (void)close(fds[i]);
        server_stop(server, 0);
        settings.max_bodies_bytes = 2;
    }
}

/* Two fit in an eighth of the limit. Without a caller the address counts. */
static void test_a_client_has_a_share_of_the_unread_answers(void **state)
{
    (void)state;
    static const char *const ASKS[] = {ASK_MUCH("0"), ASK_MUCH("0"), ASK_MUCH("0"),
                                       ASK_MUCH("7"), ASK_MUCH("7"), ASK_MUCH("7")};
    enum { N = sizeof ASKS / sizeof *ASKS };
    const struct gate gate = {.judge = take_caller};
    const struct route routes[] = {
        {"GET", "/much", LISTEN_PEOPLE, "much", answer_much, NULL, &gate, NULL}, {0}};
    const struct server_settings settings = {.people = LOOPBACK,
                                             .max_body_bytes = 1,
                                             .max_bodies_bytes = 16 * SERVER_HARNESS_MUCH_BYTES,
                                             .max_connections = 16,
                                             .idle_timeout_s = 300,
                                             .request_timeout_s = 300};
    struct reply reply;
    struct server *server = NULL;
    struct err err = {""};
    int fds[N];
    assert_int_equal(server_start(&settings, routes, &server, &err), 0);
    for (size_t i = 0; i < N; i++) {
        fds[i] = client_open(server_address(server, LISTEN_PEOPLE));
        client_send(fds[i], ASKS[i]);
        client_read_head(fds[i], &reply);
        assert_int_equal(reply.status, i % 3 < 2 ? 200 : 503);
    }
    for (size_t i = 0; i < N; i++)
        (void)close(fds[i]);
    server_stop(server, 0);
}

int main(void)
{
#define LIMITS_TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        LIMITS_TEST(test_a_silent_connection_is_dropped),
        LIMITS_TEST(test_a_new_connection_of_the_verbs_may_wait),
        LIMITS_TEST(test_a_slow_header_is_dropped),
        LIMITS_TEST(test_a_slow_body_is_dropped),
        LIMITS_TEST(test_a_trickling_request_is_dropped),
        LIMITS_TEST(test_a_client_that_reads_no_answer_is_dropped),
        LIMITS_TEST(test_a_served_connection_stays_open),
        LIMITS_TEST(test_a_client_waiting_for_its_answer_is_not_late),
        LIMITS_TEST(test_connections_are_closed_on_request),
        cmocka_unit_test(test_unknown_connections_keep_no_known_one_out),
        cmocka_unit_test(test_all_bodies_share_a_limit),
        cmocka_unit_test(test_large_answers_share_a_limit),
        cmocka_unit_test(test_a_client_has_a_share_of_the_unread_answers),
    };
#undef LIMITS_TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
