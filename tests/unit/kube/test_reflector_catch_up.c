/* The store catches up with the API server on request. */
#include "harness.h"
#include "unit.h"

static void catch_up(struct harness *harness, uint64_t number, const char *version)
{
    reflector_catch_up(harness->reflector, harness->now_ms, number, version);
}

static uint64_t caught_up(const struct harness *harness)
{
    return reflector_caught_up(harness->reflector);
}

static void an_already_seen_version_is_enough(void **state)
{
    struct harness *harness = *state;
    harness_begin(harness);
    catch_up(harness, 1, "99");
    assert_int_equal(caught_up(harness), 1);
    catch_up(harness, 2, "100");
    assert_int_equal(caught_up(harness), 2);
    harness_expect_quiet(harness, HARNESS_SILENCE_MS - 1);
}

static void the_watch_reaches_the_version(void **state)
{
    struct harness *harness = *state;
    harness_begin(harness);
    catch_up(harness, 7, "120");
    harness_event(harness, "ADDED", 'c', "119");
    assert_int_equal(caught_up(harness), 0);
    harness_event(harness, "BOOKMARK", 'c', "120");
    assert_int_equal(caught_up(harness), 7);
    harness_expect_quiet(harness, HARNESS_SILENCE_MS - 1);
}

static void a_silent_watch_is_relisted(void **state)
{
    struct harness *harness = *state;
    harness_begin(harness);
    catch_up(harness, 1, "120");
    harness_expect_wait(harness, 300, 300);
    harness_expect_cancel(harness);
    harness_expect_request(harness, HARNESS_LIST);
    assert_int_equal(caught_up(harness), 0);
    harness_answer_list(harness, "110", "abc", ""); /* before 120: another history, but current */
    assert_int_equal(caught_up(harness), 1);
    assert_string_equal(harness_names(harness), "abc");
    assert_int_equal(harness->status.relists[RELIST_BEHIND], 1);
    harness_expect_request(harness, HARNESS_WATCH("110"));
}

static void a_request_without_version_relists_at_once(void **state)
{
    struct harness *harness = *state;
    harness_begin(harness);
    catch_up(harness, 1, NULL);
    harness_expect_cancel(harness);
    harness_expect_request(harness, HARNESS_LIST);
    harness_answer(harness, 500, "{}"); /* a failed list does not count */
    assert_int_equal(caught_up(harness), 0);
    harness_expect_wait(harness, 800, 1600);
    harness_expect_request(harness, HARNESS_LIST);
    harness_answer_list(harness, "110", "abc", "");
    assert_int_equal(caught_up(harness), 1);
}

static void a_list_begun_earlier_is_not_current(void **state)
{
    struct harness *harness = *state;
    harness_init(harness, NULL);
    harness_expect_request(harness, HARNESS_LIST);
    catch_up(harness, 1, NULL);
    harness_expect_cancel(harness);
    harness_expect_request(harness, HARNESS_LIST);
    catch_up(harness, 2, "130");
    harness_answer_list(harness, "110", "abc", "");
    assert_int_equal(caught_up(harness), 0);
    harness_expect_request(harness, HARNESS_WATCH("110"));
    harness_head(harness, 200);
    harness_event(harness, "ADDED", 'd', "131");
    assert_int_equal(caught_up(harness), 2);
}

static void a_list_yet_to_begin_is_current(void **state)
{
    struct harness *harness = *state;
    harness_init(harness, NULL);
    catch_up(harness, 1, NULL);
    harness_expect_request(harness, HARNESS_LIST);
    harness_answer_list(harness, "110", "abc", "");
    assert_int_equal(caught_up(harness), 1);
    harness_expect_request(harness, HARNESS_WATCH("110"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HARNESS_TEST(an_already_seen_version_is_enough),
        HARNESS_TEST(the_watch_reaches_the_version),
        HARNESS_TEST(a_silent_watch_is_relisted),
        HARNESS_TEST(a_request_without_version_relists_at_once),
        HARNESS_TEST(a_list_begun_earlier_is_not_current),
        HARNESS_TEST(a_list_yet_to_begin_is_current),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
