/* devices_facts: slices, claims and rules as the facts that they were made from. */
#include "base/arena.h"
#include "base/mem.h"
#include "devices_priv.h"

#include <string.h>

static const char *text_copy(struct arena *arena, const char *text)
{
    return text ? arena_strdup(arena, text) : NULL;
}

static struct counter_set facts_of_set(struct arena *arena, const struct set *set,
                                       const struct counter_part *counters, size_t n)
{
    struct device_counter *copies = ARENA_ARRAY(arena, struct device_counter, n);
    for (size_t i = 0; i < n; i++)
        copies[i] = (struct device_counter){text_copy(arena, counters[i].name), counters[i].amount};
    return (struct counter_set){
        .name = text_copy(arena, set->key.second), .counters = copies, .n_counters = n};
}

/* copied: what was copied of the device before; NULL: none. Texts that both have are copied once.
 */
static struct device_attribute *attributes_of(struct arena *arena, const struct device *device,
                                              const struct device_attribute *copied)
{
    struct device_attribute *attributes =
        ARENA_ARRAY(arena, struct device_attribute, device->n_attributes);
    for (size_t i = 0; i < device->n_attributes; i++) {
        const struct device_attribute *own = &device->attributes[i];
        const bool has_like = copied && i < device[-1].n_attributes;
        const struct device_attribute *like = has_like ? &device[-1].attributes[i] : NULL;
        attributes[i].name =
            like && like->name == own->name ? copied[i].name : text_copy(arena, own->name);
        attributes[i].value =
            like && like->value == own->value ? copied[i].value : text_copy(arena, own->value);
    }
    return attributes;
}

/* before: the facts of the device before, or NULL. */
static struct device_facts facts_of_device(struct arena *arena, const struct device *device,
                                           const struct device_facts *before)
{
    struct counter_set *consumes = ARENA_ARRAY(arena, struct counter_set, device->n_consumptions);
    for (size_t i = 0; i < device->n_consumptions; i++) {
        const struct consumption *consumption = &device->consumptions[i];
        consumes[i] = facts_of_set(arena, consumption->set, consumption->counters, consumption->n);
    }
    return (struct device_facts){
        .name = text_copy(arena, device->named->key.second),
        .attributes = attributes_of(arena, device, before ? before->attributes : NULL),
        .n_attributes = device->n_attributes,
        .allows_multiple = device->allows_multiple,
        .lacks_attributes = device->lacks_attributes,
        .model = text_copy(arena, device->kind->key.text),
        .profile = text_copy(arena, device->is_fraction ? "" : device->kind->key.profile),
        .physical = text_copy(arena, device->physical),
        .memory_bytes = device->kind->key.memory_bytes,
        .node_name =
            text_copy(arena, device->slice->per_device ? device->node_pool->place->name : ""),
        .is_tainted = device->is_tainted,
        .not_judged = device->not_judged,
        .consumes = consumes,
        .n_consumes = device->n_consumptions,
    };
}

static struct slice_facts facts_of_slice(struct arena *arena, const struct kept_slice *slice)
{
    struct device_facts *devices = ARENA_ARRAY(arena, struct device_facts, slice->n_devices);
    struct counter_set *sets = ARENA_ARRAY(arena, struct counter_set, slice->n_publications);
    for (size_t i = 0; i < slice->n_devices; i++) {
        const bool is_same = i > 0 && slice->devices[i].details == slice->devices[i - 1].details;
        devices[i] = facts_of_device(arena, &slice->devices[i], i > 0 ? &devices[i - 1] : NULL);
        devices[i].details =
            is_same ? devices[i - 1].details : text_copy(arena, slice->devices[i].details);
    }
    for (size_t i = 0; i < slice->n_publications; i++) {
        const struct publication *publication = &slice->publications[i];
        sets[i] = facts_of_set(arena, publication->set, publication->counters, publication->n);
    }
    return (struct slice_facts){
        .name = text_copy(arena, slice->name),
        .driver = text_copy(arena, slice->pool->key.first),
        .pool = text_copy(arena, slice->pool->key.second),
        .generation = slice->generation,
        .n_slices = slice->n_slices,
        .node_name = text_copy(arena, slice->node_name),
        .per_device = slice->per_device,
        .is_unreadable = slice->is_unreadable,
        .devices = devices,
        .n_devices = slice->n_devices,
        .counter_sets = sets,
        .n_counter_sets = slice->n_publications,
        .details = text_copy(arena, slice->details),
    };
}

