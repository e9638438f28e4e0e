/* resource_slice: see include/objects/resource_slice.h. */
#include "objects/resource_slice.h"

#include "device_attributes.h"
#include "fields.h"
#include "formats/json_get.h"
#include "objects/device_details.h"
#include "objects/identity.h"
#include "partition.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct slice_reading {
    const char *driver;
    const struct device_driver *gpus; /* NULL: the policy does not name the driver */
    struct arena *arena;
    /* The members of the slice that apply to all its devices. */
    bool per_device;
    bool is_reach_known;
    const struct device_facts *before; /* the device read last; NULL: none */
};

/* ---- which nodes reach it ---- */

/* The node that a selector picks by name; "": another selector. Borrowed. */
static const char *selected_node(const json_t *selector)
{
    const json_t *terms = json_member(selector, "nodeSelectorTerms");
    const json_t *term = json_array_get(terms, 0);
    const json_t *fields = json_member(term, "matchFields");
    const json_t *field = json_array_get(fields, 0);
    const json_t *values = json_member(field, "values");
    const char *key = json_string_value(json_member(field, "key"));
    const char *op = json_string_value(json_member(field, "operator"));
    const char *name = json_string_value(json_array_get(values, 0));
    bool is_by_name = json_array_size(terms) == 1 && json_array_size(fields) == 1 &&
                      json_array_size(json_member(term, "matchExpressions")) == 0 &&
                      json_array_size(values) == 1 && key && strcmp(key, "metadata.name") == 0 &&
                      op && strcmp(op, "In") == 0;
    return is_by_name && name ? name : "";
}

/* A slice and a device say it in the same words. ret_node: "" for several nodes. False: in none
 * that is known. */
static bool read_reach(const json_t *object, struct arena *arena, const char **ret_node)
{
    const char *name = json_string_value(json_member(object, "nodeName"));
    const json_t *selector = json_member(object, "nodeSelector");
    const char *node = name ? name : selected_node(selector);
    bool is_known = (name && name[0]) || selector || json_is_true(json_member(object, "allNodes"));
    if (!is_known || strlen(node) > META_NAME_BYTES_MAX)
        return false;
    *ret_node = arena_strdup(arena, node);
    return true;
}

/* says_reach: the nodes are said here, for all devices or for this one. */
static bool selects_several(const json_t *object, bool says_reach, const char *node_name)
{
    return says_reach && !node_name[0] && json_member(object, "nodeSelector");
}

/* ---- a device ---- */

/* Finds an attribute or capacity, whose name may be written with the driver's domain or without. */
static const json_t *find_qualified(const struct slice_reading *reading, const json_t *map,
                                    const char *name)
{
    char qualified[2 * META_NAME_BYTES_MAX];
    const json_t *value = json_member(map, name);
    if (value)
        return value;
    (void)snprintf(qualified, sizeof qualified, "%s/%s", reading->driver, name);
    return json_member(map, qualified);
}

/* False: it has another type, or is too long. Unchanged if absent. */
static bool read_attribute(const struct slice_reading *reading, const json_t *attributes,
                           const char *name, const char **ret_text)
{
    const json_t *value = find_qualified(reading, attributes, name);
    const char *text = json_string_value(json_member(value, "string"));
    if (!value)
        return true;
    if (!text || strlen(text) > META_NAME_BYTES_MAX)
        return false;
    *ret_text = arena_strdup(reading->arena, text);
    return true;
}

/* Unchanged if it has none. */
static bool read_memory(const struct slice_reading *reading, const json_t *content,
                        int64_t *ret_bytes)
{
    const json_t *memory = find_qualified(reading, json_member(content, "capacity"), "memory");
    return !memory || counter_amount(json_member(memory, "value"), ret_bytes, NULL) == 0;
}

