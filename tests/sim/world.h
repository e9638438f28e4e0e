/*
 * world: everything in a simulated minute: the API server and its truth, the wire, our service,
 * kube-scheduler, and the events. One thread; the agenda has the time.
 */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "agenda.h"
#include "base/arena.h"
#include "dice.h"
#include "plan.h"
#include "scenes.h"
#include "scheduler.h"
#include "server.h"
#include "service.h"
#include "truth.h"
#include "wire.h"

#define WORLD_BEGIN_MS 1000
#define WORLD_US "sim/" /* followed by the replica's number */

struct world {
    uint64_t seed;
    const struct scene *scene; /* NULL: by dice, and the seed counts */
    bool traced;
    struct dice dice;
    struct plan plan;
    struct arena *arena; /* for data that lives as long as the world */
    struct agenda agenda;
    struct truth truth;
    struct server server;
    struct service services[PLAN_REPLICAS_MAX]; /* the plan says how many */
    int64_t led_ms; /* last time a replica decided, or none could, or another fault began */
    int64_t lease_missed_ms; /* last deletion or creation of the Lease */
    struct scheduler *scheduler;
    struct flapping *flapping; /* flapping.c; NULL: nodes do not flap */
    size_t scene_number;       /* of the scene's own use */
    unsigned rejects_one_in;   /* in-tree, of pods of groups with a node; 0: none */
    unsigned members_asked;    /* the first of each group; 0: all */
    bool ignores_groups;       /* kube-scheduler asks about none of their pods */
    int64_t share_milli;       /* of GPUs that plans may keep; 0: all */
    int64_t quota_gpus;        /* of each policy made from now on; 0: as without a scene */
    int64_t planning_ms;       /* that each look for places takes */
    unsigned refuses_from;     /* 429 for bindings in groups, from that one on; 0: for none */
    unsigned n_bindings;       /* in groups, that reached the API server */
    bool is_quiet;             /* no new faults */
    bool failed;
    char failure[600];
};

/* Runs the minute, then the quiet. */
void world_run(struct world *world);

/* A replica that may decide; NULL: none. */
struct service *world_leader(struct world *world);
/* A random replica. */
struct service *world_any_service(struct world *world);

int64_t world_now(const struct world *world);
/* Random, least and most included. */
int64_t world_between(struct world *world, int64_t least, int64_t most);
/* With faults of that kind planned: true once in one_in calls. */
bool world_trouble(struct world *world, bool planned, unsigned one_in);
/* Delays of things in sequence: up to usual_ms; with planned delays, once in trouble_one_in times
 * up to trouble_ms more. */
struct world_pace {
    int64_t usual_ms;
    unsigned trouble_one_in;
    int64_t trouble_ms;
};
/* Arrival of the next one: never before *last_ms, which becomes it. */
int64_t world_next(struct world *world, const struct world_pace *pace, int64_t *last_ms);
/* Writes a line of the trace. */
void world_tell(const struct world *world, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Reports a violated condition. The first one ends the world. */
void world_fail(struct world *world, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
