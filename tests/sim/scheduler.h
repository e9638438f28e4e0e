/*
 * scheduler: a model of kube-scheduler: its own view of the cluster, slightly late; assumed pods;
 * its own count of free GPUs, then our filter, then our bind, and a retry later if that failed
 * (PROTOCOL 2.5, 2.7 and 3.6).
 */
#ifndef SIM_SCHEDULER_H
#define SIM_SCHEDULER_H

#include "times.h"
#include "truth.h"

struct world;

/* Slightly longer than our service takes. */
#define SCHEDULER_TIMEOUT_MS (times()->bind_ms + 1000)

/* A pod in the scheduler's view. */
struct sight {
    const char *uid;
    const char *name;
    const char *namespace_;
    unsigned gpus;
    unsigned priority;
    const char *gang; /* NULL: none */
    bool is_gone;     /* deleted or finished */
    bool is_terminating;
    const char *node;    /* "": none */
    const char *assumed; /* "": not assumed */
    int64_t next_try_ms;
    int64_t delay_ms; /* of the back-off */
    struct sight *next;
};

struct node_sight {
    const char *name;
    unsigned gpus;
    bool is_gone;
    bool is_cordoned;
    bool is_full; /* of CPU, in a scene */
    struct node_sight *next;
};

struct scheduler {
    struct world *world;
    bool is_retired; /* another one leads */
    struct sight *sights;
    struct node_sight *nodes;
    int64_t last_ms; /* news arrive no earlier */
};

/* Starts a leader with complete knowledge. The previous one only receives its answers. */
void scheduler_start(struct world *world);
/* News for the leader. */
void scheduler_tell(struct world *world, const struct truth_version *version);
/* An event after which it asks about all rejected pods. */
void scheduler_wake(struct scheduler *scheduler);
/* A pod that waits although it could run, in its view; NULL: none. */
const char *scheduler_fault(const struct scheduler *scheduler);

#endif
