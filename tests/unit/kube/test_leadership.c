/* Whether this replica may decide: the Lease, a ledger current since then, and the time. */
#include "leadership_fixture.h"
#include "unit.h"

#include <string.h>

static void a_leader_decides_once_its_ledger_caught_up(void **state)
{
    struct fixture *fixture = *state;
    assert_false(may_decide(fixture));
    tick(fixture);
    assert_string_equal(leadership_role(fixture->leadership, fixture->now_ms), "follower");
    answered(fixture, "GET", LEASE, 200, HELD_BY("", "5"));
    accepted(fixture, "PUT", LEASE);
    assert_string_equal(leadership_role(fixture->leadership, fixture->now_ms),
                        "becoming the leader");
    answered(fixture, "GET", "/version", 200, "{\"major\":\"1\",\"minor\":\"35+\"}");
    assert_int_equal(fixture->catch_up.last.number, 0);
    answered(fixture, "GET", PODS, 200, "{\"metadata\":{\"resourceVersion\":\"77\"}}");
    assert_int_equal(fixture->catch_up.last.number, 1);
    assert_string_equal(fixture->catch_up.version, "77");
    assert_false(may_decide(fixture));
    assert_int_equal(fixture->n_turns, 0);
    fake_catch_up_done(&fixture->catch_up, 1);
    tick(fixture);
    assert_true(may_decide(fixture));
    assert_true(fixture->may_decide);
    assert_string_equal(leadership_role(fixture->leadership, fixture->now_ms), "leader");
    asks_nothing(fixture);
}

static void incomparable_versions_relist_the_pods(void **state)
{
    static const struct {
        unsigned status;
        const char *body;
    } VERSIONS[] = {{200, "{\"major\":\"1\",\"minor\":\"34\"}"}, {403, "{}"}, {200, "?"}};
    (void)state;
    for (size_t i = 0; i < sizeof VERSIONS / sizeof *VERSIONS; i++) {
        struct fixture fixture;
        begin(&fixture, NULL);
        take_lease(&fixture);
        answered(&fixture, "GET", "/version", VERSIONS[i].status, VERSIONS[i].body);
        assert_int_equal(fixture.catch_up.last.number, 1);
        assert_string_equal(fixture.catch_up.version, "");
        end(&fixture);
    }
}

static void a_failed_get_of_pods_relists_them(void **state)
{
    struct fixture *fixture = *state;
    take_lease(fixture);
    answered(fixture, "GET", "/version", 200, "{\"major\":\"2\",\"minor\":\"0\"}");
    answered(fixture, "GET", PODS, 500, "{}");
    assert_int_equal(fixture->catch_up.last.number, 1);
    assert_string_equal(fixture->catch_up.version, "");
}

static void a_leader_decides_until_a_request_would_outlast_its_lease(void **state)
{
    struct fixture *fixture = *state;
    lead(fixture);
    const int64_t renewed_ms = fixture->now_ms;
    fixture->now_ms = renewed_ms + 2000;
    tick(fixture);
    struct fake_request *renewal = asked(fixture, "PUT", LEASE);
    fixture->now_ms = renewed_ms + DECIDE_MS - 1;
    assert_true(may_decide(fixture));
    tick(fixture);
    assert_int_equal(fixture->next_ms, renewed_ms + DECIDE_MS);
    fixture->now_ms++;
    assert_false(may_decide(fixture)); /* by time alone */
    assert_true(fixture->may_decide);
    tick(fixture);
    assert_false(fixture->may_decide);
    reply(fixture, renewal, 500, "{}");
    answered(fixture, "GET", LEASE, 500, "{}");
    fixture->now_ms += 2000;
    tick(fixture);
    answered(fixture, "GET", LEASE, 200, HELD_BY("me", "1"));
    accepted(fixture, "PUT", LEASE);
    assert_true(may_decide(fixture)); /* ours all the time: no catching up */
    assert_true(fixture->may_decide);
}

static void a_leader_catches_up_each_time_it_acquires_the_lease(void **state)
{
    struct fixture *fixture = *state;
    lead(fixture);
    fixture->now_ms += 60000;
    tick(fixture);
    assert_false(may_decide(fixture));
    answered(fixture, "GET", LEASE, 200, HELD_BY("", "5"));
    accepted(fixture, "PUT", LEASE);
    assert_false(may_decide(fixture));
    answered(fixture, "GET", "/version", 200, "{}");
    assert_int_equal(fixture->catch_up.last.number, 2);
    fake_catch_up_done(&fixture->catch_up, 1); /* a late answer to the first */
    tick(fixture);
    assert_false(may_decide(fixture));
    fake_catch_up_done(&fixture->catch_up, 2);
    tick(fixture);
    assert_true(may_decide(fixture));
}

static void a_request_of_the_last_term_is_sent_again(void **state)
{
    struct fixture *fixture = *state;
    take_lease(fixture);
    struct fake_request *version = asked(fixture, "GET", "/version");
    fixture->now_ms += 60000;
    tick(fixture);
    answered(fixture, "GET", LEASE, 200, HELD_BY("", "5"));
    accepted(fixture, "PUT", LEASE);
    asks_nothing(fixture);
    reply(fixture, version, 200, "{\"major\":\"1\",\"minor\":\"36\"}");
    answered(fixture, "GET", "/version", 200, "{\"major\":\"1\",\"minor\":\"36\"}");
}

