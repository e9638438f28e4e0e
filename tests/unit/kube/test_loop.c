/* Requests over a loop to a server that the test plays: bytes sent, and reports of answers and of
 * missing ones. */
#include "base/mem.h"
#include "fake_api.h"
#include "fake_credentials.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define MANY 300

static void expect_line(const char *request, const char *line)
{
    if (!strcasestr(request, line))
        fail_msg("no %s in: %s", line, request);
}

static void a_get_is_answered(void **state)
{
    struct fake_api *api = *state;
    struct kube_request request = fake_api_get("/api/v1/pods?limit=1");
    struct box *box = fake_api_ask(api, &request);
    int connection = fake_api_accept(api->listener);
    char *text CLEANUP(mem_free_ptr) = fake_api_read(connection);
    assert_ptr_equal(strstr(text, "GET /api/v1/pods?limit=1 HTTP/1.1\r\n"), text);
    expect_line(text, "\r\nAuthorization: Bearer first\r\n");
    expect_line(text, "\r\nAccept: application/json\r\n");
    expect_line(text, "\r\nUser-Agent: gpu-extender/" GPU_EXTENDER_VERSION "\r\n");
    assert_null(strcasestr(text, "Content-"));
    assert_null(strcasestr(text, "Accept-Encoding")); /* nothing here could inflate it */
    fake_api_answer(connection, 200, "{\"a\":1}");
    fake_api_expect_answer(box, 200, "{\"a\":1}");
    (void)close(connection);
}

static void a_post_carries_its_body(void **state)
{
    struct fake_api *api = *state;
    struct kube_request request = fake_api_post("/api/v1/bind", "{\"x\":2}");
    struct box *box = fake_api_ask(api, &request);
    int connection = fake_api_accept(api->listener);
    char *text CLEANUP(mem_free_ptr) = fake_api_read(connection);
    assert_ptr_equal(strstr(text, "POST /api/v1/bind HTTP/1.1\r\n"), text);
    expect_line(text, "\r\nContent-Type: application/json\r\n");
    expect_line(text, "\r\n\r\n{\"x\":2}");
    assert_null(strcasestr(text, "Expect:"));
    fake_api_answer(connection, 201, "made");
    fake_api_expect_answer(box, 201, "made");
    (void)close(connection);
}

static void a_connection_is_used_again(void **state)
{
    struct fake_api *api = *state;
    struct kube_request request = fake_api_get("/a");
    int connection = -1;
    for (int i = 0; i < 3; i++) {
        struct box *box = fake_api_ask(api, &request);
        connection = i == 0 ? fake_api_accept(api->listener) : connection;
        fake_api_expect(connection, "GET /a ");
        fake_api_answer(connection, 200, "");
        fake_api_expect_answer(box, 200, "");
    }
    (void)close(connection);
}

/* The Retry-After of an answer with this header. */
static int64_t retry_after_of(struct fake_api *api, const char *header)
{
    const struct call call = fake_api_call(api, fake_api_get("/a"));
    fake_api_write(call.connection,
                   "HTTP/1.1 429 Too Many\r\nConnection: close\r\nContent-Length: 0\r\n");
    fake_api_write(call.connection, header);
    fake_api_write(call.connection, "\r\n");
    int64_t seconds = box_wait(call.box)->retry_after_s;
    fake_api_expect_answer(call.box, 429, "");
    (void)close(call.connection);
    return seconds;
}

static void retry_after_is_reported_in_seconds(void **state)
{
    assert_int_equal(retry_after_of(*state, "Retry-After: 17\r\n"), 17);
    assert_int_equal(retry_after_of(*state, "retry-after: 0\r\n"), 0);
    assert_int_equal(retry_after_of(*state, ""), -1);
    assert_int_equal(retry_after_of(*state, "Retry-After: Sat, 21 Nov 2026 10:00:00 GMT\r\n"), -1);
    assert_int_equal(retry_after_of(*state, "Retry-After: -3\r\n"), -1);
}

/* As some proxies write it. */
static void lines_may_end_without_a_carriage_return(void **state)
{
    const struct call call = fake_api_call(*state, fake_api_get("/a"));
    fake_api_write(call.connection, "HTTP/1.1 200 OK\nA: b\nContent-Length: 4\n\nbody");
    fake_api_expect_answer(call.box, 200, "body");
    (void)close(call.connection);
}

