/*
 * failed_pods: pods in phase Failed, which tell which nodes are sick. Private to inventory.
 *
 * The pods of the ledger are watched without finished ones, so a rejected pod is seen there as
 * deleted, without the kubelet's reason. A watch of its own has the reasons. Nothing of the pods is
 * kept but what sick_nodes counts.
 */
#ifndef INVENTORY_LIVE_FAILED_PODS_H
#define INVENTORY_LIVE_FAILED_PODS_H

#include "base/arena.h"
#include "types/facts.h"

#include <stdbool.h>

struct inventory;

/* Most pods in a batch. */
#define FAILED_PODS_BATCH 64

struct failed_pods {
    struct inventory *inventory;
    struct arena *arena; /* of the batch */
    struct failed_pod_facts items[FAILED_PODS_BATCH];
    size_t n;
    int64_t due_ms;    /* of the next change by time alone */
    uint64_t n_lifted; /* as last seen */
};

void failed_pods_init(struct failed_pods *failed, struct inventory *inventory);
void failed_pods_fini(struct failed_pods *failed);

/* Under the write lock, after changes: lets time pass. Returns whether a node is not avoided any
 * more; then call the second function without the lock. */
bool failed_pods_settle(struct inventory *inventory);
void failed_pods_report_lift(struct inventory *inventory);

#endif
