/* binds: callers who hang up, and bindings whose time is over when they might leave. */
#include "bind_stage.h"
#include "extender/bind/bind_entry.h"

#define UNBOUND POD_JSON("1", "", "", "")
#define HUNG_UP "the caller hung up, or its time is over"

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

static unsigned call_watched(struct bind_stage *stage, bool (*hung_up)(void *context))
{
    const struct bind_args args = {
        .uid = "u-1", .namespace_ = "ml", .name = "p-1", .node_name = "a", .hung_up = hung_up};
    return call_as(stage, &args);
}

static void begin(void **state, struct bind_stage **ret_stage)
{
    hangs[0] = hangs[1] = false;
    *ret_stage = *state;
}

/* It waited for a connection to the API server; it is not sent, and the room is free again. */
static void test_a_binding_for_nobody_does_not_leave(void **state)
{
    struct bind_stage *stage = NULL;
    begin(state, &stage);
    const unsigned caller = call_watched(stage, first_hung_up);
    hangs[0] = true;
    posted_too_late(stage, 1, "a");
    pass(stage, 200);
    check_error(stage, caller, HUNG_UP);
    check_held(stage, 1, NULL);
    check_silence(stage);
}

static void test_a_binding_for_nobody_is_not_posted(void **state)
{
    struct bind_stage *stage = NULL;
    begin(state, &stage);
    hangs[0] = true;
    const unsigned caller = call_watched(stage, first_hung_up);
    check_error(stage, caller, HUNG_UP);
    check_held(stage, 1, NULL);
    check_silence(stage);
}

static void test_one_who_waits_is_enough(void **state)
{
    struct bind_stage *stage = NULL;
    begin(state, &stage);
    const unsigned first = call_watched(stage, first_hung_up);
    const unsigned second = call_watched(stage, second_hung_up);
    hangs[0] = true;
    posted_in_time(stage, 1, "a", 201, CREATED);
    check_bound(stage, first);
    check_bound(stage, second);
}

/* What has left is settled all the same. */
static void test_what_was_posted_keeps_its_room(void **state)
{
    struct bind_stage *stage = NULL;
    begin(state, &stage);
    const unsigned caller = call_watched(stage, first_hung_up);
    hangs[0] = true;
    posted_failed(stage, 1, "a", KUBE_UNKNOWN);
    got(stage, 1, 200, UNBOUND);
    pass(stage, 200);
    got(stage, 1, 200, UNBOUND);
    check_error(stage, caller, "the outcome is not known yet: " HUNG_UP);
    check_held(stage, 1, "a");
}

/* The process was stopped while the binding waited for a connection: the caller's time is over. */
static void test_a_binding_that_is_late_does_not_leave(void **state)
{
    struct bind_stage *stage = NULL;
    begin(state, &stage);
    const unsigned caller = call(stage, 1, "a");
    stage->now_ms += TIMEOUT_MS;
    posted_too_late(stage, 1, "a");
    pass(stage, 200);
    check_error(stage, caller, "the binding was not sent: connection reset");
    check_held(stage, 1, NULL);
    check_silence(stage);
}

/* Beside a kube-scheduler: what leaves late would take effect after another one may lead. */
static void test_a_binding_leaves_within_its_time(void **state)
{
    struct bind_stage *stage = *state;
    const int64_t asked_ms = stage->now_ms;
    stage->binds->leave_ms = 2000;
    const unsigned caller = call(stage, 1, "a");
    posted_failed(stage, 1, "a", KUBE_NOT_SENT);
    stage->now_ms = asked_ms + 1899;
    pass(stage, 100);
    posted_in_time(stage, 1, "a", 503, STATUS("later"));
    got(stage, 1, 200, UNBOUND);
    pass(stage, 300);
    got(stage, 1, 200, UNBOUND);
    check_error(stage, caller, "the outcome is not known yet: " HUNG_UP);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, bind_stage_setup, bind_stage_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_binding_for_nobody_does_not_leave),
        TEST(test_a_binding_for_nobody_is_not_posted),
        TEST(test_one_who_waits_is_enough),
        TEST(test_what_was_posted_keeps_its_room),
        TEST(test_a_binding_that_is_late_does_not_leave),
        TEST(test_a_binding_leaves_within_its_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
