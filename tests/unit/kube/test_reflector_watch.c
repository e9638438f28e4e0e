/* How a reflector follows a watch: events, ends of every kind, 410 in both shapes, garbage. */
#include "rig.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

/* An event with a Status as its object. */
#define ERROR_EVENT(code, reason, more)                                                            \
    "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"status\":\"Failure\",\"code\":" code    \
    ",\"reason\":\"" reason "\",\"message\":\"so it is\"" more "}}\n"

static void events_are_applied_and_the_last_version_is_kept(void **state)
{
    struct rig rig;
    (void)state;
    rig_begin(&rig);
    rig.now_ms += 500;
    rig_event(&rig, "ADDED", 'c', "101");
    rig_event(&rig, "MODIFIED", 'd', "102");
    rig_event(&rig, "ADDED", 'a', "103");
    rig_event(&rig, "DELETED", 'b', "104");
    rig_event(&rig, "DELETED", 'x', "105");
    assert_string_equal(rig_names(&rig), "acd");
    assert_int_equal(rig.status.fresh_ms, 1500);
    rig.now_ms += 500;
    rig_event(&rig, "BOOKMARK", 'a', "106");
    assert_string_equal(rig_names(&rig), "acd");
    assert_int_equal(rig.status.fresh_ms, 2000);
    assert_int_equal(rig.status.events[WATCH_ADDED], 2);
    assert_int_equal(rig.status.events[WATCH_MODIFIED], 1);
    assert_int_equal(rig.status.events[WATCH_DELETED], 2);
    assert_int_equal(rig.status.events[WATCH_BOOKMARK], 1);
    assert_int_equal(rig.status.watches, 1);
    rig_end(&rig, KUBE_ANSWERED);
    rig_expect_request(&rig, RIG_WATCH("106"));
    rig_fini(&rig);
}

static void events_come_in_pieces_of_any_length(void **state)
{
    static const char TEXT[] =
        "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"c\",\"managedFields\":[1],"
        "\"resourceVersion\":\"101\"}}}\n\n"
        "{\"object\":{\"metadata\":{\"resourceVersion\":\"102\",\"name\":\"d\"}},\"type\":"
        "\"ADDED\"}";
    struct rig rig;
    (void)state;
    rig_begin(&rig);
    for (const char *at = TEXT; *at; at++)
        reflector_bytes(rig.reflector, rig.now_ms, at, 1);
    assert_string_equal(rig_names(&rig), "abcd");
    rig_end(&rig, KUBE_ANSWERED);
    rig_expect_request(&rig, RIG_WATCH("102"));
    rig_fini(&rig);
}

static void what_was_batched_is_flushed_once_a_piece(void **state)
{
    struct rig rig;
    (void)state;
    rig_begin(&rig);
    int before = rig.n_flushes;
    rig_bytes(&rig, "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"c\","
                    "\"resourceVersion\":\"101\"}}}{\"type\":\"ADDED\",\"object\":{\"metadata\":{"
                    "\"name\":\"d\",\"resourceVersion\":\"102\"}}}{\"type\":");
    assert_int_equal(rig.n_flushes, before + 1);
    rig_bytes(&rig, "\"ADD");
    assert_int_equal(rig.n_flushes, before + 1);
    rig_expect_quiet(&rig, 1);
    assert_int_equal(rig.n_flushes, before + 1);
    rig_fini(&rig);
}

static void a_watch_that_ended_well_is_watched_on_at_once(void **state)
{
    struct rig rig;
    (void)state;
    rig_begin(&rig);
    rig.now_ms += 1000;
    rig_end(&rig, KUBE_ANSWERED);
    rig_expect_request(&rig, RIG_WATCH("100"));
    rig_head(&rig, 200);
    rig_event(&rig, "BOOKMARK", 'z', "101");
    rig_end(&rig, KUBE_ANSWERED);
    rig_expect_request(&rig, RIG_WATCH("101"));
    assert_int_equal(rig.status.watches, 2);
    rig_fini(&rig);
}

static void a_very_short_watch_backs_off(void **state)
{
    struct rig rig;
    (void)state;
    rig_begin(&rig);
    rig.now_ms += 999;
    rig_end(&rig, KUBE_ANSWERED);
    rig_expect_wait(&rig, 800, 1600);
    rig_expect_request(&rig, RIG_WATCH("100"));
    rig_fini(&rig);
}

