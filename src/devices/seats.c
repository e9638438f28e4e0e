/*
 * seats: a pool as one node sees it (types/pool_slices.h). The slices that concern the node are
 * those with its devices, and those with counter sets.
 */
#include "base/mem.h"
#include "devices_priv.h"

#include <stdlib.h>

struct seat *seats_ref(struct devices *devices, struct pool *pool, const char *node_name)
{
    struct device_place *place = places_ref(devices, node_name);
    const struct pair key = {pool, place};
    struct seat *seat = NULL;
    HASH_FIND(hh, devices->seats, &key, sizeof key, seat);
    if (seat) {
        places_unref(devices, place);
    } else {
        seat = MEM_NEW(struct seat);
        seat->key = key;
        seat->pool = pool;
        seat->place = place;
        pool->refs++;
        HASH_ADD(hh, devices->seats, key, sizeof seat->key, seat);
        DL_APPEND(pool->seats, seat);
        DL_APPEND2(place->seats, seat, prev_here, next_here);
    }
    seat->refs++;
    return seat;
}

void seats_unref(struct devices *devices, struct seat *seat)
{
    if (--seat->refs > 0)
        return;
    HASH_DEL(devices->seats, seat);
    DL_DELETE(seat->pool->seats, seat);
    DL_DELETE2(seat->place->seats, seat, prev_here, next_here);
    pools_unref(devices, seat->pool);
    places_unref(devices, seat->place);
    free(seat);
}

void seats_mark(struct devices *devices, struct seat *seat)
{
    if (seat->is_dirty)
        return;
    seat->is_dirty = true;
    seat->refs++;
    LL_PREPEND2(devices->dirty_seats, seat, next_dirty);
}

void seats_add(struct devices *devices, struct berth *berth)
{
    struct seat *seat = berth->seat;
    DL_APPEND(seat->berths, berth);
    berth->is_fresh = true;
    LL_PREPEND2(seat->fresh, berth, next_fresh);
    seats_mark(devices, seat);
}

void seats_remove(struct devices *devices, struct berth *berth)
{
    struct seat *seat = berth->seat;
    DL_DELETE(seat->berths, berth);
    if (berth->is_fresh)
        LL_DELETE2(seat->fresh, berth, next_fresh);
    seats_mark(devices, seat);
}

/* The slices that concern the node. */
static struct pool_slices slices_of(const struct seat *seat)
{
    const struct pool_slices *sets = &seat->pool->view.with_sets;
    struct pool_slices here = *sets;
    const struct berth *berth = NULL;
    DL_FOREACH (seat->berths, berth) {
        if (berth->slice->n_publications == 0)
            pool_slices_add(&here, berth->slice->generation, berth->slice->n_slices);
    }
    return here;
}

static bool sees_sets(const struct seat *seat)
{
    const struct pool_slices *sets = &seat->pool->view.with_sets;
    return sets->n > 0 && sets->generation == seat->generation;
}

static void relink_device(struct devices *devices, struct device *device)
{
    const struct seat *seat = device->seat;
    const bool is_current = seat->has_generation && device->slice->generation == seat->generation;
    const bool was_current = device->is_current;
    if (is_current && !was_current)
        gpus_link(devices, device);
    else if (!is_current && was_current)
        gpus_unlink(devices, device);
    for (size_t i = 0; i < device->n_consumptions; i++)
        counters_consume(devices, &device->consumptions[i], is_current && seat->sees_sets);
    if (is_current)
        gpus_regroup(devices, device);
}

typedef void device_function(struct devices *devices, struct device *device);

/* Calls act for the devices of the seat in the slice. */
static void for_devices(struct devices *devices, const struct berth *berth, device_function *act)
{
    for (size_t i = 0; i < berth->slice->n_devices; i++) {
        if (berth->slice->devices[i].seat == berth->seat)
            act(devices, &berth->slice->devices[i]);
    }
}

static void freshen_all(struct seat *seat)
{
    struct berth *berth = NULL;
    DL_FOREACH (seat->berths, berth) {
        if (berth->is_fresh)
            continue;
        berth->is_fresh = true;
        LL_PREPEND2(seat->fresh, berth, next_fresh);
    }
}

void seats_relink(struct devices *devices)
{
    struct seat *seat = NULL;
    const struct berth *berth = NULL;
    LL_FOREACH2(devices->dirty_seats, seat, next_dirty)
    {
        const struct pool_slices slices = slices_of(seat);
        const struct pool_slices *all = &seat->pool->view.all;
        const enum pool_slices_state state = pool_slices_state(&slices, all);
        const bool saw_sets = seat->sees_sets;
        const bool has_generation =
            state == POOL_SLICES_COMPLETE ||
            (state != POOL_SLICES_NONE && slices.generation == all->generation);
        const bool is_same =
            has_generation == seat->has_generation && slices.generation == seat->generation;
        seat->has_generation = has_generation;
        seat->generation = slices.generation;
        seat->is_complete = state == POOL_SLICES_COMPLETE;
        seat->sees_sets = sees_sets(seat);
        if (!is_same || saw_sets != seat->sees_sets)
            freshen_all(seat);
        LL_FOREACH2(seat->fresh, berth, next_fresh)
        {
            for_devices(devices, berth, relink_device);
        }
    }
}

static const char *fault_of(const struct seat *seat)
{
    const struct pool *pool = seat->pool;
    if (pool->view.is_unreadable)
        return "a slice cannot be read";
    if (seat->n_repeated > 0)
        return "devices share a name";
    if ((seat->n_consumers > 0 && !seat->sees_sets) || (seat->sees_sets && pool->n_faults > 0))
        return "a counter set is missing or repeated, or lacks a counter";
    return NULL;
}

static enum seat_state state_of(const struct seat *seat)
{
    if (seat->has_generation && !seat->is_complete)
        return SEAT_INCOMPLETE;
    return fault_of(seat) ? SEAT_INVALID : SEAT_USABLE;
}

static void refresh_device(struct devices *devices, struct device *device)
{
    if (device->is_current)
        gpus_refresh(devices, device);
}

static void judge(struct devices *devices, struct seat *seat)
{
    const enum seat_state state = state_of(seat);
    /* For devices with counters, other sets of the pool may decide. */
    if (state != seat->state || seat->n_consumers > 0)
        freshen_all(seat);
    seat->state = state;
    while (seat->fresh) {
        struct berth *berth = seat->fresh;
        LL_DELETE2(seat->fresh, berth, next_fresh);
        berth->is_fresh = false;
        for_devices(devices, berth, refresh_device);
    }
}

void seats_judge(struct devices *devices)
{
    while (devices->dirty_seats) {
        struct seat *seat = devices->dirty_seats;
        LL_DELETE2(devices->dirty_seats, seat, next_dirty);
        seat->is_dirty = false;
        judge(devices, seat);
        seats_unref(devices, seat);
    }
}

bool devices_next_unusable(const struct devices *devices, struct device_pool *pool)
{
    const struct seat *seat = pool->seat ? pool->seat->hh.next : devices->seats;
    while (seat && (!seat->has_generation || seat->state == SEAT_USABLE))
        seat = seat->hh.next;
    *pool = (struct device_pool){.seat = seat};
    if (!seat)
        return false;
    pool->driver = seat->pool->key.first;
    pool->pool = seat->pool->key.second;
    pool->node_name = seat->place->name;
    pool->generation = seat->generation;
    pool->n_there = seat->pool->view.all.n;
    pool->n_slices = seat->pool->view.all.n_slices;
    pool->why = seat->state == SEAT_INCOMPLETE ? "slices are missing" : fault_of(seat);
    return true;
}
