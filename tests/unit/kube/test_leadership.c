/* Whether this replica may decide: the Lease, the ledger that must be as of then, and the time. */
#include "leadership_stage.h"
#include "unit.h"

#include <string.h>

static void it_decides_when_its_ledger_is_as_of_then(void **state)
{
    struct stage stage;
    (void)state;
    begin(&stage, NULL);
    assert_false(may_decide(&stage));
    tick(&stage);
    assert_string_equal(leadership_role(stage.leadership, stage.now_ms), "follower");
    answered(&stage, "GET", LEASE, 200, HELD_BY("", "5"));
    accepted(&stage, "PUT", LEASE);
    assert_string_equal(leadership_role(stage.leadership, stage.now_ms), "becoming the leader");
    answered(&stage, "GET", "/version", 200, "{\"major\":\"1\",\"minor\":\"35+\"}");
    assert_int_equal(stage.catch_up.last.number, 0);
    answered(&stage, "GET", PODS, 200, "{\"metadata\":{\"resourceVersion\":\"77\"}}");
    assert_int_equal(stage.catch_up.last.number, 1);
    assert_string_equal(stage.catch_up.version, "77");
    assert_false(may_decide(&stage));
    assert_int_equal(stage.n_turns, 0);
    fake_catch_up_done(&stage.catch_up, 1);
    tick(&stage);
    assert_true(may_decide(&stage));
    assert_true(stage.may_decide);
    assert_string_equal(leadership_role(stage.leadership, stage.now_ms), "leader");
    asks_nothing(&stage);
    end(&stage);
}

static void where_versions_say_nothing_the_pods_are_listed_anew(void **state)
{
    static const struct {
        unsigned status;
        const char *body;
    } VERSIONS[] = {{200, "{\"major\":\"1\",\"minor\":\"34\"}"}, {403, "{}"}, {200, "?"}};
    (void)state;
    for (size_t i = 0; i < sizeof VERSIONS / sizeof *VERSIONS; i++) {
        struct stage stage;
        begin(&stage, NULL);
        take_lease(&stage);
        answered(&stage, "GET", "/version", VERSIONS[i].status, VERSIONS[i].body);
        assert_int_equal(stage.catch_up.last.number, 1);
        assert_string_equal(stage.catch_up.version, "");
        end(&stage);
    }
}

static void where_the_pods_cannot_be_asked_they_are_listed_anew(void **state)
{
    struct stage stage;
    (void)state;
    begin(&stage, NULL);
    take_lease(&stage);
    answered(&stage, "GET", "/version", 200, "{\"major\":\"2\",\"minor\":\"0\"}");
    answered(&stage, "GET", PODS, 500, "{}");
    assert_int_equal(stage.catch_up.last.number, 1);
    assert_string_equal(stage.catch_up.version, "");
    end(&stage);
}

static void it_may_decide_until_what_it_begins_would_last_too_long(void **state)
{
    struct stage stage;
    (void)state;
    lead(&stage);
    const int64_t renewed_ms = stage.now_ms;
    stage.now_ms = renewed_ms + 2000;
    tick(&stage);
    struct fake_request *renewal = asked(&stage, "PUT", LEASE);
    stage.now_ms = renewed_ms + DECIDE_MS - 1;
    assert_true(may_decide(&stage));
    tick(&stage);
    assert_int_equal(stage.next_ms, renewed_ms + DECIDE_MS);
    stage.now_ms++;
    assert_false(may_decide(&stage)); /* without anybody's doing */
    assert_true(stage.may_decide);
    tick(&stage);
    assert_false(stage.may_decide);
    reply(&stage, renewal, 500, "{}");
    answered(&stage, "GET", LEASE, 500, "{}");
    stage.now_ms += 2000;
    tick(&stage);
    answered(&stage, "GET", LEASE, 200, HELD_BY("me", "1"));
    accepted(&stage, "PUT", LEASE);
    assert_true(may_decide(&stage)); /* it was ours all the time: nothing is to be caught up */
    assert_true(stage.may_decide);
    end(&stage);
}

static void who_takes_it_again_catches_up_again(void **state)
{
    struct stage stage;
    (void)state;
    lead(&stage);
    stage.now_ms += 60000;
    tick(&stage);
    assert_false(may_decide(&stage));
    answered(&stage, "GET", LEASE, 200, HELD_BY("", "5"));
    accepted(&stage, "PUT", LEASE);
    assert_false(may_decide(&stage));
    answered(&stage, "GET", "/version", 200, "{}");
    assert_int_equal(stage.catch_up.last.number, 2);
    fake_catch_up_done(&stage.catch_up, 1); /* a late word of the first time */
    tick(&stage);
    assert_false(may_decide(&stage));
    fake_catch_up_done(&stage.catch_up, 2);
    tick(&stage);
    assert_true(may_decide(&stage));
    end(&stage);
}

static void a_question_of_the_last_time_is_asked_again(void **state)
{
    struct stage stage;
    (void)state;
    begin(&stage, NULL);
    take_lease(&stage);
    struct fake_request *version = asked(&stage, "GET", "/version");
    stage.now_ms += 60000;
    tick(&stage);
    answered(&stage, "GET", LEASE, 200, HELD_BY("", "5"));
    accepted(&stage, "PUT", LEASE);
    asks_nothing(&stage);
    reply(&stage, version, 200, "{\"major\":\"1\",\"minor\":\"36\"}");
    answered(&stage, "GET", "/version", 200, "{\"major\":\"1\",\"minor\":\"36\"}");
    end(&stage);
}

