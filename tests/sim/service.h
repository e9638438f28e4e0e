/*
 * service: the program under test, but for its threads: the real reflectors, inventory and binds,
 * over the wire of the world. It may die at any moment and be started again.
 */
#ifndef SIM_SERVICE_H
#define SIM_SERVICE_H

#include "extender/binds.h"
#include "inventory/live.h"

/* As in production, but for the limits that would make a simulated minute an hour. */
#define SERVICE_POST_LIFE_MS 5000
#define SERVICE_ANSWER_MS 8000
#define SERVICE_CONFIRM_MS 15000
#define SERVICE_SILENCE_MS 20000
#define SERVICE_PAGE 5

struct world;
struct stream;

struct service {
    struct world *world;
    bool is_alive;
    unsigned life; /* so often it was started */
    struct policy policy;
    struct inventory *inventory;
    struct reflector *reflectors[N_CLUSTER_KINDS];
    struct stream *streams[N_CLUSTER_KINDS];
    struct binds *binds;
    int64_t wakes_ms[N_CLUSTER_KINDS + 1]; /* already on the agenda; the last: of binds */
};

void service_init(struct service *service, struct world *world);
void service_fini(struct service *service);
void service_start(struct service *service);
/* As with kill -9: what was on its way stays so. */
void service_kill(struct service *service);

/* The reflector of a kind may want something. */
void service_pump(struct service *service, size_t kind);
/* So may binds. */
void service_tick(struct service *service);

/* May the pod go there? As filter judges it; false also where it cannot say. */
bool service_fits(struct service *service, const char *uid, unsigned gpus, const char *node);

/* What is wrong with it in a quiet world; NULL: nothing. In the arena of the world. */
const char *service_fault(struct service *service);

#endif
