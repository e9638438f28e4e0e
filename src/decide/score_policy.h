/*
 * score_policy: the parts of the table of placement policies. Private to decide: score.c and the
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
    const struct gpu_demand **demands; /* all of the cluster, with the score's pod in them */
    size_t n_demands;
    const struct score_policy *policy;
    struct replicas *replicas;  /* NULL: not scored */
    struct wanted_gpus *wanted; /* one per GPU need of the shape */
    /* The pod's needs besides GPUs. */
    int64_t milli_cores, memory_bytes;
    struct known_loss *known_losses; /* score_loss.c */
    /* With resource claims: one score for each different choice of GPUs, as if the pod requested
     * them by name. */
    const struct claim_rules *devices; /* NULL: none */
    struct claimed_scores *claimed;
    const struct claim_takes *takes; /* of such a score; else NULL */
};

/* One term of a cost; compute NULL: no term. For a node with GPUs of one resource and without
 * device groups, compute reads only the hot part (score_needs_hot_only()). */
struct score_part {
    const char *name;
    double (*compute)(const struct score *score, const struct node *node);
};

struct score_policy {
    /* At most three fewer: memory, price and replicas are terms, too. */
    struct score_part own[SCORE_TERMS_MAX];
    struct score_part price;
    void (*reprice)(struct score *score); /* NULL: the policy has no price */
};

extern const struct score_policy SCORE_SLOT_PRICE, SCORE_BINPACK, SCORE_SPREAD, SCORE_FGD;

/* Loss of a class if the score's pod runs on a node: a whole number. */
typedef double class_loss(const struct demand_class *class, const struct room *before,
                          const struct room *after, const struct model_pool *pool);
/* score_loss.c */
struct known_loss *score_loss_begin(struct arena *arena);
/* The loss of all classes on the node, each weighed by its live pods, over all demands. A policy
 * passes always the same class_loss, because losses are cached for nodes that are alike. */
double score_loss_typical(const struct score *score, const struct node *node, class_loss *loss);

/* GPUs that the score's pod would leave free on the node, of the resources that it requests. */
double score_loss_gpus_left(const struct score *score, const struct node *node);

#endif
