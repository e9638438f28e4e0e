/* limits: unknown routes and methods, too large bodies and headers, garbage. */
#include "client.h"
#include "server_harness.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define TOO_LARGE "{\"error\": \"the body must not be larger than 10000 bytes\"}\n"

static void test_unknown_paths_are_404(void **state)
{
    static const char *const PATHS[] = {"/", "/no", "/now/", "/nowhere", "/NOW", "/below", "*"};
    struct reply reply;
    int fd = server_harness_client(*state, LISTEN_VERBS);
    for (size_t i = 0; i < sizeof PATHS / sizeof *PATHS; i++) {
        char text[128];
        (void)snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: [::1]\r\n\r\n", PATHS[i]);
        client_ask(fd, text, &reply);
        assert_int_equal(reply.status, 404);
        assert_true(reply_has(&reply, "Content-Type", "application/json"));
        assert_string_equal(reply.body,
                            "{\"error\": \"no such path, should be one of: GET /now, POST /now, "
                            "POST /later, POST /hold, POST /long, GET /nothing, GET /much, "
                            "GET /bad, GET /below/..., POST /below/deep/..., POST /gated/now, "
                            "POST /gated/later, POST /gated/long, GET /livez\"}\n");
    }
    (void)close(fd);
}

static void test_other_methods_are_405(void **state)
{
    struct reply reply;
    int fd = server_harness_client(*state, LISTEN_VERBS);
    client_ask(fd, "DELETE /now HTTP/1.1\r\nHost: [::1]\r\n\r\n", &reply);
    assert_int_equal(reply.status, 405);
    assert_true(reply_has(&reply, "Allow", "GET, HEAD, POST"));
    assert_string_equal(reply.body,
                        "{\"error\": \"the method must be one of: GET, HEAD, POST\"}\n");
    client_send(fd, "HEAD /later HTTP/1.1\r\nHost: [::1]\r\n\r\n");
    client_read_head(fd, &reply);
    assert_int_equal(reply.status, 405);
    assert_true(reply_has(&reply, "Allow", "POST"));
    client_ask(fd, "post /now HTTP/1.1\r\nHost: [::1]\r\nContent-Length: 3\r\n\r\nabc", &reply);
    assert_int_equal(reply.status, 405);
    client_ask(fd, "POST /now HTTP/1.1\r\nHost: [::1]\r\nContent-Length: 3\r\n\r\nabc", &reply);
    assert_int_equal(reply.status, 200);
    (void)close(fd);
}

static void test_the_longest_path_decides(void **state)
{
    struct reply reply;
    int fd = server_harness_client(*state, LISTEN_PEOPLE);
    client_ask(fd, "GET /below/a/b HTTP/1.1\r\nHost: [::1]\r\n\r\n", &reply);
    assert_string_equal(reply.body, "GET /below/a/b q=(none) x-test=(none) 0 ");
    client_ask(fd, "GET /below/ HTTP/1.1\r\nHost: [::1]\r\n\r\n", &reply);
    assert_int_equal(reply.status, 200);
    client_ask(fd, "GET /below/deep/er HTTP/1.1\r\nHost: [::1]\r\n\r\n", &reply);
    assert_int_equal(reply.status, 405);
    assert_true(reply_has(&reply, "Allow", "POST"));
    (void)close(fd);
}

static char *body_of(size_t len)
{
    char *body = malloc(len + 1);
    assert_non_null(body);
    memset(body, 'x', len);
    body[len] = '\0';
    return body;
}

static void send_sized(int fd, size_t len)
{
    char head[128];
    char *body = body_of(len);
    (void)snprintf(head, sizeof head,
                   "POST /now HTTP/1.1\r\nHost: [::1]\r\nContent-Length: %zu\r\n\r\n", len);
    client_send(fd, head);
    client_send_bytes(fd, body, len);
    free(body);
}

static void test_a_body_at_the_limit_is_accepted(void **state)
{
    struct reply reply;
    int fd = server_harness_client(*state, LISTEN_VERBS);
    send_sized(fd, 10000);
    client_read(fd, &reply);
    assert_int_equal(reply.status, 200);
    assert_int_equal(reply.len, 10000 + strlen("POST /now q=(none) x-test=(none) 10000 "));
    send_sized(fd, 9999);
    client_read(fd, &reply);
    assert_int_equal(reply.status, 200);
    (void)close(fd);
}

static void expect_413(int fd)
{
    struct reply reply;
    client_read(fd, &reply);
    assert_int_equal(reply.status, 413);
    assert_true(reply_has(&reply, "Connection", "close"));
    assert_true(reply_has(&reply, "Content-Type", "application/json"));
    assert_string_equal(reply.body, TOO_LARGE);
    assert_true(client_at_end(fd));
    (void)close(fd);
}

