/*
 * replay_queue: pods that wait for room. Pods of one shape share a line, with claims those that
 * claim as many GPUs: if the first does not fit, none does. So thousands of pods cost no more than
 * their shapes. Private to replay_run.
 */
#ifndef BENCH_REPLAY_QUEUE_H
#define BENCH_REPLAY_QUEUE_H

#include "replay_services.h"

struct waiting {
    double since_s;
    double duration_s;
    struct coming coming;
};

struct replay_line {
    const struct pod_shape *shape; /* the ledger's, which keeps it while such a pod waits */
    int64_t gpus;
    struct waiting *pods; /* in order of arrival */
    size_t first, end, room;
};

/* All zero: empty. */
struct replay_queue {
    struct replay_line *lines; /* none is empty */
    size_t n_lines, room;
};

void replay_queue_fini(struct replay_queue *queue);
void replay_queue_add(struct replay_queue *queue, const struct waiting *pod,
                      const struct pod_shape *shape);
/* Removes all pods of the group. */
void replay_queue_remove(struct replay_queue *queue, const struct group *group);
/* Removes the earliest pod that fits the node. False: none does. */
bool replay_queue_take(struct replay_queue *queue, const struct node *node, int64_t free_gpus,
                       struct waiting *ret_pod);

#endif
