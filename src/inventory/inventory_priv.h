/*
 * inventory_priv: the ledger with its lock, and what is beside it where it is live. Private to
 * inventory.
 */
#ifndef INVENTORY_INVENTORY_PRIV_H
#define INVENTORY_INVENTORY_PRIV_H

#include "inventory/inventory.h"
#include "inventory_lock.h"
#include "problems.h"

struct live;

/* A ledger with all that belongs to it; replaced as a whole. */
struct state {
    struct cluster *cluster;
    struct problems *problems; /* of the file */
    int64_t as_of_s;           /* of the file */
    char *source;
};

struct inventory {
    const struct policy *policy;
    struct inventory_limits limits;
    struct inventory_lock lock; /* guards state, and live's problems and refused pods */
    struct state state;
    bool loaded;
    struct live *live; /* NULL: it is fed from a file. Set once, before any thread asks. */
};

#endif