/* The object after the one of that name; NULL: the first. */
static const struct object *next_object(const struct devices *devices, enum devices_kind kind,
                                        const char *name)
{
    const struct object *object = NULL;
    if (!name)
        return devices->objects[kind];
    HASH_FIND(hh, devices->objects[kind], name, strlen(name), object);
    return object ? object->hh.next : NULL;
}

const char *devices_next_slice(const struct devices *devices, const char *name, struct arena *arena,
                               struct slice_facts *ret_facts)
{
    const struct object *next = next_object(devices, DEVICES_SLICES, name);
    if (!next)
        return NULL;
    *ret_facts = facts_of_slice(arena, CONTAINER_OF(next, struct kept_slice, object));
    return ret_facts->name;
}

/* Equal texts of neighbours are copied once. room: left for texts. */
static void copy_consumed(struct arena *arena, const struct device_name *named, size_t *room,
                          struct device_status *status)
{
    const char **texts = ARENA_ARRAY(arena, const char *, named->n_uses);
    const char *last = NULL;
    status->consumed = texts;
    for (const struct device_use *use = named->uses; use; use = use->next) {
        if (!use->is_shared || !use->consumed)
            continue;
        if (use->consumed != last) {
            const size_t size = strlen(use->consumed) + 1;
            status->is_cut = size > *room;
            if (status->is_cut)
                return;
            *room -= size;
        }
        texts[status->n_consumed] =
            use->consumed == last ? texts[status->n_consumed - 1] : text_copy(arena, use->consumed);
        status->n_consumed++;
        last = use->consumed;
    }
}

static struct device_status status_of(struct arena *arena, const struct device_name *named,
                                      size_t *room)
{
    struct device_status status = {.is_cut = named->n_uses > DEVICE_STATUS_USES_MAX};
    if (status.is_cut)
        return status;
    for (const struct device_use *use = named->uses; use; use = use->next) {
        status.is_shared |= use->is_shared;
        status.is_allocated |= !use->is_shared;
    }
    if (status.is_shared)
        copy_consumed(arena, named, room, &status);
    return status;
}

/* devices_facts.c */
/* room: left for texts of consumed capacities. */
static struct device_status devices_status_of(const struct device *device, struct arena *arena,
                                              size_t *room)
{
    struct device_status status = status_of(arena, device->named, room);
    status.is_tainted = device->is_tainted || device->n_rules > 0;
    return status;
}

static const struct device_name *find_name(const struct devices *devices, const char *driver,
                                           const char *pool_name, const char *device)
{
    const struct string_table *strings = &devices->strings;
    const struct pair pool_key = {string_table_find(strings, driver),
                                  string_table_find(strings, pool_name)};
    const struct pool *pool = NULL;
    const struct device_name *named = NULL;
    HASH_FIND(hh, devices->pools, &pool_key, sizeof pool_key, pool);
    const struct pair key = {pool, string_table_find(strings, device)};
    if (pool)
        HASH_FIND(hh, devices->names, &key, sizeof key, named);
    return named;
}

struct device_status devices_status(const struct devices *devices, const char *driver,
                                    const char *pool, const char *device, struct arena *arena,
                                    size_t *room)
{
    const struct device_name *named = find_name(devices, driver, pool, device);
    return named ? status_of(arena, named, room) : (struct device_status){0};
}

/* Returns the work. */
static size_t visit_slice(const struct kept_slice *slice, const struct slices_walk *walk)
{
    const struct slice_facts facts = facts_of_slice(walk->arena, slice);
    struct device_status *statuses =
        ARENA_ARRAY(walk->arena, struct device_status, slice->n_devices);
    size_t work = 1 + slice->n_counters;
    size_t room = SLICE_CONSUMED_BYTES_MAX;
    for (size_t i = 0; i < slice->n_devices; i++) {
        const size_t n_uses = slice->devices[i].named->n_uses;
        statuses[i] = devices_status_of(&slice->devices[i], walk->arena, &room);
        work += 1 + facts.devices[i].n_attributes + (statuses[i].is_cut ? 0 : n_uses);
    }
    walk->visit(walk->context, &facts, statuses);
    return work;
}

