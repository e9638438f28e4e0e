/*
 * leadership_fixture: a leadership in the hands of a test, which is its clock, its API server and
 * its ledger. Every expectation fails the test where it does not hold.
 */
#ifndef LEADERSHIP_FIXTURE_H
#define LEADERSHIP_FIXTURE_H

#include "fake_catch_up.h"
#include "fake_sender.h"
#include "kube/leadership.h"

#define LEASES "/apis/coordination.k8s.io/v1/namespaces/ns/leases"
#define LEASE LEASES "/gpu"
#define SLICES "/apis/discovery.k8s.io/v1/namespaces/ns/endpointslices"
#define PODS "/api/v1/pods?limit=1"
#define DECIDE_MS 6000
#define HELD_BY(holder, version)                                                                   \
    "{\"kind\":\"Lease\",\"metadata\":{\"resourceVersion\":\"" version "\"},"                      \
    "\"spec\":{\"holderIdentity\":\"" holder "\",\"leaseDurationSeconds\":15}}"

struct fixture {
    struct fake_sender sender;
    struct leadership *leadership;
    int64_t now_ms;
    int64_t next_ms; /* what the last tick returned */
    int64_t version;
    struct fake_catch_up catch_up;
    int n_turns, n_released;
    bool may_decide;  /* as told */
    bool is_unusable; /* the ledger */
    int64_t quiet_ms;
    bool decided; /* when it was asked what is under way, it might still decide */
};

/* service NULL: none. */
void begin(struct fixture *fixture, const char *service);
void end(struct fixture *fixture);
void tick(struct fixture *fixture);

/* The next request is this. */
struct fake_request *asked(struct fixture *fixture, const char *method, const char *path);
void asks_nothing(struct fixture *fixture);
void reply(struct fixture *fixture, struct fake_request *request, unsigned status,
           const char *body);
/* Both. */
void answered(struct fixture *fixture, const char *method, const char *path, unsigned status,
              const char *body);
/* What was written comes back with the next resourceVersion. */
void accept(struct fixture *fixture, struct fake_request *request);
void accepted(struct fixture *fixture, const char *method, const char *path);

bool may_decide(const struct fixture *fixture);

/* It has taken the Lease, which was free; what catches it up is asked for next. */
void take_lease(struct fixture *fixture);
/* It has begun, and decides. */
void lead(struct fixture *fixture);

#endif
