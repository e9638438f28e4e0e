/* devices_to_json: writes the facts of dynamic resource allocation. See
 * include/objects/to_json.h. */
#include "formats/json_parse.h"
#include "objects/device_details.h"
#include "objects/label_text.h"
#include "objects/to_json.h"

#include "objects/devices/selector_texts.h"
#include "objects/fields.h"

#include <string.h>

#define GROUP_VERSION "resource.k8s.io/v1"
#define RULE_VERSION "resource.k8s.io/v1beta2"

static void set_text(json_t *object, const char *key, const char *text)
{
    if (text && text[0])
        (void)json_object_set_new(object, key, json_string(text));
}

/* Leaves out an empty list. Takes over the list. */
static void set_list(json_t *object, const char *key, json_t *list)
{
    if (json_array_size(list) > 0)
        (void)json_object_set(object, key, list);
    json_decref(list);
}

/* ---- slices ---- */

static json_t *amount_json(int64_t amount)
{
    return json_pack("{s:o}", "value", json_sprintf("%lld", (long long)amount));
}

/* The one that follows that name; NULL: the first, and after the last. Facts may have any order. */
static const struct device_counter *counter_after(const struct counter_set *set, const char *name)
{
    const struct device_counter *next = NULL;
    for (size_t i = 0; i < set->n_counters; i++) {
        const struct device_counter *counter = &set->counters[i];
        if ((!name || strcmp(counter->name, name) > 0) &&
            (!next || strcmp(counter->name, next->name) < 0))
            next = counter;
    }
    return next;
}

static json_t *sets_json(const struct counter_set *sets, size_t n, const char *name_key)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        json_t *counters = json_object();
        for (const struct device_counter *next = counter_after(&sets[i], NULL); next;
             next = counter_after(&sets[i], next->name))
            (void)json_object_set_new(counters, next->name, amount_json(next->amount));
        (void)json_array_append_new(
            list, json_pack("{s:s, s:o}", name_key, sets[i].name, "counters", counters));
    }
    return list;
}

static void set_attribute(json_t *attributes, const char *name, const char *text)
{
    if (text[0])
        (void)json_object_set_new(attributes, name, json_pack("{s:s}", "string", text));
}

static void add_taint(json_t *device, const char *key, const char *effect)
{
    json_t *taint = json_pack("{s:s, s:s}", "key", key, "effect", effect);
    json_t *list = json_object_get(device, "taints");
    if (list)
        (void)json_array_append_new(list, taint);
    else
        (void)json_object_set_new(device, "taints", json_pack("[o]", taint));
}

/* Besides those of the details. Whatever was not understood is not kept; an unknown effect is not
 * understood either. */
static void add_taints(json_t *device, const struct device_facts *facts)
{
    if (facts->is_tainted && !json_object_get(device, "taints"))
        add_taint(device, "gpu-extender.io/tainted", "NoSchedule");
    if (facts->not_judged)
        add_taint(device, "gpu-extender.io/not-judged", "NotJudged");
}

/* Besides the selector of the details. */
static void set_reach(json_t *object, const char *node_name)
{
    set_text(object, "nodeName", node_name);
    if (!node_name[0] && !json_object_get(object, "nodeSelector"))
        (void)json_object_set_new(object, "allNodes", json_true());
}

static json_t *device_json(const struct device_facts *facts, const struct slice_facts *slice,
                           const char *model_attribute)
{
    json_t *attributes = json_object();
    json_t *capacity = json_object();
    device_attributes_write(facts, attributes, capacity);
    if (facts->n_attributes == 0) {
        set_attribute(attributes, model_attribute, facts->model);
        set_attribute(attributes, "profile", facts->profile);
        set_attribute(attributes, "resource.kubernetes.io/pciBusID", facts->physical);
    }
    json_t *device = json_pack("{s:s, s:o}", "name", facts->name, "attributes", attributes);
    if (facts->memory_bytes > 0 && facts->n_attributes == 0)
        (void)json_object_set_new(capacity, "memory", amount_json(facts->memory_bytes));
    device_details_write(facts->details, slice->driver, device, capacity);
    if (facts->allows_multiple)
        (void)json_object_set_new(device, "allowMultipleAllocations", json_true());
    if (slice->per_device)
        set_reach(device, facts->node_name);
    add_taints(device, facts);
    set_list(device, "consumesCounters",
             sets_json(facts->consumes, facts->n_consumes, "counterSet"));
    return device;
}

