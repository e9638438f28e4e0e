/*
 * gpu_parts: whether a node's GPUs are whole ones, or parts that look like them. Private to ledger.
 *
 * NVIDIA's device plugin can hand out one GPU several times (time slicing, MPS), or the slices of
 * MIG, under the name of whole ones; GPU feature discovery's labels tell it.
 */
#ifndef LEDGER_GPU_PARTS_H
#define LEDGER_GPU_PARTS_H

#include "ledger/cluster.h"

/* Whether the labels speak of this resource: NVIDIA's, but for those that say by their own name
 * that they are parts ("nvidia.com/mig-1g.5gb", "nvidia.com/gpu.shared"). */
bool gpu_parts_concern(const char *resource);

/* shares_gpus and slices_gpus of what is otherwise filled in. */
void gpu_parts_find(const struct node_facts *facts, struct node_traits *traits);

#endif
