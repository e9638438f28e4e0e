/* A reflector on a loop, the reflector being a list of wishes: each is carried out, and it is told
 * what came of it. */
#include "api_desk.h"
#include "base/clock.h"
#include "base/mem.h"
#include "journal.h"
#include "kube/watch.h"

#include <stdlib.h>
#include <unistd.h>

/* This one is linked before the kube library's. */
struct reflector {
    struct journal *journal;
    const char *wishes; /* a letter each: Request, Cancel, '.': wait for an event */
    uint64_t wanted, caught_up;
    bool tells_drained; /* the next time */
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

/* Any event makes it go on after a '.'. */
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
        action.request = desk_get("/watch");
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

/* By any bytes. */
uint64_t reflector_caught_up(const struct reflector *reflector)
{
    return reflector->caught_up;
}

struct scene {
    struct desk desk;
    struct reflector reflector;
    struct kube_watch *watch;
    struct journal *journal;
};

/* The loop runs, and the reflector's first request has come. */
static int begin(struct scene *scene, const char *wishes)
{
    desk_open(&scene->desk, "http");
    scene->journal = journal_new();
    scene->reflector = (struct reflector){.journal = scene->journal, .wishes = wishes};
    static const struct reflector_kind kind = {.path = "/watch"};
    const struct reflector_settings settings = {.kind = &kind};
    const struct reflector_store store = {.context = &scene->reflector};
    scene->watch = kube_watch_new(scene->desk.loop, &settings, &store);
    desk_start(&scene->desk);
    int connection = desk_take(scene->desk.listener, "GET /watch ");
    return connection;
}

static void end(struct scene *scene)
{
    kube_loop_stop(scene->desk.loop);
    kube_watch_free(scene->watch);
    desk_close(&scene->desk);
    journal_free(scene->journal);
}

static void one_request_after_the_other(void **state)
{
    (void)state;
    struct scene scene;
    int connection = begin(&scene, "R.R.");
    desk_write(connection, "HTTP/1.1 410 Gone\r\nConnection: close\r\n\r\n");
    (void)close(connection);
    connection = desk_take(scene.desk.listener, "GET /watch ");
    (void)close(connection);
    journal_wait(scene.journal, "end 2");
    journal_expect(scene.journal, "head 410, end 0, end 2");
    end(&scene);
}

static void what_is_cancelled_is_silent(void **state)
{
    (void)state;
    struct scene scene;
    int connection = begin(&scene, "R.CR.");
    desk_write(connection, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab");
    int other = desk_accept(scene.desk.listener);
    desk_expect_closed(connection);
    desk_expect(other, "GET /watch ");
    desk_answer(other, 200, "");
    journal_wait(scene.journal, "head 200, end 0");
    journal_expect(scene.journal, "head 200, bytes ab, head 200, end 0");
    end(&scene);
    (void)close(other);
}

static void a_refused_token_is_told_before_anything_else(void **state)
{
    (void)state;
    struct scene scene;
    int connection = begin(&scene, "R.");
    desk_answer(connection, 401, "who?");
    journal_wait(scene.journal, "the API server refused the token of a test");
    journal_expect(scene.journal, "the API server refused the token of a test");
    end(&scene);
    (void)close(connection);
}

static void on_caught_up(void *context, uint64_t number)
{
    journal_add(context, "caught up %d", (int)number);
}

/* The newer one replaces the older. */
static void it_tells_when_its_store_has_caught_up(void **state)
{
    (void)state;
    struct scene scene;
    int connection = begin(&scene, "R.");
    const struct catch_up older = {3, "120", on_caught_up, scene.journal};
    const struct catch_up newer = {4, NULL, on_caught_up, scene.journal};
    const struct catch_up_watch watch = kube_watch_to_catch_up(scene.watch);
    assert_string_equal(watch.path, "/watch");
    watch.begin(watch.watch, &older);
    journal_wait(scene.journal, "catch up 3 120");
    watch.begin(watch.watch, &newer);
    journal_wait(scene.journal, "catch up 4 nothing");
    desk_write(connection, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab");
    journal_wait(scene.journal, "caught up 4");
    journal_expect(scene.journal,
                   "catch up 3 120, catch up 4 nothing, head 200, bytes ab, caught up 4");
    end(&scene);
    (void)close(connection);
}

static void it_may_be_freed_with_a_request_in_flight(void **state)
{
    (void)state;
    struct scene scene;
    int connection = begin(&scene, "R.");
    end(&scene);
    (void)close(connection);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_request_after_the_other),
        cmocka_unit_test(what_is_cancelled_is_silent),
        cmocka_unit_test(a_refused_token_is_told_before_anything_else),
        cmocka_unit_test(it_tells_when_its_store_has_caught_up),
        cmocka_unit_test(it_may_be_freed_with_a_request_in_flight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
