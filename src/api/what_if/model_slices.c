/* model_slices: see changes.h. */
#include "api/what_if/changes.h"
#include "dra/devices.h"

#include <string.h>

struct model_slices *model_slices_find(struct model_slices *table, const char *node)
{
    struct model_slices *found = NULL;
    HASH_FIND_STR(table, node, found);
    return found;
}

void model_slices_want(struct model_slices **table, const char *node, struct arena *arena)
{
    struct model_slices *model = model_slices_find(*table, node);
    if (model)
        return;
    model = ARENA_NEW(arena, struct model_slices);
    model->node = node;
    HASH_ADD_KEYPTR(hh, *table, model->node, strlen(model->node), model);
}

static void add(struct edit_slices *slices, const struct slice_facts *facts, struct arena *arena)
{
    slices->items = arena_grow(arena, slices->items, slices->n, &slices->size,
                               sizeof(const struct slice_facts *));
    slices->items[slices->n++] = facts;
    slices->n_devices += facts->n_devices;
}

static void add_if_wanted(struct model_slices *table, const struct devices *devices,
                          const char *last, const char *node, struct arena *arena)
{
    struct model_slices *model = node[0] ? model_slices_find(table, node) : NULL;
    if (!model)
        return;
    struct slice_facts *facts = ARENA_NEW(arena, struct slice_facts);
    (void)devices_next_slice(devices, last, arena, facts);
    add(&model->slices, facts, arena);
}

/* Two arenas by turns: the next slice is found by the name of the last. */
void model_slices_read(struct model_slices *table, const struct cluster *ledger,
                       struct arena *arena)
{
    const struct devices *devices = cluster_devices(ledger);
    struct arena *before = NULL;
    const char *last = NULL;
    const char *name = NULL;
    do {
        struct arena *scratch = arena_new();
        struct slice_facts facts;
        name = devices_next_slice(devices, last, scratch, &facts);
        if (name)
            add_if_wanted(table, devices, last, facts.node_name, arena);
        arena_free(before);
        before = scratch;
        last = name;
    } while (name);
    arena_free(before);
}
