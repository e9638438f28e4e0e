/* claim_spec: see include/objects/claim_spec.h. */
#include "objects/claim_spec.h"

#include "base/mem.h"
#include "formats/json_parse.h"
#include "formats/json_values.h"
#include "objects/affinity.h"
#include "objects/fields.h"
#include "types/device_facts.h"
#include "types/quantity.h"

#include <string.h>

struct spec_reading {
    const struct claim_classes *classes;
    struct arena *arena;
    bool is_covered; /* so far */
};

static const char *text_of(const struct spec_reading *reading, const json_t *object,
                           const char *key)
{
    const char *text = json_string_value(json_member(object, key));
    return text ? arena_strdup(reading->arena, text) : "";
}

struct allocate_selectors claim_spec_selectors(const json_t *list, struct arena *arena)
{
    const size_t n = json_array_size(list);
    struct cel_program **programs = ARENA_ARRAY(arena, struct cel_program *, n);
    for (size_t i = 0; i < n; i++) {
        const json_t *cel = json_member(json_array_get(list, i), "cel");
        const char *expression = json_string_value(json_member(cel, "expression"));
        if (cel)
            programs[i] = cel_compile(expression ? expression : "", arena);
    }
    return (struct allocate_selectors){programs, n};
}

static const struct allocate_toleration *read_tolerations(const struct spec_reading *reading,
                                                          const json_t *list)
{
    const size_t n = json_array_size(list);
    struct allocate_toleration *tolerations =
        ARENA_ARRAY(reading->arena, struct allocate_toleration, n);
    for (size_t i = 0; i < n; i++) {
        const json_t *item = json_array_get(list, i);
        tolerations[i] = (struct allocate_toleration){
            text_of(reading, item, "key"), text_of(reading, item, "operator"),
            text_of(reading, item, "value"), text_of(reading, item, "effect")};
    }
    return tolerations;
}

static int64_t read_amount(const json_t *value)
{
    char number[QUANTITY_JSON_NUMBER_BYTES];
    const char *text = "";
    int64_t amount = 0;
    struct err err;
    if (quantity_json_text(value, number, &text, &err) < 0 ||
        quantity_whole(text, &amount, &err) < 0)
        return ALLOCATE_UNKNOWN;
    return amount;
}

static const struct allocate_amount *read_amounts(const struct spec_reading *reading,
                                                  json_t *requests)
{
    struct allocate_amount *amounts =
        ARENA_ARRAY(reading->arena, struct allocate_amount, json_object_size(requests));
    size_t n = 0;
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach (requests, name, value)
        amounts[n++] =
            (struct allocate_amount){arena_strdup(reading->arena, name), read_amount(value)};
    return amounts;
}

/* NULL: all members are known. */
static const char *unknown_member(json_t *want)
{
    static const char *const KNOWN[] = {
        "name",        "deviceClassName", "selectors", "allocationMode", "count",
        "adminAccess", "tolerations",     "capacity",  "exactly",        "firstAvailable"};
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach (want, key, value) {
        size_t i = 0;
        while (i < sizeof KNOWN / sizeof *KNOWN && strcmp(KNOWN[i], key) != 0)
            i++;
        if (i == sizeof KNOWN / sizeof *KNOWN)
            return "it has a member that is not understood";
    }
    return NULL;
}

/* NULL: the member is absent, or a list. */
static const char *list_fault(const struct spec_reading *reading, const json_t *object,
                              const char *key)
{
    const json_t *member = json_member(object, key);
    return !member || json_is_array(member)
               ? NULL
               : arena_printf(reading->arena, "%s should be a list", key);
}

/* NULL: all members are known, and of the right type. */
static const char *fault_of_want(const struct spec_reading *reading, json_t *want)
{
    const json_t *capacity = json_member(want, "capacity");
    const json_t *amounts = json_member(capacity, "requests");
    const char *fault = unknown_member(want);
    if (!fault)
        fault = list_fault(reading, want, "selectors");
    if (!fault)
        fault = list_fault(reading, want, "tolerations");
    if (!fault &&
        ((capacity && !json_is_object(capacity)) || (amounts && !json_is_object(amounts))))
        fault = "capacity.requests should be a mapping";
    return fault;
}

/* allocationMode is ExactCount, and count is 1, if absent; a count of 0 counts as absent. Source:
 * SetDefaults_ExactDeviceRequest. */
static void read_mode(const struct spec_reading *reading, const json_t *json,
                      struct allocate_want *want)
{
    const char *mode = text_of(reading, json, "allocationMode");
    const json_t *count = json_member(json, "count");
    want->wants_all = strcmp(mode, "All") == 0;
    if (mode[0] && !want->wants_all && strcmp(mode, "ExactCount") != 0)
        want->unknown_mode = mode;
    want->n_devices = count ? json_integer_value(count) : 1;
    if (want->n_devices == 0)
        want->n_devices = 1;
    if (count && !json_is_integer(count))
        want->not_judged = "its count is no integer";
}

/* The driver that a selector demands. */
static const char *driver_of(const json_t *selector, struct arena *arena)
{
    const char *expression =
        json_string_value(json_member(json_member(selector, "cel"), "expression"));
    return cel_driver(expression ? expression : "", arena);
}

