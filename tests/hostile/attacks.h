/*
 * attacks: the catalogue of hostile objects: pods and claims that a tenant with the right to create
 * pods can write or cause, and slices of a driver that errs; and
 * manifests for the dry run.
 */
#ifndef HOSTILE_ATTACKS_H
#define HOSTILE_ATTACKS_H

#include "ledger/cluster.h"

#include <jansson.h>
#include <stddef.h>

/* Nodes node-0, node-1, ... of the attacked cluster, with 8 GPUs each. */
#define ATTACKED_NODES 100

struct attack {
    const char *name;
    const char *what; /* the target, and the means */
    enum cluster_kind kind;
    size_t n_objects;
    json_t *(*make)(size_t i); /* makes object i; a new reference */
    /* Bounds for a sanitized build. Milliseconds are CPU time, judged with --times only: of the
     * longest hold of the lock, and of a filter call for an ordinary pod over all nodes. */
    double max_bytes_each;
    double max_hold_ms;
    double max_filter_ms;
    double max_metrics_bytes; /* growth of /metrics by the attack */
};

extern const struct attack ATTACKS[];
extern const size_t N_ATTACKS;

/* What is posted to the dry run while the objects of an attack are there. */
struct hostile_manifest {
    const char *attack;
    json_t *(*make)(void); /* a new reference */
    double max_ms;         /* CPU time of the dry run */
    /* The same of pending and of explain, asked when the objects of the manifest, a list, are in
     * the cluster. 0: they are not. */
    double max_asked_ms;
    size_t max_answer_bytes; /* of each of the three */
};
/* NULL: nothing is. */
const struct hostile_manifest *attacks_manifest(const char *attack);

#endif
