/*
 * snapshot_feed: the header object of a snapshot (objects/snapshot.h). Private to inventory.
 */
#ifndef INVENTORY_SNAPSHOT_FEED_H
#define INVENTORY_SNAPSHOT_FEED_H

#include "inventory_priv.h"
#include "objects/identity.h"
#include "objects/snapshot.h"

#include <stdbool.h>
#include <stddef.h>

/* Initialize with {0}. */
struct snapshot_feed {
    struct arena *arena; /* NULL: the file has no such object */
    struct snapshot snapshot;
};

bool snapshot_feed_is_its(const struct identity *identity);
/* An object that is unreadable or not the first becomes a problem. */
void snapshot_feed_take(struct snapshot_feed *feed, const json_t *object,
                        struct problems *problems);
/* Call when the whole file is in the ledger. Restores the snapshot's problems. If the snapshot was
 * made under the same policy but the ledger computes other results, that is a problem too. */
void snapshot_feed_end(struct snapshot_feed *feed, struct cluster *cluster,
                       struct problems *problems);

/* ---- finds objects that a file contains twice ---- */

struct seen;

struct seen *seen_new(void);
void seen_free(struct seen *seen);

/* Notes the object. `key` must be unique ("Pod default/web", "uid 12-34"); `id` is its key in the
 * ledger. Returns how often the key came before. *ret_first_id is the id of its first use,
 * borrowed. */
size_t seen_note(struct seen *seen, const char *key, const char *id, const char **ret_first_id);

#endif
