/* binds: after a start, while a predecessor's POSTs may still take effect. */
#include "bind_harness.h"

#define HELD                                                                                       \
    "the service has just started, and bindings of its predecessor may still take effect: retry"

/* The call waits with its reservation, then posts. */
static void test_a_call_waits_if_its_timeout_allows(void **state)
{
    struct bind_harness *harness = *state;
    harness->held_until_ms = harness->now_ms + 1000;
    const unsigned caller = call(harness, 1, "a");
    check_waits(harness, caller);
    check_held(harness, 1, "a");
    check_silence(harness);
    pass(harness, 999);
    check_silence(harness);
    pass(harness, 1);
    posted(harness, 1, "a", 201, CREATED);
    check_bound(harness, caller);
}

static void test_a_call_that_would_wait_too_long_fails_at_once(void **state)
{
    struct bind_harness *harness = *state;
    harness->held_until_ms = harness->now_ms + TIMEOUT_MS - POST_LIFE_MS + 1;
    check_error(harness, call(harness, 1, "a"), HELD);
    check_held(harness, 1, NULL);
    check_silence(harness);
}

/* As when the ledger still catches up at that time. */
static void test_the_end_of_the_hold_may_be_postponed(void **state)
{
    struct bind_harness *harness = *state;
    harness->held_until_ms = harness->now_ms + 500;
    const unsigned caller = call(harness, 1, "a");
    harness->held_until_ms = harness->now_ms + 520;
    pass(harness, 500);
    check_silence(harness);
    pass(harness, 20);
    posted(harness, 1, "a", 201, CREATED);
    check_bound(harness, caller);
}

/* The predecessor bound a pod to the node meanwhile, and the ledger saw it. */
static void test_room_lost_while_waiting_is_rejected(void **state)
{
    struct bind_harness *harness = *state;
    harness->held_until_ms = harness->now_ms + 1000;
    const unsigned caller = call(harness, 1, "a");
    ledger_shows(harness, POD_JSON("1", "", ",'nodeName':'b'", ""));
    pass(harness, 1000);
    check_error(harness, caller, "the pod is bound to node b already");
    check_silence(harness);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BIND_TEST(test_a_call_waits_if_its_timeout_allows),
        BIND_TEST(test_a_call_that_would_wait_too_long_fails_at_once),
        BIND_TEST(test_the_end_of_the_hold_may_be_postponed),
        BIND_TEST(test_room_lost_while_waiting_is_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
