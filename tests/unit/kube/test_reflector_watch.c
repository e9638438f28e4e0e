/* A reflector's watch: events, all kinds of ends, 410 in both forms, garbage. */
#include "harness.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

/* An event with a Status as object. */
#define ERROR_EVENT(code, reason, more)                                                            \
    "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"status\":\"Failure\",\"code\":" code    \
    ",\"reason\":\"" reason "\",\"message\":\"so it is\"" more "}}\n"

static void events_are_applied_and_the_last_version_is_kept(void **state)
{
    struct harness *harness = *state;
    harness_begin(harness);
    harness->now_ms += 500;
    harness_event(harness, "ADDED", 'c', "101");
    harness_event(harness, "MODIFIED", 'd', "102");
    harness_event(harness, "ADDED", 'a', "103");
    harness_event(harness, "DELETED", 'b', "104");
    harness_event(harness, "DELETED", 'x', "105");
    assert_string_equal(harness_names(harness), "acd");
    assert_int_equal(harness->status.fresh_ms, 1500);
    harness->now_ms += 500;
    harness_event(harness, "BOOKMARK", 'a', "106");
    assert_string_equal(harness_names(harness), "acd");
    assert_int_equal(harness->status.fresh_ms, 2000);
    assert_int_equal(harness->status.events[WATCH_ADDED], 2);
    assert_int_equal(harness->status.events[WATCH_MODIFIED], 1);
    assert_int_equal(harness->status.events[WATCH_DELETED], 2);
    assert_int_equal(harness->status.events[WATCH_BOOKMARK], 1);
    assert_int_equal(harness->status.watches, 1);
    harness_end(harness, KUBE_ANSWERED);
    harness_expect_request(harness, HARNESS_WATCH("106"));
}

static void events_come_in_pieces_of_any_length(void **state)
{
    static const char TEXT[] =
        "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"c\",\"managedFields\":[1],"
        "\"resourceVersion\":\"101\"}}}\n\n"
        "{\"object\":{\"metadata\":{\"resourceVersion\":\"102\",\"name\":\"d\"}},\"type\":"
        "\"ADDED\"}";
    struct harness *harness = *state;
    harness_begin(harness);
    for (const char *at = TEXT; *at; at++)
        reflector_bytes(harness->reflector, harness->now_ms, at, 1);
    assert_string_equal(harness_names(harness), "abcd");
    harness_end(harness, KUBE_ANSWERED);
    harness_expect_request(harness, HARNESS_WATCH("102"));
}

static void batched_events_are_flushed_once_per_piece(void **state)
{
    struct harness *harness = *state;
    harness_begin(harness);
    int before = harness->n_flushes;
    harness_bytes(harness,
                  "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"c\","
                  "\"resourceVersion\":\"101\"}}}{\"type\":\"ADDED\",\"object\":{\"metadata\":{"
                  "\"name\":\"d\",\"resourceVersion\":\"102\"}}}{\"type\":");
    assert_int_equal(harness->n_flushes, before + 1);
    harness_bytes(harness, "\"ADD");
    assert_int_equal(harness->n_flushes, before + 1);
    harness_expect_quiet(harness, 1);
    assert_int_equal(harness->n_flushes, before + 1);
}

static void a_watch_that_ended_well_is_resumed_at_once(void **state)
{
    struct harness *harness = *state;
    harness_begin(harness);
    harness->now_ms += 1000;
    harness_end(harness, KUBE_ANSWERED);
    harness_expect_request(harness, HARNESS_WATCH("100"));
    harness_head(harness, 200);
    harness_event(harness, "BOOKMARK", 'z', "101");
    harness_end(harness, KUBE_ANSWERED);
    harness_expect_request(harness, HARNESS_WATCH("101"));
    assert_int_equal(harness->status.watches, 2);
}

static void a_very_short_watch_backs_off(void **state)
{
    struct harness *harness = *state;
    harness_begin(harness);
    harness->now_ms += 999;
    harness_end(harness, KUBE_ANSWERED);
    harness_expect_wait(harness, 800, 1600);
    harness_expect_request(harness, HARNESS_WATCH("100"));
}

static void a_cut_watch_is_resumed_after_a_delay(void **state)
{
    struct harness *harness = *state;
    harness_begin(harness);
    harness->now_ms += 5000;
    harness_event(harness, "ADDED", 'c', "101");
    harness_bytes(harness,
                  "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"d\",\"resourceV");
    harness_end(harness, KUBE_UNKNOWN);
    assert_string_equal(harness_names(harness), "abc");
    assert_string_equal(harness->why, "watch /api/v1/pods: connection reset by peer");
    harness_expect_wait(harness, 800, 1600);
    harness_expect_request(harness, HARNESS_WATCH("101"));
    harness_end(harness, KUBE_NOT_SENT);
    harness_expect_wait(harness, 1600, 3200);
    harness_expect_request(harness, HARNESS_WATCH("101"));
    harness_refuse(harness, 429, 9, "{}");
    harness_expect_wait(harness, 9000, 9000);
    harness_expect_request(harness, HARNESS_WATCH("101"));
    harness_head(harness, 200);
    assert_string_equal(harness->why, "");
    assert_false(harness->status.stale);
    assert_int_equal(harness->status.relists[RELIST_FAILED], 0);
}