json_t *resource_slice_to_json(const struct slice_facts *facts, const struct policy *policy)
{
    const struct device_driver *driver = policy_device_driver(policy, facts->driver);
    json_t *devices = json_array();
    for (size_t i = 0; i < facts->n_devices; i++)
        (void)json_array_append_new(
            devices, device_json(&facts->devices[i], facts, driver ? driver->model_attribute : ""));
    json_t *spec = json_pack("{s:s, s:{s:s, s:I, s:I}}", "driver", facts->driver, "pool", "name",
                             facts->pool, "generation", (json_int_t)facts->generation,
                             "resourceSliceCount", (json_int_t)facts->n_slices);
    device_details_write(facts->details, facts->driver, spec, NULL);
    if (facts->per_device)
        (void)json_object_set_new(spec, "perDeviceNodeSelection", json_true());
    else
        set_reach(spec, facts->node_name);
    set_list(spec, "sharedCounters", sets_json(facts->counter_sets, facts->n_counter_sets, "name"));
    set_list(spec, "devices", devices);
    return json_pack("{s:s, s:s, s:{s:s}, s:o}", "apiVersion", GROUP_VERSION, "kind",
                     "ResourceSlice", "metadata", "name", facts->name, "spec", spec);
}

/* ---- claims ---- */

/* A request, or one of its alternatives. n 0: for all devices. */
static json_t *exact_json(const struct claim_want *want, int64_t n)
{
    json_t *json = json_pack("{s:s}", "allocationMode", n > 0 ? "ExactCount" : "All");
    set_text(json, "deviceClassName", want->class_name);
    if (want->driver[0])
        (void)json_object_set_new(json, "selectors", selector_texts_of_driver(want->driver));
    if (n > 0)
        (void)json_object_set_new(json, "count", json_integer((json_int_t)n));
    return json;
}

static json_t *request_json(const struct claim_want *want, int64_t n)
{
    return json_pack("{s:s, s:o}", "name", "some", "exactly", exact_json(want, n));
}

static json_t *alternatives_json(const struct claim_want *want, int64_t n)
{
    json_t *first = exact_json(want, n);
    json_t *second = exact_json(want, n);
    (void)json_object_set_new(first, "name", json_string("first"));
    (void)json_object_set_new(second, "name", json_string("second"));
    return json_pack("{s:s, s:[o, o]}", "name", "some", "firstAvailable", first, second);
}

/* Properties of a claim's requests that are not written yet. */
struct flags {
    bool all, alternatives;
};

static void add_requests(json_t *list, const struct claim_want *want, bool is_only_device,
                         struct flags *left)
{
    int64_t n = want->n_devices;
    if (left->all && n > 0) {
        const bool both = left->alternatives && is_only_device;
        (void)json_array_append_new(list,
                                    both ? alternatives_json(want, 0) : request_json(want, 0));
        left->alternatives &= !both;
        left->all = false;
        n--;
    }
    if (n == 0)
        return;
    (void)json_array_append_new(list, left->alternatives ? alternatives_json(want, n)
                                                         : request_json(want, n));
    left->alternatives = false;
}

/* Of the requests is kept how many devices they have together at least, and of which classes and
 * drivers. */
static json_t *requests_json(const struct claim_facts *facts)
{
    json_t *list = json_array();
    struct flags left = {facts->wants_all, facts->has_alternatives};
    struct claim_want rest = {"", "", facts->n_devices};
    for (size_t i = 0; i < facts->n_wants; i++) {
        add_requests(list, &facts->wants[i], facts->n_devices == 1, &left);
        rest.n_devices -= facts->wants[i].n_devices;
    }
    if (rest.n_devices > 0)
        add_requests(list, &rest, facts->n_devices == 1, &left);
    return list;
}

static json_t *results_json(const struct claim_facts *facts)
{
    json_t *list = json_array();
    for (size_t i = 0; i < facts->n_results; i++) {
        const struct claim_result *result = &facts->results[i];
        json_t *json = json_pack("{s:s, s:s, s:s, s:s}", "request", "some", "driver",
                                 result->driver, "pool", result->pool, "device", result->device);
        if (result->is_admin)
            (void)json_object_set_new(json, "adminAccess", json_true());
        if (result->is_shared) /* the ID is not kept */
            set_text(json, "shareID", "00000000-0000-0000-0000-000000000000");
        consumed_capacity_write(result->consumed, json);
        if (facts->is_unready) /* the names are not kept */
            (void)json_object_set_new(json, "bindingConditions", json_pack("[s]", "some"));
        (void)json_array_append_new(list, json);
    }
    return list;
}

