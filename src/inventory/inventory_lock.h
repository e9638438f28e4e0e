/*
 * inventory_lock: the one lock of the ledger, and how long it is held. Private to inventory.
 *
 * A thread holds the lock of one inventory at a time, in one mode.
 */
#ifndef INVENTORY_INVENTORY_LOCK_H
#define INVENTORY_INVENTORY_LOCK_H

#include "base/metrics.h"

#include <pthread.h>
#include <stdbool.h>

enum lock_mode { LOCK_TO_READ, LOCK_TO_WRITE, N_LOCK_MODES };

struct inventory_lock {
    pthread_mutex_t writers; /* taken before the lock by those who write, and kept as long */
    pthread_rwlock_t lock;
    struct histogram holds[N_LOCK_MODES]; /* from having got the lock to giving it back */
};

struct inventory;

void inventory_lock_init(struct inventory_lock *lock);
void inventory_lock_fini(struct inventory_lock *lock);
void inventory_lock_metrics(const struct inventory_lock *lock, struct buf *out);

void inventory_lock_to_read(struct inventory *inventory);
void inventory_lock_to_write(struct inventory *inventory);
/* To read what is_ready() accepts. If it does not, make_ready() is called first, under the lock to
 * write; no other writer comes between that and the reading. is_ready() is called with writers kept
 * out. Of many callers at once, one makes it ready, and then all read side by side. */
void inventory_lock_to_read_ready(struct inventory *inventory,
                                  bool (*is_ready)(const struct inventory *),
                                  void (*make_ready)(struct inventory *));
void inventory_unlock(struct inventory *inventory);

#endif
