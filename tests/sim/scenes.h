/*
 * scenes: written courses of events about groups, for the hardest cases of the design and
 * for the rules whose turn it is, without dice: each runs with the queue rules of
 * kube-scheduler 1.31 and of 1.36.
 */
#ifndef SIM_SCENES_H
#define SIM_SCENES_H

#include <stddef.h>
#include <stdint.h>

struct world;

struct scene {
    const char *name;
    unsigned n_replicas, n_nodes, gpus; /* of a node */
    int64_t for_ms;
    void (*begin)(struct world *world);
    void (*look)(struct world *world); /* 20 times a second */
    void (*end)(struct world *world);
    const char *group; /* of which so many pods are bound in the end; NULL: none */
    size_t n_bound;
};

/* index from 0; NULL: no more. */
const struct scene *scenes_get(size_t index);
/* Puts its nodes, and begins it. */
void scenes_begin(struct world *world);
/* Looks whether it ended as it should. */
void scenes_end(struct world *world);

#endif
