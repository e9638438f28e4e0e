/*
 * replay_services: replicas of services among a trace's pods, whose own pods have no owners.
 * Private to replay_run.
 *
 * SERVICE_SHARE of the pods with 1 to SERVICE_GPUS_MAX GPUs are replicas: SERVICE_REPLICAS equal
 * pods arrive in sequence at one time, have one owner, and run equally long. The draw of services
 * keeps the trace's mix of pods.
 */
#ifndef BENCH_REPLAY_SERVICES_H
#define BENCH_REPLAY_SERVICES_H

#include "ledger/cluster.h"
#include "trace.h"

#define SERVICE_REPLICAS 3
#define SERVICE_SHARE 0.5 /* of openb's pods of one GPU, 57 % are latency-sensitive ("LS") */
#define SERVICE_GPUS_MAX 2

struct group;

/* An arriving pod. */
struct coming {
    const struct trace_pod *pod;
    uint64_t id;         /* grows in order of arrival */
    size_t service;      /* from 1; 0: no replica */
    size_t replica;      /* index within the service */
    struct group *group; /* replay_groups.h; NULL: none */
};

struct service {
    const struct node *nodes[SERVICE_REPLICAS]; /* placed on */
    size_t n_placed;
};

/* All zero: no pod is a replica. */
struct services {
    bool wanted;
    struct service *items;
    size_t n, room;
    struct coming last;
};

/* Counts services with all replicas placed. */
struct service_counts {
    size_t n;
    size_t n_on_one_node;
    size_t n_nodes; /* sum of each service's number of different nodes */
};

void services_fini(struct services *services);
/* The next arriving pod, drawn with *random. */
struct coming services_next(struct services *services, const struct trace *trace, uint64_t *random);
void services_place(struct services *services, const struct coming *coming,
                    const struct node *node);
/* Over all but the first `skipped` services. */
struct service_counts services_count(const struct services *services, size_t skipped);
/* Prints them as members of a JSON object. */
void services_print(const struct service_counts *counts);

#endif
