/*
 * score_policy: what the table of placement policies is made of. Private to decide: score.c and the
 * policies' files.
 */
#ifndef DECIDE_SCORE_POLICY_H
#define DECIDE_SCORE_POLICY_H

#include "decide/score.h"
#include "ledger/room.h"

/* One GPU resource that the pod asks for, and its demand. */
struct wanted_gpus {
    const struct need *need;
    const struct gpu_demand *demand; /* NULL: no node offers any */
    double *pressures;               /* by pool */
};

struct known_loss;

struct score {
    const struct cluster *cluster;
    const struct pod_shape *shape;
    const struct score_policy *policy;
    struct replicas *replicas;  /* NULL: they do not matter */
    struct wanted_gpus *wanted; /* as many as the shape's GPU needs */
    /* What a pod takes beside GPUs. */
    int64_t milli_cores, memory_bytes;
    struct known_loss *known_losses; /* score_loss.c */
};

/* One term of a cost; reckon NULL: there is none. Of a node that has GPUs of one resource it reads
 * no more than the hot part (score_needs_hot_only()). */
struct score_part {
    const char *name;
    double (*reckon)(const struct score *score, const struct node *node);
};

struct score_policy {
    struct score_part own[SCORE_TERMS_MAX]; /* two fewer at the most: the price is a term
                                             too, and replicas */
    struct score_part price;
    void (*reprice)(struct score *score); /* NULL where there is no price */
};

extern const struct score_policy SCORE_SLOT_PRICE, SCORE_BINPACK, SCORE_SPREAD, SCORE_FGD;

/* What a class loses by the score's pod on a node: a whole number. */
typedef double class_loss(const struct demand_class *class, const struct room *before,
                          const struct room *after, const struct model_pool *pool);
/* score_loss.c */
struct known_loss *score_loss_begin(struct arena *arena);
/* What the classes lose on the node, each weighed by its pods, over all demands. A policy asks it
 * of one kind of loss only: it is kept for nodes that are alike. */
double score_loss_typical(const struct score *score, const struct node *node, class_loss *loss);

/* GPUs left on the node with the score's pod there, of the resources that it asks for. */
double score_loss_gpus_left(const struct score *score, const struct node *node);

#endif
