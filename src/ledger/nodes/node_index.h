/*
 * node_index: nodes by name. Private to ledger.
 *
 * Filter looks up all nodes of a cluster in random order, and each lookup waits for memory twice.
 * So a name leads to one slot and the slot to its node. Lookups of many names overlap their waits.
 */
#ifndef LEDGER_NODES_NODE_INDEX_H
#define LEDGER_NODES_NODE_INDEX_H

#include "base/hash.h"
#include "ledger/cluster.h"
#include "types/string_table.h"

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

/* An empty one of so many slots, a power of two; its memory is touched. */
struct node_index node_index_of(size_t n_slots);
void node_index_free(struct node_index *index);
/* No node of that name may be listed. */
void node_index_add(struct node_index *index, struct node *node);
/* The node must be listed. */
void node_index_remove(struct node_index *index, const struct node *node);
struct node *node_index_find(const struct node_index *index, const char *name);
/* See cluster_find_nodes(). */
void node_index_find_all(const struct node_index *index, const struct hashed_text *names, size_t n,
                         const struct node **ret_nodes);

/* ---- gpu units ---- */
/* What one unit of each GPU resource of a node is: struct gpu_unit in include/ledger/cluster.h. */

/* traits: with labels and the model that they name. The result is freed by gpu_units_free(); its
 * texts belong to the traits' labels. */
struct gpu_units gpu_units_find(struct cluster *cluster, const struct node_facts *facts,
                                const struct node_traits *traits);
struct gpu_units gpu_units_copy(struct string_table *strings, const struct gpu_units *of);
void gpu_units_free(struct string_table *strings, struct gpu_units *units);
/* Of the same labels. */
bool gpu_units_equal(const struct gpu_units *a, const struct gpu_units *b);
/* Bytes of one GPU by the first memory label that makes sense; 0: none. */
int64_t gpu_units_memory_by_labels(const struct node_traits *traits, const struct gpu_kind *kind);

#endif
