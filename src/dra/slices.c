/* slices: what the ledger keeps of a ResourceSlice, within bounds on its memory. */
#include "base/mem.h"
#include "devices_priv.h"

#include <stdlib.h>
#include <string.h>

/* What selectors read of devices. Most devices share names and values, so both are interned; what
 * differs per device (UUID, PCI address) is one text each. */

/* like: what the device before has there, mostly the same, which saves a look-up; NULL: nothing. */
static const char *keep(struct devices *devices, const char *text, const char *like)
{
    return like && strcmp(like, text) == 0 ? string_table_ref(like)
                                           : string_table_intern(&devices->strings, text);
}

static void attributes_keep(struct devices *devices, struct device *device,
                            const struct device_facts *facts)
{
    const struct device *before = device > device->slice->devices ? device - 1 : NULL;
    device->allows_multiple = facts->allows_multiple;
    device->lacks_attributes = facts->lacks_attributes;
    device->n_attributes = (uint32_t)facts->n_attributes;
    if (facts->n_attributes == 0)
        return;
    device->attributes = MEM_ARRAY(struct device_attribute, facts->n_attributes);
    for (size_t i = 0; i < facts->n_attributes; i++) {
        const struct device_attribute *attribute = &facts->attributes[i];
        const bool has_like = before && i < before->n_attributes;
        const char *name = has_like ? before->attributes[i].name : NULL;
        const char *value = has_like ? before->attributes[i].value : NULL;
        device->attributes[i].name = keep(devices, attribute->name, name);
        device->attributes[i].value = keep(devices, attribute->value, value);
    }
}

static void attributes_drop(struct devices *devices, struct device *device)
{
    for (size_t i = 0; i < device->n_attributes; i++) {
        string_table_unref(&devices->strings, device->attributes[i].name);
        string_table_unref(&devices->strings, device->attributes[i].value);
    }
    free(device->attributes);
}

/* Bounds what slices take here, so that a node's driver cannot fill the memory. Slices of counted
 * drivers are bounded by the policy: those of one node, those of one driver, and all. Those of
 * other drivers have one bound.
 *
 * A slice that has no room gets some when it is put again, such as by the next list. Of those
 * without, SLICES_LEFT_OUT_MAX of a node (or driver) are remembered. */

static const char OF_NODE[] = "limits.nodeSlicesBytes";
static const char OF_DRIVER[] = "limits.driverSlicesBytes";
static const char OF_ALL[] = "limits.slicesBytes";
static const char OF_OTHERS[] = "";        /* no policy key */
static const char LEFT_OUT[] = "left out"; /* those without room */

/* ---- sizes ---- */

