/* Releasing the Lease, leaving it to others, and acquiring it again. */
#include "lease_harness.h"
#include "unit.h"

#include <string.h>

#define RENEWED "2026-11-21T10:00:00.000000Z"

static void aim(struct lease_harness *harness, enum lease_aim aim)
{
    lease_set_aim(harness->lease, harness->now_ms, aim);
}

/* Holds the Lease, version 100, and has to leave. */
static void leave(struct lease_harness *harness)
{
    lease_harness_lead(harness);
    harness->now_ms += 1000;
    aim(harness, LEASE_LEAVE);
    assert_false(lease_harness_leads(harness));
    assert_false(lease_has_left(harness->lease));
}

/* ---- releasing ---- */

static void the_holder_releases_the_lease(void **state)
{
    struct lease_harness *harness = *state;
    leave(harness);
    assert_int_equal(lease_status(harness->lease).losses, 0);
    lease_harness_expect(harness, "GET", LEASE_HARNESS_PATH);
    lease_harness_show(harness, "me", "100", RENEWED);
    lease_harness_expect(harness, "PUT", LEASE_HARNESS_PATH);
    assert_string_equal(lease_harness_sent(harness, "holderIdentity"), "");
    assert_int_equal(lease_harness_sent_number(harness, "leaseDurationSeconds"), 1);
    assert_int_equal(lease_harness_sent_number(harness, "leaseTransitions"), 3);
    assert_string_equal(lease_harness_sent(harness, "renewTime"), "2026-11-21T10:00:01.000000Z");
    assert_string_equal(lease_harness_sent(harness, "acquireTime"), "2026-11-21T10:00:01.000000Z");
    assert_false(lease_has_left(harness->lease));
    lease_harness_accept(harness);
    assert_true(lease_has_left(harness->lease));
    lease_harness_wait(harness, 2000, 4400);
}

static void a_failed_release_is_retried_soon(void **state)
{
    struct lease_harness *harness = *state;
    leave(harness);
    const int64_t written_ms = harness->now_ms - 1000;
    lease_harness_expect(harness, "GET", LEASE_HARNESS_PATH);
    lease_harness_show(harness, "me", "100", RENEWED);
    lease_harness_expect(harness, "PUT", LEASE_HARNESS_PATH);
    lease_harness_lost(harness, KUBE_UNKNOWN);
    while (harness->now_ms < written_ms + 15000) {
        lease_harness_wait(harness, 200, 200);
        lease_harness_expect(harness, "GET", LEASE_HARNESS_PATH);
        lease_harness_answer(harness, 500, "{}");
    }
    lease_harness_wait(harness, 2000, 4400); /* expired for everybody */
    lease_harness_expect(harness, "GET", LEASE_HARNESS_PATH);
    lease_harness_show(harness, "", "101", RENEWED); /* the release had taken effect */
    assert_true(lease_has_left(harness->lease));
}

/* ---- leaving it to others ---- */

static void a_free_lease_is_read_but_not_acquired(void **state)
{
    static const enum lease_aim AIMS[] = {LEASE_KEEP, LEASE_LEAVE};
    (void)state;
    for (size_t i = 0; i < sizeof AIMS / sizeof *AIMS; i++) {
        struct lease_harness harness;
        lease_harness_init(&harness);
        aim(&harness, AIMS[i]);
        for (int round = 0; round < 20; round++) { /* of a dead holder: it expires in between */
            lease_harness_expect(&harness, "GET", LEASE_HARNESS_PATH);
            lease_harness_show(&harness, "other", "5", RENEWED);
            lease_harness_wait(&harness, 1, 4400);
        }
        assert_true(harness.now_ms > 15000 + 4400);
        lease_harness_see(&harness, "", "6", RENEWED);
        lease_harness_expect(&harness, "GET", LEASE_HARNESS_PATH);
        lease_harness_show(&harness, "", "6", RENEWED);
        lease_harness_wait(&harness, 2000, 4400);
        lease_harness_fini(&harness);
    }
}

/* ---- acquiring again ---- */

