/*
 * lookup: fields and items of maps, lists and optionals (cel-go's interpreter/attributes.go), and
 * the maps of a device (k8s.io/dynamic-resource-allocation/cel).
 */
#include "cel_priv.h"

#include <inttypes.h>
#include <string.h>

static bool is_in(const struct cel_fact *fact, const struct cel_value *map)
{
    return (fact->kind == CEL_QUANTITY) == map->is_capacity &&
           (map->kind == V_DOMAINS || (map->text.bytes && cel_text_is(map->text, fact->domain)));
}

static const char *key_of(const struct cel_fact *fact, const struct cel_value *map)
{
    return map->kind == V_DOMAINS ? fact->domain : fact->name;
}

/* The fact with that key; n_facts: there is none. */
static size_t find(const struct cel_run *run, const struct cel_value *map, struct cel_value key)
{
    const struct cel_device *device = run->device;
    for (size_t i = 0; key.kind == V_STRING && i < device->n_facts; i++)
        if (is_in(&device->facts[i], map) && cel_text_is(key.text, key_of(&device->facts[i], map)))
            return i;
    return device->n_facts;
}

bool cel_map_has(const struct cel_run *run, const struct cel_value *map, struct cel_value key)
{
    return find(run, map, key) < run->device->n_facts;
}

/* Whether the fact is the first one with its key. */
static bool is_first(const struct cel_run *run, const struct cel_value *map, size_t i)
{
    const struct cel_fact *fact = &run->device->facts[i];
    const char *key = key_of(fact, map);
    return is_in(fact, map) && find(run, map, cel_string((struct cel_text){key, strlen(key)})) == i;
}

size_t cel_map_size(const struct cel_run *run, const struct cel_value *map)
{
    size_t n = 0;
    for (size_t i = 0; i < run->device->n_facts; i++)
        n += is_first(run, map, i);
    return n;
}

struct cel_value cel_map_keys(struct cel_run *run, const struct cel_value *map)
{
    size_t n = cel_map_size(run, map);
    struct cel_value *keys = cel_take(run, (n + 1) * sizeof *keys);
    if (!keys)
        return cel_stop(run, "too much memory");
    size_t out = 0;
    for (size_t i = 0; i < run->device->n_facts; i++) {
        const char *key = key_of(&run->device->facts[i], map);
        if (is_first(run, map, i))
            keys[out++] = cel_string((struct cel_text){key, strlen(key)});
    }
    return (struct cel_value){.kind = V_LIST, .list = {keys, n}};
}

static struct cel_value no_such(struct cel_run *run, const char *what, struct cel_value key)
{
    if (key.kind == V_STRING)
        return cel_error(run, "%s: %.*s", what, (int)(key.text.len < 400 ? key.text.len : 400),
                         key.text.bytes);
    if (key.kind == V_INT)
        return cel_error(run, "%s: %" PRId64, what, key.integer);
    if (key.kind == V_UINT)
        return cel_error(run, "%s: %" PRIu64, what, key.natural);
    if (key.kind == V_BOOL)
        return cel_error(run, "%s: %s", what, key.boolean ? "true" : "false");
    return cel_error(run, "%s: %s", what, cel_type_name(&key));
}

static struct cel_value device_field(struct cel_run *run, struct cel_text name)
{
    const struct cel_device *device = run->device;
    if (cel_text_is(name, "driver"))
        return cel_string((struct cel_text){device->driver, strlen(device->driver)});
    if (cel_text_is(name, "allowMultipleAllocations"))
        return cel_bool(device->allows_multiple);
    return (struct cel_value){.kind = V_DOMAINS, .is_capacity = cel_text_is(name, "capacity")};
}

/* A whole number as a place in a list. False: the key cannot be one. */
static bool list_index(struct cel_value key, int64_t *ret)
{
    if (key.kind == V_INT)
        *ret = key.integer;
    else if (key.kind == V_UINT && key.natural <= INT64_MAX)
        *ret = (int64_t)key.natural;
    else if (key.kind == V_DOUBLE && key.real >= -1e15 && key.real <= 1e15 &&
             (double)(int64_t)key.real == key.real)
        *ret = (int64_t)key.real;
    else
        return false;
    return true;
}

static struct cel_value list_item(struct cel_run *run, struct cel_value list, struct cel_value key,
                                  bool *ret_found)
{
    int64_t i;
    *ret_found = true;
    if (!list_index(key, &i))
        return cel_error(run, "unsupported index type '%s' in list", cel_type_name(&key));
    *ret_found = i >= 0 && (uint64_t)i < list.list.n;
    return *ret_found ? list.list.items[i] : no_such(run, "index out of bounds", key);
}

/* An error if it is not found. */
static struct cel_value get(struct cel_run *run, struct cel_value object, struct cel_value key,
                            bool *ret_found)
{
    *ret_found = true;
    if (object.kind == V_DEVICE)
        return device_field(run, key.text);
    if (object.kind == V_LIST)
        return list_item(run, object, key, ret_found);
    if (object.kind == V_DOMAINS) { /* an unknown domain is an empty map */
        struct cel_value facts = {.kind = V_FACTS, .is_capacity = object.is_capacity};
        if (key.kind == V_STRING)
            facts.text = key.text;
        return facts;
    }
    size_t i = object.kind == V_FACTS ? find(run, &object, key) : run->device->n_facts;
    *ret_found = i < run->device->n_facts;
    return *ret_found ? run->facts[i] : no_such(run, "no such key", key);
}

static bool can_be_key(const struct cel_value *key)
{
    return key->kind == V_STRING || key->kind == V_INT || key->kind == V_UINT ||
           key->kind == V_BOOL || key->kind == V_DOUBLE;
}

struct cel_value cel_lookup(struct cel_run *run, struct cel_value object, struct cel_value key,
                            bool is_optional)
{
    bool found;
    if (object.kind == V_OPTIONAL && !object.some)
        return object;
    is_optional |= object.kind == V_OPTIONAL;
    if (object.kind == V_OPTIONAL)
        object = *object.some;
    if (!can_be_key(&key))
        return cel_error(run, "invalid qualifier type: %s", cel_type_name(&key));
    if (key.kind == V_DOUBLE && object.kind != V_LIST && object.kind != V_DOMAINS && !is_optional)
        return cel_stop(run, "uses a double as a key");
    struct cel_value value = get(run, object, key, &found);
    if (!is_optional || (found && value.kind == V_ERROR))
        return value;
    return found ? cel_optional(run, value) : (struct cel_value){.kind = V_OPTIONAL, .some = NULL};
}

struct cel_value cel_has(struct cel_run *run, struct cel_value object, struct cel_text field)
{
    bool found;
    if (object.kind == V_OPTIONAL && !object.some)
        return cel_bool(false);
    if (object.kind == V_OPTIONAL)
        object = *object.some;
    struct cel_value value = get(run, object, cel_string(field), &found);
    return found && value.kind == V_ERROR ? value : cel_bool(found);
}