static size_t size_of_text(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

static size_t size_of_sets(const struct counter_set *sets, size_t n)
{
    size_t size = n * (sizeof(struct set) + sizeof(struct consumption));
    for (size_t i = 0; i < n; i++) {
        size += size_of_text(sets[i].name) + sets[i].n_counters * sizeof(struct counter_part);
        for (size_t k = 0; k < sets[i].n_counters; k++)
            size += size_of_text(sets[i].counters[k].name);
    }
    return size;
}

/* Beside its bytes, of a text that is kept once. */
#define INTERNED_BYTES ((size_t)80)

/* Attributes of neighbours are mostly the same. before NULL: none. */
static size_t size_of_attribute(const struct device_facts *facts, size_t i,
                                const struct device_facts *before)
{
    const struct device_attribute *is = &facts->attributes[i];
    const struct device_attribute *was =
        before && i < before->n_attributes ? &before->attributes[i] : NULL;
    size_t size =
        sizeof(struct device_attribute) + size_of_text(is->name) + size_of_text(is->value);
    size += was && strcmp(was->name, is->name) == 0 ? 0 : INTERNED_BYTES;
    return size + (was && strcmp(was->value, is->value) == 0 ? 0 : INTERNED_BYTES);
}

static size_t size_of_device(const struct device_facts *facts, const struct device_facts *before)
{
    size_t size = sizeof(struct device) + sizeof(struct device_name) + size_of_text(facts->name) +
                  size_of_text(facts->node_name) + size_of_text(facts->details) +
                  size_of_sets(facts->consumes, facts->n_consumes);
    for (size_t i = 0; i < facts->n_attributes; i++)
        size += size_of_attribute(facts, i, before);
    return size;
}

size_t devices_slice_bytes(const struct slice_facts *facts)
{
    size_t size =
        sizeof(struct kept_slice) + sizeof(struct pool) + sizeof(struct node_pool) +
        sizeof(struct device_place) + sizeof(struct node_slice) + size_of_text(facts->name) +
        size_of_text(facts->driver) + size_of_text(facts->pool) + size_of_text(facts->node_name) +
        size_of_text(facts->details) + size_of_sets(facts->counter_sets, facts->n_counter_sets);
    for (size_t i = 0; i < facts->n_devices; i++)
        size += size_of_device(&facts->devices[i], i > 0 ? &facts->devices[i - 1] : NULL);
    return size;
}

/* ---- shares ---- */

struct slice_bound {
    const char *key;  /* in the policy */
    const char *name; /* of the node or driver; "": of all */
    size_t max_bytes;
};

/* Returns their number. */
static size_t bounds_of(const struct devices *devices, const struct slice_facts *facts,
                        struct slice_bound bounds[SLICE_SHARES_MAX])
{
    const struct policy *policy = devices->policy;
    size_t n = 0;
    if (!policy_device_driver(policy, facts->driver)) {
        bounds[n++] = (struct slice_bound){OF_OTHERS, "", DEVICES_OTHER_BYTES_MAX};
        return n;
    }
    bounds[n++] = (struct slice_bound){OF_ALL, "", policy->slices_bytes};
    bounds[n++] = (struct slice_bound){OF_DRIVER, facts->driver, policy->driver_slices_bytes};
    if (facts->node_name[0])
        bounds[n++] = (struct slice_bound){OF_NODE, facts->node_name, policy->node_slices_bytes};
    return n;
}

static struct slice_share *ref_share(struct devices *devices, const struct slice_bound *bound)
{
    struct string_table *strings = &devices->strings;
    const struct pair key = {bound->key, string_table_intern(strings, bound->name)};
    struct slice_share *share = NULL;
    HASH_FIND(hh, devices->shares, &key, sizeof key, share);
    if (share) {
        string_table_unref(strings, key.second);
    } else {
        share = MEM_NEW(struct slice_share);
        share->key = key;
        HASH_ADD(hh, devices->shares, key, sizeof share->key, share);
    }
    share->refs++;
    return share;
}

static void unref_share(struct devices *devices, struct slice_share *share)
{
    if (--share->refs > 0)
        return;
    HASH_DEL(devices->shares, share);
    string_table_unref(&devices->strings, share->key.second);
    free(share);
}

void slice_room_release(struct devices *devices, struct slice_room *room)
{
    for (size_t i = 0; i < room->n_shares; i++) {
        room->shares[i]->bytes -= room->bytes;
        room->shares[i]->n_left_out -= room->full != NULL;
        unref_share(devices, room->shares[i]);
    }
    room->n_shares = 0;
}

static struct slice_room without_room(struct devices *devices, const struct slice_facts *facts,
                                      const char *full)
{
    const char *name = facts->node_name[0] ? facts->node_name : facts->driver;
    struct slice_share *share =
        ref_share(devices, &(struct slice_bound){.key = LEFT_OUT, .name = name});
    share->n_left_out++;
    return (struct slice_room){.shares = {share},
                               .n_shares = 1,
                               .full = full,
                               .is_forgotten = share->n_left_out > SLICES_LEFT_OUT_MAX};
}

struct slice_room slice_room_take(struct devices *devices, const struct slice_facts *facts)
{
    struct slice_bound bounds[SLICE_SHARES_MAX];
    const size_t n = bounds_of(devices, facts, bounds);
    struct slice_room room = {.bytes = devices_slice_bytes(facts)};
    const char *full = NULL;
    for (size_t i = 0; i < n; i++) {
        struct slice_share *share = ref_share(devices, &bounds[i]);
        share->bytes += room.bytes;
        if (share->bytes > bounds[i].max_bytes)
            full = bounds[i].key; /* the narrowest one is the last */
        room.shares[room.n_shares++] = share;
    }
    if (!full)
        return room;
    slice_room_release(devices, &room);
    return without_room(devices, facts, full);
}

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
