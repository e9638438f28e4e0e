/* The leader and its time: each rule of leader election by a Lease. */
#include "lease_harness.h"
#include "unit.h"

#include <string.h>

static void an_absent_lease_is_created(void **state)
{
    struct lease_harness *harness = *state;
    assert_false(lease_harness_leads(harness));
    lease_harness_lead(harness);
    assert_string_equal(lease_harness_sent(harness, "holderIdentity"), "me");
    assert_int_equal(lease_harness_sent_number(harness, "leaseDurationSeconds"), 15);
    assert_int_equal(lease_harness_sent_number(harness, "leaseTransitions"), 0);
    assert_string_equal(lease_harness_sent(harness, "acquireTime"), "2026-11-21T10:00:00.000000Z");
    assert_string_equal(lease_harness_sent(harness, "renewTime"), "2026-11-21T10:00:00.000000Z");
    const json_t *metadata = json_object_get(harness->sent, "metadata");
    assert_string_equal(json_string_value(json_object_get(metadata, "name")), "gpu");
    assert_string_equal(json_string_value(json_object_get(metadata, "namespace")), "ns");
    assert_string_equal(lease_status(harness->lease).holder, "me");
    assert_int_equal(lease_status(harness->lease).term, 1);
}

static void the_holder_writes_on_its_own_last_write(void **state)
{
    struct lease_harness *harness = *state;
    lease_harness_lead(harness);
    for (int64_t i = 0; i < 5; i++) {
        lease_harness_wait(harness, 2000, 2000);
        lease_harness_expect(harness, "PUT", LEASE_HARNESS_PATH);
        const json_t *metadata = json_object_get(harness->sent, "metadata");
        const char *version = json_string_value(json_object_get(metadata, "resourceVersion"));
        assert_int_equal(strtol(version, NULL, 10), 100 + i);
        assert_string_equal(lease_harness_sent(harness, "acquireTime"),
                            "2026-11-21T10:00:00.000000Z");
        lease_harness_accept(harness);
        assert_int_equal(lease_status(harness->lease).renewed_ms, harness->now_ms);
    }
    assert_string_equal(lease_harness_sent(harness, "renewTime"), "2026-11-21T10:00:10.000000Z");
    assert_int_equal(lease_harness_sent_number(harness, "leaseTransitions"), 0);
    assert_int_equal(lease_status(harness->lease).term, 1);
}

static void milliseconds_are_six_digits(void **state)
{
    struct lease_harness *harness = *state;
    harness->wall_step_ms = 7;
    lease_harness_lead(harness);
    assert_string_equal(lease_harness_sent(harness, "renewTime"), "2026-11-21T10:00:00.007000Z");
}

static void a_foreign_lease_expires_by_our_own_clock(void **state)
{
    struct lease_harness *harness = *state;
    lease_harness_expect(harness, "GET", LEASE_HARNESS_PATH);
    /* Renewed long ago by a clock that may be wrong. */
    lease_harness_show(harness, "other", "5", "2001-01-01T00:00:00.000000Z");
    const int64_t seen_ms = harness->now_ms;
    while (harness->now_ms < seen_ms + 15000) {
        assert_false(lease_harness_leads(harness));
        lease_harness_wait(harness, 0, 4400);
        lease_harness_expect(harness, "GET", LEASE_HARNESS_PATH);
        lease_harness_show(harness, "other", "5", "2001-01-01T00:00:00.000000Z");
    }
    assert_int_equal(harness->now_ms, seen_ms + 15000);
    lease_harness_expect(harness, "PUT", LEASE_HARNESS_PATH);
    assert_string_equal(lease_harness_sent(harness, "holderIdentity"), "me");
    assert_int_equal(lease_harness_sent_number(harness, "leaseTransitions"), 4);
    assert_string_equal(lease_harness_sent(harness, "acquireTime"), "2026-11-21T10:00:15.000000Z");
    lease_harness_accept(harness);
    assert_true(lease_harness_leads(harness));
}

static void each_foreign_renewal_restarts_the_time(void **state)
{
    struct lease_harness *harness = *state;
    char renew_time[] = "2026-11-21T10:00:00.000000Z";
    for (int i = 0; i < 20; i++) {
        renew_time[18] = (char)('0' + i % 10);
        lease_harness_expect(harness, "GET", LEASE_HARNESS_PATH);
        lease_harness_show(harness, "other", "5", renew_time);
        lease_harness_wait(harness, 2000, 4400);
    }
    assert_false(lease_harness_leads(harness));
}

