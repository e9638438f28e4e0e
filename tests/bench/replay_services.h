/*
 * replay_services: replicas of services among a trace's pods, whose own pods have no owners.
 * Private to replay_run.
 *
 * SERVICE_SHARE of the pods of 1 to SERVICE_GPUS_MAX GPUs are replicas: SERVICE_REPLICAS pods that
 * are alike come at once, one after another, have one owner, and run equally long. Which pods
 * become services is drawn so that the mix of all that comes stays the trace's.
 */
#ifndef BENCH_REPLAY_SERVICES_H
#define BENCH_REPLAY_SERVICES_H

#include "ledger/cluster.h"
#include "trace.h"

#define SERVICE_REPLICAS 3
#define SERVICE_SHARE 0.5 /* of openb's pods of one GPU, 57 % are latency-sensitive ("LS") */
#define SERVICE_GPUS_MAX 2

/* A pod that comes. */
struct coming {
    const struct trace_pod *pod;
    uint64_t id;    /* grows in the order they come */
    size_t service; /* from 1; 0: it is no replica */
    size_t replica; /* which of the service's, from 0 */
};

struct service {
    const struct node *nodes[SERVICE_REPLICAS]; /* where they were placed */
    size_t n_placed;
};

/* All zero: no pod is a replica. */
struct services {
    bool wanted;
    struct service *items;
    size_t n, room;
    struct coming last;
};

/* Of services whose replicas are all placed. */
struct service_counts {
    size_t n;
    size_t n_on_one_node;
    size_t n_nodes; /* different nodes of each, added up */
};

void services_fini(struct services *services);
/* The pod that comes next; *random is what it is drawn by. */
struct coming services_next(struct services *services, const struct trace *trace, uint64_t *random);
void services_place(struct services *services, const struct coming *coming,
                    const struct node *node);
/* Of all but the first `skipped` services. */
struct service_counts services_count(const struct services *services, size_t skipped);
/* As members of a JSON object. */
void services_print(const struct service_counts *counts);

#endif
