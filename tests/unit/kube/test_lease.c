/* Who leads, and until when: each rule of leader election by a Lease. */
#include "lease_rig.h"
#include "unit.h"

#include <string.h>

static void one_that_is_not_there_is_made(void **state)
{
    struct lease_rig rig;
    (void)state;
    lease_rig_init(&rig);
    assert_false(lease_rig_leads(&rig));
    lease_rig_lead(&rig);
    assert_string_equal(lease_rig_sent(&rig, "holderIdentity"), "me");
    assert_int_equal(lease_rig_sent_number(&rig, "leaseDurationSeconds"), 15);
    assert_int_equal(lease_rig_sent_number(&rig, "leaseTransitions"), 0);
    assert_string_equal(lease_rig_sent(&rig, "acquireTime"), "2026-11-21T10:00:00.000000Z");
    assert_string_equal(lease_rig_sent(&rig, "renewTime"), "2026-11-21T10:00:00.000000Z");
    const json_t *metadata = json_object_get(rig.sent, "metadata");
    assert_string_equal(json_string_value(json_object_get(metadata, "name")), "gpu");
    assert_string_equal(json_string_value(json_object_get(metadata, "namespace")), "ns");
    assert_string_equal(lease_status(rig.lease).holder, "me");
    assert_int_equal(lease_status(rig.lease).term, 1);
    lease_rig_fini(&rig);
}

/* Its end may be what keeps us from seeing a holder that leads. lease_rig_find_none() has the rest.
 */
static void one_that_is_not_there_is_made_no_sooner_than_its_duration_later(void **state)
{
    struct lease_rig rig;
    (void)state;
    lease_rig_init(&rig);
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
    lease_rig_answer(&rig, 404, "{}");
    lease_rig_wait(&rig, 2000, 4400);
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
    lease_rig_show(&rig, "other", "5", "2026-11-21T09:00:00.000000Z");
    lease_rig_wait(&rig, 2000, 4400);
    lease_rig_find_none(&rig); /* anew */
    lease_rig_expect(&rig, "POST", LEASE_RIG_ALL);
    lease_rig_fini(&rig);
}

/* It may have been made and deleted again meanwhile. */
static void what_was_not_read_was_not_missed(void **state)
{
    struct lease_rig rig;
    (void)state;
    lease_rig_init(&rig);
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
    lease_rig_answer(&rig, 404, "{}");
    lease_rig_wait(&rig, 2000, 4400);
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
    lease_rig_lost(&rig, KUBE_UNKNOWN);
    lease_rig_wait(&rig, 2000, 4400);
    lease_rig_find_none(&rig);
    lease_rig_expect(&rig, "POST", LEASE_RIG_ALL);
    lease_rig_fini(&rig);
}

/* Its holder may have renewed it just before, unseen. */
static void one_that_was_seen_long_ago_is_no_more_free_when_it_is_gone(void **state)
{
    struct lease_rig rig;
    (void)state;
    lease_rig_init(&rig);
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
    lease_rig_show(&rig, "other", "5", "2026-11-21T09:00:00.000000Z");
    lease_rig_wait(&rig, 2000, 4400);
    rig.now_ms += 14000;
    lease_rig_find_none(&rig);
    lease_rig_expect(&rig, "POST", LEASE_RIG_ALL);
    lease_rig_fini(&rig);
}

static void a_renewal_of_what_is_gone_ends_the_lead(void **state)
{
    struct lease_rig rig;
    (void)state;
    lease_rig_init(&rig);
    lease_rig_lead(&rig);
    lease_rig_wait(&rig, 2000, 2000);
    lease_rig_expect(&rig, "PUT", LEASE_RIG_PATH);
    lease_rig_answer(&rig, 404, "{}");
    assert_false(lease_rig_leads(&rig));
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
    lease_rig_answer(&rig, 404, "{}");
    lease_rig_expect(&rig, "POST", LEASE_RIG_ALL);
    lease_rig_accept(&rig);
    assert_true(lease_rig_leads(&rig));
    assert_int_equal(lease_status(rig.lease).term, 2);
    lease_rig_fini(&rig);
}

