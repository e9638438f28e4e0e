/* Streams and tasks of a loop: pieces passed on as they come, time-outs between them, cancelling
 * from any thread, and times of task calls. */
#include "base/clock.h"
#include "base/mem.h"
#include "fake_api.h"
#include "fake_credentials.h"
#include "hand_clock.h"
#include "journal.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Opens one stream in the first call, and waits. */
struct opener {
    struct fake_api api;
    struct journal *journal;
    struct kube_request request;
    struct kube_stream *stream;
    int calls;
    int cancel_at;          /* cancelled in the handler of this event; 0: none */
    atomic_bool is_no_more; /* the task has to cancel it */
    int looks;              /* limit of looks recorded */
    size_t n_bytes;
    atomic_bool holds, released; /* the head's handler blocks until released */
};

static void tell(struct opener *opener, const char *what, long long number, const char *text)
{
    journal_add(opener->journal, "%s %lld%s", what, number, text);
    if (--opener->cancel_at == 0)
        kube_stream_cancel(opener->stream);
}

static void on_refused(void *context, const char *why)
{
    struct opener *opener = context;
    journal_add(opener->journal, "refused: %s", why);
}

static void on_head(void *context, int64_t now_ms, unsigned status, int64_t retry_after_s)
{
    const struct opener *opener = context;
    assert_true(now_ms <= clock_ms());
    tell(context, "head", status, retry_after_s < 0 ? "" : " later");
    while (atomic_load(&opener->holds) && !atomic_load(&opener->released))
        (void)usleep(1000);
}

static void on_bytes(void *context, int64_t now_ms, const char *bytes, size_t len)
{
    assert_true(now_ms <= clock_ms());
    char *text CLEANUP(mem_free_ptr) = mem_strndup(bytes, len);
    tell(context, "bytes:", (long long)len, text);
}

static void on_end(void *context, int64_t now_ms, enum kube_outcome outcome, const char *why)
{
    static const char *const OUTCOMES[] = {"answered", "not sent", "unknown"};
    struct opener *opener = context;
    assert_true(now_ms <= clock_ms());
    journal_add(opener->journal, "end %s%s%s", OUTCOMES[outcome], *why ? ": " : "", why);
    opener->stream = NULL;
}

static void count_bytes(void *context, int64_t now_ms, const char *bytes, size_t len)
{
    struct opener *opener = context;
    (void)now_ms;
    (void)bytes;
    opener->n_bytes += len;
}

static void on_drained(void *context, int64_t now_ms)
{
    struct opener *opener = context;
    assert_true(now_ms <= clock_ms());
    if (opener->looks-- > 0)
        journal_add(opener->journal, "drained at %zu", opener->n_bytes);
}

static int64_t open_looked_at(void *context, int64_t now_ms)
{
    struct opener *opener = context;
    const struct kube_stream_handler handler = {on_refused, on_head,    count_bytes,
                                                on_end,     on_drained, opener};
    (void)now_ms;
    if (opener->calls++ == 0)
        opener->stream = kube_stream_open(opener->api.loop, &opener->request, &handler);
    return CLOCK_NEVER;
}

static int64_t open_once(void *context, int64_t now_ms)
{
    struct opener *opener = context;
    const struct kube_stream_handler handler = {on_refused, on_head, on_bytes,
                                                on_end,     NULL,    opener};
    (void)now_ms;
    if (opener->calls++ == 0)
        opener->stream = kube_stream_open(opener->api.loop, &opener->request, &handler);
    if (opener->stream && atomic_load(&opener->is_no_more)) {
        kube_stream_cancel(opener->stream);
        opener->stream = NULL;
        journal_add(opener->journal, "cancelled");
    }
    return CLOCK_NEVER;
}

static int open_streams(void **state)
{
    struct opener *opener = MEM_NEW(struct opener);
    fake_api_open(&opener->api, "http");
    opener->journal = journal_new();
    opener->request = fake_api_get("/watch");
    kube_loop_add_task(opener->api.loop, open_once, opener);
    *state = opener;
    return 0;
}

static int open_looked_at_streams(void **state)
{
    struct opener *opener = MEM_NEW(struct opener);
    fake_api_open(&opener->api, "http");
    opener->journal = journal_new();
    opener->request = fake_api_get("/watch");
    kube_loop_add_task(opener->api.loop, open_looked_at, opener);
    *state = opener;
    return 0;
}

static int close_streams(void **state)
{
    struct opener *opener = *state;
    fake_api_close(&opener->api);
    journal_free(opener->journal);
    free(opener);
    return 0;
}

/* Starts the loop; the request has arrived. */
static int begin(struct opener *opener)
{
    fake_api_start(&opener->api);
    int connection = fake_api_take(opener->api.listener, "GET /watch ");
    return connection;
}

