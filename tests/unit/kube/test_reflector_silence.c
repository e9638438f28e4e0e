/* A silent reflector: it probes, catches up or relists, and reports stale data. */
#include "harness_steps.h"
#include "unit.h"

/* A proxy that opens a watch every few seconds but sends nothing is silent too. */
static void an_open_watch_alone_does_not_end_the_silence(void **state)
{
    struct harness *harness = *state;
    harness_begin(harness);
    for (int64_t gone_ms = 0; gone_ms + 5000 < HARNESS_SILENCE_MS; gone_ms += 5000) {
        harness->now_ms += 5000;
        harness_end(harness, KUBE_ANSWERED);
        harness_expect_request(harness, HARNESS_WATCH("100"));
        harness_head(harness, 200);
    }
    harness_expect_wait(harness, 5000, 5000);
    harness_expect_cancel(harness);
    harness_expect_request(harness, HARNESS_PROBE);
}

static void a_watch_that_cannot_be_opened_for_too_long_makes_stale(void **state)
{
    struct harness *harness = *state;
    harness_begin(harness);
    harness->now_ms += 30000;
    harness_end(harness, KUBE_UNKNOWN);
    int64_t closed_ms = harness->now_ms;
    while (!harness->status.stale) {
        assert_true(harness->now_ms < closed_ms + HARNESS_SILENCE_MS);
        harness_expect_wait(harness, 1, HARNESS_SILENCE_MS);
        struct reflector_action action = reflector_next(harness->reflector, harness->now_ms);
        if (action.want == REFLECTOR_REQUEST)
            harness_end(harness, KUBE_NOT_SENT);
    }
    assert_int_equal(harness->now_ms, closed_ms + HARNESS_SILENCE_MS);
    assert_string_equal(harness->why, "watch /api/v1/pods: connection reset by peer");
    harness_expect_wait(harness, 1, 60000);
    harness_expect_request(harness, HARNESS_PROBE);
    harness_answer_list(harness, "100", "x", "more");
    assert_false(harness->status.stale);
    harness_expect_request(harness, HARNESS_WATCH("100"));
}

static void end_well(struct harness *harness)
{
    harness_answer(harness, 200, "");
}

static void cut_off(struct harness *harness)
{
    harness_head(harness, 200);
    harness_end(harness, KUBE_UNKNOWN);
}

static void say_busy(struct harness *harness)
{
    harness_answer(harness, 200,
                   "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":429}}");
}

/* They delivered nothing, so they prove nothing. */
static void watches_that_end_at_once_make_stale(void **state)
{
    void (*const WAYS[])(struct harness * harness) = {end_well, cut_off, say_busy};
    (void)state;
    for (size_t i = 0; i < sizeof WAYS / sizeof *WAYS; i++) {
        struct harness harness;
        harness_begin(&harness);
        const int64_t closed_ms = harness.now_ms;
        harness_end(&harness, KUBE_ANSWERED);
        while (!harness.status.stale) {
            assert_in_range(harness.now_ms - closed_ms, 0, HARNESS_SILENCE_MS);
            harness_expect_wait(&harness, 1, HARNESS_SILENCE_MS);
            struct reflector_action action = reflector_next(harness.reflector, harness.now_ms);
            if (action.want == REFLECTOR_REQUEST)
                WAYS[i](&harness);
        }
        harness_expect_wait(&harness, 1, 60000);
        harness_expect_request(&harness, HARNESS_PROBE);
        harness_fini(&harness);
    }
}

/* The watch of harness_begin() was silent for too long, and the probe is in progress. */
#define FALL_SILENT                                                                                \
    BEGIN, WAIT(HARNESS_SILENCE_MS), CANCEL, PROBE, IS(request.fresh, true), IS(status.probes, 1), \
        STALE(false)
/* The probe is answered, one change ahead of us. */
#define FALL_BEHIND FALL_SILENT, PAGE("101", "x", "more"), CATCH_UP("100"), IS(request.fresh, true)
/* A watch ended normally, and opening the next one takes too long. */
#define BEGIN_STALE                                                                                \
    BEGIN, SLEEP(30000), END(KUBE_ANSWERED), WATCH("100"), WAIT(HARNESS_SILENCE_MS), QUIET(60000), \
        STALE(true)
#define CUT_OFF "GET /api/v1/pods: connection reset by peer"

