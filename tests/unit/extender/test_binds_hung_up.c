/* binds: callers that hang up, and bindings that are late when a connection is free. */
#include "bind_harness.h"
#include "extender/bind/bind_entry.h"

#define UNBOUND POD_JSON("1", "", "", "")
#define HUNG_UP "the caller disconnected, or its deadline has passed"

static bool hangs[2];

static bool first_hung_up(void *context)
{
    (void)context;
    return hangs[0];
}

static bool second_hung_up(void *context)
{
    (void)context;
    return hangs[1];
}

static unsigned call_watched(struct bind_harness *harness, bool (*hung_up)(void *context))
{
    const struct bind_args args = {
        .uid = "u-1", .namespace_ = "ml", .name = "p-1", .node_name = "a", .hung_up = hung_up};
    return call_as(harness, &args);
}

static void begin(void **state, struct bind_harness **ret_stage)
{
    hangs[0] = hangs[1] = false;
    *ret_stage = *state;
}

/* The binding waited for a connection. It is not sent, and its reservation is released. */
static void test_an_unsent_binding_without_a_caller_is_cancelled(void **state)
{
    struct bind_harness *harness = NULL;
    begin(state, &harness);
    const unsigned caller = call_watched(harness, first_hung_up);
    hangs[0] = true;
    posted_too_late(harness, 1, "a");
    pass(harness, 200);
    check_error(harness, caller, HUNG_UP);
    check_held(harness, 1, NULL);
    check_silence(harness);
}

static void test_a_binding_without_a_caller_is_not_posted(void **state)
{
    struct bind_harness *harness = NULL;
    begin(state, &harness);
    hangs[0] = true;
    const unsigned caller = call_watched(harness, first_hung_up);
    check_error(harness, caller, HUNG_UP);
    check_held(harness, 1, NULL);
    check_silence(harness);
}

static void test_one_waiting_caller_is_enough(void **state)
{
    struct bind_harness *harness = NULL;
    begin(state, &harness);
    const unsigned first = call_watched(harness, first_hung_up);
    const unsigned second = call_watched(harness, second_hung_up);
    hangs[0] = true;
    posted_in_time(harness, 1, "a", 201, CREATED);
    check_bound(harness, first);
    check_bound(harness, second);
}

/* A POST that was sent is settled nevertheless. */
static void test_a_posted_binding_keeps_its_reservation(void **state)
{
    struct bind_harness *harness = NULL;
    begin(state, &harness);
    const unsigned caller = call_watched(harness, first_hung_up);
    hangs[0] = true;
    posted_failed(harness, 1, "a", KUBE_UNKNOWN);
    got(harness, 1, 200, UNBOUND);
    pass(harness, 200);
    got(harness, 1, 200, UNBOUND);
    check_error(harness, caller, "the outcome is unknown: " HUNG_UP);
    check_held(harness, 1, "a");
}

/* The process was stopped while the binding waited for a connection, and the caller's time is
 * over. */
static void test_a_late_binding_is_not_sent(void **state)
{
    struct bind_harness *harness = NULL;
    begin(state, &harness);
    const unsigned caller = call(harness, 1, "a");
    harness->now_ms += TIMEOUT_MS;
    posted_too_late(harness, 1, "a");
    pass(harness, 200);
    check_error(harness, caller, "the binding was not sent: connection reset");
    check_held(harness, 1, NULL);
    check_silence(harness);
}

/* Beside a kube-scheduler: a late binding could take effect after another kube-scheduler leads. */
static void test_a_binding_is_sent_within_its_time(void **state)
{
    struct bind_harness *harness = *state;
    const int64_t asked_ms = harness->now_ms;
    harness->binds->leave_ms = 2000;
    const unsigned caller = call(harness, 1, "a");
    posted_failed(harness, 1, "a", KUBE_NOT_SENT);
    harness->now_ms = asked_ms + 1899;
    pass(harness, 100);
    posted_in_time(harness, 1, "a", 503, STATUS("later"));
    got(harness, 1, 200, UNBOUND);
    pass(harness, 300);
    got(harness, 1, 200, UNBOUND);
    check_error(harness, caller, "the outcome is unknown: " HUNG_UP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BIND_TEST(test_an_unsent_binding_without_a_caller_is_cancelled),
        BIND_TEST(test_a_binding_without_a_caller_is_not_posted),
        BIND_TEST(test_one_waiting_caller_is_enough),
        BIND_TEST(test_a_posted_binding_keeps_its_reservation),
        BIND_TEST(test_a_late_binding_is_not_sent),
        BIND_TEST(test_a_binding_is_sent_within_its_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
