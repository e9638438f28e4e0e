/*
 * world: all that there is in a simulated minute: the API server and its truth, the wire, our
 * service, kube-scheduler, and what befalls them. One thread; the time is the agenda's.
 */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "agenda.h"
#include "base/arena.h"
#include "dice.h"
#include "plan.h"
#include "scheduler.h"
#include "server.h"
#include "service.h"
#include "truth.h"
#include "wire.h"

#define WORLD_BEGIN_MS 1000
#define WORLD_US "sim/" /* and the number of a replica */

struct world {
    uint64_t seed;
    bool traced;
    struct dice dice;
    struct plan plan;
    struct arena *arena; /* of all that lives as long as the world */
    struct agenda agenda;
    struct truth truth;
    struct server server;
    struct service services[PLAN_REPLICAS_MAX]; /* as many as the plan has */
    int64_t led_ms; /* when one of them decided last, or nobody could, or another trouble began */
    int64_t lease_missed_ms; /* it was deleted, or made, last */
    struct scheduler *scheduler;
    bool is_quiet; /* no new trouble */
    bool failed;
    char failure[600];
};

/* The minute, and the quiet after it. */
void world_run(struct world *world);

/* One that may decide; NULL: none. */
struct service *world_leader(struct world *world);
/* Any. */
struct service *world_any_service(struct world *world);

int64_t world_now(const struct world *world);
/* From least to most. */
int64_t world_between(struct world *world, int64_t least, int64_t most);
/* While there is trouble of that kind: once in n times. */
bool world_trouble(struct world *world, bool planned, unsigned one_in);
/* How long what goes one after another is on its way: up to usual_ms, and where delays are planned,
 * once in so many times up to trouble_ms more. */
struct world_pace {
    int64_t usual_ms;
    unsigned trouble_one_in;
    int64_t trouble_ms;
};
/* When the next one arrives: never before the last, which it becomes. */
int64_t world_next(struct world *world, const struct world_pace *pace, int64_t *last_ms);
/* A line of the trace. */
void world_tell(const struct world *world, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* What must not be is. The first ends the world. */
void world_fail(struct world *world, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
