/*
 * lease_harness: a lease in the hands of a test, which is its clock and its API server.
 *
 * Every expectation fails the test where it does not hold.
 */
#ifndef LEASE_HARNESS_H
#define LEASE_HARNESS_H

#include "kube/lease.h"

#define LEASE_HARNESS_PATH "/apis/coordination.k8s.io/v1/namespaces/ns/leases/gpu"
#define LEASE_HARNESS_ALL "/apis/coordination.k8s.io/v1/namespaces/ns/leases"
/* 2026-11-21T10:00:00Z; the wall's clock goes on as ours does. */
#define LEASE_HARNESS_WALL_MS 1795255200000

struct lease_harness {
    struct lease *lease;
    int64_t now_ms;
    int64_t wall_step_ms; /* what was put on the wall's clock */
    json_t *sent;         /* the body of the request in flight; NULL: none */
    int64_t version;      /* of what is written next */
};

void lease_harness_init(struct lease_harness *harness);
void lease_harness_fini(struct lease_harness *harness);

/* It sends this now. */
void lease_harness_expect(struct lease_harness *harness, const char *method, const char *path);
/* It waits between so long and so long; the clock is moved on to the end of it. */
void lease_harness_wait(struct lease_harness *harness, int64_t at_least_ms, int64_t at_most_ms);
/* It sends nothing now. */
void lease_harness_expect_nothing(struct lease_harness *harness);

void lease_harness_answer(struct lease_harness *harness, unsigned status, const char *body);
void lease_harness_lost(struct lease_harness *harness, enum kube_outcome outcome);
/* The PUT or POST was taken: what was sent comes back with the next resourceVersion. */
void lease_harness_accept(struct lease_harness *harness);
/* Each reading finds none, until it may be made. */
void lease_harness_find_none(struct lease_harness *harness);
/* A Lease with a holder, for 15 s. */
void lease_harness_show(struct lease_harness *harness, const char *holder, const char *version,
                        const char *renew_time);
/* A watch shows it. */
void lease_harness_see(struct lease_harness *harness, const char *holder, const char *version,
                       const char *renew_time);

/* Of the body that was sent: a member of its spec as text, "" where there is none. */
const char *lease_harness_sent(const struct lease_harness *harness, const char *member);
int64_t lease_harness_sent_number(const struct lease_harness *harness, const char *member);
bool lease_harness_leads(const struct lease_harness *harness);

/* It has made the Lease, and leads; the next thing is a renewal in 2 s. */
void lease_harness_lead(struct lease_harness *harness);

#endif
