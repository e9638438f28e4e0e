/* Whoever cannot decide on its ledger leaves the Lease to others. */
#include "leadership_stage.h"
#include "unit.h"

#include <string.h>

/* As long as it may be without a renewal. */
#define PATIENCE_MS 10000

/* Time passes, and each renewal is taken. */
static void pass(struct stage *stage, int64_t ms)
{
    const int64_t end_ms = stage->now_ms + ms;
    tick(stage);
    while (stage->next_ms <= end_ms) {
        stage->now_ms = stage->next_ms;
        tick(stage);
        struct fake_request *renewal = fake_sender_take(&stage->sender);
        if (renewal)
            accept(stage, renewal);
    }
    stage->now_ms = end_ms;
}

static void becomes_unusable(struct stage *stage)
{
    stage->is_unusable = true;
    tick(stage);
}

static void becomes_usable(struct stage *stage)
{
    stage->is_unusable = false;
    tick(stage);
}

static void stand_back(struct stage *stage)
{
    lead(stage);
    becomes_unusable(stage);
    pass(stage, PATIENCE_MS - 1);
    assert_true(may_decide(stage));
    stage->now_ms++;
    tick(stage);
    assert_false(may_decide(stage));
    assert_false(stage->may_decide);
    assert_false(stage->decided);
}

static void gives_up(struct stage *stage)
{
    answered(stage, "GET", LEASE, 200, HELD_BY("me", "9"));
    struct fake_request *request = asked(stage, "PUT", LEASE);
    assert_non_null(strstr(request->body, "\"holderIdentity\":\"\""));
    reply(stage, request, 200, HELD_BY("", "10"));
    asks_nothing(stage);
}

static void check_metric(const struct stage *stage, const char *sample)
{
    struct buf text;
    buf_init(&text, 10000);
    leadership_metrics(stage->leadership, stage->now_ms, &text);
    assert_non_null(strstr(buf_text(&text), sample));
    buf_fini(&text);
}

static void who_cannot_decide_takes_nothing(void **state)
{
    struct stage stage;
    (void)state;
    begin(&stage, NULL);
    becomes_unusable(&stage);
    answered(&stage, "GET", LEASE, 404, "{}");
    asks_nothing(&stage);
    stage.now_ms = stage.next_ms;
    tick(&stage);
    answered(&stage, "GET", LEASE, 200, HELD_BY("", "5"));
    asks_nothing(&stage);
    assert_string_equal(leadership_role(stage.leadership, stage.now_ms), "follower");
    becomes_usable(&stage); /* at once, not with the next look */
    answered(&stage, "GET", LEASE, 200, HELD_BY("", "5"));
    accepted(&stage, "PUT", LEASE);
    assert_string_equal(leadership_role(stage.leadership, stage.now_ms), "becoming the leader");
    end(&stage);
}

static void a_leader_that_cannot_decide_for_long_gives_it_up(void **state)
{
    struct stage stage;
    (void)state;
    stand_back(&stage);
    assert_string_equal(leadership_role(stage.leadership, stage.now_ms), "follower");
    gives_up(&stage);
    assert_int_equal(stage.n_turns, 2);
    assert_int_equal(stage.n_released, 0); /* it is no stop */
    check_metric(&stage, "\ngpu_extender_leader 0\n");
    check_metric(&stage, "\ngpu_extender_lease_losses_total 0\n");
    end(&stage);
}

static void it_is_called_when_its_patience_ends(void **state)
{
    struct stage stage;
    (void)state;
    lead(&stage);
    becomes_unusable(&stage);
    const int64_t end_ms = stage.now_ms + PATIENCE_MS;
    pass(&stage, 7999);
    tick(&stage);
    stage.now_ms = stage.next_ms;
    tick(&stage); /* sends a renewal; its answer is awaited */
    assert_int_equal(stage.next_ms, end_ms);
    end(&stage);
}

static void a_short_while_is_nothing(void **state)
{
    struct stage stage;
    (void)state;
    lead(&stage);
    for (int i = 0; i < 3; i++) {
        becomes_unusable(&stage);
        pass(&stage, PATIENCE_MS - 1);
        becomes_usable(&stage);
        assert_true(may_decide(&stage));
    }
    assert_int_equal(stage.n_turns, 1);
    end(&stage);
}