static void a_watch_that_is_cut_is_watched_on_after_a_while(void **state)
{
    struct rig rig;
    (void)state;
    rig_begin(&rig);
    rig.now_ms += 5000;
    rig_event(&rig, "ADDED", 'c', "101");
    rig_bytes(&rig, "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"d\",\"resourceV");
    rig_end(&rig, KUBE_UNKNOWN);
    assert_string_equal(rig_names(&rig), "abc");
    assert_string_equal(rig.why, "watch /api/v1/pods: connection reset by peer");
    rig_expect_wait(&rig, 800, 1600);
    rig_expect_request(&rig, RIG_WATCH("101"));
    rig_end(&rig, KUBE_NOT_SENT);
    rig_expect_wait(&rig, 1600, 3200);
    rig_expect_request(&rig, RIG_WATCH("101"));
    rig_refuse(&rig, 429, 9, "{}");
    rig_expect_wait(&rig, 9000, 9000);
    rig_expect_request(&rig, RIG_WATCH("101"));
    rig_head(&rig, 200);
    assert_string_equal(rig.why, "");
    assert_false(rig.status.stale);
    assert_int_equal(rig.status.relists[RELIST_FAILED], 0);
    rig_fini(&rig);
}

static void a_version_that_is_too_old_is_listed_again(void **state)
{
    struct rig rig;
    (void)state;
    rig_begin(&rig);
    rig.now_ms += 50000;
    rig_event(&rig, "BOOKMARK", 'z', "101");
    rig.now_ms += 50000;
    rig_event(&rig, "BOOKMARK", 'z', "102");
    rig.now_ms += 20000;
    rig_bytes(&rig, ERROR_EVENT("410", "Expired", ""));
    rig_expect_cancel(&rig);
    assert_string_equal(rig.why, "watch /api/v1/pods: ERROR 410: so it is");
    assert_int_equal(rig.status.events[WATCH_ERROR], 1);
    rig_expect_request(&rig, RIG_LIST);
    assert_int_equal(rig.status.relists[RELIST_GONE], 1);
    rig_answer_list(&rig, "200", "b", "");
    assert_string_equal(rig_names(&rig), "b");
    rig_expect_request(&rig, RIG_WATCH("200"));
    rig_answer(&rig, 410, "{\"kind\":\"Status\",\"message\":\"gone\"}");
    assert_string_equal(rig.why, "watch /api/v1/pods: 410: gone");
    rig_expect_wait(&rig, 800, 1600);
    rig_expect_request(&rig, RIG_LIST);
    assert_int_equal(rig.status.relists[RELIST_GONE], 2);
    rig_fini(&rig);
}

/* After the first of them the watch is at its end, whatever else came with it. */
static void nothing_after_an_error_is_applied(void **state)
{
    struct rig rig;
    (void)state;
    rig_begin(&rig);
    rig_bytes(&rig, ERROR_EVENT("0", "Gone", "") "{\"type\":\"ADDED\",\"object\":{\"metadata\":{"
                                                 "\"name\":\"c\",\"resourceVersion\":\"101\"}}}");
    rig_event(&rig, "ADDED", 'd', "102");
    rig_end(&rig, KUBE_ANSWERED);
    assert_string_equal(rig_names(&rig), "ab");
    rig_expect_wait(&rig, 800, 1600);
    rig_expect_request(&rig, RIG_LIST);
    assert_int_equal(rig.status.relists[RELIST_GONE], 1);
    rig_fini(&rig);
}

static void an_error_event_for_now_is_watched_on(void **state)
{
    struct rig rig;
    (void)state;
    rig_begin(&rig);
    rig_event(&rig, "ADDED", 'c', "101");
    rig_bytes(&rig,
              ERROR_EVENT("429", "TooManyRequests", ",\"details\":{\"retryAfterSeconds\":7}"));
    rig_expect_cancel(&rig);
    rig_expect_wait(&rig, 7000, 7000);
    rig_expect_request(&rig, RIG_WATCH("101"));
    rig_fini(&rig);
}

