/* What a reflector does when nothing comes: it asks, catches up or lists again, and says when its
 * data is stale. */
#include "rig.h"
#include "unit.h"

#include <string.h>

/* The watch of rig_begin() was silent for too long, and the probe is on its way. */
static void fall_silent(struct rig *rig)
{
    rig_begin(rig);
    rig_expect_wait(rig, RIG_SILENCE_MS, RIG_SILENCE_MS);
    rig_expect_cancel(rig);
    rig_expect_request(rig, RIG_PROBE);
    assert_true(rig->request.fresh);
    assert_int_equal(rig->status.probes, 1);
    assert_false(rig->status.stale);
}

/* And answered, one change later than what we have. */
static void catch_up(struct rig *rig)
{
    fall_silent(rig);
    rig_answer_list(rig, "101", "x", "more");
    rig_expect_request(rig, RIG_CATCH_UP("100"));
    assert_true(rig->request.fresh);
}

static void any_byte_ends_the_silence(void **state)
{
    struct rig rig;
    (void)state;
    rig_begin(&rig);
    rig.now_ms += RIG_SILENCE_MS - 1;
    rig_bytes(&rig, "\n");
    rig_expect_wait(&rig, RIG_SILENCE_MS, RIG_SILENCE_MS);
    rig_bytes(&rig, "{");
    rig_expect_wait(&rig, RIG_SILENCE_MS, RIG_SILENCE_MS);
    rig_expect_cancel(&rig);
    rig_fini(&rig);
}

/* A proxy that opens a watch every few seconds and says nothing is silent, too. */
static void an_opened_watch_alone_does_not_end_the_silence(void **state)
{
    struct rig rig;
    (void)state;
    rig_begin(&rig);
    for (int64_t gone_ms = 0; gone_ms + 5000 < RIG_SILENCE_MS; gone_ms += 5000) {
        rig.now_ms += 5000;
        rig_end(&rig, KUBE_ANSWERED);
        rig_expect_request(&rig, RIG_WATCH("100"));
        rig_head(&rig, 200);
    }
    rig_expect_wait(&rig, 5000, 5000);
    rig_expect_cancel(&rig);
    rig_expect_request(&rig, RIG_PROBE);
    rig_fini(&rig);
}

static void a_probe_that_sees_what_we_have_is_enough(void **state)
{
    struct rig rig;
    (void)state;
    fall_silent(&rig);
    rig_answer_list(&rig, "100", "x", "more");
    assert_string_equal(rig_names(&rig), "ab");
    assert_int_equal(rig.status.fresh_ms, rig.now_ms);
    rig_expect_request(&rig, RIG_WATCH("100"));
    assert_true(rig.request.fresh);
    rig_head(&rig, 200);
    rig_expect_wait(&rig, RIG_SILENCE_MS, RIG_SILENCE_MS);
    rig_fini(&rig);
}

static void a_probe_asks_with_the_same_selector(void **state)
{
    struct rig rig;
    (void)state;
    rig_init(&rig, "x%3Dy");
    rig_expect_request(&rig, RIG_LIST "&fieldSelector=x%3Dy");
    rig_answer_list(&rig, "100", "ab", "");
    rig_expect_request(&rig, RIG_WATCH("100"));
    rig_head(&rig, 200);
    rig_expect_wait(&rig, RIG_SILENCE_MS, RIG_SILENCE_MS);
    rig_expect_cancel(&rig);
    rig_expect_request(&rig, RIG_PROBE "&fieldSelector=x%3Dy");
    rig_answer_list(&rig, "101", "x", "more");
    rig_expect_request(&rig, RIG_CATCH_UP("100") "&fieldSelector=x%3Dy");
    rig_fini(&rig);
}

