/* A reflector on a loop, replaced by a list of wishes: each is performed and its result
 * reported. */
#include "base/clock.h"
#include "base/mem.h"
#include "fake_api.h"
#include "journal.h"
#include "kube/watch.h"

#include <stdlib.h>
#include <unistd.h>

/* Linked before the kube library's. */
struct reflector {
    struct journal *journal;
    const char *wishes; /* one letter each: Request, Cancel, '.': wait for an event */
    uint64_t wanted, caught_up;
    bool tells_drained; /* next time */
};

struct reflector *reflector_new(const struct reflector_settings *settings,
                                const struct reflector_store *store)
{
    (void)settings;
    struct reflector *reflector = MEM_NEW(struct reflector);
    *reflector = *(const struct reflector *)store->context;
    return reflector;
}

void reflector_free(struct reflector *reflector)
{
    free(reflector);
}

/* Any event continues after a '.'. */
static void go_on(struct reflector *reflector)
{
    if (*reflector->wishes == '.')
        reflector->wishes++;
}

struct reflector_action reflector_next(struct reflector *reflector, int64_t now_ms)
{
    (void)now_ms;
    struct reflector_action action = {.want = REFLECTOR_WAIT, .until_ms = CLOCK_NEVER};
    if (*reflector->wishes == 'R') {
        action.want = REFLECTOR_REQUEST;
        action.request = fake_api_get("/watch");
    } else if (*reflector->wishes == 'C') {
        action.want = REFLECTOR_CANCEL;
    }
    if (action.want != REFLECTOR_WAIT)
        reflector->wishes++;
    return action;
}

void reflector_refused(struct reflector *reflector, const char *why)
{
    journal_add(reflector->journal, "%s", why);
}

void reflector_head(struct reflector *reflector, int64_t now_ms, unsigned status,
                    int64_t retry_after_s)
{
    (void)now_ms;
    (void)retry_after_s;
    journal_add(reflector->journal, "head %u", status);
}

void reflector_bytes(struct reflector *reflector, int64_t now_ms, const char *bytes, size_t len)
{
    (void)now_ms;
    journal_add(reflector->journal, "bytes %.*s", (int)len, bytes);
    reflector->caught_up = reflector->wanted;
    go_on(reflector);
}

void reflector_drained(struct reflector *reflector, int64_t now_ms)
{
    (void)now_ms;
    if (reflector->tells_drained)
        journal_add(reflector->journal, "drained");
    reflector->tells_drained = false;
}

void reflector_end(struct reflector *reflector, int64_t now_ms, enum kube_outcome outcome,
                   const char *why)
{
    (void)now_ms;
    (void)why;
    journal_add(reflector->journal, "end %d", (int)outcome);
    go_on(reflector);
}

void reflector_catch_up(struct reflector *reflector, int64_t now_ms, uint64_t number,
                        const char *version)
{
    (void)now_ms;
    journal_add(reflector->journal, "catch up %d %s", (int)number, version ? version : "nothing");
    reflector->wanted = number;
}

/* Set by any bytes. */
void reflector_list_again(struct reflector *reflector)
{
    journal_add(reflector->journal, "list again");
}

uint64_t reflector_caught_up(const struct reflector *reflector)
{
    return reflector->caught_up;
}

struct fixture {
    struct fake_api api;
    struct reflector reflector;
    struct kube_watch *watch;
    struct journal *journal;
};

/* Starts the loop; the reflector's first request has arrived. */
static int begin(struct fixture *fixture, const char *wishes)
{
    fake_api_open(&fixture->api, "http");
    fixture->journal = journal_new();
    fixture->reflector = (struct reflector){.journal = fixture->journal, .wishes = wishes};
    static const struct reflector_kind kind = {.path = "/watch"};
    const struct reflector_settings settings = {.kind = &kind};
    const struct reflector_store store = {.context = &fixture->reflector};
    fixture->watch = kube_watch_new(fixture->api.loop, &settings, &store);
    fake_api_start(&fixture->api);
    int connection = fake_api_take(fixture->api.listener, "GET /watch ");
    return connection;
}

static void end(struct fixture *fixture)
{
    kube_loop_stop(fixture->api.loop);
    kube_watch_free(fixture->watch);
    fake_api_close(&fixture->api);
    journal_free(fixture->journal);
}

static void requests_run_one_after_another(void **state)
{
    (void)state;
    struct fixture fixture;
    int connection = begin(&fixture, "R.R.");
    fake_api_write(connection, "HTTP/1.1 410 Gone\r\nConnection: close\r\n\r\n");
    (void)close(connection);
    connection = fake_api_take(fixture.api.listener, "GET /watch ");
    (void)close(connection);
    journal_wait(fixture.journal, "end 2");
    journal_expect(fixture.journal, "head 410, end 0, end 2");
    end(&fixture);
}

static void a_cancelled_request_reports_nothing(void **state)
{
    (void)state;
    struct fixture fixture;
    int connection = begin(&fixture, "R.CR.");
    fake_api_write(connection, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab");
    int other = fake_api_accept(fixture.api.listener);
    fake_api_expect_closed(connection);
    fake_api_expect(other, "GET /watch ");
    fake_api_answer(other, 200, "");
    journal_wait(fixture.journal, "head 200, end 0");
    journal_expect(fixture.journal, "head 200, bytes ab, head 200, end 0");
    end(&fixture);
    (void)close(other);
}

static void a_rejected_token_is_reported_first(void **state)
{
    (void)state;
    struct fixture fixture;
    int connection = begin(&fixture, "R.");
    fake_api_answer(connection, 401, "who?");
    journal_wait(fixture.journal, "the API server refused the token of a test");
    journal_expect(fixture.journal, "the API server refused the token of a test");
    end(&fixture);
    (void)close(connection);
}

static void on_caught_up(void *context, uint64_t number)
{
    journal_add(context, "caught up %d", (int)number);
}

/* A newer request replaces the older. */
static void the_watch_reports_when_its_store_caught_up(void **state)
{
    (void)state;
    struct fixture fixture;
    int connection = begin(&fixture, "R.");
    const struct catch_up older = {3, "120", on_caught_up, fixture.journal};
    const struct catch_up newer = {4, NULL, on_caught_up, fixture.journal};
    const struct catch_up_watch watch = kube_watch_to_catch_up(fixture.watch);
    assert_string_equal(watch.path, "/watch");
    watch.begin(watch.watch, &older);
    journal_wait(fixture.journal, "catch up 3 120");
    watch.begin(watch.watch, &newer);
    journal_wait(fixture.journal, "catch up 4 nothing");
    fake_api_write(connection, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab");
    journal_wait(fixture.journal, "caught up 4");
    journal_expect(fixture.journal,
                   "catch up 3 120, catch up 4 nothing, head 200, bytes ab, caught up 4");
    end(&fixture);
    (void)close(connection);
}

static void a_watch_may_be_freed_with_a_request_in_flight(void **state)
{
    (void)state;
    struct fixture fixture;
    int connection = begin(&fixture, "R.");
    end(&fixture);
    (void)close(connection);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_run_one_after_another),
        cmocka_unit_test(a_cancelled_request_reports_nothing),
        cmocka_unit_test(a_rejected_token_is_reported_first),
        cmocka_unit_test(the_watch_reports_when_its_store_caught_up),
        cmocka_unit_test(a_watch_may_be_freed_with_a_request_in_flight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
