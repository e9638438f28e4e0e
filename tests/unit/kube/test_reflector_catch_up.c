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

static void what_is_there_already_is_enough(void **state)
{
    struct harness *harness = *state;
    harness_begin(harness);
    catch_up(harness, 1, "99");
    assert_int_equal(caught_up(harness), 1);
    catch_up(harness, 2, "100");
    assert_int_equal(caught_up(harness), 2);
    harness_expect_quiet(harness, HARNESS_SILENCE_MS - 1);
}

static void the_watch_comes_to_it(void **state)
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

static void where_nothing_comes_it_is_listed_anew(void **state)
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

static void without_a_version_it_is_listed_at_once(void **state)
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

static void a_list_that_was_begun_before_is_not_as_of_now(void **state)
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

static void a_list_that_is_still_to_begin_will_do(void **state)
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
        HARNESS_TEST(what_is_there_already_is_enough),
        HARNESS_TEST(the_watch_comes_to_it),
        HARNESS_TEST(where_nothing_comes_it_is_listed_anew),
        HARNESS_TEST(without_a_version_it_is_listed_at_once),
        HARNESS_TEST(a_list_that_was_begun_before_is_not_as_of_now),
        HARNESS_TEST(a_list_that_is_still_to_begin_will_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