/* What no API server says does not keep it waiting for ever. */
static void an_error_events_delay_has_an_end(void **state)
{
    static const char *const SECONDS[] = {"9223372036854775807", "-9223372036854775807", "-1",
                                          "-9223372036854776"};
    (void)state;
    for (size_t i = 0; i < sizeof SECONDS / sizeof *SECONDS; i++) {
        struct rig rig;
        char text[200];
        (void)snprintf(text, sizeof text,
                       ERROR_EVENT("429", "", ",\"details\":{\"retryAfterSeconds\":%s}"),
                       SECONDS[i]);
        rig_begin(&rig);
        rig_bytes(&rig, text);
        rig_expect_cancel(&rig);
        rig_expect_wait(&rig, 0, 300000);
        rig_fini(&rig);
    }
}

static void any_other_error_is_listed_again_after_a_while(void **state)
{
    struct rig rig;
    (void)state;
    rig_begin(&rig);
    rig_bytes(&rig, ERROR_EVENT("500", "InternalError", ""));
    rig_expect_cancel(&rig);
    rig_expect_wait(&rig, 800, 1600);
    rig_expect_request(&rig, RIG_LIST);
    assert_int_equal(rig.status.relists[RELIST_FAILED], 1);
    rig_answer_list(&rig, "200", "b", "");
    rig_expect_request(&rig, RIG_WATCH("200"));
    rig_answer(&rig, 403, "{\"message\":\"no\"}");
    rig_expect_wait(&rig, 1600, 3200);
    rig_expect_request(&rig, RIG_LIST);
    assert_int_equal(rig.status.relists[RELIST_FAILED], 2);
    rig_fini(&rig);
}

/* What came before it stays; what the fault was in is not taken for seen. */
static void assert_garbage(const char *text, const char *why)
{
    struct rig rig;
    rig_begin(&rig);
    rig_event(&rig, "ADDED", 'c', "101");
    rig_bytes(&rig, text);
    rig_end(&rig, KUBE_ANSWERED);
    assert_string_equal(rig_names(&rig), "abc");
    assert_non_null(strstr(rig.why, why));
    rig_expect_wait(&rig, 800, 1600);
    rig_expect_request(&rig, RIG_LIST);
    assert_int_equal(rig.status.relists[RELIST_GARBAGE], 1);
    rig_fini(&rig);
}

static void what_is_no_event_is_garbage(void **state)
{
    (void)state;
    assert_garbage("<html>", "watch /api/v1/pods: 2:1: ");
    assert_garbage("{\"type\":\"ADDED\",\"object\":{\"metad", "2:");
    assert_garbage("{\"type\":\"MOVED\",\"object\":{\"metadata\":{\"resourceVersion\":\"5\"}}}",
                   "type: is \"MOVED\"");
    assert_garbage("{\"type\":3,\"object\":{}}", "type: is the number 3");
    assert_garbage("{}", "type: is \"\"");
    assert_garbage("{\"type\":\"ADDED\"}", "object: is missing");
    assert_garbage("{\"type\":\"ADDED\",\"object\":[]}", "object: is an array");
    assert_garbage("{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"x\"}}}",
                   "object.metadata.resourceVersion: is missing");
    assert_garbage("{\"type\":\"DELETED\",\"object\":{\"metadata\":{\"name\":\"a\"}}}",
                   "object.metadata.resourceVersion: is missing");
    assert_garbage("{\"type\":\"BOOKMARK\",\"object\":{}}", "resourceVersion: is missing");
    assert_garbage("{\"kind\":\"PodList\",\"items\":[]}", "is a list, should be an event");
}

static void a_large_event(struct rig *rig, const char *type, char letter, const char *version)
{
    char begin[200];
    (void)snprintf(begin, sizeof begin,
                   "{\"type\":\"%s\",\"object\":{\"metadata\":{\"name\":\"%c\","
                   "\"resourceVersion\":\"%s\",\"annotations\":{\"x\":\"",
                   type, letter, version);
    rig_bytes(rig, begin);
    rig_many_bytes(rig, 2 * RIG_OBJECT_MAX);
    rig_bytes(rig, "\"}}}}\n");
}

