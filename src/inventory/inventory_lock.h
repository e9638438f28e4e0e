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
    pthread_mutex_t writers; /* a writer locks it before `lock`, and unlocks it after `lock` */
    pthread_cond_t changed;  /* used with `writers`: see inventory_lock_signal() */
    pthread_rwlock_t lock;
    struct histogram holds[N_LOCK_MODES]; /* from lock to unlock */
};

struct inventory;

void inventory_lock_init(struct inventory_lock *lock);
void inventory_lock_fini(struct inventory_lock *lock);
void inventory_lock_metrics(const struct inventory_lock *lock, struct buf *out);

void inventory_lock_to_read(struct inventory *inventory);
void inventory_lock_to_write(struct inventory *inventory);
/* Returns with the read lock held, over a state that is_ready() accepts. If is_ready() rejects the
 * state, make_ready() changes it under the write lock; no other writer runs between make_ready()
 * and the read lock. No writer runs during is_ready(). Of many simultaneous callers one calls
 * make_ready(), then all read in parallel. */
void inventory_lock_to_read_ready(struct inventory *inventory,
                                  bool (*is_ready)(const struct inventory *),
                                  void (*make_ready)(struct inventory *));
/* Waits until is_ready() accepts the state, and returns with the write lock held. No other writer
 * runs during is_ready(). A writer that may have changed the result of is_ready() calls
 * inventory_lock_signal() before it unlocks. */
void inventory_lock_to_write_when(struct inventory *inventory,
                                  bool (*is_ready)(const struct inventory *));
void inventory_lock_signal(struct inventory *inventory);
void inventory_unlock(struct inventory *inventory);

#endif