static void the_slice_is_written_as_soon_as_the_lease_is_held(void **state)
{
    struct stage stage;
    (void)state;
    begin(&stage, "verbs");
    tick(&stage);
    answered(&stage, "GET", LEASE, 200, HELD_BY("", "5"));
    accepted(&stage, "PUT", LEASE);
    struct fake_request *slice = asked(&stage, "GET", SLICES "/verbs");
    struct fake_request *version = asked(&stage, "GET", "/version");
    reply(&stage, slice, 404, "{}");
    slice = asked(&stage, "POST", SLICES);
    assert_non_null(strstr(slice->body, "\"port\":8443"));
    reply(&stage, slice, 500, "{}");
    reply(&stage, version, 500, "{}");
    end(&stage);
}

static void what_a_watch_shows_is_passed_on(void **state)
{
    struct stage stage;
    (void)state;
    begin(&stage, NULL);
    const struct reflector_store store = leadership_lease_store(stage.leadership);
    tick(&stage);
    answered(&stage, "GET", LEASE, 200, HELD_BY("other", "5"));
    asks_nothing(&stage);
    json_t *free_one = json_loads(
        "{\"kind\":\"Lease\",\"metadata\":{\"resourceVersion\":\"6\"},\"spec\":{}}", 0, NULL);
    store.upsert(store.context, free_one);
    json_decref(free_one);
    tick(&stage);
    struct fake_request *request = asked(&stage, "GET", LEASE);
    reply(&stage, request, 500, "{}");
    store.list_begin(store.context);
    store.list_end(store.context); /* none is there */
    tick(&stage);
    answered(&stage, "GET", LEASE, 404, "{}");
    asks_nothing(&stage);
    end(&stage);
}

/* Somebody else may make it anew, and lead. */
static void who_sees_the_lease_deleted_decides_no_more_until_it_has_written_it(void **state)
{
    struct stage stage;
    (void)state;
    lead(&stage);
    const struct reflector_store store = leadership_lease_store(stage.leadership);
    store.list_begin(store.context);
    store.list_end(store.context); /* none is there */
    tick(&stage);
    assert_false(may_decide(&stage));
    assert_false(stage.may_decide);
    answered(&stage, "GET", LEASE, 404, "{}");
    assert_false(may_decide(&stage));
    accepted(&stage, "POST", LEASES);
    assert_false(may_decide(&stage)); /* bindings of another term may lie between */
    answered(&stage, "GET", "/version", 200, "{\"major\":\"1\",\"minor\":\"36\"}");
    answered(&stage, "GET", PODS, 200, "{\"metadata\":{\"resourceVersion\":\"78\"}}");
    assert_int_equal(stage.catch_up.last.number, 2);
    fake_catch_up_done(&stage.catch_up, 2);
    tick(&stage);
    assert_true(may_decide(&stage));
    end(&stage);
}

static void it_is_given_up_once_and_that_is_told_once(void **state)
{
    struct stage stage;
    (void)state;
    lead(&stage);
    leadership_release(stage.leadership);
    tick(&stage);
    assert_false(may_decide(&stage));
    assert_false(stage.may_decide);
    answered(&stage, "GET", LEASE, 200, HELD_BY("me", "1"));
    assert_int_equal(stage.n_released, 0);
    accepted(&stage, "PUT", LEASE);
    tick(&stage);
    assert_int_equal(stage.n_released, 1);
    asks_nothing(&stage);
    end(&stage);
}

static void metrics_say_who_leads(void **state)
{
    struct stage stage;
    struct buf text;
    (void)state;
    buf_init(&text, 10000);
    lead(&stage);
    leadership_metrics(stage.leadership, stage.now_ms, &text);
    assert_non_null(strstr(buf_text(&text), "\ngpu_extender_leader 1\n"));
    assert_non_null(strstr(buf_text(&text), "\ngpu_extender_lease_acquisitions_total 1\n"));
    buf_clear(&text);
    stage.now_ms += 60000;
    tick(&stage);
    answered(&stage, "GET", LEASE, 500, "{}");
    leadership_metrics(stage.leadership, stage.now_ms, &text);
    assert_non_null(strstr(buf_text(&text), "\ngpu_extender_leader 0\n"));
    assert_non_null(strstr(buf_text(&text), "\ngpu_extender_lease_losses_total 1\n"));
    assert_non_null(strstr(buf_text(&text), "\ngpu_extender_lease_failures_total 1\n"));
    buf_fini(&text);
    end(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_decides_when_its_ledger_is_as_of_then),
        cmocka_unit_test(where_versions_say_nothing_the_pods_are_listed_anew),
        cmocka_unit_test(where_the_pods_cannot_be_asked_they_are_listed_anew),
        cmocka_unit_test(it_may_decide_until_what_it_begins_would_last_too_long),
        cmocka_unit_test(who_takes_it_again_catches_up_again),
        cmocka_unit_test(a_question_of_the_last_time_is_asked_again),
        cmocka_unit_test(the_slice_is_written_as_soon_as_the_lease_is_held),
        cmocka_unit_test(what_a_watch_shows_is_passed_on),
        cmocka_unit_test(who_sees_the_lease_deleted_decides_no_more_until_it_has_written_it),
        cmocka_unit_test(it_is_given_up_once_and_that_is_told_once),
        cmocka_unit_test(metrics_say_who_leads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
