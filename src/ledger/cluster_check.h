/*
 * cluster_check: what its files share. Private to them: cluster_check*.c.
 */
#ifndef LEDGER_CLUSTER_CHECK_H
#define LEDGER_CLUSTER_CHECK_H

#include "ledger.h"

struct check {
    size_t n_differences;
    struct err *err; /* tells the first */
};

void check_differs(struct check *check, const char *where, const char *what, int64_t is,
                   int64_t should_be);
void check_unless_same(struct check *check, const char *what, size_t is, size_t should_be);

/* The node with all that is on it. The work of it: pods, reservations, and their needs. */
size_t check_node(struct check *check, const struct node *node);
/* A sum for each of the node's rows, and one for the GPUs that have none; to be freed. */
struct exact_sum *check_sums_new(const struct node *node);
/* The same in two parts: each pod, which adds to the sums of the node's rows; then the rows. */
size_t check_pod(struct check *check, const struct node *node, const struct pod_entry *pod,
                 struct exact_sum *used);
size_t check_rows(struct check *check, const struct node *node, const struct exact_sum *used);
/* What is free of each GPU model, by the rows of the nodes. */
void check_supplies(struct check *check, const struct cluster *cluster);

/* cluster_check_namespaces.c */
/* What each namespace uses, and of these each quota. */
void check_tenants(struct check *check, const struct cluster *cluster);

#endif