static struct allocate_want read_want(struct spec_reading *reading, json_t *json)
{
    const struct claim_classes *classes = reading->classes;
    const json_t *first = json_array_get(json_member(json, "selectors"), 0);
    const char *driver = driver_of(first, reading->arena);
    json_t *tolerations = json_member(json, "tolerations");
    json_t *amounts = json_member(json_member(json, "capacity"), "requests");
    struct allocate_want want = {
        .name = text_of(reading, json, "name"),
        .class_name = text_of(reading, json, "deviceClassName"),
        .selectors = claim_spec_selectors(json_member(json, "selectors"), reading->arena),
        .tolerations = read_tolerations(reading, tolerations),
        .n_tolerations = json_array_size(tolerations),
        .is_admin = json_is_true(json_member(json, "adminAccess")),
        .capacities = read_amounts(reading, amounts),
        .n_capacities = json_object_size(amounts),
        .not_judged = fault_of_want(reading, json),
    };
    want.device_class = classes->find(classes->context, want.class_name);
    reading->is_covered &= classes->covers(classes->context, want.class_name, driver);
    read_mode(reading, json, &want);
    return want;
}

static struct allocate_request read_request(struct spec_reading *reading, json_t *json)
{
    const json_t *list = json_member(json, "firstAvailable");
    json_t *exactly = json_member(json, "exactly");
    const size_t n = list ? json_array_size(list) : 1;
    struct allocate_want *wants = ARENA_ARRAY(reading->arena, struct allocate_want, n);
    for (size_t i = 0; list && i < n; i++)
        wants[i] = read_want(reading, json_array_get(list, i));
    if (!list)
        wants[0] = read_want(reading, exactly ? exactly : json);
    return (struct allocate_request){.name = text_of(reading, json, "name"),
                                     .has_alternatives = list != NULL,
                                     .wants = wants,
                                     .n_wants = n};
}

static const char *fault_of_request(const struct spec_reading *reading, const json_t *json)
{
    if (json_member(json, "exactly") && json_member(json, "firstAvailable"))
        return "a request has both exactly and firstAvailable";
    return list_fault(reading, json, "firstAvailable");
}

static struct allocate_constraint read_constraint(const struct spec_reading *reading,
                                                  const json_t *json)
{
    const json_t *names = json_member(json, "requests");
    const size_t n = json_array_size(names);
    const char **requests = ARENA_ARRAY(reading->arena, const char *, n);
    struct allocate_constraint constraint = {
        .kind = ALLOCATE_NO_CONSTRAINT, .requests = requests, .n_requests = n};
    for (size_t i = 0; i < n; i++) {
        const char *name = json_string_value(json_array_get(names, i));
        requests[i] = arena_strdup(reading->arena, name ? name : "");
    }
    if (json_member(json, "matchAttribute")) {
        constraint.kind = ALLOCATE_MATCH;
        constraint.attribute = text_of(reading, json, "matchAttribute");
    } else if (json_member(json, "distinctAttribute")) {
        constraint.kind = ALLOCATE_DISTINCT;
        constraint.attribute = text_of(reading, json, "distinctAttribute");
    }
    return constraint;
}

/* NULL: too long. */
static const char *text_of_json(const json_t *json, struct arena *arena)
{
    char *dumped CLEANUP(mem_free_ptr) = json_dumps(json, JSON_COMPACT);
    return dumped && strlen(dumped) <= CLAIM_TEXT_BYTES_MAX ? arena_strdup(arena, dumped) : NULL;
}

const char *claim_spec_text(const json_t *spec, struct arena *arena)
{
    const json_t *devices = json_member(spec, "devices");
    if (json_member(devices, META_LEFT_OUT))
        return NULL;
    json_auto_t *kept = json_pack("{s:O*, s:O*}", "requests", json_member(devices, "requests"),
                                  "constraints", json_member(devices, "constraints"));
    return text_of_json(kept, arena);
}

struct claim_spec claim_spec_from_text(const char *text, const struct claim_classes *classes,
                                       struct arena *arena)
{
    json_auto_t *spec = json_pack("{s:o*}", "devices", json_parse_own(text));
    return claim_spec_from_json(spec, classes, arena);
}

const char *claim_nodes_text(const json_t *selector, struct arena *arena)
{
    if (json_member(selector, META_LEFT_OUT))
        return NULL;
    return selector ? text_of_json(selector, arena) : "";
}

int claim_nodes_from_text(const char *text, struct arena *arena, struct node_selector *ret_nodes,
                          struct err *err)
{
    struct node_affinity affinity = {0};
    json_t *selector = json_parse_own(text);
    json_auto_t *json = json_pack("{s:{s:o*}}", "nodeAffinity",
                                  "requiredDuringSchedulingIgnoredDuringExecution", selector);
    int r = affinity_read_node_affinity(json, NULL, arena, &affinity, err);
    if (r == 0)
        *ret_nodes = affinity.required;
    return r;
}

struct claim_spec claim_spec_from_json(const json_t *spec, const struct claim_classes *classes,
                                       struct arena *arena)
{
    struct spec_reading reading = {classes, arena, true};
    const json_t *devices = json_member(spec, "devices");
    const json_t *asked = json_member(devices, "requests");
    const json_t *limits = json_member(devices, "constraints");
    const size_t n_requests = json_array_size(asked), n_constraints = json_array_size(limits);
    struct allocate_request *requests = ARENA_ARRAY(arena, struct allocate_request, n_requests);
    struct allocate_constraint *constraints =
        ARENA_ARRAY(arena, struct allocate_constraint, n_constraints);
    for (size_t i = 0; i < n_requests; i++)
        requests[i] = read_request(&reading, json_array_get(asked, i));
    for (size_t i = 0; i < n_constraints; i++)
        constraints[i] = read_constraint(&reading, json_array_get(limits, i));
    const char *fault = list_fault(&reading, devices, "requests");
    if (!fault)
        fault = list_fault(&reading, devices, "constraints");
    for (size_t i = 0; !fault && i < n_requests; i++)
        fault = fault_of_request(&reading, json_array_get(asked, i));
    return (struct claim_spec){.requests = requests,
                               .n_requests = n_requests,
                               .constraints = constraints,
                               .n_constraints = n_constraints,
                               .is_covered = reading.is_covered,
                               .not_judged = fault};
}
