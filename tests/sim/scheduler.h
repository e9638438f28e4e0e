/*
 * scheduler: a model of kube-scheduler: its own view of the cluster, a little late; pods it assumes
 * to be placed; its own count of what is free, then our filter, then our bind, and another try
 * after a while where that failed (PROTOCOL 2.5, 2.7 and 3.6).
 */
#ifndef SIM_SCHEDULER_H
#define SIM_SCHEDULER_H

#include "times.h"
#include "truth.h"

struct world;

/* It waits a little longer than our service takes. */
#define SCHEDULER_TIMEOUT_MS (times()->bind_ms + 1000)

/* One pod, as it sees it. */
struct sight {
    const char *uid;
    const char *name;
    unsigned gpus;
    bool is_gone; /* deleted, finished */
    bool is_terminating;
    const char *node;    /* "" while it has none */
    const char *assumed; /* "": not */
    int64_t next_try_ms;
    int64_t delay_ms; /* of the back-off */
    struct sight *next;
};

struct node_sight {
    const char *name;
    unsigned gpus;
    bool is_gone;
    bool is_cordoned;
    struct node_sight *next;
};

struct scheduler {
    struct world *world;
    bool is_retired; /* another one leads */
    struct sight *sights;
    struct node_sight *nodes;
    int64_t last_ms; /* news come no sooner */
};

/* It leads from now on, and knows what there is. The one before only hears its answers. */
void scheduler_start(struct world *world);
/* News for the one that leads. */
void scheduler_tell(struct world *world, const struct truth_version *version);
/* A pod that waits although it could run, as it sees it; NULL: none. */
const char *scheduler_fault(const struct scheduler *scheduler);

#endif
