/*
 * twin: a ledger and its plain model get the same events. After each event the ledger checks itself
 * and is compared with the model. The first difference fails the test, with the seed and the number
 * and name of the event.
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
    struct plain fork_plain;       /* the model when the fork was made */
    int64_t n_placed[PLAIN_NODES]; /* pods placed on the fork since, of the shape below */
    struct plain_shape placed;
    uint64_t serials[PLAIN_PODS]; /* of the last reservation; 0: none ever */
    uint64_t last_serial;
    uint64_t seed;
    uint64_t n_events; /* over all lives of the twin */
};

/* Starts an empty ledger; keeps seed and n_events. */
void twin_init(struct twin *twin, const struct policy *policy);
/* Frees the ledger as it is. */
void twin_fini(struct twin *twin);
/* Drops the fork. Fails if the ledger keeps anything after all was removed. */
void twin_check_empty(struct twin *twin);

void twin_put_node(struct twin *twin, size_t i, const struct plain_node *node);
void twin_put_pod(struct twin *twin, size_t i, const struct plain_pod *pod);
void twin_remove_node(struct twin *twin, size_t i);
void twin_remove_pod(struct twin *twin, size_t i);
void twin_keep_node(struct twin *twin, size_t i);
void twin_keep_pod(struct twin *twin, size_t i);
/* The time is the event's number. facts NULL: none are given. */
void twin_reserve(struct twin *twin, size_t pod, size_t node, const struct plain_pod *facts);
/* is_last: with the serial of the last reservation; else with an older one, which must do
 * nothing. */
void twin_release(struct twin *twin, size_t pod, bool is_last);
void twin_begin(struct twin *twin, enum cluster_kind kind);
void twin_end(struct twin *twin, enum cluster_kind kind);

/* Replaces the fork and places n pods of the shape on it, at most 4. */
void twin_place(struct twin *twin, const struct plain_shape *shape, size_t n);
/* Compares the fork with its model and frees it. Does nothing without a fork. */
void twin_drop_fork(struct twin *twin);

#endif