static void the_endpoint_slice_is_written_once_the_lease_is_acquired(void **state)
{
    struct fixture *fixture = *state;
    end(fixture);
    begin(fixture, "verbs");
    tick(fixture);
    answered(fixture, "GET", LEASE, 200, HELD_BY("", "5"));
    accepted(fixture, "PUT", LEASE);
    struct fake_request *slice = asked(fixture, "GET", SLICES "/verbs");
    struct fake_request *version = asked(fixture, "GET", "/version");
    reply(fixture, slice, 404, "{}");
    slice = asked(fixture, "POST", SLICES);
    assert_non_null(strstr(slice->body, "\"port\":8443"));
    reply(fixture, slice, 500, "{}");
    reply(fixture, version, 500, "{}");
}

static void watch_events_are_passed_on(void **state)
{
    struct fixture *fixture = *state;
    const struct reflector_store store = leadership_lease_store(fixture->leadership);
    tick(fixture);
    answered(fixture, "GET", LEASE, 200, HELD_BY("other", "5"));
    asks_nothing(fixture);
    json_t *free_one = json_loads(
        "{\"kind\":\"Lease\",\"metadata\":{\"resourceVersion\":\"6\"},\"spec\":{}}", 0, NULL);
    store.upsert(store.context, free_one);
    json_decref(free_one);
    tick(fixture);
    struct fake_request *request = asked(fixture, "GET", LEASE);
    reply(fixture, request, 500, "{}");
    store.list_begin(store.context);
    store.list_end(store.context); /* it is absent */
    tick(fixture);
    answered(fixture, "GET", LEASE, 404, "{}");
    asks_nothing(fixture);
}

/* Another replica may create it and lead. */
static void a_leader_stops_deciding_when_the_lease_is_deleted(void **state)
{
    struct fixture *fixture = *state;
    lead(fixture);
    const struct reflector_store store = leadership_lease_store(fixture->leadership);
    store.list_begin(store.context);
    store.list_end(store.context); /* it is absent */
    tick(fixture);
    assert_false(may_decide(fixture));
    assert_false(fixture->may_decide);
    answered(fixture, "GET", LEASE, 404, "{}");
    assert_false(may_decide(fixture));
    accepted(fixture, "POST", LEASES);
    assert_false(may_decide(fixture)); /* another term's bindings may lie between */
    answered(fixture, "GET", "/version", 200, "{\"major\":\"1\",\"minor\":\"36\"}");
    answered(fixture, "GET", PODS, 200, "{\"metadata\":{\"resourceVersion\":\"78\"}}");
    assert_int_equal(fixture->catch_up.last.number, 2);
    fake_catch_up_done(&fixture->catch_up, 2);
    tick(fixture);
    assert_true(may_decide(fixture));
}

static void the_lease_is_released_and_reported_once(void **state)
{
    struct fixture *fixture = *state;
    lead(fixture);
    leadership_release(fixture->leadership);
    tick(fixture);
    assert_false(may_decide(fixture));
    assert_false(fixture->may_decide);
    answered(fixture, "GET", LEASE, 200, HELD_BY("me", "1"));
    assert_int_equal(fixture->n_released, 0);
    accepted(fixture, "PUT", LEASE);
    tick(fixture);
    assert_int_equal(fixture->n_released, 1);
    asks_nothing(fixture);
}

static void metrics_show_leadership(void **state)
{
    struct fixture *fixture = *state;
    struct buf text;
    buf_init(&text, 10000);
    lead(fixture);
    leadership_metrics(fixture->leadership, fixture->now_ms, &text);
    assert_non_null(strstr(buf_text(&text), "\ngpu_extender_leader 1\n"));
    assert_non_null(strstr(buf_text(&text), "\ngpu_extender_lease_acquisitions_total 1\n"));
    buf_clear(&text);
    fixture->now_ms += 60000;
    tick(fixture);
    answered(fixture, "GET", LEASE, 500, "{}");
    leadership_metrics(fixture->leadership, fixture->now_ms, &text);
    assert_non_null(strstr(buf_text(&text), "\ngpu_extender_leader 0\n"));
    assert_non_null(strstr(buf_text(&text), "\ngpu_extender_lease_losses_total 1\n"));
    assert_non_null(strstr(buf_text(&text), "\ngpu_extender_lease_failures_total 1\n"));
    buf_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_leader_decides_once_its_ledger_caught_up),
        cmocka_unit_test(incomparable_versions_relist_the_pods),
        TEST(a_failed_get_of_pods_relists_them),
        TEST(a_leader_decides_until_a_request_would_outlast_its_lease),
        TEST(a_leader_catches_up_each_time_it_acquires_the_lease),
        TEST(a_request_of_the_last_term_is_sent_again),
        TEST(the_endpoint_slice_is_written_once_the_lease_is_acquired),
        TEST(watch_events_are_passed_on),
        TEST(a_leader_stops_deciding_when_the_lease_is_deleted),
        TEST(the_lease_is_released_and_reported_once),
        TEST(metrics_show_leadership),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
