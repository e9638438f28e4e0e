/*
 * node_index: nodes by name. Private to ledger.
 *
 * Filter looks up all nodes of a cluster, in no order, and waits for memory at each step from a
 * name to its node. So a name leads to a slot, and that to the node, with no other nodes between;
 * and many names go each step side by side.
 */
#ifndef LEDGER_NODE_INDEX_H
#define LEDGER_NODE_INDEX_H

#include <stddef.h>
#include <stdint.h>

struct node;

struct node_slot {
    uint64_t hash;     /* of the name */
    struct node *node; /* NULL: the slot is free */
};

/* A node stands in the first slot that was free, from the one that its hash says. */
struct node_index {
    struct node_slot *slots;
    size_t n_slots; /* a power of two, or 0 */
    size_t n;
};

void node_index_free(struct node_index *index);
/* No node of that name may be in. */
void node_index_add(struct node_index *index, struct node *node);
/* It must be in. */
void node_index_remove(struct node_index *index, const struct node *node);
struct node *node_index_find(const struct node_index *index, const char *name);
/* The same for each of many names, and what a decision reads of the nodes is asked for ahead. */
void node_index_find_all(const struct node_index *index, const char *const *names, size_t n,
                         const struct node **ret_nodes);

#endif
