/* waits: places and their lock. See include/extender/waits.h. */
#include "extender/waits.h"
#include "base/clock.h"
#include "base/mem.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

struct place {
    waits_look *look; /* NULL: nobody's */
    void *call;
    int64_t until_ms;
};

struct waits {
    void (*wake)(void *context);
    void *context;
    pthread_mutex_t lock; /* of what follows; a place is given back by who ticks only */
    struct place places[WAITS_MAX_CALLS];
    bool stopped;
};

struct waits *waits_new(void (*wake)(void *context), void *context)
{
    struct waits *waits = MEM_NEW(struct waits);
    waits->wake = wake;
    waits->context = context;
    (void)pthread_mutex_init(&waits->lock, NULL);
    return waits;
}

void waits_free(struct waits *waits)
{
    if (!waits)
        return;
    (void)pthread_mutex_destroy(&waits->lock);
    free(waits);
}

/* Under the lock. */
static struct place *find_free(struct waits *waits)
{
    for (size_t i = 0; !waits->stopped && i < WAITS_MAX_CALLS; i++) {
        if (!waits->places[i].look)
            return &waits->places[i];
    }
    return NULL;
}

/* Woken after it has its place: what changed in the ledger before that is looked at, too. */
bool waits_add(struct waits *waits, waits_look *look, void *call, int64_t now_ms)
{
    (void)pthread_mutex_lock(&waits->lock);
    struct place *place = find_free(waits);
    if (place)
        *place = (struct place){look, call, now_ms + WAITS_MAX_MS};
    (void)pthread_mutex_unlock(&waits->lock);
    if (place)
        waits->wake(waits->context);
    return place;
}

static struct place read_place(struct waits *waits, size_t i)
{
    (void)pthread_mutex_lock(&waits->lock);
    const struct place place = waits->places[i];
    (void)pthread_mutex_unlock(&waits->lock);
    return place;
}

static void give_back(struct waits *waits, size_t i)
{
    (void)pthread_mutex_lock(&waits->lock);
    waits->places[i].look = NULL;
    (void)pthread_mutex_unlock(&waits->lock);
}

/* Looked at without the lock, as it may judge all nodes. */
int64_t waits_tick(void *context, int64_t now_ms)
{
    struct waits *waits = context;
    int64_t next_ms = CLOCK_NEVER;
    for (size_t i = 0; i < WAITS_MAX_CALLS; i++) {
        const struct place place = read_place(waits, i);
        if (!place.look)
            continue;
        if (place.look(place.call, now_ms >= place.until_ms))
            give_back(waits, i);
        else if (place.until_ms < next_ms)
            next_ms = place.until_ms;
    }
    return next_ms;
}

void waits_stop(struct waits *waits)
{
    (void)pthread_mutex_lock(&waits->lock);
    waits->stopped = true;
    (void)pthread_mutex_unlock(&waits->lock);
    (void)waits_tick(waits, CLOCK_NEVER);
}