static bool read_taints(const json_t *content, bool *ret_is_tainted)
{
    size_t i = 0;
    json_t *taint = NULL;
    json_array_foreach (json_member(content, "taints"), i, taint) {
        const char *effect = json_string_value(json_member(taint, "effect"));
        if (!effect)
            return false;
        if (strcmp(effect, "NoSchedule") == 0 || strcmp(effect, "NoExecute") == 0)
            *ret_is_tainted = true;
        else if (strcmp(effect, "None") != 0)
            return false;
    }
    return true;
}

static bool read_consumed(const struct slice_reading *reading, const json_t *content,
                          struct device_facts *facts, bool *ret_is_rounded)
{
    struct counter_sets sets = {0};
    if (counter_sets_read(content, "consumesCounters", "counterSet", reading->arena, &sets, NULL) <
        0)
        return false;
    facts->consumes = sets.items;
    facts->n_consumes = sets.n;
    *ret_is_rounded = sets.is_rounded;
    return true;
}

/* For counting. */
static bool read_gpu(const struct slice_reading *reading, const json_t *content,
                     struct device_facts *facts)
{
    const json_t *attributes = json_member(content, "attributes");
    bool is_judged =
        read_attribute(reading, attributes, reading->gpus->model_attribute, &facts->model);
    is_judged &= read_attribute(reading, attributes, "profile", &facts->profile);
    is_judged &= read_memory(reading, content, &facts->memory_bytes);
    return is_judged;
}

/* All parts are read, also if one is not understood. */
static void read_content(const struct slice_reading *reading, const json_t *content,
                         struct device_facts *facts)
{
    struct device_details_source source = {0};
    bool is_judged = reading->per_device ? read_reach(content, reading->arena, &facts->node_name)
                                         : reading->is_reach_known;
    if (reading->gpus)
        is_judged &= read_gpu(reading, content, facts);
    is_judged &= read_taints(content, &facts->is_tainted);
    is_judged &= read_consumed(reading, content, facts, &source.is_rounded);
    device_attributes_read(content, reading->driver, reading->before, reading->arena, facts);
    if (reading->gpus)
        partition_read(reading->driver, reading->arena, facts);
    source.has_selector = selects_several(content, reading->per_device, facts->node_name);
    facts->details = device_details_text(content, reading->driver, &source, reading->arena);
    facts->not_judged = !is_judged;
}

static int read_device(const struct slice_reading *reading, const json_t *device,
                       struct device_facts *ret_facts, struct err *err)
{
    struct device_facts facts = {
        .name = "", .model = "", .profile = "", .physical = "", .node_name = ""};
    const json_t *basic = json_member(device, "basic"); /* v1beta1 */
    int r = meta_name(device, "name", reading->arena, &facts.name, err);
    if (r < 0)
        return r;
    if (!facts.name[0])
        return err_set(err, EINVAL, "name: is missing");
    read_content(reading, basic ? basic : device, &facts);
    *ret_facts = facts;
    return 0;
}

static int read_devices(struct slice_reading *reading, const json_t *spec,
                        struct slice_facts *facts, struct err *err)
{
    json_t *list = NULL;
    int r = json_get_array(spec, "devices", &list, err);
    const size_t n = json_array_size(list);
    if (r < 0)
        return r;
    if (n > SLICE_DEVICES_MAX)
        return err_set(err, EINVAL, "devices: are %zu, should be at most %d", n, SLICE_DEVICES_MAX);
    struct device_facts *devices = ARENA_ARRAY(reading->arena, struct device_facts, n);
    for (size_t i = 0; i < n; i++) {
        json_t *device = NULL;
        if ((r = element_object(list, i, "devices", &device, err)) < 0)
            return r;
        if ((r = read_device(reading, device, &devices[i], err)) < 0) {
            err_prefix(err, "devices[%zu].", i);
            return r;
        }
        reading->before = &devices[i];
    }
    if (reading->gpus)
        partition_compare(devices, n);
    facts->devices = devices;
    facts->n_devices = n;
    return 0;
}

