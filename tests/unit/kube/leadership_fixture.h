/*
 * leadership_fixture: a leadership driven by a test, which provides clock, API server and ledger. A
 * failed expectation fails the test.
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
    int64_t next_ms; /* returned by the last tick */
    int64_t version;
    struct fake_catch_up catch_up;
    int n_turns, n_released;
    bool may_decide;  /* last reported */
    bool is_unusable; /* the ledger */
    int64_t quiet_ms;
    bool decided; /* it could still decide when asked for requests in progress */
};

/* service NULL: none. */
void begin(struct fixture *fixture, const char *service);
void end(struct fixture *fixture);
/* For a cmocka test whose state is a struct fixture without a service. */
int setup(void **state);
int teardown(void **state);
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
void tick(struct fixture *fixture);

/* Expects this request next. */
struct fake_request *asked(struct fixture *fixture, const char *method, const char *path);
void asks_nothing(struct fixture *fixture);
void reply(struct fixture *fixture, struct fake_request *request, unsigned status,
           const char *body);
/* asked() and reply(). */
void answered(struct fixture *fixture, const char *method, const char *path, unsigned status,
              const char *body);
/* Accepts the write: returns the object with the next resourceVersion. */
void accept(struct fixture *fixture, struct fake_request *request);
void accepted(struct fixture *fixture, const char *method, const char *path);

bool may_decide(const struct fixture *fixture);

/* Acquires the Lease, which was free; catching up comes next. */
void take_lease(struct fixture *fixture);
/* Acquires the Lease, catches up, and decides. */
void lead(struct fixture *fixture);

#endif
