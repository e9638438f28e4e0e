/* A silent reflector: it probes, catches up or relists, and reports stale data. */
#include "harness.h"
#include "unit.h"

#include <string.h>

/* The watch of harness_begin() was silent for too long, and the probe is in progress. */
static void fall_silent(struct harness *harness)
{
    harness_begin(harness);
    harness_expect_wait(harness, HARNESS_SILENCE_MS, HARNESS_SILENCE_MS);
    harness_expect_cancel(harness);
    harness_expect_request(harness, HARNESS_PROBE);
    assert_true(harness->request.fresh);
    assert_int_equal(harness->status.probes, 1);
    assert_false(harness->status.stale);
}

/* The probe is answered, one change ahead of us. */
static void catch_up(struct harness *harness)
{
    fall_silent(harness);
    harness_answer_list(harness, "101", "x", "more");
    harness_expect_request(harness, HARNESS_CATCH_UP("100"));
    assert_true(harness->request.fresh);
}

static void any_byte_ends_the_silence(void **state)
{
    struct harness *harness = *state;
    harness_begin(harness);
    harness->now_ms += HARNESS_SILENCE_MS - 1;
    harness_bytes(harness, "\n");
    harness_expect_wait(harness, HARNESS_SILENCE_MS, HARNESS_SILENCE_MS);
    harness_bytes(harness, "{");
    harness_expect_wait(harness, HARNESS_SILENCE_MS, HARNESS_SILENCE_MS);
    harness_expect_cancel(harness);
}

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

static void a_probe_with_our_version_is_enough(void **state)
{
    struct harness *harness = *state;
    fall_silent(harness);
    harness_answer_list(harness, "100", "x", "more");
    assert_string_equal(harness_names(harness), "ab");
    assert_int_equal(harness->status.fresh_ms, harness->now_ms);
    harness_expect_request(harness, HARNESS_WATCH("100"));
    assert_true(harness->request.fresh);
    harness_head(harness, 200);
    harness_expect_wait(harness, HARNESS_SILENCE_MS, HARNESS_SILENCE_MS);
}

static void a_probe_asks_with_the_same_selector(void **state)
{
    struct harness *harness = *state;
    harness_init(harness, "x%3Dy");
    harness_expect_request(harness, HARNESS_LIST "&fieldSelector=x%3Dy");
    harness_answer_list(harness, "100", "ab", "");
    harness_expect_request(harness, HARNESS_WATCH("100"));
    harness_head(harness, 200);
    harness_expect_wait(harness, HARNESS_SILENCE_MS, HARNESS_SILENCE_MS);
    harness_expect_cancel(harness);
    harness_expect_request(harness, HARNESS_PROBE "&fieldSelector=x%3Dy");
    harness_answer_list(harness, "101", "x", "more");
    harness_expect_request(harness, HARNESS_CATCH_UP("100") "&fieldSelector=x%3Dy");
}

static void an_event_that_reaches_the_probe_catches_up(void **state)
{
    static const char *const TYPES[] = {"MODIFIED", "BOOKMARK"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct harness harness;
        catch_up(&harness);
        harness_head(&harness, 200);
        harness.now_ms += 7000;
        harness_event(&harness, TYPES[i], 'a', i == 0 ? "101" : "1000");
        assert_int_equal(harness.status.fresh_ms, harness.now_ms);
        harness_end(&harness, KUBE_ANSWERED);
        harness_expect_request(&harness, i == 0 ? HARNESS_WATCH("101") : HARNESS_WATCH("1000"));
        assert_int_equal(harness.status.relists[RELIST_SILENT], 0);
        harness_fini(&harness);
    }
}

/* From then on it is an ordinary watch, not cut off after ten seconds. */
static void a_caught_up_short_watch_goes_on(void **state)
{
    struct harness *harness = *state;
    catch_up(harness);
    harness_head(harness, 200);
    harness_event(harness, "BOOKMARK", 'a', "101");
    harness_expect_wait(harness, HARNESS_SILENCE_MS, HARNESS_SILENCE_MS);
}

static void an_event_older_than_the_probe_is_not_enough(void **state)
{
    struct harness *harness = *state;
    fall_silent(harness);
    int64_t fresh_ms = harness->status.fresh_ms;
    harness_answer_list(harness, "1000", "x", "more");
    harness_expect_request(harness, HARNESS_CATCH_UP("100"));
    harness_head(harness, 200);
    harness_event(harness, "ADDED", 'c', "01001");
    harness_event(harness, "ADDED", 'c', "999");
    assert_string_equal(harness_names(harness), "abc");
    assert_int_equal(harness->status.fresh_ms, fresh_ms);
    harness->now_ms += 8000;
    harness_end(harness, KUBE_ANSWERED);
    assert_false(harness->status.stale);
    harness_expect_request(harness, HARNESS_LIST);
    assert_int_equal(harness->status.relists[RELIST_SILENT], 1);
    harness_answer_list(harness, "1001", "b", "");
    assert_string_equal(harness_names(harness), "b");
    assert_false(harness->status.stale);
}

