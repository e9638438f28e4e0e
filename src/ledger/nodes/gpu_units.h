/*
 * gpu_units: what one unit of each GPU resource of a node is: struct gpu_unit in
 * include/ledger/cluster.h. Private to ledger.
 */
#ifndef LEDGER_NODES_GPU_UNITS_H
#define LEDGER_NODES_GPU_UNITS_H

#include "ledger/cluster.h"
#include "types/string_table.h"

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
