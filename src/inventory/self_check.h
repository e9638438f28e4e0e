/*
 * self_check: the ledger's sums made again while it runs; the number of differences must stay 0.
 * Private to inventory.
 */
#ifndef INVENTORY_SELF_CHECK_H
#define INVENTORY_SELF_CHECK_H

#include "base/metrics.h"
#include "inventory/inventory.h"

/* Pods, and needs of pods, that are looked at under one hold of the lock: some milliseconds. */
#define SELF_CHECK_WORK ((size_t)20000)

struct self_check {
    struct counter checks; /* rounds over the whole ledger */
    struct counter differences;
    int64_t next_ms; /* only in its own thread */
};

/* The whole ledger, under one hold of the lock: before anybody is kept waiting by it. */
void self_check_all(struct inventory *inventory);
/* The nodes from the first to the last, in steps, with the lock free in between. */
void self_check_nodes(struct inventory *inventory);

#endif
