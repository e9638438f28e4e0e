/* device_details: see include/objects/device_details.h. */
#include "objects/device_details.h"
#include "objects/fields.h"

#include "formats/json_parse.h"
#include "formats/json_values.h"
#include "objects/affinity.h"
#include "types/quantity.h"

#include <string.h>

#define TEXT_BYTES_MAX 16384
#define CONSUMED_BYTES_MAX 1024
#define NAME_BYTES_MAX 64 /* of a member that is not understood, or of a binding condition */
/* The API server accepts no more. */
#define CONDITIONS_SHOWN ((size_t)4)
/* Stand for what is not in the text. */
#define ROUNDED "gpu-extender.io/rounded"

/* ---- to text ---- */

static const char *const DEVICE_MEMBERS[] = {"name",
                                             "basic",
                                             "attributes",
                                             "capacity",
                                             "nodeName",
                                             "allNodes",
                                             "nodeSelector",
                                             "consumesCounters",
                                             "taints",
                                             "bindsToNode",
                                             "bindingConditions",
                                             "bindingFailureConditions",
                                             "allowMultipleAllocations"};
static const char *const SPEC_MEMBERS[] = {
    "driver",  "pool",          "nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection",
    "devices", "sharedCounters"};
#define N_OF(array) (sizeof(array) / sizeof *(array))

static bool is_among(const char *name, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(names[i], name) == 0)
            return true;
    }
    return false;
}

/* The first by name; NULL: all are understood. */
static const char *unknown_member(const json_t *object, const char *const *names, size_t n)
{
    const char *first = NULL;
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach ((json_t *)(uintptr_t)object, name, value) {
        if (!json_is_null(value) && !is_among(name, names, n) &&
            (!first || strcmp(name, first) < 0))
            first = name;
    }
    return first && strlen(first) > NAME_BYTES_MAX ? META_LEFT_OUT : first;
}

static void keep_text(json_t *to, const json_t *from, const char *key)
{
    const char *text = json_string_value(json_member(from, key));
    if (text && text[0])
        (void)json_object_set_new(to, key, json_string(text));
}

static bool keeps_off(const json_t *taint)
{
    const char *effect = json_string_value(json_member(taint, "effect"));
    return effect && (strcmp(effect, "NoSchedule") == 0 || strcmp(effect, "NoExecute") == 0);
}

/* Sets the member unless the list is empty. Takes over the list. */
static void set_some(json_t *details, const char *key, json_t *some)
{
    if (json_array_size(some) > 0 || json_object_size(some) > 0)
        (void)json_object_set(details, key, some);
    json_decref(some);
}

static void keep_taints(json_t *details, const json_t *content)
{
    json_t *kept = json_array();
    size_t i = 0;
    json_t *taint = NULL;
    json_array_foreach (json_member(content, "taints"), i, taint) {
        if (!keeps_off(taint))
            continue;
        json_t *copy = json_object();
        keep_text(copy, taint, "key");
        keep_text(copy, taint, "value");
        keep_text(copy, taint, "effect");
        (void)json_array_append_new(kept, copy);
    }
    set_some(details, "taints", kept);
}

/* The name without the driver's domain; NULL: it has another one, or none. */
static const char *without_domain(const char *name, const char *driver)
{
    const size_t len = strlen(driver);
    return strncmp(name, driver, len) == 0 && name[len] == '/' ? &name[len + 1] : NULL;
}

static void keep_capacities(json_t *details, const json_t *content, const char *driver)
{
    json_t *kept = json_object();
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach (json_member(content, "capacity"), name, value) {
        json_t *policy = json_member(value, "requestPolicy");
        json_t *copy = policy ? json_pack("{s:O}", "requestPolicy", policy) : json_object();
        if (policy || without_domain(name, driver))
            (void)json_object_set(kept, name, copy);
        json_decref(copy);
    }
    set_some(details, "capacity", kept);
}

static void keep_member(json_t *details, const json_t *content, const char *key)
{
    json_t *value = json_member(content, key);
    if (value)
        (void)json_object_set(details, key, value);
}

/* Takes over the details. */
static const char *text_of(json_t *details, const char *unknown,
                           const struct device_details_source *source, struct arena *arena)
{
    char text[TEXT_BYTES_MAX];
    const char *result = NULL;
    if (!unknown && source->is_rounded)
        unknown = ROUNDED;
    if (unknown)
        (void)json_object_set_new(details, "unknown", json_string(unknown));
    if (json_object_size(details) > 0) {
        const size_t len = json_dumpb(details, text, sizeof text, JSON_COMPACT | JSON_SORT_KEYS);
        result = len <= sizeof text ? arena_strndup(arena, text, len)
                                    : "{\"unknown\":\"" META_LEFT_OUT "\"}";
    }
    json_decref(details);
    return result;
}

