/* A reflector's watch: events, all kinds of ends, 410 in both forms, garbage. */
#include "harness_steps.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

/* An event with a Status as object. */
#define ERROR_EVENT(code, reason, more)                                                            \
    "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"status\":\"Failure\",\"code\":" code    \
    ",\"reason\":\"" reason "\",\"message\":\"so it is\"" more "}}\n"

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

#define LARGE_EVENT(type, letter, version)                                                         \
    BYTES("{\"type\":\"" type "\",\"object\":{\"metadata\":{\"name\":\"" letter                    \
          "\",\"resourceVersion\":\"" version "\",\"annotations\":{\"x\":\""),                     \
        LARGE, BYTES("\"}}}}\n")

static const struct harness_script SCRIPTS[] = {
    {"events are applied and the last version is kept",
     {BEGIN,
      SLEEP(500),
      ADDED('c', "101"),
      EVENT("MODIFIED", 'd', "102"),
      ADDED('a', "103"),
      EVENT("DELETED", 'b', "104"),
      EVENT("DELETED", 'x', "105"),
      NAMES("acd"),
      IS(status.fresh_ms, 1500),
      SLEEP(500),
      BOOKMARK('a', "106"),
      NAMES("acd"),
      IS(status.fresh_ms, 2000),
      IS(status.events[WATCH_ADDED], 2),
      IS(status.events[WATCH_MODIFIED], 1),
      IS(status.events[WATCH_DELETED], 2),
      IS(status.events[WATCH_BOOKMARK], 1),
      IS(status.watches, 1),
      END(KUBE_ANSWERED),
      WATCH("106")}},
    {"a watch that ended well is resumed at once",
     {BEGIN, SLEEP(1000), END(KUBE_ANSWERED), WATCH("100"), HEAD(200), BOOKMARK('z', "101"),
      END(KUBE_ANSWERED), WATCH("101"), IS(status.watches, 2)}},
    {"a very short watch backs off",
     {BEGIN, SLEEP(999), END(KUBE_ANSWERED), BACK_OFF(800), WATCH("100")}},
    {"a cut watch is resumed after a delay",
     {BEGIN, SLEEP(5000), ADDED('c', "101"),
      BYTES("{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"d\",\"resourceV"),
      END(KUBE_UNKNOWN), NAMES("abc"), WHY("watch /api/v1/pods: connection reset by peer"),
      BACK_OFF(800), WATCH("101"), END(KUBE_NOT_SENT), BACK_OFF(1600), WATCH("101"),
      REFUSE(429, 9, "{}"), WAIT(9000), WATCH("101"), HEAD(200), WHY(""), STALE(false),
      RELISTS(RELIST_FAILED, 0)}},
    {"a too old version is relisted",
     {BEGIN,
      SLEEP(50000),
      BOOKMARK('z', "101"),
      SLEEP(50000),
      BOOKMARK('z', "102"),
      SLEEP(20000),
      BYTES(ERROR_EVENT("410", "Expired", "")),
      CANCEL,
      WHY("watch /api/v1/pods: ERROR 410: so it is"),
      IS(status.events[WATCH_ERROR], 1),
      LIST,
      RELISTS(RELIST_GONE, 1),
      LISTED("200", "b"),
      NAMES("b"),
      WATCH("200"),
      ANSWER(410, "{\"kind\":\"Status\",\"message\":\"gone\"}"),
      WHY("watch /api/v1/pods: 410: gone"),
      BACK_OFF(800),
      LIST,
      RELISTS(RELIST_GONE, 2)}},
    /* The first one ends the watch, whatever follows it. */
    {"nothing after an error is applied",
     {BEGIN,
      BYTES(ERROR_EVENT("0", "Gone", "") "{\"type\":\"ADDED\",\"object\":{\"metadata\":{"
                                         "\"name\":\"c\",\"resourceVersion\":\"101\"}}}"),
      ADDED('d', "102"), END(KUBE_ANSWERED), NAMES("ab"), BACK_OFF(800), LIST,
      RELISTS(RELIST_GONE, 1)}},
    {"a temporary error event resumes the watch",
     {BEGIN, ADDED('c', "101"),
      BYTES(ERROR_EVENT("429", "TooManyRequests", ",\"details\":{\"retryAfterSeconds\":7}")),
      CANCEL, WAIT(7000), WATCH("101")}},
    {"any other error relists after a delay",
     {BEGIN, BYTES(ERROR_EVENT("500", "InternalError", "")), CANCEL, BACK_OFF(800), LIST,
      RELISTS(RELIST_FAILED, 1), LISTED("200", "b"), WATCH("200"),
      ANSWER(403, "{\"message\":\"no\"}"), BACK_OFF(1600), LIST, RELISTS(RELIST_FAILED, 2)}},
    /* Its first members identify it, and the watch continues. */
    {"a too large object is reported by name",
     {BEGIN, LARGE_EVENT("ADDED", "c", "101"), LARGE_EVENT("MODIFIED", "a", "102"),
      IS(n_too_large, 2), ADDED('d', "103"), NAMES("abcd"), LARGE_EVENT("DELETED", "c", "104"),
      NAMES("abd"), IS(n_too_large, 2), QUIET(HARNESS_SILENCE_MS), END(KUBE_ANSWERED),
      WATCH("104")}},
    {"a too large event is reported and relisted",
     {BEGIN, BYTES("{\"type\":\"ADDED\",\"object\":{\"x\":\""), LARGE, CANCEL,
      WHY_HAS("the object that begins here is larger than 2000 bytes"), BACK_OFF(800), LIST}},
    /* Dropped members take no memory, in events and in lists. */
    {"unread members may be large",
     {BEGIN, BYTES("{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"managedFields\":\""), LARGE,
      BYTES("\",\"name\":\"c\",\"resourceVersion\":\"101\"}}}"), NAMES("abc")}},
    {"a restarted list begins without an end of the first",
     {BEGIN, ADDED('c', "101"), BYTES("garbage"), CANCEL, BACK_OFF(800), LIST, HEAD(200),
      BYTES("{\"kind\":\"PodList\",\"items\":[{\"metadata\":{\"name\":\"d\"}},"), END(KUBE_UNKNOWN),
      IS(is_listing, true), NAMES("abcd"), BACK_OFF(1600), LIST, LISTED("200", "c"), NAMES("c")}},
};

int main(void)
{
    const struct CMUnitTest tests[] = {
        HARNESS_TEST(events_come_in_pieces_of_any_length),
        HARNESS_TEST(batched_events_are_flushed_once_per_piece),
        cmocka_unit_test(the_delay_of_an_error_event_is_bounded),
        cmocka_unit_test(invalid_events_are_garbage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) +
           harness_run(SCRIPTS, sizeof SCRIPTS / sizeof *SCRIPTS);
}
