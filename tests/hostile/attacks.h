/* attacks: the catalogue of what whoever may create pods can write into them. */
#ifndef HOSTILE_ATTACKS_H
#define HOSTILE_ATTACKS_H

#include <jansson.h>
#include <stddef.h>

/* Nodes node-0, node-1, ... of the cluster that is attacked, with 8 GPUs each. */
#define ATTACKED_NODES 100

struct attack {
    const char *name;
    const char *what; /* it attacks, and how */
    size_t n_pods;
    json_t *(*make)(size_t i); /* the pod; a new reference */
    /* The bounds, of a sanitized build. Milliseconds are of processor time: the longest hold of the
     * lock, and a filter call for an ordinary pod over all nodes. */
    double max_bytes_a_pod;
    double max_hold_ms;
    double max_filter_ms;
    double max_metrics_bytes; /* of /metrics, more than without the attack */
};

extern const struct attack ATTACKS[];
extern const size_t N_ATTACKS;

#endif
