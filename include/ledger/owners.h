/*
 * owners: the ReplicaSets and StatefulSets whose replicas the ledger has, and how many of them are
 * on which node.
 */
#ifndef LEDGER_OWNERS_H
#define LEDGER_OWNERS_H

#include "ledger/cluster.h"

struct owner_node {
    const struct node *node;
    size_t n; /* > 0 */
};

/* NULL: the ledger has none of its replicas, as no fork has. */
const struct owner *owners_find(const struct cluster *cluster, const char *uid);
/* In the order of their addresses; none of NULL. Nodes need not be there. */
const struct owner_node *owners_nodes(const struct owner *owner, size_t *ret_n);
size_t owners_n_on(const struct owner *owner, const struct node *node);

#endif
