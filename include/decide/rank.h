/*
 * rank: which of the fitting nodes is best?
 *
 * Order: the pod's own preferences (firstAvailable of its claims; models in the order of its
 * annotation; preferred node affinity and PreferNoSchedule taints); room that is known before
 * resource claims; for a pod without GPUs, nodes without GPUs; the cost by the placement policy
 * (src/decide/score_*.c); fewer free GPUs; the name. kube-scheduler takes integers 0..10. The first
 * node gets 10, the others at most 9, in order as far as ten levels allow: one point must dominate,
 * and only the very best may win.
 */
#ifndef DECIDE_RANK_H
#define DECIDE_RANK_H

#include "decide/score.h"

#define RANK_BEST_SCORE 10

/* GPU work that a pod without GPUs would block, under every policy and whether GPUs are free now or
 * not: CPU that it takes is missing once they are. */
enum gpu_work {
    GPU_WORK_NONE,    /* a node without GPUs, or the pod requests some */
    GPU_WORK_NOW,     /* a node with GPUs (a device plugin's, or devices that count), or with a GPU
                         model whose GPUs are not reported yet */
    GPU_WORK_CORDONED /* such a node, cordoned: it has no price */
};

struct ranked_node {
    const struct node *node; /* set by the caller; NULL gets score 0 and sorts last */
    size_t position;         /* set by the caller, kept: the index before sorting */
    /* The takes of the pod's claims there; set by the caller, NULL: as score_takes(). */
    const struct claim_takes *takes;
    size_t claim_order;     /* claim_takes.order; SIZE_MAX: unknown; 0 without claims */
    size_t model_rank;      /* index in the pod's list of models; 0 without a list */
    int64_t preferred;      /* sum of the weights of matching preferred terms */
    size_t unpreferred;     /* PreferNoSchedule taints that are not tolerated */
    bool by_claim;          /* fit_by_claim(): sorts after known room */
    enum gpu_work gpu_work; /* that the pod would block */
    struct cost cost;       /* by the placement policy */
    struct replicas_near near;
    int64_t free_gpus; /* of all GPU resources */
    int score;         /* 0..10 */
};

/* Fills in all but node, position and score, and takes if it is set. */
void rank_weigh(const struct score *score, struct ranked_node *ranked);
/* < 0: a is better; both must be weighed. Never 0 for two different nodes; equal nodes, and NULL
 * ones, compare by position. */
int rank_compare(const struct ranked_node *a, const struct ranked_node *b);
/* The same for two existing nodes, ignoring name and position. */
int rank_compare_alike(const struct ranked_node *a, const struct ranked_node *b);
/* Whether rank_weigh() reads only the hot part (ledger/node_hot.h) of a node with GPUs of one
 * resource, and without soft taints and device groups. */
bool rank_needs_hot_only(const struct score *score);
/* Whether it reads only that and the takes of such a node, with device groups, too: nodes with the
 * same takes have devices that are alike. */
bool rank_needs_takes_only(const struct score *score);

/* For pods whose nodes kube-scheduler chooses within a model: scores only by the pod's order of
 * models, 10 for the first model present, one less for each further one, at least 0. Keeps the
 * order of the nodes. Returns false if all have one rank: there is nothing to score. */
bool rank_by_models(const struct pod_shape *shape, struct ranked_node *nodes, size_t n_nodes);

/* Weighs, sorts best first, and scores. The cluster must be settled; positions ascend. */
void rank_nodes(const struct cluster *cluster, const struct fit_question *question,
                struct ranked_node *nodes, size_t n_nodes);

/* ---- best ---- */
/* The n best of many nodes, in the order above. */

struct best;

/* A node that was added, as one of its kind. */
struct rank_place {
    const struct node *node;
    const struct ranked_node *ranked; /* all but node and position is that of the node, too */
    size_t position;
    struct rank_place *twin; /* private to decide */
};

/* Keeps the n_most best of at most n_names, which must be > 0. The cluster must be settled, and
 * must not change. All is in the arena. */
struct best *best_begin(const struct cluster *cluster, const struct fit_question *question,
                        size_t n_most, size_t n_names, struct arena *arena);
/* takes: as in struct ranked_node. position: ascending from call to call. A node that is added
 * twice counts once. */
void best_add(struct best *best, const struct node *node, const struct claim_takes *takes,
              size_t position);
/* fit_judge_next() of n nodes, and best_add() of those that fit, with the number of nodes that were
 * judged before as the position. A node NULL: no such node; takes NULL: none is known. */
void best_judge(struct best *best, struct fit_round *round, const struct node *const *nodes,
                const struct claim_takes *const *takes, size_t n, enum reason *ret_verdicts);
/* The kept nodes, best first and scored; those that were added twice, twice. The array has room for
 * n_names, and is the caller's to append to. Call it once. */
struct rank_place **best_end(struct best *best, size_t *ret_n);

#endif
