/*
 * glance: what nearly every decision reads of a node, side by side.
 *
 * To judge all nodes of a large cluster is to wait for memory: there is more of it than the
 * processor keeps at hand while other processes run, too. So what decides most often about a node
 * is in one line of it, made anew beside each change of the node.
 */
#ifndef LEDGER_GLANCE_H
#define LEDGER_GLANCE_H

#include "ledger/cluster.h"

struct node_glance {
    const struct cluster *cluster;
    const struct resource
        *gpus; /* the one GPU resource that the node advertises; NULL: none, or several */
    struct supply *supply;             /* of these GPUs: struct node_resource */
    int64_t free_gpus;                 /* of these, node_resource_free() */
    int64_t milli_cores, memory_bytes; /* free, the same; 0 where there are none */
    const char *model_word;            /* struct node_traits; NULL: it is not there */
    bool has_parts;                    /* its GPUs are shared, or slices: struct node_traits */
    bool has_taints;
    bool has_nominations;
};

_Static_assert(sizeof(struct node_glance) <= 64, "it is to be in one line of the cache");

/* A node begins with it. */
static inline const struct node_glance *node_glance(const struct node *node)
{
    return (const struct node_glance *)node;
}

/* Whether all that is seen of the two is equal. */
bool glance_is_alike(const struct node_glance *a, const struct node_glance *b);
/* Of nodes that are alike, the same. */
uint32_t glance_hash(const struct node_glance *glance);

/* After each change of what the node is, has, or has in use. */
void glance_renew(struct node *node);
/* Whether it is as it would be if it were made anew. */
bool glance_is_right(const struct node *node);

#endif
