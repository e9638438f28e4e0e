/* slices: what the ledger keeps of a ResourceSlice. */
#include "base/mem.h"
#include "devices_priv.h"

#include <stdlib.h>
#include <string.h>

static size_t n_consumptions_of(const struct slice_facts *facts)
{
    size_t n = 0;
    for (size_t i = 0; i < facts->n_devices; i++)
        n += facts->devices[i].n_consumes;
    return n;
}

static size_t n_counters_of(const struct counter_set *sets, size_t n_sets)
{
    size_t n = 0;
    for (size_t i = 0; i < n_sets; i++)
        n += sets[i].n_counters;
    return n;
}

static void allocate(struct kept_slice *slice, const struct slice_facts *facts)
{
    const size_t n_published = n_counters_of(facts->counter_sets, facts->n_counter_sets);
    size_t n_counters = n_published;
    for (size_t i = 0; i < facts->n_devices; i++)
        n_counters += n_counters_of(facts->devices[i].consumes, facts->devices[i].n_consumes);
    slice->n_devices = facts->n_devices;
    slice->n_publications = facts->n_counter_sets;
    slice->devices = MEM_ARRAY(struct device, facts->n_devices);
    slice->consumptions = MEM_ARRAY(struct consumption, n_consumptions_of(facts));
    slice->publications = MEM_ARRAY(struct publication, facts->n_counter_sets);
    slice->counters = MEM_ARRAY(struct counter_part, n_counters);
    slice->left = MEM_ARRAY(int64_t, n_published);
    slice->node_slices = MEM_ARRAY(struct node_slice, slice->per_device ? facts->n_devices : 1);
}

static const char *intern_some(struct devices *devices, const char *text)
{
    return text ? string_table_intern(&devices->strings, text) : NULL;
}

static void unref_some(struct devices *devices, const char *text)
{
    if (text)
        string_table_unref(&devices->strings, text);
}

static int compare_names(const void *a, const void *b)
{
    const struct counter_part *left = a;
    const struct counter_part *right = b;
    return ((uintptr_t)left->name > (uintptr_t)right->name) -
           ((uintptr_t)left->name < (uintptr_t)right->name);
}

/* Sorted by pointer, so that sets and what devices consume of them can be merged. */
static struct counter_part *copy_counters(struct devices *devices, struct kept_slice *slice,
                                          const struct counter_set *set)
{
    struct counter_part *counters = &slice->counters[slice->n_counters];
    for (size_t i = 0; i < set->n_counters; i++) {
        counters[i].name = string_table_intern(&devices->strings, set->counters[i].name);
        counters[i].amount = set->counters[i].amount > 0 ? set->counters[i].amount : 0;
    }
    qsort(counters, set->n_counters, sizeof *counters, compare_names);
    slice->n_counters += set->n_counters;
    return counters;
}

static void copy_publications(struct devices *devices, struct kept_slice *slice,
                              const struct slice_facts *facts)
{
    int64_t *left = slice->left;
    for (size_t i = 0; i < facts->n_counter_sets; i++) {
        const struct counter_set *set = &facts->counter_sets[i];
        struct publication *publication = &slice->publications[i];
        publication->set = counters_ref(devices, slice->pool, set->name);
        publication->counters = copy_counters(devices, slice, set);
        publication->n = set->n_counters;
        publication->left = left;
        left += set->n_counters;
    }
}

/* Takes over the reference to the pool on the node. */
static void add_node_slice(struct devices *devices, struct kept_slice *slice,
                           struct node_pool *node_pool)
{
    for (size_t i = 0; i < slice->n_node_slices; i++) {
        if (slice->node_slices[i].node_pool == node_pool) {
            node_pools_unref(devices, node_pool);
            return;
        }
    }
    slice->node_slices[slice->n_node_slices++] =
        (struct node_slice){.slice = slice, .node_pool = node_pool};
}

