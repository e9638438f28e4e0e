/*
 * live_priv: data of an inventory that follows an API server. Private to inventory.
 */
#ifndef INVENTORY_LIVE_LIVE_PRIV_H
#define INVENTORY_LIVE_LIVE_PRIV_H

#include "inventory/inventory_priv.h"
#include "inventory/live/failed_pods.h"
#include "inventory/live/live_feed.h"
#include "inventory/live/live_problems.h"
#include "inventory/live/live_status.h"
#include "inventory/live/self_check.h"
#include "inventory/live/server_version.h"

struct live {
    struct live_problems *problems; /* guarded by the inventory's lock */
    struct live_status status;
    struct live_feed feeds[N_CLUSTER_KINDS];
    struct failed_pods failed_pods;
    struct self_check check;
    struct server_version version;
    atomic_bool was_complete;      /* every kind was listed at least once */
    void (*turned)(void *context); /* called when usability changes; NULL: none */
    void *turned_context;
    void (*pod_seen)(void *context, const char *uid, const char *node); /* NULL: none */
    void *pod_seen_context;
    void (*helped)(void *context, enum cluster_kind kind); /* NULL: none */
    void *helped_context;
};

void live_free(struct live *live);

/* Sets the time of a live ledger, too. It is read under the lock, so none that a reader has read
 * before is later: what the reader saw of counters by time (ledger/gpu_time.h) stays. */
void live_lock_to_write(struct inventory *inventory);

#endif
