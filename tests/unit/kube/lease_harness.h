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

#endif