static void copy_device(struct devices *devices, struct kept_slice *slice, struct device *device,
                        const struct device_facts *facts)
{
    device->slice = slice;
    device->named = pools_ref_name(devices, slice->pool, facts->name);
    device->node_pool = node_pools_ref(devices, slice->pool,
                                       slice->per_device ? facts->node_name : slice->node_name);
    add_node_slice(devices, slice, device->node_pool);
    device->kind = models_ref(devices, facts->model, facts->profile, facts->memory_bytes);
    device->physical = string_table_intern(&devices->strings, facts->physical);
    attributes_keep(devices, device, facts);
    device->details = intern_some(devices, facts->details);
    device->is_tainted = facts->is_tainted;
    device->not_judged = facts->not_judged;
    device->n_consumptions = (uint32_t)facts->n_consumes;
    for (size_t i = 0; i < facts->n_consumes; i++) {
        struct consumption *consumption = &device->consumptions[i];
        consumption->device = device;
        consumption->set = counters_ref(devices, slice->pool, facts->consumes[i].name);
        consumption->counters = copy_counters(devices, slice, &facts->consumes[i]);
        consumption->n = facts->consumes[i].n_counters;
    }
}

static struct kept_slice *copy_slice(struct devices *devices, const struct slice_facts *facts)
{
    struct kept_slice *slice = MEM_NEW_WITH_TEXT(struct kept_slice, name, facts->name);
    slice->pool = pools_ref(devices, facts->driver, facts->pool);
    slice->generation = facts->generation;
    slice->n_slices = facts->n_slices;
    slice->node_name = string_table_intern(&devices->strings, facts->node_name);
    slice->per_device = facts->per_device && !facts->node_name[0];
    slice->details = intern_some(devices, facts->details);
    allocate(slice, facts);
    copy_publications(devices, slice, facts);
    struct consumption *consumptions = slice->consumptions;
    for (size_t i = 0; i < facts->n_devices; i++) {
        slice->devices[i].consumptions = consumptions;
        copy_device(devices, slice, &slice->devices[i], &facts->devices[i]);
        consumptions += facts->devices[i].n_consumes;
    }
    /* A counted slice without devices concerns its node, too. */
    if (facts->n_devices == 0 && facts->n_counter_sets == 0 && !slice->per_device &&
        slice->pool->driver)
        add_node_slice(devices, slice, node_pools_ref(devices, slice->pool, slice->node_name));
    return slice;
}

struct kept_slice *slices_new(struct devices *devices, const struct slice_facts *facts,
                              const struct slice_room *room)
{
    struct slice_facts kept = *facts;
    if (room->full) {
        kept.n_devices = kept.n_counter_sets = 0;
        kept.details = NULL;
    }
    struct kept_slice *slice = copy_slice(devices, &kept);
    slice->room = *room;
    slice->is_unreadable = facts->is_unreadable || room->full;
    return slice;
}

/* ---- counted ones ---- */

void slices_attach(struct devices *devices, struct kept_slice *slice)
{
    pools_add(devices, slice);
    for (size_t i = 0; i < slice->n_node_slices; i++)
        node_pools_add(devices, &slice->node_slices[i]);
}

void slices_detach(struct devices *devices, struct kept_slice *slice)
{
    for (size_t i = 0; i < slice->n_devices; i++) {
        if (slice->devices[i].is_current)
            gpus_unlink(devices, &slice->devices[i]);
    }
    for (size_t i = 0; i < slice->n_node_slices; i++)
        node_pools_remove(devices, &slice->node_slices[i]);
    pools_remove(devices, slice);
}

static void free_device(struct devices *devices, struct device *device)
{
    for (size_t i = 0; i < device->n_consumptions; i++)
        counters_unref(devices, device->consumptions[i].set);
    string_table_unref(&devices->strings, device->physical);
    attributes_drop(devices, device);
    unref_some(devices, device->details);
    models_unref(devices, device->kind);
    pools_unref_name(devices, device->named);
}

void slices_free(struct devices *devices, struct kept_slice *slice)
{
    slice_room_release(devices, &slice->room);
    for (size_t i = 0; i < slice->n_devices; i++)
        free_device(devices, &slice->devices[i]);
    for (size_t i = 0; i < slice->n_publications; i++)
        counters_unref(devices, slice->publications[i].set);
    for (size_t i = 0; i < slice->n_counters; i++)
        string_table_unref(&devices->strings, slice->counters[i].name);
    for (size_t i = 0; i < slice->n_node_slices; i++)
        node_pools_unref(devices, slice->node_slices[i].node_pool);
    string_table_unref(&devices->strings, slice->node_name);
    unref_some(devices, slice->details);
    pools_unref(devices, slice->pool);
    free(slice->devices);
    free(slice->consumptions);
    free(slice->publications);
    free(slice->counters);
    free(slice->left);
    free(slice->node_slices);
    free(slice);
}
