/*
 * plan: which kind of minute a seed is: how large the cluster is, and which faults there are.
 */
#ifndef SIM_PLAN_H
#define SIM_PLAN_H

#include "dice.h"

#define PLAN_BURST_MS 60000
#define PLAN_QUIET_MS 180000
#define PLAN_NODES_MAX 6
#define PLAN_REPLICAS_MAX 3

struct plan {
    unsigned n_replicas; /* of our service; one needs no Lease */
    unsigned n_nodes;
    unsigned gpus; /* of a node, at the most */
    unsigned pod_every_ms;
    bool is_focused; /* on bindings that outlive their sender: few faults, and often */
    bool is_new;     /* there never was a Lease */
    bool bookmarks;
    bool trusting;     /* kube-scheduler leaves counting GPUs to us (ignoredByScheduler) */
    bool others;       /* bind pods themselves, now and then */
    bool node_changes; /* shrink, grow, cordon, delete, make anew */
    bool deletions;
    bool failovers;    /* of kube-scheduler */
    bool double_calls; /* kube-scheduler calls bind twice */
    bool slow_binds;   /* it takes long between filter and bind */
    bool kills;        /* of our service */
    bool stops;        /* the same, but it is told before */
    bool pauses;       /* it does nothing for a while, and does not know */
    bool blindness;    /* one of several may not list or watch for a minute or two */
    bool comparable;   /* resourceVersions are, by the API server's version */
    bool restarts;     /* of the API server */
    bool compactions;
    bool gone_events; /* a watch from what is forgotten is answered with an event, not a status */
    bool cuts;        /* of lists, watches */
    bool black_holes; /* connections that say nothing any more */
    bool losses;      /* of questions and answers about a binding */
    bool lingering;   /* questions that the kernel sends again, and ends that nobody hears of */
    bool suspensions; /* some of the pauses are of the host: CLOCK_MONOTONIC stands still */
    bool lease_loses; /* what one replica asks about the Lease is lost for some seconds */
    bool lease_ends;  /* somebody deletes the Lease, now and then */
    bool duplicates;  /* of questions */
    bool delays;
    bool refusals; /* 429, 500 */
    bool slow_api; /* the API server takes long over a binding */
    bool sickness; /* the API server answers nothing but 500 for up to a minute */
};

struct plan plan_make(struct dice *dice);
/* Nothing keeps replicas from hearing of each other in time. */
bool plan_is_in_time(const struct plan *plan);

#endif
