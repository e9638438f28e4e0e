/*
 * self_check: the ledger's sums made again while it runs; the number of differences must stay 0.
 * Private to inventory.
 */
#ifndef INVENTORY_SELF_CHECK_H
#define INVENTORY_SELF_CHECK_H

#include "base/metrics.h"
#include "inventory/inventory.h"

struct self_check {
    struct counter checks; /* of the whole ledger, at once or in steps */
    struct counter differences;
    /* Of the slow one, only in its own thread. */
    int64_t next_ms;
    size_t next_node;
};

/* The whole ledger, at once. */
void self_check_all(struct inventory *inventory);

#endif
