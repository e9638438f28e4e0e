/*
 * flapping: nodes that break and recover for 20 minutes: their kubelets reject pods, they lose
 * GPUs, restart, and are not Ready. Each replica's quarantines and shape traps are compared with
 * what has happened (docs/PLACEMENT.md has the rules), with tolerance for what it learns late.
 */
#ifndef SIM_FLAPPING_H
#define SIM_FLAPPING_H

#include "ledger/sick_nodes.h"
#include "plan.h"
#include "scheduler.h"
#include "service.h"
#include "types/reason.h"

/* Watches are not later than that. */
#define FLAPPING_LATE_MS 10000
/* Some list or watch shows a pod that runs for so long. */
#define FLAPPING_SEEN_MS 10000

enum flap {
    FLAP_LOST,
    FLAP_TRAPPED,
    FLAP_STARTED, /* a pod; it may end before a replica lists it */
    FLAP_RUNS,    /* it has run for long enough to be seen */
    FLAP_ENDED,   /* such a pod */
    FLAP_CHANGED, /* another boot, other GPUs */
    FLAP_LIFTED,
    FLAP_OTHER /* Ready, or cordoned */
};

/* The events of a node. */
struct flap_event {
    enum flap what;
    int64_t at_ms;
    const char *node;
    const char *uid, *namespace_, *owner; /* of a pod */
    unsigned gpus;
    bool is_late; /* too long after its binding */
    struct flap_event *before;
};

/* A node as a replica has marked it. */
struct flap_view {
    unsigned life;
    enum quarantine_state state;
    int64_t since_ms, minutes; /* of the last time that it was closed; 0: never */
};

struct flap_node {
    const char *name;
    unsigned gpus; /* when it is well */
    bool rejects;  /* its kubelet has no devices to give, and does not know it */
    bool is_narrow;
    struct flap_view views[PLAN_REPLICAS_MAX];
};

struct flapping {
    enum avoidance mode;
    int64_t cap_milli;
    unsigned n_owners;
    struct flap_node nodes[PLAN_NODES_MAX];
    struct flap_event *last;
};

void flapping_begin(struct world *world);
void flapping_end(void);
/* In ordinary worlds, nothing. */
void flapping_heal(struct world *world);
void flapping_set(struct policy *policy, const struct world *world);

/* The pod has finished. In ordinary worlds, nothing. */
void flapping_ended(struct world *world, const struct truth_state *pod);
struct flap_node *flapping_node(struct world *world, const char *name);
/* A pod without a controller is of its namespace. */
const char *flapping_owner(const struct truth_state *pod);
void flapping_new_pod(struct world *world);
void flapping_event(struct world *world);
/* The pod has got a node: its kubelet takes it or not. In ordinary worlds, nothing. */
void flapping_bound(struct world *world, const struct truth_object *object);

/* flapping_rules.c */
/* Tells the replica the time, and looks at its marks. Returns when to call again. */
int64_t flapping_tick(struct service *service, int64_t now_ms);
/* Filter has judged the node. */
void flapping_judged(struct service *service, const struct node *node, const struct sight *sight,
                     enum reason reason);
/* A binding took effect. */
void flapping_took_effect(struct world *world, const char *node);

#endif
