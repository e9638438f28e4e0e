/* question: see question.h. Node selectors have one term with the operators In and Exists. */
#include "question.h"

#include "device_json.h"
#include "objects/claim_spec.h"
#include "types/quantity.h"
#include "types/selector.h"

#include <string.h>

struct reading {
    const json_t *json;
    struct arena *arena;
    const char *node_name;
    struct label_view labels;
    const struct allocate_class *classes;
    size_t n_classes;
};

static void read_labels(struct reading *reading, const json_t *node)
{
    json_t *metadata = json_object_get(node, "metadata");
    json_t *labels = json_object_get(metadata, "labels"), *value;
    struct label *kept = ARENA_ARRAY(reading->arena, struct label, json_object_size(labels) + 1);
    const char *key;
    reading->node_name = json_text(metadata, "name");
    reading->labels = (struct label_view){.node_name = reading->node_name, .labels = kept};
    json_object_foreach (labels, key, value)
        kept[reading->labels.n_labels++] = (struct label){key, json_string_value(value)};
    labels_sort(kept, reading->labels.n_labels);
}

static bool requirements_hold(const struct reading *reading, const json_t *requirements,
                              bool is_field)
{
    size_t i, j;
    json_t *item, *value;
    json_array_foreach (requirements, i, item) {
        json_t *values = json_object_get(item, "values");
        const char **texts = ARENA_ARRAY(reading->arena, const char *, json_array_size(values) + 1);
        json_array_foreach (values, j, value)
            texts[j] = json_string_value(value);
        struct requirement requirement = {
            .key = json_text(item, "key"),
            .op = strcmp(json_text(item, "operator"), "In") == 0 ? SELECTOR_IN : SELECTOR_EXISTS,
            .values = texts,
            .n_values = json_array_size(values),
            .is_field = is_field};
        if (!requirement_holds(&requirement, &reading->labels))
            return false;
    }
    return true;
}

static bool selector_holds(const struct reading *reading, const json_t *selector)
{
    json_t *term = json_array_get(json_object_get(selector, "nodeSelectorTerms"), 0);
    json_t *fields = json_object_get(term, "matchFields");
    json_t *labels = json_object_get(term, "matchExpressions");
    return json_array_size(fields) + json_array_size(labels) > 0 &&
           requirements_hold(reading, fields, true) && requirements_hold(reading, labels, false);
}

/* NodeMatches() upstream. */
static bool reaches_node(const struct reading *reading, const json_t *object)
{
    const char *name = json_text(object, "nodeName");
    json_t *selector = json_object_get(object, "nodeSelector");
    if (name[0])
        return strcmp(name, reading->node_name) == 0;
    if (json_is_true(json_object_get(object, "allNodes")))
        return true;
    return selector && selector_holds(reading, selector);
}

static void read_classes(struct reading *reading)
{
    json_t *list = json_object_get(reading->json, "classes"), *item;
    size_t i;
    reading->n_classes = json_array_size(list);
    struct allocate_class *classes =
        ARENA_ARRAY(reading->arena, struct allocate_class, reading->n_classes + 1);
    json_array_foreach (list, i, item) {
        classes[i].name = json_text(json_object_get(item, "metadata"), "name");
        classes[i].selectors = claim_spec_selectors(
            json_object_get(json_object_get(item, "spec"), "selectors"), reading->arena);
    }
    reading->classes = classes;
}

static struct allocate_counter read_counter(const char *name, const json_t *value)
{
    struct allocate_counter counter = {.name = name, .amount = -1};
    struct err err;
    (void)quantity_whole(json_text(value, "value"), &counter.amount, &err);
    return counter;
}

/* Of sharedCounters or consumesCounters. */
static const struct allocate_counter_set *read_sets(const struct reading *reading,
                                                    const json_t *list, const char *name_key)
{
    struct allocate_counter_set *sets =
        ARENA_ARRAY(reading->arena, struct allocate_counter_set, json_array_size(list) + 1);
    size_t i;
    json_t *item, *value;
    const char *name;
    json_array_foreach (list, i, item) {
        json_t *counters = json_object_get(item, "counters");
        struct allocate_counter *kept =
            ARENA_ARRAY(reading->arena, struct allocate_counter, json_object_size(counters) + 1);
        sets[i] =
            (struct allocate_counter_set){.name = json_text(item, name_key), .counters = kept};
        json_object_foreach (counters, name, value)
            kept[sets[i].n_counters++] = read_counter(name, value);
    }
    return sets;
}

static const struct allocate_taint *read_taints(const struct reading *reading, const json_t *list)
{
    struct allocate_taint *taints =
        ARENA_ARRAY(reading->arena, struct allocate_taint, json_array_size(list) + 1);
    size_t i;
    json_t *item;
    json_array_foreach (list, i, item)
        taints[i] = (struct allocate_taint){.key = json_text(item, "key"),
                                            .value = json_text(item, "value"),
                                            .effect = json_text(item, "effect")};
    return taints;
}

