/* random_objects: see random_objects.h. Dice are thrown one after another: C leaves the order of
 * arguments open, and a seed must mean the same everywhere. */
#include "random_objects.h"

#include <stdbool.h>

#define POOLS 3
#define DEVICES_MAX 4
#define NAMES 8 /* of devices */
#define N_OF(array) ((unsigned)(sizeof(array) / sizeof *(array)))
#define HOST "kubernetes.io/hostname"
#define NVIDIA "gpu.nvidia.com"

static const char *const DRIVERS[] = {NVIDIA, "gpu.amd.com", "nic.example.com"};
static const char *const ZONES[] = {"z1", "z2"};
static const char *const MODELS[] = {"a", "b"};
static const char *const EFFECTS[] = {"NoSchedule", "NoExecute", "None"};
static const char *const SELECTORS[] = {
    "true",
    "device.driver == '" NVIDIA "'",
    "device.driver != '" NVIDIA "' || device.attributes['" NVIDIA "'].?index.orValue(0) < 2",
    "device.attributes[device.driver].productName == 'a'",
    "device.capacity[device.driver].memory.compareTo(quantity('30Gi')) > 0",
    "has(device.attributes['" NVIDIA "'].numa)",
    "device.attributes['" NVIDIA "'].numa == 1",
    "device.allowMultipleAllocations == true",
};

static const char *any_of(struct dice *dice, const char *const *texts, unsigned n)
{
    return texts[dice_below(dice, n)];
}

static void set(json_t *object, const char *key, json_t *value)
{
    (void)json_object_set_new(object, key, value);
}

static json_t *node_text(size_t i)
{
    return json_sprintf("node-%zu", i);
}

json_t *object_node(size_t i)
{
    json_t *labels = json_pack("{s:o}", HOST, node_text(i));
    if (i < N_OF(ZONES))
        set(labels, "zone", json_string(ZONES[i]));
    return json_pack("{s:{s:o, s:o}}", "metadata", "name", node_text(i), "labels", labels);
}

/* ---- slices ---- */

/* An int of 0 .. n - 1, as a text. */
static json_t *number(struct dice *dice, unsigned n)
{
    return json_sprintf("%u", dice_below(dice, n));
}

static json_t *selector(const char *list, const char *key, json_t *value)
{
    return json_pack("{s:[{s:[{s:s, s:s, s:[o]}]}]}", "nodeSelectorTerms", list, "key", key,
                     "operator", "In", "values", value);
}

/* Says of a slice or a device which nodes reach it. */
static void place(struct dice *dice, json_t *object)
{
    json_t *node = node_text(dice_below(dice, OBJECTS_NODES));
    switch (dice_below(dice, 9)) {
    case 0:
        set(object, "allNodes", json_true());
        break;
    case 1:
        set(object, "nodeSelector",
            selector("matchExpressions", "zone", json_string(any_of(dice, ZONES, N_OF(ZONES)))));
        break;
    case 2:
        set(object, "nodeSelector", selector("matchExpressions", HOST, json_incref(node)));
        break;
    case 3:
        set(object, "nodeSelector", selector("matchFields", "metadata.name", json_incref(node)));
        break;
    default:
        set(object, "nodeName", json_incref(node));
        break;
    }
    json_decref(node);
}

static json_t *random_taint(struct dice *dice)
{
    const char *effect = any_of(dice, EFFECTS, N_OF(EFFECTS));
    const char *key = dice_one_in(dice, 2) ? "k" : "l";
    return json_pack("{s:s, s:s, s:s}", "key", key, "value", "v", "effect", effect);
}

static json_t *random_attributes(struct dice *dice)
{
    json_t *attributes = json_object();
    if (!dice_one_in(dice, 8))
        set(attributes, "productName",
            json_pack("{s:s}", "string", any_of(dice, MODELS, N_OF(MODELS))));
    set(attributes, "index", json_pack("{s:i}", "int", (int)dice_below(dice, 4)));
    if (!dice_one_in(dice, 4))
        set(attributes, "numa", json_pack("{s:i}", "int", (int)dice_below(dice, 2)));
    return attributes;
}

static json_t *random_device(struct dice *dice, unsigned name)
{
    json_t *attributes = random_attributes(dice);
    json_t *memory = json_pack("{s:s}", "value", dice_one_in(dice, 2) ? "40Gi" : "20Gi");
    json_t *device = json_pack("{s:o, s:o, s:{s:o}}", "name", json_sprintf("d%u", name),
                               "attributes", attributes, "capacity", "memory", memory);
    if (dice_one_in(dice, 5))
        set(device, "allowMultipleAllocations", json_true());
    if (dice_one_in(dice, 3) && json_object_get(device, "allowMultipleAllocations"))
        set(memory, "requestPolicy",
            json_pack("{s:s, s:{s:s, s:s}}", "default", "4Gi", "validRange", "min", "2Gi", "step",
                      "2Gi"));
    if (dice_one_in(dice, 8))
        set(device, "taints", json_pack("[o]", random_taint(dice)));
    if (dice_one_in(dice, 20))
        set(device, "bindingConditions", json_pack("[s]", "ready"));
    if (dice_one_in(dice, 60))
        set(device, "invented", json_true());
    return device;
}

