/* Which failures of a reflector are news: each once, until another one comes or it has ended. */
#include "rig.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

/* The next request is that, whatever the waiting. */
static void await(struct rig *rig, const char *path)
{
    struct reflector_action action = reflector_next(rig->reflector, rig->now_ms);
    while (action.want == REFLECTOR_CANCEL || action.want == REFLECTOR_WAIT) {
        if (action.want == REFLECTOR_WAIT)
            rig->now_ms = action.until_ms;
        action = reflector_next(rig->reflector, rig->now_ms);
    }
    assert_non_null(strstr(action.request.path, path));
}

static void fail_list(struct rig *rig, unsigned status)
{
    await(rig, RIG_LIST);
    rig_answer(rig, status, "no");
}

static void list(struct rig *rig)
{
    await(rig, RIG_LIST);
    rig_answer_list(rig, "100", "ab", "");
}

static void fail_watch(struct rig *rig, unsigned status, const char *text)
{
    await(rig, "watch=true");
    rig_answer(rig, status, text);
}

static void cut(struct rig *rig, const char *why)
{
    await(rig, "watch=true");
    reflector_end(rig->reflector, rig->now_ms, KUBE_NOT_SENT, why);
}

/* So many times since it was asked last. */
static void check_told(struct rig *rig, int n)
{
    assert_int_equal(rig->n_told, n);
    rig->n_told = 0;
}

static void a_list_that_fails_is_news_once(void **state)
{
    struct rig rig;
    (void)state;
    rig_init(&rig, NULL);
    for (int i = 0; i < 3; i++)
        fail_list(&rig, 403);
    check_told(&rig, 1);
    fail_list(&rig, 500);
    check_told(&rig, 1);
    list(&rig);
    fail_watch(&rig, 410, "");
    check_told(&rig, 1);
    fail_list(&rig, 500);
    check_told(&rig, 1);
    rig_fini(&rig);
}

/* Whatever becomes of a watch, of which there is none here. */
static void a_list_that_went_well_is_the_end_of_it(void **state)
{
    struct rig rig;
    (void)state;
    rig_init_optional(&rig);
    for (int i = 0; i < 2; i++) {
        fail_list(&rig, 500);
        check_told(&rig, 1);
        fail_list(&rig, 404); /* there are none */
        check_told(&rig, 0);
    }
    rig_fini(&rig);
}

/* That it is listed in between changes nothing. */
static void a_watch_that_is_refused_is_news_once(void **state)
{
    struct rig rig;
    (void)state;
    rig_init(&rig, NULL);
    for (int i = 0; i < 3; i++) {
        list(&rig);
        fail_watch(&rig, 403, i == 1 ? "no" : "still not");
    }
    check_told(&rig, 1);
    list(&rig);
    fail_watch(&rig, 500, "no");
    check_told(&rig, 1);
    rig_fini(&rig);
}

static void a_watch_that_is_opened_in_vain_is_news_once(void **state)
{
    struct rig rig;
    (void)state;
    rig_init(&rig, NULL);
    list(&rig);
    for (int i = 0; i < 3; i++)
        fail_watch(&rig, 200, "");
    check_told(&rig, 1);
    rig_fini(&rig);
}

static void what_ended_and_came_back_is_news_again(void **state)
{
    struct rig rig;
    (void)state;
    rig_init(&rig, NULL);
    list(&rig);
    for (int i = 0; i < 2; i++) {
        fail_watch(&rig, 429, "");
        await(&rig, "watch=true");
        rig_head(&rig, 200);
        rig_event(&rig, "BOOKMARK", 'a', "101");
        rig_end(&rig, KUBE_ANSWERED);
    }
    check_told(&rig, 2);
    for (int i = 0; i < 2; i++) {
        fail_watch(&rig, 429, "");
        await(&rig, "watch=true");
        rig_head(&rig, 200);
        rig.now_ms += 5000;
        rig_end(&rig, KUBE_ANSWERED);
    }
    check_told(&rig, 2);
    rig_fini(&rig);
}

static void another_number_in_its_words_is_no_other_failure(void **state)
{
    struct rig rig;
    char why[50];
    (void)state;
    rig_init(&rig, NULL);
    list(&rig);
    for (int ms = 9; ms < 12; ms++) {
        (void)snprintf(why, sizeof why, "no connection after %d ms", ms);
        cut(&rig, why);
        assert_string_equal(strstr(rig.why, "no "), why);
    }
    check_told(&rig, 1);
    cut(&rig, "no such host");
    check_told(&rig, 1);
    rig_fini(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_that_fails_is_news_once),
        cmocka_unit_test(a_list_that_went_well_is_the_end_of_it),
        cmocka_unit_test(a_watch_that_is_refused_is_news_once),
        cmocka_unit_test(a_watch_that_is_opened_in_vain_is_news_once),
        cmocka_unit_test(what_ended_and_came_back_is_news_again),
        cmocka_unit_test(another_number_in_its_words_is_no_other_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
