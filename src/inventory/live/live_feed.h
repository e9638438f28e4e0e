/*
 * live_feed: turns a reflector's objects into changes of the ledger. Private to inventory.
 *
 * Objects are decoded on arrival, outside the lock, into a bounded batch. The batch is applied
 * under the lock when full and at every flush.
 */
#ifndef INVENTORY_LIVE_LIVE_FEED_H
#define INVENTORY_LIVE_LIVE_FEED_H

#include "base/metrics.h"
#include "inventory/kinds.h"
#include "inventory/live.h"

/* Most objects in a batch. */
#define LIVE_BATCH 64
/* A batch of larger objects ends after so many bytes of facts, as one hold of the lock takes it. */
#define LIVE_BATCH_BYTES ((size_t)256 * 1024)

enum change_type {
    CHANGE_LIST_BEGIN,
    CHANGE_UPSERT,
    CHANGE_UNREADABLE,
    CHANGE_REMOVE,
    CHANGE_LIST_END,
};

struct change {
    enum change_type type;
    struct kind_key key;
    const char *why; /* CHANGE_UNREADABLE, or a CHANGE_UPSERT of the counted part */
    bool is_news;    /* set on applying a change with a reason: log it */
    void *facts;     /* CHANGE_UPSERT: see kinds_read() */
};

struct live_feed {
    struct inventory *inventory;
    enum cluster_kind kind;
    struct arena *arena; /* of the batch */
    struct change changes[LIVE_BATCH];
    size_t n_changes;
    bool listing;  /* between the begin and the end of a list */
    bool left_out; /* an object was dropped for the limit since the last list began */
    bool too_many;
    bool has_changed;          /* an object of the batch that was there before */
    bool list_ended;           /* since the last flush */
    struct counter unreadable; /* times that an object was unreadable */
};

void live_feed_init(struct live_feed *feed, struct inventory *inventory, enum cluster_kind kind);
void live_feed_fini(struct live_feed *feed);
struct reflector_store live_feed_store(struct live_feed *feed);

#endif
