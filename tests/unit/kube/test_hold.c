/* hold: when a service that has just started may bind. */
#include "fake_catch_up.h"
#include "fake_sender.h"
#include "kube/hold.h"
#include "kube_answers.h"
#include "unit.h"

#include "base/clock.h"

#define UNTIL_MS 9000
#define LIST "/api/v1/pods?limit=1"

struct stage {
    struct fake_sender sender;
    struct hold *hold;
    struct fake_catch_up catch_up;
};

static void begin(struct stage *stage)
{
    const struct hold_settings settings = {.until_ms = UNTIL_MS,
                                           .pods = fake_catch_up_of(&stage->catch_up)};
    *stage = (struct stage){0};
    fake_sender_init(&stage->sender);
    stage->hold = hold_new(&settings, fake_sender_of(&stage->sender));
}

static void end(struct stage *stage)
{
    fake_sender_fini(&stage->sender);
    hold_free(stage->hold);
}

static void answered(struct stage *stage, const char *path, const char *body)
{
    struct fake_request *request = fake_sender_take(&stage->sender);
    const struct kube_answer answer = kube_answered(UNTIL_MS, 200, body);
    assert_non_null(request);
    assert_string_equal(request->path, path);
    fake_request_answer(request, &answer);
    assert_true(hold_tick(stage->hold, UNTIL_MS) == CLOCK_NEVER);
}

static void nothing_is_asked_before_its_time(void **state)
{
    struct stage stage;
    (void)state;
    begin(&stage);
    assert_int_equal(hold_tick(stage.hold, 1000), UNTIL_MS);
    assert_int_equal(hold_until_ms(stage.hold, 1000), UNTIL_MS);
    assert_int_equal(hold_until_ms(stage.hold, UNTIL_MS - 1), UNTIL_MS);
    assert_null(fake_sender_take(&stage.sender));
    end(&stage);
}

/* What the predecessor did at the last moment is in the ledger before anything is bound. */
static void the_ledger_catches_up(void **state)
{
    struct stage stage;
    (void)state;
    begin(&stage);
    assert_true(hold_tick(stage.hold, UNTIL_MS) == CLOCK_NEVER);
    assert_true(hold_until_ms(stage.hold, UNTIL_MS) > UNTIL_MS);
    answered(&stage, "/version", "{\"major\":\"1\",\"minor\":\"36\"}");
    answered(&stage, LIST, "{\"metadata\":{\"resourceVersion\":\"77\"}}");
    assert_string_equal(stage.catch_up.version, "77");
    assert_true(hold_until_ms(stage.hold, UNTIL_MS + 100) > UNTIL_MS + 100);
    fake_catch_up_done(&stage.catch_up, stage.catch_up.last.number);
    assert_int_equal(hold_until_ms(stage.hold, UNTIL_MS + 100), UNTIL_MS + 100);
    assert_true(hold_tick(stage.hold, UNTIL_MS + 200) == CLOCK_NEVER);
    assert_int_equal(stage.catch_up.n, 1);
    assert_null(fake_sender_take(&stage.sender));
    end(&stage);
}

static void where_versions_do_not_compare_the_pods_are_listed(void **state)
{
    struct stage stage;
    (void)state;
    begin(&stage);
    (void)hold_tick(stage.hold, UNTIL_MS);
    answered(&stage, "/version", "{\"major\":\"1\",\"minor\":\"34\"}");
    assert_int_equal(stage.catch_up.n, 1);
    assert_string_equal(stage.catch_up.version, "");
    end(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_asked_before_its_time),
        cmocka_unit_test(the_ledger_catches_up),
        cmocka_unit_test(where_versions_do_not_compare_the_pods_are_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