static int begin_with_head(struct opener *opener)
{
    int connection = begin(opener);
    fake_api_write(connection, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    journal_wait(opener->journal, "head 200");
    return connection;
}

static void pieces_are_delivered_as_received(void **state)
{
    struct opener *opener = *state;
    int connection = begin_with_head(opener);
    fake_api_write(connection, "2\r\nab\r\n");
    journal_wait(opener->journal, "bytes: 2ab");
    fake_api_write(connection, "3\r\ncde\r\n");
    journal_wait(opener->journal, "bytes: 3cde");
    fake_api_write(connection, "0\r\n\r\n");
    journal_wait(opener->journal, "end answered");
    journal_expect(opener->journal, "head 200, bytes: 2ab, bytes: 3cde, end answered");
    (void)close(connection);
}

static void a_cut_stream_has_an_unknown_outcome(void **state)
{
    struct opener *opener = *state;
    int connection = begin_with_head(opener);
    fake_api_write(connection, "5\r\nab");
    journal_wait(opener->journal, "bytes: 2ab");
    (void)close(connection);
    journal_wait(opener->journal,
                 "end unknown: transfer closed with outstanding read data remaining");
}

/* libcurl buffers all of it. */
static void the_trailer_is_bounded(void **state)
{
    struct opener *opener = *state;
    char line[1024];
    (void)snprintf(line, sizeof line, "X-Trailer: %01010d\r\n", 0);
    int connection = begin_with_head(opener);
    fake_api_write(connection, "2\r\nab\r\n0\r\n");
    for (int i = 0; i < 63; i++)
        fake_api_write(connection, line);
    journal_wait(opener->journal, "bytes: 2ab");
    fake_api_write(connection, line);
    fake_api_write(connection, line);
    journal_wait(opener->journal, "end unknown: the trailer after the body is over 64 KiB");
    fake_api_expect_closed(connection);
}

static void a_watch_may_stay_silent(void **state)
{
    struct opener *opener = *state;
    int connection = begin_with_head(opener);
    const struct call other = fake_api_call(&opener->api, fake_api_get("/other"));
    fake_api_pass(&opener->api, FAKE_API_TIMEOUT_MS);
    fake_api_expect_outcome(other.box, KUBE_UNKNOWN, FAKE_API_NO_ANSWER);
    journal_expect(opener->journal, "head 200");
    fake_api_write(connection, "2\r\nab\r\n");
    journal_wait(opener->journal, "bytes: 2ab");
    (void)close(connection);
    (void)close(other.connection);
}

static void a_silent_list_times_out(void **state)
{
    struct opener *opener = *state;
    opener->request.idle_ms = 2000;
    int connection = begin_with_head(opener);
    fake_api_write(connection, "2\r\nab\r\n");
    journal_wait(opener->journal, "bytes: 2ab");
    fake_api_pass(&opener->api, 2000);
    journal_wait(opener->journal, "end unknown: nothing came in 2000 ms");
    fake_api_expect_closed(connection);
}

static void no_head_in_time_is_unknown(void **state)
{
    struct opener *opener = *state;
    opener->request.idle_ms = 50;
    int connection = begin(opener);
    fake_api_pass(&opener->api, FAKE_API_TIMEOUT_MS);
    journal_wait(opener->journal, "end unknown: " FAKE_API_NO_ANSWER);
    fake_api_expect_closed(connection);
}

static void a_rejected_token_is_renewed_unseen(void **state)
{
    struct opener *opener = *state;
    fake_credentials_renew_on_refusal(opener->api.credentials, "Bearer second");
    int connection = begin(opener);
    fake_api_answer(connection, 401, "who?");
    fake_api_expect(connection, "GET /watch ");
    fake_api_answer(connection, 200, "ab");
    journal_wait(opener->journal, "end answered");
    journal_expect(opener->journal, "head 200, bytes: 2ab, end answered");
    (void)close(connection);
}

/* Once, however often it is checked. */
static void a_rejected_token_without_renewal_is_reported_at_once(void **state)
{
    struct opener *opener = *state;
    int connection = begin(opener);
    fake_api_answer(connection, 401, "who?");
    journal_wait(opener->journal, "refused: the API server refused the token of a test");
    kube_loop_wake(opener->api.loop);
    kube_loop_wake(opener->api.loop);
    fake_credentials_renew(opener->api.credentials, "Bearer second");
    kube_loop_wake(opener->api.loop);
    fake_api_expect(connection, "GET /watch ");
    fake_api_answer(connection, 200, "ab");
    journal_wait(opener->journal, "end answered");
    journal_expect(opener->journal, "refused: the API server refused the token of a test, "
                                    "head 200, bytes: 2ab, end answered");
    (void)close(connection);
}

static void cancelled_at(struct opener *opener, int event, const char *told)
{
    opener->cancel_at = event;
    int connection = begin(opener);
    fake_api_write(connection, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab");
    fake_api_expect_closed(connection);
    journal_expect(opener->journal, told);
}

static void a_head_may_cancel(void **state)
{
    cancelled_at(*state, 1, "head 200");
}

static void a_piece_may_cancel(void **state)
{
    cancelled_at(*state, 2, "head 200, bytes: 2ab");
}

static void a_task_may_cancel(void **state)
{
    struct opener *opener = *state;
    int connection = begin_with_head(opener);
    atomic_store(&opener->is_no_more, true);
    kube_loop_wake(opener->api.loop);
    fake_api_expect_closed(connection);
    journal_expect(opener->journal, "head 200, cancelled");
}

static void a_stop_ends_a_stream_without_an_event(void **state)
{
    struct opener *opener = *state;
    int connection = begin_with_head(opener);
    kube_loop_stop(opener->api.loop);
    journal_expect(opener->journal, "head 200");
    (void)close(connection);
}

static void a_fresh_request_leaves_the_stream_open(void **state)
{
    struct opener *opener = *state;
    int connection = begin_with_head(opener);
    struct kube_request fresh = fake_api_get("/fresh");
    fresh.fresh = true;
    struct box *box = fake_api_ask(&opener->api, &fresh);
    int newer = fake_api_take(opener->api.listener, "GET /fresh ");
    fake_api_answer(newer, 200, "f");
    fake_api_expect_answer(box, 200, "f");
    fake_api_write(connection, "2\r\nab\r\n0\r\n\r\n");
    journal_wait(opener->journal, "end answered");
    fake_api_expect_closed(connection);
    (void)close(newer);
}

/* More is in the socket than libcurl reads at once. */
static void a_stream_is_drained_when_all_received_bytes_are_delivered(void **state)
{
    static char chunk[300000 + 20];
    const int n = snprintf(chunk, sizeof chunk, "%x\r\n%0300000d\r\n", 300000U, 0);
    struct opener *opener = *state;
    opener->looks = 1;
    atomic_store(&opener->holds, true);
    int connection = begin_with_head(opener);
    assert_true(n > 0 && (size_t)n < sizeof chunk);
    fake_api_write(connection, chunk);
    atomic_store(&opener->released, true);
    journal_wait(opener->journal, "drained at 300000");
    journal_expect(opener->journal, "head 200, drained at 300000");
    (void)close(connection);
}

static void a_quiet_stream_is_polled_repeatedly(void **state)
{
    struct opener *opener = *state;
    opener->looks = 3;
    int connection = begin(opener);
    fake_api_write(connection, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    journal_wait(opener->journal, "head 200, drained at 0, drained at 0, drained at 0");
    (void)close(connection);
}

#define TICK_MS 50

struct ticker {
    struct journal *journal;
    int calls;
    int64_t due_ms;
};

/* Requests two more calls, one after the other; then none. */
static int64_t tick(void *context, int64_t now_ms)
{
    struct ticker *ticker = context;
    assert_true(now_ms >= ticker->due_ms);
    journal_add(ticker->journal, "call %d", ++ticker->calls);
    ticker->due_ms = ticker->calls < 3 ? now_ms + TICK_MS : 0;
    return ticker->calls < 3 ? ticker->due_ms : CLOCK_NEVER;
}

static void tasks_run_when_due(void **state)
{
    (void)state;
    struct fake_api api;
    struct ticker ticker = {.journal = journal_new()};
    fake_api_open(&api, "http");
    kube_loop_add_task(api.loop, tick, &ticker);
    fake_api_start(&api);
    journal_wait(ticker.journal, "call 1");
    hand_clock_pass(TICK_MS);
    journal_wait(ticker.journal, "call 1, call 2");
    hand_clock_pass(TICK_MS);
    journal_wait(ticker.journal, "call 1, call 2, call 3");
    kube_loop_wake(api.loop);
    journal_wait(ticker.journal, "call 4");
    const struct call call = fake_api_call(&api, fake_api_get("/a"));
    fake_api_serve(&call, 200, "");
    journal_wait(ticker.journal, "call 5");
    fake_api_close(&api);
    (void)close(call.connection);
    journal_expect(ticker.journal, "call 1, call 2, call 3, call 4, call 5");
    journal_free(ticker.journal);
}

#define WITH_STREAM(test) cmocka_unit_test_setup_teardown(test, open_streams, close_streams)
#define LOOKED_AT(test) cmocka_unit_test_setup_teardown(test, open_looked_at_streams, close_streams)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STREAM(pieces_are_delivered_as_received),
        WITH_STREAM(a_cut_stream_has_an_unknown_outcome),
        WITH_STREAM(the_trailer_is_bounded),
        WITH_STREAM(a_watch_may_stay_silent),
        WITH_STREAM(a_silent_list_times_out),
        WITH_STREAM(no_head_in_time_is_unknown),
        WITH_STREAM(a_rejected_token_is_renewed_unseen),
        WITH_STREAM(a_rejected_token_without_renewal_is_reported_at_once),
        WITH_STREAM(a_head_may_cancel),
        WITH_STREAM(a_piece_may_cancel),
        WITH_STREAM(a_task_may_cancel),
        WITH_STREAM(a_stop_ends_a_stream_without_an_event),
        WITH_STREAM(a_fresh_request_leaves_the_stream_open),
        LOOKED_AT(a_stream_is_drained_when_all_received_bytes_are_delivered),
        LOOKED_AT(a_quiet_stream_is_polled_repeatedly),
        cmocka_unit_test(tasks_run_when_due),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
