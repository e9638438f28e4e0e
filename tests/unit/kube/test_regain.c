/* regain: after a pause verbs find a current ledger. */
#include "fake_catch_up.h"
#include "fake_sender.h"
#include "kube/regain.h"
#include "kube_answers.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

#define IDLE_MS 5000
#define LEASE "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler"
#define PODS "/api/v1/pods?limit=1"
#define HELD_AT(uid, holder, n, time)                                                              \
    "{\"metadata\":{\"uid\":\"" uid "\"},\"spec\":{\"holderIdentity\":\"" holder                   \
    "\",\"leaseTransitions\":" n ",\"renewTime\":\"2026-01-01T00:00:" time ".000000Z\"}}"
#define HELD(uid, holder, n) HELD_AT(uid, holder, n, "00")

struct fixture {
    struct fake_sender sender;
    struct regain *regain;
    int64_t now_ms;
    struct fake_catch_up catch_up;
};

static void begin(struct fixture *fixture)
{
    *fixture = (struct fixture){.now_ms = 1000000};
    fake_sender_init(&fixture->sender);
    const struct regain_settings settings = {.pods = fake_catch_up_of(&fixture->catch_up),
                                             .idle_ms = IDLE_MS};
    fixture->regain = regain_new(&settings, fake_sender_of(&fixture->sender));
}

static void end(struct fixture *fixture)
{
    fake_sender_fini(&fixture->sender);
    regain_free(fixture->regain);
}

static int setup(void **state)
{
    static struct fixture fixture;
    begin(&fixture);
    *state = &fixture;
    return 0;
}

static int teardown(void **state)
{
    end(*state);
    return 0;
}

static void tick(struct fixture *fixture)
{
    (void)regain_tick(fixture->regain, fixture->now_ms);
}

static bool heard(struct fixture *fixture)
{
    const bool is_done = regain_heard(fixture->regain, fixture->now_ms);
    tick(fixture);
    return is_done;
}

static void answered(struct fixture *fixture, const char *path, unsigned status, const char *body)
{
    struct fake_request *request = fake_sender_take(&fixture->sender);
    assert_non_null(request);
    assert_string_equal(request->path, path);
    const struct kube_answer answer = kube_answered(fixture->now_ms, status, body);
    fake_request_answer(request, &answer);
    tick(fixture);
}

static void asks_nothing(struct fixture *fixture)
{
    assert_null(fake_sender_take(&fixture->sender));
}

/* The requests of a new leader. */
static void catches_up(struct fixture *fixture, const char *version)
{
    char body[128];
    (void)snprintf(body, sizeof body, "{\"metadata\":{\"resourceVersion\":\"%s\"}}", version);
    answered(fixture, "/version", 200, "{\"major\":\"1\",\"minor\":\"36\"}");
    answered(fixture, PODS, 200, body);
    assert_string_equal(fixture->catch_up.version, version);
    assert_false(regain_is_done(fixture->regain));
    fake_catch_up_done(&fixture->catch_up, fixture->catch_up.last.number);
    tick(fixture);
}

static void lead(struct fixture *fixture)
{
    assert_false(heard(fixture));
    answered(fixture, LEASE, 200, HELD("u", "host_1", "7"));
    catches_up(fixture, "77");
    assert_true(regain_is_done(fixture->regain));
    asks_nothing(fixture);
}

/* POSTs of an earlier instance may still take effect. */
static void test_nothing_is_requested_soon_after_the_start(void **state)
{
    struct fixture *fixture = *state;
    regain_free(fixture->regain);
    const struct regain_settings settings = {.pods = fake_catch_up_of(&fixture->catch_up),
                                             .idle_ms = IDLE_MS,
                                             .start_ms = fixture->now_ms + 3000};
    fixture->regain = regain_new(&settings, fake_sender_of(&fixture->sender));
    assert_false(heard(fixture));
    assert_int_equal(regain_tick(fixture->regain, fixture->now_ms), fixture->now_ms + 3000);
    asks_nothing(fixture);
    fixture->now_ms += 3000;
    tick(fixture);
    answered(fixture, LEASE, 200, HELD("u", "host_1", "7"));
    catches_up(fixture, "77");
    assert_true(heard(fixture));
}

static void test_the_first_verb_waits_until_the_ledger_caught_up(void **state)
{
    lead(*state);
}

