/* Which failures differ from the last. */
#include "kube/watch/pace.h"
#include "unit.h"

#include <string.h>

static void an_equal_message_is_logged_once(void **state)
{
    struct log_dedup log = {""};
    (void)state;
    assert_true(log_dedup_is_news(&log, "GET /pods: 403"));
    assert_false(log_dedup_is_news(&log, "GET /pods: 403"));
    assert_true(log_dedup_is_news(&log, "watch /pods: 403"));
    assert_true(log_dedup_is_news(&log, "GET /pods: 403"));
}

static void an_ended_failure_is_logged_again(void **state)
{
    struct log_dedup log = {""};
    (void)state;
    assert_false(log_dedup_is_news(&log, ""));
    assert_true(log_dedup_is_news(&log, "GET /pods: 403"));
    assert_false(log_dedup_is_news(&log, ""));
    assert_true(log_dedup_is_news(&log, "GET /pods: 403"));
    log_dedup_forget(&log);
    assert_true(log_dedup_is_news(&log, "GET /pods: 403"));
}

static void answers_are_compared_by_status(void **state)
{
    struct log_dedup log = {""};
    (void)state;
    assert_true(log_dedup_is_news(&log, "PUT /a/gpu: 500: no leader"));
    assert_false(log_dedup_is_news(&log, "PUT /a/gpu: 500: etcdserver: timed out"));
    assert_true(log_dedup_is_news(&log, "PUT /a/gpu: 503: no leader"));
    assert_true(log_dedup_is_news(&log, "PUT /b/gpu: 503: no leader"));
}

static void failures_are_compared_by_text_without_numbers(void **state)
{
    struct log_dedup log = {""};
    (void)state;
    assert_true(log_dedup_is_news(&log, "GET /pods: no connection after 9 ms: Connection refused"));
    assert_false(
        log_dedup_is_news(&log, "GET /pods: no connection after 10 ms: Connection refused"));
    assert_true(log_dedup_is_news(&log, "GET /pods: no connection after 10 ms: No route to host"));
    assert_true(log_dedup_is_news(&log, "GET /pods: 100:2: kind: is absent"));
    assert_false(log_dedup_is_news(&log, "GET /pods: 7:50: kind: is absent"));
    assert_true(log_dedup_is_news(&log, "GET /pods: 7:50: metadata: is absent"));
}

static void long_failures_are_compared_by_their_first_511_bytes(void **state)
{
    char text[514];
    struct log_dedup log = {""};
    (void)state;
    memset(text, 'x', sizeof text - 1);
    text[513] = '\0';
    assert_true(log_dedup_is_news(&log, text));
    text[511] = 'y';
    assert_false(log_dedup_is_news(&log, text));
    text[510] = 'y';
    assert_true(log_dedup_is_news(&log, text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_equal_message_is_logged_once),
        cmocka_unit_test(an_ended_failure_is_logged_again),
        cmocka_unit_test(answers_are_compared_by_status),
        cmocka_unit_test(failures_are_compared_by_text_without_numbers),
        cmocka_unit_test(long_failures_are_compared_by_their_first_511_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
