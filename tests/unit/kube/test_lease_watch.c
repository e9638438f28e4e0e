/* Hints from a watch on the Lease. */
#include "lease_harness.h"
#include "unit.h"

#include <string.h>

#define RENEWED "2026-11-21T10:00:00.000000Z"

static void follow(struct lease_harness *harness)
{
    lease_harness_expect(harness, "GET", LEASE_HARNESS_PATH);
    lease_harness_show(harness, "other", "5", RENEWED);
    lease_harness_expect_nothing(harness);
}

static void a_watched_renewal_counts(void **state)
{
    struct lease_harness *harness = *state;
    follow(harness);
    harness->now_ms += 1000;
    lease_harness_see(harness, "other", "6", "2026-11-21T10:00:02.000000Z");
    const int64_t seen_ms = harness->now_ms;
    while (harness->now_ms < seen_ms + 15000) {
        lease_harness_wait(harness, 0, 4400);
        lease_harness_expect(harness, "GET", LEASE_HARNESS_PATH);
        lease_harness_show(harness, "other", "6", "2026-11-21T10:00:02.000000Z");
    }
    assert_int_equal(harness->now_ms, seen_ms + 15000);
    lease_harness_expect(harness, "PUT", LEASE_HARNESS_PATH);
}

static void a_deleted_lease_stays_its_holders_until_it_expires(void **state)
{
    struct lease_harness *harness = *state;
    follow(harness);
    const int64_t seen_ms = harness->now_ms;
    lease_seen(harness->lease, harness->now_ms, NULL);
    while (harness->now_ms < seen_ms + 15000) {
        lease_harness_expect(harness, "GET", LEASE_HARNESS_PATH);
        lease_harness_answer(harness, 404, "{}");
        lease_harness_wait(harness, 0, 4400);
    }
    assert_int_equal(harness->now_ms, seen_ms + 15000);
    lease_harness_expect(harness, "GET", LEASE_HARNESS_PATH);
    lease_harness_answer(harness, 404, "{}");
    lease_harness_expect(harness, "POST", LEASE_HARNESS_ALL);
    assert_int_equal(lease_harness_sent_number(harness, "leaseTransitions"), 0);
}

/* follow() as steps. */
#define FOLLOW GET, SHOW("other@5"), IDLE

static const struct lease_script SCRIPTS[] = {
    {"a released one is taken at once",
     {FOLLOW, SLEEP(500), SEE("@6"), GET, SHOW("@6"), PUT, ACCEPT, LEADS(true)}},
    {"a release that is seen before an older answer is not forgotten",
     {FOLLOW, RETRY, GET, SEE("@6"), SHOW("other@5"), GET}},
    /* A TAKE about to be sent would be accepted on top of the watched version. */
    {"a third that is seen to have taken it keeps it",
     {FOLLOW, SEE("@6"), GET, SHOW("@6"), SEE("third@7+"), IDLE, HOLDER("third"), RETRY, GET}},
    {"an older version is ignored", {FOLLOW, SEE("@4"), IDLE, HOLDER("other")}},
    {"the leader reads when another is seen to hold it",
     {LEAD, SEE("other@50"), SEE("me@100"), IDLE, SEE("other@101"), GET, SHOW("other@101"),
      LEADS(false)}},
    {"its holder creates a deleted one anew",
     {LEAD, SEE_DELETION, LEADS(false), WHY("the Lease was deleted"), GET, ANSWER(404), POST,
      ACCEPT, LEADS(true), TERM(2)}},
    /* The renewal may have been accepted before the deletion. */
    {"a renewal that was sent before the deletion does not count",
     {LEAD, WAIT(2000), PUT, SEE_DELETION, ACCEPT, LEADS(false), GET}},
};

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_watched_renewal_counts),
        TEST(a_deleted_lease_stays_its_holders_until_it_expires),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) +
           lease_harness_run(SCRIPTS, sizeof SCRIPTS / sizeof *SCRIPTS);
}
