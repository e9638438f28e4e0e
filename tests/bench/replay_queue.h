/*
 * replay_queue: pods that wait for room. Pods of one shape wait in one line: where the first of
 * them does not fit, none does, so thousands that wait cost no more than their shapes. Private to
 * replay_run.
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
    const struct pod_shape *shape; /* the ledger's, which has it as long as such a pod waits */
    struct waiting *pods;          /* in the order they came */
    size_t first, end, room;
};

/* All zero: nobody waits. */
struct replay_queue {
    struct replay_line *lines; /* none is empty */
    size_t n_lines, room;
};

void replay_queue_fini(struct replay_queue *queue);
void replay_queue_add(struct replay_queue *queue, const struct waiting *pod,
                      const struct pod_shape *shape);
/* Takes out who came first of those that fit the node now. False: none does. */
bool replay_queue_take(struct replay_queue *queue, const struct node *node,
                       struct waiting *ret_pod);

#endif