static void redirects_are_answers(void **state)
{
    const struct call call = fake_api_call(*state, fake_api_get("/a"));
    fake_api_write(call.connection,
                   "HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n");
    fake_api_expect_answer(call.box, 302, "");
    (void)close(call.connection);
}

static void a_refused_connection_is_not_sent(void **state)
{
    struct fake_api *api = *state;
    struct kube_request request = fake_api_post("/a", "{}");
    (void)close(api->listener);
    api->listener = -1;
    fake_api_expect_outcome(fake_api_ask(api, &request), KUBE_NOT_SENT, "connect");
}

static void a_failed_handshake_is_not_sent(void **state)
{
    struct fake_api *api = *state;
    struct kube_request request = fake_api_post("/a", "{}");
    struct box *box = fake_api_ask(api, &request);
    int connection = fake_api_accept(api->listener);
    fake_api_write(connection, "this is no TLS\r\n");
    fake_api_expect_outcome(box, KUBE_NOT_SENT, "SSL");
    (void)close(connection);
}

static void a_cut_before_the_answer_is_unknown(void **state)
{
    const struct call call = fake_api_call(*state, fake_api_post("/a", "{}"));
    (void)close(call.connection);
    fake_api_expect_outcome(call.box, KUBE_UNKNOWN, "mpty reply");
}

static void a_cut_in_the_answer_is_unknown(void **state)
{
    const struct call call = fake_api_call(*state, fake_api_post("/a", "{}"));
    fake_api_write(call.connection, "HTTP/1.1 201 Created\r\nContent-Length: 10\r\n\r\n12345");
    (void)close(call.connection);
    fake_api_expect_outcome(call.box, KUBE_UNKNOWN, "5 bytes");
}

static void no_answer_in_time_is_unknown(void **state)
{
    const struct call call = fake_api_call(*state, fake_api_post("/a", "{}"));
    fake_api_pass(*state, FAKE_API_TIMEOUT_MS);
    fake_api_expect_outcome(call.box, KUBE_UNKNOWN, FAKE_API_NO_ANSWER);
    fake_api_expect_closed(call.connection);
}

/* The server accepts the connection, but never starts TLS. */
static void no_connection_in_time_is_not_sent(void **state)
{
    struct fake_api *api = *state;
    struct kube_request request = fake_api_post("/a", "{}");
    struct box *box = fake_api_ask(api, &request);
    int connection = fake_api_accept(api->listener);
    fake_api_pass(api, FAKE_API_TIMEOUT_MS);
    fake_api_expect_outcome(box, KUBE_NOT_SENT, FAKE_API_NO_ANSWER);
    (void)close(connection);
}

static void a_too_large_answer_is_unknown(void **state)
{
    const struct call call = fake_api_call(*state, fake_api_get("/a"));
    char large[102];
    (void)snprintf(large, sizeof(large), "%0101d", 0);
    fake_api_answer(call.connection, 200, large);
    fake_api_expect_outcome(call.box, KUBE_UNKNOWN, "more than 100 bytes");
    fake_api_expect_closed(call.connection);
}

static void a_rejected_token_is_renewed(void **state)
{
    struct fake_api *api = *state;
    fake_credentials_renew_on_refusal(api->credentials, "Bearer second");
    const struct call call = fake_api_call(api, fake_api_post("/a", "{}"));
    fake_api_answer(call.connection, 401, "who?");
    char *text CLEANUP(mem_free_ptr) = fake_api_read(call.connection);
    expect_line(text, "\r\nAuthorization: Bearer second\r\n");
    fake_api_serve(&call, 201, "made");
    assert_int_equal(fake_credentials_n_refused(api->credentials), 1);
    (void)close(call.connection);
}

