/* Ends of connections: an abandoned write must not arrive later, when others rely on its never
 * having taken effect. */
#include "fake_api.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

/* Waits for the end. Returns whether it was a reset, which drops unsent data. */
static bool ends_with_a_reset(int connection)
{
    char byte;
    ssize_t n = recv(connection, &byte, 1, 0);
    if (n > 0 || (n < 0 && errno != ECONNRESET))
        fail_msg("it has not ended: %zd", n);
    (void)close(connection);
    return n < 0;
}

static void an_abandoned_write_is_aborted(void **state)
{
    const struct call call = fake_api_call(*state, fake_api_post("/a", "{}"));
    fake_api_pass(*state, FAKE_API_TIMEOUT_MS);
    fake_api_expect_outcome(call.box, KUBE_UNKNOWN, FAKE_API_NO_ANSWER);
    assert_true(ends_with_a_reset(call.connection));
}

static void a_write_unanswered_at_a_stop_is_aborted(void **state)
{
    struct fake_api *api = *state;
    const struct call call = fake_api_call(api, fake_api_post("/a", "{}"));
    kube_loop_stop(api->loop);
    fake_api_expect_outcome(call.box, KUBE_UNKNOWN, "the service stops");
    assert_true(ends_with_a_reset(call.connection));
}

static void an_answered_request_closes_normally(void **state)
{
    struct fake_api *api = *state;
    struct kube_request request = fake_api_post("/a", "{}");
    struct box *box = fake_api_ask(api, &request);
    int connection = fake_api_take(api->listener, "POST /a ");
    fake_api_answer(connection, 201, "made");
    fake_api_expect_answer(box, 201, "made");
    request = fake_api_get("/fresh");
    request.fresh = true;
    box = fake_api_ask(api, &request);
    assert_false(ends_with_a_reset(connection));
    connection = fake_api_take(api->listener, "GET /fresh ");
    fake_api_answer(connection, 200, "f");
    fake_api_expect_answer(box, 200, "f");
    (void)close(connection);
}

/* As after a pause of the process that used up the request's time. */
static void a_request_without_time_left_is_not_sent(void **state)
{
    struct fake_api *api = *state;
    struct kube_request late = fake_api_post("/late", "{}");
    late.timeout_ms = 0;
    fake_api_expect_outcome(fake_api_ask(api, &late), KUBE_NOT_SENT,
                            "the deadline passed before the request was sent");
    const struct call call = fake_api_call(api, fake_api_get("/other"));
    fake_api_serve(&call, 200, "");
    (void)close(call.connection);
}

static bool may_not_leave(void *context, int64_t now_ms)
{
    int *n_asked = context;
    (void)now_ms;
    (*n_asked)++;
    return false;
}

/* As after a pause of the process during which another replica began to lead; with a new and with
 * an existing connection. */
static void a_request_no_longer_allowed_is_not_sent(void **state)
{
    struct fake_api *api = *state;
    int n_asked = 0;
    struct kube_request kept = fake_api_post("/kept", "{}");
    kept.may_leave = may_not_leave;
    kept.may_leave_context = &n_asked;
    fake_api_expect_outcome(fake_api_ask(api, &kept), KUBE_NOT_SENT,
                            "the request was no longer allowed");
    assert_int_equal(n_asked, 1);
    fake_api_expect_closed(fake_api_accept(api->listener));

    struct kube_request other = fake_api_get("/other");
    const struct call call = fake_api_call(api, other);
    fake_api_serve(&call, 200, "");
    fake_api_expect_outcome(fake_api_ask(api, &kept), KUBE_NOT_SENT,
                            "the request was no longer allowed");
    assert_int_equal(n_asked, 2);
    fake_api_expect_closed(call.connection);
}

/* TCP_USER_TIMEOUT of our end of the connection, whose other end the test holds. */
static unsigned given_up_after_ms(int connection)
{
    struct sockaddr_in wanted = {0};
    struct sockaddr_in peer = {0};
    socklen_t size = sizeof wanted;
    unsigned timeout_ms = 0;
    assert_int_equal(getpeername(connection, (struct sockaddr *)&wanted, &size), 0);
    for (int fd = 3; fd < 1024; fd++) {
        size = sizeof peer;
        if (getsockname(fd, (struct sockaddr *)&peer, &size) < 0 || peer.sin_family != AF_INET ||
            peer.sin_port != wanted.sin_port)
            continue;
        size = sizeof timeout_ms;
        assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout_ms, &size), 0);
        return timeout_ms;
    }
    fail_msg("no socket of ours has that port");
    return 0;
}

/* The kernel keeps sending for a paused process. */
static void the_kernel_abandons_an_unacknowledged_request(void **state)
{
    const struct call call = fake_api_call(*state, fake_api_post("/a", "{}"));
    assert_int_equal(given_up_after_ms(call.connection), FAKE_API_UNACKED_MS);
    fake_api_serve(&call, 201, "");
    (void)close(call.connection);
}

static int set_up(void **state)
{
    static struct fake_api api;
    fake_api_open(&api, "http");
    fake_api_start(&api);
    *state = &api;
    return 0;
}

static int tear_down(void **state)
{
    fake_api_close(*state);
    return 0;
}

#define WITH_DESK(test) cmocka_unit_test_setup_teardown((test), set_up, tear_down)

/* Handshakes take time: if all started at once, none would finish in time. This server answers
 * none. */
static void few_connect_at_a_time(void **state)
{
    enum { N_REQUESTS = 40, N_AT_A_TIME = 8 };
    (void)state;
    struct fake_api api;
    struct box *boxes[N_REQUESTS];
    fake_api_open(&api, "https");
    fake_api_start(&api);
    struct kube_request request = fake_api_get("/a");
    for (size_t i = 0; i < N_REQUESTS; i++)
        boxes[i] = fake_api_ask(&api, &request);
    int connections[N_AT_A_TIME];
    for (size_t i = 0; i < N_AT_A_TIME; i++)
        connections[i] = fake_api_accept(api.listener);
    fake_api_pass(&api, FAKE_API_TIMEOUT_MS);
    for (size_t i = 0; i < N_REQUESTS; i++)
        fake_api_expect_outcome(boxes[i], KUBE_NOT_SENT, FAKE_API_NO_ANSWER);
    assert_int_equal(fcntl(api.listener, F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(accept4(api.listener, NULL, NULL, SOCK_CLOEXEC), -1);
    for (size_t i = 0; i < N_AT_A_TIME; i++)
        (void)close(connections[i]);
    fake_api_close(&api);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_DESK(an_abandoned_write_is_aborted),
        WITH_DESK(a_write_unanswered_at_a_stop_is_aborted),
        WITH_DESK(an_answered_request_closes_normally),
        WITH_DESK(a_request_without_time_left_is_not_sent),
        WITH_DESK(the_kernel_abandons_an_unacknowledged_request),
        WITH_DESK(a_request_no_longer_allowed_is_not_sent),
        cmocka_unit_test(few_connect_at_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
