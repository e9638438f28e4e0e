/* places: the nodes, and how many GPUs and partitions of each kind they have in which state. */
#include "base/mem.h"
#include "devices_priv.h"

#include <stdlib.h>
#include <string.h>

static void places_unpublish(struct devices *devices, struct published *published)
{
    for (size_t i = 0; i < published->n_models; i++)
        models_unref(devices, models_of(&published->models[i]));
    free(published->groups);
    free(published->models);
    *published = (struct published){0};
}

struct device_place *places_ref(struct devices *devices, const char *name)
{
    struct device_place *place = NULL;
    HASH_FIND_STR(devices->places, name, place);
    if (!place) {
        place = MEM_NEW_WITH_TEXT(struct device_place, name, name);
        place->alike = PLACES_ALIKE_EMPTY;
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

/* The numbers that others see of a node. */

/* Rows of one model differ in the memory. */
static bool is_same_model(const struct device_row *a, const struct device_row *b)
{
    return a->driver == b->driver && a->is_partition == b->is_partition &&
           strcmp(a->kind->name, b->kind->name) == 0;
}

static struct published with_room(const struct device_place *place)
{
    struct published published = {0};
    const struct device_row *before = NULL;
    const struct device_row *row = NULL;
    LL_FOREACH (place->rows, row) {
        published.n_groups += !before || before->driver != row->driver;
        published.n_models += !before || !is_same_model(before, row);
        before = row;
    }
    published.groups = MEM_ARRAY(struct device_group, published.n_groups);
    published.models = MEM_ARRAY(struct device_model, published.n_models);
    return published;
}

static void add_to_group(struct device_group *group, const struct device_row *row)
{
    if (row->is_partition)
        return;
    group->total += row->n_all;
    group->allocated += row->n[DEVICE_ALLOCATED];
    group->free += row->n[DEVICE_FREE];
    group->tainted += row->n[DEVICE_TAINTED];
    group->blocked += row->n[DEVICE_BLOCKED];
    group->incomplete += row->n[DEVICE_INCOMPLETE];
    group->invalid += row->n[DEVICE_INVALID];
    group->partitioned += row->n[DEVICE_PARTITIONED];
}

static void add_to_model(struct device_model *model, const struct device_row *row)
{
    model->total += row->n_all;
    model->allocated += row->n[DEVICE_ALLOCATED];
    model->free += row->n[DEVICE_FREE];
}

static struct device_model model_of(const struct device_row *row)
{
    row->kind->refs++; /* until places_unpublish() */
    return (struct device_model){.name = row->kind->name,
                                 .model = &row->kind->model,
                                 .memory_bytes = row->kind->key.memory_bytes,
                                 .is_partition = row->is_partition};
}

static struct published publish(const struct device_place *place)
{
    struct published published = with_room(place);
    struct device_group *group = NULL;
    struct device_model *model = NULL;
    const struct device_row *before = NULL;
    const struct device_row *row = NULL;
    LL_FOREACH (place->rows, row) {
        const bool is_first = !before || before->driver != row->driver;
        if (is_first || !is_same_model(before, row))
            *(model = model ? model + 1 : published.models) = model_of(row);
        if (is_first)
            *(group = group ? group + 1 : published.groups) =
                (struct device_group){.driver = row->driver->name, .models = model};
        group->n_models = (size_t)(model - group->models) + 1;
        add_to_group(group, row);
        add_to_model(model, row);
        before = row;
    }
    return published;
}

static bool same_model(const struct device_model *a, const struct device_model *b)
{
    return strcmp(a->name, b->name) == 0 && a->memory_bytes == b->memory_bytes &&
           a->is_partition == b->is_partition && a->total == b->total &&
           a->allocated == b->allocated && a->free == b->free;
}

static bool same_group(const struct device_group *a, const struct device_group *b)
{
    return strcmp(a->driver, b->driver) == 0 && a->total == b->total &&
           a->allocated == b->allocated && a->free == b->free && a->tainted == b->tainted &&
           a->blocked == b->blocked && a->incomplete == b->incomplete && a->invalid == b->invalid &&
           a->partitioned == b->partitioned && a->n_models == b->n_models;
}

bool places_equal(const struct published *a, const struct published *b)
{
    if (a->n_groups != b->n_groups || a->n_models != b->n_models)
        return false;
    for (size_t i = 0; i < a->n_groups; i++) {
        if (!same_group(&a->groups[i], &b->groups[i]))
            return false;
    }
    for (size_t i = 0; i < a->n_models; i++) {
        if (!same_model(&a->models[i], &b->models[i]))
            return false;
    }
    return true;
}

bool places_is_published(struct devices *devices, const struct device_place *place)
{
    struct published published = publish(place);
    const bool is_same = places_equal(&published, &place->published);
    places_unpublish(devices, &published);
    return place->is_queued || is_same;
}

bool places_publish(struct devices *devices, struct device_place *place)
{
    struct published published = publish(place);
    const bool is_same = places_equal(&published, &place->published);
    places_unpublish(devices, &place->published);
    place->published = published;
    place->alike = places_alike(place);
    return !is_same;
}
