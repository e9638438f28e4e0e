/*
 * admit: which pods a node takes at all, whatever is free on it.
 */
#ifndef LEDGER_ADMIT_H
#define LEDGER_ADMIT_H

#include "ledger/cluster.h"
#include "types/reason.h"

/* Cordon, taints, node selector and required affinity. */
enum reason admit_by_labels(const struct node_traits *traits, const struct shape_facts *facts);
/* Whether the node's GPUs are whole where they must be. */
enum reason admit_wholeness(const struct node *node, const struct pod_shape *shape);
/* Whether the node's GPUs are of a model that the pod may have. */
enum reason admit_model(const struct node_traits *traits, const struct model_wants *wants);
/* Then admit_model() refuses no node. */
bool admit_takes_any_model(const struct model_wants *wants);

/* Cordon, taints, node selector and affinities only: is it a node for such pods at all? What a
 * DaemonSet's controller asks. */
bool admit_node(const struct node *node, const struct pod_shape *shape);
/* The same, and admit_wholeness() and admit_model(). Whether there are GPUs, and how many, is not
 * asked. */
bool admit_gpus(const struct node *node, const struct pod_shape *shape);

#endif
