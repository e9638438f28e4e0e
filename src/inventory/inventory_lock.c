/* inventory_lock: see inventory_lock.h. */
#include "inventory_lock.h"
#include "inventory_priv.h"

#include <stdlib.h>
#include <time.h>

/* Held by this thread. */
static _Thread_local struct {
    enum lock_mode mode;
    uint64_t began_ns;
} hold;

/* Timing a hold takes two calls: about 50 ns together. */
static uint64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* Prefers writers: overlapping readers would otherwise block a reload or fork forever. */
void inventory_lock_init(struct inventory_lock *lock)
{
    pthread_rwlockattr_t attributes;
    if (pthread_rwlockattr_init(&attributes) != 0 ||
        pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP) !=
            0 ||
        pthread_rwlock_init(&lock->lock, &attributes) != 0 ||
        pthread_mutex_init(&lock->writers, NULL) != 0 ||
        pthread_cond_init(&lock->changed, NULL) != 0)
        abort();
    (void)pthread_rwlockattr_destroy(&attributes);
}

void inventory_lock_fini(struct inventory_lock *lock)
{
    (void)pthread_cond_destroy(&lock->changed);
    (void)pthread_mutex_destroy(&lock->writers);
    (void)pthread_rwlock_destroy(&lock->lock);
}

static void begin_hold(enum lock_mode mode)
{
    hold.mode = mode;
    hold.began_ns = now_ns();
}

void inventory_lock_to_read(struct inventory *inventory)
{
    (void)pthread_rwlock_rdlock(&inventory->lock.lock);
    begin_hold(LOCK_TO_READ);
}

void inventory_lock_to_write(struct inventory *inventory)
{
    (void)pthread_mutex_lock(&inventory->lock.writers);
    (void)pthread_rwlock_wrlock(&inventory->lock.lock);
    begin_hold(LOCK_TO_WRITE);
}

void inventory_lock_to_write_when(struct inventory *inventory,
                                  bool (*is_ready)(const struct inventory *))
{
    struct inventory_lock *lock = &inventory->lock;
    (void)pthread_mutex_lock(&lock->writers);
    while (!is_ready(inventory))
        (void)pthread_cond_wait(&lock->changed, &lock->writers);
    (void)pthread_rwlock_wrlock(&lock->lock);
    begin_hold(LOCK_TO_WRITE);
}

void inventory_lock_signal(struct inventory *inventory)
{
    (void)pthread_cond_broadcast(&inventory->lock.changed);
}

static void end_hold(struct inventory_lock *lock)
{
    const uint64_t held_ns = now_ns() - hold.began_ns;
    (void)pthread_rwlock_unlock(&lock->lock);
    histogram_observe_ns(&lock->holds[hold.mode], held_ns);
}

void inventory_lock_to_read_ready(struct inventory *inventory,
                                  bool (*is_ready)(const struct inventory *),
                                  void (*make_ready)(struct inventory *))
{
    inventory_lock_to_read(inventory);
    if (is_ready(inventory))
        return;
    inventory_unlock(inventory);
    (void)pthread_mutex_lock(&inventory->lock.writers);
    if (!is_ready(inventory)) { /* no other thread made it ready */
        (void)pthread_rwlock_wrlock(&inventory->lock.lock);
        begin_hold(LOCK_TO_WRITE);
        make_ready(inventory);
        end_hold(&inventory->lock);
    }
    inventory_lock_to_read(inventory);
    (void)pthread_mutex_unlock(&inventory->lock.writers);
}

void inventory_unlock(struct inventory *inventory)
{
    end_hold(&inventory->lock);
    if (hold.mode == LOCK_TO_WRITE)
        (void)pthread_mutex_unlock(&inventory->lock.writers);
}

void inventory_lock_metrics(const struct inventory_lock *lock, struct buf *out)
{
    static const char NAME[] = "gpu_extender_lock_hold_seconds";
    static const char *const MODES[N_LOCK_MODES] = {"read", "write"};
    metrics_head(out, NAME, "histogram", "Seconds for which the ledger's lock was held, by mode.");
    for (size_t i = 0; i < N_LOCK_MODES; i++) {
        const struct metric_label labels[] = {{"mode", MODES[i]}, {0}};
        metrics_histogram(out, NAME, labels, &lock->holds[i]);
    }
}