static void an_event_that_reaches_the_probe_catches_up(void **state)
{
    static const char *const TYPES[] = {"MODIFIED", "BOOKMARK"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct rig rig;
        catch_up(&rig);
        rig_head(&rig, 200);
        rig.now_ms += 7000;
        rig_event(&rig, TYPES[i], 'a', i == 0 ? "101" : "1000");
        assert_int_equal(rig.status.fresh_ms, rig.now_ms);
        rig_end(&rig, KUBE_ANSWERED);
        rig_expect_request(&rig, i == 0 ? RIG_WATCH("101") : RIG_WATCH("1000"));
        assert_int_equal(rig.status.relists[RELIST_SILENT], 0);
        rig_fini(&rig);
    }
}

/* It is judged as any watch from then on, and not cut off after ten seconds. */
static void having_caught_up_the_short_watch_goes_on(void **state)
{
    struct rig rig;
    (void)state;
    catch_up(&rig);
    rig_head(&rig, 200);
    rig_event(&rig, "BOOKMARK", 'a', "101");
    rig_expect_wait(&rig, RIG_SILENCE_MS, RIG_SILENCE_MS);
    rig_fini(&rig);
}

static void an_event_before_what_the_probe_saw_is_not_enough(void **state)
{
    struct rig rig;
    (void)state;
    fall_silent(&rig);
    int64_t fresh_ms = rig.status.fresh_ms;
    rig_answer_list(&rig, "1000", "x", "more");
    rig_expect_request(&rig, RIG_CATCH_UP("100"));
    rig_head(&rig, 200);
    rig_event(&rig, "ADDED", 'c', "01001");
    rig_event(&rig, "ADDED", 'c', "999");
    assert_string_equal(rig_names(&rig), "abc");
    assert_int_equal(rig.status.fresh_ms, fresh_ms);
    rig.now_ms += 8000;
    rig_end(&rig, KUBE_ANSWERED);
    assert_false(rig.status.stale);
    rig_expect_request(&rig, RIG_LIST);
    assert_int_equal(rig.status.relists[RELIST_SILENT], 1);
    rig_answer_list(&rig, "1001", "b", "");
    assert_string_equal(rig_names(&rig), "b");
    assert_false(rig.status.stale);
    rig_fini(&rig);
}

static void a_list_after_silence_that_fails_makes_stale(void **state)
{
    struct rig rig;
    (void)state;
    catch_up(&rig);
    rig_head(&rig, 200);
    rig.now_ms += 8000;
    rig_end(&rig, KUBE_ANSWERED);
    rig_expect_request(&rig, RIG_LIST);
    assert_false(rig.status.stale);
    rig_end(&rig, KUBE_NOT_SENT);
    assert_true(rig.status.stale);
    assert_string_equal(rig.why, "GET /api/v1/pods: connection reset by peer");
    rig_expect_wait(&rig, 800, 1600);
    rig_expect_request(&rig, RIG_LIST);
    rig_answer_list(&rig, "200", "b", "");
    assert_false(rig.status.stale);
    assert_string_equal(rig.why, "");
    rig_fini(&rig);
}

static void a_short_watch_of_which_nothing_comes_makes_stale(void **state)
{
    struct rig rig;
    (void)state;
    catch_up(&rig);
    rig.now_ms += 4000;
    rig_head(&rig, 200);
    rig_expect_wait(&rig, 10000, 10000);
    assert_false(rig.status.stale);
    rig_expect_cancel(&rig);
    assert_true(rig.status.stale);
    assert_non_null(strstr(rig.why, "nothing came"));
    assert_int_equal(rig.status.trouble, TROUBLE_UNREACHABLE);
    rig_expect_request(&rig, RIG_LIST);
    assert_true(rig.request.fresh);
    assert_int_equal(rig.status.relists[RELIST_SILENT], 1);
    rig_fini(&rig);
}

static void a_short_watch_that_is_not_answered_makes_stale(void **state)
{
    struct rig rig;
    (void)state;
    catch_up(&rig);
    rig_expect_wait(&rig, 10000, 10000);
    rig_expect_cancel(&rig);
    assert_true(rig.status.stale);
    rig_expect_request(&rig, RIG_LIST);
    rig_fini(&rig);
}

