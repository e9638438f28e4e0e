/*
 * replay: a trace's pods, decided by the real code. Private to replay_run.
 */
#ifndef BENCH_REPLAY_H
#define BENCH_REPLAY_H

#include "decide/rank.h"
#include "replay_services.h"
#include "trace.h"

#define REPLAY_UID_MAX 32

struct replay {
    struct policy policy;
    struct trace trace;
    struct cluster *cluster;
    int64_t weight;      /* of us in kube-scheduler; 0: it does not ask us */
    bool most_allocated; /* by which strategy it scores itself; else LeastAllocated */
    /* Random numbers: what comes when, the same for every policy; which of equal nodes is taken. */
    uint64_t arrivals, ties;
    const struct resource *cpu, *memory, *gpus;
    struct ranked_node *ranked;
    struct services services;
};

/* Of one of the two. Below n; and between 0 and 1, neither of them. */
uint64_t replay_random_below(uint64_t *random, uint64_t n);
double replay_random(uint64_t *random);

/* The pod that comes next. */
struct coming replay_next(struct replay *replay);
/* The pod waits from now on, and is decided: where it went, NULL where it goes on waiting. */
const struct node *replay_arrive(struct replay *replay, const struct coming *coming);
/* Of a pod that is there. */
const struct pod_shape *replay_shape(const struct replay *replay, uint64_t id);
void replay_bind(struct replay *replay, const struct coming *coming, const struct node *node);
void replay_leave(struct replay *replay, uint64_t id);

/* Pods come until 130 % of the cluster's GPUs have; none leaves, and what fits nowhere is dropped.
 */
void replay_static(struct replay *replay);
/* The same until 100 %, but a line of JSON for each pod: what it asks for, and where it went. */
void replay_arrivals(struct replay *replay);
/* Pods come at random times, run, and leave; what fits nowhere waits. */
void replay_online(struct replay *replay);

#endif
