/*
 * binds_care: room that nothing has confirmed for too long is reported and asked about. See
 * binds_priv.h.
 *
 * The ledger lets room go when it sees the pod; a watch that lost an event, or a binding that was
 * undone, would keep it for ever.
 */
#include "base/mem.h"
#include "binds_priv.h"

#include <stdlib.h>
#include <utlist.h>

/* Asked about at once. */
#define CHECKS_MAX 64

/* Room that is held, as it was in the ledger. In the turn's arena. */
struct old_room {
    struct bind_args args;
    uint64_t serial;
    int64_t age_ms;
    struct entry *entry; /* that rests; NULL: none */
    struct old_room *next;
};

static struct old_room *copy(struct turn *turn, const struct reservation *reservation)
{
    struct old_room *room = ARENA_NEW(turn->arena, struct old_room);
    room->args =
        (struct bind_args){.uid = arena_strdup(turn->arena, reservation->uid),
                           .namespace_ = arena_strdup(turn->arena, reservation->namespace_),
                           .name = arena_strdup(turn->arena, reservation->name),
                           .node_name = arena_strdup(turn->arena, reservation->node_name)};
    room->serial = reservation->serial;
    room->age_ms = turn->now_ms - reservation->made_ms;
    return room;
}

/* Those that are old, the oldest first, and that nobody asks about. */
static struct old_room *find_old(struct turn *turn, const struct cluster *cluster)
{
    struct binds *binds = turn->binds;
    struct old_room *rooms = NULL;
    size_t n = 0;
    const struct reservation *reservation = NULL;
    while (n < CHECKS_MAX && (reservation = cluster_next_reservation(cluster, reservation)) &&
           turn->now_ms - reservation->made_ms >= binds->timing.confirm_ms) {
        struct entry *entry = NULL;
        HASH_FIND_STR(binds->entries, reservation->uid, entry);
        if (entry && (!entry->rests || entry->attempt.wake_ms > turn->now_ms))
            continue;
        struct old_room *room = copy(turn, reservation);
        room->entry = entry;
        LL_APPEND(rooms, room);
        n++;
    }
    return rooms;
}

static void forget_what_is_seen(struct binds *binds, const struct cluster *cluster)
{
    struct entry *entry = NULL;
    struct entry *next = NULL;
    HASH_ITER (hh, binds->entries, entry, next) {
        if (entry->rests && !cluster_find_reservation(cluster, entry->uid))
            binds_entry_remove(entry);
    }
}

static void check(struct turn *turn, const struct old_room *room)
{
    struct binds *binds = turn->binds;
    struct entry *entry = room->entry ? room->entry : binds_entry_new(binds, &room->args);
    const char *age = arena_printf(turn->arena, "%lld", (long long)room->age_ms);
    entry->serial = room->serial;
    counter_add(&binds->unconfirmed, 1);
    binds_turn_note(turn, entry, LOG_WARN, "nothing has confirmed the reservation yet: asking",
                    "age_ms", age);
    const struct bind_step step =
        bind_attempt_check(&entry->attempt, &binds->timing, binds_entry_seed(entry), turn->now_ms);
    binds_steps_take(turn, entry, step, NULL);
}

void binds_care(struct turn *turn)
{
    struct binds *binds = turn->binds;
    const struct inventory_view view = inventory_read(binds->inventory);
    forget_what_is_seen(binds, view.cluster);
    const struct old_room *rooms = find_old(turn, view.cluster);
    inventory_done(binds->inventory);
    const struct old_room *room = NULL;
    LL_FOREACH (rooms, room)
        check(turn, room);
}
