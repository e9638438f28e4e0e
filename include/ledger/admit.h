/*
 * admit: which pods may go to a node, apart from free room.
 */
#ifndef LEDGER_ADMIT_H
#define LEDGER_ADMIT_H

#include "ledger/cluster.h"
#include "types/reason.h"

/* Judges cordon, taints, node selector and required affinity. */
enum reason admit_by_labels(const struct node_traits *traits, const struct shape_facts *facts);
/* Judges whether the node's GPUs are whole if the pod needs whole ones. */
enum reason admit_wholeness(const struct node *node, const struct pod_shape *shape);
/* Iterates over the GPUs that a pod gets on a node, by vendor: NULL to NULL. Never none: without
 * GPU needs, those of the node. */
const struct gpu_kind *admit_next_kind(const struct node_traits *traits,
                                       const struct pod_shape *shape, const struct gpu_kind *kind);
/* Whether one of these kinds satisfies the wanted model. */
bool admit_gives_model(const struct node_traits *traits, const struct pod_shape *shape,
                       const struct gpu_model *want);

/* Judges the node's GPU model, and the memory of the units that the pod needs. */
enum reason admit_model(const struct node *node, const struct pod_shape *shape);
/* The least memory of a unit that the pod needs; 0: of one it is unknown. */
int64_t admit_memory_bytes(const struct node_traits *traits, const struct pod_shape *shape);

/* Judges cordon, taints, node selector and affinities only, as a DaemonSet's controller does. */
bool admit_node(const struct node *node, const struct pod_shape *shape);
/* admit_node(), admit_wholeness() and admit_model(). Ignores whether and how many GPUs there
 * are. */
bool admit_gpus(const struct node *node, const struct pod_shape *shape);

#endif