static const struct harness_script SCRIPTS[] = {
    {"any byte ends the silence",
     {BEGIN, SLEEP(HARNESS_SILENCE_MS - 1), BYTES("\n"), WAIT(HARNESS_SILENCE_MS), BYTES("{"),
      WAIT(HARNESS_SILENCE_MS), CANCEL}},
    {"a probe with our version is enough",
     {FALL_SILENT, PAGE("100", "x", "more"), NAMES("ab"), FRESH_NOW, WATCH("100"),
      IS(request.fresh, true), HEAD(200), WAIT(HARNESS_SILENCE_MS)}},
    {"a probe asks with the same selector",
     {INIT_SELECTOR("x%3Dy"), REQUEST(HARNESS_LIST "&fieldSelector=x%3Dy"), LISTED("100", "ab"),
      WATCH("100"), HEAD(200), WAIT(HARNESS_SILENCE_MS), CANCEL,
      REQUEST(HARNESS_PROBE "&fieldSelector=x%3Dy"), PAGE("101", "x", "more"),
      REQUEST(HARNESS_CATCH_UP("100") "&fieldSelector=x%3Dy")}},
    {"an event that reaches the probe catches up",
     {FALL_BEHIND, HEAD(200), SLEEP(7000), EVENT("MODIFIED", 'a', "101"), FRESH_NOW,
      END(KUBE_ANSWERED), WATCH("101"), RELISTS(RELIST_SILENT, 0), FINI, FALL_BEHIND, HEAD(200),
      SLEEP(7000), BOOKMARK('a', "1000"), FRESH_NOW, END(KUBE_ANSWERED), WATCH("1000"),
      RELISTS(RELIST_SILENT, 0)}},
    /* From then on it is an ordinary watch, not cut off after ten seconds. */
    {"a caught up short watch goes on",
     {FALL_BEHIND, HEAD(200), BOOKMARK('a', "101"), WAIT(HARNESS_SILENCE_MS)}},
    /* fresh_ms stays that of the first list. */
    {"an event older than the probe is not enough",
     {FALL_SILENT, IS(status.fresh_ms, 1000), PAGE("1000", "x", "more"), CATCH_UP("100"), HEAD(200),
      ADDED('c', "01001"), ADDED('c', "999"), NAMES("abc"), IS(status.fresh_ms, 1000), SLEEP(8000),
      END(KUBE_ANSWERED), STALE(false), LIST, RELISTS(RELIST_SILENT, 1), LISTED("1001", "b"),
      NAMES("b"), STALE(false)}},
    {"a failed list after silence makes stale",
     {FALL_BEHIND, HEAD(200), SLEEP(8000), END(KUBE_ANSWERED), LIST, STALE(false),
      END(KUBE_NOT_SENT), STALE(true), WHY(CUT_OFF), BACK_OFF(800), LIST, LISTED("200", "b"),
      STALE(false), WHY("")}},
    {"a silent short watch makes stale",
     {FALL_BEHIND, SLEEP(4000), HEAD(200), WAIT(10000), STALE(false), CANCEL, STALE(true),
      WHY_HAS("no event arrived"), IS(status.trouble, TROUBLE_UNREACHABLE), LIST,
      IS(request.fresh, true), RELISTS(RELIST_SILENT, 1)}},
    {"an unanswered short watch makes stale",
     {FALL_BEHIND, WAIT(10000), CANCEL, STALE(true), LIST}},
    {"a short watch that never catches up is relisted",
     {FALL_SILENT, PAGE("1000", "x", "more"), CATCH_UP("100"), HEAD(200), SLEEP(9000),
      ADDED('c', "101"), WAIT(1000), CANCEL, STALE(false), LIST}},
    {"a cut short watch is relisted after a delay",
     {FALL_BEHIND, HEAD(200), END(KUBE_UNKNOWN), STALE(false), BACK_OFF(800), LIST,
      RELISTS(RELIST_SILENT, 1)}},
    {"a rejected short watch is probed again",
     {FALL_BEHIND, REFUSE(429, 3, ""), STALE(false), WAIT(3000), PROBE}},
    {"a short watch with a gone version is relisted",
     {FALL_BEHIND, ANSWER(410, ""), BACK_OFF(800), LIST, RELISTS(RELIST_GONE, 1)}},
    {"a failed probe makes stale until caught up",
     {FALL_SILENT,
      IS(request.timeout_ms, 10000),
      SLEEP(10000),
      END(KUBE_UNKNOWN),
      STALE(true),
      WHY(CUT_OFF),
      BACK_OFF(800),
      PROBE,
      IS(request.fresh, true),
      ANSWER(500, ""),
      WHY("GET /api/v1/pods: 500"),
      BACK_OFF(1600),
      PROBE,
      PAGE("101", "x", "more"),
      STALE(true),
      CATCH_UP("100"),
      HEAD(200),
      STALE(true),
      WHY("GET /api/v1/pods: 500"),
      BOOKMARK('a', "101"),
      STALE(false),
      WHY(""),
      IS(status.probes, 3)}},
    {"a probe with an older version relists",
     {FALL_SILENT, PAGE("99", "x", "more"), LIST, RELISTS(RELIST_SILENT, 1)}},
    /* Without decimal numbers, only an equal version counts as reached. */
    {"non-numeric versions are compared for equality",
     {FALL_SILENT, PAGE("x5", "x", "more"), CATCH_UP("100"), HEAD(200), BOOKMARK('a', "x6"),
      BOOKMARK('a', "0999"), WAIT(10000), BOOKMARK('a', "x5"), QUIET(HARNESS_SILENCE_MS)}},
    {"a watch that fails when stale is followed by a probe",
     {BEGIN_STALE, END(KUBE_NOT_SENT), BACK_OFF(800), PROBE}},
    /* The data became stale while the watch was opening; a probe must prove them fresh. */
    {"stale data is proven fresh by a probe",
     {BEGIN_STALE, WHY("watch /api/v1/pods: not watched for too long"),
      IS(status.trouble, TROUBLE_UNREACHABLE), HEAD(200), ADDED('c', "101"), STALE(true), CANCEL,
      PROBE}},
    {"a relist that starts too late makes stale",
     {BEGIN, BYTES("garbage"), CANCEL, BACK_OFF(800), LIST, REFUSE(429, 300, "not now"),
      WAIT_IN(HARNESS_SILENCE_MS - 1600, HARNESS_SILENCE_MS - 800), STALE(false), QUIET(60000),
      STALE(true)}},
    {"nothing is stale before the first list",
     {INIT, LIST, REFUSE(429, 200, ""), WAIT(200000), STALE(false), IS(status.synced, false),
      IS(status.fresh_ms, 0)}},
};

int main(void)
{
    const struct CMUnitTest tests[] = {
        HARNESS_TEST(an_open_watch_alone_does_not_end_the_silence),
        HARNESS_TEST(a_watch_that_cannot_be_opened_for_too_long_makes_stale),
        cmocka_unit_test(watches_that_end_at_once_make_stale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) +
           harness_run(SCRIPTS, sizeof SCRIPTS / sizeof *SCRIPTS);
}
