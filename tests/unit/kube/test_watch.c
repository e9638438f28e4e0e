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
    uint64_t demanded, reached;
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
    reflector->reached = reflector->demanded;
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

void reflector_reach(struct reflector *reflector, int64_t now_ms, uint64_t number,
                     const char *version)
{
    (void)now_ms;
    journal_add(reflector->journal, "reach %d %s", (int)number, version ? version : "nothing");
    reflector->demanded = number;
}

/* Any bytes bring it there. */
uint64_t reflector_reached(const struct reflector *reflector)
{
    return reflector->reached;
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
    const struct reflector_store store = {.context = &scene->reflector};
    scene->watch = kube_watch_new(scene->desk.loop, NULL, &store);
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

static void note_reached(void *context, uint64_t number)
{
    journal_add(context, "reached %d", (int)number);
}

static void what_is_demanded_is_told_when_it_is_reached(void **state)
{
    (void)state;
    struct scene scene;
    int connection = begin(&scene, "R.");
    const struct kube_watch_goal goal = {3, "120", note_reached, scene.journal};
    const struct kube_watch_goal later = {4, NULL, note_reached, scene.journal};
    kube_watch_reach(scene.watch, &goal);
    journal_wait(scene.journal, "reach 1 120");
    kube_watch_reach(scene.watch, &later);
    journal_wait(scene.journal, "reach 2 nothing");
    desk_write(connection, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab");
    journal_wait(scene.journal, "reached 4");
    journal_expect(scene.journal, "reach 1 120, reach 2 nothing, head 200, bytes ab, reached 4");
    end(&scene);
    (void)close(connection);
}

static void note_other(void *context, uint64_t number)
{
    const struct scene *scene = context;
    journal_add(scene->journal, "other reached %d", (int)number);
}

/* Each is told when all is reached. */
static void two_may_demand_at_a_time(void **state)
{
    (void)state;
    struct scene scene;
    int connection = begin(&scene, "R.");
    const struct kube_watch_goal goal = {3, "120", note_reached, scene.journal};
    const struct kube_watch_goal other = {1, "119", note_other, &scene};
    kube_watch_reach(scene.watch, &goal);
    journal_wait(scene.journal, "reach 1 120");
    kube_watch_reach(scene.watch, &other);
    journal_wait(scene.journal, "reach 2 120");
    desk_write(connection, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab");
    journal_wait(scene.journal, "other reached 1");
    journal_expect(scene.journal,
                   "reach 1 120, reach 2 120, head 200, bytes ab, reached 3, other reached 1");
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
        cmocka_unit_test(what_is_demanded_is_told_when_it_is_reached),
        cmocka_unit_test(two_may_demand_at_a_time),
        cmocka_unit_test(it_may_be_freed_with_a_request_in_flight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
