/* fake_api: see fake_api.h. */
#include "fake_api.h"

#include "base/buf.h"
#include "base/mem.h"
#include "fake_credentials.h"
#include "hand_clock.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_S 600
#define REQUEST_MAX_BYTES 65536

static void limit_waits(int fd)
{
    const struct timeval limit = {.tv_sec = PATIENCE_S};
    assert_return_code(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)), errno);
}

int fake_api_listen(int *ret_port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_return_code(listener, errno);
    assert_return_code(bind(listener, (struct sockaddr *)&address, len), errno);
    assert_return_code(listen(listener, 512), errno);
    assert_return_code(getsockname(listener, (struct sockaddr *)&address, &len), errno);
    limit_waits(listener);
    *ret_port = ntohs(address.sin_port);
    return listener;
}

int fake_api_accept(int listener)
{
    int connection = accept(listener, NULL, NULL);
    if (connection < 0)
        fail_msg("no connection came: %s", strerror(errno));
    limit_waits(connection);
    return connection;
}

/* Bytes missing after the header of a request; -1: the header is incomplete. */
static long missing_bytes(const struct buf *text)
{
    const char *end = strstr(buf_text(text), "\r\n\r\n");
    if (!end)
        return -1;
    const char *length = strcasestr(buf_text(text), "\r\nContent-Length: ");
    long body = length && length < end ? strtol(length + 18, NULL, 10) : 0;
    return body - (long)(text->len - (size_t)(end + 4 - buf_text(text)));
}

char *fake_api_read(int connection)
{
    struct buf text CLEANUP(buf_fini);
    buf_init(&text, REQUEST_MAX_BYTES);
    while (missing_bytes(&text) != 0) {
        char piece[1];
        ssize_t n = recv(connection, piece, sizeof(piece), 0);
        if (n < 0 && errno != ECONNRESET)
            fail_msg("no request came: %s", strerror(errno));
        if (n <= 0)
            return NULL;
        buf_add(&text, piece, (size_t)n);
        assert_false(text.overflowed);
    }
    return buf_take(&text);
}

void fake_api_expect(int connection, const char *begin)
{
    char *request CLEANUP(mem_free_ptr) = fake_api_read(connection);
    assert_non_null(request);
    request[strnlen(request, strlen(begin))] = '\0';
    assert_string_equal(request, begin);
}

int fake_api_take(int listener, const char *begin)
{
    const int connection = fake_api_accept(listener);
    fake_api_expect(connection, begin);
    return connection;
}

void fake_api_write(int connection, const char *text)
{
    size_t len = strlen(text);
    assert_int_equal(send(connection, text, len, MSG_NOSIGNAL), len);
}

void fake_api_answer(int connection, int status, const char *body)
{
    char *text CLEANUP(mem_free_ptr) = NULL;
    assert_true(asprintf(&text, "HTTP/1.1 %d Text\r\nContent-Length: %zu\r\n\r\n%s", status,
                         strlen(body), body) > 0);
    fake_api_write(connection, text);
}

void fake_api_expect_closed(int connection)
{
    char *request CLEANUP(mem_free_ptr) = fake_api_read(connection);
    assert_null(request);
    assert_return_code(close(connection), errno);
}

void fake_api_open(struct fake_api *api, const char *scheme)
{
    const struct kube_loop_settings settings = {
        .name = "test", .max_answer_bytes = 100, .unacked_ms = FAKE_API_UNACKED_MS};
    struct err err;
    *api = (struct fake_api){0};
    api->listener = fake_api_listen(&api->port);
    assert_true(asprintf(&api->target.server, "%s://127.0.0.1:%d", scheme, api->port) > 0);
    api->credentials = fake_credentials_new("Bearer first");
    assert_return_code(kube_loop_new(&settings, &api->target, api->credentials, &api->loop, &err),
                       EIO);
    api->sender = kube_loop_sender(api->loop);
}

void fake_api_start(struct fake_api *api)
{
    struct err err;
    assert_return_code(kube_loop_start(api->loop, &err), EAGAIN);
}

void fake_api_close(struct fake_api *api)
{
    kube_loop_stop(api->loop);
    kube_loop_free(api->loop);
    fake_credentials_free(api->credentials);
    free(api->target.server);
    if (api->listener >= 0)
        assert_return_code(close(api->listener), errno);
}

struct box {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    bool is_filled;
    struct kube_answer answer;
};

