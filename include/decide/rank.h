/*
 * rank: among the nodes that a pod fits, which is best?
 *
 * Order: what the pod itself prefers (models in the order of its annotation; preferred node
 * affinity and PreferNoSchedule taints), then, for a pod without GPUs, the nodes without GPUs, then
 * the cost by the placement policy (src/decide/score_*.c), then the fewer free GPUs, then the name.
 * kube-scheduler takes integers 0..10: the first gets 10, the others at most 9, order kept as far
 * as ten levels can (design: one point must dominate, and only the very best may win).
 */
#ifndef DECIDE_RANK_H
#define DECIDE_RANK_H

#include "decide/score.h"

#define RANK_BEST_SCORE 10

/* What a pod without GPUs would be in the way of. Whatever the policy reckons, and whether GPUs are
 * free now or not: CPU that it takes there is missing once they are. */
enum gpu_work {
    GPU_WORK_NONE,    /* a node without GPUs, or the pod asks for some */
    GPU_WORK_NOW,     /* a node with GPUs, or with a GPU model whose GPUs are not there yet */
    GPU_WORK_CORDONED /* such a node that is cordoned: nothing is priced there */
};

struct ranked_node {
    const struct node *node; /* set by the caller; NULL is allowed, gets 0 and sorts last */
    size_t position;         /* set by the caller, kept: where it stood before sorting */
    size_t model_rank;       /* index in the pod's list of models; 0 where it has none */
    int64_t preferred;       /* sum of weights of preferred terms that hold */
    size_t unpreferred;      /* PreferNoSchedule taints that are not tolerated */
    bool by_claim;           /* fit_by_claim(): known room comes first */
    enum gpu_work gpu_work;  /* that the pod would be in the way of */
    struct cost cost;        /* by the placement policy */
    struct replicas_near near;
    int64_t free_gpus; /* of all GPU resources */
    int score;         /* 0..10 */
};

/* Fills in all but node, position and score. */
void rank_weigh(const struct score *score, struct ranked_node *ranked);
/* Less than 0 where a is better than b; both weighed. Never 0 for two different nodes; a node that
 * stands twice, and nodes that are NULL, come by their position. */
int rank_compare(const struct ranked_node *a, const struct ranked_node *b);
/* The same for two that are there, by all but name and position. */
int rank_compare_alike(const struct ranked_node *a, const struct ranked_node *b);
/* Whether rank_weigh() reads only the hot part (ledger/node_hot.h) of a node that has GPUs of one
 * resource and no taints. */
bool rank_needs_hot_only(const struct score *score);

/* Where kube-scheduler decides among nodes of equal models: scores by the pod's own order of models
 * alone, 10 for the first of those that are there, and one less for each that follows, as far down
 * as 0. The order of the nodes stays. False: all are of one rank, and there are no scores. */
bool rank_by_models(const struct pod_shape *shape, struct ranked_node *nodes, size_t n_nodes);

/* Weighs, sorts, best first, and gives the scores. The cluster must be settled. */
void rank_nodes(const struct cluster *cluster, const struct fit_question *question,
                struct ranked_node *nodes, size_t n_nodes);

#endif
