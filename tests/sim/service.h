/*
 * service: the program under test, but for its threads: the real reflectors, inventory and binds,
 * over the wire of the world. It may die at any moment and be started again.
 */
#ifndef SIM_SERVICE_H
#define SIM_SERVICE_H

#include "extender/binds.h"
#include "inventory/live.h"
#include "kube/hold.h"
#include "kube/leadership.h"
#include "times.h"
#include "wire.h"

/* Limits that are shorter than in production, as a simulated minute would be an hour else; all
 * other times are times(). */
#define SERVICE_CONFIRM_MS 15000
#define SERVICE_SILENCE_MS 20000
#define SERVICE_PAGE 5

struct world;

/* A replica. */
struct service {
    struct world *world;
    unsigned number; /* from 1 on */
    struct wire wire;
    const char *bound_by;
    bool is_alive;
    bool is_stopping;        /* it takes no calls any more */
    unsigned n_calls;        /* of bind, not answered yet */
    int64_t unusable_ms;     /* since when its ledger is; CLOCK_NEVER: it is not */
    int64_t sleeps_until_ms; /* until then it does nothing, and does not know */
    int64_t suspended_ms;    /* since when its host is, or was last; 0: it never was */
    int64_t missed_ms;       /* so long its host was, before that */
    unsigned life;           /* so often it was started */
    struct policy policy;
    struct inventory *inventory;
    struct reflector *reflectors[N_CLUSTER_KINDS];
    struct stream *streams[N_CLUSTER_KINDS];
    struct binds *binds;
    struct leadership *leadership;         /* NULL: it is the only one */
    struct hold *hold;                     /* NULL: there is a Lease */
    struct catch_up catch_up;              /* of the pods; number 0: none */
    struct reflector_store lease_store;    /* whom a watch on the Lease tells */
    int64_t wakes_ms[N_CLUSTER_KINDS + 1]; /* already on the agenda; the last: of binds */
    void (*on_stopped)(struct service *service);
};

void service_init(struct service *service, struct world *world, unsigned number);
void service_fini(struct service *service);
void service_start(struct service *service);
/* As with kill -9: what was on its way stays so. */
void service_kill(struct service *service);

/* As with SIGTERM: it answers whom it has to, gives the Lease up, and ends. */
void service_stop(struct service *service, void (*on_stopped)(struct service *service));

/* kube-scheduler is answered by it. */
bool service_may_decide(struct service *service);
/* So are its bindings sent. */
bool service_may_bind(struct service *service);
/* It could, if it led: its ledger is usable, too. */
bool service_could_decide(const struct service *service);
/* A watch on the Lease shows it, or its end (NULL). */
void service_see_lease(struct service *service, const json_t *object);

/* It does nothing until then, and does not know. suspended: its host does nothing, either, and
 * CLOCK_MONOTONIC stands still. */
void service_sleep(struct service *service, int64_t until_ms, bool suspended);
/* What its clock says. */
int64_t service_now(const struct service *service);

/* The reflector of a kind may want something. */
void service_pump(struct service *service, size_t kind);
/* So may binds, and leadership. */
void service_tick(struct service *service);
/* Something came for them: they look at once, or when more has come. */
void service_stir(struct service *service);

/* May the pod go there? As filter judges it; false also where it cannot say. */
bool service_fits(struct service *service, const char *uid, unsigned gpus, const char *node);

/* What is wrong with it in a quiet world; NULL: nothing. In the arena of the world. */
const char *service_fault(struct service *service);

#endif