static void test_consecutive_verbs_do_not_wait(void **state)
{
    struct fixture *fixture = *state;
    lead(fixture);
    for (int i = 0; i < 4; i++) {
        fixture->now_ms += IDLE_MS - 1;
        assert_true(heard(fixture));
    }
    asks_nothing(fixture);
}

/* One GET and no list: no other can have led. */
static void test_an_unchanged_lease_after_a_pause_is_enough(void **state)
{
    struct fixture *fixture = *state;
    lead(fixture);
    fixture->now_ms += IDLE_MS;
    assert_false(heard(fixture));
    answered(fixture, LEASE, 200, HELD_AT("u", "host_1", "7", "04"));
    assert_true(regain_is_done(fixture->regain));
    asks_nothing(fixture);
}

static void test_a_changed_lease_after_a_pause_requires_catching_up(void **state)
{
    static const char *const CHANGED[] = {HELD("u", "host_2", "8"), HELD("u", "host_1", "9"),
                                          HELD("v", "host_1", "7"), "{}", "?"};
    (void)state;
    for (size_t i = 0; i < sizeof CHANGED / sizeof *CHANGED; i++) {
        struct fixture fixture;
        begin(&fixture);
        lead(&fixture);
        fixture.now_ms += IDLE_MS;
        assert_false(heard(&fixture));
        answered(&fixture, LEASE, 200, CHANGED[i]);
        catches_up(&fixture, "78");
        assert_true(regain_is_done(fixture.regain));
        end(&fixture);
    }
}

/* kube-schedulers with a Lease of another name leave the old one, which never changes again. */
static void test_an_unrenewed_lease_requires_catching_up(void **state)
{
    struct fixture *fixture = *state;
    lead(fixture);
    fixture->now_ms += IDLE_MS;
    assert_false(heard(fixture));
    answered(fixture, LEASE, 200, HELD("u", "host_1", "7"));
    catches_up(fixture, "78");
    assert_true(regain_is_done(fixture->regain));
}

/* No right to read it, another name, no answer: each time it costs a list of pods. */
static void test_an_unreadable_lease_requires_catching_up(void **state)
{
    struct fixture *fixture = *state;
    lead(fixture);
    for (int i = 0; i < 2; i++) {
        fixture->now_ms += IDLE_MS;
        assert_false(heard(fixture));
        answered(fixture, LEASE, 403, "{}");
        catches_up(fixture, i == 0 ? "78" : "79");
        assert_true(regain_is_done(fixture->regain));
    }
    fixture->now_ms += IDLE_MS;
    assert_false(heard(fixture));
    answered(fixture, LEASE, 200, HELD("u", "host_1", "7"));
    catches_up(fixture, "80");
}

/* The list takes longer than a pause. It is not restarted, and the pause that ended meanwhile costs
 * one more request. */
static void test_a_pause_in_the_middle_of_catching_up(void **state)
{
    struct fixture *fixture = *state;
    assert_false(heard(fixture));
    answered(fixture, LEASE, 200, HELD("u", "host_1", "7"));
    answered(fixture, "/version", 200, "{\"major\":\"1\",\"minor\":\"30\"}");
    fixture->now_ms += IDLE_MS;
    assert_false(heard(fixture));
    asks_nothing(fixture);
    fake_catch_up_done(&fixture->catch_up, fixture->catch_up.last.number);
    tick(fixture);
    assert_false(regain_is_done(fixture->regain));
    answered(fixture, LEASE, 200, HELD_AT("u", "host_1", "7", "04"));
    assert_true(regain_is_done(fixture->regain));
}

/* Calls in between, without a pause, share the same request. */
static void test_many_verbs_share_one_request(void **state)
{
    struct fixture *fixture = *state;
    for (int i = 0; i < 3; i++)
        assert_false(heard(fixture));
    answered(fixture, LEASE, 200, HELD("u", "host_1", "7"));
    assert_false(heard(fixture));
    catches_up(fixture, "77");
    assert_true(heard(fixture));
    asks_nothing(fixture);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_nothing_is_requested_soon_after_the_start),
        TEST(test_the_first_verb_waits_until_the_ledger_caught_up),
        TEST(test_consecutive_verbs_do_not_wait),
        TEST(test_an_unchanged_lease_after_a_pause_is_enough),
        cmocka_unit_test(test_a_changed_lease_after_a_pause_requires_catching_up),
        TEST(test_an_unrenewed_lease_requires_catching_up),
        TEST(test_an_unreadable_lease_requires_catching_up),
        TEST(test_a_pause_in_the_middle_of_catching_up),
        TEST(test_many_verbs_share_one_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
