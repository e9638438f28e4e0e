/* server: addresses and sockets, metrics, stopping. */
#include "base/buf.h"
#include "client.h"
#include "server_harness.h"
#include "unit.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LOOPBACK "127.0.0.1:0"

static unsigned status_of(const struct server_harness *harness, enum listener listener,
                          const char *path)
{
    struct reply reply;
    char text[128];
    (void)snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: [::1]\r\n\r\n", path);
    int fd = server_harness_client(harness, listener);
    client_ask(fd, text, &reply);
    (void)close(fd);
    return reply.status;
}

static void test_equal_addresses_share_a_socket(void **state)
{
    (void)state;
    struct server_harness *harness = server_harness_new();
    const char *address = server_address(server_harness_server(harness), LISTEN_VERBS);
    assert_string_equal(server_address(server_harness_server(harness), LISTEN_PEOPLE), address);
    assert_string_equal(server_address(server_harness_server(harness), LISTEN_PROBES), address);
    assert_int_equal(status_of(harness, LISTEN_VERBS, "/livez"), 200);
    assert_int_equal(status_of(harness, LISTEN_VERBS, "/below/x"), 200);
    assert_int_equal(status_of(harness, LISTEN_VERBS, "/later"), 405);
    server_harness_free(harness, 10000);
}

/* Verbs on one free port, people on another. Only a try shows whether a port is free. */
static struct server_harness *start_on_two_ports(void)
{
    for (;;) {
        struct server_harness *harness = NULL;
        struct server_harness *holder = server_harness_new();
        struct err err = {""};
        char freed[64];
        (void)snprintf(freed, sizeof freed, "%s",
                       server_address(server_harness_server(holder), LISTEN_VERBS));
        server_harness_free(holder, 0);
        int r = server_harness_start(LOOPBACK, freed, freed, &harness, &err);
        if (r == 0)
            return harness;
        if (r != -EADDRINUSE)
            fail_msg("%s", err.text);
    }
}

static void check_lists(struct server_harness *harness, enum listener listener, const char *path,
                        bool expected)
{
    struct reply reply;
    int fd = server_harness_client(harness, listener);
    client_ask(fd, "GET / HTTP/1.1\r\nHost: [::1]\r\n\r\n", &reply);
    if ((strstr(reply.body, path) != NULL) != expected)
        fail_msg("%s %s", path, reply.body);
    (void)close(fd);
}

static void test_other_addresses_serve_their_own_routes(void **state)
{
    (void)state;
    struct server_harness *harness = start_on_two_ports();
    const char *people = server_address(server_harness_server(harness), LISTEN_PEOPLE);
    assert_string_not_equal(server_address(server_harness_server(harness), LISTEN_VERBS), people);
    assert_string_equal(server_address(server_harness_server(harness), LISTEN_PROBES), people);
    assert_int_equal(status_of(harness, LISTEN_VERBS, "/livez"), 404);
    assert_int_equal(status_of(harness, LISTEN_VERBS, "/below/x"), 404);
    assert_int_equal(status_of(harness, LISTEN_VERBS, "/later"), 405);
    assert_int_equal(status_of(harness, LISTEN_VERBS, "/now"), 200);
    assert_int_equal(status_of(harness, LISTEN_PEOPLE, "/livez"), 200);
    assert_int_equal(status_of(harness, LISTEN_PEOPLE, "/below/x"), 200);
    assert_int_equal(status_of(harness, LISTEN_PEOPLE, "/later"), 404);
    assert_int_equal(status_of(harness, LISTEN_PEOPLE, "/now"), 200);
    check_lists(harness, LISTEN_VERBS, "POST /later", true);
    check_lists(harness, LISTEN_VERBS, "/hold", false);
    check_lists(harness, LISTEN_PEOPLE, "POST /hold", true);
    check_lists(harness, LISTEN_PEOPLE, "/later", false);
    server_harness_free(harness, 10000);
}

