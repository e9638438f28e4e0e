/* taint_rules: DeviceTaintRules, the devices that they taint, and the taints of a node's devices.
 */
#include "base/mem.h"
#include "devices_priv.h"

#include <stdlib.h>
#include <string.h>

static const char *intern(struct devices *devices, const char *text)
{
    return text ? string_table_intern(&devices->strings, text) : NULL;
}

static void unref(struct devices *devices, const char *text)
{
    if (text)
        string_table_unref(&devices->strings, text);
}

struct taint_rule *taint_rules_new(struct devices *devices, const struct device_taint_facts *facts)
{
    struct taint_rule *rule = MEM_NEW_WITH_TEXT(struct taint_rule, name, facts->name);
    rule->driver = intern(devices, facts->driver);
    rule->pool = intern(devices, facts->pool);
    rule->device = intern(devices, facts->device);
    rule->key = intern(devices, facts->key);
    rule->value = intern(devices, facts->value);
    rule->effect = intern(devices, facts->effect);
    return rule;
}

void taint_rules_free(struct devices *devices, struct taint_rule *rule)
{
    unref(devices, rule->driver);
    unref(devices, rule->pool);
    unref(devices, rule->device);
    unref(devices, rule->key);
    unref(devices, rule->value);
    unref(devices, rule->effect);
    free(rule);
}

static bool is_of(const struct taint_rule *rule, const struct pool *pool)
{
    return (!rule->driver || rule->driver == pool->key.first) &&
           (!rule->pool || rule->pool == pool->key.second);
}

static bool taints(const struct taint_rule *rule, const struct device *device)
{
    return is_of(rule, device->named->pool) &&
           (!rule->device || rule->device == device->named->key.second);
}

uint32_t taint_rules_n_of(const struct devices *devices, const struct device *device)
{
    uint32_t n = 0;
    const struct object *object = devices->objects[DEVICES_TAINTS];
    for (; object; object = object->hh.next)
        n += taints(CONTAINER_OF(object, struct taint_rule, object), device);
    return n;
}

static size_t apply_to_slice(struct devices *devices, const struct taint_rule *rule, bool is_added,
                             const struct kept_slice *slice)
{
    size_t work = slice->n_devices;
    for (size_t i = 0; i < slice->n_devices; i++) {
        struct device *device = &slice->devices[i];
        if (!device->is_current || !taints(rule, device))
            continue;
        device->n_rules += is_added ? 1 : UINT32_MAX;
        gpus_refresh(devices, device);
        work += DEVICES_SWEEP_DELETION;
    }
    return work;
}

size_t taint_rules_apply(struct devices *devices, const struct taint_rule *rule, bool is_added)
{
    const struct kept_slice *slice = NULL;
    size_t work = 0;
    for (const struct pool *pool = devices->pools; pool; pool = pool->hh.next) {
        work++;
        if (!is_of(rule, pool))
            continue;
        DL_FOREACH (pool->slices, slice) {
            work += apply_to_slice(devices, rule, is_added, slice);
        }
    }
    return work;
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

bool taint_rules_equal(const struct taint_rule *rule, const struct device_taint_facts *facts)
{
    return same_text(rule->driver, facts->driver) && same_text(rule->pool, facts->pool) &&
           same_text(rule->device, facts->device) && same_text(rule->key, facts->key) &&
           same_text(rule->value, facts->value) && same_text(rule->effect, facts->effect);
}

/* ---- the taints of a node's devices ---- */

struct taint_list {
    struct device_taint *items; /* texts are borrowed */
    size_t n;
    size_t work; /* rules that may still be visited */
};

static void count(struct taint_list *list, const struct device *device,
                  const struct device_taint *taint)
{
    const char *name = device->named->key.second;
    size_t i = 0;
    while (i < list->n &&
           (list->items[i].driver != taint->driver || list->items[i].rule != taint->rule ||
            list->items[i].details != taint->details))
        i++;
    if (i == DEVICE_TAINTS_MAX)
        return;
    struct device_taint *found = &list->items[i];
    if (i == list->n) {
        *found = *taint;
        list->n++;
    }
    if (found->n_devices++ == 0 || strcmp(name, found->device) < 0)
        found->device = name;
}

static void add_taints_of(const struct devices *devices, const struct device *device,
                          struct taint_list *list)
{
    const char *driver = device->named->pool->key.first;
    const struct object *object = devices->objects[DEVICES_TAINTS];
    if (device->is_tainted && device->details)
        count(list, device, &(struct device_taint){.driver = driver, .details = device->details});
    for (uint32_t left = device->n_rules; object && left > 0 && list->work > 0;
         object = object->hh.next, list->work--) {
        const struct taint_rule *rule = CONTAINER_OF(object, struct taint_rule, object);
        if (!taints(rule, device))
            continue;
        count(list, device,
              &(struct device_taint){.driver = driver,
                                     .rule = rule->name,
                                     .key = rule->key,
                                     .value = rule->value,
                                     .effect = rule->effect});
        left--;
    }
}

static void add_taints_in(const struct devices *devices, const struct node_slice *node_slice,
                          struct taint_list *list)
{
    for (size_t i = 0; i < node_slice->slice->n_devices; i++) {
        const struct device *device = &node_slice->slice->devices[i];
        if (device->node_pool == node_slice->node_pool && device->is_current)
            add_taints_of(devices, device, list);
    }
}

static const char *copy(struct arena *arena, const char *text)
{
    return text ? arena_strdup(arena, text) : NULL;
}

static void copy_texts(struct arena *arena, struct device_taint *taint)
{
    taint->driver = copy(arena, taint->driver);
    taint->device = copy(arena, taint->device);
    taint->rule = copy(arena, taint->rule);
    taint->key = copy(arena, taint->key);
    taint->value = copy(arena, taint->value);
    taint->effect = copy(arena, taint->effect);
    taint->details = copy(arena, taint->details);
}

size_t devices_taints_on(const struct devices *devices, const char *node_name, struct arena *arena,
                         struct device_taint **ret_taints)
{
    struct device_taint items[DEVICE_TAINTS_MAX];
    struct taint_list list = {.items = items, .work = DEVICE_RULES_VISITED};
    const struct device_place *place = NULL;
    const struct node_pool *node_pool = NULL;
    const struct node_slice *node_slice = NULL;
    HASH_FIND_STR(devices->places, node_name, place);
    DL_FOREACH2 (place ? place->node_pools : NULL, node_pool, next_here) {
        DL_FOREACH (node_pool->node_slices, node_slice) {
            add_taints_in(devices, node_slice, &list);
        }
    }
    for (size_t i = 0; i < list.n; i++)
        copy_texts(arena, &items[i]);
    *ret_taints = arena_copy(arena, items, list.n, sizeof *items);
    return list.n;
}
