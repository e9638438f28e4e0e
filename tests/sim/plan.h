/*
 * plan: the kind of minute of a seed: size of the cluster, and faults.
 */
#ifndef SIM_PLAN_H
#define SIM_PLAN_H

#include "dice.h"

#define PLAN_BURST_MS 60000
#define PLAN_QUIET_MS 180000
/* Seeds from this one on: half an hour of nodes that flap, instead of a minute of faults. */
#define PLAN_FLAPPING_FROM 1000001
#define PLAN_NODES_MAX 6
#define PLAN_REPLICAS_MAX 3

struct plan {
    unsigned n_replicas; /* of our service; a single one needs no Lease */
    unsigned n_nodes;
    unsigned gpus; /* of a node, at most */
    unsigned pod_every_ms;
    bool is_focused; /* on bindings that outlive their sender: few kinds of faults, but often */
    bool is_new;     /* no Lease existed before */
    bool bookmarks;
    bool trusting;     /* kube-scheduler does not count GPUs (ignoredByScheduler) */
    bool others;       /* other clients bind pods now and then */
    bool node_changes; /* shrink, grow, cordon, delete, recreate */
    bool deletions;
    bool failovers;    /* of kube-scheduler */
    bool double_calls; /* kube-scheduler calls bind twice */
    bool slow_binds;   /* long delays between filter and bind */
    bool kills;        /* of our service */
    bool stops;        /* like kills, but announced */
    bool pauses;       /* a replica stops for a while, unaware */
    bool blindness;    /* one of several replicas may not list or watch for a minute or two */
    bool comparable;   /* resourceVersions are comparable, by the API server's version */
    bool restarts;     /* of the API server */
    bool compactions;
    bool gone_events; /* a watch from a compacted version gets an event, not a status */
    bool cuts;        /* of lists and watches */
    bool black_holes; /* connections that go silent */
    bool losses;      /* of requests and answers of bindings */
    bool lingering;   /* requests that the kernel retransmits, and ends that do not arrive */
    bool suspensions; /* some pauses suspend the host: CLOCK_MONOTONIC stops */
    bool lease_loses; /* one replica's Lease requests are lost for some seconds */
    bool lease_ends;  /* a client deletes the Lease now and then */
    bool duplicates;  /* of requests */
    bool delays;
    bool refusals;    /* 429, 500 */
    bool slow_api;    /* the API server is slow with bindings */
    bool groups;      /* of pods, which are bound together */
    bool asks_seldom; /* kube-scheduler asks again about pods of groups after events only: 1.31 */
    bool quotas;      /* that lend; the pods have priorities */
    bool sickness;    /* the API server answers only 500 for up to a minute */
    bool flapping;    /* nodes break and recover (flapping.h) */
};

struct plan plan_make(struct dice *dice);
bool plan_has_groups(uint64_t seed);
/* In two seeds of ten; the others are what they were without groups. */
void plan_groups(struct plan *plan, uint64_t seed);
/* In one seed of ten. Bindings are repeated, as the API server refuses some. */
void plan_quotas(struct plan *plan, uint64_t seed);
/* In seeds of their own. */
void plan_flapping(struct plan *plan, uint64_t seed, struct dice *dice);
int64_t plan_burst_ms(const struct plan *plan);
int64_t plan_quiet_ms(const struct plan *plan);
/* Whether replicas always learn of each other in time. */
bool plan_is_in_time(const struct plan *plan);

#endif