static bool is_id(const json_t *result, const struct allocate_slice *slice, const char *device)
{
    return strcmp(json_text(result, "driver"), slice->driver) == 0 &&
           strcmp(json_text(result, "pool"), slice->pool) == 0 &&
           strcmp(json_text(result, "device"), device) == 0;
}

static int64_t read_amount(const json_t *value)
{
    int64_t amount = ALLOCATE_UNKNOWN;
    struct err err;
    if (!value)
        return ALLOCATE_UNSET;
    (void)quantity_whole(json_string_value(value), &amount, &err);
    return amount;
}

static const struct allocate_policy *read_policy(const struct reading *reading, const json_t *json)
{
    json_t *range = json_object_get(json, "validRange");
    json_t *list = json_object_get(json, "validValues"), *item;
    size_t n = json_array_size(list), i;
    int64_t *values = ARENA_ARRAY(reading->arena, int64_t, n + 1);
    json_array_foreach (list, i, item)
        values[i] = read_amount(item);
    struct allocate_policy *policy = ARENA_NEW(reading->arena, struct allocate_policy);
    *policy = (struct allocate_policy){.fallback = read_amount(json_object_get(json, "default")),
                                       .has_range = range != NULL,
                                       .min = read_amount(json_object_get(range, "min")),
                                       .max = read_amount(json_object_get(range, "max")),
                                       .step = read_amount(json_object_get(range, "step")),
                                       .values = values,
                                       .n_values = n};
    return json ? policy : NULL;
}

static void read_capacities(const struct reading *reading, const json_t *json,
                            struct allocate_device *device, struct allocate_capacity *ret)
{
    const char *name;
    json_t *capacity;
    json_object_foreach (json_object_get(json, "capacity"), name, capacity)
        ret[device->n_capacities++] = (struct allocate_capacity){
            .name = name,
            .value = read_amount(json_object_get(capacity, "value")),
            .policy = read_policy(reading, json_object_get(capacity, "requestPolicy"))};
    device->capacities = ret;
}

static void consume(const json_t *consumed, struct allocate_capacity *capacities, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        json_t *value = json_object_get(consumed, capacities[i].name);
        int64_t amount = value ? read_amount(value) : 0;
        bool is_known = amount >= 0 && capacities[i].consumed >= 0;
        capacities[i].consumed = is_known ? capacities[i].consumed + amount : ALLOCATE_UNKNOWN;
    }
}

/* What allocations of these claims do to the device. */
static void apply_claims(const json_t *claims, const struct allocate_slice *slice,
                         struct allocate_device *device, struct allocate_capacity *capacities)
{
    size_t i, j;
    json_t *claim, *result;
    json_array_foreach (claims, i, claim) {
        json_t *allocation = json_object_get(json_object_get(claim, "status"), "allocation");
        json_t *results = json_object_get(json_object_get(allocation, "devices"), "results");
        json_array_foreach (results, j, result) {
            if (!is_id(result, slice, device->name) ||
                json_is_true(json_object_get(result, "adminAccess")))
                continue;
            bool is_shared = json_object_get(result, "shareID") != NULL;
            json_t *consumed = json_object_get(result, "consumedCapacity");
            device->has_consumed_capacity |= is_shared && consumed;
            if (is_shared)
                consume(consumed, capacities, device->n_capacities);
            device->is_shared |= is_shared;
            device->is_allocated |= !is_shared;
        }
    }
}

/* Upstream goes over such attributes in no order. */
static bool has_fact_twice(const struct cel_device *device)
{
    for (size_t i = 0; i < device->n_facts; i++) {
        for (size_t j = 0; j < i; j++) {
            const struct cel_fact *a = &device->facts[i], *b = &device->facts[j];
            if ((a->kind == CEL_QUANTITY) == (b->kind == CEL_QUANTITY) &&
                strcmp(a->domain, b->domain) == 0 && strcmp(a->name, b->name) == 0)
                return true;
        }
    }
    return false;
}

