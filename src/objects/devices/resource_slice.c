/* resource_slice: see include/objects/claims.h. */
#include "base/arena.h"
#include "base/err.h"
#include "formats/json_values.h"
#include "objects/claims.h"
#include "objects/device_details.h"
#include "objects/devices/selector_texts.h"
#include "objects/fields.h"
#include "objects/identity.h"
#include "types/device_facts.h"
#include "types/quantity.h"

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- partitions of GPUs, and the counters that they consume ---- */

/* ---- counter sets ---- */

/* The counters of a pool, and what a device consumes of them. */

struct counter_sets {
    const struct counter_set *items;
    size_t n;
    bool is_rounded; /* some amounts are no whole numbers */
};

/* ---- counter sets ---- */

/* Kubernetes 1.33 to 1.37 allow at most so many, or fewer. */
#define SETS_MAX 32
#define COUNTERS_MAX 32

/* A quantity, rounded up; INT64_MAX if it is larger. -EINVAL: no quantity, or negative. */
static int counter_amount(const json_t *value, int64_t *ret_amount, struct err *err)
{
    int r = quantity_json_amount(value, "", ret_amount, err);
    if (r != -ERANGE)
        return r;
    *ret_amount = INT64_MAX;
    return 0;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct device_counter *)a)->name,
                  ((const struct device_counter *)b)->name);
}

static bool is_whole(const json_t *value)
{
    char number[QUANTITY_JSON_NUMBER_BYTES];
    const char *text = "";
    int64_t amount = 0;
    struct err err;
    return quantity_json_text(value, number, &text, &err) == 0 &&
           quantity_whole(text, &amount, &err) != -EINVAL;
}

static int read_counters(const json_t *object, struct arena *arena, struct counter_set *set,
                         bool *ret_is_rounded, struct err *err)
{
    json_t *values = NULL;
    int r = json_get_object(object, "counters", &values, err);
    const size_t n = json_object_size(values);
    if (r < 0)
        return r;
    if (n > COUNTERS_MAX)
        return err_set(err, EINVAL, "counters: are %zu, should be at most %d", n, COUNTERS_MAX);
    struct device_counter *counters = ARENA_ARRAY(arena, struct device_counter, n);
    const char *name = NULL;
    json_t *value = NULL;
    size_t i = 0;
    json_object_foreach (values, name, value) {
        const json_t *amount = json_member(value, "value");
        counters[i].name = arena_strdup(arena, name);
        if ((r = counter_amount(amount, &counters[i++].amount, err)) < 0) {
            err_prefix(err, "counters[%s].value: ", quoted(arena, name));
            return r;
        }
        *ret_is_rounded |= !is_whole(amount);
    }
    if (n > 1)
        qsort(counters, n, sizeof *counters, compare_names);
    set->counters = counters;
    set->n_counters = n;
    return 0;
}

static int read_set(const json_t *object, const char *name_key, struct arena *arena,
                    struct counter_set *ret_set, bool *ret_is_rounded, struct err *err)
{
    struct counter_set set = {.name = ""};
    int r = meta_name(object, name_key, arena, &set.name, err);
    if (r == 0 && !set.name[0])
        r = err_set(err, EINVAL, "%s: is missing", name_key);
    if (r == 0)
        r = read_counters(object, arena, &set, ret_is_rounded, err);
    if (r == 0)
        *ret_set = set;
    return r;
}

/* Reads the member, empty if absent: a list of {name_key: NAME, counters: {NAME: {value}}}. All in
 * the arena. -EINVAL: of another form, or larger than Kubernetes allows. */
static int counter_sets_read(const json_t *object, const char *member, const char *name_key,
                             struct arena *arena, struct counter_sets *ret_sets, struct err *err)
{
    json_t *list = NULL;
    int r = json_get_array(object, member, &list, err);
    const size_t n = json_array_size(list);
    if (r < 0)
        return r;
    if (n > SETS_MAX)
        return err_set(err, EINVAL, "%s: has %zu sets, should have at most %d", member, n,
                       SETS_MAX);
    struct counter_set *sets = ARENA_ARRAY(arena, struct counter_set, n);
    bool is_rounded = false;
    for (size_t i = 0; i < n; i++) {
        json_t *item = NULL;
        if ((r = element_object(list, i, member, &item, err)) < 0)
            return r;
        if ((r = read_set(item, name_key, arena, &sets[i], &is_rounded, err)) < 0) {
            err_prefix(err, "%s[%zu].", member, i);
            return r;
        }
    }
    *ret_sets = (struct counter_sets){sets, n, is_rounded};
    return 0;
}