static void what_it_began_is_over_before(void **state)
{
    struct stage stage;
    (void)state;
    lead(&stage);
    becomes_unusable(&stage);
    pass(&stage, PATIENCE_MS - 1);
    stage.now_ms++;
    stage.quiet_ms = stage.now_ms + 3000;
    tick(&stage);
    assert_false(may_decide(&stage));
    assert_true(stage.next_ms <= stage.quiet_ms);
    accepted(&stage, "PUT", LEASE); /* it is renewed meanwhile */
    pass(&stage, 2999);
    assert_false(may_decide(&stage));
    stage.now_ms++;
    tick(&stage);
    gives_up(&stage);
    end(&stage);
}

static void who_can_decide_again_before_that_goes_on(void **state)
{
    struct stage stage;
    (void)state;
    lead(&stage);
    stage.quiet_ms = INT64_MAX;
    becomes_unusable(&stage);
    pass(&stage, PATIENCE_MS + 1000);
    assert_false(may_decide(&stage));
    becomes_usable(&stage);
    assert_true(
        may_decide(&stage)); /* it was the leader all the time: nothing is to be caught up */
    assert_true(stage.may_decide);
    check_metric(&stage, "\ngpu_extender_lease_acquisitions_total 1\n");
    becomes_unusable(&stage); /* and its patience begins anew */
    pass(&stage, PATIENCE_MS - 1);
    assert_true(may_decide(&stage));
    end(&stage);
}

static void who_comes_back_catches_up_again(void **state)
{
    struct stage stage;
    (void)state;
    stand_back(&stage);
    gives_up(&stage);
    becomes_usable(&stage);
    answered(&stage, "GET", LEASE, 200, HELD_BY("", "10"));
    accepted(&stage, "PUT", LEASE);
    assert_false(may_decide(&stage));
    answered(&stage, "GET", "/version", 200, "{}");
    assert_int_equal(stage.catch_up.last.number, 2);
    fake_catch_up_done(&stage.catch_up, 2);
    tick(&stage);
    assert_true(may_decide(&stage));
    end(&stage);
}

/* Another one may take what the lost one began to be over. */
static void who_lost_it_and_cannot_decide_does_not_keep_it_from_others(void **state)
{
    struct stage stage;
    (void)state;
    lead(&stage);
    becomes_unusable(&stage);
    stage.now_ms += 10000; /* without a renewal */
    stage.quiet_ms = stage.now_ms + 1000;
    tick(&stage);
    assert_false(may_decide(&stage));
    answered(&stage, "GET", LEASE, 200, HELD_BY("me", "1"));
    asks_nothing(&stage);
    stage.now_ms = stage.quiet_ms;
    tick(&stage);
    gives_up(&stage);
    end(&stage);
}

static void who_is_stopped_waits_for_what_it_began_too(void **state)
{
    struct stage stage;
    (void)state;
    lead(&stage);
    stage.quiet_ms = stage.now_ms + 1000;
    leadership_release(stage.leadership);
    tick(&stage);
    assert_false(may_decide(&stage));
    assert_false(stage.decided);
    asks_nothing(&stage);
    assert_int_equal(stage.next_ms, stage.quiet_ms);
    stage.now_ms = stage.quiet_ms;
    tick(&stage);
    gives_up(&stage);
    assert_int_equal(stage.n_released, 1);
    end(&stage);
}

static void who_has_left_and_is_stopped_is_done(void **state)
{
    struct stage stage;
    (void)state;
    stand_back(&stage);
    gives_up(&stage);
    leadership_release(stage.leadership);
    tick(&stage);
    assert_int_equal(stage.n_released, 1);
    becomes_usable(&stage);
    stage.now_ms += 60000;
    tick(&stage);
    asks_nothing(&stage);
    end(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_cannot_decide_takes_nothing),
        cmocka_unit_test(a_leader_that_cannot_decide_for_long_gives_it_up),
        cmocka_unit_test(it_is_called_when_its_patience_ends),
        cmocka_unit_test(a_short_while_is_nothing),
        cmocka_unit_test(what_it_began_is_over_before),
        cmocka_unit_test(who_can_decide_again_before_that_goes_on),
        cmocka_unit_test(who_comes_back_catches_up_again),
        cmocka_unit_test(who_lost_it_and_cannot_decide_does_not_keep_it_from_others),
        cmocka_unit_test(who_is_stopped_waits_for_what_it_began_too),
        cmocka_unit_test(who_has_left_and_is_stopped_is_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