static struct allocate_device read_device(const struct reading *reading, const json_t *json,
                                          const struct allocate_slice *slice)
{
    struct cel_device *facts = ARENA_NEW(reading->arena, struct cel_device);
    *facts = device_from_json(json, slice->driver, reading->arena);
    json_t *taints = json_object_get(json, "taints");
    json_t *consumes = json_object_get(json, "consumesCounters");
    struct allocate_device device = {
        .name = json_text(json, "name"),
        .facts = facts,
        .taints = read_taints(reading, taints),
        .n_taints = json_array_size(taints),
        .consumes = read_sets(reading, consumes, "counterSet"),
        .n_consumes = json_array_size(consumes),
        .binding_conditions = json_object_get(json, "bindingConditions") ? "some" : NULL,
        .not_judged = has_fact_twice(facts) ? "an attribute twice" : NULL,
    };
    struct allocate_capacity *capacities =
        ARENA_ARRAY(reading->arena, struct allocate_capacity,
                    json_object_size(json_object_get(json, "capacity")) + 1);
    read_capacities(reading, json, &device, capacities);
    apply_claims(json_object_get(reading->json, "others"), slice, &device, capacities);
    apply_claims(json_object_get(reading->json, "claims"), slice, &device, capacities);
    return device;
}

static struct allocate_slice read_slice(const struct reading *reading, const json_t *json)
{
    json_t *spec = json_object_get(json, "spec"), *pool = json_object_get(spec, "pool");
    json_t *list = json_object_get(spec, "devices"), *item;
    json_t *sets = json_object_get(spec, "sharedCounters");
    size_t n = json_array_size(list), i;
    struct allocate_slice slice = {
        .name = json_text(json_object_get(json, "metadata"), "name"),
        .driver = json_text(spec, "driver"),
        .pool = json_text(pool, "name"),
        .generation = json_integer_value(json_object_get(pool, "generation")),
        .n_slices = json_integer_value(json_object_get(pool, "resourceSliceCount")),
        .reaches_node = reaches_node(reading, spec),
        .shared_counters = read_sets(reading, sets, "name"),
        .n_shared_counters = json_array_size(sets),
        .n_devices = n,
    };
    struct allocate_device *devices = ARENA_ARRAY(reading->arena, struct allocate_device, n + 1);
    bool *reach = ARENA_ARRAY(reading->arena, bool, n + 1);
    json_array_foreach (list, i, item) {
        devices[i] = read_device(reading, item, &slice);
        reach[i] = reaches_node(reading, item);
    }
    slice.devices = devices;
    if (json_is_true(json_object_get(spec, "perDeviceNodeSelection")))
        slice.devices_reach = reach;
    return slice;
}

static const struct allocate_slice *read_slices(const struct reading *reading, const json_t *list)
{
    struct allocate_slice *slices =
        ARENA_ARRAY(reading->arena, struct allocate_slice, json_array_size(list) + 1);
    size_t i;
    json_t *item;
    json_array_foreach (list, i, item)
        slices[i] = read_slice(reading, item);
    return slices;
}

static const struct allocate_class *find_class(void *context, const char *name)
{
    const struct reading *reading = context;
    for (size_t i = 0; i < reading->n_classes; i++) {
        if (strcmp(reading->classes[i].name, name) == 0)
            return &reading->classes[i];
    }
    return NULL;
}

static bool covers(void *context, const char *name, const char *driver)
{
    (void)context;
    (void)name;
    (void)driver;
    return true;
}

static struct allocate_claim read_claim(struct reading *reading, const json_t *json)
{
    const struct claim_classes classes = {find_class, covers, reading};
    json_t *metadata = json_object_get(json, "metadata");
    json_t *allocation = json_object_get(json_object_get(json, "status"), "allocation");
    json_t *selector = json_object_get(allocation, "nodeSelector");
    const struct claim_spec spec =
        claim_spec_from_json(json_object_get(json, "spec"), &classes, reading->arena);
    return (struct allocate_claim){.namespace_ = json_text(metadata, "namespace"),
                                   .name = json_text(metadata, "name"),
                                   .requests = spec.requests,
                                   .n_requests = spec.n_requests,
                                   .constraints = spec.constraints,
                                   .n_constraints = spec.n_constraints,
                                   .is_allocated = allocation != NULL,
                                   .reaches_node = !selector || selector_holds(reading, selector)};
}

struct allocate_question question_from_json(const json_t *json, struct arena *arena)
{
    struct reading reading = {.json = json, .arena = arena};
    read_labels(&reading, json_object_get(json, "node"));
    read_classes(&reading);
    json_t *list = json_object_get(json, "claims"), *item;
    struct allocate_claim *claims =
        ARENA_ARRAY(arena, struct allocate_claim, json_array_size(list) + 1);
    size_t i;
    json_array_foreach (list, i, item)
        claims[i] = read_claim(&reading, item);
    json_t *slices = json_object_get(json, "slices");
    json_t *max_steps = json_object_get(json, "maxSteps");
    return (struct allocate_question){
        .slices = read_slices(&reading, slices),
        .n_slices = json_array_size(slices),
        .claims = claims,
        .n_claims = json_array_size(list),
        .max_steps = max_steps ? (uint64_t)json_integer_value(max_steps) : ALLOCATE_STEPS_MAX};
}