static void a_too_old_version_is_relisted(void **state)
{
    struct harness *harness = *state;
    harness_begin(harness);
    harness->now_ms += 50000;
    harness_event(harness, "BOOKMARK", 'z', "101");
    harness->now_ms += 50000;
    harness_event(harness, "BOOKMARK", 'z', "102");
    harness->now_ms += 20000;
    harness_bytes(harness, ERROR_EVENT("410", "Expired", ""));
    harness_expect_cancel(harness);
    assert_string_equal(harness->why, "watch /api/v1/pods: ERROR 410: so it is");
    assert_int_equal(harness->status.events[WATCH_ERROR], 1);
    harness_expect_request(harness, HARNESS_LIST);
    assert_int_equal(harness->status.relists[RELIST_GONE], 1);
    harness_answer_list(harness, "200", "b", "");
    assert_string_equal(harness_names(harness), "b");
    harness_expect_request(harness, HARNESS_WATCH("200"));
    harness_answer(harness, 410, "{\"kind\":\"Status\",\"message\":\"gone\"}");
    assert_string_equal(harness->why, "watch /api/v1/pods: 410: gone");
    harness_expect_wait(harness, 800, 1600);
    harness_expect_request(harness, HARNESS_LIST);
    assert_int_equal(harness->status.relists[RELIST_GONE], 2);
}

/* The first one ends the watch, whatever follows it. */
static void nothing_after_an_error_is_applied(void **state)
{
    struct harness *harness = *state;
    harness_begin(harness);
    harness_bytes(harness,
                  ERROR_EVENT("0", "Gone", "") "{\"type\":\"ADDED\",\"object\":{\"metadata\":{"
                                               "\"name\":\"c\",\"resourceVersion\":\"101\"}}}");
    harness_event(harness, "ADDED", 'd', "102");
    harness_end(harness, KUBE_ANSWERED);
    assert_string_equal(harness_names(harness), "ab");
    harness_expect_wait(harness, 800, 1600);
    harness_expect_request(harness, HARNESS_LIST);
    assert_int_equal(harness->status.relists[RELIST_GONE], 1);
}

static void a_temporary_error_event_resumes_the_watch(void **state)
{
    struct harness *harness = *state;
    harness_begin(harness);
    harness_event(harness, "ADDED", 'c', "101");
    harness_bytes(harness,
                  ERROR_EVENT("429", "TooManyRequests", ",\"details\":{\"retryAfterSeconds\":7}"));
    harness_expect_cancel(harness);
    harness_expect_wait(harness, 7000, 7000);
    harness_expect_request(harness, HARNESS_WATCH("101"));
}

/* Delays that no API server sends are limited. */
static void the_delay_of_an_error_event_is_bounded(void **state)
{
    static const char *const SECONDS[] = {"9223372036854775807", "-9223372036854775807", "-1",
                                          "-9223372036854776"};
    (void)state;
    for (size_t i = 0; i < sizeof SECONDS / sizeof *SECONDS; i++) {
        struct harness harness;
        char text[200];
        (void)snprintf(text, sizeof text,
                       ERROR_EVENT("429", "", ",\"details\":{\"retryAfterSeconds\":%s}"),
                       SECONDS[i]);
        harness_begin(&harness);
        harness_bytes(&harness, text);
        harness_expect_cancel(&harness);
        harness_expect_wait(&harness, 0, 300000);
        harness_fini(&harness);
    }
}

static void any_other_error_relists_after_a_delay(void **state)
{
    struct harness *harness = *state;
    harness_begin(harness);
    harness_bytes(harness, ERROR_EVENT("500", "InternalError", ""));
    harness_expect_cancel(harness);
    harness_expect_wait(harness, 800, 1600);
    harness_expect_request(harness, HARNESS_LIST);
    assert_int_equal(harness->status.relists[RELIST_FAILED], 1);
    harness_answer_list(harness, "200", "b", "");
    harness_expect_request(harness, HARNESS_WATCH("200"));
    harness_answer(harness, 403, "{\"message\":\"no\"}");
    harness_expect_wait(harness, 1600, 3200);
    harness_expect_request(harness, HARNESS_LIST);
    assert_int_equal(harness->status.relists[RELIST_FAILED], 2);
}

/* Events before the fault stay; the faulty one does not count as seen. */
static void assert_garbage(const char *text, const char *why)
{
    struct harness harness;
    harness_begin(&harness);
    harness_event(&harness, "ADDED", 'c', "101");
    harness_bytes(&harness, text);
    harness_end(&harness, KUBE_ANSWERED);
    assert_string_equal(harness_names(&harness), "abc");
    assert_non_null(strstr(harness.why, why));
    harness_expect_wait(&harness, 800, 1600);
    harness_expect_request(&harness, HARNESS_LIST);
    assert_int_equal(harness.status.relists[RELIST_GARBAGE], 1);
    harness_fini(&harness);
}