static void a_short_watch_that_goes_on_without_catching_up_is_listed_again(void **state)
{
    struct rig rig;
    (void)state;
    fall_silent(&rig);
    rig_answer_list(&rig, "1000", "x", "more");
    rig_expect_request(&rig, RIG_CATCH_UP("100"));
    rig_head(&rig, 200);
    rig.now_ms += 9000;
    rig_event(&rig, "ADDED", 'c', "101");
    rig_expect_wait(&rig, 1000, 1000);
    rig_expect_cancel(&rig);
    assert_false(rig.status.stale);
    rig_expect_request(&rig, RIG_LIST);
    rig_fini(&rig);
}

static void a_short_watch_that_is_cut_is_listed_again_after_a_while(void **state)
{
    struct rig rig;
    (void)state;
    catch_up(&rig);
    rig_head(&rig, 200);
    rig_end(&rig, KUBE_UNKNOWN);
    assert_false(rig.status.stale);
    rig_expect_wait(&rig, 800, 1600);
    rig_expect_request(&rig, RIG_LIST);
    assert_int_equal(rig.status.relists[RELIST_SILENT], 1);
    rig_fini(&rig);
}

static void a_short_watch_that_is_refused_is_probed_again(void **state)
{
    struct rig rig;
    (void)state;
    catch_up(&rig);
    rig_refuse(&rig, 429, 3, "");
    assert_false(rig.status.stale);
    rig_expect_wait(&rig, 3000, 3000);
    rig_expect_request(&rig, RIG_PROBE);
    rig_fini(&rig);
}

static void a_short_watch_whose_version_is_gone_is_listed_again(void **state)
{
    struct rig rig;
    (void)state;
    catch_up(&rig);
    rig_answer(&rig, 410, "");
    rig_expect_wait(&rig, 800, 1600);
    rig_expect_request(&rig, RIG_LIST);
    assert_int_equal(rig.status.relists[RELIST_GONE], 1);
    rig_fini(&rig);
}

static void a_probe_that_fails_makes_stale_until_caught_up(void **state)
{
    struct rig rig;
    (void)state;
    fall_silent(&rig);
    rig.now_ms += rig.request.timeout_ms;
    rig_end(&rig, KUBE_UNKNOWN);
    assert_true(rig.status.stale);
    assert_string_equal(rig.why, "GET /api/v1/pods: connection reset by peer");
    rig_expect_wait(&rig, 800, 1600);
    rig_expect_request(&rig, RIG_PROBE);
    assert_true(rig.request.fresh);
    rig_answer(&rig, 500, "");
    assert_string_equal(rig.why, "GET /api/v1/pods: 500");
    rig_expect_wait(&rig, 1600, 3200);
    rig_expect_request(&rig, RIG_PROBE);
    rig_answer_list(&rig, "101", "x", "more");
    assert_true(rig.status.stale);
    rig_expect_request(&rig, RIG_CATCH_UP("100"));
    rig_head(&rig, 200);
    assert_true(rig.status.stale);
    assert_string_equal(rig.why, "GET /api/v1/pods: 500");
    rig_event(&rig, "BOOKMARK", 'a', "101");
    assert_false(rig.status.stale);
    assert_string_equal(rig.why, "");
    assert_int_equal(rig.status.probes, 3);
    rig_fini(&rig);
}

static void a_probe_behind_us_is_another_history(void **state)
{
    struct rig rig;
    (void)state;
    fall_silent(&rig);
    rig_answer_list(&rig, "99", "x", "more");
    rig_expect_request(&rig, RIG_LIST);
    assert_int_equal(rig.status.relists[RELIST_SILENT], 1);
    rig_fini(&rig);
}

