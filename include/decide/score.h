/*
 * score: the placement policies: what it costs to put a pod on a node. One file (score_<name>.c)
 * and one row of the table in score.c each.
 */
#ifndef DECIDE_SCORE_H
#define DECIDE_SCORE_H

#include "decide/fit.h"
#include "ledger/gpu_demand.h"

/* What a policy knows for one decision. */
struct score;

/* Less is better. Nodes need not fit. */
struct cost {
    double own;   /* by the node's own state */
    double price; /* by the fleet's: changes as other nodes fill */
    double near;  /* by how many replicas of the pod's owner are on the node and in its zone */
};

double cost_sum(const struct cost *cost);

struct zone_replicas;

/* How many that are, seen from one node. */
struct replicas_near {
    int64_t on_node;
    struct zone_replicas *zone; /* NULL: the node has none */
};

/* For placing the pod that the question is about; the cluster must be settled. Valid while the
 * cluster does not change, but by cluster_place(): then score_reprice() comes first. */
struct score *score_begin(const struct cluster *cluster, const struct fit_question *question,
                          struct arena *arena);
void score_reprice(struct score *score);
/* The one it began with. */
const struct pod_shape *score_shape(const struct score *score);
struct cost score_cost(const struct score *score, const struct node *node);
/* Whether a cost follows from the hot part of the node: rank_needs_hot_only(). */
bool score_needs_hot_only(const struct score *score);
/* The price alone. */
double score_price(const struct score *score, const struct node *node);
/* What is near alone, and what it costs; one more replica is there after score_place(). */
struct replicas_near score_near(const struct score *score, const struct node *node);
double score_near_cost(const struct score *score, const struct replicas_near *near);
void score_place(struct score *score, struct replicas_near *near);

/* What a cost is made of: its terms add up to it, since it is reckoned by adding them. */
struct score_term {
    const char *name; /* "slotsLost": as people are told, never changed */
    double value;
};
#define SCORE_TERMS_MAX 4
/* The terms of score_cost(), those that are the node's own first. Returns how many. */
size_t score_terms(const struct score *score, const struct node *node,
                   struct score_term ret_terms[SCORE_TERMS_MAX]);

#endif