static json_t *random_counters(struct dice *dice, const char *key, unsigned set_number, unsigned n)
{
    json_t *memory = number(dice, n);
    json_t *parts = number(dice, n);
    return json_pack("{s:o, s:{s:{s:o}, s:{s:o}}}", key, json_sprintf("set-%u", set_number),
                     "counters", "memory", "value", memory, "parts", "value", parts);
}

json_t *random_slice(struct dice *dice, size_t i)
{
    const size_t pool = dice_one_in(dice, 20) ? dice_below(dice, POOLS) : i / 2 % POOLS;
    const char *driver =
        dice_one_in(dice, 20) ? any_of(dice, DRIVERS, N_OF(DRIVERS)) : DRIVERS[i % N_OF(DRIVERS)];
    const json_int_t generation = 1 + (json_int_t)dice_below(dice, 2);
    const json_int_t n_slices = 1 + (json_int_t)dice_below(dice, 2);
    json_t *devices = json_array();
    json_t *spec = json_pack("{s:s, s:{s:o, s:I, s:I}, s:O}", "driver", driver, "pool", "name",
                             json_sprintf("pool-%zu", pool), "generation", generation,
                             "resourceSliceCount", n_slices, "devices", devices);
    for (unsigned d = dice_below(dice, DEVICES_MAX + 1); d > 0; d--)
        (void)json_array_append_new(devices, random_device(dice, dice_below(dice, NAMES)));
    if (dice_one_in(dice, 6)) {
        set(spec, "perDeviceNodeSelection", json_true());
        for (size_t d = 0; d < json_array_size(devices); d++)
            place(dice, json_array_get(devices, d));
    } else {
        place(dice, spec);
    }
    if (dice_one_in(dice, 8))
        set(spec, "sharedCounters", json_pack("[o]", random_counters(dice, "name", 0, 6)));
    json_decref(devices);
    return json_pack("{s:{s:o}, s:o}", "metadata", "name", json_sprintf("slice-%zu", i), "spec",
                     spec);
}

/* Each device its own name and, with_sets, a part of a counter set. */
static void repair_devices(struct dice *dice, json_t *devices, bool with_sets, unsigned *n_names)
{
    for (size_t d = 0; d < json_array_size(devices); d++) {
        json_t *device = json_array_get(devices, d);
        set(device, "name", json_sprintf("d%u", *n_names));
        (void)json_object_del(device, "consumesCounters");
        if (with_sets)
            set(device, "consumesCounters",
                json_pack("[o]", random_counters(dice, "counterSet", *n_names % 2, 3)));
        ++*n_names;
    }
}

static void add_sets(struct dice *dice, json_t *spec)
{
    json_t *sets = json_array();
    for (unsigned i = 0; i < 2; i++)
        (void)json_array_append_new(sets, random_counters(dice, "name", i, 6));
    set(spec, "sharedCounters", sets);
    set(spec, "devices", json_array());
}

void repair_pool(struct dice *dice, json_t **slices, size_t n)
{
    const bool with_sets = n > 1 && dice_one_in(dice, 2);
    const json_int_t generation = 1 + (json_int_t)dice_below(dice, 3);
    unsigned n_names = 0;
    for (size_t i = 0; i < n; i++) {
        json_t *spec = json_object_get(slices[i], "spec");
        json_t *pool = json_object_get(spec, "pool");
        set(pool, "generation", json_integer(generation));
        set(pool, "resourceSliceCount", json_integer((json_int_t)n));
        (void)json_object_del(spec, "sharedCounters");
        if (with_sets && i == 0)
            add_sets(dice, spec);
        repair_devices(dice, json_object_get(spec, "devices"), with_sets, &n_names);
    }
}

/* ---- claims, rules, classes ---- */

json_t *random_claim(struct dice *dice, size_t i)
{
    json_t *results = json_array();
    for (unsigned r = dice_below(dice, 4); r > 0; r--) {
        const char *driver = any_of(dice, DRIVERS, N_OF(DRIVERS));
        json_t *pool = json_sprintf("pool-%u", dice_below(dice, POOLS));
        json_t *name = json_sprintf("d%u", dice_below(dice, NAMES));
        json_t *result = json_pack("{s:s, s:s, s:o, s:o}", "request", "r", "driver", driver, "pool",
                                   pool, "device", name);
        if (dice_one_in(dice, 6))
            set(result, "adminAccess", json_true());
        if (dice_one_in(dice, 3))
            set(result, "shareID", json_string("0b17b2a1-6d35-4f6b-8d43-9ff9c2ff5d60"));
        if (json_object_get(result, "shareID") && !dice_one_in(dice, 4))
            set(result, "consumedCapacity",
                json_pack("{s:s}", "memory", dice_one_in(dice, 2) ? "4Gi" : "18Gi"));
        (void)json_array_append_new(results, result);
    }
    return json_pack("{s:{s:o, s:s, s:o}, s:{}, s:{s:{s:{s:o}}}}", "metadata", "name",
                     json_sprintf("claim-%zu", i), "namespace", "ml", "uid",
                     json_sprintf("uid-%zu", i), "spec", "status", "allocation", "devices",
                     "results", results);
}