struct box *box_new(void)
{
    struct box *box = MEM_NEW(struct box);
    (void)pthread_mutex_init(&box->lock, NULL);
    (void)pthread_cond_init(&box->filled, NULL);
    return box;
}

void box_free(struct box *box)
{
    free((void *)(uintptr_t)box->answer.body);
    free((void *)(uintptr_t)box->answer.why);
    (void)pthread_mutex_destroy(&box->lock);
    (void)pthread_cond_destroy(&box->filled);
    free(box);
}

void box_done(void *context, const struct kube_answer *answer)
{
    struct box *box = context;
    (void)pthread_mutex_lock(&box->lock);
    if (box->is_filled)
        fail_msg("answered twice");
    box->is_filled = true;
    box->answer = *answer;
    box->answer.body = mem_strdup(answer->body);
    box->answer.why = mem_strdup(answer->why);
    (void)pthread_cond_signal(&box->filled);
    (void)pthread_mutex_unlock(&box->lock);
}

const struct kube_answer *box_wait(struct box *box)
{
    struct timespec end;
    (void)clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += PATIENCE_S;
    int code = 0;
    (void)pthread_mutex_lock(&box->lock);
    while (!box->is_filled && code == 0)
        code = pthread_cond_timedwait(&box->filled, &box->lock, &end);
    (void)pthread_mutex_unlock(&box->lock);
    if (code != 0)
        fail_msg("no answer came");
    return &box->answer;
}

bool box_is_filled(struct box *box)
{
    (void)pthread_mutex_lock(&box->lock);
    bool is_filled = box->is_filled;
    (void)pthread_mutex_unlock(&box->lock);
    return is_filled;
}

/* The loop takes requests in their order, and ends one without time left as soon as it takes it. */
static void wait_until_all_taken(struct fake_api *api)
{
    struct kube_request last = fake_api_get("/last");
    last.timeout_ms = 0;
    struct box *box = fake_api_ask(api, &last);
    assert_int_equal(box_wait(box)->outcome, KUBE_NOT_SENT);
    box_free(box);
}

void fake_api_pass(struct fake_api *api, int64_t ms)
{
    wait_until_all_taken(api);
    hand_clock_pass(ms);
    kube_loop_wake(api->loop);
}

struct kube_request fake_api_get(const char *path)
{
    return (struct kube_request){.method = "GET", .path = path, .timeout_ms = FAKE_API_TIMEOUT_MS};
}

struct kube_request fake_api_post(const char *path, const char *body)
{
    return (struct kube_request){.method = "POST",
                                 .path = path,
                                 .body = body,
                                 .body_len = strlen(body),
                                 .timeout_ms = FAKE_API_TIMEOUT_MS};
}

struct box *fake_api_ask(struct fake_api *api, const struct kube_request *request)
{
    struct box *box = box_new();
    api->sender.send(api->sender.sender, request, box_done, box);
    return box;
}

struct call fake_api_call(struct fake_api *api, struct kube_request request)
{
    char *begin CLEANUP(mem_free_ptr) = NULL;
    struct call call = {.box = fake_api_ask(api, &request)};
    assert_true(asprintf(&begin, "%s %s ", request.method, request.path) > 0);
    call.connection = fake_api_take(api->listener, begin);
    return call;
}

void fake_api_serve(const struct call *call, int status, const char *body)
{
    fake_api_answer(call->connection, status, body);
    fake_api_expect_answer(call->box, (unsigned)status, body);
}

void fake_api_expect_answer(struct box *box, unsigned status, const char *body)
{
    const struct kube_answer *answer = box_wait(box);
    assert_string_equal(answer->why, "");
    assert_int_equal(answer->outcome, KUBE_ANSWERED);
    assert_int_equal(answer->status, status);
    assert_string_equal(answer->body, body);
    assert_int_equal(answer->body_len, strlen(body));
    assert_true(answer->at_ms > 0);
    box_free(box);
}

void fake_api_expect_outcome(struct box *box, enum kube_outcome outcome, const char *why)
{
    const struct kube_answer *answer = box_wait(box);
    if (!strstr(answer->why, why))
        fail_msg("why: %s", answer->why);
    assert_int_equal(answer->outcome, outcome);
    assert_string_equal(answer->body, "");
    assert_null(strchr(answer->why, '\n'));
    box_free(box);
}
