/* attacks: the catalogue of hostile pods that a tenant with the right to create pods can write. */
#ifndef HOSTILE_ATTACKS_H
#define HOSTILE_ATTACKS_H

#include <jansson.h>
#include <stddef.h>

/* Nodes node-0, node-1, ... of the attacked cluster, with 8 GPUs each. */
#define ATTACKED_NODES 100

struct attack {
    const char *name;
    const char *what; /* the target, and the means */
    size_t n_pods;
    json_t *(*make)(size_t i); /* makes pod i; a new reference */
    /* Bounds for a sanitized build. Milliseconds are CPU time: of the longest hold of the lock, and
     * of a filter call for an ordinary pod over all nodes. */
    double max_bytes_a_pod;
    double max_hold_ms;
    double max_filter_ms;
    double max_metrics_bytes; /* growth of /metrics by the attack */
};

extern const struct attack ATTACKS[];
extern const size_t N_ATTACKS;

#endif
