/* hold: when a service that has just started may bind. */
#include "fake_catch_up.h"
#include "fake_sender.h"
#include "kube/catch_up.h"
#include "kube_answers.h"
#include "unit.h"

#include "base/clock.h"

#define UNTIL_MS 9000
#define LIST "/api/v1/pods?limit=1"

struct fixture {
    struct fake_sender sender;
    struct hold *hold;
    struct fake_catch_up catch_up;
};

static int setup(void **state)
{
    static struct fixture fixture;
    const struct hold_settings settings = {.until_ms = UNTIL_MS,
                                           .pods = fake_catch_up_of(&fixture.catch_up)};
    fixture = (struct fixture){0};
    fake_sender_init(&fixture.sender);
    fixture.hold = hold_new(&settings, fake_sender_of(&fixture.sender));
    *state = &fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    fake_sender_fini(&fixture->sender);
    hold_free(fixture->hold);
    return 0;
}

static void answered(struct fixture *fixture, const char *path, const char *body)
{
    struct fake_request *request = fake_sender_take(&fixture->sender);
    const struct kube_answer answer = kube_answered(UNTIL_MS, 200, body);
    assert_non_null(request);
    assert_string_equal(request->path, path);
    fake_request_answer(request, &answer);
    assert_true(hold_tick(fixture->hold, UNTIL_MS) == CLOCK_NEVER);
}

static void nothing_is_requested_before_its_time(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(hold_tick(fixture->hold, 1000), UNTIL_MS);
    assert_int_equal(hold_until_ms(fixture->hold, 1000), UNTIL_MS);
    assert_int_equal(hold_until_ms(fixture->hold, UNTIL_MS - 1), UNTIL_MS);
    assert_null(fake_sender_take(&fixture->sender));
}

/* The predecessor's last bindings are in the ledger before the first binding. */
static void the_ledger_catches_up(void **state)
{
    struct fixture *fixture = *state;
    assert_true(hold_tick(fixture->hold, UNTIL_MS) == CLOCK_NEVER);
    assert_true(hold_until_ms(fixture->hold, UNTIL_MS) > UNTIL_MS);
    answered(fixture, "/version", "{\"major\":\"1\",\"minor\":\"36\"}");
    answered(fixture, LIST, "{\"metadata\":{\"resourceVersion\":\"77\"}}");
    assert_string_equal(fixture->catch_up.version, "77");
    assert_true(hold_until_ms(fixture->hold, UNTIL_MS + 100) > UNTIL_MS + 100);
    fake_catch_up_done(&fixture->catch_up, fixture->catch_up.last.number);
    assert_int_equal(hold_until_ms(fixture->hold, UNTIL_MS + 100), UNTIL_MS + 100);
    assert_true(hold_tick(fixture->hold, UNTIL_MS + 200) == CLOCK_NEVER);
    assert_int_equal(fixture->catch_up.n, 1);
    assert_null(fake_sender_take(&fixture->sender));
}

static void incomparable_versions_relist_the_pods(void **state)
{
    struct fixture *fixture = *state;
    (void)hold_tick(fixture->hold, UNTIL_MS);
    answered(fixture, "/version", "{\"major\":\"1\",\"minor\":\"34\"}");
    assert_int_equal(fixture->catch_up.n, 1);
    assert_string_equal(fixture->catch_up.version, "");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_is_requested_before_its_time),
        TEST(the_ledger_catches_up),
        TEST(incomparable_versions_relist_the_pods),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
