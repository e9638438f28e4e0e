/*
 * owners: the ReplicaSets, StatefulSets and ReplicationControllers of the ledger's replicas, and
 * how many replicas each has per node.
 */
#ifndef LEDGER_OWNERS_H
#define LEDGER_OWNERS_H

#include "ledger/cluster.h"

struct owner_node {
    const struct node *node;
    size_t n; /* > 0 */
};

/* NULL: the ledger has no replica of it; always in a fork. */
const struct owner *owners_find(const struct cluster *cluster, const char *uid);
/* Sorted by address of the node; NULL owner: none. The nodes may not exist. */
const struct owner_node *owners_nodes(const struct owner *owner, size_t *ret_n);
size_t owners_n_on(const struct owner *owner, const struct node *node);

#endif
