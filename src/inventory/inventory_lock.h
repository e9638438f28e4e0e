/*
 * inventory_lock: the one lock of the ledger, and histograms of its hold times. Private to
 * inventory.
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
    pthread_mutex_t writers; /* writers take it before the lock and keep it as long */
    pthread_cond_t changed;  /* of writers: see inventory_lock_signal() */
    pthread_rwlock_t lock;
    struct histogram holds[N_LOCK_MODES]; /* from lock to unlock */
};

struct inventory;

void inventory_lock_init(struct inventory_lock *lock);
void inventory_lock_fini(struct inventory_lock *lock);
void inventory_lock_metrics(const struct inventory_lock *lock, struct buf *out);

void inventory_lock_to_read(struct inventory *inventory);
void inventory_lock_to_write(struct inventory *inventory);
/* Locks for reading a state that is_ready() accepts. If it does not, make_ready() runs first, under
 * the write lock. No other writer comes between that and the read lock. is_ready() runs with
 * writers excluded. Of many simultaneous callers one makes it ready, then all read in parallel. */
void inventory_lock_to_read_ready(struct inventory *inventory,
                                  bool (*is_ready)(const struct inventory *),
                                  void (*make_ready)(struct inventory *));
/* Locks for writing once is_ready() accepts the state. It runs with writers excluded; a writer who
 * may have changed its result calls inventory_lock_signal() before it unlocks. */
void inventory_lock_to_write_when(struct inventory *inventory,
                                  bool (*is_ready)(const struct inventory *));
void inventory_lock_signal(struct inventory *inventory);
void inventory_unlock(struct inventory *inventory);

#endif
