/* Failures of a reflector that are news: each once, until another one occurs or it ends. */
#include "harness_steps.h"
#include "unit.h"

#include <string.h>

/* Expects this request next, after any wait. */
static void await(struct harness *harness, const char *path)
{
    struct reflector_action action = reflector_next(harness->reflector, harness->now_ms);
    while (action.want == REFLECTOR_CANCEL || action.want == REFLECTOR_WAIT) {
        if (action.want == REFLECTOR_WAIT)
            harness->now_ms = action.until_ms;
        action = reflector_next(harness->reflector, harness->now_ms);
    }
    assert_non_null(strstr(action.request.path, path));
}

static void cut(struct harness *harness, const char *why)
{
    reflector_end(harness->reflector, harness->now_ms, KUBE_NOT_SENT, why);
    assert_string_equal(strstr(harness->why, "no "), why);
}

static void expect_news(struct harness *harness, const struct harness_step *step)
{
    assert_int_equal(harness->n_told, step->number);
    harness->n_told = 0;
}

#define AWAIT_LIST TEXT(await, HARNESS_LIST)
#define AWAIT_WATCH TEXT(await, "watch=true")
#define FAIL_LIST(status) AWAIT_LIST, ANSWER(status, "no")
#define LIST_ALL AWAIT_LIST, LISTED("100", "ab")
#define FAIL_WATCH(status, body) AWAIT_WATCH, ANSWER(status, body)
#define CUT(why) AWAIT_WATCH, TEXT(cut, why)
/* The number of news since the last check. */
#define NEWS(n) FULL(expect_news, .number = (n))
#define WATCH_AN_EVENT AWAIT_WATCH, HEAD(200), BOOKMARK('a', "101"), END(KUBE_ANSWERED)
#define WATCH_FOR_5_S AWAIT_WATCH, HEAD(200), SLEEP(5000), END(KUBE_ANSWERED)

static const struct harness_script SCRIPTS[] = {
    {"a failing list is logged once",
     {INIT, FAIL_LIST(403), FAIL_LIST(403), FAIL_LIST(403), NEWS(1), FAIL_LIST(500), NEWS(1),
      LIST_ALL, FAIL_WATCH(410, ""), NEWS(1), FAIL_LIST(500), NEWS(1)}},
    /* Whatever happens to a watch; there is none here. */
    {"a successful list ends the failure",
     {INIT_OPTIONAL, FAIL_LIST(500), NEWS(1), FAIL_LIST(404), NEWS(0), FAIL_LIST(500), NEWS(1),
      FAIL_LIST(404), NEWS(0)}},
    /* A list in between makes no difference. */
    {"a rejected watch is logged once",
     {INIT, LIST_ALL, FAIL_WATCH(403, "still not"), LIST_ALL, FAIL_WATCH(403, "no"), LIST_ALL,
      FAIL_WATCH(403, "still not"), NEWS(1), LIST_ALL, FAIL_WATCH(500, "no"), NEWS(1)}},
    {"a watch without events is logged once",
     {INIT, LIST_ALL, FAIL_WATCH(200, ""), FAIL_WATCH(200, ""), FAIL_WATCH(200, ""), NEWS(1)}},
    {"a recurring failure is logged again",
     {INIT, LIST_ALL, FAIL_WATCH(429, ""), WATCH_AN_EVENT, FAIL_WATCH(429, ""), WATCH_AN_EVENT,
      NEWS(2), FAIL_WATCH(429, ""), WATCH_FOR_5_S, FAIL_WATCH(429, ""), WATCH_FOR_5_S, NEWS(2)}},
    {"another number in the text is the same failure",
     {INIT, LIST_ALL, CUT("no connection after 9 ms"), CUT("no connection after 10 ms"),
      CUT("no connection after 11 ms"), NEWS(1), CUT("no such host"), NEWS(1)}},
};

/* ---- names: complete and distinct ---- */

static void causes_have_distinct_names(void **state)
{
    (void)state;
    for (int i = 0; i < N_RELIST_CAUSES; i++) {
        assert_non_null(reflector_cause_name((enum relist_cause)i));
        for (int j = 0; j < i; j++)
            assert_string_not_equal(reflector_cause_name((enum relist_cause)i),
                                    reflector_cause_name((enum relist_cause)j));
    }
}

static void events_have_distinct_names(void **state)
{
    (void)state;
    for (int i = 0; i < N_WATCH_EVENTS; i++) {
        assert_non_null(reflector_event_name((enum watch_event)i));
        for (int j = 0; j < i; j++)
            assert_string_not_equal(reflector_event_name((enum watch_event)i),
                                    reflector_event_name((enum watch_event)j));
    }
}

static void troubles_have_distinct_names(void **state)
{
    (void)state;
    for (int i = 0; i < N_TROUBLES; i++) {
        assert_non_null(reflector_trouble_name((enum reflector_trouble)i));
        for (int j = 0; j < i; j++)
            assert_string_not_equal(reflector_trouble_name((enum reflector_trouble)i),
                                    reflector_trouble_name((enum reflector_trouble)j));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(causes_have_distinct_names),
        cmocka_unit_test(events_have_distinct_names),
        cmocka_unit_test(troubles_have_distinct_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) +
           harness_run(SCRIPTS, sizeof SCRIPTS / sizeof *SCRIPTS);
}