/* It is known by what comes first, and the watch goes on. */
static void an_object_that_is_too_large_is_told_by_its_name(void **state)
{
    struct rig rig;
    (void)state;
    rig_begin(&rig);
    a_large_event(&rig, "ADDED", 'c', "101");
    a_large_event(&rig, "MODIFIED", 'a', "102");
    assert_int_equal(rig.n_too_large, 2);
    rig_event(&rig, "ADDED", 'd', "103");
    assert_string_equal(rig_names(&rig), "abcd");
    a_large_event(&rig, "DELETED", 'c', "104");
    assert_string_equal(rig_names(&rig), "abd");
    assert_int_equal(rig.n_too_large, 2);
    rig_expect_quiet(&rig, RIG_SILENCE_MS);
    rig_end(&rig, KUBE_ANSWERED);
    rig_expect_request(&rig, RIG_WATCH("104"));
    rig_fini(&rig);
}

static void an_event_that_is_too_large_is_told_and_not_asked_for_in_a_loop(void **state)
{
    struct rig rig;
    (void)state;
    rig_begin(&rig);
    rig_bytes(&rig, "{\"type\":\"ADDED\",\"object\":{\"x\":\"");
    rig_many_bytes(&rig, 2 * RIG_OBJECT_MAX);
    rig_expect_cancel(&rig);
    assert_non_null(strstr(rig.why, "the object that begins here is larger than 2000 bytes"));
    rig_expect_wait(&rig, 800, 1600);
    rig_expect_request(&rig, RIG_LIST);
    rig_fini(&rig);
}

/* Of what is dropped nothing is stored, in events as in lists. */
static void what_nobody_reads_may_be_large(void **state)
{
    struct rig rig;
    (void)state;
    rig_begin(&rig);
    rig_bytes(&rig, "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"managedFields\":\"");
    rig_many_bytes(&rig, 2 * RIG_OBJECT_MAX);
    rig_bytes(&rig, "\",\"name\":\"c\",\"resourceVersion\":\"101\"}}}");
    assert_string_equal(rig_names(&rig), "abc");
    rig_fini(&rig);
}

static void a_list_is_begun_again_without_an_end(void **state)
{
    struct rig rig;
    (void)state;
    rig_begin(&rig);
    rig_event(&rig, "ADDED", 'c', "101");
    rig_bytes(&rig, "garbage");
    rig_expect_cancel(&rig);
    rig_expect_wait(&rig, 800, 1600);
    rig_expect_request(&rig, RIG_LIST);
    rig_head(&rig, 200);
    rig_bytes(&rig, "{\"kind\":\"PodList\",\"items\":[{\"metadata\":{\"name\":\"d\"}},");
    rig_end(&rig, KUBE_UNKNOWN);
    assert_true(rig.is_listing);
    assert_string_equal(rig_names(&rig), "abcd");
    rig_expect_wait(&rig, 1600, 3200);
    rig_expect_request(&rig, RIG_LIST);
    rig_answer_list(&rig, "200", "c", "");
    assert_string_equal(rig_names(&rig), "c");
    rig_fini(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_applied_and_the_last_version_is_kept),
        cmocka_unit_test(events_come_in_pieces_of_any_length),
        cmocka_unit_test(what_was_batched_is_flushed_once_a_piece),
        cmocka_unit_test(a_watch_that_ended_well_is_watched_on_at_once),
        cmocka_unit_test(a_very_short_watch_backs_off),
        cmocka_unit_test(a_watch_that_is_cut_is_watched_on_after_a_while),
        cmocka_unit_test(a_version_that_is_too_old_is_listed_again),
        cmocka_unit_test(nothing_after_an_error_is_applied),
        cmocka_unit_test(an_error_event_for_now_is_watched_on),
        cmocka_unit_test(an_error_events_delay_has_an_end),
        cmocka_unit_test(any_other_error_is_listed_again_after_a_while),
        cmocka_unit_test(what_is_no_event_is_garbage),
        cmocka_unit_test(an_object_that_is_too_large_is_told_by_its_name),
        cmocka_unit_test(an_event_that_is_too_large_is_told_and_not_asked_for_in_a_loop),
        cmocka_unit_test(what_nobody_reads_may_be_large),
        cmocka_unit_test(a_list_is_begun_again_without_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
