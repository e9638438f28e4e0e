/*
 * node_notes: what the labels and resources of nodes leave open: more GPUs than labels count,
 * impossible sizes of memory, and accelerators that the policy does not count as GPUs. And why a
 * node is in quarantine.
 */
#ifndef INVENTORY_NODE_NOTES_H
#define INVENTORY_NODE_NOTES_H

#include "inventory/inventory.h"

/* Notes of one cluster; further ones are left out. */
#define NODE_NOTES_MAX ((size_t)256)

/* Starts empty. kind and name are those of an object ("Node", "a1"), or "Resource" and its name.
 * Texts are in the arena. */
struct node_notes {
    struct inventory_problem items[NODE_NOTES_MAX];
    size_t n;
};

/* "count unverified: label 4, offered 8 (nvidia.com/gpu.count, nvidia.com/gpu)" */
const char *node_notes_of_count(const struct gpu_unit *unit, struct arena *arena);

/* Why a sick node is avoided, or should be; NULL: it is not sick. In the arena. */
const char *node_notes_of_mark(const struct node *node, struct arena *arena);

/* The notes of the node's units. */
void node_notes_add(const struct node *node, struct arena *arena, struct node_notes *notes);
/* Accelerators that nodes have or pods wait for, with the line to add to the policy. */
void node_notes_add_resources(const struct cluster *cluster, struct arena *arena,
                              struct node_notes *notes);

#endif
