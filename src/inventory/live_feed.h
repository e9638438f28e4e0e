/*
 * live_feed: from a reflector's objects to changes of the ledger. Private to inventory.
 *
 * Objects are decoded as they come, outside the lock, into a batch that has an end; the batch is
 * put into the ledger under the lock when it is full, and at every flush.
 */
#ifndef INVENTORY_LIVE_FEED_H
#define INVENTORY_LIVE_FEED_H

#include "base/metrics.h"
#include "inventory/live.h"
#include "kinds.h"

/* So many objects at the most are decoded before they are put into the ledger. */
#define LIVE_BATCH 64

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
    const char *why;        /* CHANGE_UNREADABLE */
    bool is_news;           /* of that, once it is in: it should be told */
    union kind_facts facts; /* CHANGE_UPSERT */
    const char *refused_by; /* CHANGE_REMOVE, of a pod: pod_refused_by() */
};

struct live_feed {
    struct inventory *inventory;
    enum cluster_kind kind;
    struct arena *arena; /* of the batch */
    struct change changes[LIVE_BATCH];
    size_t n_changes;
    bool listing;  /* a list has begun that has not ended */
    bool left_out; /* something was not taken, for being too many, since a list began */
    bool too_many;
    bool list_ended;           /* since the last flush */
    struct counter unreadable; /* times that an object could not be read */
};

void live_feed_init(struct live_feed *feed, struct inventory *inventory, enum cluster_kind kind);
void live_feed_fini(struct live_feed *feed);
struct reflector_store live_feed_store(struct live_feed *feed);

#endif
