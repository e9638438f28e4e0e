/*
 * snapshot_feed: what a snapshot says of itself as a whole (objects/snapshot.h). Private to
 * inventory.
 */
#ifndef INVENTORY_SNAPSHOT_FEED_H
#define INVENTORY_SNAPSHOT_FEED_H

#include "objects/identity.h"
#include "objects/snapshot.h"
#include "problems.h"

/* Begins as {0}. */
struct snapshot_feed {
    struct arena *arena; /* NULL: the file has said nothing */
    struct snapshot snapshot;
};

bool snapshot_feed_is_its(const struct identity *identity);
/* One that cannot be read, or is not the first, is a problem. */
void snapshot_feed_take(struct snapshot_feed *feed, const json_t *object,
                        struct problems *problems);
/* When all of the file is in the ledger: the problems that there were are there again; and where it
 * was made by the same policy, it is one if the ledger reckons otherwise than the file says. */
void snapshot_feed_end(struct snapshot_feed *feed, struct cluster *cluster,
                       struct problems *problems);

#endif