const char *device_details_text(const json_t *content, const char *driver,
                                const struct device_details_source *source, struct arena *arena)
{
    json_t *details = json_object();
    keep_taints(details, content);
    keep_capacities(details, content, driver);
    if (json_array_size(json_member(content, "bindingConditions")) > 0)
        keep_member(details, content, "bindingConditions");
    if (json_is_true(json_member(content, "bindsToNode")))
        keep_member(details, content, "bindsToNode");
    if (source->has_selector)
        keep_member(details, content, "nodeSelector");
    return text_of(details, unknown_member(content, DEVICE_MEMBERS, N_OF(DEVICE_MEMBERS)), source,
                   arena);
}

const char *slice_details_text(const json_t *spec, const struct device_details_source *source,
                               struct arena *arena)
{
    json_t *details = json_object();
    if (source->has_selector)
        keep_member(details, spec, "nodeSelector");
    return text_of(details, unknown_member(spec, SPEC_MEMBERS, N_OF(SPEC_MEMBERS)), source, arena);
}

/* ---- from text ---- */

static const char *copy_text(const json_t *object, const char *key, struct arena *arena)
{
    const char *text = json_string_value(json_member(object, key));
    return text ? arena_strdup(arena, text) : "";
}

static void read_taints(const json_t *list, struct arena *arena, struct device_details *details)
{
    details->n_taints = json_array_size(list);
    struct allocate_taint *taints = ARENA_ARRAY(arena, struct allocate_taint, details->n_taints);
    for (size_t i = 0; i < details->n_taints; i++) {
        const json_t *taint = json_array_get(list, i);
        taints[i] = (struct allocate_taint){copy_text(taint, "key", arena),
                                            copy_text(taint, "value", arena),
                                            copy_text(taint, "effect", arena)};
    }
    details->taints = taints;
}

static bool read_terms(const json_t *list, struct arena *arena, struct node_selector *ret_nodes)
{
    const size_t n = json_array_size(list);
    struct selector_term *terms = ARENA_ARRAY(arena, struct selector_term, n);
    for (size_t i = 0; i < n; i++) {
        struct err err;
        if (requirement_read_term(json_array_get(list, i), NULL, arena, &terms[i], &err) < 0)
            return false;
    }
    *ret_nodes = (struct node_selector){true, terms, n};
    return n > 0;
}

/* One that is not understood may select any node. */
static void read_nodes(const json_t *selector, struct arena *arena, struct device_details *details)
{
    struct node_selector *nodes = ARENA_NEW(arena, struct node_selector);
    if (read_terms(json_member(selector, "nodeSelectorTerms"), arena, nodes))
        details->nodes = nodes;
    else
        details->not_judged = "its node selector is not understood";
}

static int64_t read_amount(const json_t *value)
{
    char number[QUANTITY_JSON_NUMBER_BYTES];
    const char *text = "";
    int64_t amount = 0;
    struct err err;
    if (!value)
        return ALLOCATE_UNSET;
    if (quantity_json_text(value, number, &text, &err) < 0 ||
        quantity_whole(text, &amount, &err) < 0)
        return ALLOCATE_UNKNOWN;
    return amount;
}

/* The API server accepts ascending values only. */
static void read_values(const json_t *list, struct arena *arena, struct allocate_policy *policy)
{
    policy->n_values = json_array_size(list);
    int64_t *values = ARENA_ARRAY(arena, int64_t, policy->n_values);
    for (size_t i = 0; i < policy->n_values; i++) {
        values[i] = read_amount(json_array_get(list, i));
        if (i > 0 && values[i] < values[i - 1])
            values[0] = ALLOCATE_UNKNOWN;
    }
    policy->values = values;
}

static const struct allocate_policy *read_policy(const json_t *json, struct arena *arena,
                                                 struct device_details *details)
{
    static const char *const MEMBERS[] = {"default", "validValues", "validRange"};
    const json_t *range = json_member(json, "validRange");
    struct allocate_policy *policy = ARENA_NEW(arena, struct allocate_policy);
    policy->fallback = read_amount(json_member(json, "default"));
    policy->has_range = range != NULL;
    policy->min = read_amount(json_member(range, "min"));
    policy->max = read_amount(json_member(range, "max"));
    policy->step = read_amount(json_member(range, "step"));
    read_values(json_member(json, "validValues"), arena, policy);
    if (!json_is_object(json) || unknown_member(json, MEMBERS, N_OF(MEMBERS)))
        details->not_judged = "a policy of its capacities is not understood";
    return policy;
}

static void read_policies(json_t *map, struct arena *arena, struct device_details *details)
{
    struct device_policy *policies =
        ARENA_ARRAY(arena, struct device_policy, json_object_size(map));
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach (map, name, value) {
        const json_t *policy = json_member(value, "requestPolicy");
        policies[details->n_policies++] = (struct device_policy){
            arena_strdup(arena, name), policy ? read_policy(policy, arena, details) : NULL};
    }
    details->policies = policies;
}

