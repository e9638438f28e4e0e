/*
 * score: the placement policies. One file (score_<name>.c) and one row of the table in score.c
 * each.
 */
#ifndef CORE_SCORE_H
#define CORE_SCORE_H

#include "core/cluster.h"

/* What it costs to place the shape on the node; less is better. Nodes need not fit. */
typedef double score_cost(const struct cluster *cluster, const struct node *node,
                          const struct pod_shape *shape);

score_cost *score_cost_of(enum placement_policy placement);

/* binpack: GPUs that stay free on the node, of the resources the pod asks for; for a pod without
 * GPUs, of all GPU resources, so that such pods stay off GPU nodes with room. Fewest first. */
score_cost score_binpack;

#endif