/* ---- the slice ---- */

static int read_pool(const json_t *spec, struct arena *arena, struct slice_facts *facts,
                     struct err *err)
{
    json_t *pool = NULL;
    int r = json_get_object(spec, "pool", &pool, err);
    if (r < 0)
        return r;
    if ((r = meta_name(pool, "name", arena, &facts->pool, err)) == 0 &&
        (r = json_get_integer(pool, "generation", &facts->generation, err)) == 0)
        r = json_get_integer(pool, "resourceSliceCount", &facts->n_slices, err);
    if (r == 0 && !facts->pool[0])
        r = err_set(err, EINVAL, "name: is missing");
    if (r == 0 && facts->generation < 0)
        r = err_set(err, EINVAL, "generation: is %lld, should be at least 0",
                    (long long)facts->generation);
    if (r == 0 && facts->n_slices < 1)
        r = err_set(err, EINVAL, "resourceSliceCount: is %lld, should be at least 1",
                    (long long)facts->n_slices);
    if (r < 0)
        err_prefix(err, "pool.");
    return r;
}

static int read_contents(const json_t *spec, const struct device_driver *gpus, struct arena *arena,
                         struct slice_facts *facts, struct err *err)
{
    struct slice_reading reading = {.driver = facts->driver, .gpus = gpus, .arena = arena};
    struct counter_sets sets = {0};
    reading.is_reach_known = read_reach(spec, arena, &facts->node_name);
    reading.per_device =
        !reading.is_reach_known && json_is_true(json_member(spec, "perDeviceNodeSelection"));
    facts->per_device = reading.per_device;
    int r = counter_sets_read(spec, "sharedCounters", "name", arena, &sets, err);
    if (r < 0)
        return r;
    facts->counter_sets = sets.items;
    facts->n_counter_sets = sets.n;
    const struct device_details_source source = {
        .has_selector = selects_several(spec, reading.is_reach_known, facts->node_name),
        .is_rounded = sets.is_rounded};
    facts->details = slice_details_text(spec, &source, arena);
    return read_devices(&reading, spec, facts, err);
}

/* Reads a slice of a driver that the policy does not name. Nothing counts its devices, so a fault
 * is not reported. */
static void read_others(const json_t *spec, struct arena *arena, struct slice_facts *facts)
{
    const struct slice_facts without = *facts;
    struct err err;
    if (read_contents(spec, NULL, arena, facts, &err) == 0)
        return;
    *facts = without;
    facts->is_unreadable = true;
}

static int read_spec(const json_t *spec, const struct policy *policy, struct arena *arena,
                     struct slice_facts *facts, struct err *err)
{
    int r = meta_name(spec, "driver", arena, &facts->driver, err);
    if (r == 0 && !facts->driver[0])
        r = err_set(err, EINVAL, "driver: is missing");
    if (r == 0)
        r = read_pool(spec, arena, facts, err);
    const struct device_driver *gpus = policy_device_driver(policy, facts->driver);
    if (r == 0 && gpus)
        r = read_contents(spec, gpus, arena, facts, err);
    else if (r == 0)
        read_others(spec, arena, facts);
    if (r < 0)
        err_prefix(err, "spec.");
    return r;
}

int resource_slice_from_json(const json_t *object, const struct policy *policy, struct arena *arena,
                             struct slice_facts *ret_facts, struct err *err)
{
    struct slice_facts facts = {.name = "", .driver = "", .pool = "", .node_name = ""};
    struct identity identity;
    json_t *spec = NULL;
    int r = identity_from_json(object, arena, &identity, err);
    if (r == 0)
        r = json_get_object(object, "spec", &spec, err);
    if (r == 0)
        r = read_spec(spec, policy, arena, &facts, err);
    if (r < 0)
        return r;
    facts.name = identity.name;
    *ret_facts = facts;
    return 0;
}
