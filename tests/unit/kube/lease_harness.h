/*
 * lease_harness: a lease driven by a test, which provides clock and API server.
 *
 * A failed expectation fails the test.
 */
#ifndef LEASE_HARNESS_H
#define LEASE_HARNESS_H

#include "kube/lease.h"

#define LEASE_HARNESS_PATH "/apis/coordination.k8s.io/v1/namespaces/ns/leases/gpu"
#define LEASE_HARNESS_ALL "/apis/coordination.k8s.io/v1/namespaces/ns/leases"
/* 2026-11-21T10:00:00Z; the wall clock advances with ours. */
#define LEASE_HARNESS_WALL_MS 1795255200000

struct lease_harness {
    struct lease *lease;
    int64_t now_ms;
    int64_t wall_step_ms; /* offset added to the wall clock */
    json_t *sent;         /* body of the request in flight; NULL: none */
    int64_t version;      /* of the next write */
};

void lease_harness_init(struct lease_harness *harness);
void lease_harness_fini(struct lease_harness *harness);
/* For a cmocka test whose state is a struct lease_harness. */
int lease_harness_setup(void **state);
int lease_harness_teardown(void **state);
#define TEST(function)                                                                             \
    cmocka_unit_test_setup_teardown(function, lease_harness_setup, lease_harness_teardown)

/* Expects this request now. */
void lease_harness_expect(struct lease_harness *harness, const char *method, const char *path);
/* Expects a wait in this range, and advances the clock to its end. */
void lease_harness_wait(struct lease_harness *harness, int64_t at_least_ms, int64_t at_most_ms);
/* Expects no request now. */
void lease_harness_expect_nothing(struct lease_harness *harness);

void lease_harness_answer(struct lease_harness *harness, unsigned status, const char *body);
void lease_harness_lost(struct lease_harness *harness, enum kube_outcome outcome);
/* Accepts the PUT or POST: returns the object with the next resourceVersion. */
void lease_harness_accept(struct lease_harness *harness);
/* Answers each GET with 404, until the Lease may be created. */
void lease_harness_find_none(struct lease_harness *harness);
/* Returns a Lease with this holder, for 15 s. */
void lease_harness_show(struct lease_harness *harness, const char *holder, const char *version,
                        const char *renew_time);
/* A watch event with the same. */
void lease_harness_see(struct lease_harness *harness, const char *holder, const char *version,
                       const char *renew_time);

/* A member of the sent spec as text, "" if absent. */
const char *lease_harness_sent(const struct lease_harness *harness, const char *member);
int64_t lease_harness_sent_number(const struct lease_harness *harness, const char *member);
bool lease_harness_leads(const struct lease_harness *harness);

/* Creates the Lease and leads; the next request is a renewal in 2 s. */
void lease_harness_lead(struct lease_harness *harness);

/*
 * Scripts: tests as tables. Each step calls the one function that is set, until a step has none.
 * HOLDER is "other@5", a Lease of that holder at that version; "@5" if nobody holds it; "other@5+"
 * if its renewTime is 2 s later.
 */
struct lease_step {
    void (*plain)(struct lease_harness *harness);
    void (*textual)(struct lease_harness *harness, const char *text);
    void (*numeric)(struct lease_harness *harness, int64_t number);
    const char *text;
    int64_t number;
};
struct lease_script {
    const char *name;
    struct lease_step steps[24];
};

/* Runs each script as a cmocka test of its own; returns the number of failed ones. */
int lease_harness_run(const struct lease_script *scripts, size_t n);

void lease_step_expect(struct lease_harness *harness, const char *method);
void lease_step_answer(struct lease_harness *harness, int64_t status);
void lease_step_show(struct lease_harness *harness, const char *holder);
void lease_step_see(struct lease_harness *harness, const char *holder);
void lease_step_see_deletion(struct lease_harness *harness);
void lease_step_lose(struct lease_harness *harness);
void lease_step_sleep(struct lease_harness *harness, int64_t ms);
void lease_step_retry(struct lease_harness *harness);
void lease_step_wait(struct lease_harness *harness, int64_t ms);
void lease_step_aim(struct lease_harness *harness, int64_t aim);
void lease_step_leads(struct lease_harness *harness, int64_t leads);
void lease_step_has_left(struct lease_harness *harness, int64_t has_left);
void lease_step_term(struct lease_harness *harness, int64_t term);
void lease_step_losses(struct lease_harness *harness, int64_t losses);
void lease_step_failures(struct lease_harness *harness, int64_t failures);
void lease_step_holder(struct lease_harness *harness, const char *holder);
void lease_step_why(struct lease_harness *harness, const char *why);
void lease_step_sends_holder(struct lease_harness *harness, const char *holder);
void lease_step_sends_transitions(struct lease_harness *harness, int64_t transitions);

#define PLAIN(function)                                                                            \
    {                                                                                              \
        .plain = (function)                                                                        \
    }
#define TEXTUAL(function, value)                                                                   \
    {                                                                                              \
        .textual = (function), .text = (value)                                                     \
    }
#define NUMERIC(function, value)                                                                   \
    {                                                                                              \
        .numeric = (function), .number = (value)                                                   \
    }
/* Expected actions of the service. */
#define GET TEXTUAL(lease_step_expect, "GET")
#define PUT TEXTUAL(lease_step_expect, "PUT")
#define POST TEXTUAL(lease_step_expect, "POST")
#define IDLE PLAIN(lease_harness_expect_nothing)
#define RETRY PLAIN(lease_step_retry) /* waits 2 to 4.4 s */
#define WAIT(ms) NUMERIC(lease_step_wait, ms)
#define SENDS_HOLDER(holder) TEXTUAL(lease_step_sends_holder, holder)
#define SENDS_TRANSITIONS(n) NUMERIC(lease_step_sends_transitions, n)
/* Events. */
#define ANSWER(status) NUMERIC(lease_step_answer, status)
#define SHOW(holder) TEXTUAL(lease_step_show, holder)
#define ACCEPT PLAIN(lease_harness_accept)
#define LOSE PLAIN(lease_step_lose)
#define SEE(holder) TEXTUAL(lease_step_see, holder)
#define SEE_DELETION PLAIN(lease_step_see_deletion)
#define NONE PLAIN(lease_harness_find_none)
#define LEAD PLAIN(lease_harness_lead)
#define SLEEP(ms) NUMERIC(lease_step_sleep, ms)
#define AIM(aim) NUMERIC(lease_step_aim, aim)
/* Expected state. */
#define LEADS(leads) NUMERIC(lease_step_leads, leads)
#define HAS_LEFT(has_left) NUMERIC(lease_step_has_left, has_left)
#define TERM(n) NUMERIC(lease_step_term, n)
#define LOSSES(n) NUMERIC(lease_step_losses, n)
#define FAILURES(n) NUMERIC(lease_step_failures, n)
#define HOLDER(holder) TEXTUAL(lease_step_holder, holder)
#define WHY(why) TEXTUAL(lease_step_why, why)

#endif
