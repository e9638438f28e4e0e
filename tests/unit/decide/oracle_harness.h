/*
 * oracle_harness: a ledger and its oracle get the same events. After each event the ledger checks
 * itself and is compared with the oracle. The first difference fails the test, with the seed and
 * the number and name of the event.
 */
#ifndef DECIDE_ORACLE_HARNESS_H
#define DECIDE_ORACLE_HARNESS_H

#include "ledger/cluster.h"
#include "oracle.h"
#include "oracle_reserve.h"

struct oracle_harness {
    struct cluster *cluster;
    struct oracle oracle;
    struct cluster *fork;           /* NULL: none */
    struct cluster *forking;        /* one that is being copied in steps; NULL: none */
    struct oracle fork_oracle;      /* the model when the fork was made */
    int64_t n_placed[ORACLE_NODES]; /* pods placed on the fork since, of the shape below */
    struct oracle_shape placed;
    uint64_t serials[ORACLE_PODS]; /* of the last reservation; 0: none ever */
    uint64_t last_serial;
    uint64_t seed;
    uint64_t n_events; /* over all lives of the harness */
};

/* Starts an empty ledger; keeps seed and n_events. */
void oracle_harness_init(struct oracle_harness *harness, const struct policy *policy);
/* Frees the ledger as it is. */
void oracle_harness_fini(struct oracle_harness *harness);
/* Drops the fork. Fails if the ledger keeps anything after all was removed. */
void oracle_harness_check_empty(struct oracle_harness *harness);

void oracle_harness_put_node(struct oracle_harness *harness, size_t i,
                             const struct oracle_node *node);
void oracle_harness_put_pod(struct oracle_harness *harness, size_t i, const struct oracle_pod *pod);
void oracle_harness_remove_node(struct oracle_harness *harness, size_t i);
void oracle_harness_remove_pod(struct oracle_harness *harness, size_t i);
void oracle_harness_keep_node(struct oracle_harness *harness, size_t i);
void oracle_harness_keep_pod(struct oracle_harness *harness, size_t i);
void oracle_harness_put_slice(struct oracle_harness *harness, size_t node, size_t driver,
                              const struct oracle_slice *slice);
void oracle_harness_remove_slice(struct oracle_harness *harness, size_t node, size_t driver);
void oracle_harness_keep_slice(struct oracle_harness *harness, size_t node, size_t driver);
void oracle_harness_put_claim(struct oracle_harness *harness, size_t i,
                              const struct oracle_claim *claim);
void oracle_harness_remove_claim(struct oracle_harness *harness, size_t i);
void oracle_harness_keep_claim(struct oracle_harness *harness, size_t i);
void oracle_harness_put_class(struct oracle_harness *harness, size_t i,
                              const struct oracle_class *class);
void oracle_harness_remove_class(struct oracle_harness *harness, size_t i);
void oracle_harness_put_template(struct oracle_harness *harness, size_t i,
                                 const struct oracle_template *template);
void oracle_harness_remove_template(struct oracle_harness *harness, size_t i);
void oracle_harness_keep_template(struct oracle_harness *harness, size_t i);
/* The time is the event's number. facts NULL: none are given. */
void oracle_harness_reserve(struct oracle_harness *harness, size_t pod, size_t node,
                            const struct oracle_pod *facts);
/* is_last: with the serial of the last reservation; else with an older one, which must do
 * nothing. */
void oracle_harness_release(struct oracle_harness *harness, size_t pod, bool is_last);
void oracle_harness_begin(struct oracle_harness *harness, enum cluster_kind kind);
void oracle_harness_end(struct oracle_harness *harness, enum cluster_kind kind);

/* A change of the policy, in steps of n objects: a copy replaces the ledger. */
void oracle_harness_take_policy(struct oracle_harness *harness, const struct policy *policy,
                                size_t n);

/* Begins another fork, or copies its next node. */
void oracle_harness_fork_some(struct oracle_harness *harness);
/* Replaces the fork, by the one that was begun if it is not outdated, and places n pods of the
 * shape on it, at most 4. */
void oracle_harness_place(struct oracle_harness *harness, const struct oracle_shape *shape,
                          size_t n);
/* Compares the fork with its model and frees it. Does nothing without a fork. */
void oracle_harness_drop_fork(struct oracle_harness *harness);

#endif