/* Others that found none may have made it since. */
static void who_slept_makes_a_deleted_one_no_sooner_than_others(void **state)
{
    struct lease_rig rig;
    (void)state;
    lease_rig_init(&rig);
    lease_rig_lead(&rig);
    rig.now_ms += 15000;
    lease_rig_find_none(&rig);
    lease_rig_expect(&rig, "POST", LEASE_RIG_ALL);
    lease_rig_fini(&rig);
}

static void who_comes_second_to_make_it_tries_later(void **state)
{
    struct lease_rig rig;
    (void)state;
    lease_rig_init(&rig);
    lease_rig_find_none(&rig);
    lease_rig_expect(&rig, "POST", LEASE_RIG_ALL);
    lease_rig_answer(&rig, 409, "{\"reason\":\"AlreadyExists\"}");
    assert_false(lease_rig_leads(&rig));
    lease_rig_wait(&rig, 2000, 4400);
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
    assert_int_equal(lease_status(rig.lease).failures, 0);
    lease_rig_fini(&rig);
}

static void the_holder_writes_on_its_own_last_write(void **state)
{
    struct lease_rig rig;
    (void)state;
    lease_rig_init(&rig);
    lease_rig_lead(&rig);
    for (int64_t i = 0; i < 5; i++) {
        lease_rig_wait(&rig, 2000, 2000);
        lease_rig_expect(&rig, "PUT", LEASE_RIG_PATH);
        const json_t *metadata = json_object_get(rig.sent, "metadata");
        const char *version = json_string_value(json_object_get(metadata, "resourceVersion"));
        assert_int_equal(strtol(version, NULL, 10), 100 + i);
        assert_string_equal(lease_rig_sent(&rig, "acquireTime"), "2026-11-21T10:00:00.000000Z");
        lease_rig_accept(&rig);
        assert_int_equal(lease_status(rig.lease).renewed_ms, rig.now_ms);
    }
    assert_string_equal(lease_rig_sent(&rig, "renewTime"), "2026-11-21T10:00:10.000000Z");
    assert_int_equal(lease_rig_sent_number(&rig, "leaseTransitions"), 0);
    assert_int_equal(lease_status(rig.lease).term, 1);
    lease_rig_fini(&rig);
}

static void milliseconds_are_six_digits(void **state)
{
    struct lease_rig rig;
    (void)state;
    lease_rig_init(&rig);
    rig.wall_step_ms = 7;
    lease_rig_lead(&rig);
    assert_string_equal(lease_rig_sent(&rig, "renewTime"), "2026-11-21T10:00:00.007000Z");
    lease_rig_fini(&rig);
}

static void one_that_another_holds_is_waited_for_by_our_own_clock(void **state)
{
    struct lease_rig rig;
    (void)state;
    lease_rig_init(&rig);
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
    /* Renewed long ago, by a clock that may be wrong. */
    lease_rig_show(&rig, "other", "5", "2001-01-01T00:00:00.000000Z");
    const int64_t seen_ms = rig.now_ms;
    while (rig.now_ms < seen_ms + 15000) {
        assert_false(lease_rig_leads(&rig));
        lease_rig_wait(&rig, 0, 4400);
        lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
        lease_rig_show(&rig, "other", "5", "2001-01-01T00:00:00.000000Z");
    }
    assert_int_equal(rig.now_ms, seen_ms + 15000);
    lease_rig_expect(&rig, "PUT", LEASE_RIG_PATH);
    assert_string_equal(lease_rig_sent(&rig, "holderIdentity"), "me");
    assert_int_equal(lease_rig_sent_number(&rig, "leaseTransitions"), 4);
    assert_string_equal(lease_rig_sent(&rig, "acquireTime"), "2026-11-21T10:00:15.000000Z");
    lease_rig_accept(&rig);
    assert_true(lease_rig_leads(&rig));
    lease_rig_fini(&rig);
}

