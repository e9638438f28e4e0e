/*
 * node_hot: what nearly every decision reads of a node, side by side.
 *
 * To judge all nodes of a large cluster is to wait for memory: there is more of it than the
 * processor keeps at hand while other processes run, too. So what decides most often about a node
 * is in one line of it, made anew beside each change of the node.
 */
#ifndef LEDGER_NODE_HOT_H
#define LEDGER_NODE_HOT_H

#include "ledger/cluster.h"

struct node_hot {
    const struct cluster *cluster;
    const struct resource
        *gpus; /* the one GPU resource that the node advertises; NULL: none, or several */
    struct model_pool *pool;           /* of these GPUs: struct node_resource */
    int64_t free_gpus;                 /* of these, node_resource_free() */
    int64_t milli_cores, memory_bytes; /* free, the same; 0 where there are none */
    const char *model_word;            /* struct node_traits; NULL: it is not there */
    bool has_parts;                    /* its GPUs are shared, or slices: struct node_traits */
    bool has_taints;
    bool has_nominations;
};

_Static_assert(sizeof(struct node_hot) <= 64, "it is to be in one line of the cache");

/* A node begins with it. */
static inline const struct node_hot *node_hot(const struct node *node)
{
    return (const struct node_hot *)node;
}

/* Whether all that is seen of the two is equal. */
bool node_hot_is_alike(const struct node_hot *a, const struct node_hot *b);
/* Of nodes that are alike, the same. */
uint32_t node_hot_hash(const struct node_hot *hot);

/* After each change of what the node is, has, or has in use. */
void node_hot_renew(struct node *node);
/* Whether it is as it would be if it were made anew. */
bool node_hot_is_right(const struct node *node);

#endif
