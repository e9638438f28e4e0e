/*
 * twin: a ledger and its plain model, told the same events. After each the ledger checks itself and
 * is held against the model. The first difference fails the test, with the seed, and the number and
 * name of the event.
 */
#ifndef DECIDE_TWIN_H
#define DECIDE_TWIN_H

#include "ledger/cluster.h"
#include "plain.h"
#include "plain_reserve.h"

struct twin {
    struct cluster *cluster;
    struct plain plain;
    struct cluster *fork;          /* NULL: none */
    struct plain fork_plain;       /* what the ledger was when the fork was made */
    int64_t n_placed[PLAIN_NODES]; /* on the fork since then: pods of the shape placed */
    struct plain_shape placed;
    uint64_t serials[PLAIN_PODS]; /* of the last reservation; 0: none was ever made */
    uint64_t last_serial;
    uint64_t seed;
    uint64_t n_events; /* so far, over all lives of the twin */
};

/* An empty ledger; seed and n_events stay as they are. */
void twin_init(struct twin *twin, const struct policy *policy);
/* Frees the ledger as it is. */
void twin_fini(struct twin *twin);
/* Drops the fork, and fails where the ledger keeps anything: everything was removed. */
void twin_check_empty(struct twin *twin);

void twin_put_node(struct twin *twin, size_t i, const struct plain_node *node);
void twin_put_pod(struct twin *twin, size_t i, const struct plain_pod *pod);
void twin_remove_node(struct twin *twin, size_t i);
void twin_remove_pod(struct twin *twin, size_t i);
void twin_keep_node(struct twin *twin, size_t i);
void twin_keep_pod(struct twin *twin, size_t i);
/* The time is the number of the event. facts NULL: none are given. */
void twin_reserve(struct twin *twin, size_t pod, size_t node, const struct plain_pod *facts);
/* With the serial of the pod's last reservation, or with an older one, which must do nothing. */
void twin_release(struct twin *twin, size_t pod, bool is_last);
void twin_begin(struct twin *twin, enum cluster_kind kind);
void twin_end(struct twin *twin, enum cluster_kind kind);

/* Makes a fork in place of the one that is there, and places n such pods on it, 4 at most. */
void twin_place(struct twin *twin, const struct plain_shape *shape, size_t n);
/* Looks whether the fork is still what it was, and frees it. Nothing where there is none. */
void twin_drop_fork(struct twin *twin);

#endif
