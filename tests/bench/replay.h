/*
 * replay: decides on a trace's pods with the real code. Private to replay_run.
 */
#ifndef BENCH_REPLAY_H
#define BENCH_REPLAY_H

#include "decide/rank.h"
#include "replay_services.h"
#include "trace.h"

#define REPLAY_UID_MAX 32
#define REPLAY_TENANTS 20

/* How groups of pods are placed (replay_groups.h). */
enum group_rule {
    GROUPS_NONE,    /* there are none */
    GROUPS_ALONE,   /* each pod for itself: kube-scheduler */
    GROUPS_SESSION, /* all or none, at once: Volcano */
    GROUPS_QUOTA,   /* admitted once all GPUs together suffice; then each pod for itself: Kueue */
    GROUPS_PLAN,    /* by the product's gang_turns and gang_plan */
    N_GROUP_RULES
};

struct replay {
    struct policy policy;
    struct trace trace;
    struct cluster *cluster;
    int64_t weight;      /* our weight in kube-scheduler; 0: no extender */
    bool most_allocated; /* kube-scheduler scores by MostAllocated; else by LeastAllocated */
    /* States of random numbers: for arrivals, equal for every policy; and for ties. */
    uint64_t arrivals, ties;
    const struct resource *cpu, *memory, *gpus;
    struct ranked_node *ranked;
    struct services services;
    enum group_rule groups;
    const char *hole;    /* the node whose kubelet rejects pods with GPUs; NULL: none */
    bool hole_is_active; /* now */
    /* GPUs are devices, and the pods claim them (replay_run.c); NULL: a device plugin's. */
    struct replay_claims *claims;
};

/* From one of the two states: below n; and strictly between 0 and 1. */
uint64_t replay_random_below(uint64_t *random, uint64_t n);
double replay_random(uint64_t *random);

/* The next arriving pod. */
struct coming replay_next(struct replay *replay);
/* Adds the pod as pending. */
void replay_put(struct replay *replay, const struct coming *coming);
/* Adds the pod as pending and decides on it. Returns its node; NULL: it stays pending. */
const struct node *replay_arrive(struct replay *replay, const struct coming *coming);
/* Free GPUs of the node, or devices. */
int64_t replay_free_gpus(const struct replay *replay, const struct node *node);
/* The shape of a pod in the ledger. */
const struct pod_shape *replay_shape(const struct replay *replay, uint64_t id);
void replay_bind(struct replay *replay, const struct coming *coming, const struct node *node);
void replay_leave(struct replay *replay, uint64_t id);

/* Pods arrive until their requests reach 130 % of the cluster's GPUs. None leaves; a pod that does
 * not fit is dropped. */
void replay_static(struct replay *replay);
/* The same until 100 %, printing a line of JSON per pod: its request and its node. */
void replay_arrivals(struct replay *replay);
/* The pod's kubelet has rejected it. It is gone, and comes again later. */
void replay_reject(struct replay *replay, const struct coming *coming);

/* Pods arrive at random times, run and leave; pods that do not fit wait. */
void replay_online(struct replay *replay);
/* The same on a cluster of which 97 % of the GPUs stay in use, if they can be. After an hour, for
 * two hours the kubelet of the first node with most GPUs rejects every pod with GPUs, which comes
 * again ten seconds later. Ends an hour after that. */
void replay_hole(struct replay *replay);

#endif
