/* The store catches up with the API server when asked to. */
#include "rig.h"
#include "unit.h"

static void catch_up(struct rig *rig, uint64_t number, const char *version)
{
    reflector_catch_up(rig->reflector, rig->now_ms, number, version);
}

static uint64_t caught_up(const struct rig *rig)
{
    return reflector_caught_up(rig->reflector);
}

static void what_is_there_already_is_enough(void **state)
{
    struct rig rig;
    (void)state;
    rig_begin(&rig);
    catch_up(&rig, 1, "99");
    assert_int_equal(caught_up(&rig), 1);
    catch_up(&rig, 2, "100");
    assert_int_equal(caught_up(&rig), 2);
    rig_expect_quiet(&rig, RIG_SILENCE_MS - 1);
    rig_fini(&rig);
}

static void the_watch_comes_to_it(void **state)
{
    struct rig rig;
    (void)state;
    rig_begin(&rig);
    catch_up(&rig, 7, "120");
    rig_event(&rig, "ADDED", 'c', "119");
    assert_int_equal(caught_up(&rig), 0);
    rig_event(&rig, "BOOKMARK", 'c', "120");
    assert_int_equal(caught_up(&rig), 7);
    rig_expect_quiet(&rig, RIG_SILENCE_MS - 1);
    rig_fini(&rig);
}

static void where_nothing_comes_it_is_listed_anew(void **state)
{
    struct rig rig;
    (void)state;
    rig_begin(&rig);
    catch_up(&rig, 1, "120");
    rig_expect_wait(&rig, 300, 300);
    rig_expect_cancel(&rig);
    rig_expect_request(&rig, RIG_LIST);
    assert_int_equal(caught_up(&rig), 0);
    rig_answer_list(&rig, "110", "abc", ""); /* behind 120: another history; it is as of now */
    assert_int_equal(caught_up(&rig), 1);
    assert_string_equal(rig_names(&rig), "abc");
    assert_int_equal(rig.status.relists[RELIST_BEHIND], 1);
    rig_expect_request(&rig, RIG_WATCH("110"));
    rig_fini(&rig);
}

static void without_a_version_it_is_listed_at_once(void **state)
{
    struct rig rig;
    (void)state;
    rig_begin(&rig);
    catch_up(&rig, 1, NULL);
    rig_expect_cancel(&rig);
    rig_expect_request(&rig, RIG_LIST);
    rig_answer(&rig, 500, "{}"); /* a list that fails is none */
    assert_int_equal(caught_up(&rig), 0);
    rig_expect_wait(&rig, 800, 1600);
    rig_expect_request(&rig, RIG_LIST);
    rig_answer_list(&rig, "110", "abc", "");
    assert_int_equal(caught_up(&rig), 1);
    rig_fini(&rig);
}

static void a_list_that_was_begun_before_is_not_as_of_now(void **state)
{
    struct rig rig;
    (void)state;
    rig_init(&rig, NULL);
    rig_expect_request(&rig, RIG_LIST);
    catch_up(&rig, 1, NULL);
    rig_expect_cancel(&rig);
    rig_expect_request(&rig, RIG_LIST);
    catch_up(&rig, 2, "130");
    rig_answer_list(&rig, "110", "abc", "");
    assert_int_equal(caught_up(&rig), 0);
    rig_expect_request(&rig, RIG_WATCH("110"));
    rig_head(&rig, 200);
    rig_event(&rig, "ADDED", 'd', "131");
    assert_int_equal(caught_up(&rig), 2);
    rig_fini(&rig);
}

static void a_list_that_is_still_to_begin_will_do(void **state)
{
    struct rig rig;
    (void)state;
    rig_init(&rig, NULL);
    catch_up(&rig, 1, NULL);
    rig_expect_request(&rig, RIG_LIST);
    rig_answer_list(&rig, "110", "abc", "");
    assert_int_equal(caught_up(&rig), 1);
    rig_expect_request(&rig, RIG_WATCH("110"));
    rig_fini(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_there_already_is_enough),
        cmocka_unit_test(the_watch_comes_to_it),
        cmocka_unit_test(where_nothing_comes_it_is_listed_anew),
        cmocka_unit_test(without_a_version_it_is_listed_at_once),
        cmocka_unit_test(a_list_that_was_begun_before_is_not_as_of_now),
        cmocka_unit_test(a_list_that_is_still_to_begin_will_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
