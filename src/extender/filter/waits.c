/* waits: the place of the waiting call, its lock and budget. See include/extender/waits.h. */
#include "extender/waits.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/mutex.h"

#include <stddef.h>
#include <stdlib.h>

#define N_PAST (WAITS_TOTAL_MS / WAITS_LEAST_MS)

struct waiting_call {
    waits_look *look; /* NULL: no call waits */
    void *call;
    int64_t since_ms, until_ms;
};

/* A wait that has ended. */
struct past {
    int64_t ended_ms, cost_ms;
};

struct waits {
    void (*wake)(void *context);
    void *context;
    struct mutex lock; /* of the members below; only the ticking thread frees the place */
    struct waiting_call place;
    struct past past[N_PAST]; /* a ring: the budget of a window allows no more */
    size_t n_past;            /* in total */
    bool stopped;
};

struct waits *waits_new(void (*wake)(void *context), void *context)
{
    struct waits *waits = MEM_NEW(struct waits);
    waits->wake = wake;
    waits->context = context;
    mutex_init(&waits->lock);
    return waits;
}

void waits_free(struct waits *waits)
{
    if (!waits)
        return;
    mutex_fini(&waits->lock);
    free(waits);
}

/* Every wait that ended within WAITS_WINDOW_MS before now_ms shares a window with now_ms, so it
 * counts. */
static int64_t budget_left_ms(const struct waits *waits, int64_t now_ms) REQUIRES(waits->lock)
{
    int64_t left_ms = WAITS_TOTAL_MS;
    for (size_t i = 0; i < N_PAST && i < waits->n_past; i++) {
        if (waits->past[i].ended_ms > now_ms - WAITS_WINDOW_MS)
            left_ms -= waits->past[i].cost_ms;
    }
    return left_ms;
}

static bool has_time(const struct waits *waits, int64_t now_ms) REQUIRES(waits->lock)
{
    return !waits->stopped && !waits->place.look && budget_left_ms(waits, now_ms) >= WAITS_LEAST_MS;
}

bool waits_have_time(struct waits *waits, int64_t now_ms)
{
    if (!waits)
        return false;
    mutex_lock(&waits->lock);
    const bool has = has_time(waits, now_ms);
    mutex_unlock(&waits->lock);
    return has;
}

/* Wakes the thread after taking the place, so earlier changes of the ledger are examined too. */
bool waits_add(struct waits *waits, waits_look *look, void *call, int64_t now_ms)
{
    mutex_lock(&waits->lock);
    const bool may = has_time(waits, now_ms);
    if (may)
        waits->place =
            (struct waiting_call){look, call, now_ms, now_ms + budget_left_ms(waits, now_ms)};
    mutex_unlock(&waits->lock);
    if (may)
        waits->wake(waits->context);
    return may;
}

static struct waiting_call read_place(struct waits *waits)
{
    mutex_lock(&waits->lock);
    const struct waiting_call place = waits->place;
    mutex_unlock(&waits->lock);
    return place;
}

static void end_wait(struct waits *waits, int64_t now_ms)
{
    mutex_lock(&waits->lock);
    const int64_t took_ms = now_ms - waits->place.since_ms;
    const int64_t cost_ms = took_ms > WAITS_LEAST_MS ? took_ms : WAITS_LEAST_MS;
    waits->past[waits->n_past++ % N_PAST] = (struct past){now_ms, cost_ms};
    waits->place.look = NULL;
    mutex_unlock(&waits->lock);
}

/* Calls look() without the lock, because it may judge all nodes. */
int64_t waits_tick(void *context, int64_t now_ms)
{
    struct waits *waits = context;
    const struct waiting_call place = read_place(waits);
    if (!place.look)
        return CLOCK_NEVER;
    if (!place.look(place.call, now_ms >= place.until_ms))
        return place.until_ms;
    end_wait(waits, now_ms);
    return CLOCK_NEVER;
}

void waits_stop(struct waits *waits)
{
    mutex_lock(&waits->lock);
    waits->stopped = true;
    mutex_unlock(&waits->lock);
    (void)waits_tick(waits, CLOCK_NEVER);
}