/* Not decimal numbers: only the same is known to have been reached. */
static void versions_that_are_no_numbers_are_compared_for_being_the_same(void **state)
{
    struct rig rig;
    (void)state;
    fall_silent(&rig);
    rig_answer_list(&rig, "x5", "x", "more");
    rig_expect_request(&rig, RIG_CATCH_UP("100"));
    rig_head(&rig, 200);
    rig_event(&rig, "BOOKMARK", 'a', "x6");
    rig_event(&rig, "BOOKMARK", 'a', "0999");
    rig_expect_wait(&rig, 10000, 10000);
    rig_event(&rig, "BOOKMARK", 'a', "x5");
    rig_expect_quiet(&rig, RIG_SILENCE_MS);
    rig_fini(&rig);
}

static void a_watch_that_cannot_be_opened_for_too_long_makes_stale(void **state)
{
    struct rig rig;
    (void)state;
    rig_begin(&rig);
    rig.now_ms += 30000;
    rig_end(&rig, KUBE_UNKNOWN);
    int64_t closed_ms = rig.now_ms;
    while (!rig.status.stale) {
        assert_true(rig.now_ms < closed_ms + RIG_SILENCE_MS);
        rig_expect_wait(&rig, 1, RIG_SILENCE_MS);
        struct reflector_action action = reflector_next(rig.reflector, rig.now_ms);
        if (action.want == REFLECTOR_REQUEST)
            rig_end(&rig, KUBE_NOT_SENT);
    }
    assert_int_equal(rig.now_ms, closed_ms + RIG_SILENCE_MS);
    assert_string_equal(rig.why, "watch /api/v1/pods: connection reset by peer");
    rig_expect_wait(&rig, 1, 60000);
    rig_expect_request(&rig, RIG_PROBE);
    rig_answer_list(&rig, "100", "x", "more");
    assert_false(rig.status.stale);
    rig_expect_request(&rig, RIG_WATCH("100"));
    rig_fini(&rig);
}

static void end_well(struct rig *rig)
{
    rig_answer(rig, 200, "");
}

static void cut_off(struct rig *rig)
{
    rig_head(rig, 200);
    rig_end(rig, KUBE_UNKNOWN);
}

static void say_busy(struct rig *rig)
{
    rig_answer(rig, 200, "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":429}}");
}

/* Nothing was ever heard over them: they are no better than none. */
static void watches_that_end_at_once_make_stale(void **state)
{
    void (*const WAYS[])(struct rig * rig) = {end_well, cut_off, say_busy};
    (void)state;
    for (size_t i = 0; i < sizeof WAYS / sizeof *WAYS; i++) {
        struct rig rig;
        rig_begin(&rig);
        const int64_t closed_ms = rig.now_ms;
        rig_end(&rig, KUBE_ANSWERED);
        while (!rig.status.stale) {
            assert_in_range(rig.now_ms - closed_ms, 0, RIG_SILENCE_MS);
            rig_expect_wait(&rig, 1, RIG_SILENCE_MS);
            struct reflector_action action = reflector_next(rig.reflector, rig.now_ms);
            if (action.want == REFLECTOR_REQUEST)
                WAYS[i](&rig);
        }
        rig_expect_wait(&rig, 1, 60000);
        rig_expect_request(&rig, RIG_PROBE);
        rig_fini(&rig);
    }
}

/* A watch ended well, and the next one is on its way for too long. */
static void begin_stale(struct rig *rig)
{
    rig_begin(rig);
    rig->now_ms += 30000;
    rig_end(rig, KUBE_ANSWERED);
    rig_expect_request(rig, RIG_WATCH("100"));
    rig_expect_wait(rig, RIG_SILENCE_MS, RIG_SILENCE_MS);
    rig_expect_quiet(rig, 60000);
    assert_true(rig->status.stale);
}

static void a_watch_that_fails_when_stale_is_followed_by_a_probe(void **state)
{
    struct rig rig;
    (void)state;
    begin_stale(&rig);
    rig_end(&rig, KUBE_NOT_SENT);
    rig_expect_wait(&rig, 800, 1600);
    rig_expect_request(&rig, RIG_PROBE);
    rig_fini(&rig);
}

