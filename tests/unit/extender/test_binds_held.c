/* binds: after a start, while what a predecessor posted may still take effect. */
#include "bind_stage.h"

#define HELD                                                                                       \
    "the service has just started, and bindings of the one before may still take effect: retry"

/* It waits, holds its room meanwhile, and is posted then. */
static void test_a_call_waits_where_its_time_allows(void **state)
{
    struct bind_stage *stage = *state;
    stage->held_until_ms = stage->now_ms + 1000;
    const unsigned caller = call(stage, 1, "a");
    check_waits(stage, caller);
    check_held(stage, 1, "a");
    check_silence(stage);
    pass(stage, 999);
    check_silence(stage);
    pass(stage, 1);
    posted(stage, 1, "a", 201, CREATED);
    check_bound(stage, caller);
}

static void test_what_would_wait_too_long_fails_at_once(void **state)
{
    struct bind_stage *stage = *state;
    stage->held_until_ms = stage->now_ms + TIMEOUT_MS - POST_LIFE_MS + 1;
    check_error(stage, call(stage, 1, "a"), HELD);
    check_held(stage, 1, NULL);
    check_silence(stage);
}

/* As while the ledger is catching up at the end of it. */
static void test_the_end_may_be_put_off(void **state)
{
    struct bind_stage *stage = *state;
    stage->held_until_ms = stage->now_ms + 500;
    const unsigned caller = call(stage, 1, "a");
    stage->held_until_ms = stage->now_ms + 520;
    pass(stage, 500);
    check_silence(stage);
    pass(stage, 20);
    posted(stage, 1, "a", 201, CREATED);
    check_bound(stage, caller);
}

/* The predecessor bound to the node meanwhile, and the ledger has learned of it. */
static void test_room_that_is_gone_by_then_is_refused(void **state)
{
    struct bind_stage *stage = *state;
    stage->held_until_ms = stage->now_ms + 1000;
    const unsigned caller = call(stage, 1, "a");
    ledger_shows(stage, POD_JSON("1", "", ",'nodeName':'b'", ""));
    pass(stage, 1000);
    check_error(stage, caller, "the pod is bound to node b already");
    check_silence(stage);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, bind_stage_setup, bind_stage_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_call_waits_where_its_time_allows),
        TEST(test_what_would_wait_too_long_fails_at_once),
        TEST(test_the_end_may_be_put_off),
        TEST(test_room_that_is_gone_by_then_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
