/* device_view: see device_view.h. */
#include "api/dry_run/device_view.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/table.h"
#include "devices/devices.h"
#include "ledger/cluster.h"

#include <stdlib.h>
#include <string.h>

#define RECENT_NAMES 256
/* Devices and attributes in one hold of the ledger's lock: about a millisecond. */
#define STEP_WORK ((size_t)20000)

/* How much of an attribute is kept. */
enum keep { KEEP_NOTHING, KEEP_PRESENCE, KEEP_VALUE };

/* A name, as attribute [0] and capacity [1]. */
struct name_entry {
    UT_hash_handle hh; /* by its whole text */
    const char *domain, *name;
    enum keep keep[2];
    size_t seen[2]; /* its place in the view's names, from 1; 0: none yet */
};

/* Devices of one step with the same key: what is read of them, by the ledger's pointers. */
struct step_group {
    UT_hash_handle hh;
    struct seen_device seen;
};

/* Devices of the view with the same key: what is read of them, as bytes. */
struct view_group {
    UT_hash_handle hh;
    size_t place;
};

struct seen_slice {
    UT_hash_handle hh; /* by its name */
};

/* A pool of given slices: the newest generation of these, and of the ledger's. */
struct given_pool {
    UT_hash_handle hh; /* by driver and name */
    int64_t given, kept;
};

struct view_reader {
    const struct cel_read *reads;
    size_t n_reads;
    struct arena *arena;
    struct device_view *view;
    struct name_entry *names;
    struct view_group *groups;
    struct seen_slice *slices;
    struct given_pool *pools;
    /* Valid for one step: after it the ledger's texts may be others. */
    const char *recent_keys[RECENT_NAMES];
    struct name_entry *recent[RECENT_NAMES];
    struct step_group *step_groups;
    const char *slice; /* of the device before */
    bool is_hidden;    /* the slice was seen in a step before, or given ones hide it */
};

static enum keep keep_of(const struct view_reader *reader, const struct name_entry *entry,
                         bool is_capacity)
{
    enum keep keep = KEEP_NOTHING;
    for (size_t i = 0; i < reader->n_reads; i++) {
        const struct cel_read *read = &reader->reads[i];
        if (read->is_capacity != is_capacity ||
            (read->domain && strcmp(read->domain, entry->domain) != 0))
            continue;
        if (!read->name || strcmp(read->name, entry->name) == 0)
            return KEEP_VALUE;
        if (read->name[0] == '\0')
            keep = KEEP_PRESENCE;
    }
    return keep;
}

static struct name_entry *new_name(struct view_reader *reader, const char *key)
{
    struct name_entry *entry = ARENA_NEW(reader->arena, struct name_entry);
    const char *slash = strchr(key, '/');
    size_t len = slash ? (size_t)(slash - key) : 0;
    const char *copy = arena_strdup(reader->arena, key);
    entry->domain = arena_strndup(reader->arena, key, len);
    entry->name = slash ? copy + len + 1 : copy;
    entry->keep[0] = keep_of(reader, entry, false);
    entry->keep[1] = keep_of(reader, entry, true);
    HASH_ADD_KEYPTR(hh, reader->names, copy, strlen(copy), entry);
    return entry;
}

static struct name_entry *name_of(struct view_reader *reader, const char *key)
{
    const size_t slot = ((uintptr_t)key / 16) % RECENT_NAMES;
    if (reader->recent_keys[slot] == key)
        return reader->recent[slot];
    struct name_entry *entry = NULL;
    HASH_FIND_STR(reader->names, key, entry);
    reader->recent_keys[slot] = key;
    reader->recent[slot] = entry ? entry : new_name(reader, key);
    return reader->recent[slot];
}

static void count_name(struct view_reader *reader, struct name_entry *entry, bool is_capacity)
{
    struct device_view *view = reader->view;
    if (entry->seen[is_capacity] == 0) {
        view->names = arena_grow(reader->arena, view->names, view->n_names, &view->names_size,
                                 sizeof *view->names);
        view->names[view->n_names++] =
            (struct published_name){entry->domain, entry->name, is_capacity, 0};
        entry->seen[is_capacity] = view->n_names;
    }
    view->names[entry->seen[is_capacity] - 1].n++;
}

