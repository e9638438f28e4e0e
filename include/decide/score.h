/*
 * score: placement policies, the cost of a pod on a node. Each has a file (score_<name>.c) and a
 * row of the table in score.c.
 */
#ifndef DECIDE_SCORE_H
#define DECIDE_SCORE_H

#include "decide/fit.h"
#include "ledger/gpu_demand.h"

/* The state of a policy in one decision. */
struct score;

/* Less is better. Also defined for nodes that do not fit. */
struct cost {
    double own;   /* by the node's own state */
    double price; /* by the fleet's state: changes as other nodes fill */
    double near;  /* by replicas of the pod's owner on the node and in its zone */
};

static inline double cost_sum(const struct cost *cost)
{
    return cost->own + cost->price + cost->near;
}

struct zone_replicas;

/* Such replicas, seen from one node. */
struct replicas_near {
    int64_t on_node;
    struct zone_replicas *zone; /* NULL: the node has no zone */
};

/* For placing the question's pod; the cluster must be settled. Valid until the cluster changes,
 * except by cluster_place() followed by score_reprice(). */
struct score *score_begin(const struct cluster *cluster, const struct fit_question *question,
                          struct arena *arena);
void score_reprice(struct score *score);
/* The devices that the pod's claims take on the node; NULL: it has none, or it is unknown. */
const struct claim_takes *score_takes(const struct score *score, const struct node *node);
bool score_has_claims(const struct score *score);
/* The shape of the question. */
const struct pod_shape *score_shape(const struct score *score);
/* takes: as score_takes(), if the caller knows better. */
struct cost score_cost(const struct score *score, const struct node *node,
                       const struct claim_takes *takes);
/* Whether some nodes may give a resource by a claim: fit_by_claim(). */
bool score_knows_claims(const struct score *score);
/* Whether score_cost() reads only the hot part of a node: rank_needs_hot_only(). */
bool score_needs_hot_only(const struct score *score);
/* Whether it looks for replicas nearby. */
bool score_sees_replicas(const struct score *score);
/* The price term alone. */
double score_price(const struct score *score, const struct node *node);
/* Equal for nodes that have the same price, whatever is placed. */
uint64_t score_price_key(const struct score *score, const struct node *node);
/* The nearby replicas alone, and their cost. score_place() adds one at that node. */
struct replicas_near score_near(const struct score *score, const struct node *node);
double score_near_cost(const struct score *score, const struct replicas_near *near);
void score_place(struct score *score, struct replicas_near *near);

/* A term of a cost; a cost is the sum of its terms. */
struct score_term {
    const char *name; /* "slotsLost": shown to users, stable */
    double value;
};
#define SCORE_TERMS_MAX 5
/* Returns the number of terms of score_cost(), those of the node's own state first. */
size_t score_terms(const struct score *score, const struct node *node,
                   struct score_term ret_terms[SCORE_TERMS_MAX]);

#endif
