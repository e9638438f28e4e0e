/*
 * node_lines: the table of nodes of the inventory: a row per node and GPU resource. Many nodes are
 * folded: one row for all that look alike, the largest group first. Private to api.
 */
#ifndef API_CLUSTER_NODE_LINES_H
#define API_CLUSTER_NODE_LINES_H

#include "base/arena.h"
#include "base/buf.h"

#include <stdbool.h>

/* The cells of a row, in the order of the wide table. */
enum {
    LINE_NODE,
    LINE_MODEL,
    LINE_GPUS,
    LINE_USED,
    LINE_FREE,
    LINE_USABLE,
    LINE_STATE,
    LINE_RESOURCE,
    LINE_CPU,
    LINE_MEMORY,
    LINE_PODS,
    LINE_RESERVED_FOR,
    N_LINE_CELLS
};

struct node_lines;

struct node_lines *node_lines_new(struct arena *arena);
/* The cells are borrowed. */
void node_lines_add(struct node_lines *lines, const char *const cells[N_LINE_CELLS]);
/* A wide table has all rows, and the pods by name. */
void node_lines_write(const struct node_lines *lines, bool wide, struct buf *out);

#endif
