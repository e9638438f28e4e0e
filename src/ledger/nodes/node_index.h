/*
 * node_index: nodes by name. Private to ledger.
 *
 * Filter looks up all nodes of a cluster in random order, and each lookup waits for memory twice.
 * So a name leads to one slot and the slot to its node. Lookups of many names overlap their waits.
 */
#ifndef LEDGER_NODES_NODE_INDEX_H
#define LEDGER_NODES_NODE_INDEX_H

#include "base/hash.h"

#include <stddef.h>
#include <stdint.h>

struct node;

struct node_slot {
    uint64_t hash;     /* of the name */
    struct node *node; /* NULL: free */
};

/* Open addressing, linear probing from the slot of the hash. */
struct node_index {
    struct node_slot *slots;
    size_t n_slots; /* a power of two, or 0 */
    size_t n;
};

void node_index_free(struct node_index *index);
/* No node of that name may be listed. */
void node_index_add(struct node_index *index, struct node *node);
/* The node must be listed. */
void node_index_remove(struct node_index *index, const struct node *node);
struct node *node_index_find(const struct node_index *index, const char *name);
/* See cluster_find_nodes(). */
void node_index_find_all(const struct node_index *index, const struct hashed_text *names, size_t n,
                         const struct node **ret_nodes);

#endif