json_t *random_rule(struct dice *dice, size_t i)
{
    json_t *selects = json_object();
    json_t *spec = json_pack("{s:o}", "taint", random_taint(dice));
    if (dice_one_in(dice, 2))
        set(selects, "driver", json_string(any_of(dice, DRIVERS, N_OF(DRIVERS))));
    if (dice_one_in(dice, 2))
        set(selects, "pool", json_sprintf("pool-%u", dice_below(dice, POOLS)));
    if (dice_one_in(dice, 2))
        set(selects, "device", json_sprintf("d%u", dice_below(dice, NAMES)));
    if (!dice_one_in(dice, 8))
        set(spec, "deviceSelector", json_incref(selects));
    json_decref(selects);
    return json_pack("{s:{s:o}, s:o}", "metadata", "name", json_sprintf("rule-%zu", i), "spec",
                     spec);
}

static json_t *random_selectors(struct dice *dice)
{
    json_t *selectors = json_array();
    for (unsigned n = dice_below(dice, 3); n > 0; n--)
        (void)json_array_append_new(selectors, json_pack("{s:{s:s}}", "cel", "expression",
                                                         any_of(dice, SELECTORS, N_OF(SELECTORS))));
    return selectors;
}

json_t *random_class(struct dice *dice, size_t i)
{
    return json_pack("{s:{s:o}, s:{s:o}}", "metadata", "name", json_sprintf("class-%zu", i), "spec",
                     "selectors", random_selectors(dice));
}

/* ---- what a pod asks for ---- */

static json_t *random_want(struct dice *dice, bool can_be_admin)
{
    json_t *class = json_sprintf("class-%u", dice_below(dice, OBJECTS_CLASSES));
    json_t *want =
        json_pack("{s:o, s:i}", "deviceClassName", class, "count", 1 + (int)dice_below(dice, 3));
    if (dice_one_in(dice, 8)) {
        (void)json_object_del(want, "count");
        set(want, "allocationMode", json_string("All"));
    }
    if (dice_one_in(dice, 2))
        set(want, "selectors", random_selectors(dice));
    if (can_be_admin && dice_one_in(dice, 8))
        set(want, "adminAccess", json_true());
    if (dice_one_in(dice, 4))
        set(want, "tolerations", json_pack("[{s:s, s:s}]", "key", "k", "operator", "Exists"));
    if (dice_one_in(dice, 4))
        set(want, "capacity", json_pack("{s:{s:s}}", "requests", "memory", "10Gi"));
    return want;
}

static json_t *random_request(struct dice *dice, unsigned i)
{
    json_t *name = json_sprintf("r%u", i);
    if (!dice_one_in(dice, 4))
        return json_pack("{s:o, s:o}", "name", name, "exactly", random_want(dice, true));
    json_t *alternatives = json_array();
    for (unsigned a = 0; a < 2; a++) {
        json_t *want = random_want(dice, false);
        set(want, "name", json_sprintf("a%u", a));
        (void)json_array_append_new(alternatives, want);
    }
    return json_pack("{s:o, s:o}", "name", name, "firstAvailable", alternatives);
}

static json_t *random_constraint(struct dice *dice)
{
    const char *kind = dice_one_in(dice, 3) ? "distinctAttribute" : "matchAttribute";
    const char *attribute = dice_one_in(dice, 2) ? NVIDIA "/numa" : NVIDIA "/productName";
    return json_pack("[{s:s}]", kind, attribute);
}

json_t *random_asked(struct dice *dice)
{
    json_t *claims = json_array();
    const unsigned n_claims = 1 + dice_one_in(dice, 3);
    for (unsigned c = 0; c < n_claims; c++) {
        json_t *requests = json_array();
        const unsigned n_requests = 1 + dice_one_in(dice, 3);
        for (unsigned r = 0; r < n_requests; r++)
            (void)json_array_append_new(requests, random_request(dice, r));
        json_t *devices = json_pack("{s:o}", "requests", requests);
        if (dice_one_in(dice, 4))
            set(devices, "constraints", random_constraint(dice));
        (void)json_array_append_new(
            claims, json_pack("{s:{s:s, s:o}, s:{s:o}}", "metadata", "namespace", "ml", "name",
                              json_sprintf("asked-%u", c), "spec", "devices", devices));
    }
    return claims;
}
