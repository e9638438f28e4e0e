/*
 * fixture: a live mode on an API server in this process, and one verb behind the gates. Server,
 * loops and connections are real. The cluster has node a with two GPUs, pod ml/p with UID u, which
 * needs one, and the Lease ns/gpu. A wait fails the test after ten minutes.
 */
#ifndef FIXTURE_H
#define FIXTURE_H

#include "daemon/gates.h"
#include "daemon/live_mode.h"
#include "unit.h"

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>

#define FIXTURE_WATCHES_MAX 64
#define WAIT_FOR(condition)                                                                        \
    for (int n_naps = 0; !(condition); n_naps++)                                                   \
    fixture_nap(n_naps, #condition)

struct fixture {
    struct settings settings;
    struct gates gates;
    struct extender extender; /* has only policy and inventory */
    struct gate verb_gate;    /* the verbs' gate, counted */
    atomic_size_t n_judged;   /* complete calls that the gate has judged, or keeps */
    atomic_size_t n_sent;     /* calls of the client without a result so far */
    struct inventory *inventory;
    struct live_mode *live;
    struct server *server;
    struct kube_target target; /* of the client that calls the verb */
    struct kube_credentials *credentials;
    struct kube_loop *client;
    pthread_mutex_t lock; /* guards the rest */
    json_t *lease;
    int version;
    struct exchange *binding; /* unanswered; NULL: none */
    struct exchange *watches[FIXTURE_WATCHES_MAX];
    size_t n_watches;
    bool is_over; /* no further watch is kept open */
};

/* policy: lines of a policy file. Creates the live mode without starting it. */
void fixture_begin(struct fixture *fixture, const char *policy);
void fixture_start(struct fixture *fixture);
/* Stops live mode and HTTP server in the order of main. */
void fixture_end(struct fixture *fixture);

bool fixture_is_usable(const struct fixture *fixture);
/* Writes the Lease like another replica; holder "": free. */
void fixture_set_holder(struct fixture *fixture, const char *holder);
bool fixture_is_held(struct fixture *fixture);
bool fixture_has_binding(struct fixture *fixture);
void fixture_answer_binding(struct fixture *fixture);

/* Sends a call of the verb; *ret_status gets the HTTP status. */
void fixture_send(struct fixture *fixture, atomic_uint *ret_status);
/* Sends a call and waits for its status. */
unsigned fixture_ask(struct fixture *fixture);

/* Sleeps 1 ms. After too many naps it fails the test and names what it waited for. */
void fixture_nap(int n_naps, const char *what);

#endif