static void a_rejected_request_waits_for_a_newer_token(void **state)
{
    struct fake_api *api = *state;
    struct kube_request request = fake_api_get("/a"), other = fake_api_get("/b");
    struct box *box = fake_api_ask(api, &request);
    int connection = fake_api_take(api->listener, "GET /a ");
    fake_api_answer(connection, 401, "who?");
    fake_credentials_wait_refused(api->credentials, 1);
    struct box *box_b = fake_api_ask(api, &other); /* others do not wait with it */
    fake_api_expect(connection, "GET /b ");
    fake_api_answer(connection, 200, "b");
    fake_api_expect_answer(box_b, 200, "b");
    assert_false(box_is_filled(box));
    fake_credentials_renew(api->credentials, "Bearer second");
    kube_loop_wake(api->loop);
    fake_api_expect(connection, "GET /a ");
    fake_api_answer(connection, 200, "a");
    fake_api_expect_answer(box, 200, "a");
    (void)close(connection);
}

static void the_second_rejection_is_the_answer(void **state)
{
    struct fake_api *api = *state;
    struct kube_request request = fake_api_get("/a");
    fake_credentials_renew_on_refusal(api->credentials, "Bearer second");
    struct box *box = fake_api_ask(api, &request);
    int connection = fake_api_accept(api->listener);
    for (int i = 0; i < 2; i++) {
        fake_api_expect(connection, "GET /a ");
        fake_api_answer(connection, 401, "who?");
    }
    fake_api_expect_answer(box, 401, "who?");
    assert_int_equal(fake_credentials_n_refused(api->credentials), 1);
    (void)close(connection);
}

static void a_rejection_without_a_newer_token_is_the_answer(void **state)
{
    struct fake_api *api = *state;
    const struct call call = fake_api_call(api, fake_api_get("/a"));
    fake_api_answer(call.connection, 401, "who?");
    fake_credentials_wait_refused(api->credentials, 1);
    fake_api_pass(api, FAKE_API_TIMEOUT_MS);
    fake_api_expect_answer(call.box, 401, "the API server refused the token of a test");
    (void)close(call.connection);
}

/* The connection's certificate may be rejected, and the file may contain another by now. */
static void a_rejection_retires_open_connections(void **state)
{
    struct fake_api *api = *state;
    struct kube_request request = fake_api_get("/a");
    struct box *box = fake_api_ask(api, &request);
    int connection = fake_api_take(api->listener, "GET /a ");
    fake_api_answer(connection, 401, "who?");
    fake_credentials_wait_refused(api->credentials, 1);
    fake_api_pass(api, FAKE_API_TIMEOUT_MS);
    fake_api_expect_answer(box, 401, "the API server refused the token of a test");
    box = fake_api_ask(api, &request);
    fake_api_expect_closed(connection);
    connection = fake_api_take(api->listener, "GET /a ");
    fake_api_answer(connection, 200, "you");
    fake_api_expect_answer(box, 200, "you");
    (void)close(connection);
}

static void many_requests_run_in_parallel(void **state)
{
    struct fake_api *api = *state;
    struct kube_request request = fake_api_post("/a", "{}");
    struct box *boxes[MANY];
    int connections[MANY];
    for (int i = 0; i < MANY; i++)
        boxes[i] = fake_api_ask(api, &request);
    for (int i = 0; i < MANY; i++) {
        connections[i] = fake_api_take(api->listener, "POST /a ");
    }
    for (int i = 0; i < MANY; i++)
        fake_api_answer(connections[i], 201, "made");
    for (int i = 0; i < MANY; i++)
        fake_api_expect_answer(boxes[i], 201, "made");
    for (int i = 0; i < MANY; i++)
        (void)close(connections[i]);
}

/* An idle open connection. */
static int idle_connection(struct fake_api *api)
{
    const struct call call = fake_api_call(api, fake_api_get("/idle"));
    fake_api_serve(&call, 200, "");
    return call.connection;
}

static void a_write_is_not_sent_twice(void **state)
{
    struct fake_api *api = *state;
    struct kube_request request = fake_api_post("/a", "{}");
    int connection = idle_connection(api);
    struct box *box = fake_api_ask(api, &request);
    fake_api_expect(connection, "POST /a ");
    (void)close(connection);
    fake_api_expect_outcome(box, KUBE_UNKNOWN, "closed before the answer");
}

/* Asked again on another connection after the first ends without an answer. */
static void check_asked_again(struct fake_api *api, const struct kube_request *request,
                              const char *line)
{
    int connection = idle_connection(api);
    struct box *box = fake_api_ask(api, request);
    fake_api_expect(connection, line);
    (void)close(connection);
    connection = fake_api_take(api->listener, line);
    fake_api_answer(connection, 200, "a");
    fake_api_expect_answer(box, 200, "a");
    (void)close(connection);
}