/* ---- partition ---- */

#define UNNAMED "partition"

/* What an attribute tells. Sources: NVIDIA/k8s-dra-driver-gpu, cmd/gpu-kubelet-plugin
 * (CommonAttributesMig(), types.go); ROCm/k8s-gpu-dra-driver, cmd/gpu-kubeletplugin/deviceinfo.go
 * and docs/driver-attributes.md; intel/intel-resource-drivers-for-kubernetes, pkg/gpu/device and
 * pkg/gpu/discovery/sriov.go; kubernetes-sigs/dra-example-driver, internal/profiles/gpu/gpu.go. */
static const struct {
    const char *name;
    const char *whole; /* values of whole GPUs; "spx*": what begins so; "*-vf": what ends so */
    const char *part;  /* values of parts; "*": all others */
    bool is_profile;   /* a part's profile is the value */
} TELLING[] = {
    {"type", "gpu amdgpu vfio", "mig migdyn *partition vf *-vf", false},
    {"parentUUID", "", "*", false},     /* NVIDIA */
    {"parentPciAddr", "", "*", false},  /* AMD */
    {"parentDeviceID", "", "*", false}, /* AMD */
    {"partition", "", "*", true},       /* the example driver: a number */
    {"partitionProfile", "spx*", "*", true},
};
#define N_TELLING (sizeof TELLING / sizeof *TELLING)

/* Those of one GPU have the same value of the first that they have. */
static const char *const PHYSICAL[] = {
    "resource.kubernetes.io/pciBusID",
    "parentPciAddr",
    "pciAddr",
    "pciAddress",
    "pciBusID",
    "parentUUID",
    "uuid",
};

/* The letter of its type and the value; NULL: the device has no such attribute. */
static const char *find(const char *driver, const struct device_facts *device, const char *name)
{
    const size_t len = strlen(driver);
    const bool is_qualified = strchr(name, '/');
    for (size_t i = 0; i < device->n_attributes; i++) {
        const char *given = device->attributes[i].name;
        const bool is_own = !is_qualified && strncmp(given, driver, len) == 0 && given[len] == '/';
        if (strcmp(is_own ? given + len + 1 : given, name) == 0)
            return device->attributes[i].value;
    }
    return NULL;
}

static bool is_among(const char *list, const char *text)
{
    for (const char *at = list; *at; at += strspn(at, " ")) {
        const size_t len = strcspn(at, " ");
        const size_t text_len = strlen(text);
        const bool begins = at[len - 1] == '*' && strncmp(at, text, len - 1) == 0;
        const bool ends = at[0] == '*' && text_len >= len - 1 &&
                          strncmp(at + 1, text + text_len - (len - 1), len - 1) == 0;
        if (begins || ends || (text_len == len && strncmp(at, text, len) == 0))
            return true;
        at += len;
    }
    return false;
}

static const char *text_of(const char *value)
{
    return value && value[0] == 's' ? value + 1 : "";
}

/* Whether the value tells something: false, "" and capacities do not. */
static bool is_said(const char *value)
{
    return value && (value[0] == 'i' || strcmp(value, "btrue") == 0 || text_of(value)[0]);
}

/* The profile of the part that the attributes tell of; "": a whole GPU, or they do not tell. */
static const char *profile_of(const char *driver, const struct device_facts *device)
{
    const char *profile = "";
    for (size_t i = 0; i < N_TELLING; i++) {
        const char *value = find(driver, device, TELLING[i].name);
        const char *text = text_of(value);
        if (!is_said(value) || (profile[0] && !TELLING[i].is_profile))
            continue;
        if (is_among(TELLING[i].whole, text))
            return profile;
        if (is_among(TELLING[i].part, text))
            profile = TELLING[i].is_profile && text[0] ? text : UNNAMED;
    }
    return profile;
}

/* "0000:03:00.0" of "0000:03:00.2": virtual functions (SR-IOV) have the bus of their GPU, and other
 * devices and functions on it. */