bool devices_each_slice_some(const struct devices *devices, struct slices_walk *walk)
{
    const struct object *object = devices->objects[DEVICES_SLICES];
    size_t work = 0;
    for (; object; object = object->hh.next) {
        const struct kept_slice *slice = CONTAINER_OF(object, struct kept_slice, object);
        const bool is_wanted = slice->pool->driver ? !walk->has_only_others : walk->has_others;
        if (object->serial <= walk->at || !is_wanted)
            continue;
        if (work >= walk->work)
            return false;
        work += visit_slice(slice, walk);
        walk->at = object->serial;
    }
    return true;
}

size_t devices_each_slice_on(const struct devices *devices, const char *node_name,
                             const struct slices_walk *walk)
{
    const struct device_place *place = NULL;
    const struct node_pool *node_pool = NULL;
    const struct kept_slice *slice = NULL;
    size_t work = 0;
    HASH_FIND_STR(devices->places, node_name, place);
    DL_FOREACH2 (place ? place->node_pools : NULL, node_pool, next_here) {
        DL_FOREACH (node_pool->pool->slices, slice) {
            if (work >= walk->work)
                return 0;
            work += visit_slice(slice, walk);
        }
    }
    return work < walk->work ? walk->work - work : 0;
}

static struct device_taint_facts facts_of_rule(struct arena *arena, const struct taint_rule *rule)
{
    return (struct device_taint_facts){.name = text_copy(arena, rule->name),
                                       .driver = text_copy(arena, rule->driver),
                                       .pool = text_copy(arena, rule->pool),
                                       .device = text_copy(arena, rule->device),
                                       .key = text_copy(arena, rule->key),
                                       .value = text_copy(arena, rule->value),
                                       .effect = text_copy(arena, rule->effect)};
}

size_t devices_some_taints(const struct devices *devices, uint64_t *at, struct arena *arena,
                           struct device_taint_facts *ret_facts, size_t room)
{
    const struct object *object = devices->objects[DEVICES_TAINTS];
    size_t n = 0;
    for (; object && n < room; object = object->hh.next) {
        if (object->serial <= *at)
            continue;
        ret_facts[n++] = facts_of_rule(arena, CONTAINER_OF(object, struct taint_rule, object));
        *at = object->serial;
    }
    return n;
}

const char *devices_next_taint(const struct devices *devices, const char *name, struct arena *arena,
                               struct device_taint_facts *ret_facts)
{
    const struct object *next = next_object(devices, DEVICES_TAINTS, name);
    if (!next)
        return NULL;
    *ret_facts = facts_of_rule(arena, CONTAINER_OF(next, struct taint_rule, object));
    return ret_facts->name;
}

struct claim_facts devices_claim_facts(const struct device_claim *claim, struct arena *arena)
{
    struct claim_result *results = ARENA_ARRAY(arena, struct claim_result, claim->n_results);
    const char **holders = ARENA_ARRAY(arena, const char *, claim->n_holders);
    const char **names = ARENA_ARRAY(arena, const char *, claim->n_holders);
    struct claim_want *wants = arena_copy(arena, claim->wants, claim->n_wants, sizeof *wants);
    struct device_holder holder = {0};
    for (size_t i = 0; i < claim->n_wants; i++) {
        wants[i].class_name = text_copy(arena, claim->wants[i].class_name);
        wants[i].driver = text_copy(arena, claim->wants[i].driver);
    }
    for (size_t i = 0; i < claim->n_results; i++) {
        const struct claimed_device device = devices_of_claim(claim, i);
        results[i] = (struct claim_result){.driver = text_copy(arena, device.driver),
                                           .pool = text_copy(arena, device.pool),
                                           .device = text_copy(arena, device.device),
                                           .is_admin = device.is_admin,
                                           .is_shared = device.is_shared,
                                           .consumed = text_copy(arena, device.consumed)};
    }
    while (devices_next_holder(claim, &holder)) {
        holders[holder.n_before] = text_copy(arena, holder.uid);
        names[holder.n_before] = text_copy(arena, holder.name);
    }
    return (struct claim_facts){.namespace_ = text_copy(arena, claim->namespace_),
                                .name = text_copy(arena, claim->name),
                                .uid = text_copy(arena, claim->uid),
                                .n_devices = claim->n_devices,
                                .wants_all = claim->wants_all,
                                .has_alternatives = claim->has_alternatives,
                                .wants = wants,
                                .n_wants = claim->n_wants,
                                .is_allocated = claim->is_allocated,
                                .results = results,
                                .n_results = claim->n_results,
                                .holders = holders,
                                .holder_names = names,
                                .n_holders = claim->n_holders,
                                .n_all_holders = claim->n_all_holders,
                                .extended_for_uid = text_copy(arena, claim->extended_for_uid),
                                .owner_uid = text_copy(arena, claim->owner_uid),
                                .terminating = claim->terminating,
                                .is_unready = claim->is_unready,
                                .spec = text_copy(arena, claim->spec),
                                .nodes = text_copy(arena, claim->nodes),
                                .labels = text_copy(arena, claim->labels)};
}

