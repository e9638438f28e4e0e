/* taint_rules: DeviceTaintRules, and the devices that they taint. */
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
