/* places_publish: the numbers that others see of a node. */
#include "base/mem.h"
#include "devices_priv.h"

#include <stdlib.h>
#include <string.h>

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

void places_unpublish(struct devices *devices, struct published *published)
{
    for (size_t i = 0; i < published->n_models; i++)
        models_unref(devices, models_of(&published->models[i]));
    free(published->groups);
    free(published->models);
    *published = (struct published){0};
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
    return !is_same;
}
