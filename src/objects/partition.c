/* partition: see partition.h. */
#include "partition.h"

#include "fields.h"
#include "formats/json_get.h"
#include "types/quantity.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- counter sets ---- */

/* Kubernetes 1.33 to 1.37 allow at most so many, or fewer. */
#define SETS_MAX 32
#define COUNTERS_MAX 32

int counter_amount(const json_t *value, int64_t *ret_amount, struct err *err)
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

int counter_sets_read(const json_t *object, const char *member, const char *name_key,
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

void partition_read(const char *driver, struct arena *arena, struct device_facts *device)
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

void partition_compare(struct device_facts *devices, size_t n)
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