/* Some names are not kept. */
static json_t *holders_json(const struct claim_facts *facts)
{
    json_t *list = json_array();
    for (size_t i = 0; i < facts->n_all_holders; i++) {
        const bool is_kept = i < facts->n_holders;
        const char *name = is_kept && facts->holder_names ? facts->holder_names[i] : "";
        (void)json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "resource",
                                                    is_kept ? "pods" : "others", "name", name,
                                                    "uid", is_kept ? facts->holders[i] : "any"));
    }
    return list;
}

static json_t *labels_json(const char *text)
{
    struct label_set set;
    json_t *json = json_object();
    label_text_split(text, &set);
    for (size_t i = 0; i < set.n; i++)
        (void)json_object_set_new(json, set.labels[i].key, json_string(set.labels[i].value));
    return json;
}

static json_t *claim_metadata_json(const struct claim_facts *facts)
{
    json_t *metadata = json_pack("{s:s, s:s}", "namespace", facts->namespace_, "name", facts->name);
    json_auto_t *labels = labels_json(facts->labels);
    set_text(metadata, "uid", facts->uid);
    if (json_object_size(labels) > 0)
        (void)json_object_set(metadata, "labels", labels);
    if (facts->terminating) /* the time is not kept */
        set_text(metadata, "deletionTimestamp", "1970-01-01T00:00:00Z");
    if (facts->extended_for_uid[0])
        (void)json_object_set_new(
            metadata, "annotations",
            json_pack("{s:s}", "resource.kubernetes.io/extended-resource-claim", "true"));
    const char *owner = facts->extended_for_uid[0] ? facts->extended_for_uid : facts->owner_uid;
    if (owner && owner[0])
        (void)json_object_set_new(metadata, "ownerReferences",
                                  json_pack("[{s:s, s:s, s:s, s:s, s:b}]", "apiVersion", "v1",
                                            "kind", "Pod", "name", "any", "uid", owner,
                                            "controller", true));
    return metadata;
}

/* As kept, else as far as it is known. */
static json_t *devices_of_spec(const char *spec, const struct claim_facts *facts)
{
    json_t *devices =
        spec ? json_parse_own(spec) : json_pack("{s:o}", "requests", requests_json(facts));
    if (!spec && !facts->is_allocated)
        (void)json_object_set_new(devices, META_LEFT_OUT, json_true());
    return devices;
}

/* NULL: it has none. */
static json_t *nodes_json(const char *nodes)
{
    return nodes ? json_parse_own(nodes) : json_pack("{s:b}", META_LEFT_OUT, true);
}

json_t *resource_claim_to_json(const struct claim_facts *facts)
{
    json_t *status = json_object();
    if (facts->is_allocated)
        (void)json_object_set_new(status, "allocation",
                                  json_pack("{s:{s:o}, s:o*}", "devices", "results",
                                            results_json(facts), "nodeSelector",
                                            nodes_json(facts->nodes)));
    set_list(status, "reservedFor", holders_json(facts));
    return json_pack("{s:s, s:s, s:o, s:{s:o}, s:o}", "apiVersion", GROUP_VERSION, "kind",
                     "ResourceClaim", "metadata", claim_metadata_json(facts), "spec", "devices",
                     devices_of_spec(facts->spec, facts), "status", status);
}

json_t *claim_template_to_json(const struct claim_template_facts *facts)
{
    struct claim_facts claim = {.wants = facts->wants, .n_wants = facts->n_wants};
    for (size_t i = 0; i < facts->n_wants; i++)
        claim.n_devices += facts->wants[i].n_devices;
    return json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:{s:o}}}", "apiVersion", GROUP_VERSION, "kind",
                     "ResourceClaimTemplate", "metadata", "namespace", facts->namespace_, "name",
                     facts->name, "spec", "spec", "devices", devices_of_spec(facts->spec, &claim));
}

/* ---- taints by rule ---- */

json_t *device_taint_rule_to_json(const struct device_taint_facts *facts)
{
    json_t *selector = json_object();
    json_t *taint = json_object();
    set_text(selector, "driver", facts->driver);
    set_text(selector, "pool", facts->pool);
    set_text(selector, "device", facts->device);
    set_text(taint, "key", facts->key);
    set_text(taint, "value", facts->value);
    set_text(taint, "effect", facts->effect);
    return json_pack("{s:s, s:s, s:{s:s}, s:{s:o, s:o}}", "apiVersion", RULE_VERSION, "kind",
                     "DeviceTaintRule", "metadata", "name", facts->name, "spec", "deviceSelector",
                     selector, "taint", taint);
}