static const char *condition_name(const json_t *name)
{
    const char *text = json_is_string(name) ? json_string_value(name) : "?";
    return strlen(text) > NAME_BYTES_MAX ? META_LEFT_OUT : text;
}

/* "ready, attached"; NULL: none. */
static const char *read_conditions(const json_t *list, struct arena *arena)
{
    const size_t n = json_array_size(list);
    const char *text = n > 0 ? condition_name(json_array_get(list, 0)) : NULL;
    for (size_t i = 1; i < n && i < CONDITIONS_SHOWN; i++)
        text = arena_printf(arena, "%s, %s", text, condition_name(json_array_get(list, i)));
    if (n > CONDITIONS_SHOWN)
        text = arena_printf(arena, "%s and %zu more", text, n - CONDITIONS_SHOWN);
    return text ? arena_strdup(arena, text) : NULL;
}

static const char *cause_of(const char *unknown, struct arena *arena)
{
    if (strcmp(unknown, META_LEFT_OUT) == 0)
        return "not all of it is kept";
    if (strcmp(unknown, ROUNDED) == 0)
        return "its counters are no whole numbers";
    return arena_printf(arena, "it has a member that is not understood: %s", unknown);
}

static struct device_details read_details(const char *text, struct arena *arena)
{
    struct device_details details = {0};
    json_auto_t *json = json_parse_own(text);
    const json_t *selector = json_member(json, "nodeSelector");
    const char *unknown = json_string_value(json_member(json, "unknown"));
    read_taints(json_member(json, "taints"), arena, &details);
    read_policies(json_member(json, "capacity"), arena, &details);
    if (selector)
        read_nodes(selector, arena, &details);
    details.binding_conditions = read_conditions(json_member(json, "bindingConditions"), arena);
    details.binds_to_node = json_is_true(json_member(json, "bindsToNode"));
    if (!json || unknown)
        details.not_judged = cause_of(json ? unknown : META_LEFT_OUT, arena);
    return details;
}

/* ---- consumed capacity ---- */

const char *consumed_capacity_text(const json_t *result, struct arena *arena)
{
    char text[CONSUMED_BYTES_MAX];
    const json_t *consumed = json_member(result, "consumedCapacity");
    if (!consumed)
        return NULL;
    const size_t len =
        json_dumpb(consumed, text, sizeof text, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
    return len <= sizeof text ? arena_strndup(arena, text, len) : "{\"" META_LEFT_OUT "\":\"\"}";
}

void consumed_capacity_add(const char *text, struct allocate_capacity *capacities, size_t n)
{
    json_auto_t *consumed = json_parse_own(text);
    const bool is_whole = json_is_object(consumed) && !json_member(consumed, META_LEFT_OUT);
    for (size_t i = 0; i < n; i++) {
        struct allocate_capacity *capacity = &capacities[i];
        const json_t *value = json_member(consumed, capacity->name);
        const int64_t amount = value ? read_amount(value) : 0;
        const bool is_known = is_whole && amount >= 0 && amount <= ALLOCATE_CAPACITY_MAX &&
                              capacity->consumed >= 0 &&
                              capacity->consumed <= ALLOCATE_CAPACITY_MAX;
        capacity->consumed = is_known ? capacity->consumed + amount : ALLOCATE_UNKNOWN;
    }
}

const struct device_details_reader DEVICE_DETAILS_READER = {read_details, consumed_capacity_add};

void consumed_capacity_write(const char *text, json_t *result)
{
    if (text)
        (void)json_object_set_new(result, "consumedCapacity", json_parse_own(text));
}

/* ---- to the object again ---- */

/* Names as the device had them. */
static void write_capacities(const json_t *kept, const char *driver, json_t *object,
                             json_t *capacity)
{
    const char *name = NULL;
    json_t *value = NULL;
    json_t *named = json_object();
    json_object_foreach (capacity, name, value) {
        const char *own = without_domain(name, driver);
        const char *written = own && !json_member(kept, name) ? own : name;
        json_t *policy = json_member(json_member(kept, written), "requestPolicy");
        if (policy)
            (void)json_object_set(value, "requestPolicy", policy);
        (void)json_object_set(named, written, value);
    }
    set_some(object, "capacity", named);
}

void device_details_write(const char *text, const char *driver, json_t *object, json_t *capacity)
{
    static const char *const MEMBERS[] = {"taints", "nodeSelector", "bindingConditions",
                                          "bindsToNode"};
    json_auto_t *details = text ? json_parse_own(text) : NULL;
    const char *unknown = json_string_value(json_member(details, "unknown"));
    for (size_t i = 0; i < N_OF(MEMBERS); i++)
        keep_member(object, details, MEMBERS[i]);
    write_capacities(json_member(details, "capacity"), driver, object, capacity);
    if (unknown)
        (void)json_object_set_new(object, unknown, json_true());
    json_decref(capacity);
}
