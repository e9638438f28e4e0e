/*
 * node_hot: the part of a node that nearly every decision reads, in one cache line.
 *
 * Judging all nodes of a large cluster is bound by memory latency: other processes evict the ledger
 * from the processor's caches. So the most-read facts of a node share one line, renewed with each
 * change of the node.
 */
#ifndef LEDGER_NODE_HOT_H
#define LEDGER_NODE_HOT_H

#include "ledger/cluster.h"

#include <stddef.h>
#include <string.h>

#define NODE_HOT_DOMAIN_BITS 30
#define NODE_HOT_KIND_BITS 8

struct node_hot {
    const struct cluster *cluster;
    const struct resource
        *gpus; /* the one GPU resource that the node reports; NULL: none, or several */
    struct model_pool *pool;           /* of those GPUs: struct node_resource */
    int64_t free_gpus;                 /* of those GPUs: node_resource_free() */
    int64_t milli_cores, memory_bytes; /* free, likewise; 0 without a row */
    const char *model_word;            /* as in struct node_traits; NULL: no such node */
    unsigned int n_gpus : 16;          /* of those GPUs: allocatable */
    /* The GPUs are of several resources, parts, or none or too many for n_gpus. */
    unsigned int is_mixed : 1;
    unsigned int has_soft_taints : 1; /* PreferNoSchedule */
    unsigned int has_nominations : 1;
    unsigned int has_mark : 1;    /* node_mark() */
    unsigned int has_devices : 1; /* GPUs that come by DRA and are not shadowed */
    /* A hash of what decides how it ranks: its model and amounts. */
    unsigned int kind : NODE_HOT_KIND_BITS;
    unsigned int unused : 3; /* 0: all bytes are compared */
    /* The rest is only counted (ledger/pod_groups.h), and says nothing of the node's room. */
    unsigned int domain : NODE_HOT_DOMAIN_BITS; /* the innermost; 0: in none */
    /* Of a node in a domain: ready, not cordoned, and with GPUs; and these are all free. */
    unsigned int has_open_gpus : 1;
    unsigned int is_whole : 1;
};

_Static_assert(sizeof(struct node_hot) == 64, "it is to be one line of the cache, without gaps");

/* The offset of the hot part in a node; the private struct node is checked against it. */
#define NODE_HOT_OFFSET ((size_t)192)

static inline const struct node_hot *node_hot(const struct node *node)
{
    return (const struct node_hot *)((const char *)node + NODE_HOT_OFFSET);
}

/* Whether what decides is equal: all but the cluster and the domain. */
static inline bool node_hot_is_alike(const struct node_hot *a, const struct node_hot *b)
{
    const size_t begin = offsetof(struct node_hot, gpus);
    return memcmp(&a->gpus, &b->gpus, sizeof *a - begin - sizeof(uint32_t)) == 0;
}

/* Call after each change of the node's traits, rows or nominations. */
void node_hot_renew(struct node *node);
/* Whether it equals a newly computed one. */
bool node_hot_is_right(const struct node *node);

#endif
