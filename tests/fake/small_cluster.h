/*
 * small_cluster: an inventory to ask, out of a text. The built-in one:
 *
 *     a100-1  8 x A100 80GB, 3 free (ml/train-0 has 5 of them)
 *     a100-2  8 x A100 80GB, all free, tainted dedicated=ml:NoSchedule
 *     t4-1    4 x T4, all free, 4 cores
 *     cpu-1   no GPUs
 *
 * with the namespaces default and ml, and the priority class high (1000).
 */
#ifndef SMALL_CLUSTER_H
#define SMALL_CLUSTER_H

#include "inventory/inventory.h"

extern const char SMALL_CLUSTER[];

struct small_cluster {
    struct policy policy;
    struct inventory *inventory;
};

/* text: a cluster file; NULL: loads nothing. Aborts if it cannot be read. */
void small_cluster_init(struct small_cluster *cluster, const char *text);
void small_cluster_fini(struct small_cluster *cluster);
/* Returns 0, or errno and message of inventory_load_file(). */
int small_cluster_load(struct small_cluster *cluster, const char *text, struct err *err);

#endif