static const char *address_of_gpu(const char *address, struct arena *arena)
{
    const char *bus = strchr(address, ':');
    const char *device = bus ? strchr(bus + 1, ':') : NULL;
    return device ? arena_printf(arena, "%.*s:00.0", (int)(device - address), address) : address;
}

/* Sets profile and physical by the attributes, which must be read. A profile that is set stays.
 * Borrows the texts of the attributes, or writes into the arena. */
static void partition_read(const char *driver, struct arena *arena, struct device_facts *device)
{
    const char *type = text_of(find(driver, device, "type"));
    for (size_t i = 0; i < sizeof PHYSICAL / sizeof *PHYSICAL && !device->physical[0]; i++)
        device->physical = text_of(find(driver, device, PHYSICAL[i]));
    if (is_among("vf *-vf", type))
        device->physical = address_of_gpu(device->physical, arena);
    if (!device->profile[0])
        device->profile = profile_of(driver, device);
}

/* ---- by counters ---- */

static int64_t amount_in(const struct counter_set *set, const char *name)
{
    for (size_t i = 0; set && i < set->n_counters; i++) {
        if (strcmp(set->counters[i].name, name) == 0)
            return set->counters[i].amount;
    }
    return 0;
}

static const struct counter_set *set_of(const struct device_facts *device, const char *name)
{
    for (size_t i = 0; i < device->n_consumes; i++) {
        if (strcmp(device->consumes[i].name, name) == 0)
            return &device->consumes[i];
    }
    return NULL;
}

static int64_t total_of(const struct device_facts *device, const char *set_name)
{
    const struct counter_set *set = set_of(device, set_name);
    int64_t total = 0;
    for (size_t i = 0; set && i < set->n_counters; i++)
        if (__builtin_add_overflow(total, set->counters[i].amount, &total))
            return INT64_MAX;
    return total;
}

/* Whether the first consumes a part of what the second consumes. */
static bool is_part_of(const struct device_facts *part, const struct device_facts *whole)
{
    bool is_less = false;
    for (size_t i = 0; i < part->n_consumes; i++) {
        const struct counter_set *set = &part->consumes[i];
        const struct counter_set *other = set_of(whole, set->name);
        for (size_t k = 0; k < set->n_counters; k++) {
            if (set->counters[k].amount > amount_in(other, set->counters[k].name))
                return false;
        }
        is_less |= total_of(part, set->name) < total_of(whole, set->name);
    }
    return is_less;
}

static bool is_address(const char *physical)
{
    return strchr(physical, ':') != NULL;
}

/* Devices of two PCI addresses are of two GPUs, which share something else. */
static bool may_be_of_one(const struct device_facts *part, const struct device_facts *whole)
{
    const bool are_apart = is_address(part->physical) && is_address(whole->physical) &&
                           strcmp(part->physical, whole->physical) != 0;
    return !are_apart && whole->n_consumes > 0 && !whole->profile[0] &&
           strcmp(part->model, whole->model) == 0 && strcmp(part->node_name, whole->node_name) == 0;
}

/* The device that consumes most of those of which this one is a part; NULL: none. */
static const struct device_facts *whole_of(const struct device_facts *part,
                                           const struct device_facts *devices, size_t n)
{
    const struct device_facts *whole = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct device_facts *other = &devices[i];
        if (other != part && may_be_of_one(part, other) && is_part_of(part, other) &&
            (!whole || is_part_of(whole, other)))
            whole = other;
    }
    return whole;
}

/* Marks devices that consume a part of what another of the same model consumes, of the same counter
 * sets: they are parts of that GPU. */
static void partition_compare(struct device_facts *devices, size_t n)
{
    size_t n_parts = 0;
    size_t parts[SLICE_DEVICES_MAX];
    const struct device_facts *wholes[SLICE_DEVICES_MAX];
    for (size_t i = 0; i < n; i++) {
        const struct device_facts *device = &devices[i];
        const bool may_be = device->n_consumes > 0 && device->n_attributes > 0;
        const struct device_facts *whole =
            may_be && !device->profile[0] ? whole_of(device, devices, n) : NULL;
        if (whole) {
            parts[n_parts] = i;
            wholes[n_parts++] = whole;
        }
    }
    for (size_t i = 0; i < n_parts; i++) {
        devices[parts[i]].profile = UNNAMED;
        devices[parts[i]].physical = wholes[i]->physical;
    }
}

/* ---- resource slice ---- */

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