static void test_an_announced_body_over_the_limit_is_413_at_once(void **state)
{
    int fd = server_harness_client(*state, LISTEN_VERBS);
    client_send(fd, "POST /now HTTP/1.1\r\nHost: [::1]\r\nContent-Length: 10001\r\n\r\n");
    expect_413(fd);
    fd = server_harness_client(*state, LISTEN_VERBS);
    client_send(
        fd, "POST /now HTTP/1.1\r\nHost: [::1]\r\nContent-Length: 18446744073709551614\r\n\r\n");
    expect_413(fd);
    fd = server_harness_client(*state, LISTEN_VERBS);
    client_send(fd, "POST /later HTTP/1.1\r\nHost: [::1]\r\nExpect: 100-continue\r\n"
                    "Content-Length: 10001\r\n\r\n");
    expect_413(fd);
}

/* The library itself answers the second one; libmicrohttpd 1.0 answers both. */
static void test_a_length_beyond_any_integer_is_413(void **state)
{
    static const char *const LENGTHS[] = {"18446744073709551615", "99999999999999999999999"};
    for (size_t i = 0; i < sizeof LENGTHS / sizeof *LENGTHS; i++) {
        char head[128];
        struct reply reply;
        int fd = server_harness_client(*state, LISTEN_VERBS);
        (void)snprintf(head, sizeof head,
                       "POST /now HTTP/1.1\r\nHost: [::1]\r\nContent-Length: %s\r\n\r\n",
                       LENGTHS[i]);
        client_ask(fd, head, &reply);
        assert_int_equal(reply.status, 413);
        assert_true(reply_has(&reply, "Connection", "close"));
        assert_true(client_drained(fd));
        (void)close(fd);
    }
}

/* Like most clients: sends the whole body before it reads the answer. The server must not reset the
 * connection before that. */
static void test_a_client_that_sends_the_whole_body_reads_the_413(void **state)
{
    const int small = 4096; /* so the body exceeds the kernel's buffers */
    int fd = server_harness_client(*state, LISTEN_VERBS);
    send_sized(fd, 10001);
    expect_413(fd);
    fd = server_harness_client(*state, LISTEN_VERBS);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof small), 0);
    send_sized(fd, 1000000);
    expect_413(fd);
}

static void test_a_client_that_never_ends_is_cut_off(void **state)
{
    char *piece = body_of(100000);
    int fd = server_harness_client(*state, LISTEN_VERBS);
    client_send(fd, "POST /now HTTP/1.1\r\nHost: [::1]\r\nContent-Length: 1000000000000\r\n\r\n");
    size_t sent = 0;
    while (sent < 1000000000U && client_try_send(fd, piece, 100000))
        sent += 100000;
    assert_true(sent < 1000000000U);
    free(piece);
    (void)close(fd);
}

static void test_a_chunked_body_over_the_limit_is_413(void **state)
{
    char *body = body_of(10000);
    int fd = server_harness_client(*state, LISTEN_VERBS);
    client_send(fd,
                "POST /now HTTP/1.1\r\nHost: [::1]\r\nTransfer-Encoding: chunked\r\n\r\n2710\r\n");
    client_send_bytes(fd, body, 10000);
    client_send(fd, "\r\n1\r\nx\r\n");
    expect_413(fd);
    fd = server_harness_client(*state, LISTEN_VERBS);
    client_send(fd, "POST /now HTTP/1.1\r\nHost: [::1]\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 20; i++) {
        client_send(fd, "2710\r\n");
        client_send_bytes(fd, body, 10000);
        client_send(fd, "\r\n");
    }
    client_send(fd, "0\r\n\r\n");
    expect_413(fd);
    free(body);
}

static void test_a_large_body_of_an_unknown_path_is_not_read(void **state)
{
    struct reply reply;
    int fd = server_harness_client(*state, LISTEN_VERBS);
    client_ask(fd, "POST /no HTTP/1.1\r\nHost: [::1]\r\nContent-Length: 10001\r\n\r\n", &reply);
    assert_int_equal(reply.status, 404);
    assert_true(reply_has(&reply, "Connection", "close"));
    assert_true(client_at_end(fd));
    (void)close(fd);
    fd = server_harness_client(*state, LISTEN_VERBS);
    client_ask(fd, "PUT /now HTTP/1.1\r\nHost: [::1]\r\nContent-Length: 10001\r\n\r\n", &reply);
    assert_int_equal(reply.status, 405);
    assert_true(reply_has(&reply, "Allow", "GET, HEAD, POST"));
    assert_true(client_at_end(fd));
    (void)close(fd);
}

/* RFC 9112 has both: 501 for an unknown coding (6.1), 400 where chunked is not the last one (6.3).
 * libmicrohttpd 1.0 answers 400 itself. */