static void a_read_is_retried(void **state)
{
    struct fake_api *api = *state;
    struct kube_request request = fake_api_get("/a");
    check_asked_again(api, &request, "GET /a ");
}

static void a_read_only_post_is_retried(void **state)
{
    struct fake_api *api = *state;
    struct kube_request request = fake_api_post("/a", "{}");
    request.only_asks = true;
    check_asked_again(api, &request, "POST /a ");
}

static void a_fresh_request_retires_open_connections(void **state)
{
    struct fake_api *api = *state;
    struct kube_request slow = fake_api_get("/slow"), fresh = fake_api_get("/fresh");
    fresh.fresh = true;
    int connection = idle_connection(api);
    struct box *box = fake_api_ask(api, &slow);
    fake_api_expect(connection, "GET /slow ");
    struct box *box_fresh = fake_api_ask(api, &fresh);
    int newer = fake_api_take(api->listener, "GET /fresh ");
    fake_api_answer(newer, 200, "f");
    fake_api_expect_answer(box_fresh, 200, "f");
    fake_api_answer(connection, 200, "s"); /* may still end there */
    fake_api_expect_answer(box, 200, "s");
    fake_api_expect_closed(connection);
    fresh.fresh = false;
    box = fake_api_ask(api, &fresh);
    fake_api_expect(newer, "GET /fresh ");
    fake_api_answer(newer, 200, "again");
    fake_api_expect_answer(box, 200, "again");
    (void)close(newer);
}

static void a_timeout_retires_open_connections(void **state)
{
    struct fake_api *api = *state;
    struct kube_request slow = fake_api_get("/slow"), late = fake_api_get("/late");
    slow.timeout_ms = 2 * FAKE_API_TIMEOUT_MS;
    int connection = idle_connection(api);
    struct box *box = fake_api_ask(api, &slow);
    fake_api_expect(connection, "GET /slow ");
    struct box *box_late = fake_api_ask(api, &late);
    int other = fake_api_take(api->listener, "GET /late ");
    fake_api_pass(api, FAKE_API_TIMEOUT_MS);
    fake_api_expect_outcome(box_late, KUBE_UNKNOWN, FAKE_API_NO_ANSWER);
    fake_api_expect_closed(other);
    fake_api_answer(connection, 200, "s");
    fake_api_expect_answer(box, 200, "s");
    fake_api_expect_closed(connection);
}

/* Its own connection is closed; the other stays in use. */
static void a_timeout_of_a_read_only_post_retires_nothing(void **state)
{
    struct fake_api *api = *state;
    struct kube_request slow = fake_api_get("/slow"), late = fake_api_post("/late", "{}");
    slow.timeout_ms = 2 * FAKE_API_TIMEOUT_MS;
    late.only_asks = true;
    int connection = idle_connection(api);
    struct box *box = fake_api_ask(api, &slow);
    fake_api_expect(connection, "GET /slow ");
    struct box *box_late = fake_api_ask(api, &late);
    int other = fake_api_take(api->listener, "POST /late ");
    fake_api_pass(api, FAKE_API_TIMEOUT_MS);
    fake_api_expect_outcome(box_late, KUBE_UNKNOWN, FAKE_API_NO_ANSWER);
    fake_api_expect_closed(other);
    fake_api_answer(connection, 200, "s");
    fake_api_expect_answer(box, 200, "s");
    box = fake_api_ask(api, &slow);
    fake_api_expect(connection, "GET /slow ");
    fake_api_answer(connection, 200, "again");
    fake_api_expect_answer(box, 200, "again");
    (void)close(connection);
}

struct second {
    struct fake_api *api;
    struct box *first, *second;
};

static void ask_again(void *context, const struct kube_answer *answer)
{
    struct second *second = context;
    struct kube_request request = fake_api_post("/again", "{}");
    box_done(second->first, answer);
    second->api->sender.send(second->api->sender.sender, &request, box_done, second->second);
}