/* It went stale while the watch was on its way: once open, that has to be proven. */
static void stale_data_is_proven_fresh_by_a_probe(void **state)
{
    struct rig rig;
    (void)state;
    begin_stale(&rig);
    assert_string_equal(rig.why, "watch /api/v1/pods: not followed for too long");
    assert_int_equal(rig.status.trouble, TROUBLE_UNREACHABLE);
    rig_head(&rig, 200);
    rig_event(&rig, "ADDED", 'c', "101");
    assert_true(rig.status.stale);
    rig_expect_cancel(&rig);
    rig_expect_request(&rig, RIG_PROBE);
    rig_fini(&rig);
}

static void a_relist_that_takes_too_long_to_begin_makes_stale(void **state)
{
    struct rig rig;
    (void)state;
    rig_begin(&rig);
    rig_bytes(&rig, "garbage");
    rig_expect_cancel(&rig);
    rig_expect_wait(&rig, 800, 1600);
    rig_expect_request(&rig, RIG_LIST);
    rig_refuse(&rig, 429, 300, "not now");
    rig_expect_wait(&rig, RIG_SILENCE_MS - 1600, RIG_SILENCE_MS - 800);
    assert_false(rig.status.stale);
    rig_expect_quiet(&rig, 60000);
    assert_true(rig.status.stale);
    rig_fini(&rig);
}

static void nothing_is_stale_before_it_was_listed(void **state)
{
    struct rig rig;
    (void)state;
    rig_init(&rig, NULL);
    rig_expect_request(&rig, RIG_LIST);
    rig_refuse(&rig, 429, 200, "");
    rig_expect_wait(&rig, 200000, 200000);
    assert_false(rig.status.stale);
    assert_false(rig.status.synced);
    assert_int_equal(rig.status.fresh_ms, 0);
    rig_fini(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_byte_ends_the_silence),
        cmocka_unit_test(an_opened_watch_alone_does_not_end_the_silence),
        cmocka_unit_test(a_probe_that_sees_what_we_have_is_enough),
        cmocka_unit_test(a_probe_asks_with_the_same_selector),
        cmocka_unit_test(an_event_that_reaches_the_probe_catches_up),
        cmocka_unit_test(having_caught_up_the_short_watch_goes_on),
        cmocka_unit_test(an_event_before_what_the_probe_saw_is_not_enough),
        cmocka_unit_test(a_list_after_silence_that_fails_makes_stale),
        cmocka_unit_test(a_short_watch_of_which_nothing_comes_makes_stale),
        cmocka_unit_test(a_short_watch_that_is_not_answered_makes_stale),
        cmocka_unit_test(a_short_watch_that_goes_on_without_catching_up_is_listed_again),
        cmocka_unit_test(a_short_watch_that_is_cut_is_listed_again_after_a_while),
        cmocka_unit_test(a_short_watch_that_is_refused_is_probed_again),
        cmocka_unit_test(a_short_watch_whose_version_is_gone_is_listed_again),
        cmocka_unit_test(a_probe_that_fails_makes_stale_until_caught_up),
        cmocka_unit_test(a_probe_behind_us_is_another_history),
        cmocka_unit_test(versions_that_are_no_numbers_are_compared_for_being_the_same),
        cmocka_unit_test(a_watch_that_cannot_be_opened_for_too_long_makes_stale),
        cmocka_unit_test(watches_that_end_at_once_make_stale),
        cmocka_unit_test(a_watch_that_fails_when_stale_is_followed_by_a_probe),
        cmocka_unit_test(stale_data_is_proven_fresh_by_a_probe),
        cmocka_unit_test(a_relist_that_takes_too_long_to_begin_makes_stale),
        cmocka_unit_test(nothing_is_stale_before_it_was_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