/* The devices of a node that claims share, with what they take. */

static bool is_shared(const struct device *device)
{
    const struct device_use *use = NULL;
    if (!device->is_current)
        return false;
    DL_FOREACH (device->named->uses, use) {
        if (use->is_shared)
            return true;
    }
    return false;
}

static size_t count_capacities(const struct device *device)
{
    size_t n = 0;
    for (size_t i = 0; i < device->n_attributes; i++)
        n += device->attributes[i].value[0] == 'q';
    return n;
}

static void copy_capacities(const struct device *device, struct arena *arena,
                            struct shared_device *shared)
{
    struct device_attribute *copies =
        ARENA_ARRAY(arena, struct device_attribute, count_capacities(device));
    for (size_t i = 0; i < device->n_attributes; i++) {
        const struct device_attribute *attribute = &device->attributes[i];
        if (attribute->value[0] == 'q')
            copies[shared->n_capacities++] = (struct device_attribute){
                arena_strdup(arena, attribute->name), arena_strdup(arena, &attribute->value[1])};
    }
    shared->capacities = copies;
}

/* A whole device has the model of its GPU. */
static const struct device_kind *kind_of(const struct device *device)
{
    return gpus_is_partition(device) ? device->kind : gpus_kind(device->gpu);
}

static struct shared_device shared_of(const struct device *device, struct arena *arena,
                                      size_t *room)
{
    struct shared_device shared = {
        .driver = arena_strdup(arena, device->named->pool->key.first),
        .model_name = arena_strdup(arena, kind_of(device)->name),
        .is_partition = gpus_is_partition(device),
        .status = devices_status_of(device, arena, room),
    };
    copy_capacities(device, arena, &shared);
    shared.status.is_cut |= device->lacks_attributes;
    return shared;
}

static void copy_from(const struct node_slice *node_slice, struct arena *arena, size_t *room,
                      struct shared_devices *shared)
{
    for (size_t i = 0; i < node_slice->slice->n_devices; i++) {
        const struct device *device = &node_slice->slice->devices[i];
        if (device->node_pool == node_slice->node_pool && is_shared(device))
            shared->items[shared->n++] = shared_of(device, arena, room);
    }
}

static size_t count_devices(const struct device_place *place)
{
    const struct node_pool *node_pool = NULL;
    const struct node_slice *node_slice = NULL;
    size_t n = 0;
    DL_FOREACH2 (place->node_pools, node_pool, next_here) {
        DL_FOREACH (node_pool->node_slices, node_slice) {
            for (size_t i = 0; i < node_slice->slice->n_devices; i++) {
                const struct device *device = &node_slice->slice->devices[i];
                n += device->node_pool == node_pool && is_shared(device);
            }
        }
    }
    return n;
}

struct shared_devices devices_shared_on(const struct devices *devices, const char *node_name,
                                        struct arena *arena, size_t *room)
{
    struct shared_devices shared = {.n = 0};
    const struct device_place *place = NULL;
    const struct node_pool *node_pool = NULL;
    const struct node_slice *node_slice = NULL;
    if (devices->n_shared_uses == 0)
        return shared;
    HASH_FIND_STR(devices->places, node_name, place);
    if (!place)
        return shared;
    shared.items = ARENA_ARRAY(arena, struct shared_device, count_devices(place));
    DL_FOREACH2 (place->node_pools, node_pool, next_here) {
        DL_FOREACH (node_pool->node_slices, node_slice) {
            copy_from(node_slice, arena, room, &shared);
        }
    }
    return shared;
}
