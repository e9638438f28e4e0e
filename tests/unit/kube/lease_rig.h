/*
 * lease_rig: a lease in the hands of a test, which is its clock and its API server.
 *
 * Every expectation fails the test where it does not hold.
 */
#ifndef LEASE_RIG_H
#define LEASE_RIG_H

#include "kube/lease.h"

#define LEASE_RIG_PATH "/apis/coordination.k8s.io/v1/namespaces/ns/leases/gpu"
#define LEASE_RIG_ALL "/apis/coordination.k8s.io/v1/namespaces/ns/leases"
/* 2026-11-21T10:00:00Z; the wall's clock goes on as ours does. */
#define LEASE_RIG_WALL_MS 1795255200000

struct lease_rig {
    struct lease *lease;
    int64_t now_ms;
    int64_t wall_step_ms; /* what was put on the wall's clock */
    json_t *sent;         /* the body of the request in flight; NULL: none */
    int64_t version;      /* of what is written next */
};

void lease_rig_init(struct lease_rig *rig);
void lease_rig_fini(struct lease_rig *rig);

/* It sends this now. */
void lease_rig_expect(struct lease_rig *rig, const char *method, const char *path);
/* It waits between so long and so long; the clock is moved on to the end of it. */
void lease_rig_wait(struct lease_rig *rig, int64_t at_least_ms, int64_t at_most_ms);
/* It sends nothing now. */
void lease_rig_expect_nothing(struct lease_rig *rig);

void lease_rig_answer(struct lease_rig *rig, unsigned status, const char *body);
void lease_rig_lost(struct lease_rig *rig, enum kube_outcome outcome);
/* The PUT or POST was taken: what was sent comes back with the next resourceVersion. */
void lease_rig_accept(struct lease_rig *rig);
/* Each reading finds none, until it may be made. */
void lease_rig_find_none(struct lease_rig *rig);
/* A Lease with a holder, for 15 s. */
void lease_rig_show(struct lease_rig *rig, const char *holder, const char *version,
                    const char *renew_time);
/* A watch shows it. */
void lease_rig_see(struct lease_rig *rig, const char *holder, const char *version,
                   const char *renew_time);

/* Of the body that was sent: a member of its spec as text, "" where there is none. */
const char *lease_rig_sent(const struct lease_rig *rig, const char *member);
int64_t lease_rig_sent_number(const struct lease_rig *rig, const char *member);
bool lease_rig_leads(const struct lease_rig *rig);

/* It has made the Lease, and leads; the next thing is a renewal in 2 s. */
void lease_rig_lead(struct lease_rig *rig);

#endif