static void test_a_disabled_listener_has_no_address(void **state)
{
    (void)state;
    struct server_harness *harness = NULL;
    struct err err = {""};
    if (server_harness_start(NULL, LOOPBACK, NULL, &harness, &err) < 0)
        fail_msg("%s", err.text);
    assert_null(server_address(server_harness_server(harness), LISTEN_VERBS));
    assert_null(server_address(server_harness_server(harness), LISTEN_PROBES));
    assert_int_equal(status_of(harness, LISTEN_PEOPLE, "/below/x"), 200);
    assert_int_equal(status_of(harness, LISTEN_PEOPLE, "/later"), 404);
    server_harness_free(harness, 10000);
}

static void test_ipv6(void **state)
{
    (void)state;
    struct server_harness *harness = NULL;
    struct err err = {""};
    int fd = socket(AF_INET6, SOCK_STREAM, 0);
    (void)close(fd);
    int r = fd < 0 ? -EADDRNOTAVAIL
                   : server_harness_start(LOOPBACK, "[0:0::1]:0", "[::1]:0", &harness, &err);
    if (r == -EADDRNOTAVAIL) {
        print_message("not here: there is no IPv6\n");
        skip();
    }
    if (r < 0)
        fail_msg("%s", err.text);
    assert_memory_equal(server_address(server_harness_server(harness), LISTEN_PEOPLE), "[::1]:", 6);
    assert_int_equal(status_of(harness, LISTEN_PEOPLE, "/livez"), 200);
    assert_int_equal(status_of(harness, LISTEN_PEOPLE, "/below/x"), 200);
    assert_int_equal(status_of(harness, LISTEN_VERBS, "/livez"), 404);
    server_harness_free(harness, 10000);
}