static struct cel_fact fact_of(struct view_reader *reader, const struct name_entry *entry,
                               const char *value, bool is_capacity)
{
    struct cel_fact fact = {.domain = entry->domain, .name = entry->name, .kind = CEL_BOOL};
    if (entry->keep[is_capacity] == KEEP_PRESENCE) { /* nothing reads the value */
        fact.kind = is_capacity ? CEL_QUANTITY : CEL_BOOL;
        fact.text = "0";
        return fact;
    }
    fact.text = arena_strdup(reader->arena, value[0] ? value + 1 : "");
    if (value[0] == 's')
        fact.kind = CEL_STRING;
    else if (value[0] == 'v')
        fact.kind = CEL_VERSION;
    else if (value[0] == 'q')
        fact.kind = CEL_QUANTITY;
    else if (value[0] == 'i')
        fact.kind = CEL_INT;
    fact.integer = fact.kind == CEL_INT ? strtoll(fact.text, NULL, 10) : 0;
    fact.boolean = strcmp(fact.text, "true") == 0;
    return fact;
}

static struct seen_device seen_of(struct view_reader *reader, const struct published_device *device)
{
    struct cel_fact *facts = ARENA_ARRAY(reader->arena, struct cel_fact, device->n_attributes);
    struct seen_device seen = {.lacks_attributes = device->lacks_attributes};
    seen.device = (struct cel_device){.driver = arena_strdup(reader->arena, device->driver),
                                      .allows_multiple = device->allows_multiple,
                                      .facts = facts};
    for (size_t i = 0; i < device->n_attributes; i++) {
        const struct device_attribute *attribute = &device->attributes[i];
        const struct name_entry *entry = name_of(reader, attribute->name);
        bool is_capacity = attribute->value[0] == 'q';
        if (attribute->value[0] == '?')
            seen.device.unsupported = entry->name;
        else if (entry->keep[is_capacity] != KEEP_NOTHING)
            facts[seen.device.n_facts++] = fact_of(reader, entry, attribute->value, is_capacity);
    }
    return seen;
}

/* Whether it is the first of that name. */
static bool see_slice(struct view_reader *reader, const char *name)
{
    struct seen_slice *slice = NULL;
    HASH_FIND_STR(reader->slices, name, slice);
    if (slice)
        return false;
    slice = ARENA_NEW(reader->arena, struct seen_slice);
    const char *copy = arena_strdup(reader->arena, name);
    HASH_ADD_KEYPTR(hh, reader->slices, copy, strlen(copy), slice);
    return true;
}

static struct given_pool *find_pool(const struct view_reader *reader, const char *driver,
                                    const char *name)
{
    struct given_pool *pool = NULL;
    const char *key = reader->pools ? arena_printf(reader->arena, "%s/%s", driver, name) : "";
    HASH_FIND_STR(reader->pools, key, pool);
    return pool;
}

static bool is_superseded(const struct view_reader *reader, const struct published_device *device)
{
    struct given_pool *pool = find_pool(reader, device->driver, device->pool);
    if (pool && pool->kept < device->generation)
        pool->kept = device->generation;
    return pool && pool->given > device->generation;
}

/* A slice that was visited before was replaced since. */
static bool is_hidden_slice(struct view_reader *reader, const struct published_device *device)
{
    if (device->slice == reader->slice)
        return reader->is_hidden;
    reader->slice = device->slice;
    reader->is_hidden = !see_slice(reader, device->slice) || is_superseded(reader, device);
    return reader->is_hidden;
}

static void add_device(struct view_reader *reader, const struct published_device *device)
{
    const void *key[3 + 2 * DEVICE_ATTRIBUTES_MAX] = {device->driver,
                                                      device->allows_multiple ? reader : NULL,
                                                      device->lacks_attributes ? reader : NULL};
    size_t n = 3;
    for (size_t i = 0; i < device->n_attributes; i++) {
        const struct device_attribute *attribute = &device->attributes[i];
        struct name_entry *entry = name_of(reader, attribute->name);
        bool is_capacity = attribute->value[0] == 'q';
        count_name(reader, entry, is_capacity);
        if (entry->keep[is_capacity] == KEEP_NOTHING && attribute->value[0] != '?')
            continue;
        key[n++] = entry;
        key[n++] = entry->keep[is_capacity] == KEEP_PRESENCE ? NULL : attribute->value;
    }
    struct step_group *group = NULL;
    HASH_FIND(hh, reader->step_groups, key, n * sizeof *key, group);
    if (!group) {
        group = ARENA_NEW(reader->arena, struct step_group);
        group->seen = seen_of(reader, device);
        const void *kept = arena_copy(reader->arena, key, n, sizeof *key);
        HASH_ADD_KEYPTR(hh, reader->step_groups, kept, n * sizeof *key, group);
    }
    group->seen.n++;
    reader->view->n_all++;
}

static void on_device(void *context, const struct published_device *device)
{
    struct view_reader *reader = context;
    if (!is_hidden_slice(reader, device))
        add_device(reader, device);
}

