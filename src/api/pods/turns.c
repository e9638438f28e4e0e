/* turns: see turns.h. */
#include "api/pods/turns.h"
#include "api/what_if/placing.h"
#include "base/table.h"

#include <string.h>

struct entry {
    const char *key; /* the pod's UID, or the node's name */
    struct turn turn;
    UT_hash_handle hh;
};

struct turns {
    struct entry *by_pod, *by_node;
};

static struct entry *find(struct entry *table, const char *key)
{
    struct entry *entry = NULL;
    HASH_FIND_STR(table, key, entry);
    return entry;
}

static void add(struct entry **table, const char *key, const struct turn *turn, struct arena *arena)
{
    struct entry *entry = ARENA_NEW(arena, struct entry);
    entry->key = key;
    entry->turn = *turn;
    HASH_ADD_KEYPTR(hh, *table, entry->key, strlen(entry->key), entry);
}

static void add_pod(struct turns *turns, const struct placed_pod *placed, struct arena *arena)
{
    const struct pod *pod = &placed->copy->pod;
    const char *node = placed->node ? arena_strdup(arena, placed->node) : NULL;
    const struct turn turn = {node, arena_printf(arena, "%s/%s", pod->namespace_, pod->name)};
    add(&turns->by_pod, arena_strdup(arena, pod->uid), &turn, arena);
    if (node && !find(turns->by_node, node))
        add(&turns->by_node, node, &turn, arena);
}

struct turns *turns_of(struct inventory *inventory, size_t n_verdicts, struct arena *arena)
{
    struct arena *working CLEANUP(arena_free_ptr) = arena_new();
    struct turns *turns = ARENA_NEW(arena, struct turns);
    struct placing placing = placing_within(inventory, n_verdicts, working);
    for (size_t i = 0; i < placing.n; i++) {
        if (placing.items[i].is_tried && !find(turns->by_pod, placing.items[i].copy->pod.uid))
            add_pod(turns, &placing.items[i], arena);
    }
    pod_copy_fini(&placing.copies);
    return turns;
}

const struct turn *turns_find(const struct turns *turns, const char *uid)
{
    const struct entry *entry = find(turns->by_pod, uid);
    return entry ? &entry->turn : NULL;
}

const struct turn *turns_first_on(const struct turns *turns, const char *node)
{
    const struct entry *entry = find(turns->by_node, node);
    return entry ? &entry->turn : NULL;
}

void turns_free(struct turns *turns)
{
    HASH_CLEAR(hh, turns->by_pod);
    HASH_CLEAR(hh, turns->by_node);
}
