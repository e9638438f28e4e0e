/*
 * live_priv: what an inventory has beside its ledger where it follows an API server. Private to
 * inventory.
 */
#ifndef INVENTORY_LIVE_PRIV_H
#define INVENTORY_LIVE_PRIV_H

#include "inventory_priv.h"
#include "live_feed.h"
#include "live_problems.h"
#include "live_status.h"
#include "refused_pods.h"
#include "self_check.h"

struct live {
    struct live_problems *problems; /* under the inventory's lock */
    struct refused_pods *refused;   /* the same */
    struct live_status status;
    struct live_feed feeds[N_CLUSTER_KINDS];
    struct self_check check;
    atomic_bool was_complete;      /* every kind has been listed */
    void (*turned)(void *context); /* NULL: nobody is told */
    void *turned_context;
};

void live_free(struct live *live);

#endif
