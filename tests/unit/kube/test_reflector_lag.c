/* How far the store may be behind the API server. It has caught up when nothing of the watch is
 * unread; an event alone does not prove it. */
#include "harness_steps.h"
#include "unit.h"

static int64_t lag_ms(const struct harness *harness)
{
    return reflector_lag_ms(harness->lag_since_ms, harness->now_ms);
}

static void drain(struct harness *harness)
{
    reflector_drained(harness->reflector, harness->now_ms);
}

static void unread_event(struct harness *harness, const char *version)
{
    char text[200];
    (void)snprintf(text, sizeof text,
                   "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"c\","
                   "\"resourceVersion\":\"%s\"}}}\n",
                   version);
    harness_bytes_before_others(harness, text);
}

static void a_flood_causes_lag_despite_processing(void **state)
{
    struct harness *harness = *state;
    harness_begin(harness);
    drain(harness);
    const int64_t fresh_ms = harness->status.fresh_ms;
    for (int i = 0; i < 20; i++) {
        harness->now_ms += 1000;
        unread_event(harness, "101");
    }
    assert_int_equal(lag_ms(harness), 20000);
    assert_int_equal(harness->status.fresh_ms, fresh_ms);
    drain(harness);
    assert_int_equal(lag_ms(harness), 0);
    assert_int_equal(harness->status.fresh_ms, harness->now_ms);
}

/* Silence is no lag, however long, and no news. */
static void a_quiet_watch_does_not_lag(void **state)
{
    struct harness *harness = *state;
    harness_begin(harness);
    const int64_t fresh_ms = harness->status.fresh_ms;
    for (int i = 0; i < 50; i++) {
        harness->now_ms += 1000;
        drain(harness);
        assert_int_equal(lag_ms(harness), 0);
    }
    assert_int_equal(harness->status.fresh_ms, fresh_ms);
}

static void versions_that_do_not_compare_do_not_matter(void **state)
{
    static const char *const VERSIONS[] = {"zz", "10", "x-9", "9"};
    struct harness *harness = *state;
    harness_init(harness, NULL);
    harness_expect_request(harness, HARNESS_LIST);
    harness_answer_list(harness, "opaque", "ab", "");
    harness_expect_request(harness, HARNESS_WATCH("opaque"));
    harness_head(harness, 200);
    for (size_t i = 0; i < sizeof VERSIONS / sizeof *VERSIONS; i++) {
        harness->now_ms += 5000;
        harness_event(harness, "ADDED", 'c', VERSIONS[i]);
        assert_int_equal(lag_ms(harness), 0);
        assert_int_equal(harness->status.fresh_ms, harness->now_ms);
    }
}

/* The socket is empty repeatedly, but the event is incomplete. */
static void half_an_event_is_unread(void **state)
{
    struct harness *harness = *state;
    harness_begin(harness);
    drain(harness);
    harness_bytes(harness, "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"");
    for (int i = 0; i < 30; i++) {
        harness->now_ms += 1000;
        harness_bytes(harness, "c");
    }
    assert_int_equal(lag_ms(harness), 30000);
    harness_bytes(harness, "\",\"resourceVersion\":\"101\"}}}");
    assert_int_equal(lag_ms(harness), 0);
}

static void white_space_is_no_event(void **state)
{
    struct harness *harness = *state;
    harness_begin(harness);
    for (int i = 0; i < 30; i++) {
        harness->now_ms += 1000;
        harness_bytes(harness, "\n");
    }
    assert_int_equal(lag_ms(harness), 0);
}

static void expect_lag(struct harness *harness, const struct harness_step *step)
{
    assert_int_equal(lag_ms(harness), step->number);
}

#define DRAINED CALL(drain)
#define UNREAD(version) TEXT(unread_event, version)
#define LAG(ms) FULL(expect_lag, .number = (ms))

static const struct harness_script SCRIPTS[] = {
    /* Cutting the watch hides no backlog. Without a watch, silence_ms applies. */
    {"the lag stays constant without a watch",
     {BEGIN,       DRAINED,       SLEEP(1000), UNREAD("101"), SLEEP(1000),        UNREAD("101"),
      SLEEP(1000), UNREAD("101"), SLEEP(1000), UNREAD("101"), END(KUBE_ANSWERED), SLEEP(9000),
      LAG(4000),   WATCH("101"),  LAG(4000),   HEAD(200),     SLEEP(1000),        UNREAD("102"),
      LAG(5000),   DRAINED,       LAG(0)}},
    {"the lag after the first list is its duration",
     {INIT, LIST, SLEEP(12000), LISTED("100", "ab"), LAG(12000), WATCH("100"), HEAD(200),
      LAG(12000), DRAINED, LAG(0)}},
    /* Before it, the last list was long ago, or this one waits. */
    {"a later list ends the lag",
     {BEGIN, DRAINED, SLEEP(5000), UNREAD("101"),
      BYTES_BEFORE_OTHERS("{\"type\":\"ERROR\",\"object\":{\"code\":410,\"reason\":\"Expired\"}}"),
      CANCEL, SLEEP(30000), LIST, SLEEP(20000), LISTED("100", "ab"), LAG(0)}},
};

int main(void)
{
    const struct CMUnitTest tests[] = {
        HARNESS_TEST(a_flood_causes_lag_despite_processing),
        HARNESS_TEST(a_quiet_watch_does_not_lag),
        HARNESS_TEST(versions_that_do_not_compare_do_not_matter),
        HARNESS_TEST(half_an_event_is_unread),
        HARNESS_TEST(white_space_is_no_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) +
           harness_run(SCRIPTS, sizeof SCRIPTS / sizeof *SCRIPTS);
}