static void each_renewal_of_the_other_begins_the_time_anew(void **state)
{
    struct lease_rig rig;
    char renew_time[] = "2026-11-21T10:00:00.000000Z";
    (void)state;
    lease_rig_init(&rig);
    for (int i = 0; i < 20; i++) {
        renew_time[18] = (char)('0' + i % 10);
        lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
        lease_rig_show(&rig, "other", "5", renew_time);
        lease_rig_wait(&rig, 2000, 4400);
    }
    assert_false(lease_rig_leads(&rig));
    lease_rig_fini(&rig);
}

static void what_others_wrote_stays(void **state)
{
    struct lease_rig rig;
    (void)state;
    lease_rig_init(&rig);
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
    lease_rig_show(&rig, "", "5", "2026-11-21T09:00:00.000000Z");
    lease_rig_expect(&rig, "PUT", LEASE_RIG_PATH);
    assert_string_equal(lease_rig_sent(&rig, "strategy"), "OldestEmulationVersion");
    const json_t *metadata = json_object_get(rig.sent, "metadata");
    const json_t *labels = json_object_get(metadata, "labels");
    assert_string_equal(json_string_value(json_object_get(labels, "theirs")), "kept");
    assert_string_equal(json_string_value(json_object_get(metadata, "resourceVersion")), "5");
    lease_rig_fini(&rig);
}

static void a_conflict_is_a_lost_round(void **state)
{
    struct lease_rig rig;
    (void)state;
    lease_rig_init(&rig);
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
    lease_rig_show(&rig, "", "5", "2026-11-21T09:00:00.000000Z");
    lease_rig_expect(&rig, "PUT", LEASE_RIG_PATH);
    lease_rig_answer(&rig, 409, "{\"reason\":\"Conflict\"}");
    assert_false(lease_rig_leads(&rig));
    lease_rig_wait(&rig, 2000, 4400);
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
    lease_rig_fini(&rig);
}

static void the_jitter_follows_from_the_seed(void **state)
{
    int64_t waits[2];
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct lease_rig rig;
        lease_rig_init(&rig);
        lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
        lease_rig_answer(&rig, 500, "{}");
        lease_rig_wait(&rig, 2001, 4400); /* not by chance: this seed has one */
        waits[i] = rig.now_ms;
        lease_rig_fini(&rig);
    }
    assert_int_equal(waits[0], waits[1]);
}

static void a_conflict_of_a_renewal_is_looked_into(void **state)
{
    struct lease_rig rig;
    (void)state;
    lease_rig_init(&rig);
    lease_rig_lead(&rig);
    lease_rig_wait(&rig, 2000, 2000);
    lease_rig_expect(&rig, "PUT", LEASE_RIG_PATH);
    lease_rig_answer(&rig, 409, "{\"reason\":\"Conflict\"}");
    assert_true(lease_rig_leads(&rig));
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
    lease_rig_show(&rig, "me", "300", "2026-11-21T10:00:00.000000Z"); /* somebody labelled it */
    lease_rig_expect(&rig, "PUT", LEASE_RIG_PATH);
    assert_int_equal(lease_rig_sent_number(&rig, "leaseTransitions"), 3);
    assert_string_equal(lease_rig_sent(&rig, "acquireTime"), "2026-11-01T00:00:00.000000Z");
    lease_rig_accept(&rig);
    assert_true(lease_rig_leads(&rig));
    assert_int_equal(lease_status(rig.lease).term, 1);
    lease_rig_fini(&rig);
}

static void who_sees_another_hold_it_stops_at_once(void **state)
{
    struct lease_rig rig;
    (void)state;
    lease_rig_init(&rig);
    lease_rig_lead(&rig);
    lease_rig_wait(&rig, 2000, 2000);
    lease_rig_expect(&rig, "PUT", LEASE_RIG_PATH);
    lease_rig_answer(&rig, 409, "{}");
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
    lease_rig_show(&rig, "other", "300", "2026-11-21T10:00:00.000000Z");
    assert_false(lease_rig_leads(&rig));
    assert_int_equal(lease_status(rig.lease).losses, 1);
    lease_rig_wait(&rig, 2000, 4400);
    lease_rig_fini(&rig);
}