static void invalid_events_are_garbage(void **state)
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

static void a_large_event(struct harness *harness, const char *type, char letter,
                          const char *version)
{
    char begin[200];
    (void)snprintf(begin, sizeof begin,
                   "{\"type\":\"%s\",\"object\":{\"metadata\":{\"name\":\"%c\","
                   "\"resourceVersion\":\"%s\",\"annotations\":{\"x\":\"",
                   type, letter, version);
    harness_bytes(harness, begin);
    harness_many_bytes(harness, 2 * HARNESS_OBJECT_MAX);
    harness_bytes(harness, "\"}}}}\n");
}

/* Its first members identify it, and the watch continues. */
static void a_too_large_object_is_reported_by_name(void **state)
{
    struct harness *harness = *state;
    harness_begin(harness);
    a_large_event(harness, "ADDED", 'c', "101");
    a_large_event(harness, "MODIFIED", 'a', "102");
    assert_int_equal(harness->n_too_large, 2);
    harness_event(harness, "ADDED", 'd', "103");
    assert_string_equal(harness_names(harness), "abcd");
    a_large_event(harness, "DELETED", 'c', "104");
    assert_string_equal(harness_names(harness), "abd");
    assert_int_equal(harness->n_too_large, 2);
    harness_expect_quiet(harness, HARNESS_SILENCE_MS);
    harness_end(harness, KUBE_ANSWERED);
    harness_expect_request(harness, HARNESS_WATCH("104"));
}

static void a_too_large_event_is_reported_and_relisted(void **state)
{
    struct harness *harness = *state;
    harness_begin(harness);
    harness_bytes(harness, "{\"type\":\"ADDED\",\"object\":{\"x\":\"");
    harness_many_bytes(harness, 2 * HARNESS_OBJECT_MAX);
    harness_expect_cancel(harness);
    assert_non_null(strstr(harness->why, "the object that begins here is larger than 2000 bytes"));
    harness_expect_wait(harness, 800, 1600);
    harness_expect_request(harness, HARNESS_LIST);
}

/* Dropped members take no memory, in events and in lists. */
static void unread_members_may_be_large(void **state)
{
    struct harness *harness = *state;
    harness_begin(harness);
    harness_bytes(harness, "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"managedFields\":\"");
    harness_many_bytes(harness, 2 * HARNESS_OBJECT_MAX);
    harness_bytes(harness, "\",\"name\":\"c\",\"resourceVersion\":\"101\"}}}");
    assert_string_equal(harness_names(harness), "abc");
}

static void a_restarted_list_begins_without_an_end_of_the_first(void **state)
{
    struct harness *harness = *state;
    harness_begin(harness);
    harness_event(harness, "ADDED", 'c', "101");
    harness_bytes(harness, "garbage");
    harness_expect_cancel(harness);
    harness_expect_wait(harness, 800, 1600);
    harness_expect_request(harness, HARNESS_LIST);
    harness_head(harness, 200);
    harness_bytes(harness, "{\"kind\":\"PodList\",\"items\":[{\"metadata\":{\"name\":\"d\"}},");
    harness_end(harness, KUBE_UNKNOWN);
    assert_true(harness->is_listing);
    assert_string_equal(harness_names(harness), "abcd");
    harness_expect_wait(harness, 1600, 3200);
    harness_expect_request(harness, HARNESS_LIST);
    harness_answer_list(harness, "200", "c", "");
    assert_string_equal(harness_names(harness), "c");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HARNESS_TEST(events_are_applied_and_the_last_version_is_kept),
        HARNESS_TEST(events_come_in_pieces_of_any_length),
        HARNESS_TEST(batched_events_are_flushed_once_per_piece),
        HARNESS_TEST(a_watch_that_ended_well_is_resumed_at_once),
        HARNESS_TEST(a_very_short_watch_backs_off),
        HARNESS_TEST(a_cut_watch_is_resumed_after_a_delay),
        HARNESS_TEST(a_too_old_version_is_relisted),
        HARNESS_TEST(nothing_after_an_error_is_applied),
        HARNESS_TEST(a_temporary_error_event_resumes_the_watch),
        cmocka_unit_test(the_delay_of_an_error_event_is_bounded),
        HARNESS_TEST(any_other_error_relists_after_a_delay),
        cmocka_unit_test(invalid_events_are_garbage),
        HARNESS_TEST(a_too_large_object_is_reported_by_name),
        HARNESS_TEST(a_too_large_event_is_reported_and_relisted),
        HARNESS_TEST(unread_members_may_be_large),
        HARNESS_TEST(a_restarted_list_begins_without_an_end_of_the_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
