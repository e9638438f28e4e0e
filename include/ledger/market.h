/*
 * market: who wants GPUs and what of them is free, by resource and model: what a price is made of
 * (decide/score.h).
 *
 * A pure function of the present ledger. Live pods are those that have a node and are not finished,
 * and those that wait for one: not gated, not refused. Their shapes are the classes; of those that
 * some node is large enough for, the MARKET_CLASSES_MAX whose pods take most GPUs together count,
 * of equal ones the one that shape_order() puts first. A shape over a limit is no class. Which
 * models a class may go to does not ask for free room; one of MARKET_COMPARISONS_MAX or more
 * (shape_comparisons()) is taken to go everywhere. Nodes that are cordoned offer nothing.
 *
 * Counting is part of each change of the ledger; the choice of classes and their models is made by
 * cluster_settle(), once after many changes.
 */
#ifndef LEDGER_MARKET_H
#define LEDGER_MARKET_H

#include "ledger/cluster.h"

#define MARKET_CLASSES_MAX 32
#define MARKET_EXPECTED_MAX 32 /* of a fork, besides */
#define MARKET_COMPARISONS_MAX 64

/* The GPUs of one model, by one resource name. */
struct supply {
    const char *model; /* canonical, with "-MIG-1g.5gb" or "-SHARED" of parts; "" if not said */
    size_t n_nodes;
    int64_t free; /* GPUs, over-full nodes counted as full */
    size_t index; /* in the market's list */
};

/* What a node's GPUs count for in their supply's: those that are free, and no more than a bound. */
int64_t supply_offered(const struct node_resource *entry);

/* Pods of one shape that want the market's resource. */
struct market_class {
    const struct pod_shape *shape; /* of a fork's, the facts alone, or NULL: too many */
    int64_t n_live;                /* pods, > 0 */
    int64_t gpus;                  /* a pod, > 0 */
    int64_t milli_cores;           /* a pod */
    int64_t memory_bytes;
    bool *admitted;  /* by supply: may it go to a node of it? */
    bool unconfined; /* to every one */
};

struct market {
    const struct resource *resource;
    struct supply **supplies;
    size_t n_supplies;
    struct market_class classes[MARKET_CLASSES_MAX + MARKET_EXPECTED_MAX];
    size_t n_classes;
    int64_t max_gpus; /* allocatable on one node, the most */
};

/* Whether what follows may be read. A fork always is: cluster_fork() settles its origin first. */
bool cluster_is_settled(const struct cluster *cluster);
void cluster_settle(struct cluster *cluster);

/* NULL where no node offers the resource. */
const struct market *cluster_market(const struct cluster *cluster, const struct resource *resource);
/* All, from NULL to NULL. */
const struct market *cluster_next_market(const struct cluster *cluster,
                                         const struct market *market);

/* n more pods of the shape, resolved against that fork, count as live there: a workload's replicas
 * wait all at once. The shape must live as long as the fork. Of more different ones than
 * MARKET_EXPECTED_MAX the first count. */
void market_expect(struct cluster *fork, const struct pod_shape *shape, int64_t n);

#endif