/* Names are one pointer each. */
static void add_key(const struct seen_device *seen, struct buf *key)
{
    const struct cel_device *device = &seen->device;
    const bool flags[] = {device->allows_multiple, seen->lacks_attributes};
    buf_add(key, device->driver, strlen(device->driver) + 1);
    buf_add(key, (const char *)flags, sizeof flags);
    buf_add(key, (const char *)&device->unsupported, sizeof device->unsupported);
    for (size_t i = 0; i < device->n_facts; i++) {
        const struct cel_fact *fact = &device->facts[i];
        buf_add(key, (const char *)&fact->name, sizeof fact->name);
        buf_add(key, (const char *)&fact->kind, sizeof fact->kind);
        buf_add(key, fact->text, strlen(fact->text) + 1);
    }
}

static void merge(struct view_reader *reader, const struct seen_device *seen)
{
    struct device_view *view = reader->view;
    struct view_group *group = NULL;
    struct buf key;
    buf_init(&key, BUF_UNBOUNDED);
    add_key(seen, &key);
    HASH_FIND(hh, reader->groups, key.data, key.len, group);
    if (group) {
        view->devices[group->place].n += seen->n;
    } else {
        group = ARENA_NEW(reader->arena, struct view_group);
        group->place = view->n;
        const char *kept = arena_copy(reader->arena, key.data, key.len, 1);
        HASH_ADD_KEYPTR(hh, reader->groups, kept, key.len, group);
        view->devices =
            arena_grow(reader->arena, view->devices, view->n, &view->size, sizeof *view->devices);
        view->devices[view->n++] = *seen;
    }
    buf_fini(&key);
}

/* Without the lock: what the step has seen. */
static void end_step(struct view_reader *reader)
{
    for (const struct step_group *group = reader->step_groups; group; group = group->hh.next)
        merge(reader, &group->seen);
    HASH_CLEAR(hh, reader->step_groups);
    reader->step_groups = NULL;
    reader->slice = NULL;
    memset(reader->recent_keys, 0, sizeof reader->recent_keys);
}

/* Another ledger, of another policy, is walked from its beginning. */
static bool read_step(struct inventory *inventory, const struct cluster **cluster,
                      struct devices_walk *walk)
{
    const struct inventory_view ledger CLEANUP(inventory_done) = inventory_read(inventory);
    if (*cluster != ledger.cluster)
        walk->at = 0;
    *cluster = ledger.cluster;
    return devices_each_some(cluster_devices(ledger.cluster), walk);
}

/* Before the ledger is read: what they hide. */
static void announce(struct view_reader *reader, const struct given_devices *given)
{
    for (size_t i = 0; i < given->n_slices; i++) {
        const struct slice_facts *slice = &given->slices[i];
        struct given_pool *pool = find_pool(reader, slice->driver, slice->pool);
        if (!pool) {
            pool = ARENA_NEW(reader->arena, struct given_pool);
            const char *key = arena_printf(reader->arena, "%s/%s", slice->driver, slice->pool);
            HASH_ADD_KEYPTR(hh, reader->pools, key, strlen(key), pool);
        }
        if (pool->given < slice->generation)
            pool->given = slice->generation;
        (void)see_slice(reader, slice->name);
    }
}

static void add_given(struct view_reader *reader, const struct given_devices *given)
{
    for (size_t i = 0; i < given->n_slices; i++) {
        const struct slice_facts *slice = &given->slices[i];
        const struct given_pool *pool = find_pool(reader, slice->driver, slice->pool);
        if (slice->generation < pool->given || slice->generation < pool->kept)
            continue;
        for (size_t j = 0; j < slice->n_devices; j++) {
            const struct device_facts *facts = &slice->devices[j];
            const struct published_device device = {.driver = slice->driver,
                                                    .allows_multiple = facts->allows_multiple,
                                                    .lacks_attributes = facts->lacks_attributes,
                                                    .attributes = facts->attributes,
                                                    .n_attributes = facts->n_attributes};
            add_device(reader, &device);
        }
        end_step(reader);
    }
}

void device_view_read(struct inventory *inventory, const struct given_devices *given,
                      const struct cel_read *reads, size_t n_reads, struct arena *arena,
                      struct device_view *ret_view)
{
    struct device_view view = {0};
    struct view_reader reader = {.reads = reads, .n_reads = n_reads, .arena = arena, .view = &view};
    struct devices_walk walk = {.work = STEP_WORK, .visit = on_device, .context = &reader};
    const struct cluster *cluster = NULL;
    bool is_done = false;
    announce(&reader, given);
    while (!is_done) {
        is_done = read_step(inventory, &cluster, &walk);
        end_step(&reader);
    }
    add_given(&reader, given);
    HASH_CLEAR(hh, reader.pools);
    HASH_CLEAR(hh, reader.names);
    HASH_CLEAR(hh, reader.groups);
    HASH_CLEAR(hh, reader.slices);
    *ret_view = view;
}