static void test_errors_of_addresses_name_the_expected_form(void **state)
{
    (void)state;
    static const struct {
        const char *address, *message;
    } CASES[] = {
        {"127.0.0.1:99999", "listen on 127.0.0.1:99999: the port must be 0-65535"},
        {"127.0.0.1:65536", "listen on 127.0.0.1:65536: the port must be 0-65535"},
        {"127.0.0.1:", "listen on 127.0.0.1:: the port must be 0-65535"},
        {"127.0.0.1:-1", "listen on 127.0.0.1:-1: the port must be 0-65535"},
        {"127.0.0.1:8x", "listen on 127.0.0.1:8x: the port must be 0-65535"},
        {"127.0.0.1", "listen on 127.0.0.1: it must be ADDRESS:PORT"},
        {"", "listen on : it must be ADDRESS:PORT"},
        {"127.0.0.256:1",
         "listen on 127.0.0.256:1: \"127.0.0.256\" is not an IPv4 address (names are not looked "
         "up)"},
        {":8888", "listen on :8888: \"\" is not an IPv4 address (names are not looked up)"},
        {"localhost:1",
         "listen on localhost:1: \"localhost\" is not an IPv4 address (names are not looked up)"},
        {"::1:8888", "listen on ::1:8888: an IPv6 address is written [ADDRESS]:PORT"},
        {"[::g]:1", "listen on [::g]:1: ::g is not an IPv6 address"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct server_harness *harness = NULL;
        struct err err = {""};
        assert_int_equal(server_harness_start(LOOPBACK, CASES[i].address, NULL, &harness, &err),
                         -EINVAL);
        assert_string_equal(err.text, CASES[i].message);
    }
}

static void test_no_address_at_all(void **state)
{
    (void)state;
    struct server_harness *harness = NULL;
    struct err err = {""};
    assert_int_equal(server_harness_start(NULL, NULL, NULL, &harness, &err), -EINVAL);
    assert_string_equal(err.text, "there is no address to listen on");
}

static void test_a_port_in_use_is_named(void **state)
{
    (void)state;
    struct server_harness *harness = server_harness_new();
    struct server_harness *other = NULL;
    struct err err = {""};
    char expected[128];
    const char *address = server_address(server_harness_server(harness), LISTEN_VERBS);
    assert_int_equal(server_harness_start(LOOPBACK, LOOPBACK, address, &other, &err), -EADDRINUSE);
    (void)snprintf(expected, sizeof expected, "listen on %s: Address already in use", address);
    assert_string_equal(err.text, expected);
    assert_null(other);
    server_harness_free(harness, 10000);
}

static void test_metrics(void **state)
{
    (void)state;
    struct server_harness *harness = server_harness_new();
    struct reply reply;
    int fd = server_harness_client(harness, LISTEN_VERBS);
    client_ask(fd, "GET /now HTTP/1.1\r\nHost: [::1]\r\n\r\n", &reply);
    client_ask(fd, "POST /now HTTP/1.1\r\nHost: [::1]\r\nContent-Length: 0\r\n\r\n", &reply);
    client_ask(fd, "PUT /now HTTP/1.1\r\nHost: [::1]\r\nContent-Length: 0\r\n\r\n", &reply);
    client_ask(fd, "GET /secret HTTP/1.1\r\nHost: [::1]\r\n\r\n", &reply);
    client_send(fd, "POST /later HTTP/1.1\r\nHost: [::1]\r\nContent-Length: 0\r\n\r\n");
    exchange_answer(server_harness_next(harness), 418, "text/plain", NULL, 0, 0);
    client_read(fd, &reply);
    client_ask(fd, "POST /now HTTP/1.1\r\nHost: [::1]\r\nContent-Length: 10001\r\n\r\n", &reply);
    assert_int_equal(reply.status, 413);
    (void)close(fd);
    fd = server_harness_client(harness, LISTEN_VERBS);
    client_ask(fd, "GET /nothing HTTP/1.1\r\nHost: [::1]\r\n\r\n", &reply);

    struct buf out;
    buf_init(&out, 100000);
    server_metrics(server_harness_server(harness), &out);
    const char *counters =
        "# HELP gpu_extender_http_requests_total HTTP requests answered, by route and status "
        "code.\n"
        "# TYPE gpu_extender_http_requests_total counter\n"
        "gpu_extender_http_requests_total{route=\"other\",code=\"404\"} 1\n"
        "gpu_extender_http_requests_total{route=\"now\",code=\"200\"} 2\n"
        "gpu_extender_http_requests_total{route=\"now\",code=\"405\"} 1\n"
        "gpu_extender_http_requests_total{route=\"now\",code=\"413\"} 1\n"
        "gpu_extender_http_requests_total{route=\"later\",code=\"other\"} 1\n"
        "gpu_extender_http_requests_total{route=\"nothing\",code=\"200\"} 1\n"
        "# HELP gpu_extender_http_request_duration_seconds ";
    assert_memory_equal(buf_text(&out), counters, strlen(counters));
    assert_non_null(strstr(
        buf_text(&out), "\ngpu_extender_http_request_duration_seconds_count{route=\"now\"} 4\n"));
    assert_non_null(strstr(buf_text(&out), "\n# TYPE gpu_extender_http_connections gauge\n"
                                           "gpu_extender_http_connections "));
    buf_fini(&out);
    (void)close(fd);
    server_harness_free(harness, 10000);
}

/* The gauge lags, because the server closes in its own time; so read it repeatedly. */
static void test_connections_are_counted(void **state)
{
    (void)state;
    struct server_harness *harness = server_harness_new();
    int fds[3];
    struct reply reply;
    struct buf out;
    buf_init(&out, 100000);
    for (int i = 0; i < 3; i++) {
        fds[i] = server_harness_client(harness, LISTEN_VERBS);
        client_ask(fds[i], "GET /now HTTP/1.1\r\nHost: [::1]\r\n\r\n", &reply);
    }
    server_metrics(server_harness_server(harness), &out);
    assert_non_null(strstr(buf_text(&out), "\ngpu_extender_http_connections 3\n"));
    (void)close(fds[0]);
    while (!strstr(buf_text(&out), "\ngpu_extender_http_connections 2\n")) {
        buf_clear(&out);
        server_metrics(server_harness_server(harness), &out);
    }
    (void)close(fds[1]);
    (void)close(fds[2]);
    buf_fini(&out);
    server_harness_free(harness, 10000);
}

static void test_an_idle_connection_is_closed_after_its_time(void **state)
{
    (void)state;
    const struct route routes[] = {{0}};
    const struct server_settings settings = {.verbs = LOOPBACK,
                                             .max_body_bytes = 1,
                                             .max_user_body_bytes = 1,
                                             .max_connections = 1,
                                             .idle_timeout_s = 1,
                                             .request_timeout_s = 60,
                                             .n_threads = 3};
    struct server *server = NULL;
    struct err err = {""};
    struct reply reply;
    assert_int_equal(server_start(&settings, routes, &server, &err), 0);
    int fd = client_open(server_address(server, LISTEN_VERBS));
    client_ask(fd, "GET / HTTP/1.1\r\nHost: [::1]\r\n\r\n", &reply);
    assert_int_equal(reply.status, 404);
    int waiting = client_open(server_address(server, LISTEN_VERBS));
    client_send(waiting,
                "GET / HTTP/1.1\r\nHost: [::1]\r\n\r\n"); /* over the limit of one: it waits */
    assert_true(client_at_end(fd));
    (void)close(fd);
    client_read(waiting, &reply);
    assert_int_equal(reply.status, 404);
    (void)close(waiting);
    server_stop(server, 0);
}

struct stop {
    struct server *server;
    unsigned drain_ms;
};

static void *stop_server(void *arg)
{
    struct stop *stop = arg;
    server_stop(stop->server, stop->drain_ms);
    return NULL;
}

#define LATER "POST /later HTTP/1.1\r\nHost: [::1]\r\nContent-Length: 4\r\n\r\nbody"

/* Asks until it is rejected: then the drain has begun. */
static void wait_for_drain(int fd)
{
    struct reply reply;
    do
        client_ask(fd, "GET /now HTTP/1.1\r\nHost: [::1]\r\n\r\n", &reply);
    while (!reply_has(&reply, "Connection", "close"));
    if (reply.status != 200) { /* 200: the drain began between request and answer */
        assert_int_equal(reply.status, 503);
        assert_string_equal(reply.body, "{\"error\": \"the server is stopping\"}\n");
    }
    assert_true(client_at_end(fd));
    (void)close(fd);
}

static int client_in_use(const struct server_harness *harness)
{
    struct reply reply;
    int fd = server_harness_client(harness, LISTEN_VERBS);
    client_ask(fd, "GET /now HTTP/1.1\r\nHost: [::1]\r\n\r\n", &reply);
    assert_int_equal(reply.status, 200);
    return fd;
}

static void test_a_drain_waits_for_answers(void **state)
{
    (void)state;
    struct server_harness *harness = server_harness_new();
    struct reply reply;
    pthread_t thread;
    char address[64];
    (void)snprintf(address, sizeof address, "%s",
                   server_address(server_harness_server(harness), LISTEN_VERBS));
    int suspended = server_harness_client(harness, LISTEN_VERBS);
    client_send(suspended, LATER);
    struct exchange *exchange = server_harness_next(harness);
    int idle = client_in_use(harness);
    int asking = client_in_use(harness);
    struct stop stop = {server_harness_take_server(harness), 100000};
    assert_int_equal(pthread_create(&thread, NULL, stop_server, &stop), 0);
    wait_for_drain(asking);

    int late = client_open(address); /* the kernel connects it; the server closes it unread */
    (void)client_try_send(late, LATER, strlen(LATER));
    char byte = 0;
    assert_true(recv(late, &byte, 1, 0) <= 0);
    (void)close(late);

    server_harness_answer(exchange);
    client_read(suspended, &reply);
    assert_int_equal(reply.status, 200);
    assert_true(reply_has(&reply, "Connection", "close"));
    assert_true(client_at_end(suspended));
    assert_true(client_at_end(idle));
    assert_int_equal(pthread_join(thread, NULL), 0);
    (void)close(idle);
    (void)close(suspended);
    server_harness_free(harness, 0);
}

static void test_requests_unanswered_at_the_end_of_the_drain_get_503(void **state)
{
    (void)state;
    struct server_harness *harness = server_harness_new();
    struct exchange *exchanges[8];
    struct reply reply;
    int fds[8];
    for (int i = 0; i < 8; i++) {
        fds[i] = server_harness_client(harness, LISTEN_VERBS);
        client_send(fds[i], LATER);
        exchanges[i] = server_harness_next(harness);
    }
    server_stop(server_harness_take_server(harness), 0);
    for (int i = 0; i < 8; i++) {
        client_read(fds[i], &reply);
        assert_int_equal(reply.status, 503);
        assert_true(reply_has(&reply, "Connection", "close"));
        assert_true(client_at_end(fds[i]));
        (void)close(fds[i]);
        /* The handler is unaware, and may take its time. */
        assert_string_equal(exchange_path(exchanges[i]), "/later");
        assert_string_equal(exchange_body(exchanges[i], NULL), "body");
        server_harness_answer(exchanges[i]);
    }
    server_harness_free(harness, 0);
}

/* A handler still runs when the server stops waiting. It is not parked any more. */
static void test_a_handler_that_returns_after_the_drain_is_not_parked(void **state)
{
    (void)state;
    struct server_harness *harness = start_on_two_ports();
    struct reply reply;
    pthread_t thread;
    int parked = server_harness_client(harness, LISTEN_VERBS);
    client_send(parked, LATER);
    struct exchange *first = server_harness_next(harness);
    int held = server_harness_client(harness, LISTEN_PEOPLE);
    client_send(held, "POST /hold HTTP/1.1\r\nHost: [::1]\r\nContent-Length: 0\r\n\r\n");
    struct exchange *second = server_harness_next(harness);
    struct stop stop = {server_harness_take_server(harness), 0};
    assert_int_equal(pthread_create(&thread, NULL, stop_server, &stop), 0);
    client_read(parked, &reply); /* so the server stopped waiting */
    assert_int_equal(reply.status, 503);
    server_harness_let_go(harness);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(client_drained(held));
    server_harness_answer(first);
    server_harness_answer(second);
    (void)close(parked);
    (void)close(held);
    server_harness_free(harness, 0);
}

/* Answers race with the end of the drain. Each client gets one whole answer. */
static void test_answers_race_with_the_stop(void **state)
{
    (void)state;
    server_harness_race_with_stop(LATER, server_harness_answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_addresses_share_a_socket),
        cmocka_unit_test(test_other_addresses_serve_their_own_routes),
        cmocka_unit_test(test_a_disabled_listener_has_no_address),
        cmocka_unit_test(test_ipv6),
        cmocka_unit_test(test_errors_of_addresses_name_the_expected_form),
        cmocka_unit_test(test_no_address_at_all),
        cmocka_unit_test(test_a_port_in_use_is_named),
        cmocka_unit_test(test_metrics),
        cmocka_unit_test(test_connections_are_counted),
        cmocka_unit_test(test_an_idle_connection_is_closed_after_its_time),
        cmocka_unit_test(test_a_drain_waits_for_answers),
        cmocka_unit_test(test_requests_unanswered_at_the_end_of_the_drain_get_503),
        cmocka_unit_test(test_a_handler_that_returns_after_the_drain_is_not_parked),
        cmocka_unit_test(test_answers_race_with_the_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