static void members_written_by_others_stay(void **state)
{
    struct lease_harness *harness = *state;
    lease_harness_expect(harness, "GET", LEASE_HARNESS_PATH);
    lease_harness_show(harness, "", "5", "2026-11-21T09:00:00.000000Z");
    lease_harness_expect(harness, "PUT", LEASE_HARNESS_PATH);
    assert_string_equal(lease_harness_sent(harness, "strategy"), "OldestEmulationVersion");
    const json_t *metadata = json_object_get(harness->sent, "metadata");
    const json_t *labels = json_object_get(metadata, "labels");
    assert_string_equal(json_string_value(json_object_get(labels, "theirs")), "kept");
    assert_string_equal(json_string_value(json_object_get(metadata, "resourceVersion")), "5");
}

static void the_jitter_follows_from_the_seed(void **state)
{
    int64_t waits[2];
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct lease_harness harness;
        lease_harness_init(&harness);
        lease_harness_expect(&harness, "GET", LEASE_HARNESS_PATH);
        lease_harness_answer(&harness, 500, "{}");
        lease_harness_wait(&harness, 2001, 4400); /* longer than the minimum with this seed */
        waits[i] = harness.now_ms;
        lease_harness_fini(&harness);
    }
    assert_int_equal(waits[0], waits[1]);
}

static void a_conflict_of_a_renewal_is_followed_by_a_read(void **state)
{
    struct lease_harness *harness = *state;
    lease_harness_lead(harness);
    lease_harness_wait(harness, 2000, 2000);
    lease_harness_expect(harness, "PUT", LEASE_HARNESS_PATH);
    lease_harness_answer(harness, 409, "{\"reason\":\"Conflict\"}");
    assert_true(lease_harness_leads(harness));
    lease_harness_expect(harness, "GET", LEASE_HARNESS_PATH);
    lease_harness_show(harness, "me", "300",
                       "2026-11-21T10:00:00.000000Z"); /* labelled by a user */
    lease_harness_expect(harness, "PUT", LEASE_HARNESS_PATH);
    assert_int_equal(lease_harness_sent_number(harness, "leaseTransitions"), 3);
    assert_string_equal(lease_harness_sent(harness, "acquireTime"), "2026-11-01T00:00:00.000000Z");
    lease_harness_accept(harness);
    assert_true(lease_harness_leads(harness));
    assert_int_equal(lease_status(harness->lease).term, 1);
}

static void a_leader_without_renewal_stops_at_the_deadline(void **state)
{
    struct lease_harness *harness = *state;
    lease_harness_lead(harness);
    const int64_t renewed_ms = harness->now_ms;
    lease_harness_wait(harness, 2000, 2000);
    while (lease_harness_leads(harness)) {
        const struct lease_action action =
            lease_next(harness->lease, harness->now_ms, LEASE_HARNESS_WALL_MS);
        if (action.sends)
            lease_harness_answer(harness, 500, "{\"message\":\"etcd is away\"}");
        else
            harness->now_ms = action.until_ms;
    }
    assert_int_equal(harness->now_ms, renewed_ms + 10000);
    assert_int_equal(lease_status(harness->lease).losses, 1);
    assert_in_range(lease_status(harness->lease).failures, 4, 10);
    assert_non_null(strstr(lease_status(harness->lease).why, "500: etcd is away"));
}

static void a_leader_stops_at_the_deadline_despite_an_open_request(void **state)
{
    struct lease_harness *harness = *state;
    lease_harness_lead(harness);
    lease_harness_wait(harness, 2000, 2000);
    lease_harness_expect(harness, "PUT", LEASE_HARNESS_PATH);
    lease_harness_wait(harness, 8000, 8000);
    lease_harness_expect_nothing(harness);
    assert_false(lease_harness_leads(harness));
    /* It took effect, but too late. */
    lease_harness_accept(harness);
    assert_true(lease_harness_leads(harness)); /* sent 8 s ago: no other can have it before 15 s */
    assert_int_equal(lease_status(harness->lease).term, 2);
    assert_int_equal(lease_status(harness->lease).renewed_ms, harness->now_ms - 8000);
}

static void a_wall_clock_that_jumps_changes_nothing(void **state)
{
    struct lease_harness *harness = *state;
    lease_harness_lead(harness);
    harness->wall_step_ms = -86400000;
    lease_harness_wait(harness, 2000, 2000);
    lease_harness_expect(harness, "PUT", LEASE_HARNESS_PATH);
    assert_string_equal(lease_harness_sent(harness, "renewTime"), "2026-11-20T10:00:02.000000Z");
    lease_harness_accept(harness);
    harness->wall_step_ms = 86400000;
    lease_harness_wait(harness, 2000, 2000);
    lease_harness_expect(harness, "PUT", LEASE_HARNESS_PATH);
    assert_true(lease_harness_leads(harness));
}