static void without_a_renewal_it_stops_at_the_deadline(void **state)
{
    struct lease_rig rig;
    (void)state;
    lease_rig_init(&rig);
    lease_rig_lead(&rig);
    const int64_t renewed_ms = rig.now_ms;
    lease_rig_wait(&rig, 2000, 2000);
    while (lease_rig_leads(&rig)) {
        const struct lease_action action = lease_next(rig.lease, rig.now_ms, LEASE_RIG_WALL_MS);
        if (action.sends)
            lease_rig_answer(&rig, 500, "{\"message\":\"etcd is away\"}");
        else
            rig.now_ms = action.until_ms;
    }
    assert_int_equal(rig.now_ms, renewed_ms + 10000);
    assert_int_equal(lease_status(rig.lease).losses, 1);
    assert_in_range(lease_status(rig.lease).failures, 4, 10);
    assert_non_null(strstr(lease_status(rig.lease).why, "500: etcd is away"));
    lease_rig_fini(&rig);
}

static void it_stops_at_the_deadline_while_an_answer_is_waited_for(void **state)
{
    struct lease_rig rig;
    (void)state;
    lease_rig_init(&rig);
    lease_rig_lead(&rig);
    lease_rig_wait(&rig, 2000, 2000);
    lease_rig_expect(&rig, "PUT", LEASE_RIG_PATH);
    lease_rig_wait(&rig, 8000, 8000);
    lease_rig_expect_nothing(&rig);
    assert_false(lease_rig_leads(&rig));
    /* It was taken all the same, but too long ago. */
    lease_rig_accept(&rig);
    assert_true(lease_rig_leads(&rig)); /* sent 8 s ago: nobody else can have it before 15 */
    assert_int_equal(lease_status(rig.lease).term, 2);
    assert_int_equal(lease_status(rig.lease).renewed_ms, rig.now_ms - 8000);
    lease_rig_fini(&rig);
}

static void an_answer_from_before_a_long_sleep_is_no_lead(void **state)
{
    struct lease_rig rig;
    (void)state;
    lease_rig_init(&rig);
    lease_rig_lead(&rig);
    lease_rig_wait(&rig, 2000, 2000);
    lease_rig_expect(&rig, "PUT", LEASE_RIG_PATH);
    rig.now_ms += 60000;
    lease_rig_accept(&rig);
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH); /* by who looks first: it leads no more */
    assert_false(lease_rig_leads(&rig));
    lease_rig_fini(&rig);
}

static void what_was_taken_before_a_long_sleep_was_never_led(void **state)
{
    struct lease_rig rig;
    (void)state;
    lease_rig_init(&rig);
    lease_rig_find_none(&rig);
    lease_rig_expect(&rig, "POST", LEASE_RIG_ALL);
    rig.now_ms += 60000;
    lease_rig_accept(&rig);
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
    assert_int_equal(lease_status(rig.lease).term, 0);
    assert_int_equal(lease_status(rig.lease).losses, 0);
    lease_rig_fini(&rig);
}

static void after_a_long_sleep_it_leads_no_more(void **state)
{
    struct lease_rig rig;
    (void)state;
    lease_rig_init(&rig);
    lease_rig_lead(&rig);
    rig.now_ms += 3600000;
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
    assert_false(lease_rig_leads(&rig));
    lease_rig_fini(&rig);
}

static void a_wall_clock_that_jumps_changes_nothing(void **state)
{
    struct lease_rig rig;
    (void)state;
    lease_rig_init(&rig);
    lease_rig_lead(&rig);
    rig.wall_step_ms = -86400000;
    lease_rig_wait(&rig, 2000, 2000);
    lease_rig_expect(&rig, "PUT", LEASE_RIG_PATH);
    assert_string_equal(lease_rig_sent(&rig, "renewTime"), "2026-11-20T10:00:02.000000Z");
    lease_rig_accept(&rig);
    rig.wall_step_ms = 86400000;
    lease_rig_wait(&rig, 2000, 2000);
    lease_rig_expect(&rig, "PUT", LEASE_RIG_PATH);
    assert_true(lease_rig_leads(&rig));
    lease_rig_fini(&rig);
}

