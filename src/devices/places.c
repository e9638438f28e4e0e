/* places: the nodes, and how many GPUs and partitions of each kind they have in which state. */
#include "base/mem.h"
#include "devices_priv.h"

#include <stdlib.h>
#include <string.h>

struct device_place *places_ref(struct devices *devices, const char *name)
{
    struct device_place *place = NULL;
    HASH_FIND_STR(devices->places, name, place);
    if (!place) {
        place = MEM_NEW_WITH_TEXT(struct device_place, name, name);
        HASH_ADD_STR(devices->places, name, place);
    }
    place->refs++;
    return place;
}

void places_unref(struct devices *devices, struct device_place *place)
{
    if (--place->refs > 0)
        return;
    if (devices->checked_to == place)
        devices->checked_to = place->hh.next;
    HASH_DEL(devices->places, place);
    places_unpublish(devices, &place->published);
    free(place);
}

void places_queue(struct devices *devices, struct device_place *place)
{
    if (place->is_queued)
        return;
    place->is_queued = true;
    place->refs++;
    place->next_queued = NULL;
    if (devices->queue)
        devices->queue_end->next_queued = place;
    else
        devices->queue = place;
    devices->queue_end = place;
}

/* The order of publishing. */
static int compare(const struct device_row *a, const struct device_row *b)
{
    if (a->driver != b->driver)
        return strcmp(a->driver->name, b->driver->name);
    if (a->is_partition != b->is_partition)
        return a->is_partition ? 1 : -1;
    const int order = strcmp(a->kind->name, b->kind->name);
    if (order != 0)
        return order;
    if (a->kind->key.memory_bytes != b->kind->key.memory_bytes)
        return a->kind->key.memory_bytes < b->kind->key.memory_bytes ? -1 : 1;
    return strcmp(a->kind->key.text, b->kind->key.text);
}

static struct device_row *find_or_add(struct device_place *place, const struct device_row *wanted)
{
    struct device_row **at = &place->rows;
    while (*at && compare(*at, wanted) < 0)
        at = &(*at)->next;
    if (*at && (*at)->kind == wanted->kind && compare(*at, wanted) == 0)
        return *at;
    struct device_row *row = MEM_NEW(struct device_row);
    *row = *wanted;
    row->kind->refs++;
    row->next = *at;
    *at = row;
    return row;
}

static void count(struct devices *devices, struct device_row *row, enum device_state state,
                  int64_t n)
{
    row->n[state] += n;
    row->n_all += n;
    places_queue(devices, row->place);
}

static void release(struct devices *devices, struct device_row *row)
{
    struct device_place *place = row->place;
    if (row->n_all > 0)
        return;
    LL_DELETE(place->rows, row);
    models_unref(devices, row->kind);
    free(row);
}

void places_count(struct devices *devices, struct counted *counted,
                  const struct node_pool *node_pool, struct device_kind *kind,
                  enum device_state state)
{
    const struct counted before = *counted;
    if (before.row && before.row->kind == kind && before.state == state)
        return;
    *counted = (struct counted){.state = state};
    if (kind) {
        const struct device_row wanted = {.place = node_pool->place,
                                          .driver = node_pool->pool->driver,
                                          .kind = kind,
                                          .is_partition = kind->key.profile[0] != '\0'};
        counted->row = find_or_add(node_pool->place, &wanted);
        count(devices, counted->row, state, 1);
    }
    if (before.row) {
        count(devices, before.row, before.state, -1);
        release(devices, before.row);
    }
}