static void garbage_is_a_failed_round(void **state)
{
    static const char *const GARBAGE[] = {
        "", "[]", "{\"kind\":\"Pod\",\"metadata\":{\"resourceVersion\":\"1\"}}",
        "{\"kind\":\"Lease\",\"metadata\":{}}",
        ("{\"kind\":\"Lease\",\"metadata\":{\"resourceVersion\":\"1\"},\"spec\":{"
         "\"holderIdentity\":3}}")};
    (void)state;
    for (size_t i = 0; i < sizeof GARBAGE / sizeof *GARBAGE; i++) {
        struct lease_harness harness;
        lease_harness_init(&harness);
        lease_harness_expect(&harness, "GET", LEASE_HARNESS_PATH);
        lease_harness_answer(&harness, 200, GARBAGE[i]);
        assert_int_equal(lease_status(harness.lease).failures, 1);
        lease_harness_wait(&harness, 2000, 4400);
        lease_harness_fini(&harness);
    }
}

static void a_lease_without_spec_is_free(void **state)
{
    struct lease_harness *harness = *state;
    lease_harness_expect(harness, "GET", LEASE_HARNESS_PATH);
    lease_harness_answer(harness, 200,
                         "{\"kind\":\"Lease\",\"metadata\":{\"resourceVersion\":\"1\"}}");
    lease_harness_expect(harness, "PUT", LEASE_HARNESS_PATH);
    assert_string_equal(lease_harness_sent(harness, "holderIdentity"), "me");
}

static const struct lease_script SCRIPTS[] = {
    /* Its deletion may hide a holder that still leads. The rest is in lease_harness_find_none(). */
    {"an absent one is created no sooner than its duration later",
     {GET, ANSWER(404), RETRY, GET, SHOW("other@5"), RETRY, NONE, POST}},
    /* It may have been created and deleted meanwhile. */
    {"an unread one does not count as absent",
     {GET, ANSWER(404), RETRY, GET, LOSE, RETRY, NONE, POST}},
    /* Its holder may have renewed it just before, unseen. */
    {"one seen long ago is no sooner free when it is gone",
     {GET, SHOW("other@5"), RETRY, SLEEP(14000), NONE, POST}},
    {"a renewal of a deleted one ends the lead",
     {LEAD, WAIT(2000), PUT, ANSWER(404), LEADS(false), GET, ANSWER(404), POST, ACCEPT, LEADS(true),
      TERM(2)}},
    /* Others that saw its absence may have created it since. */
    {"after a sleep the holder creates a deleted one no sooner than others",
     {LEAD, SLEEP(15000), NONE, POST}},
    {"the second to create it tries later",
     {NONE, POST, ANSWER(409), LEADS(false), RETRY, GET, FAILURES(0)}},
    {"a conflict is a lost round", {GET, SHOW("@5"), PUT, ANSWER(409), LEADS(false), RETRY, GET}},
    {"a leader that sees another holder stops at once",
     {LEAD, WAIT(2000), PUT, ANSWER(409), GET, SHOW("other@300"), LEADS(false), LOSSES(1), RETRY}},
    {"an answer from before a long sleep is no lead",
     {LEAD, WAIT(2000), PUT, SLEEP(60000), ACCEPT, GET, LEADS(false)}},
    {"a Lease taken before a long sleep was never led",
     {NONE, POST, SLEEP(60000), ACCEPT, GET, TERM(0), LOSSES(0)}},
    {"a long sleep ends the lead", {LEAD, SLEEP(3600000), GET, LEADS(false)}},
    /* Until the answer nobody knows of the write; its age is unknown when it is read. */
    {"an unanswered write is found later",
     {GET, SHOW("@5"), PUT, LOSE, LEADS(false), RETRY, GET, SHOW("me@6"), LEADS(false), PUT,
      SENDS_TRANSITIONS(3), ACCEPT, LEADS(true)}},
};

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_absent_lease_is_created),
        TEST(the_holder_writes_on_its_own_last_write),
        TEST(milliseconds_are_six_digits),
        TEST(a_foreign_lease_expires_by_our_own_clock),
        TEST(each_foreign_renewal_restarts_the_time),
        TEST(members_written_by_others_stay),
        cmocka_unit_test(the_jitter_follows_from_the_seed),
        TEST(a_conflict_of_a_renewal_is_followed_by_a_read),
        TEST(a_leader_without_renewal_stops_at_the_deadline),
        TEST(a_leader_stops_at_the_deadline_despite_an_open_request),
        TEST(a_wall_clock_that_jumps_changes_nothing),
        cmocka_unit_test(garbage_is_a_failed_round),
        TEST(a_lease_without_spec_is_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) +
           lease_harness_run(SCRIPTS, sizeof SCRIPTS / sizeof *SCRIPTS);
}