static void a_write_that_nobody_answered_is_found_later(void **state)
{
    struct lease_rig rig;
    (void)state;
    lease_rig_init(&rig);
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
    lease_rig_show(&rig, "", "5", "2026-11-21T09:00:00.000000Z");
    lease_rig_expect(&rig, "PUT", LEASE_RIG_PATH);
    lease_rig_lost(&rig, KUBE_UNKNOWN);
    assert_false(lease_rig_leads(&rig)); /* as far as anybody can tell */
    lease_rig_wait(&rig, 2000, 4400);
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
    lease_rig_show(&rig, "me", "6", "2026-11-21T10:00:00.000000Z");
    assert_false(lease_rig_leads(&rig)); /* who knows how old it is */
    lease_rig_expect(&rig, "PUT", LEASE_RIG_PATH);
    assert_int_equal(lease_rig_sent_number(&rig, "leaseTransitions"), 3);
    lease_rig_accept(&rig);
    assert_true(lease_rig_leads(&rig));
    lease_rig_fini(&rig);
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
        struct lease_rig rig;
        lease_rig_init(&rig);
        lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
        lease_rig_answer(&rig, 200, GARBAGE[i]);
        assert_int_equal(lease_status(rig.lease).failures, 1);
        lease_rig_wait(&rig, 2000, 4400);
        lease_rig_fini(&rig);
    }
}

static void one_without_a_spec_is_free(void **state)
{
    struct lease_rig rig;
    (void)state;
    lease_rig_init(&rig);
    lease_rig_expect(&rig, "GET", LEASE_RIG_PATH);
    lease_rig_answer(&rig, 200, "{\"kind\":\"Lease\",\"metadata\":{\"resourceVersion\":\"1\"}}");
    lease_rig_expect(&rig, "PUT", LEASE_RIG_PATH);
    assert_string_equal(lease_rig_sent(&rig, "holderIdentity"), "me");
    lease_rig_fini(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_is_not_there_is_made),
        cmocka_unit_test(one_that_is_not_there_is_made_no_sooner_than_its_duration_later),
        cmocka_unit_test(what_was_not_read_was_not_missed),
        cmocka_unit_test(one_that_was_seen_long_ago_is_no_more_free_when_it_is_gone),
        cmocka_unit_test(a_renewal_of_what_is_gone_ends_the_lead),
        cmocka_unit_test(who_slept_makes_a_deleted_one_no_sooner_than_others),
        cmocka_unit_test(who_comes_second_to_make_it_tries_later),
        cmocka_unit_test(the_holder_writes_on_its_own_last_write),
        cmocka_unit_test(milliseconds_are_six_digits),
        cmocka_unit_test(one_that_another_holds_is_waited_for_by_our_own_clock),
        cmocka_unit_test(each_renewal_of_the_other_begins_the_time_anew),
        cmocka_unit_test(what_others_wrote_stays),
        cmocka_unit_test(a_conflict_is_a_lost_round),
        cmocka_unit_test(the_jitter_follows_from_the_seed),
        cmocka_unit_test(a_conflict_of_a_renewal_is_looked_into),
        cmocka_unit_test(who_sees_another_hold_it_stops_at_once),
        cmocka_unit_test(without_a_renewal_it_stops_at_the_deadline),
        cmocka_unit_test(it_stops_at_the_deadline_while_an_answer_is_waited_for),
        cmocka_unit_test(an_answer_from_before_a_long_sleep_is_no_lead),
        cmocka_unit_test(what_was_taken_before_a_long_sleep_was_never_led),
        cmocka_unit_test(after_a_long_sleep_it_leads_no_more),
        cmocka_unit_test(a_wall_clock_that_jumps_changes_nothing),
        cmocka_unit_test(a_write_that_nobody_answered_is_found_later),
        cmocka_unit_test(garbage_is_a_failed_round),
        cmocka_unit_test(one_without_a_spec_is_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
