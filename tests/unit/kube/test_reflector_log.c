/* Failures of a reflector that are news: each once, until another one occurs or it ends. */
#include "harness.h"
#include "unit.h"

#include <stdio.h>
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

static void fail_list(struct harness *harness, unsigned status)
{
    await(harness, HARNESS_LIST);
    harness_answer(harness, status, "no");
}

static void list(struct harness *harness)
{
    await(harness, HARNESS_LIST);
    harness_answer_list(harness, "100", "ab", "");
}

static void fail_watch(struct harness *harness, unsigned status, const char *text)
{
    await(harness, "watch=true");
    harness_answer(harness, status, text);
}

static void cut(struct harness *harness, const char *why)
{
    await(harness, "watch=true");
    reflector_end(harness->reflector, harness->now_ms, KUBE_NOT_SENT, why);
}

/* Number of news since the last check. */
static void check_told(struct harness *harness, int n)
{
    assert_int_equal(harness->n_told, n);
    harness->n_told = 0;
}

static void a_failing_list_is_logged_once(void **state)
{
    struct harness *harness = *state;
    harness_init(harness, NULL);
    for (int i = 0; i < 3; i++)
        fail_list(harness, 403);
    check_told(harness, 1);
    fail_list(harness, 500);
    check_told(harness, 1);
    list(harness);
    fail_watch(harness, 410, "");
    check_told(harness, 1);
    fail_list(harness, 500);
    check_told(harness, 1);
}

/* Whatever happens to a watch; there is none here. */
static void a_successful_list_ends_the_failure(void **state)
{
    struct harness *harness = *state;
    harness_init_optional(harness);
    for (int i = 0; i < 2; i++) {
        fail_list(harness, 500);
        check_told(harness, 1);
        fail_list(harness, 404); /* there are none */
        check_told(harness, 0);
    }
}

/* A list in between makes no difference. */
static void a_rejected_watch_is_logged_once(void **state)
{
    struct harness *harness = *state;
    harness_init(harness, NULL);
    for (int i = 0; i < 3; i++) {
        list(harness);
        fail_watch(harness, 403, i == 1 ? "no" : "still not");
    }
    check_told(harness, 1);
    list(harness);
    fail_watch(harness, 500, "no");
    check_told(harness, 1);
}

static void a_watch_without_events_is_logged_once(void **state)
{
    struct harness *harness = *state;
    harness_init(harness, NULL);
    list(harness);
    for (int i = 0; i < 3; i++)
        fail_watch(harness, 200, "");
    check_told(harness, 1);
}

static void a_recurring_failure_is_logged_again(void **state)
{
    struct harness *harness = *state;
    harness_init(harness, NULL);
    list(harness);
    for (int i = 0; i < 2; i++) {
        fail_watch(harness, 429, "");
        await(harness, "watch=true");
        harness_head(harness, 200);
        harness_event(harness, "BOOKMARK", 'a', "101");
        harness_end(harness, KUBE_ANSWERED);
    }
    check_told(harness, 2);
    for (int i = 0; i < 2; i++) {
        fail_watch(harness, 429, "");
        await(harness, "watch=true");
        harness_head(harness, 200);
        harness->now_ms += 5000;
        harness_end(harness, KUBE_ANSWERED);
    }
    check_told(harness, 2);
}

static void another_number_in_the_text_is_the_same_failure(void **state)
{
    struct harness *harness = *state;
    char why[50];
    harness_init(harness, NULL);
    list(harness);
    for (int ms = 9; ms < 12; ms++) {
        (void)snprintf(why, sizeof why, "no connection after %d ms", ms);
        cut(harness, why);
        assert_string_equal(strstr(harness->why, "no "), why);
    }
    check_told(harness, 1);
    cut(harness, "no such host");
    check_told(harness, 1);
}

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
        HARNESS_TEST(a_failing_list_is_logged_once),
        HARNESS_TEST(a_successful_list_ends_the_failure),
        HARNESS_TEST(a_rejected_watch_is_logged_once),
        HARNESS_TEST(a_watch_without_events_is_logged_once),
        HARNESS_TEST(a_recurring_failure_is_logged_again),
        HARNESS_TEST(another_number_in_the_text_is_the_same_failure),
        cmocka_unit_test(causes_have_distinct_names),
        cmocka_unit_test(events_have_distinct_names),
        cmocka_unit_test(troubles_have_distinct_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