static void a_failed_list_after_silence_makes_stale(void **state)
{
    struct harness *harness = *state;
    catch_up(harness);
    harness_head(harness, 200);
    harness->now_ms += 8000;
    harness_end(harness, KUBE_ANSWERED);
    harness_expect_request(harness, HARNESS_LIST);
    assert_false(harness->status.stale);
    harness_end(harness, KUBE_NOT_SENT);
    assert_true(harness->status.stale);
    assert_string_equal(harness->why, "GET /api/v1/pods: connection reset by peer");
    harness_expect_wait(harness, 800, 1600);
    harness_expect_request(harness, HARNESS_LIST);
    harness_answer_list(harness, "200", "b", "");
    assert_false(harness->status.stale);
    assert_string_equal(harness->why, "");
}

static void a_silent_short_watch_makes_stale(void **state)
{
    struct harness *harness = *state;
    catch_up(harness);
    harness->now_ms += 4000;
    harness_head(harness, 200);
    harness_expect_wait(harness, 10000, 10000);
    assert_false(harness->status.stale);
    harness_expect_cancel(harness);
    assert_true(harness->status.stale);
    assert_non_null(strstr(harness->why, "no event arrived"));
    assert_int_equal(harness->status.trouble, TROUBLE_UNREACHABLE);
    harness_expect_request(harness, HARNESS_LIST);
    assert_true(harness->request.fresh);
    assert_int_equal(harness->status.relists[RELIST_SILENT], 1);
}

static void an_unanswered_short_watch_makes_stale(void **state)
{
    struct harness *harness = *state;
    catch_up(harness);
    harness_expect_wait(harness, 10000, 10000);
    harness_expect_cancel(harness);
    assert_true(harness->status.stale);
    harness_expect_request(harness, HARNESS_LIST);
}

static void a_short_watch_that_never_catches_up_is_relisted(void **state)
{
    struct harness *harness = *state;
    fall_silent(harness);
    harness_answer_list(harness, "1000", "x", "more");
    harness_expect_request(harness, HARNESS_CATCH_UP("100"));
    harness_head(harness, 200);
    harness->now_ms += 9000;
    harness_event(harness, "ADDED", 'c', "101");
    harness_expect_wait(harness, 1000, 1000);
    harness_expect_cancel(harness);
    assert_false(harness->status.stale);
    harness_expect_request(harness, HARNESS_LIST);
}

static void a_cut_short_watch_is_relisted_after_a_delay(void **state)
{
    struct harness *harness = *state;
    catch_up(harness);
    harness_head(harness, 200);
    harness_end(harness, KUBE_UNKNOWN);
    assert_false(harness->status.stale);
    harness_expect_wait(harness, 800, 1600);
    harness_expect_request(harness, HARNESS_LIST);
    assert_int_equal(harness->status.relists[RELIST_SILENT], 1);
}

static void a_rejected_short_watch_is_probed_again(void **state)
{
    struct harness *harness = *state;
    catch_up(harness);
    harness_refuse(harness, 429, 3, "");
    assert_false(harness->status.stale);
    harness_expect_wait(harness, 3000, 3000);
    harness_expect_request(harness, HARNESS_PROBE);
}

static void a_short_watch_with_a_gone_version_is_relisted(void **state)
{
    struct harness *harness = *state;
    catch_up(harness);
    harness_answer(harness, 410, "");
    harness_expect_wait(harness, 800, 1600);
    harness_expect_request(harness, HARNESS_LIST);
    assert_int_equal(harness->status.relists[RELIST_GONE], 1);
}

static void a_failed_probe_makes_stale_until_caught_up(void **state)
{
    struct harness *harness = *state;
    fall_silent(harness);
    harness->now_ms += harness->request.timeout_ms;
    harness_end(harness, KUBE_UNKNOWN);
    assert_true(harness->status.stale);
    assert_string_equal(harness->why, "GET /api/v1/pods: connection reset by peer");
    harness_expect_wait(harness, 800, 1600);
    harness_expect_request(harness, HARNESS_PROBE);
    assert_true(harness->request.fresh);
    harness_answer(harness, 500, "");
    assert_string_equal(harness->why, "GET /api/v1/pods: 500");
    harness_expect_wait(harness, 1600, 3200);
    harness_expect_request(harness, HARNESS_PROBE);
    harness_answer_list(harness, "101", "x", "more");
    assert_true(harness->status.stale);
    harness_expect_request(harness, HARNESS_CATCH_UP("100"));
    harness_head(harness, 200);
    assert_true(harness->status.stale);
    assert_string_equal(harness->why, "GET /api/v1/pods: 500");
    harness_event(harness, "BOOKMARK", 'a', "101");
    assert_false(harness->status.stale);
    assert_string_equal(harness->why, "");
    assert_int_equal(harness->status.probes, 3);
}

static void a_probe_with_an_older_version_relists(void **state)
{
    struct harness *harness = *state;
    fall_silent(harness);
    harness_answer_list(harness, "99", "x", "more");
    harness_expect_request(harness, HARNESS_LIST);
    assert_int_equal(harness->status.relists[RELIST_SILENT], 1);
}

