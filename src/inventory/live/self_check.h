/*
 * self_check: recomputes the ledger's sums at run time; differences must stay 0. Private to
 * inventory.
 */
#ifndef INVENTORY_LIVE_SELF_CHECK_H
#define INVENTORY_LIVE_SELF_CHECK_H

#include "base/metrics.h"
#include "inventory/inventory.h"

/* Limit of pods plus their needs that are checked in one hold of the lock: a few milliseconds. */
#define SELF_CHECK_WORK ((size_t)20000)

struct self_check {
    struct counter checks; /* rounds over the whole ledger */
    struct counter differences;
    int64_t next_ms; /* of the next check; only its own thread uses it */
};

/* Checks the whole ledger under one hold of the lock: only before decisions start. */
void self_check_all(struct inventory *inventory);
/* Checks all nodes in steps, with the lock free in between. */
void self_check_nodes(struct inventory *inventory);

#endif
