/* device_view: see device_view.h. */
#include "api/dry_run/device_view.h"
#include "base/mem.h"
#include "base/table.h"
#include "devices/devices.h"
#include "ledger/cluster.h"

#include <stdlib.h>
#include <string.h>

#define RECENT_NAMES 256

/* How much of an attribute is kept. */
enum keep { KEEP_NOTHING, KEEP_PRESENCE, KEEP_VALUE };

/* A name in the ledger, as attribute [0] and capacity [1]. */
struct name_entry {
    const char *key; /* the ledger's text: equal texts are one pointer */
    UT_hash_handle hh;
    const char *domain, *name;
    enum keep keep[2];
    size_t seen[2]; /* its place in the view's names, from 1; 0: none yet */
};

/* Devices with the same key are one. The key is the ledger's pointers. */
struct view_group {
    UT_hash_handle hh;
    size_t place;
};

struct view_reader {
    const struct cel_read *reads;
    size_t n_reads;
    struct arena *arena;
    struct device_view *view;
    struct name_entry *names;
    struct name_entry *recent[RECENT_NAMES];
    struct view_group *groups;
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
    entry->key = key;
    entry->domain = arena_strndup(reader->arena, key, len);
    entry->name = arena_strdup(reader->arena, slash ? slash + 1 : key);
    entry->keep[0] = keep_of(reader, entry, false);
    entry->keep[1] = keep_of(reader, entry, true);
    HASH_ADD_PTR(reader->names, key, entry);
    return entry;
}

static struct name_entry *name_of(struct view_reader *reader, const char *key)
{
    struct name_entry **recent = &reader->recent[((uintptr_t)key / 16) % RECENT_NAMES];
    if (*recent && (*recent)->key == key)
        return *recent;
    struct name_entry *entry = NULL;
    HASH_FIND_PTR(reader->names, &key, entry);
    *recent = entry ? entry : new_name(reader, key);
    return *recent;
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

static size_t add_group(struct view_reader *reader, const struct published_device *device)
{
    struct device_view *view = reader->view;
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
    view->devices =
        arena_grow(reader->arena, view->devices, view->n, &view->size, sizeof *view->devices);
    view->devices[view->n] = seen;
    return view->n++;
}

static void on_device(void *context, const struct published_device *device)
{
    struct view_reader *reader = context;
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
        key[n++] = attribute->name;
        key[n++] = entry->keep[is_capacity] == KEEP_PRESENCE ? NULL : attribute->value;
    }
    struct view_group *group = NULL;
    HASH_FIND(hh, reader->groups, key, n * sizeof *key, group);
    if (!group) {
        group = ARENA_NEW(reader->arena, struct view_group);
        group->place = add_group(reader, device);
        const void *kept = arena_copy(reader->arena, key, n, sizeof *key);
        HASH_ADD_KEYPTR(hh, reader->groups, kept, n * sizeof *key, group);
    }
    reader->view->devices[group->place].n++;
    reader->view->n_all++;
}

void device_view_read(struct inventory *inventory, const struct cel_read *reads, size_t n_reads,
                      struct arena *arena, struct device_view *ret_view)
{
    struct device_view view = {0};
    struct view_reader reader = {.reads = reads, .n_reads = n_reads, .arena = arena, .view = &view};
    const struct inventory_view ledger CLEANUP(inventory_done) = inventory_read(inventory);
    devices_each(cluster_devices(ledger.cluster), on_device, &reader);
    HASH_CLEAR(hh, reader.names);
    HASH_CLEAR(hh, reader.groups);
    *ret_view = view;
}