/* By then it knows that the holder is dead. */
static void a_replica_that_watched_need_not_wait(void **state)
{
    struct lease_harness *harness = *state;
    aim(harness, LEASE_LEAVE);
    const int64_t began_ms = harness->now_ms;
    while (harness->now_ms < began_ms + 15000) {
        lease_harness_expect(harness, "GET", LEASE_HARNESS_PATH);
        lease_harness_show(harness, "other", "5", RENEWED);
        lease_harness_wait(harness, 1, 4400);
    }
    aim(harness, LEASE_LEAD);
    lease_harness_expect(harness, "GET", LEASE_HARNESS_PATH);
    lease_harness_show(harness, "other", "5", RENEWED);
    lease_harness_expect(harness, "PUT", LEASE_HARNESS_PATH);
}

/* Holds the Lease, version 100, and has to leave: leave() as steps. */
#define LEAVE LEAD, SLEEP(1000), AIM(LEASE_LEAVE), LEADS(false), HAS_LEFT(false)
/* Reads its Lease of this version, and releases it. */
#define RELEASE(me) GET, SHOW(me), PUT, SENDS_HOLDER("")

static const struct lease_script SCRIPTS[] = {
    /* The lost renewal arrived, so the release meets another version. */
    {"a release is retried after a conflict",
     {LEAD, WAIT(2000), PUT, AIM(LEASE_LEAVE), IDLE, LOSE, LEADS(false), RELEASE("me@100"),
      ANSWER(409), HAS_LEFT(false), RELEASE("me@101"), ACCEPT, HAS_LEFT(true)}},
    {"a renewal that is answered late is released, too",
     {LEAD, WAIT(2000), PUT, AIM(LEASE_LEAVE), ACCEPT, LEADS(false), RELEASE("me@101")}},
    {"the Lease of another holder is left alone",
     {LEAVE, GET, SHOW("other@200"), HAS_LEFT(true), RETRY}},
    {"a deleted Lease needs no release", {LEAVE, GET, ANSWER(404), HAS_LEFT(true), RETRY}},
    {"a replica that never held it has left at once",
     {AIM(LEASE_LEAVE), HAS_LEFT(true), GET, ANSWER(404), RETRY}},
    {"a write that arrives late is released, too",
     {GET, SHOW("@5"), PUT, LOSE, AIM(LEASE_LEAVE), GET, SHOW("@5"), SEE("me@6"), GET, SHOW("me@6"),
      HAS_LEFT(false), PUT, SENDS_HOLDER(""), ACCEPT, HAS_LEFT(true)}},
    {"with LEASE_KEEP the holder renews",
     {LEAD, AIM(LEASE_KEEP), WAIT(2000), PUT, ANSWER(409), GET, SHOW("me@200"), PUT,
      SENDS_HOLDER("me"), ACCEPT, LEADS(true)}},
    /* Its requests may not be over. */
    {"with LEASE_KEEP a lost Lease is not taken again",
     {LEAD, AIM(LEASE_KEEP), SLEEP(10000), GET, LEADS(false), SHOW("me@100"), RETRY,
      AIM(LEASE_LEAVE), RELEASE("me@100")}},
    /* Others may have led meanwhile: another term. */
    {"a replica that may lead again takes it at once",
     {LEAVE, RELEASE("me@100"), ACCEPT, HAS_LEFT(true), SLEEP(500), IDLE, AIM(LEASE_LEAD), GET,
      SHOW("@101"), PUT, ACCEPT, LEADS(true), TERM(2), LOSSES(0)}},
    {"a replica that may lead again during the release takes it afterwards",
     {LEAVE, RELEASE("me@100"), AIM(LEASE_LEAD), IDLE, ACCEPT, LEADS(false), GET, SHOW("@101"), PUT,
      SENDS_HOLDER("me")}},
};

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_holder_releases_the_lease),
        TEST(a_failed_release_is_retried_soon),
        cmocka_unit_test(a_free_lease_is_read_but_not_acquired),
        TEST(a_replica_that_watched_need_not_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) +
           lease_harness_run(SCRIPTS, sizeof SCRIPTS / sizeof *SCRIPTS);
}