static void test_other_transfer_encodings_are_refused(void **state)
{
    struct reply reply;
    int fd = server_harness_client(*state, LISTEN_VERBS);
    client_ask(fd, "POST /now HTTP/1.1\r\nHost: [::1]\r\nTransfer-Encoding: gzip\r\n\r\nxyz",
               &reply);
    assert_true(reply.status == 501 || reply.status == 400);
    assert_true(client_at_end(fd));
    (void)close(fd);
}

static void expect_alive(void *harness)
{
    struct reply reply;
    int fd = server_harness_client(harness, LISTEN_VERBS);
    client_ask(fd, "GET /now HTTP/1.1\r\nHost: [::1]\r\n\r\n", &reply);
    assert_int_equal(reply.status, 200);
    (void)close(fd);
}

static void test_large_headers_are_refused(void **state)
{
    struct reply reply;
    char *large = body_of(100000);
    int fd = server_harness_client(*state, LISTEN_VERBS);
    client_send(fd, "GET /now HTTP/1.1\r\nHost: [::1]\r\nX-Large: ");
    (void)client_try_send(fd, large, 100000);
    client_read(fd, &reply);
    assert_int_equal(reply.status, 431);
    assert_true(reply_has(&reply, "Connection", "close"));
    (void)close(fd);
    fd = server_harness_client(*state, LISTEN_VERBS);
    client_send(fd, "GET /");
    (void)client_try_send(fd, large, 100000);
    client_read(fd, &reply);
    assert_int_equal(reply.status, 414);
    (void)close(fd);
    free(large);

    fd = server_harness_client(*state, LISTEN_VERBS);
    client_send(fd, "GET /now HTTP/1.1\r\n");
    for (int i = 0; i < 20000 && client_try_send(fd, "a:b\r\n", 5); i++)
        ;
    client_read(fd, &reply);
    assert_int_equal(reply.status, 431);
    (void)close(fd);
    expect_alive(*state);
}

/* Any input gets an answer, or the connection is closed, at the latest when the following bytes
 * exceed a header's limit. */
static void test_garbage_does_not_affect_other_clients(void **state)
{
    static const struct {
        const char *bytes;
        size_t len;
    } CASES[] = {
#define BYTES(text) {(text), sizeof(text) - 1}
        BYTES("\0\r\n\r\n"),
        BYTES("GET /now\0 HTTP/1.1\r\n\r\n"),
        BYTES("GET\0/now HTTP/1.1\r\n\r\n"),
        BYTES("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"),
        BYTES("GET\r\n\r\n"),
        BYTES("GET \r\n\r\n"),
        BYTES("GET /now\r\n\r\n"),
        BYTES("GET /now HTTP/9.9\r\n\r\n"),
        BYTES("GET /now HTTP/0.9\r\n\r\n"),
        BYTES(" \r\n\r\n"),
        BYTES("GET /now HTTP/1.1\r\n: nothing\r\n\r\n"),
        BYTES("GET /now HTTP/1.1\r\nno colon\r\n\r\n"),
        BYTES("GET /now HTTP/1.1\r\nX-Test: \0\r\n\r\n"),
        BYTES("GET %s%n%x%00 HTTP/1.1\r\nHost: %n\r\n\r\n"),
        BYTES("POST /now HTTP/1.1\r\nContent-Length: -1\r\n\r\n"),
        BYTES("POST /now HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n"),
        BYTES("POST /now HTTP/1.1\r\nContent-Length: x\r\n\r\n"),
        BYTES("POST /now HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"),
        BYTES("POST /now HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n"),
        BYTES("POST /now HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcdef\r\n"),
        BYTES("GET /now?&=&&=x&q HTTP/1.1\r\nCookie: ;;=;\r\n\r\n"),
#undef BYTES
    };
    char *filler = body_of(100000);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        int fd = server_harness_client(*state, LISTEN_VERBS);
        client_send_bytes(fd, CASES[i].bytes, CASES[i].len);
        (void)client_try_send(fd, filler, 100000);
        assert_true(client_drained(fd));
        (void)close(fd);
        expect_alive(*state);
    }
    free(filler);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_unknown_paths_are_404),
        TEST(test_other_methods_are_405),
        TEST(test_the_longest_path_decides),
        TEST(test_a_body_at_the_limit_is_accepted),
        TEST(test_an_announced_body_over_the_limit_is_413_at_once),
        TEST(test_a_length_beyond_any_integer_is_413),
        TEST(test_a_client_that_sends_the_whole_body_reads_the_413),
        TEST(test_a_client_that_never_ends_is_cut_off),
        TEST(test_a_chunked_body_over_the_limit_is_413),
        TEST(test_a_large_body_of_an_unknown_path_is_not_read),
        TEST(test_other_transfer_encodings_are_refused),
        TEST(test_large_headers_are_refused),
        TEST(test_garbage_does_not_affect_other_clients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
