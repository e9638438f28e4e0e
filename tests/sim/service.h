/*
 * service: the program under test without its threads: real reflectors, inventory and binds over
 * the simulated wire. It may die at any moment and start again.
 */
#ifndef SIM_SERVICE_H
#define SIM_SERVICE_H

#include "extender/binds.h"
#include "extender/gang_plans.h"
#include "inventory/kinds.h"
#include "inventory/live.h"
#include "kube/catch_up.h"
#include "kube/leadership.h"
#include "times.h"
#include "wire.h"

/* Shorter limits than in production, so that a simulated minute covers an hour; all other times are
 * times(). */
#define SERVICE_CONFIRM_MS 15000
#define SERVICE_SILENCE_MS 20000
#define SERVICE_PAGE 5
#define SERVICE_POLICIES_MAX 4
#define SERVICE_STREAMS_MAX (N_CLUSTER_KINDS + 1)

struct sight;
struct world;

/* Since when a group has a plan; 0: it has none. For groups.c. */
struct plan_time {
    const char *key;
    int64_t since_ms;
    struct plan_time *next;
};

/* A replica. */
struct service {
    struct world *world;
    unsigned number; /* from 1 */
    struct wire wire;
    const char *bound_by;
    bool is_alive;
    bool is_stopping;        /* accepts no more calls */
    unsigned n_calls;        /* unanswered calls of bind */
    int64_t unusable_ms;     /* start of the ledger's unusability; CLOCK_NEVER: usable */
    int64_t sleeps_until_ms; /* paused until then, unaware */
    int64_t suspended_ms;    /* start of its host's last suspension; 0: none */
    int64_t missed_ms;       /* total of earlier suspensions */
    unsigned life;           /* number of starts */
    struct policy policies[SERVICE_POLICIES_MAX]; /* the last one is in force */
    size_t n_policies;
    struct inventory *inventory;
    struct reflector *reflectors[SERVICE_STREAMS_MAX];
    struct stream *streams[SERVICE_STREAMS_MAX];
    size_t n_streams; /* with that of failed pods, if nodes flap */
    struct binds *binds;
    struct wake *wake; /* NULL: no groups, as the next two */
    struct groups *groups;
    struct gang_plans *gang_plans;
    struct plan_time *plan_times;
    struct leadership *leadership;             /* NULL: the only replica */
    struct hold *hold;                         /* NULL: a Lease is used */
    struct catch_up catch_up;                  /* of pods; number 0: none */
    struct reflector_store lease_store;        /* target of the watch on the Lease */
    int64_t wakes_ms[SERVICE_STREAMS_MAX + 1]; /* on the agenda already; the last is for binds */
    void (*on_stopped)(struct service *service);
};

void service_init(struct service *service, struct world *world, unsigned number);
void service_fini(struct service *service);
void service_start(struct service *service);
/* Like kill -9: requests in flight stay in flight. */
void service_kill(struct service *service);

/* Like SIGTERM: answers its calls, releases the Lease, and ends. */
void service_stop(struct service *service, void (*on_stopped)(struct service *service));

/* Puts another policy in force, and lists again what the ledger did not keep. Not if it sleeps, or
 * has had its most policies. */
void service_reload(struct service *service);

/* Whether it answers kube-scheduler. */
bool service_may_decide(struct service *service);
/* Whether it sends bindings. */
bool service_may_bind(struct service *service);
/* Whether it could decide as leader, with a usable ledger. */
bool service_could_decide(const struct service *service);
/* A watch event of the Lease; NULL: deletion. */
void service_see_lease(struct service *service, const json_t *object);

/* Pauses it until then, unaware. suspended: its host too, and CLOCK_MONOTONIC stops. */
void service_sleep(struct service *service, int64_t until_ms, bool suspended);
/* The time on its clock. */
int64_t service_now(const struct service *service);

/* Runs the reflector of a kind. */
void service_pump(struct service *service, size_t kind);
/* Runs binds and leadership. */
void service_tick(struct service *service);
/* Input arrived: they run at once, or when more has arrived. */
void service_stir(struct service *service);

/* Whether filter lets the pod on the node; false also without a usable ledger. */
bool service_fits(struct service *service, const struct sight *sight, const char *node);
/* Filter has answered: kube-scheduler offered these nodes. */
void service_filtered(struct service *service, const struct sight *sight, const char *const *names,
                      size_t n_names, bool is_handed_on);

/* A fault of the service in a quiet world, in the world's arena; NULL: none. */
const char *service_fault(struct service *service);

#endif