static void a_stop_answers_requests_in_flight(void **state)
{
    struct fake_api *api = *state;
    struct kube_request request = fake_api_post("/a", "{}");
    struct second second = {api, box_new(), box_new()};
    api->sender.send(api->sender.sender, &request, ask_again, &second);
    int connection = fake_api_take(api->listener, "POST /a ");
    kube_loop_stop(api->loop);
    assert_true(box_is_filled(second.first));
    assert_true(box_is_filled(second.second));
    fake_api_expect_outcome(second.first, KUBE_UNKNOWN, "stops");
    fake_api_expect_outcome(second.second, KUBE_NOT_SENT, "stops");
    (void)close(connection);
}

static void a_loop_that_never_started_answers_too(void **state)
{
    (void)state;
    struct fake_api api;
    struct kube_request request = fake_api_post("/a", "{}");
    fake_api_open(&api, "http");
    struct box *box = fake_api_ask(&api, &request);
    assert_false(box_is_filled(box));
    fake_api_close(&api);
    fake_api_expect_outcome(box, KUBE_NOT_SENT, "stops");
}

static int open_scheme(void **state, const char *scheme)
{
    struct fake_api *api = MEM_NEW(struct fake_api);
    fake_api_open(api, scheme);
    fake_api_start(api);
    *state = api;
    return 0;
}

static int open_plain(void **state)
{
    return open_scheme(state, "http");
}

static int open_tls(void **state)
{
    return open_scheme(state, "https");
}

static int close_api(void **state)
{
    fake_api_close(*state);
    free(*state);
    return 0;
}

static void without_descriptors_there_is_no_loop(void **state)
{
    const struct fake_api *api = *state;
    const struct kube_loop_settings settings = {.name = "test", .max_answer_bytes = 100};
    struct kube_loop *loop = NULL;
    struct err err = {.text = ""};
    struct rlimit before;
    assert_return_code(getrlimit(RLIMIT_NOFILE, &before), errno);
    const struct rlimit none = {.rlim_cur = 0, .rlim_max = before.rlim_max};
    assert_return_code(setrlimit(RLIMIT_NOFILE, &none), errno);
    const int r = kube_loop_new(&settings, &api->target, api->credentials, &loop, &err);
    assert_return_code(setrlimit(RLIMIT_NOFILE, &before), errno);
    assert_int_equal(r, -EMFILE);
    assert_string_equal(err.text, "no descriptor to wait for the API server with: Too many open "
                                  "files");
    assert_null(loop);
}

#define PLAIN(test) cmocka_unit_test_setup_teardown(test, open_plain, close_api)
#define TLS(test) cmocka_unit_test_setup_teardown(test, open_tls, close_api)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAIN(a_get_is_answered),
        PLAIN(without_descriptors_there_is_no_loop),
        PLAIN(a_post_carries_its_body),
        PLAIN(a_connection_is_used_again),
        PLAIN(retry_after_is_reported_in_seconds),
        PLAIN(lines_may_end_without_a_carriage_return),
        PLAIN(redirects_are_answers),
        PLAIN(a_refused_connection_is_not_sent),
        TLS(a_failed_handshake_is_not_sent),
        PLAIN(a_cut_before_the_answer_is_unknown),
        PLAIN(a_cut_in_the_answer_is_unknown),
        PLAIN(no_answer_in_time_is_unknown),
        TLS(no_connection_in_time_is_not_sent),
        PLAIN(a_too_large_answer_is_unknown),
        PLAIN(a_rejected_token_is_renewed),
        PLAIN(a_rejected_request_waits_for_a_newer_token),
        PLAIN(the_second_rejection_is_the_answer),
        PLAIN(a_rejection_without_a_newer_token_is_the_answer),
        PLAIN(a_rejection_retires_open_connections),
        PLAIN(many_requests_run_in_parallel),
        PLAIN(a_write_is_not_sent_twice),
        PLAIN(a_read_is_retried),
        PLAIN(a_read_only_post_is_retried),
        PLAIN(a_fresh_request_retires_open_connections),
        PLAIN(a_timeout_retires_open_connections),
        PLAIN(a_timeout_of_a_read_only_post_retires_nothing),
        PLAIN(a_stop_answers_requests_in_flight),
        cmocka_unit_test(a_loop_that_never_started_answers_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