/* Without decimal numbers, only an equal version counts as reached. */
static void non_numeric_versions_are_compared_for_equality(void **state)
{
    struct harness *harness = *state;
    fall_silent(harness);
    harness_answer_list(harness, "x5", "x", "more");
    harness_expect_request(harness, HARNESS_CATCH_UP("100"));
    harness_head(harness, 200);
    harness_event(harness, "BOOKMARK", 'a', "x6");
    harness_event(harness, "BOOKMARK", 'a', "0999");
    harness_expect_wait(harness, 10000, 10000);
    harness_event(harness, "BOOKMARK", 'a', "x5");
    harness_expect_quiet(harness, HARNESS_SILENCE_MS);
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

/* A watch ended normally, and opening the next one takes too long. */
static void begin_stale(struct harness *harness)
{
    harness_begin(harness);
    harness->now_ms += 30000;
    harness_end(harness, KUBE_ANSWERED);
    harness_expect_request(harness, HARNESS_WATCH("100"));
    harness_expect_wait(harness, HARNESS_SILENCE_MS, HARNESS_SILENCE_MS);
    harness_expect_quiet(harness, 60000);
    assert_true(harness->status.stale);
}

static void a_watch_that_fails_when_stale_is_followed_by_a_probe(void **state)
{
    struct harness *harness = *state;
    begin_stale(harness);
    harness_end(harness, KUBE_NOT_SENT);
    harness_expect_wait(harness, 800, 1600);
    harness_expect_request(harness, HARNESS_PROBE);
}

/* The data became stale while the watch was opening; a probe must prove them fresh. */
static void stale_data_is_proven_fresh_by_a_probe(void **state)
{
    struct harness *harness = *state;
    begin_stale(harness);
    assert_string_equal(harness->why, "watch /api/v1/pods: not watched for too long");
    assert_int_equal(harness->status.trouble, TROUBLE_UNREACHABLE);
    harness_head(harness, 200);
    harness_event(harness, "ADDED", 'c', "101");
    assert_true(harness->status.stale);
    harness_expect_cancel(harness);
    harness_expect_request(harness, HARNESS_PROBE);
}

static void a_relist_that_starts_too_late_makes_stale(void **state)
{
    struct harness *harness = *state;
    harness_begin(harness);
    harness_bytes(harness, "garbage");
    harness_expect_cancel(harness);
    harness_expect_wait(harness, 800, 1600);
    harness_expect_request(harness, HARNESS_LIST);
    harness_refuse(harness, 429, 300, "not now");
    harness_expect_wait(harness, HARNESS_SILENCE_MS - 1600, HARNESS_SILENCE_MS - 800);
    assert_false(harness->status.stale);
    harness_expect_quiet(harness, 60000);
    assert_true(harness->status.stale);
}

static void nothing_is_stale_before_the_first_list(void **state)
{
    struct harness *harness = *state;
    harness_init(harness, NULL);
    harness_expect_request(harness, HARNESS_LIST);
    harness_refuse(harness, 429, 200, "");
    harness_expect_wait(harness, 200000, 200000);
    assert_false(harness->status.stale);
    assert_false(harness->status.synced);
    assert_int_equal(harness->status.fresh_ms, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HARNESS_TEST(any_byte_ends_the_silence),
        HARNESS_TEST(an_open_watch_alone_does_not_end_the_silence),
        HARNESS_TEST(a_probe_with_our_version_is_enough),
        HARNESS_TEST(a_probe_asks_with_the_same_selector),
        cmocka_unit_test(an_event_that_reaches_the_probe_catches_up),
        HARNESS_TEST(a_caught_up_short_watch_goes_on),
        HARNESS_TEST(an_event_older_than_the_probe_is_not_enough),
        HARNESS_TEST(a_failed_list_after_silence_makes_stale),
        HARNESS_TEST(a_silent_short_watch_makes_stale),
        HARNESS_TEST(an_unanswered_short_watch_makes_stale),
        HARNESS_TEST(a_short_watch_that_never_catches_up_is_relisted),
        HARNESS_TEST(a_cut_short_watch_is_relisted_after_a_delay),
        HARNESS_TEST(a_rejected_short_watch_is_probed_again),
        HARNESS_TEST(a_short_watch_with_a_gone_version_is_relisted),
        HARNESS_TEST(a_failed_probe_makes_stale_until_caught_up),
        HARNESS_TEST(a_probe_with_an_older_version_relists),
        HARNESS_TEST(non_numeric_versions_are_compared_for_equality),
        HARNESS_TEST(a_watch_that_cannot_be_opened_for_too_long_makes_stale),
        cmocka_unit_test(watches_that_end_at_once_make_stale),
        HARNESS_TEST(a_watch_that_fails_when_stale_is_followed_by_a_probe),
        HARNESS_TEST(stale_data_is_proven_fresh_by_a_probe),
        HARNESS_TEST(a_relist_that_starts_too_late_makes_stale),
        HARNESS_TEST(nothing_is_stale_before_the_first_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
